"""What the file of each model must hold: names, types, shapes and ranges; see `partwise.io.contents`."""

from __future__ import annotations

from typing import Any

from partwise.io.contents import (
    FEATURES,
    Array,
    Either,
    Flag,
    Instance,
    ListOf,
    Maybe,
    Number,
    OrNone,
    Record,
    Text,
)

_COUNT = Number("i", 0)
_VALUE = Number(nan=True)
#: What the file of every model holds.
FIT_CONTENTS: dict[str, Any] = {
    **FEATURES,
    "n_samples_fit_": _COUNT,
    "n_iter_": _COUNT,
    "converged_": Flag(),
    "ended_by_": Text(),
}


def history_contents(*names: str) -> Record:
    """Arrays of these names, an entry for each step."""
    return Record({name: Array("if", ("steps",), nan=True) for name in names})


def restarts_contents(value: str) -> ListOf:
    """One entry for each start, with this value."""
    return ListOf(Record({value: _VALUE, "n_iter": _COUNT, "ended_by": Text()}))


NMF_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": Array("f", ("n_components", "n_features")),
    "n_components_": Number("i", 1, size="n_components"),
    "relevance_": Maybe(Array("f", ("n_components",), low=1e-300)),
    "dispersion_": Maybe(Number(low=1e-300)),
    "loss_": Instance("Loss"),
    "data_mean_": Number(),
    "data_exponent_": Number("i"),
    "components_exponent_": Number("i"),
    "objective_": _VALUE,
    "reconstruction_err_": Number(low=0, nan=True),
    "solver_": Text(),
    "restarts_": restarts_contents("objective"),
    "history_": history_contents("objective", "seconds"),
}

_NAMED_VALUES = Record({}, others=_VALUE)

BAYESIAN_NMF_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": Array("f", ("n_components", "n_features"), low=0),
    "components_std_": Array("f", ("n_components", "n_features"), low=0),
    "n_components_": Number("i", 1, size="n_components"),
    "W_mean_": Array("f", ("n_rows", "n_components"), low=0),
    "W_std_": Array("f", ("n_rows", "n_components"), low=0),
    "components_draws_": Array("f", ("n_kept", "n_components", "n_features"), low=0),
    "noise_draws_": Array("f", ("n_kept",), low=0),
    "noise_": OrNone(Number(low=0)),
    "noise_std_": OrNone(Number(low=0)),
    "prior_W_": Instance("Prior"),
    "prior_H_": Instance("Prior"),
    "rhat_": _NAMED_VALUES,
    "ess_": _NAMED_VALUES,
    "log_posterior_": _VALUE,
    "log_likelihood_": _VALUE,
    "n_draws_": _COUNT,
    "seed_": _COUNT,
    "history_": history_contents("step", "log_posterior", "lowest", "highest"),
}

BINARY_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": Array("f", ("n_components", "n_features"), low=0),
    "n_components_": Number("i", 1, size="n_components"),
    "activation_": Either((Number(low=0, high=1), Array("f", ("n_components",), 0, 1))),
    "background_": Number(low=0),
    "noise_variance_": OrNone(Number(low=1e-300)),
    "log_likelihood_": _VALUE,
    "inference_": Text(("exact", "truncated")),
    "max_active_": Number("i", 0),
    "restarts_": restarts_contents("log_likelihood"),
    "history_": history_contents("log_likelihood", "seconds"),
}

_PER_TILE = Array("if", ("n_tiles",), nan=True)

BOOLEAN_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": Array("b", ("n_tiles", "n_features")),
    "n_components_": Number("i", 0, size="n_tiles"),
    "prices_": ListOf(Number(low=0), size=3),
    "criterion_": Text(("error", "likelihood", "sparse")),
    "reconstruction_err_": Number(low=0),
    "description_length_": _VALUE,
    "objective_": _VALUE,
    "ranks_": Record({name: Array("if", ("n_ranks",), nan=True) for name in ("tiles", "wrong", "bits")}),
    "tiles_": Record(
        dict.fromkeys(("rows", "columns", "density", "adds", "log10_chance"), _PER_TILE), others=_PER_TILE
    ),
    "thresholds_": ListOf(_VALUE),
    "history_": history_contents("seconds", "error"),
    "trust_": Maybe(
        Record(
            {
                "restarts": _PER_TILE,
                "resamples": _PER_TILE,
                "alternatives": ListOf(
                    ListOf(
                        Record({"columns": Array("b", ("n_features",)), "rows": _COUNT, "change": _VALUE})
                    ),
                    size="n_tiles",
                ),
            },
            others=_PER_TILE,
        )
    ),
}

_CHANCES = Array("f", ("n_tiles", "n_features"), low=0, high=1)
_ROW_CHANCES = Array("f", ("n_rows", "n_tiles"), low=0, high=1)

BAYESIAN_BOOLEAN_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "components_": _CHANCES,
    "components_std_": _CHANCES,
    "n_components_": Number("i", 1, size="n_tiles"),
    "W_mean_": _ROW_CHANCES,
    "W_std_": _ROW_CHANCES,
    "probability_": Record(
        {"W": _ROW_CHANCES, "H": _CHANCES, "tiles": Array("f", ("n_tiles",), low=0, high=1)},
        others=Array("f", ("n_rows", "n_features"), low=0, high=1),
    ),
    "usage_": Array("b", ("n_rows", "n_tiles")),
    "tiles_": Array("b", ("n_tiles", "n_features")),
    "expected_wrong_": _VALUE,
    "densities_": Array("f", ("n_tiles",), low=0, high=1),
    "noise_": Either(
        (
            Record(dict.fromkeys(("add", "drop"), Number(low=1e-12, high=1)), others=_VALUE),
            Record({"variance": Number(low=1e-12)}, others=_VALUE),
        )
    ),
    "rhat_": Record({}, others=_VALUE),
    "ess_": Record({}, others=_VALUE),
    "n_draws_": _COUNT,
    "history_": history_contents("log_posterior"),
}

MIXTURE_CONTENTS: dict[str, Any] = {
    **FIT_CONTENTS,
    "classes_": Array("biufUO", ("n_classes",)),
    "exponents_": Array("f", ("n_all", "n_features")),
    "log_weights_": Array("f", ("n_all",), nan=True),
    "component_class_": Array("i", ("n_all",), low=0, below="n_classes"),
    "means_": Array("f", ("n_all", "n_features")),
    "component_samples_": Array("f", ("n_all",), low=0),
    "n_parameters_": _COUNT,
    "penalty_": Number(low=0),
    "objective_": _VALUE,
    "penalties_": Record({name: ListOf(_VALUE) for name in ("penalty", "error", "loss")}),
    "history_": history_contents("objective", "seconds"),
}
