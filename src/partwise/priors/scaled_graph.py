"""Graph penalty that does not depend on how the factors share their scale.

The penalty tr(Wᵀ L W) of graph-regularized NMF (Cai, He, Han & Huang 2011; Epstein 2017, equation 6.2) can be made as
small as one likes without changing W H: shrink W and grow H. Here it is taken of W at the scale where every component
has size one,

    (weight / 2) Σ_k s_k² w_kᵀ L w_k,      s_k = Σ_j h_kj   or s_k = ‖h_k‖,

a function of both factors that no rescaling changes. With H held it is a graph coupling whose weight differs by
component. With W held and q_k = w_kᵀ L w_k it is (weight / 2) Σ_k q_k s_k². The square of a sum lies below separate
squares: with d = h − h̃, for any positive p that sums to one,

    s² = s̃² + 2 s̃ Σ_j d_j + (Σ_j d_j)² ≤ s̃² + 2 s̃ Σ_j d_j + Σ_j d_j² / p_j.

p_j half in proportion to h̃_j and half uniform is within a factor of two of the best for small moves, and lets entries
leave zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from partwise.priors.base import Pairing
from partwise.priors.graph import Graph
from partwise.priors.terms import Terms


@dataclass(frozen=True, eq=False)
class ScaledGraph(Pairing):
    """Rows of W that are neighbours are alike, W taken at the scale where components have size one.

    Parameters
    ----------
    graph : Graph
        The graph over the rows of W, and the weight of the penalty.
    size : {"norm", "sum"}
        What the size of a component is: its Euclidean norm, or the sum of its entries.
    counted : int, optional
        How many of the first rows of Hᵀ make up a component's size; all by default.
    of_H : bool
        Whether the graph is over the rows of Hᵀ instead, and W gives the size.
    """

    graph: Graph
    size: str = "norm"
    counted: int | None = None
    of_H: bool = False

    @property
    def tells_columns(self) -> bool:
        """A graph over the columns says which are alike."""
        return self.of_H

    def value(self, W: np.ndarray, Ht: np.ndarray) -> float:
        """``(weight / 2) Σ_k s_k² w_kᵀ L w_k``."""
        tied, other = self._sides(W, Ht)
        return 0.5 * float(self._roughness(tied) @ self.sizes(other) ** 2)

    def gradient(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By W, ``weight · s_k² L w_k``; by the entries of h_k, ``weight · q_k s_k`` (norm: times h_kj / s_k)."""
        tied, other = self._sides(W, Ht)
        by_tied = 0.5 * self.graph.gradient(tied) * self.sizes(other) ** 2
        by_other = np.zeros(other.shape)
        part = other[: self.counted].astype(float)
        by_other[: self.counted] = self._roughness(tied) * (part if self.size == "norm" else part.sum(axis=0))
        return (by_other, by_tied) if self.of_H else (by_tied, by_other)

    def majorise(self, W: np.ndarray, Ht: np.ndarray) -> Terms:
        """The graph's own terms at weights s_k² / 2, or separate squares in place of s_k²."""
        if not self.of_H:
            terms, size = self.graph.majorise(W), 0.5 * self.sizes(Ht) ** 2
            return Terms(linear=terms.linear * size, quadratic=terms.quadratic * size)
        q = self._roughness(Ht)
        part = np.asarray(W[: self.counted], dtype=float)
        linear, quadratic = np.zeros(W.shape), np.zeros(W.shape)
        if self.size == "norm":
            quadratic[: self.counted] = q
        else:
            s = part.sum(axis=0)
            share = np.full(part.shape, 0.5 / max(len(part), 1))
            share += np.where(s > 0, 0.5 * part / np.where(s > 0, s, 1.0), share)
            quadratic[: self.counted] = q / share
            linear[: self.counted] = q * (s - part / share)
        return Terms(linear=linear, quadratic=quadratic)

    @property
    def T(self) -> ScaledGraph:
        """The graph over the rows of the other factor."""
        return replace(self, of_H=not self.of_H)

    def check(self, n_samples: int, n_features: int) -> None:
        """Raise ValueError unless the graph has a node for each row of its factor."""
        self.graph.check(n_features if self.of_H else n_samples)

    def _sides(self, W: np.ndarray, Ht: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factor over whose rows the graph is, and the other one."""
        return (Ht, W) if self.of_H else (W, Ht)

    def sizes(self, other: np.ndarray) -> np.ndarray:
        """The size of each component.

        Parameters
        ----------
        other : array of shape (n_rows, n_components)
            The factor that has it: the transpose of H, or W where the graph is over the features.

        Returns
        -------
        array of shape (n_components,)
            Norms or sums of its columns.
        """
        part = np.asarray(other[: self.counted], dtype=float)
        return np.sqrt((part * part).sum(axis=0)) if self.size == "norm" else part.sum(axis=0)

    def _roughness(self, tied: np.ndarray) -> np.ndarray:
        """Weight · w_kᵀ L w_k of each component."""
        A = np.asarray(tied, dtype=float)
        return np.asarray(np.einsum("ij,ij->j", A, 0.5 * self.graph.gradient(A)))
