"""BayesianBooleanMF: what it says of planted tables, and what a user may give it."""

from __future__ import annotations

import warnings
from itertools import product as every

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partwise import BayesianBooleanMF, load, save
from partwise.datasets import make_boolean
from partwise.samplers.posterior_bits import calibration_error, expected_wrong, posterior_bits
from partwise.samplers.unit_priors import UnitPrior

RELAXED = ("relaxed-gibbs", "iasg", "langevin", "mala", "metropolis")


def planted(n=60, m=50, k=3, **more):
    return make_boolean(n, m, k, 0.3, **{"noise_add": 0.02, "noise_drop": 0.1, "random_state": 0, **more})


def quick(k=3, **more):
    return BayesianBooleanMF(k, **{"n_chains": 2, "n_draws": 60, "n_warmup": 60, "random_state": 0, **more})


@pytest.fixture(scope="module")
def table():
    return planted()


@pytest.fixture(scope="module")
def model(table):
    return quick().fit(table.data)


def test_planted_tiles_and_noise_are_found(model, table):
    assert ((model.usage_ @ model.tiles_) != table.clean).sum() <= 2
    assert model.noise_["add"] == pytest.approx(0.02, abs=0.01)
    assert model.noise_["drop"] == pytest.approx(0.1, abs=0.05)
    assert (model.probability_["tiles"] > 0.9).all()
    assert model.n_draws_ == 120


def test_probabilities_are_means_of_the_draws(model):
    W = model.draws_["W"].reshape(-1, *model.W_mean_.shape)
    H = model.draws_["H"].reshape(-1, *model.components_.shape)
    assert len(W) == 120
    assert model.W_mean_ == pytest.approx(W.mean(axis=0))
    assert model.components_ == pytest.approx(H.mean(axis=0))
    assert model.components_std_ == pytest.approx(H.std(axis=0, ddof=1))
    cells = np.mean([w @ h for w, h in zip(W, H)], axis=0)
    assert model.probability_["cells"] == pytest.approx(cells, abs=1e-6)
    assert model.expected_wrong_ == pytest.approx(expected_wrong(model.usage_, model.tiles_, cells), abs=1e-3)


def test_intervals_hold_what_is_in_doubt(model):
    cells = model.probability_["cells"]
    low, high = model.predict_interval(0.9)
    assert (low <= high).all()
    assert (low[cells > 0.96] == 1).all()
    assert (high[cells < 0.04] == 0).all()
    doubt = (cells > 0.06) & (cells < 0.94)
    assert (low[doubt] == 0).all()
    assert (high[doubt] == 1).all()


def test_new_rows_use_the_tiles_of_which_they_are_made(model, table):
    W = model.transform(table.data)
    assert ((W > 0.5) == model.usage_).mean() > 0.99
    # A row's answer depends on its data alone.
    assert model.transform(table.data[5:9]) == pytest.approx(W[5:9])
    rebuilt = model.inverse_transform(W)
    assert ((rebuilt > 0.5) == table.clean).mean() > 0.99
    assert ((model.inverse_transform(model.usage_) > 0.5) == (model.usage_ @ model.tiles_)).mean() > 0.99


def test_tiles_that_are_not_needed_stay_empty(table):
    model = quick(5).fit(table.data)
    area = model.usage_.sum(axis=0) * model.tiles_.sum(axis=1)
    assert (area > 100).sum() == 3
    assert ((model.usage_ @ model.tiles_) != table.clean).sum() <= 2


def test_sparse_dense_and_bool_are_the_same_data(table):
    first = quick(n_draws=10).fit(table.data)
    for X in (sp.csr_matrix(table.data.astype(float)), table.data.astype(np.float32)):
        again = quick(n_draws=10).fit(X)
        assert again.W_mean_ == pytest.approx(first.W_mean_)
        assert again.probability_["cells"] == pytest.approx(first.probability_["cells"])


def test_missing_entries_are_filled_in(table):
    X = table.data.astype(float)
    missing = np.random.default_rng(0).random(X.shape) < 0.2
    X[missing] = np.nan
    cells = quick().fit(X).probability_["cells"]
    assert ((cells > 0.5) != table.clean)[missing].mean() < 0.03
    with pytest.raises(ValueError, match="contains NaN"):
        quick(missing_values=None).fit(X)


