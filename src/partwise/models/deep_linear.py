"""The joint fit of a `DeepNMF` whose cost knows its bases only by their product: no activation, bases of any sign.

X ≈ W B with B = H_l ⋯ H_1 is then a Semi-NMF. Labels are further columns, [X | Y] ≈ W [B | C], at whichever layer:
with M = H_l ⋯ H_{i+1}, F_i C_i = W (M C_i), and M C_i can be any matrix since layers do not grow. A graph at the last
layer is that of `GraphNMF`. So one of the solvers of a single layer moves W, B and C, and each layer has its share
of them in the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from partwise.core import Problem, Result, run
from partwise.matrix import InMemory, Joined
from partwise.models.deep_steps import chained
from partwise.models.deep_structure import IDENTITY, Structure, StructuredSteps
from partwise.models.semi import SIGNED
from partwise.priors import ScaledGraph
from partwise.solvers import pick_solver


def of_product(
    problem: Problem, semi: bool, structure: Structure | None, H: list[np.ndarray]
) -> Problem | None:
    """The problem of W and the product of the bases, or None where labels or graph need the layers themselves."""
    if semi:
        problem = replace(problem, prior_H=SIGNED)
    if structure is None:
        return problem
    last, m = len(H) - 1, problem.X.shape[1]
    if not semi or set(structure.graph_layers) - {last}:
        return None
    if structure.labels is not None:
        if not all(_onto(H, i) for i in structure.label_layers):
            return None
        assert isinstance(problem.X, InMemory)
        labels, weight = structure.labels, structure.label_weight * len(structure.label_layers)
        problem = replace(problem, X=Joined(problem.X, labels.at, labels.Y, labels.seen, weight))
        if problem.X.weighted:
            return None
    if structure.graph is not None:
        problem = replace(problem, pairings=(ScaledGraph(structure.graph, "norm", counted=m),))
    return problem


def fit_product(
    problem: Problem,
    structure: Structure | None,
    W: np.ndarray,
    H: list[np.ndarray],
    options: dict[str, Any],
) -> tuple[Result[Any], np.ndarray, list[np.ndarray], dict[str, np.ndarray]]:
    """The run, W, the bases and the label factors by layer.

    With C = H_l ⋯ H_2, the H_1 with C H_1 = B that is nearest to the one before is H_1 + C⁺ (B − C H_1). The
    published update of H_1, (W C)⁺ X, has the same product.
    """
    first, last = np.ascontiguousarray(chained(H).T), len(H) - 1
    known = structure is not None and structure.labels is not None
    m = len(first)
    if structure is not None and known:
        alone = replace(structure, label_layers=(last,))
        found = StructuredSteps(IDENTITY, True, alone).label_factors(problem, [W] * len(H), {})
        first = np.concatenate([first, found[str(last)].T.astype(W.dtype)])
    solver = pick_solver("auto", problem)
    result = run(problem, solver, solver.init(problem, W, first), **options)
    W, B, factor = result.state.W, result.state.Ht[:m].T, result.state.Ht[m:].T
    C = {}
    if structure is not None and known:
        for i in structure.label_layers:
            C[str(i)] = _solved(chained(H[i + 1 :]), factor) if i < last else factor.astype(float)
    if last == 0:
        return result, W, [np.ascontiguousarray(B)], C
    above, bottom = chained(H[1:]).astype(float), H[0].astype(float)
    nearest = bottom + _solved(above, B - above @ bottom)
    return result, W, [nearest.astype(W.dtype), *H[1:]], C


def _solved(M: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.pinv(M.astype(float), rcond=1e-12) @ B)


def _onto(H: list[np.ndarray], i: int) -> bool:
    """Whether H_l ⋯ H_{i+1} times some matrix can be any matrix: as many independent rows as it has."""
    if i == len(H) - 1:
        return True
    M = chained(H[i + 1 :]).astype(float)
    size = np.linalg.svd(M, compute_uv=False)
    return bool(size[-1] > 1e-8 * size[0])
