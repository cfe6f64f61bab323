"""BinaryNMF as a user meets it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import partwise
from partwise import BinaryNMF
from partwise.datasets import make_bars
from partwise.reproduce.bars import parts_found


@pytest.fixture(scope="module")
def bars():
    return make_bars(600, random_state=3)


@pytest.fixture(scope="module")
def model(bars):
    return BinaryNMF(8).fit(bars.data)


@pytest.mark.parametrize("options", [{}, {"inference": "truncated"}, {"init": "random"}, {"init": "data"}])
@pytest.mark.parametrize("seed", [0, 1])
def test_all_bars_are_found_and_pi_is_right(options, seed):
    bars = make_bars(600, random_state=seed)
    model = BinaryNMF(8, random_state=seed, **options).fit(bars.data)
    assert parts_found(model.components_, bars.components) == 8
    assert model.activation_ == pytest.approx(bars.latent.mean(), abs=0.01)


def test_many_components_by_truncation():
    bars = make_bars(1500, 10, activation=0.1, random_state=0)
    model = BinaryNMF(20, random_state=0).fit(bars.data)
    assert model.inference_ == "truncated"
    assert parts_found(model.components_, bars.components) == 20
    assert model.activation_ == pytest.approx(bars.latent.mean(), rel=0.02)


def test_posterior_means_bits_and_scores(model, bars):
    means, bits = model.transform(bars.data), model.predict(bars.data)
    assert ((means >= 0) & (means <= 1 + 1e-12)).all()
    assert set(np.unique(bits)) <= {0, 1}
    order = [int(np.argmax(bars.components @ part)) for part in model.components_]
    assert (bits == bars.latent[:, order]).mean() > 0.98
    assert np.array_equal(model.predict_proba(bars.data), means)
    assert model.score(bars.data) == pytest.approx(model.log_likelihood_ / 600)
    assert model.score_samples(bars.data[:5]) == pytest.approx(model.score_samples(bars.data)[:5])
    assert model.inverse_transform(bits).shape == bars.data.shape


@pytest.mark.parametrize("kind", [np.float64, np.float32, sp.csr_array])
@pytest.mark.parametrize(
    "options",
    [
        {"inference": "exact"},
        {"inference": "truncated"},
        {"inference": "truncated", "n_candidates": "all", "max_active": 2},
    ],
)
def test_a_row_does_not_depend_on_its_batch(bars, options, kind):
    model = BinaryNMF(8, max_iter=20, tol=0, **options).fit(bars.data)
    X = bars.data[:40].copy()
    X[3] *= 50.0
    X[7] = 0.0
    X[1, 2] = X[7, 5] = np.nan
    X = kind(X)
    for method in (model.predict_proba, model.score_samples, model.predict):
        whole = method(X)
        alone = np.concatenate([method(X[i : i + 1]) for i in range(40)])
        assert np.allclose(whole, alone, rtol=1e-12, atol=1e-12)


def test_time_is_up_after_a_step(bars):
    model = BinaryNMF(8, n_init=3, max_time=0.0).fit(bars.data)
    assert (model.ended_by_, model.converged_, model.n_iter_) == ("max_time", False, 1)
    assert model.restarts_ == [{"log_likelihood": model.log_likelihood_, "n_iter": 1, "ended_by": "max_time"}]
    assert model.transform(bars.data).shape == (600, 8)


def test_every_start_is_told_of(bars):
    model = BinaryNMF(8, n_init=3, init="random", random_state=1).fit(bars.data)
    found = [one["log_likelihood"] for one in model.restarts_]
    assert len(found) == 3
    assert model.log_likelihood_ == max(found)
    assert {one["ended_by"] for one in model.restarts_} == {"converged"}
    assert (model.ended_by_, model.converged_) == ("converged", True)


def test_samples_look_like_the_data(model, bars):
    X, bits = model.sample(4000, random_state=1)
    assert X.shape == (4000, 16)
    assert bits.mean() == pytest.approx(model.activation_, abs=0.01)
    assert X.mean() == pytest.approx(bars.data.mean(), rel=0.05)


def test_history_and_components_on_request(bars):
    model = BinaryNMF(8, record_components=True).fit(bars.data)
    steps = model.n_iter_
    for name in ("log_likelihood", "activation", "seconds"):
        assert model.history_[name].shape == (steps + 1,)
    assert model.history_["components"].shape == (steps + 1, 8, 16)
    assert (np.diff(model.history_["seconds"]) >= 0).all()
    assert np.array_equal(model.history_["components"][-1], model.components_)
    assert model.history_["log_likelihood"][-1] == model.log_likelihood_
    assert "components" not in BinaryNMF(8).fit(bars.data).history_


@pytest.mark.parametrize("inference", ["exact", "truncated"])
def test_sparse_float32_and_missing(bars, inference):
    options = {"inference": inference, "random_state": 0}
    dense = BinaryNMF(8, **options).fit(bars.data)
    sparse = BinaryNMF(8, **options).fit(sp.csr_matrix(bars.data))
    assert sparse.log_likelihood_ == pytest.approx(dense.log_likelihood_, rel=1e-6)
    single = BinaryNMF(8, **options).fit(bars.data.astype(np.float32))
    assert single.transform(bars.data.astype(np.float32)).dtype == np.float32
    holes = bars.data.copy()
    holes[np.random.default_rng(0).random(holes.shape) < 0.2] = np.nan
    filled = BinaryNMF(8, **options).fit(holes)
    assert parts_found(filled.components_, bars.components) == 8
    # A feature that is missing in a row plays no part in that row's score.
    row = bars.data[:1].copy()
    row[0, 3] = np.nan
    kept = BinaryNMF(8, init=np.delete(dense.components_, 3, axis=1), max_iter=1, tol=0, rescue=False)
    kept.fit(np.delete(bars.data, 3, axis=1))
    kept.components_, kept.activation_ = np.delete(dense.components_, 3, axis=1), dense.activation_
    kept.background_ = dense.background_
    kept.set_params(inference=inference)
    assert dense.score(row) == pytest.approx(kept.score(np.delete(row, 3, axis=1)), rel=1e-8)


def test_rows_in_which_a_part_is_missing_do_not_set_its_level():
    bars = make_bars(400, random_state=0)
    holes = bars.data.copy()
    # In some rows nothing of the third column is left: how strong that bar is there, nobody knows.
    holes[:20, 2::4] = np.nan
    holes[np.random.default_rng(0).random(holes.shape) < 0.2] = np.nan
    model = BinaryNMF(8, rescue=False).fit(holes)
    assert parts_found(model.components_, bars.components) == 8
    assert model.components_.max() < 15.0


def test_a_row_of_weight_two_is_the_row_twice(bars):
    start = np.random.default_rng(0).random((8, 16)) * 5
    X = bars.data[:60]
    options = {"init": start, "max_iter": 15, "tol": 0, "rescue": False}
    weighted = BinaryNMF(8, **options).fit(X, sample_weight=np.where(np.arange(60) < 20, 2.0, 1.0))
    repeated = BinaryNMF(8, **options).fit(np.concatenate([X, X[:20]]))
    assert np.allclose(weighted.components_, repeated.components_, rtol=1e-6, atol=1e-9)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_)


def test_save_and_load(model, bars, tmp_path):
    partwise.save(model, tmp_path / "bars.partwise")
    again = partwise.load(tmp_path / "bars.partwise")
    assert np.array_equal(again.transform(bars.data), model.transform(bars.data))


def test_empty_rows_and_dead_components_do_no_harm(bars):
    X = np.concatenate([bars.data, np.zeros((50, 16))])
    start = np.concatenate([bars.components[:7] + 0.01, np.full((1, 16), 1e-9)])
    model = BinaryNMF(8, init=start).fit(X)
    assert np.isfinite(model.components_).all()
    assert parts_found(model.components_, bars.components) == 8, "the dead component was replanted"
    assert model.predict(np.zeros((2, 16))).sum() == 0


def test_perturbation_widening_and_schedules(bars):
    for options in (
        {"perturb": 0.5, "init": "random"},
        {"perturb": [1.0, 0.5], "anneal": [4.0, 2.0]},
        {
            "inference": "truncated",
            "n_candidates": "all",
            "max_active": 2,
            "widen": 5,
            "update": "least-squares",
        },
        {"anneal": False, "n_init": 2},
    ):
        model = BinaryNMF(8, max_iter=20, tol=0, random_state=0, **options).fit(bars.data)
        assert np.isfinite(model.log_likelihood_)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inference": "exact", "n_components": 20}, "1,048,576 states.*truncated"),
        ({"max_active": 9}, "max_active=9 exceeds n_components=8"),
        ({"n_candidates": 9}, "at most 8"),
        ({"init": np.ones((3, 16))}, r"shape \(8, 16\)"),
        ({"init": "bars"}, "init must be one of"),
        ({"update": "newton"}, "update must be one of"),
        ({"anneal": [0.5]}, "anneal must be a number of at least 1"),
        ({"widen": -1}, "widen must be an integer of at least 0"),
        ({"max_time": -1}, "max_time must be a number of at least 0"),
    ],
)
def test_wrong_parameters_get_a_sentence(bars, options, words):
    with pytest.raises(ValueError, match=words):
        BinaryNMF(**{"n_components": 8, **options}).fit(bars.data)


def test_wrong_data_get_a_sentence(bars):
    bad = bars.data.copy()
    bad[2, 5] = -1
    with pytest.raises(ValueError, match=r"X\[2, 5\] = -1"):
        BinaryNMF(8).fit(bad)
    with pytest.raises(ValueError, match="no observed count above zero"):
        BinaryNMF(2).fit(np.zeros((4, 3)))
    with pytest.warns(UserWarning, match="whole numbers") as fractions:
        BinaryNMF(8, max_iter=3, tol=0).fit(bars.data / 3)
    with pytest.warns(ConvergenceWarning, match="still rising") as unconverged:
        BinaryNMF(8, max_iter=2, tol=1e-12).fit(bars.data)
    assert {one.filename for said in (fractions, unconverged) for one in said} == {__file__}
    with pytest.warns(UserWarning, match="always on"):
        BinaryNMF(1, max_iter=50).fit(np.random.default_rng(0).poisson(20.0, (100, 5)).astype(float))
