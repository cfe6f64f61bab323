"""The experiment on posteriors: its groups at a tiny size, chains that are taken up again, and what it prints."""

from __future__ import annotations

import json

import numpy as np
import pytest
from calling import call

from partwise.boolean.palm import RelaxedProblem, Sparsity
from partwise.datasets import make_boolean
from partwise.reproduce import posterior
from partwise.reproduce.posteriors import (
    ambiguity,
    analogs,
    averaging,
    chain_run,
    iasg_worth,
    primp_steps,
    recovery,
    used_tiles,
)
from partwise.reproduce.posteriors.chain_run import ChainRun, run_chain
from partwise.reproduce.posteriors.plan import PLANS, Plan
from partwise.reproduce.posteriors.thresholds import thresholds
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS


@pytest.fixture
def plan(tmp_path):
    tiny = {"side": 24, "rank": 3, "steps": 40, "long": 80, "longest": 120, "calibration": 20, "sweeps": 12}
    return Plan(tmp_path, **{**PLANS["quick"], **tiny, "draws": 8})


def row(**more):
    numbers = {name: [0, 2] for name in ("bits", "cells", "last", "seconds", "cpu")}
    rest = {
        "rhat": [1.0, 1.01],
        "error": [None, 0.05],
        "doubtful": [0, 10],
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


def test_lines_tell_every_level(plan):
    summary = {
        "recovery": [row()],
        "doubt": row(),
        "binarization": [
            {
                "noise_add": 0.01,
                "noise_drop": 0.05,
                "half": 1,
                "one": 2,
                "pair": 3,
                "oracle": 4,
                "rule": 5,
                "covered": 0.02,
            }
        ],
    }
    said = recovery.lines(plan, summary)
    assert len(said) == 1 + 2 + 1
    assert "none wrong on 1 of 2" in said[1]
    assert "calibration error 0.050" in said[2]
    assert "hold the entry in 2.0 %" in said[3]


def test_lines_tell_the_rule_beside_one_answer():
    more = {"boolean": [1, 1], "boolean_expected": [1.0, 2.0], "rows_alone": [1, 2], "columns_alone": [0, 1]}
    said = " ".join(averaging.lines(row(**more)))
    assert "BooleanMF 1; rule no worse on 1 of 2" in said
    assert "rule minus BooleanMF 0.0 ± 1.0, median 0, expected -1.0" in said


def test_with_one_factor_known_hardly_an_entry_is_wrong_unless_noise_hides_it():
    clean, hidden = (
        make_boolean(80, 80, 4, 0.3, noise_add=add, noise_drop=drop, random_state=0)
        for add, drop in ((0.01, 0.01), (0.45, 0.5))
    )
    assert averaging.undecided(clean, 0.01, 0.01, 0) == (0, 0)
    rows, columns = averaging.undecided(hidden, 0.45, 0.5, 0)
    assert min(rows, columns) > 100


def test_spread_is_that_of_the_second_half(plan):
    _, problem = iasg_worth.relaxed(plan, "clean", UNIT_PRIORS["normal"])
    small = iasg_worth.RelaxedPosterior(problem.X[:20, :15], problem.prior)
    kernel = RelaxedGibbs()
    found = iasg_worth.spread_of(kernel, small, kernel.init(small, 2, np.random.default_rng(0)), 50, 1)
    assert found["std"].shape == (35, 2)
    assert (found["std"] > 0.01).all()


@pytest.mark.parametrize("batch", [75, 512, 0])
def test_a_chain_taken_up_again_is_the_same_chain(plan, tmp_path, monkeypatch, batch):
    chain = ChainRun("clean", "normal", "random", 3, batch)
    whole = run_chain(plan, chain, 40)
    other = Plan(tmp_path / "other", **{k: v for k, v in vars(plan).items() if k not in ("folder", "tables")})
    other.folder.mkdir()
    run_chain(other, chain, 15)
    again = run_chain(other, chain, 40)
    for name in ("W_mean", "W_std", "Ht_mean", "Ht_std", "W_slope"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    # A second call reads what the first wrote.
    monkeypatch.setattr(chain_run, "advanced", None)
    assert np.array_equal(run_chain(other, chain, 40).W_mean, whole.W_mean)


def test_the_optimum_at_other_ranks_cuts_and_adds_columns(plan):
    table, rng = plan.tables["clean"], np.random.default_rng(0)
    W, _ = chain_run.optimum(table, 2, rng)
    assert np.array_equal(W, table.usage[:, :2])
    W, Ht = chain_run.optimum(table, 5, rng)
    assert np.array_equal(Ht[:, :3], table.components.T)
    assert ((W[:, 3:] > 0) & (W[:, 3:] < 1)).all()


@pytest.mark.parametrize("normal", [False, True])
def test_gibbs_of_three_variables_agrees_with_quadrature(normal):
    mean, std = analogs.exact_moments((0, 1, 1), normal)
    drawn = analogs.gibbs((0, 1, 1), normal, 100, np.random.default_rng(0))
    assert np.allclose(drawn.mean(axis=0), mean, atol=0.015)
    assert np.allclose(drawn.std(axis=0), std, atol=0.015)


def test_corrected_signs_give_the_split_at_011():
    side = np.linspace(0.0, 1.0, 101)
    x, y = np.meshgrid(side, side, indexing="ij")
    value = analogs.log_density(x, y, 0.25, (0, 1, 1), False)
    best = np.argwhere(value >= value.max() - 1e-12)
    assert len(best) == 2
    assert np.array_equal(best[0], best[1][::-1])


def test_thresholds_find_the_interval(plan):
    table = plan.tables["clean"]
    W, Ht = 0.3 + 0.3 * table.usage, 0.3 + 0.3 * table.components.T
    nothing = np.zeros(1)
    found = thresholds(chain_run.Found(W, nothing, Ht, nothing, nothing, nothing, nothing), table.clean)
    assert found == {"half": 0, "best": 0, "low": 0.3, "high": 0.59}


def test_the_gradient_of_primp_is_that_of_its_density(plan):
    problem = primp_steps.TilingPosterior(primp_steps.primp_problem(plan.tables["clean"].data.astype(float)))
    rng = np.random.default_rng(0)
    W, Ht = 0.1 + 0.8 * rng.random((24, 3)), 0.1 + 0.8 * rng.random((24, 3))
    for one, A, B, turn in ((problem, W, Ht, False), (problem.T, Ht, W, True)):
        way = rng.standard_normal(A.shape)
        ahead, behind = ((A + h * way, B) for h in (1e-5, -1e-5))
        density = [problem.log_density(*(pair[::-1] if turn else pair)) for pair in (ahead, behind)]
        slope = (density[0] - density[1]) / 2e-5
        assert slope == pytest.approx(float((one.gradient(A, B) * way).sum()), rel=1e-5)
        assert np.allclose(one.slope(A, B) + one.prior.gradient(A), one.gradient(A, B))


def test_exact_draws_of_primp_without_usage_codes_are_those_of_gibbs():
    """With a linear term alone every proposed column is accepted, and means are those of a relaxed posterior."""
    table = make_boolean(8, 7, 2, 0.4, random_state=0)
    D, term = table.data.astype(float), Sparsity(0.5)
    density, spread, accepted = primp_steps.exact_draws(RelaxedProblem(D, term, term), table, 2000)
    assert accepted == pytest.approx(1.0)
    problem, kernel, rng = (
        RelaxedPosterior(D, UNIT_PRIORS["laplace"]),
        RelaxedGibbs(),
        np.random.default_rng(0),
    )
    state, draws = problem.start(2, rng), []
    for _ in range(2000):
        state, _ = kernel.step(problem, state, rng)
        draws.append(state.W)
    assert spread == pytest.approx(np.std(draws[500:], axis=0).mean(), rel=0.08)
    assert len(density) == 1000


def test_steps_from_the_modulus_never_lower_the_density_without_noise(plan):
    problem = primp_steps.TilingPosterior(primp_steps.primp_problem(plan.tables["clean"].data.astype(float)))
    kernel, rng = primp_steps.ModulusIASG(every=1, replacement=False), np.random.default_rng(0)
    state = kernel.init(problem, 3, rng)
    seen = []
    for _ in range(30):
        state, info = kernel.step(problem, state, rng)
        seen.append(info.objective)
    assert (np.diff(seen) >= -1e-6 * np.abs(seen[0])).all()


def test_tiles_in_use_have_two_rows_and_two_columns():
    W, H = np.zeros((2, 6, 3), bool), np.zeros((2, 3, 5), bool)
    W[:, :2, 0] = H[:, 0, :3] = True
    W[1, :4, 1] = H[1, 1, :1] = True
    W[1, 0, 2] = H[1, 2, :4] = True
    assert used_tiles.used(W, H).tolist() == [1, 1]


def test_ambiguous_rows_have_certain_entries_and_several_usages():
    _, usage, tiles, kind = ambiguity.planted()
    ambiguous = np.flatnonzero((kind == 1).any(axis=1))
    clean = (usage.astype(int) @ tiles) > 0
    for out in range(3):
        other = usage.copy()
        other[ambiguous, out] = False
        assert np.array_equal((other.astype(int) @ tiles) > 0, clean)
    assert ambiguity.separation(np.zeros(4), np.ones(3)) == 1.0
    assert ambiguity.separation(np.ones(4), np.ones(3)) == 0.5


def test_the_command_runs_a_group_and_keeps_it(tmp_path, capsys, monkeypatch):
    tiny = {**PLANS["quick"], "side": 24, "rank": 3, "steps": 30, "long": 40, "longest": 50, "sweeps": 12}
    monkeypatch.setitem(PLANS, "quick", {**tiny, "calibration": 10, "draws": 8})
    groups = ["planted", "means"]
    only = [word for name in groups for word in ("--only", name)]
    assert call("reproduce", "posterior", *only, "-o", tmp_path / "o") == 0
    said = capsys.readouterr()
    assert "4.6 means below 0.05" in said.out
    assert "minutes of one processor" in said.err
    drawn = {path.name for path in (tmp_path / "o").glob("figure_*.png")}
    assert {f"figure_4_{n}.png" for n in (4, 5, 6)} <= drawn
    assert set(json.loads((tmp_path / "o" / "posterior.json").read_text())) >= set(groups)


def test_a_command_stopped_in_a_chain_ends_with_the_same_figures(tmp_path, monkeypatch):
    tiny = {**PLANS["quick"], "side": 24, "rank": 3, "steps": 30, "long": 40, "longest": 50, "sweeps": 12}
    monkeypatch.setitem(PLANS, "quick", {**tiny, "calibration": 10, "draws": 8})
    monkeypatch.setattr(chain_run, "CHECKPOINT", 10)
    command = ("reproduce", "posterior", "--only", "traces", "-o")
    assert call(*command, tmp_path / "whole") == 0

    class Stopped(chain_run.IASG):
        """Ctrl-C at a step between two checkpoints of the second chain."""

        steps = 0

        def step(self, *given):
            Stopped.steps += 1
            if Stopped.steps == 30 + 15:
                raise KeyboardInterrupt
            return super().step(*given)

    with monkeypatch.context() as patch:
        patch.setattr(chain_run, "IASG", Stopped)
        assert call(*command, tmp_path / "parts") == 130
    assert Stopped.steps == 30 + 15
    assert not (tmp_path / "parts" / "part-traces.json").exists()
    assert call(*command, tmp_path / "parts") == 0
    whole, parts = (
        json.loads((tmp_path / name / "part-traces.json").read_text())["found"] for name in ("whole", "parts")
    )
    assert whole == parts


def test_options_that_contradict_each_other_are_refused(tmp_path, capsys):
    assert call("reproduce", "posterior", "--quick", "--full", "-o", tmp_path / "o") == 2
    assert "exclude each other" in capsys.readouterr().err
    assert call("reproduce", "posterior", "--only", "figures", "-o", tmp_path / "o") == 2
    assert "--only takes one of theory" in capsys.readouterr().err
