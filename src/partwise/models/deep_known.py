"""What a user says of the samples of a `DeepNMF`: labels and a graph, read, checked and set at layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from partwise.matrix import InMemory
from partwise.models.deep_structure import Structure
from partwise.models.graph_part import graphs_of
from partwise.models.inputs import Given
from partwise.models.label_part import read_labels, row_sizes
from partwise.models.parameters import choice, real, whole
from partwise.priors import Graph


def check_known(model: Any) -> None:
    """The parameters of labels and graph."""
    real("label_weight", model.label_weight)
    real("graph_weight", model.graph_weight)
    whole("n_neighbors", model.n_neighbors)
    if isinstance(model.graph, str):
        choice("graph", model.graph, ("knn", "similarity"))
    layers_named("graph_layer", model.graph_layer, len(model.layers))
    if model.label_layer is not None:
        layers_named("label_layer", model.label_layer, len(model.layers))
    asked = (model.label_layer is not None and model.label_weight > 0) or (
        model.graph is not None and model.graph_weight > 0
    )
    if asked and not model.finetune:
        raise ValueError(
            "Labels and a graph have their say in the joint fit of all layers; use finetune=True with them."
        )


def layers_named(name: str, value: Any, n_layers: int) -> tuple[int, ...]:
    """The layers that a parameter names, 0 for the one next to the data."""
    several = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)
    found = []
    for one in value if several else (value,):
        good = isinstance(one, Integral) and not isinstance(one, bool)
        if not good or one == 0 or not -n_layers <= one <= n_layers:
            raise ValueError(
                f"{name} must name layers, 1 (next to the data) to {n_layers}, or -1 for the last; got {value!r}."
            )
        found.append(int(one) - 1 if one > 0 else n_layers + int(one))
    return tuple(sorted(set(found)))


def structure_of(model: Any, data: Given, y: Any) -> Structure | None:
    """Labels and graph at the layers that the model's parameters name; None where nothing has a weight."""
    found, n_layers = Structure(), len(model.layers)
    if model.label_layer is not None and model.label_weight > 0:
        if y is None:
            raise ValueError(
                f"label_layer={model.label_layer!r} needs labels: fit(X, y), with -1, NaN or None where a label is "
                "not known."
            )
        labels = read_labels(y, data.X.shape[0])
        assert isinstance(data.X, InMemory)
        found = replace(
            found,
            labels=replace(labels, Y=labels.sized(row_sizes(data.X, True))),
            label_weight=float(model.label_weight),
            label_layers=layers_named("label_layer", model.label_layer, n_layers),
        )
    if model.graph is not None and model.graph_weight > 0:
        found = replace(
            found,
            graph=Graph(graphs_of(model, data)[0], float(model.graph_weight)),
            graph_layers=layers_named("graph_layer", model.graph_layer, n_layers),
        )
    return found if found.labels is not None or found.graph is not None else None
