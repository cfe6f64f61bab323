"""A yes/no table packed by rows and by columns, with its observed entries and their weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.boolean.bits import pack, unpack, weigh, words

#: The largest weight in units, where weights are kept exactly; beyond it they are rounded to 255 steps.
MOST_STEPS = 4095


@dataclass(frozen=True)
class Side:
    """The table by rows or by columns, in the form that compiled code reads.

    Weights are written in binary: plane p holds the entries whose weight has bit p set, and its bits weigh 2^p units.
    The planes of a row stand side by side, so a weighted table is an unweighted one with wider rows; `weight` has the
    weight of a bit in each plane. Without weights there is one plane. `bits` marks the observed ones, `zeros` the
    observed zeros.
    """

    bits: np.ndarray
    zeros: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, bits: np.ndarray, masks: list[np.ndarray], units: list[float]) -> Side:
        """Make a side from packed rows, a packed mask of the entries in each plane, and the planes' weights."""
        seen = masks[0] if len(masks) == 1 else np.hstack(masks)
        bits = np.tile(bits, (1, len(masks)))
        return cls(bits & seen, seen & ~bits, np.asarray(units, dtype=float))

    @property
    def planes(self) -> int:
        """Number of planes."""
        return len(self.weight)

    @property
    def seen(self) -> np.ndarray:
        """Observed entries, in all planes."""
        return self.bits | self.zeros

    def spread(self, packed: np.ndarray) -> np.ndarray:
        """Repeat packed rows of one plane for every plane."""
        return packed if self.planes == 1 else np.tile(packed, (1, self.planes))

    def total(self, marked: np.ndarray) -> float:
        """Total weight of the marked bits (given in all planes)."""
        return float(self.totals(marked).sum())

    def totals(self, marked: np.ndarray) -> np.ndarray:
        """Weight of the marked bits (given in all planes) in each row."""
        return weigh(marked, self.weight)

    @property
    def plain(self) -> np.ndarray:
        """The observed ones in a single plane, whatever they weigh."""
        return self.joined(self.bits)

    @property
    def plain_seen(self) -> np.ndarray:
        """The observed entries in a single plane, whatever they weigh."""
        return self.joined(self.seen)

    def joined(self, packed: np.ndarray) -> np.ndarray:
        """The OR of the planes of packed rows: a bit is set if it is set in any plane."""
        if self.planes == 1:
            return packed
        width = packed.shape[1] // self.planes
        return np.bitwise_or.reduce(packed.reshape(len(packed), self.planes, width), axis=1)


@dataclass(frozen=True)
class BitTable:
    """An n × m yes/no table, packed by rows and by columns."""

    n: int
    m: int
    by_row: Side
    by_column: Side
    weighted: bool = False

    @classmethod
    def of(cls, X: Any, missing: Any = None, weights: Any = None, row_weights: Any = None) -> BitTable:
        """Pack a 0/1 matrix.

        Parameters
        ----------
        X : dense or sparse matrix of shape (n, m)
        missing : dense or sparse matrix, optional
            Nonzero where the entry was not observed.
        weights : dense or sparse matrix, optional
            Weight of each entry; entries that a sparse matrix does not store weigh nothing.
        row_weights : array of shape (n,), optional
            Weight of each row; multiplied with `weights`.

        Returns
        -------
        BitTable
        """
        n, m = X.shape
        full = filled(n, m), filled(m, n)
        if missing is not None:
            full = full[0] & ~pack(missing), full[1] & ~pack(missing.T)
        if weights is None and row_weights is None:
            masks, units = [full], [1.0]
        else:
            masks, units = planes_of(full, n, m, weights, row_weights)
        return cls(
            n,
            m,
            Side.of(pack(X), [rows for rows, _ in masks], units),
            Side.of(pack(X.T), [columns for _, columns in masks], units),
            len(masks) > 1 or units != [1.0],
        )

    @cached_property
    def n_observed(self) -> float:
        """Total weight of the observed entries; without weights, their number."""
        return self.by_row.total(self.by_row.seen)

    @cached_property
    def n_ones(self) -> float:
        """Total weight of the observed ones."""
        return self.by_row.total(self.by_row.bits)

    @cached_property
    def mean_weight(self) -> float:
        """Mean weight of the observed entries; 1 without weights, and where nothing was observed."""
        if not self.weighted:
            return 1.0
        count = int(np.bitwise_count(self.by_row.plain_seen).sum())
        return self.n_observed / count if count else 1.0

    def entry_weights(self) -> np.ndarray:
        """Weight of each entry as an n × m array: 0 where not observed; without weights 1 elsewhere."""
        seen, width = self.by_row.seen, words(self.m)
        out = np.zeros((self.n, self.m))
        for p, weight in enumerate(self.by_row.weight):
            out += weight * unpack(seen[:, p * width : (p + 1) * width], self.m)
        return out

    def unpacked(self) -> tuple[np.ndarray, np.ndarray]:
        """The ones and the observed entries, as two n × m arrays of bool."""
        return unpack(self.by_row.plain, self.m), unpack(self.by_row.plain_seen, self.m)


