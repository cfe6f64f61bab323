"""Coordinate descent for A ≈ W Wᵀ, or W S Wᵀ, with A sparse: the objective never rises."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from partwise.core import Info, RunState
from partwise.solvers.node_sweep import sweep_directed, sweep_links, sweep_undirected


@dataclass
class NodeState(RunState):
    """The factors.

    Parameters
    ----------
    W : array of shape (n, n_components)
        How much each node has of each part.
    S : array of shape (n_components, n_components)
        Links from part to part; the identity where they are not learned.
    """

    W: np.ndarray
    S: np.ndarray


@dataclass(frozen=True)
class NodeProblem:
    """½ ‖A − W S Wᵀ‖² over W ≥ 0 and, where A is `directed`, S ≥ 0.

    Parameters
    ----------
    A : csr_matrix of shape (n, n)
        Nonnegative, symmetric unless `directed`.
    directed : bool
        Whether S is learned; otherwise it is the identity.
    """

    A: Any
    directed: bool = False

    @cached_property
    def At(self) -> Any:
        """Aᵀ by rows; A itself where it is symmetric."""
        return self.A.T.tocsr() if self.directed else self.A

    def objective(self, W: np.ndarray, S: np.ndarray) -> float:
        """½ ‖A − W S Wᵀ‖², by products with A alone.

        Parameters
        ----------
        W : array of shape (n, n_components)
            The first factor.
        S : array of shape (n_components, n_components)
            The links.

        Returns
        -------
        float
            The objective.
        """
        G = W.T @ W
        cross = float(np.vdot(W.T @ (self.A @ W), S))
        found = 0.5 * float(self.A.data @ self.A.data) - cross + 0.5 * float(np.vdot(S, G @ S @ G))
        return max(found, 0.0)


class NodeDescent:
    """A step is one sweep over the entries of W, and one over those of S where it is learned."""

    def value(self, problem: NodeProblem, state: NodeState) -> float:
        """The objective.

        Parameters
        ----------
        problem : NodeProblem
            What is solved.
        state : NodeState
            Where the run stands.

        Returns
        -------
        float
            ½ ‖A − W S Wᵀ‖².
        """
        return problem.objective(state.W, state.S)

    def step(
        self, problem: NodeProblem, state: NodeState, rng: np.random.Generator
    ) -> tuple[NodeState, Info]:
        """One sweep; the objective falls by what its entries gained, so that no further product with A is needed.

        Parameters
        ----------
        problem : NodeProblem
            What is solved.
        state : NodeState
            Where the run stands; changed in place.
        rng : Generator
            Not used.

        Returns
        -------
        state : NodeState
            Where the run stands.
        info : Info
            What the step reports.
        """
        A, At, W, S = problem.A, problem.At, state.W, state.S
        G = W.T @ W
        if problem.directed:
            fell = sweep_links(np.ascontiguousarray(W.T @ (A @ W)), G, S)
            M = S @ G @ S.T + S.T @ G @ S
            fell += sweep_directed(A.indptr, A.indices, A.data, At.indptr, At.indices, At.data, S, M, W)
        else:
            fell = sweep_undirected(A.indptr, A.indices, A.data, G, W)
        state.objective = max(state.objective - fell, 0.0)
        state.iteration += 1
        return state, Info(state.iteration, state.objective)