@pytest.mark.parametrize("sampler", RELAXED)
def test_relaxed_samplers(sampler, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = quick(sampler=sampler, n_draws=20, n_warmup=20).fit(table.data)
    assert model.components_.min() >= 0
    assert model.components_.max() <= 1
    low, high = model.predict_interval()
    assert (low <= high).all()
    assert low.shape == table.data.shape
    W = model.transform(table.data)
    assert model.transform(table.data[3:7]) == pytest.approx(W[3:7])
    assert model.inverse_transform(W) == pytest.approx(W @ model.components_)
    assert set(model.noise_) == {"variance", "variance_std"}
    assert model.rhat_["probes"] > 0.9


def test_relaxed_gibbs_finds_the_tiles_and_the_noise(table):
    model = quick(sampler="relaxed-gibbs", prior="laplace", n_draws=100, n_warmup=200, n_chains=1).fit(
        table.data
    )
    assert ((model.usage_ @ model.tiles_) != table.clean).mean() < 0.02
    assert 0.01 < model.noise_["variance"] < 0.1
    held = quick(sampler="relaxed-gibbs", noise=0.5, n_draws=4, n_warmup=4).fit(table.data)
    assert held.noise_ == {"variance": 0.5, "variance_std": 0.0}


def test_rejection_on_a_few_entries():
    X = np.array([[1, 0], [1, 1]])
    model = quick(1, sampler="rejection", n_draws=30, n_warmup=0, prior="uniform").fit(X)
    assert model.W_mean_.shape == (2, 1)


@pytest.mark.parametrize("init", ["optimum", "factors"])
def test_starts(init, table):
    given = (table.usage, table.components) if init == "factors" else init
    model = quick(init=given, n_draws=20, n_warmup=0).fit(table.data)
    assert ((model.usage_ @ model.tiles_) != table.clean).sum() <= 2


def test_the_same_seed_gives_the_same_draws(table):
    first, second = (quick(n_draws=8, n_warmup=4).fit(table.data) for _ in range(2))
    assert (first.draws_["W"] == second.draws_["W"]).all()
    other = quick(n_draws=8, n_warmup=4, random_state=1).fit(table.data)
    assert (first.draws_["W"] != other.draws_["W"]).any()


def test_checkpoints_go_on_with_the_same_draws(table, tmp_path):
    whole = quick(n_draws=8, n_warmup=4).fit(table.data)
    folder = tmp_path / "run"
    first = quick(n_draws=8, n_warmup=4).fit(table.data, checkpoint=folder)
    again = quick(n_draws=8, n_warmup=4).fit(table.data, checkpoint=folder)
    for one in (first, again):
        assert (one.W_mean_ == whole.W_mean_).all()
        assert one.noise_ == whole.noise_


def test_files_keep_summaries_and_not_draws(model, table, tmp_path):
    back = load(save(model, tmp_path / "tiles.partwise"))
    assert back.transform(table.data) == pytest.approx(model.transform(table.data))
    assert (back.predict_interval()[0] == model.predict_interval()[0]).all()
    assert back.summary() == model.summary()
    with pytest.raises(AttributeError, match="Fit it again"):
        _ = back.draws_


@pytest.mark.parametrize("sampler", ["gibbs", "relaxed-gibbs"])
def test_draws_for_arviz(sampler, table):
    pytest.importorskip("arviz")
    model = quick(sampler=sampler, n_draws=6, n_warmup=4).fit(table.data)
    data = model.to_arviz(table.data, log_likelihood=True, posterior_predictive=True)
    W = data["posterior"]["W"]
    assert W.dims == ("chain", "draw", "sample", "component")
    assert data["posterior"]["H"].shape == (2, 6, 3, 50)
    assert data["sample_stats"]["lp"].shape == (2, 6)
    fit = data["log_likelihood"]["X"].values
    assert np.isfinite(fit).all()
    if sampler == "gibbs":
        # Logarithms of probabilities; those of densities may be positive.
        assert (fit < 0).all()
    assert data["posterior_predictive"]["X"].shape == (2, 6, 60, 50)
    with pytest.raises(ValueError, match="needs the data"):
        model.to_arviz(log_likelihood=True)


def test_kept_numbers_are_those_of_the_kept_draws(table):
    """Each kept draw with its flips gives the log-likelihood of the trace, up to its priors."""
    from partwise.boolean.bit_table import BitTable
    from partwise.models.bayesian_boolean import entry_densities
    from partwise.samplers.boolean_posterior import BitState, BooleanPosterior

    model = quick(n_draws=6, n_warmup=4, n_chains=1).fit(table.data)
    problem = BooleanPosterior(BitTable.of(table.data))
    for d in range(6):
        W, H = model.draws_["W"][0, d], model.draws_["H"][0, d]
        noise = {name: model.draws_[name][0, d] for name in ("noise_add", "noise_drop")}
        state = BitState(W, H.T, np.array(list(noise.values())), np.full((2, 3), 0.5))
        assert entry_densities(table.data, W @ H, noise).sum() == pytest.approx(problem.log_likelihood(state))
        assert model.draws_["log_posterior"][0, d] < 0


def test_summary_says_whether_the_chains_agree(model):
    summary = model.summary([f"c{j}" for j in range(50)])
    assert "R-hat" in summary["sentence"]
    assert summary["kind"] == "bayesian-boolean"
    assert len(summary["parts"]) == 3
    assert summary["parts"][0]["rows"] > 0


def test_chains_that_do_not_agree_are_said_to(table):
    with pytest.warns(ConvergenceWarning, match="R-hat of"):
        model = quick(sampler="metropolis", n_draws=20, n_warmup=0, step_size=1e-6).fit(table.data)
    assert not model.converged_
    assert max(model.rhat_.values()) > 1.05


@pytest.mark.parametrize("fill", [0, 1])
def test_tables_of_one_value(fill):
    model = quick(2, n_draws=20, n_warmup=20).fit(np.full((12, 9), fill))
    assert ((model.usage_ @ model.tiles_) == fill).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"sampler": "nuts"}, "sampler must be one of"),
        ({"prior": "cauchy"}, "prior must be one of"),
        ({"n_draws": 0}, "n_draws must be an integer"),
        ({"n_warmup": -1}, "n_warmup must be an integer"),
        ({"batch_size": 0}, "batch_size must be an integer"),
        ({"batch_size": (1, 2, 3)}, "one for rows and one for columns"),
        ({"init": "best"}, "init must be one of"),
        ({"init": (np.ones((2, 3)), np.ones((3, 2)))}, "init must be W of shape"),
        ({"init": (np.full((60, 3), 2.0), np.ones((3, 50)))}, "must lie between 0 and 1"),
        ({"init": 3}, "init must be 'random', 'optimum' or a pair"),
        ({"noise": -1.0}, "noise must be a number"),
        ({"noise": "sample", "sampler": "iasg"}, "needs sampler='relaxed-gibbs'"),
        ({"boundary": "wrap"}, "boundary must be one of"),
        ({"boundary": "clamp", "sampler": "mala"}, "cannot be Metropolis-adjusted"),
        ({"flip_prior": (0.0, 1.0)}, "flip_prior must be a number"),
        ({"flip_prior": 3}, "two parameters of a Beta"),
        ({"cells": "some"}, "cells must be one of"),
    ],
)
def test_bad_settings(settings, sentence, table):
    with pytest.raises(ValueError, match=sentence):
        BayesianBooleanMF(**{"n_components": 3, "n_draws": 2, "n_warmup": 2, **settings}).fit(table.data)


