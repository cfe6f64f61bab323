"""New samples with edges among themselves, or to the samples of the fit: their W, components held."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.core import Problem, run
from partwise.graphs import checked_graph
from partwise.priors import Graph, Prior, ScaledGraph, Terms
from partwise.solvers import pick_solver
from partwise.well_formed import require_well_formed


@dataclass(frozen=True, eq=False)
class Pull(Prior):
    """Squares of the distances to given points: ½ strength · Σ ‖a − target‖² with a strength for every entry.

    Parameters
    ----------
    linear, strength : arrays of shape (n_rows, n_components)
        Minus strength times target, and the strength.
    """

    linear: np.ndarray
    strength: np.ndarray

    def terms(self) -> Terms:
        """A linear and a quadratic term for each entry."""
        return Terms(linear=self.linear, quadratic=self.strength)

    def rows(self, index: Any) -> Pull:
        """The points of some rows."""
        return Pull(self.linear[index], self.strength[index])


def checked_neighbours(edges: Any, n_new: int, n_fit: int) -> sp.csr_matrix:
    """Edges from new samples to those of the fit, as a user gave them.

    Parameters
    ----------
    edges : array or sparse matrix of shape (n_new, n_fit)
        Nonnegative weights.
    n_new, n_fit : int
        How many samples there are.

    Returns
    -------
    csr_matrix of shape (n_new, n_fit)
        The edges.
    """
    if not (sp.issparse(edges) or isinstance(edges, np.ndarray)):
        raise ValueError(f"neighbors must be an array or a sparse matrix; got {type(edges).__name__}.")
    require_well_formed(edges, "neighbors")
    E = sp.csr_matrix(edges, dtype=float)
    if E.shape != (n_new, n_fit):
        raise ValueError(
            f"neighbors must have a row for each of the {n_new} new samples and a column for each of the {n_fit} "
            f"samples of the fit; got shape {E.shape}."
        )
    if E.nnz and not (np.isfinite(E.data).all() and E.data.min() >= 0):
        raise ValueError("neighbors must have finite, nonnegative weights; drop or shift the others.")
    return E


@dataclass(frozen=True)
class NewEdges:
    """Edges of new samples, and what they count.

    Parameters
    ----------
    among : array or sparse matrix of shape (n_new, n_new), optional
        Edges among the new samples.
    to_fit : array or sparse matrix of shape (n_new, n_fit), optional
        Edges to the samples of the fit.
    weight : float
        λ.
    size : {"norm", "sum"}
        What the size of a component is.
    """

    among: Any
    to_fit: Any
    weight: float
    size: str

    def solved(
        self, problem: Problem, Ht: np.ndarray, fitted: np.ndarray, solver: str, max_iter: int, tol: float
    ) -> np.ndarray:
        """The best W of new samples.

        Parameters
        ----------
        problem : Problem
            The new data, with H held.
        Ht : array of shape (n_features, n_components)
            The transpose of H.
        fitted : array of shape (n_fit, n_components)
            W of the samples of the fit, which stays as it is.
        solver : str
            As in `NMF`.
        max_iter : int
            Iterations, at most.
        tol : float
            As in `NMF`.

        Returns
        -------
        array of shape (n_new, n_components)
            The minimiser of D(X | WH) + (λ / 2) Σ_k s_k² (w_kᵀ L w_k + Σ_ij e_ij (w_ik − v_jk)²), where L is the
            Laplacian of the edges among new samples, e are the edges to samples of the fit and v is their W.
        """
        n, dtype = problem.X.shape[0], problem.X.dtype
        sizes = ScaledGraph(Graph(sp.csr_matrix((n, n))), self.size).sizes(Ht) ** 2
        if self.to_fit is not None:
            E = checked_neighbours(self.to_fit, n, len(fitted))
            strength = self.weight * np.asarray(E.sum(axis=1)) * sizes
            linear = -self.weight * np.asarray(E @ fitted.astype(float)) * sizes
            problem = replace(problem, prior_W=Pull(linear.astype(dtype), strength.astype(dtype)))
        if self.among is None:
            return pick_solver(solver, problem).solve_rows(problem, Ht, max_iter, tol)
        graph = checked_graph(self.among, n, "new samples")
        alone = pick_solver(solver, problem).solve_rows(problem, Ht, max_iter, tol)
        tied = replace(problem, pairings=(ScaledGraph(Graph(graph, self.weight), self.size),))
        method = pick_solver(solver, tied)
        start = method.init(tied, alone, Ht)
        # A step of W alone is cheap; as for single rows, go on well past what was asked.
        done = run(tied, method, start, max_iter=max(max_iter, 1000), stopping=method.stopping(1e-3 * tol))
        return np.asarray(done.state.W)
