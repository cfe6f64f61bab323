"""Graph coupling: rows that are neighbours should be alike.

For a symmetric graph with edge weights S ≥ 0, degrees D and Laplacian L = D − S, the penalty on a factor A is

    weight · tr(Aᵀ L A) = weight · ½ Σ_ij S_ij ‖a_i − a_j‖²      (Cai, He, Han & Huang 2011).

Since D + S is positive semidefinite, −tr(AᵀSA) lies below its tangent at Ã plus tr((A − Ã)ᵀ D (A − Ã)), so that

    tr(Aᵀ L A) ≤ Σ_i [ 2 d_i ‖a_i‖² − 2 a_i · (S Ã + D Ã)_i ] + constant,

which holds for signed factors too, and leaves every row on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.priors.base import Coupling
from partwise.priors.terms import Terms
from partwise.well_formed import require_well_formed


@dataclass(frozen=True, eq=False)
class Graph(Coupling):
    """Neighbouring rows are alike: weight · tr(Aᵀ L A).

    Parameters
    ----------
    adjacency : sparse matrix or array of shape (n_rows, n_rows)
        Symmetric, with nonnegative edge weights. The diagonal plays no part.
    weight : float
        Strength of the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.priors import Graph
    >>> path = Graph(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]), weight=2.0)
    >>> path.value(np.array([[0.0], [1.0], [3.0]]))  # 2 · (1² + 2²)
    10.0
    """

    adjacency: Any
    weight: float = 1.0

    def __post_init__(self) -> None:
        if hasattr(self.adjacency, "columns"):
            raise ValueError(
                "Graph takes an array or a sparse matrix, for it does not see the names of the rows of X. Put the "
                "table into their order: graph.loc[X.index, X.index].to_numpy()."
            )
        require_well_formed(self.adjacency, "adjacency")
        S = sp.csr_array(self.adjacency, dtype=float)
        if S.shape[0] != S.shape[1]:
            raise ValueError(f"Graph needs a square adjacency matrix; got shape {S.shape}.")
        if S.nnz and not (np.isfinite(S.data).all() and S.data.min() >= 0):
            raise ValueError("Graph needs finite, nonnegative edge weights; drop the other edges.")
        if abs(S - S.T).max() > 1e-10 * max(1.0, abs(S).max() if S.nnz else 0.0):
            raise ValueError("Graph needs a symmetric adjacency matrix; use (S + S.T) / 2.")
        if not 0 <= self.weight < float("inf"):
            raise ValueError(f"Graph needs a weight of at least 0; got {self.weight}.")
        object.__setattr__(self, "adjacency", sp.csr_matrix(S))

    @cached_property
    def degrees(self) -> np.ndarray:
        """Sum of the edge weights at each row."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=float).ravel()

    def value(self, A: np.ndarray, row_weight: np.ndarray | None = None) -> float:
        """``weight · tr(Aᵀ L A)``."""
        A = np.asarray(A, dtype=float)
        return float(self.weight * np.vdot(A, self._laplacian_times(A)))

    def gradient(self, A: np.ndarray) -> np.ndarray:
        """``2 · weight · L A``."""
        return 2.0 * self.weight * self._laplacian_times(np.asarray(A, dtype=float))

    def majorise(self, A: np.ndarray) -> Terms:
        """Quadratic 4 weight d_i, linear −2 weight (S A + D A)_i."""
        A = np.asarray(A, dtype=float)
        d = self.degrees[:, None]
        return Terms(
            linear=-2.0 * self.weight * (self.adjacency @ A + d * A), quadratic=4.0 * self.weight * d
        )

    def check(self, n_rows: int) -> None:
        """Raise ValueError unless the graph has a node for each row."""
        if self.adjacency.shape[0] != n_rows:
            raise ValueError(
                f"The graph has {self.adjacency.shape[0]} nodes, and the factor that it ties together has {n_rows} "
                "rows. Give a graph over the rows of that factor."
            )

    def _laplacian_times(self, A: np.ndarray) -> np.ndarray:
        return np.asarray(self.degrees[:, None] * A - self.adjacency @ A)