def test_bad_data():
    with pytest.raises(ValueError, match="BayesianBooleanMF takes 0 and 1"):
        quick().fit(np.array([[0, 1], [2, 1]]))
    with pytest.raises(ValueError, match="Negative values in data passed to BayesianBooleanMF"):
        quick().fit(np.array([[0, 1], [-1, 1]]))


def test_a_prior_may_be_given_as_an_object(table):
    model = quick(sampler="relaxed-gibbs", prior=UnitPrior(linear=2.0), n_draws=4, n_warmup=4).fit(table.data)
    assert model.components_.shape == (3, 50)


# -------------------------------------------------------------------- posterior bits


def test_the_rule_names_the_best_bits_there_are():
    """Against every pair of bit matrices of a small table."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        cells = rng.random((3, 3)).astype(np.float32)
        best = min(
            expected_wrong(np.array(w).reshape(3, 1), np.array(h).reshape(1, 3), cells)
            for w in every((False, True), repeat=3)
            for h in every((False, True), repeat=3)
        )
        ends = []
        for start in every((0.0, 1.0), repeat=3):
            found = posterior_bits(np.ones((3, 1)), np.array(start)[:, None], cells)
            begin = expected_wrong(np.ones((3, 1), bool), np.array([start]) > 0.5, cells)
            assert found.expected_wrong <= begin + 1e-9
            assert found.expected_wrong == pytest.approx(expected_wrong(found.usage, found.tiles, cells))
            ends.append(found.expected_wrong)
        # The search weighs entries in steps of 1/255.
        assert min(ends) == pytest.approx(best, abs=0.05)


def test_without_cells_the_likeliest_bits_are_named():
    found = posterior_bits(np.array([[0.6], [0.4]]), np.array([[0.9], [0.2]]), None)
    assert found.usage.ravel().tolist() == [True, False]
    assert found.tiles.ravel().tolist() == [True, False]
    assert np.isnan(found.expected_wrong)


def test_calibration_error():
    rng = np.random.default_rng(0)
    cells = rng.random((300, 300))
    truth = rng.random((300, 300)) < cells
    assert calibration_error(cells, truth)[0] < 0.02
    assert calibration_error(cells, truth ^ True)[0] > 0.3
    assert calibration_error(np.zeros((2, 2)), np.zeros((2, 2), bool))[1] == 0
