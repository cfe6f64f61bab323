"""The experiment on posteriors: its parts at a small size, and what it prints."""

from __future__ import annotations

import numpy as np

from partwise.reproduce import posterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS


def row(**more):
    numbers = {name: [0, 2] for name in ("bits", "cells", "last", "seconds", "cpu")}
    rest = {
        "rhat": [1.0, 1.01],
        "error": [None, 0.05],
        "doubtful": [0, 10],
        "boolean": [],
        "expected": [0.0, 1.0],
    }
    return {"noise_add": 0.01, "noise_drop": 0.05, "tables": 2, "draws": 5, **numbers, **rest, **more}


def test_parts_are_computed_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"value": len(calls), "nothing": float("nan")}

    first = posterior.part(tmp_path, "one", {"draws": 1}, compute)
    assert posterior.part(tmp_path, "one", {"draws": 1}, compute) == first
    assert posterior.part(tmp_path, "one", {"draws": 2}, compute)["value"] == 2


def test_lines_tell_every_part():
    summary = {
        "recovery": [row()],
        "beside": [row(boolean=[1, 1])],
        "doubt": row(),
        "binarization": [
            {"noise_add": 0.01, "noise_drop": 0.05, "half": 1, "one": 2, "pair": 3, "oracle": 4, "rule": 5}
        ],
        "iasg": [
            {"noise_add": 0.01, "noise_drop": 0.05, "steps": 9, "wrong": [8, 7], "seconds": 1.0, "cpu": 1.0}
        ],
        "spread": [{"prior": "normal", "batch": 75, "ratio": 0.01, "mean_off": 0.5}],
        "boundaries": posterior.boundaries(60),
    }
    said = posterior.lines(summary)
    assert len(said) == 1 + 3 + 1 + 1 + 1 + 10
    assert "none wrong on 1 of 2" in said[1]
    assert "rule no worse on 1 of 2" in said[2]
    assert "calibration error 0.050" in said[3]


def test_spread_is_that_of_the_second_half():
    table, problem = posterior.relaxed(0.01, 0.05, UNIT_PRIORS["normal"])
    small = posterior.RelaxedPosterior(problem.X[:20, :15], problem.prior)
    kernel = RelaxedGibbs()
    found = posterior.spread_of(kernel, small, kernel.init(small, 2, np.random.default_rng(0)), 50, 1)
    assert found["std"].shape == (35, 2)
    assert (found["std"] > 0.01).all()
    assert table.clean.shape == (512, 512)
