"""BooleanMF as a user meets it."""

import numpy as np
import pytest
import scipy.sparse as sp

import partwise
from partwise import BooleanMF
from partwise.datasets import make_boolean


@pytest.fixture(scope="module")
def planted():
    return make_boolean(200, 150, 6, noise_add=0.02, noise_drop=0.08, random_state=1)


@pytest.fixture(scope="module")
def model(planted):
    return BooleanMF(6, random_state=0, max_time=60, patience=60).fit(planted.data)


def test_planted_tiles_come_back(model, planted):
    usage = model.transform(planted.data)
    assert usage.dtype == bool
    assert model.components_.dtype == bool
    assert (model.inverse_transform(usage) != planted.clean).sum() == 0
    assert model.reconstruction_err_ == (planted.data != planted.clean).sum()
    assert model.score(planted.data) == pytest.approx(1 - model.reconstruction_err_ / planted.data.size)
    assert set(model.tiles_) == {"rows", "columns", "density", "adds", "log10_chance"}
    assert (np.diff(model.tiles_["adds"]) <= 0).all()
    assert (model.tiles_["log10_chance"] < -20).all(), "planted tiles are no chance"


def test_the_rank_by_description_length(planted):
    model = BooleanMF(random_state=0, max_time=60, patience=20).fit(planted.data)
    assert model.n_components_ == 6
    assert model.ranks_["tiles"].tolist()[:7] == list(range(7))
    assert model.ranks_["tiles"][np.argmin(model.ranks_["bits"])] == 6
    assert model.ranks_["wrong"][0] == planted.data.sum()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    assert BooleanMF(random_state=0, max_time=60, patience=20).fit(noise).n_components_ == 0


def test_kinds_of_input_agree(model, planted):
    for X in (
        planted.data.astype(int),
        planted.data.astype(np.float32),
        sp.csr_array(planted.data.astype(float)),
    ):
        same = BooleanMF(6, random_state=0, max_time=60, patience=60).fit(X)
        assert np.array_equal(same.components_, model.components_)
        assert np.array_equal(same.transform(X), model.transform(planted.data))


def test_missing_entries_are_filled_in(planted):
    hidden = np.random.default_rng(0).random(planted.data.shape) < 0.2
    X = np.where(hidden, np.nan, planted.data.astype(float))
    model = BooleanMF(6, random_state=0, max_time=60, patience=60).fit(X)
    filled = model.inverse_transform(model.transform(X))
    assert (filled != planted.clean)[hidden].mean() < 0.01


def test_likelihood_is_nearer_the_truth_where_noise_is_strong():
    planted = make_boolean(300, 300, 8, noise_add=0.15, noise_drop=0.35, random_state=0)
    errors = {}
    for objective in ("error", "likelihood"):
        model = BooleanMF(8, objective=objective, random_state=0, max_time=60, patience=10).fit(planted.data)
        errors[objective] = int(
            (model.inverse_transform(model.transform(planted.data)) != planted.clean).sum()
        )
    assert errors["likelihood"] < errors["error"]


def test_panpal_alone(planted):
    model = BooleanMF(6, method="panpal", random_state=0).fit(planted.data)
    assert len(model.thresholds_) == 2
    assert model.reconstruction_err_ < planted.data.sum()


def test_primp_finds_a_rank_and_trustpal_drops_chance(planted):
    model = BooleanMF(method="primp", random_state=0).fit(planted.data)
    assert 4 <= model.n_components_ <= 10
    assert model.reconstruction_err_ < 0.5 * planted.data.sum()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    kept = BooleanMF(4, method="trustpal", random_state=0, max_time=30, patience=20).fit(noise)
    assert kept.n_components_ == 0
    assert (
        BooleanMF(6, method="trustpal", random_state=0, max_time=60, patience=60)
        .fit(planted.data)
        .n_components_
        == 6
    )


def test_save_and_load(model, planted, tmp_path):
    partwise.save(model, tmp_path / "tiles.partwise")
    again = partwise.load(tmp_path / "tiles.partwise")
    assert np.array_equal(again.transform(planted.data), model.transform(planted.data))


def test_bad_and_trivial_input(planted):
    with pytest.raises(ValueError, match=r"X\[1, 2\] = 3"):
        BooleanMF(2).fit(np.where(np.arange(20).reshape(4, 5) == 7, 3, 1))
    with pytest.raises(ValueError, match=r"Negative values in data passed to BooleanMF.*X\[0, 1\] = -1"):
        BooleanMF(2).fit(np.array([[2, -1], [0, 1]]))
    with pytest.raises(ValueError, match="exceeds the smaller side"):
        BooleanMF(9).fit(np.eye(8))
    with pytest.raises(ValueError, match="needs a number of tiles"):
        BooleanMF(method="panpal").fit(np.eye(8))
    with pytest.raises(ValueError, match="NaN"):
        BooleanMF(2, missing_values=None).fit(np.array([[1, np.nan], [0, 1.0]]))
    with pytest.raises(ValueError, match="features"):
        BooleanMF(2, random_state=0, max_time=1, patience=1).fit(np.eye(6)).transform(np.eye(5))
    with pytest.warns(UserWarning, match="no tile"):
        empty = BooleanMF().fit(np.zeros((4, 3)))
    assert empty.transform(np.zeros((2, 3))).shape == (2, 0)
    assert empty.inverse_transform(np.zeros((2, 0))).sum() == 0
    with pytest.warns(UserWarning, match="one tile"):
        full = BooleanMF(3).fit(np.ones((4, 3)))
    assert full.inverse_transform(full.transform(np.ones((4, 3)))).all()


