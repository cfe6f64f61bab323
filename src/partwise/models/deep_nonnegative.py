"""Nonnegative layers without a function between them, with labels and a graph at the last one.

Labels are further columns, [X | Y] ≈ W [B | C] with B = H_l ⋯ H_1, so that rows with labels have a Gram matrix of
their own; the graph is majorised row by row. In the bases the graph's penalty is ½ Σ_k q_k ‖b_k‖² = ½⟨diag q, B Bᵀ⟩
with q_k = λ_g w_kᵀ L w_k: it is added to the Gram matrix of W, and the updates are those without a graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from partwise.core import Problem
from partwise.matrix import InMemory, Joined
from partwise.models.deep_steps import (
    SWEEPS,
    DeepState,
    LayerSweeps,
    as_bases,
    chained,
    filled_product,
    objective,
    sweep_bases,
    weighted_gram,
)
from partwise.models.deep_structure import IDENTITY, Structure, StructuredSteps
from partwise.priors import ScaledGraph
from partwise.solvers.hals import gram_sums
from partwise.solvers.sweep import sweep


@dataclass(frozen=True)
class KnownLayerSweeps(LayerSweeps):
    """Coordinate descent on Gram matrices: C, W, then H_1 … H_l.

    Parameters
    ----------
    structure : Structure
        Labels and graph, at the last layer.
    n_layers : int
        Layers there are.
    """

    structure: Structure
    n_layers: int

    @staticmethod
    def suits(problem: Problem, structure: Structure, n_layers: int) -> bool:
        """Whether X is complete, and labels and graph are at the last layer alone."""
        named = set(structure.label_layers) | set(structure.graph_layers)
        return not problem.X.weighted and named <= {n_layers - 1}

    def value(self, problem: Problem, state: DeepState) -> float:
        """The objective; C is found first where the state has none."""
        if not state.C:
            state.C = self._steps.label_factors(problem, self._features(state.W), {})
        return self._value(problem, state.W, state.H, state.C, None)

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """C, W, then H_1 … H_l."""
        X, W, H = problem.X, state.W.copy(), [one.copy() for one in state.H]
        assert isinstance(X, InMemory)
        C = self._steps.label_factors(problem, self._features(W), state.C or {})
        Ht, s = np.ascontiguousarray(chained(H).T), self.structure
        tied = problem
        if s.graph is not None:
            tied = replace(problem, pairings=(ScaledGraph(s.graph, "norm"),))
        terms, data, held, groups = tied.terms_at_W(W, Ht), X, Ht, None
        if s.labels is not None:
            data = Joined(X, s.labels.at, s.labels.Y, s.labels.seen, s.label_weight)
            held = np.concatenate([Ht, C[self._last].T.astype(W.dtype)])
            groups = data.row_groups
        sweep(W, gram_sums(data, W, held), terms, np.arange(W.shape[1]), SWEEPS, 0.1, groups=groups)
        product, S = filled_product(X.T, Ht, W), weighted_gram(X, W)
        if s.graph is not None:
            S = S + np.diag(self._steps._roughness(W)).astype(S.dtype)
        sweep_bases(H, product, S)
        return DeepState(W, as_bases(H), C=C, objective=self._value(problem, W, H, C, product))

    @property
    def _last(self) -> str:
        return str(self.n_layers - 1)

    @property
    def _steps(self) -> StructuredSteps:
        return StructuredSteps(IDENTITY, False, self.structure)

    def _features(self, W: np.ndarray) -> list[np.ndarray]:
        """By layer; only those of the last are read."""
        return [W] * self.n_layers

    def _value(
        self,
        problem: Problem,
        W: np.ndarray,
        H: list[np.ndarray],
        C: dict[str, np.ndarray],
        product: np.ndarray | None,
    ) -> float:
        loss = objective(problem, W, np.ascontiguousarray(chained(H).T), product)
        return loss + self._steps.known(problem, self._features(W), H, C)
