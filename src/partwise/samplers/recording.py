"""What is kept of a chain, in memory that does not grow with the number of draws.

A recorder is shown every draw: a mapping of names to numbers and arrays. It can be merged with that of another chain,
and packs itself for a checkpoint. `Trace` and `Draws` keep draws at a regular distance, their stride: when they are
full, every second one is dropped and the stride doubles, so that they always span the whole chain.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

#: What a recorder is shown.
Draw = Mapping[str, Any]


class Recorder(ABC):
    """Something that watches the draws of a chain."""

    #: Draws seen.
    count: int = 0

    def record(self, draw: Draw) -> None:
        """Take note of one draw.

        Parameters
        ----------
        draw : mapping
            Numbers and arrays by name; arrays may change after the call.
        """
        self._add(draw)
        self.count += 1

    @abstractmethod
    def _add(self, draw: Draw) -> None:
        """Take note of draw number `count`."""

    def empty(self) -> Any:
        """A recorder like this one that has seen nothing.

        Returns
        -------
        Recorder
            A copy; to be asked for before the first draw.
        """
        assert self.count == 0
        return copy.deepcopy(self)

    @abstractmethod
    def merged(self, others: Sequence[Any]) -> Any:
        """One recorder for this chain and others.

        Parameters
        ----------
        others : sequence of Recorder
            Recorders of the same kind, of other chains.

        Returns
        -------
        Recorder
            What one recorder would hold that had seen the draws of all of them.
        """

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """What was recorded, as arrays and plain values.

        Returns
        -------
        dict
            Enough for `restore`.
        """

    @abstractmethod
    def restore(self, packed: Mapping[str, Any]) -> None:
        """Go back to where `pack` was called.

        Parameters
        ----------
        packed : mapping
            What `pack` returned.
        """


class Moments(Recorder):
    """Mean and variance of every entry of one quantity, in double precision (Welford 1962; Chan et al. 1983).

    Parameters
    ----------
    name : str
        Which quantity of the draws.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.mean: np.ndarray = np.zeros(())
        self._squares: np.ndarray = np.zeros(())

    def _add(self, draw: Draw) -> None:
        value = np.asarray(draw[self.name], dtype=float)
        if self.count == 0:
            self.mean, self._squares = np.array(value), np.zeros(value.shape)
            return
        away = value - self.mean
        self.mean += away / (self.count + 1)
        self._squares += away * (value - self.mean)

    @property
    def variance(self) -> np.ndarray:
        """Sample variance of every entry; 0 where fewer than two draws were seen."""
        return self._squares / max(self.count - 1, 1)

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of every entry."""
        return np.sqrt(self.variance)

    def permuted(self, order: np.ndarray, axis: int = -1) -> Moments:
        """The moments with entries in another order along an axis.

        Parameters
        ----------
        order : array of int
            Place `i` of the result is place ``order[i]`` of this one.
        axis : int
            The axis of the components.

        Returns
        -------
        Moments
            A copy in the new order.
        """
        out = copy.copy(self)
        out.mean, out._squares = np.take(self.mean, order, axis), np.take(self._squares, order, axis)
        return out

    def merged(self, others: Sequence[Moments]) -> Moments:
        """Mean and variance over all chains."""
        out = copy.deepcopy(self)
        for other in others:
            if other.count == 0:
                continue
            if out.count == 0:
                out = copy.deepcopy(other)
                continue
            total = out.count + other.count
            away = other.mean - out.mean
            out._squares += other._squares + away * away * (out.count * other.count / total)
            out.mean += away * (other.count / total)
            out.count = total
        return out

    def pack(self) -> dict[str, Any]:
        """Count, mean and sum of squares."""
        return {"count": self.count, "mean": self.mean, "squares": self._squares}

    def restore(self, packed: Mapping[str, Any]) -> None:
        """Set count, mean and sum of squares."""
        self.count = int(packed["count"])
        self.mean, self._squares = np.array(packed["mean"], float), np.array(packed["squares"], float)


class Histogram(Recorder):
    """A histogram of every entry of one quantity over [low, high).

    With ``grow=True`` the range of an entry doubles when a draw lies above it (pairs of bins become one), so that no
    draw is lost; otherwise what lies outside is counted in the first and last bin.

    Parameters
    ----------
    name : str
        Which quantity of the draws.
    low, high : float
        The range.
    bins : int
        Number of bins, even.
    grow : bool
        Whether the upper end may move.
    """

    def __init__(
        self, name: str, low: float = 0.0, high: float = 1.0, bins: int = 50, grow: bool = False
    ) -> None:
        if not (low < high and bins >= 2 and bins % 2 == 0):
            raise ValueError(
                f"A histogram needs low < high and an even number of bins; got {low}, {high}, {bins}."
            )
        self.name, self.low, self.high, self.bins, self.grow = name, low, high, bins, grow
        self.shape: tuple[int, ...] = ()
        self.counts: np.ndarray = np.zeros((1, bins), np.int64)
        #: How often the range of each entry has doubled.
        self.doublings: np.ndarray = np.zeros(1, np.int64)

    def _add(self, draw: Draw) -> None:
        value = np.asarray(draw[self.name], dtype=float)
        if self.count == 0:
            self.shape = value.shape
            self.counts = np.zeros((value.size, self.bins), np.int64)
            self.doublings = np.zeros(value.size, np.int64)
        share = (value.ravel() - self.low) / (self.high - self.low)
        if self.grow:
            with np.errstate(divide="ignore"):
                need = np.ceil(np.log2(np.nextafter(np.maximum(share, 0.5), np.inf))).astype(np.int64)
            self._widen(np.maximum(need, self.doublings))
            share = np.ldexp(share, -self.doublings)
        place = np.clip((share * self.bins).astype(np.int64), 0, self.bins - 1)
        self.counts[np.arange(len(place)), place] += 1

    def _widen(self, doublings: np.ndarray) -> None:
        """Double the range of entries until it has been doubled so often."""
        while (narrow := np.flatnonzero(doublings > self.doublings)).size:
            old = self.counts[narrow]
            new = np.zeros_like(old)
            new[:, : self.bins // 2] = old[:, ::2] + old[:, 1::2]
            self.counts[narrow] = new
            self.doublings[narrow] += 1

    def edges(self, entry: int) -> np.ndarray:
        """The edges of the bins of one entry.

        Parameters
        ----------
        entry : int
            Number of the entry in the flattened quantity.

        Returns
        -------
        array of shape (bins + 1,)
            From the lower to the upper end.
        """
        width = np.ldexp(self.high - self.low, int(self.doublings[entry]))
        return self.low + width * np.linspace(0.0, 1.0, self.bins + 1)

    def merged(self, others: Sequence[Histogram]) -> Histogram:
        """Counts of all chains, over ranges that hold them all."""
        parts = [copy.deepcopy(one) for one in (self, *others) if one.count]
        if not parts:
            return copy.deepcopy(self)
        widest = np.max([one.doublings for one in parts], axis=0)
        for one in parts:
            one._widen(widest)
        out = parts[0]
        out.counts = sum((one.counts for one in parts[1:]), out.counts)
        out.count = sum(one.count for one in parts)
        return out

    def pack(self) -> dict[str, Any]:
        """Counts and ranges."""
        return {
            "count": self.count,
            "counts": self.counts,
            "doublings": self.doublings,
            "shape": list(self.shape),
        }

    def restore(self, packed: Mapping[str, Any]) -> None:
        """Set counts and ranges."""
        self.count, self.shape = int(packed["count"]), tuple(int(n) for n in packed["shape"])
        self.counts, self.doublings = np.array(packed["counts"]), np.array(packed["doublings"])


class Draws(Recorder):
    """Draws of some quantities at a regular distance, at most `limit` of them or as many as fit in memory.

    Parameters
    ----------
    names : sequence of str
        Which quantities.
    limit : int
        Most draws that are kept; at least 2.
    memory : float, optional
        Bytes that the kept draws may take; the first draw says how many that are.
    dtype : dtype, optional
        In which draws are kept; by default as they come.
    """

    def __init__(
        self, names: Sequence[str], limit: int = 1000, memory: float | None = None, dtype: Any = None
    ) -> None:
        self.names, self.limit, self.memory, self.dtype = tuple(names), max(2, limit), memory, dtype
        #: Every how many-th draw is kept.
        self.stride = 1
        self._kept = 0
        self._held: dict[str, np.ndarray] = {}

    def _add(self, draw: Draw) -> None:
        if self.count % self.stride:
            return
        values = {name: np.asarray(draw[name], dtype=self.dtype) for name in self.names}
        if not self._held:
            size = sum(value.nbytes for value in values.values())
            if self.memory is not None:
                self.limit = max(2, min(self.limit, int(self.memory / max(size, 1))))
            # Grown as draws come: most runs end long before a large limit is reached.
            start = min(self.limit, 64)
            self._held = {
                name: np.empty((start, *value.shape), value.dtype) for name, value in values.items()
            }
        if self._kept == self.limit:
            self._kept = -(-self._kept // 2)
            for held in self._held.values():
                held[: self._kept] = held[: self.limit : 2].copy()
            self.stride *= 2
            if self.count % self.stride:
                return
        if self._kept == len(self._held[self.names[0]]):
            more = min(self.limit, 2 * self._kept)
            self._held = {
                name: np.concatenate([held, np.empty((more - len(held), *held.shape[1:]), held.dtype)])
                for name, held in self._held.items()
            }
        for name, value in values.items():
            self._held[name][self._kept] = value
        self._kept += 1

    def __len__(self) -> int:
        """Number of draws kept."""
        return self._kept

    def __getitem__(self, name: str) -> np.ndarray:
        """The kept draws of one quantity: an array whose first axis is the draw."""
        return self._held[name][: self._kept]

    @property
    def draw_numbers(self) -> np.ndarray:
        """Which draws of the chain these are, counted from 0."""
        return np.arange(self._kept) * self.stride

    def merged(self, others: Sequence[Draws]) -> Draws:
        """The kept draws of all chains, one chain after the other."""
        out = copy.copy(self)
        parts = [one for one in (self, *others) if one._held]
        out.count = sum(one.count for one in parts)
        out._kept = sum(one._kept for one in parts)
        out._held = {name: np.concatenate([one[name] for one in parts]) for name in self.names if parts}
        return out

    def pack(self) -> dict[str, Any]:
        """The kept draws, and their stride."""
        head = {"count": self.count, "stride": self.stride, "kept": self._kept, "limit": self.limit}
        return head | {f"draws.{name}": self[name] for name in self._held}

    def restore(self, packed: Mapping[str, Any]) -> None:
        """Set the kept draws and their stride."""
        self.count, self.stride = int(packed["count"]), int(packed["stride"])
        self._kept, self.limit = int(packed["kept"]), int(packed["limit"])
        self._held = {
            name: np.array(packed[f"draws.{name}"]) for name in self.names if f"draws.{name}" in packed
        }


class Trace(Draws):
    """Numbers and short vectors along a chain, such as the log-posterior; thinned like `Draws`, in double precision.

    Parameters
    ----------
    names : sequence of str
        Which quantities.
    limit : int
        Most points that are kept.
    """

    def __init__(self, names: Sequence[str], limit: int = 4096) -> None:
        super().__init__(names, limit, dtype=float)