def filled(n: int, m: int) -> np.ndarray:
    """Packed n × m matrix of ones."""
    row = np.zeros(words(m), np.uint64)
    row[: m // 64] = ~np.uint64(0)
    if m % 64:
        row[m // 64] = (np.uint64(1) << np.uint64(m % 64)) - np.uint64(1)
    return np.tile(row, (n, 1))


def steps_of(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights as whole multiples of a unit; returns the multiples (int64) and the unit.

    Exact if the smallest positive weight, divided by one of 1 to 8, is a unit of which no weight is more than
    `MOST_STEPS`; otherwise weights are rounded to multiples of 1/255 of the largest, positive ones to at least one.
    """
    positive = values[values > 0]
    if positive.size == 0:
        return np.zeros(values.shape, np.int64), 1.0
    least, most = float(positive.min()), float(positive.max())
    for parts in range(1, 9):
        unit = least / parts
        if most / unit <= MOST_STEPS and np.allclose(
            values / unit, np.round(values / unit), rtol=0, atol=1e-6
        ):
            return np.round(values / unit).astype(np.int64), unit
    unit = most / 255.0
    return np.where(values > 0, np.maximum(1, np.round(values / unit)), 0).astype(np.int64), unit


def planes_of(
    full: tuple[np.ndarray, np.ndarray], n: int, m: int, weights: Any, row_weights: Any
) -> tuple[list[tuple[np.ndarray, np.ndarray]], list[float]]:
    """Split weights into binary planes.

    Takes the packed masks of observed entries by row and by column, and `weights` and `row_weights` as in
    `BitTable.of`. Returns, for each plane that has any entry, its masks by row and by column, and the weight of its
    bits.
    """
    by_row = np.ones(n) if row_weights is None else np.asarray(row_weights, dtype=float)
    if weights is None:
        steps, unit = steps_of(by_row)
    elif sp.issparse(weights):
        stored = sp.csr_array(weights)
        products = stored.data * np.repeat(by_row, np.diff(stored.indptr))
        data, unit = steps_of(products)
        steps = sp.csr_array((data, stored.indices, stored.indptr), shape=stored.shape)
    else:
        steps, unit = steps_of(np.asarray(weights, dtype=float) * by_row[:, None])
    highest = int(steps.max()) if min(steps.shape) else 0
    masks, units = [], []
    for p in range(max(1, highest.bit_length())):
        rows, columns = plane(steps, p, n, m)
        rows, columns = rows & full[0], columns & full[1]
        if rows.any():
            masks.append((rows, columns))
            units.append(unit * 2.0**p)
    if not masks:
        return [(np.zeros_like(full[0]), np.zeros_like(full[1]))], [1.0]
    return masks, units


def plane(steps: Any, p: int, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Where bit p of the whole-number weights (of entries, or of rows if 1-d) is set: packed by rows, by columns."""
    if sp.issparse(steps):
        on = sp.csr_array(((steps.data >> p) & 1, steps.indices, steps.indptr), shape=steps.shape)
        return pack(on), pack(on.T)
    on = (steps >> p) & 1 == 1
    if on.ndim == 2:
        return pack(on), pack(on.T)
    return filled(n, m) * on[:, None].astype(np.uint64), np.tile(pack(on[None]), (m, 1))
