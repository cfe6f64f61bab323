"""Data with labels beside them: [X | Y], where only some of the rows, or of their entries, have labels.

Every sum over the data is a sum over X plus a sum over the labelled rows of Y. Complete X keeps its quick solvers:
rows whose labels are seen in the same places share one Gram matrix.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from partwise.losses import Loss
from partwise.matrix.base import InMemory, RowSlab
from partwise.matrix.dense import Dense

#: With more patterns of seen labels than this, Gram matrices cost more than they save.
MOST_PATTERNS = 64


class Joined(InMemory):
    """X and labels Y of some of its rows, side by side.

    Parameters
    ----------
    X : InMemory
        The data, of shape (n, m).
    at : array of int
        The rows that have labels, in order.
    Y : array of shape (len(at), n_labels)
        Their labels.
    seen : array of shape (len(at), n_labels)
        True where an entry of Y is known.
    weight : float
        How much a label counts.
    upright : bool
        Whether samples are the rows; else features and labels are.
    """

    has_entries = False

    def __init__(
        self,
        X: InMemory,
        at: np.ndarray,
        Y: np.ndarray,
        seen: np.ndarray,
        weight: float,
        upright: bool = True,
    ) -> None:
        self.X, self.at, self.labels, self.seen, self.weight = X, at, Y, seen, weight
        r = None if X.row_weight is None else X.row_weight[at]
        self.Y = Dense.of(np.where(seen, Y, 0.0).astype(X.dtype), weight * seen.astype(X.dtype), r)
        self.dtype = X.dtype
        #: What is found once for both ways to read: where labels are seen, by samples and by labels.
        self._patterns: dict[bool, tuple[np.ndarray, np.ndarray]] = {}
        self._turn(upright)

    def _turn(self, upright: bool) -> None:
        n, m = self.X.shape[0], self.X.shape[1] + self.labels.shape[1]
        self.upright = upright
        self.shape = (n, m) if upright else (m, n)
        weight = self.X.row_weight
        self.row_weight, self.inner_weight = (weight, None) if upright else (None, weight)

    @property
    def T(self) -> Joined:
        """Features and labels are the rows; the memory is shared."""
        other = copy.copy(self)
        other._mean = None
        other._turn(not self.upright)
        return other

    def _seen_patterns(self, upright: bool) -> tuple[np.ndarray, np.ndarray]:
        """The different rows of `seen` (or of its transpose), and which of them each row is."""
        if upright not in self._patterns:
            seen = self.seen if upright else self.seen.T
            patterns, which = np.unique(seen, axis=0, return_inverse=True)
            self._patterns[upright] = patterns, which.ravel()
        return self._patterns[upright]

    @property
    def weighted(self) -> bool:
        """Whether X has missing or weighted entries, or labels are seen in too many different places."""
        return self.X.weighted or len(self._seen_patterns(True)[0]) > MOST_PATTERNS

    def largest_weight(self) -> float:
        """That of X: labels are no part of the data that a fit starts from."""
        return self.X.largest_weight()

    @property
    def entries(self) -> int:
        """Those of X and of its labels."""
        return self.X.entries + self.Y.entries

    def rows(self, index: Any) -> Joined:
        """Some samples with their labels."""
        if not self.upright:
            raise ValueError(
                "some features of data with labels are not to be had; take them from the data alone"
            )
        index = np.arange(self.shape[0])[index]
        place = np.full(self.shape[0], -1)
        place[self.at] = np.arange(len(self.at))
        at = np.flatnonzero(place[index] >= 0)
        kept = place[index][at]
        return Joined(self.X.rows(index), at, self.labels[kept], self.seen[kept], self.weight)

    def product(self, B: np.ndarray) -> np.ndarray:
        """(ω X) · B, and the labels' share of it."""
        return self._sum(self.X.product, self.Y.product, B) if self.upright else self._stack("product", B)

    def weight_product(self, B: np.ndarray) -> np.ndarray:
        """Product ω · B."""
        if self.upright:
            return self._sum(self.X.weight_product, self.Y.weight_product, B)
        return self._stack("weight_product", B)

    def row_divergence(self, W: np.ndarray, Ht: np.ndarray, loss: Loss, shift: float) -> np.ndarray:
        """Loss of each row, labels included."""
        m = self.X.shape[1]
        if self.upright:
            out = self.X.row_divergence(W, Ht[:m], loss, shift)
            out[self.at] += self.Y.row_divergence(W[self.at], Ht[m:], loss, shift)
            return out
        data = self.X.T.row_divergence(W[:m], Ht, loss, shift)
        return np.concatenate([data, self.Y.T.row_divergence(W[m:], Ht[self.at], loss, shift)])

    def ratio_sums(
        self, A: np.ndarray, B: np.ndarray, loss: Loss, shift: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numerator and denominator of the multiplicative update."""
        m = self.X.shape[1]
        if self.upright:
            num, den = self.X.ratio_sums(A, np.ascontiguousarray(B[:m]), loss, shift)
            more = self.Y.ratio_sums(A[self.at], np.ascontiguousarray(B[m:]), loss, shift)
            num[self.at] += more[0]
            den[self.at] += more[1]
            return num, den
        parts = (
            self.X.T.ratio_sums(np.ascontiguousarray(A[:m]), B, loss, shift),
            self.Y.T.ratio_sums(np.ascontiguousarray(A[m:]), B[self.at], loss, shift),
        )
        num, den = (np.concatenate(pair) for pair in zip(*parts))
        return num, den

    @property
    def row_groups(self) -> np.ndarray:
        """Rows that share a Gram matrix: 0 without labels, then by which labels are seen; features, then labels."""
        groups = self._seen_patterns(self.upright)[1] + 1
        if not self.upright:
            return np.concatenate([np.zeros(self.X.shape[1], dtype=groups.dtype), groups])
        out = np.zeros(self.shape[0], dtype=groups.dtype)
        out[self.at] = groups
        return out

    def gram(self, B: np.ndarray) -> np.ndarray:
        """The Gram matrix of each group of rows, weights included."""
        kind = B.dtype
        if self.upright:
            m = self.X.shape[1]
            base, L = B[:m].T @ B[:m], B[m:]
            patterns = self._seen_patterns(True)[0]
            return np.stack([base, *(base + self.weight * (L[p].T @ L[p]) for p in patterns)]).astype(kind)
        Bc = self.inner(B)
        L, Lc = B[self.at], Bc[self.at]
        patterns = self._seen_patterns(False)[0]
        return np.stack([B.T @ Bc, *(self.weight * (L[p].T @ Lc[p]) for p in patterns)]).astype(kind)

    def packed(self, start: int, stop: int) -> Iterator[RowSlab]:
        """Entries that are not held weigh 1 in X and 0 among the labels, which a slab cannot say."""
        raise NotImplementedError("data with labels have no packed rows; use a solver that needs only sums")

    def digest(self) -> str:
        """Of data, labels and their weight."""
        made = hashlib.blake2b(self.X.digest().encode(), digest_size=12)
        for part in (self.at, self.Y._u, self.seen, np.float64(self.weight)):
            made.update(np.ascontiguousarray(part).data)
        return made.hexdigest()

    def _find_mean(self) -> float:
        return self.X.mean()

    def _sum(self, of_X: Any, of_Y: Any, B: np.ndarray) -> np.ndarray:
        m = self.X.shape[1]
        out = np.array(of_X(np.ascontiguousarray(B[:m])))
        out[self.at] += of_Y(np.ascontiguousarray(B[m:]))
        return out

    def _stack(self, name: str, B: np.ndarray) -> np.ndarray:
        return np.concatenate([getattr(self.X.T, name)(B), getattr(self.Y.T, name)(B[self.at])])
