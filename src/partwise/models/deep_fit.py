"""The start of a `DeepNMF`, layer by layer or at random, and the joint fit of all its layers."""

from __future__ import annotations

import warnings
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.core import Problem, RelativeProgress, Result, Session, run
from partwise.matrix import InMemory
from partwise.models.base import as_generator
from partwise.models.deep_activation import ACTIVATIONS
from partwise.models.deep_linear import fit_product, of_product
from partwise.models.deep_nonnegative import KnownLayerSweeps
from partwise.models.deep_steps import (
    ActivatedSteps,
    DeepState,
    LayerSweeps,
    as_bases,
    chained,
    weighted_gram,
)
from partwise.models.deep_structure import IDENTITY, Structure, StructuredSteps
from partwise.models.inputs import Given
from partwise.models.nmf import NMF
from partwise.models.semi import SemiNMF


class Start(NamedTuple):
    """W, the bases H_1 … H_l, and of each layer that was fitted its "objective", "n_iter" and "ended_by"."""

    W: np.ndarray
    H: list[np.ndarray]
    layers: list[dict[str, Any]]


class Fitted(NamedTuple):
    """Where a joint fit ended: W, the bases, why, after how many iterations, and the course of the objective."""

    W: np.ndarray
    H: list[np.ndarray]
    reason: str
    n_iter: int
    objective: list[float]
    seconds: list[float]
    #: Label factors by layer, where there are labels.
    C: dict[str, np.ndarray]


def layer_by_layer(model: Any, session: Session, data: Given) -> Start:
    """Factor X, then the features that were found, and so on (Trigeorgis et al. 2014, algorithm 1)."""
    target, H, layers = data.array, [], []
    for i, k in enumerate(model.layers):
        last = i == len(model.layers) - 1
        layer = (SemiNMF if model.semi else NMF)(
            int(k),
            tol=model.tol,
            max_iter=model.max_iter,
            random_state=model.random_state,
            missing_values=model.missing_values if i == 0 else None,
            scale=model.scale if last else "samples",
            verbose=-1,
        )

        def fitted(layer: NMF = layer, target: Any = target) -> dict[str, Any]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                # The model has said it of its own columns.
                warnings.filterwarnings("ignore", ".* no observed entry", UserWarning)
                W = layer.fit_transform(target, sample_weight=data.X.row_weight)
            course = {"objective_history": layer.history_["objective"], "seconds": layer.history_["seconds"]}
            return {"W": np.asarray(W), "H": layer.components_, **layer.restarts_[0], **course}

        found = session.stage(f"layer{i + 1}", partial(session.completed, fitted))
        layers.append({name: found[name] for name in found if name not in ("W", "H")})
        target = found["W"]
        H.append(found["H"])
        if not last:
            target, H[i] = _passed_on(model, target, H[i])
    return Start(target, H, layers)


def _passed_on(model: Any, W: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the next layer is to factor, for the features of a layer, and the basis at their scale."""
    if model.activation is None:
        # A part counts by its size in X: that of the basis is moved into the features.
        size = np.sqrt((H.astype(float) ** 2).sum(axis=1))
    elif np.isfinite(ACTIVATIONS[model.activation].high):
        size = ACTIVATIONS[model.activation].high / np.maximum(W.max(axis=0), 1e-30)
    else:
        # Nonnegative layers reach only values above g(0): features, of size ½ so far, should be there.
        size = np.full(len(H), 1.0 if model.semi else 4.0)
    size = np.where(size > 0, size, 1.0)
    W, H = (W * size).astype(W.dtype), (H / size[:, None]).astype(H.dtype)
    if model.activation is None:
        return W, H
    g = ACTIVATIONS[model.activation]
    target = g.inverse(np.clip(W, g.low, g.high)).astype(W.dtype)
    return (target if model.semi else np.maximum(target, 0)), H


def at_random(model: Any, problem: Problem) -> Start:
    """Random features and bases, and the first basis by least squares, or at the scale of the data."""
    rng, X = as_generator(model.random_state), problem.X
    draw = rng.standard_normal if model.semi else lambda shape: np.abs(rng.standard_normal(shape))
    sizes = [X.shape[1], *model.layers]
    W = np.abs(rng.standard_normal((X.shape[0], sizes[-1]))).astype(X.dtype)
    H = [draw((k, m)).astype(X.dtype) / X.dtype.type(np.sqrt(k)) for m, k in pairwise(sizes)]
    F = W if len(H) == 1 else W @ chained(H[1:])
    if model.activation is not None:
        F = ActivatedSteps(ACTIVATIONS[model.activation], model.semi).features(W, H)[0]
    assert isinstance(X, InMemory)
    product, G = X.transposed_product(X.T.inner(F)).astype(float), weighted_gram(X, F).astype(float)
    if model.semi:
        H[0] = np.ascontiguousarray(np.linalg.lstsq(G, product.T, rcond=None)[0], dtype=X.dtype)
    else:
        H[0] *= X.dtype.type((product * H[0].T).sum() / (H[0] * (G @ H[0])).sum())
    return Start(W, H, [])


def joint_fit(
    model: Any, session: Session, problem: Problem, start: Start, structure: Structure | None
) -> Fitted:
    """All layers together, from a start on; the objective never rises."""
    W, H = start.W, start.H
    options: dict[str, Any] = {
        "max_iter": model.max_iter if model.finetune else 0,
        "stopping": RelativeProgress(model.tol),
        "rng": as_generator(model.random_state),
        "callbacks": list(model.callbacks or ()),
        # From a start that was cut short nothing is kept: whoever goes on begins with the start.
        "name": "" if session.stopped else "joint",
    }
    method: LayerSweeps | ActivatedSteps
    between = IDENTITY if model.activation is None else ACTIVATIONS[model.activation]
    if model.activation is None and (model.semi or len(H) == 1):
        linear = of_product(problem, model.semi, structure, H)
        if linear is not None:
            return _fitted(*fit_product(linear, structure, W, H, options))
    flat = model.activation is None and not model.semi
    if structure is not None and flat and KnownLayerSweeps.suits(problem, structure, len(H)):
        method = KnownLayerSweeps(structure, len(H))
    elif structure is not None:
        method = StructuredSteps(between, model.semi, structure)
    elif model.activation is None:
        method = LayerSweeps()
    else:
        method = ActivatedSteps(between, model.semi)
    stepped: Result[DeepState] = run(problem, method, DeepState(W, as_bases(H)), **options)
    return _fitted(stepped, stepped.state.W, stepped.state.H, stepped.state.C or {})


def _fitted(
    result: Result[Any], W: np.ndarray, H: list[np.ndarray], C: dict[str, np.ndarray] | None = None
) -> Fitted:
    history = result.history
    return Fitted(W, H, result.reason, result.state.iteration, history.objective, history.seconds, C or {})
