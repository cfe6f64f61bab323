r"""Labels and a graph at layers of a `DeepNMF`, and the joint fit that knows them.

With F_i the features of layer i (F_l = W) and P_i = H_i ⋯ H_1 its parts over the data, the objective becomes

    ½ Σ r ‖x − F_1 H_1‖² + (λ_y / 2) Σ_i Σ r ‖y − F_i C_i‖² + (λ_g / 2) Σ_i Σ_k ‖p_ik‖² f_ikᵀ L f_ik,

the first sum over samples of weight r, the second over the layers with labels and the known labels of samples, the
third over the layers with a graph, with its Laplacian L; p_ik is the k-th row of P_i and f_ik the k-th column of F_i.
As in `GraphNMF`, features count at the scale where their parts have norm one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.core import Problem
from partwise.matrix import InMemory
from partwise.models.deep_activation import Activation
from partwise.models.deep_steps import (
    TOGETHER,
    ActivatedSteps,
    DeepState,
    Further,
    as_bases,
    chained,
    descended,
    filled_product,
    loss_of,
    objective,
    swept,
    weighted_gram,
)
from partwise.models.label_part import Labels
from partwise.priors import Graph

#: What stands between layers without an activation.
IDENTITY = Activation(lambda z: (z, None), lambda f: f)


@dataclass(frozen=True)
class Structure:
    """What is known of the samples, and at which layers it counts.

    Parameters
    ----------
    labels : Labels, optional
        Their `Y` at the size of the samples.
    label_weight : float
        λ_y.
    label_layers : tuple of int
        Layers with labels; 0 is the one next to the data.
    graph : Graph, optional
        At weight λ_g.
    graph_layers : tuple of int
        Layers with the graph.
    """

    labels: Labels | None = None
    label_weight: float = 0.0
    label_layers: tuple[int, ...] = ()
    graph: Graph | None = None
    graph_layers: tuple[int, ...] = ()


@dataclass(frozen=True)
class StructuredSteps(ActivatedSteps):
    """Joint updates with labels and a graph: C by least squares, H_1 by least squares, the others along gradients.

    With a graph, the rows of W are tied. In their update it is replaced by what lies above it, touches it where the
    features stand, and leaves every row on its own (`partwise.priors.Graph`).

    Parameters
    ----------
    activation : Activation
        g.
    semi : bool
        Whether the bases and C may have negative entries.
    structure : Structure
        Labels and graph.
    """

    structure: Structure

    # -------------------------------------------------------------- the objective

    def value(self, problem: Problem, state: DeepState) -> float:
        """The objective; C is found first where the state has none."""
        F = self.features(state.W, state.H)
        if not state.C:
            state.C = self.label_factors(problem, F, {})
        loss = objective(problem, F[0], np.ascontiguousarray(state.H[0].T))
        return loss + self.known(problem, F, state.H, state.C)

    def known(
        self,
        problem: Problem,
        F: list[np.ndarray],
        H: list[np.ndarray],
        C: dict[str, np.ndarray],
        rough: dict[int, np.ndarray] | None = None,
    ) -> float:
        """What labels and graph add to the objective; `rough` has the roughness of features where it is known."""
        total, s, rough = 0.0, self.structure, rough or {}
        if s.labels is not None:
            r = _counts(problem)[s.labels.at]
            for i in s.label_layers:
                off = s.labels.seen * (F[i][s.labels.at].astype(float) @ C[str(i)] - s.labels.Y)
                total += 0.5 * s.label_weight * float(r @ (off * off).sum(axis=1))
        for i in s.graph_layers:
            total += 0.5 * float((rough[i] if i in rough else self._roughness(F[i])) @ _sizes(H, i))
        return total

    def _pulled(self, F: np.ndarray) -> np.ndarray:
        """λ_g L F."""
        assert self.structure.graph is not None
        return 0.5 * self.structure.graph.gradient(F.astype(float, copy=False))

    def _roughness(self, F: np.ndarray, pulled: np.ndarray | None = None) -> np.ndarray:
        """λ_g f_kᵀ L f_k of every part; `pulled` is λ_g L F where it is known."""
        pulled = self._pulled(F) if pulled is None else pulled
        return np.asarray(np.einsum("ij,ij->j", F, pulled, dtype=float))

    # ---------------------------------------------------------------- the updates

    def label_factors(
        self, problem: Problem, F: list[np.ndarray], C: dict[str, np.ndarray]
    ) -> dict[str, np.ndarray]:
        """The best C of each layer with labels, or for nonnegative layers one no worse than those given."""
        labels, found = self.structure.labels, {}
        if labels is None:
            return {}
        root = np.sqrt(_counts(problem)[labels.at])[:, None]
        for i in self.structure.label_layers:
            A = root * F[i][labels.at].astype(float)
            now = C.get(str(i), np.zeros((A.shape[1], labels.Y.shape[1])))
            # Classes whose labels are known for the same samples share a Gram matrix.
            patterns, which = np.unique(labels.seen, axis=1, return_inverse=True)
            now = now.copy()
            for p, seen in enumerate(patterns.T):
                columns = np.flatnonzero(which.ravel() == p)
                part = A[seen]
                G, T = part.T @ part, part.T @ (root * labels.Y)[seen][:, columns]
                if self.semi:
                    pseudo = np.linalg.pinv(G, rcond=1e-12, hermitian=True)
                    now[:, columns] += pseudo @ (T - G @ now[:, columns])
                else:
                    now[:, columns] = swept(
                        np.ascontiguousarray(now[:, columns]), np.ascontiguousarray(T.T), G
                    )
            found[str(i)] = now
        return found

    def moved(self, problem: Problem, state: DeepState) -> DeepState:
        """C, H_1, then W, H_l … H_2."""
        X, W, H = problem.X, state.W, state.H
        assert isinstance(X, InMemory)
        F = self.features(W, H)
        C = self.label_factors(problem, F, state.C or {})
        Ht = np.ascontiguousarray(H[0].T)
        G = weighted_gram(X, F[0])
        pulled = {i: self._pulled(F[i]) for i in self.structure.graph_layers}
        for i in self.structure.graph_layers:
            M = _between(H, i, 0)
            G = G + (M.T * self._roughness(F[i], pulled[i])) @ M
        H[0] = self._first(Ht, filled_product(X.T, Ht, F[0]), G.astype(W.dtype))
        Ht = np.ascontiguousarray(H[0].T)
        P, G = filled_product(X, F[0], Ht), H[0] @ Ht
        r, lengths = _counts(problem), dict(state.lengths or {})
        ties = self._ties(F, H, pulled)
        further = self._further(H, C, r, ties, {})
        W, lengths["W"] = self.rows(W, H, P, G, r, further, length=lengths.get("W"))
        rough: dict[int, np.ndarray] = {}
        for i in range(len(H) - 1, 0, -1):
            # Features from this layer on do not change with its basis, only the sizes of their parts.
            if i in self.structure.graph_layers:
                rough[i] = self._roughness(self.features(W, H[i:])[0])

            def of_base(A: np.ndarray, i: int = i) -> tuple[np.ndarray, np.ndarray]:
                bases = [*H[:i], A, *H[i + 1 :]]
                value, (slope,) = self._slopes(W, bases, C, P, G, r, None, i, rough)
                return value.sum(keepdims=True)[:, None], slope

            lower = -np.inf if self.semi else 0.0
            H[i], lengths[str(i)] = descended(of_base, H[i], lower, 1, lengths.get(str(i)))
        found = DeepState(W, as_bases(H), lengths, C)
        F = self.features(W, H)
        found.objective = loss_of(problem, F[0], Ht, P, G) + self.known(problem, F, H, C, rough)
        return found

    def _ties(
        self, F: list[np.ndarray], H: list[np.ndarray], pulled: dict[int, np.ndarray]
    ) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Linear and quadratic terms of the features of each layer with a graph, above it and touching it at F.

        They are those of `partwise.priors.Graph`, from λ_g L F, which is known here.
        """
        found, graph = {}, self.structure.graph
        for i in self.structure.graph_layers:
            assert graph is not None
            quadratic = 2.0 * graph.weight * graph.degrees[:, None] * _sizes(H, i)
            found[i] = pulled[i] * _sizes(H, i) - quadratic * F[i], quadratic
        return found

    def _further(
        self,
        H: list[np.ndarray],
        C: dict[str, np.ndarray],
        r: np.ndarray,
        ties: dict[int, tuple[np.ndarray, np.ndarray]] | None,
        roughness: dict[int, np.ndarray],
    ) -> Further:
        """What labels and graph add at each layer; without `ties`, the roughness of features is noted in passing."""
        s = self.structure
        sizes = {i: _sizes(H, i) for i in s.graph_layers} if ties is None else {}

        def further(layer: int, rows: slice, F: np.ndarray, value: np.ndarray, D: np.ndarray) -> None:
            i = layer
            if s.labels is not None and i in s.label_layers:
                known = slice(*np.searchsorted(s.labels.at, (rows.start, rows.stop)))
                at = s.labels.at[known] - rows.start
                weight = s.label_weight * r[rows][at]
                off = s.labels.seen[known] * (F[at] @ C[str(i)] - s.labels.Y[known])
                value[at] += 0.5 * weight * (off * off).sum(axis=1)
                D[at] += (weight[:, None] * (off @ C[str(i)].T)).astype(D.dtype)
            if ties is not None and i in ties:
                linear, quadratic = (one[rows] for one in ties[i])
                pull = linear + quadratic * F
                value += 0.5 * np.einsum("ij,ij->i", F, linear + pull)
                D += pull.astype(D.dtype, copy=False)
            elif s.graph is not None and i in s.graph_layers:
                pulled = 0.5 * s.graph.gradient(F)
                uneven = F * pulled
                roughness[i] = uneven.sum(axis=0)
                value += 0.5 * (uneven @ sizes[i])
                D += (pulled * sizes[i]).astype(D.dtype)

        return further

    def _slopes(
        self,
        W: np.ndarray,
        H: list[np.ndarray],
        C: dict[str, np.ndarray],
        P: np.ndarray,
        G: np.ndarray,
        r: np.ndarray,
        ties: dict[int, tuple[np.ndarray, np.ndarray]] | None,
        only: int | None = None,
        rough: dict[int, np.ndarray] | None = None,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The objective of each row, and its derivatives by W, H_2 … H_l, in this order.

        With `ties` they stand for the graph; without them, of a row's edges half of what they cost is its own.
        `only` asks for the derivative by W (0), or by the basis of this number alone; then `rough` has the roughness
        of features that do not depend on this basis, and labels there are left out.
        """
        s = self.structure
        roughness: dict[int, np.ndarray] = dict(rough or {})
        further = self._further(H, C, r, ties, roughness)
        # A graph that is not majorised ties all rows of the features below the basis that moves.
        tied = ties is None and any(only is None or i < only for i in s.graph_layers)
        together = max(1, len(W)) if tied else TOGETHER
        value, slopes = self.gradient(W, H, P, G, r, only, further, together)
        if ties is None:
            if only:
                value[0] += 0.5 * sum(float(q @ _sizes(H, j)) for j, q in roughness.items() if j >= only)
            # Bases also decide the norms of the parts that features count by.
            for i in s.graph_layers:
                c = roughness[i][:, None]
                for j in range(1, i + 1) if only is None else {only} & set(range(1, i + 1)):
                    more = _between(H, i, j).T @ (c * chained(H[: i + 1])) @ chained(H[:j]).T
                    place = j if only is None else 0
                    slopes[place] = slopes[place] + more.astype(W.dtype)
        return value, slopes


def _counts(problem: Problem) -> np.ndarray:
    """The weight of every row."""
    r = problem.X.row_weight
    return np.ones(problem.X.shape[0]) if r is None else np.asarray(r, dtype=float)


def _between(H: list[np.ndarray], i: int, j: int) -> np.ndarray:
    """H_i ⋯ H_{j+1}, the parts of layer i in those of layer j."""
    return chained(H[j + 1 : i + 1]) if i > j else np.eye(len(H[i]), dtype=H[i].dtype)


def _sizes(H: list[np.ndarray], i: int) -> np.ndarray:
    """Squared norms of the parts of layer i over the data."""
    parts = chained(H[: i + 1]).astype(float)
    return np.asarray((parts * parts).sum(axis=1))