def test_a_row_of_weight_two_is_the_row_twice_and_weight_zero_is_missing(planted):
    X = planted.data[:60, :40]
    rng = np.random.default_rng(0)
    twice = rng.integers(1, 3, size=len(X))
    settings = {"random_state": 0, "max_time": 60, "patience": 60}
    weighed = BooleanMF(4, **settings).fit(X, sample_weight=twice)
    usage = weighed.transform(X)
    wrong = (weighed.inverse_transform(usage) != X).sum(axis=1)
    assert weighed.reconstruction_err_ == pytest.approx(float(twice @ wrong))
    repeated = BooleanMF(4, **settings).fit(np.repeat(X, twice, axis=0))
    assert weighed.reconstruction_err_ <= 1.1 * repeated.reconstruction_err_ + 2
    hidden = rng.random(X.shape) < 0.2
    missing = BooleanMF(4, **settings).fit(np.where(hidden, np.nan, X.astype(float)))
    zero = BooleanMF(4, **settings).fit(X, weights=(~hidden).astype(float))
    assert zero.reconstruction_err_ == missing.reconstruction_err_
    assert np.array_equal(zero.components_, missing.components_)
    assert BooleanMF(4, **settings).fit(
        sp.csr_array(X.astype(float)), weights=sp.csr_array(2.0 * ~hidden)
    ).score(X, weights=~hidden) == pytest.approx(zero.score(X, weights=~hidden), abs=0.03)


def test_heavy_entries_are_got_right():
    X = np.random.default_rng(0).random((30, 20)) < 0.4
    weights = np.ones(X.shape)
    weights[:5] = 50.0
    model = BooleanMF(5, random_state=0, max_time=60, patience=200).fit(X, weights=weights)
    plain = BooleanMF(5, random_state=0, max_time=60, patience=200).fit(X)
    wrong = [(m.inverse_transform(m.transform(X)) != X)[:5].sum() for m in (model, plain)]
    assert wrong[0] < wrong[1]
    assert wrong[0] <= 2


def test_trust_tells_planted_tiles_from_noise(model, planted):
    found = model.trust(planted.data, n_restarts=3, n_resamples=3)
    assert (found["restarts"] == 1).all()
    assert (found["resamples"] == 1).all()
    assert found is model.trust_
    sparse = model.trust(
        sp.csr_array(planted.data.astype(float)), n_restarts=0, n_resamples=1, sample_weight=np.ones(200)
    )
    assert (sparse["resamples"] == 1).all()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    shaky = BooleanMF(4, random_state=0, max_time=2, patience=20).fit(noise)
    assert shaky.trust(noise, n_restarts=3, n_resamples=3)["resamples"].mean() < 0.5
    # Two columns that always go together can stand in for each other.
    X = np.zeros((20, 6), bool)
    X[:10, :3] = X[10:, 3:] = True
    X[:, 0] = True
    pair = BooleanMF(2, random_state=0, max_time=5, patience=20).fit(X)
    assert pair.reconstruction_err_ == 0
    again = pair.trust(X, n_restarts=2, n_resamples=0)
    for t, others in enumerate(again["alternatives"]):
        for other in others:
            assert other["change"] <= 0
            assert not np.array_equal(other["columns"], pair.components_[t])


def test_the_objective_follows_the_noise(planted):
    strong = make_boolean(400, 300, 8, noise_add=0.1, noise_drop=0.25, random_state=0)
    model = BooleanMF(8, random_state=0, max_time=60).fit(strong.data)
    assert model.criterion_ == "likelihood"
    assert (model.inverse_transform(model.transform(strong.data)) != strong.clean).sum() < 40
    lumpy = np.random.default_rng(0).random((300, 40)) < np.linspace(0.02, 0.9, 40)
    assert BooleanMF(3, random_state=0, max_time=2, patience=5).fit(lumpy).criterion_ == "error"


def test_thresholds_one_and_each(planted):
    one = BooleanMF(6, method="panpal", random_state=0).fit(planted.data)
    each = BooleanMF(6, method="panpal", thresholds="each", random_state=0).fit(planted.data)
    assert one.thresholds_[0] == one.thresholds_[1]
    assert len(each.thresholds_) == 2


@pytest.mark.parametrize("method", ["panpal", "primp"])
def test_relaxed_methods_take_weights_and_missing_entries(planted, method):
    X = planted.data.astype(float)
    hidden = np.random.default_rng(0).random(X.shape) < 0.1
    spoiled = np.where(hidden, 1.0 - X, X)
    by_weight = BooleanMF(6, method=method, random_state=0).fit(spoiled, weights=np.where(hidden, 0.0, 2.0))
    by_nan = BooleanMF(6, method=method, random_state=0).fit(np.where(hidden, np.nan, X))
    assert np.array_equal(by_weight.components_, by_nan.components_)
    wrong = (by_nan.inverse_transform(by_nan.transform(X)) != planted.clean).mean()
    trusting = BooleanMF(6, method=method, random_state=0).fit(spoiled)
    assert wrong <= (trusting.inverse_transform(trusting.transform(spoiled)) != planted.clean).mean()


def test_bad_weights(planted):
    X = planted.data[:10, :8]
    with pytest.raises(ValueError, match="weights must have the shape of X"):
        BooleanMF(2).fit(X, weights=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"finite and nonnegative; weights\[0, 0\] = -1"):
        BooleanMF(2).fit(X, weights=np.where(np.arange(80).reshape(10, 8) == 0, -1.0, 1.0))
    with pytest.raises(ValueError, match="one number for each of the 10 rows"):
        BooleanMF(2).fit(X, sample_weight=[1.0])
