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
