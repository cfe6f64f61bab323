"""BinaryNMF(noise="gaussian") as a user meets it."""

import numpy as np
import pytest
import scipy.sparse as sp

import partwise
from partwise import BinaryNMF
from partwise.datasets import make_bars
from partwise.reproduce.bars import parts_found


def noisy_bars(seed, n_samples=400, sigma=1.5):
    """Bars with Gaussian noise, what falls below 0 set to 0."""
    bars = make_bars(n_samples, noise=None, random_state=seed)
    rng = np.random.default_rng(seed + 1)
    bars.data = np.maximum(bars.data + sigma * rng.standard_normal(bars.data.shape), 0.0)
    return bars


@pytest.fixture(scope="module")
def bars():
    return noisy_bars(0)


@pytest.fixture(scope="module")
def model(bars):
    return BinaryNMF(8, noise="gaussian").fit(bars.data)


@pytest.mark.parametrize("options", [{}, {"inference": "truncated"}, {"init": "random"}])
def test_all_bars_pi_and_sigma_are_found(options):
    bars = noisy_bars(3)
    model = BinaryNMF(8, noise="gaussian", random_state=3, **options).fit(bars.data)
    assert parts_found(model.components_, bars.components) == 8
    assert model.activation_ == pytest.approx(bars.latent.mean(), abs=0.01)
    order = [int(np.argmax(bars.components @ part)) for part in model.components_]
    left = bars.data - bars.latent[:, order] @ model.components_
    # Truncation leaves states out; what they would explain is taken for noise.
    most = 1.5 if model.inference_ == "truncated" else 1.03
    assert 0.97 < model.noise_variance_ / (left**2).mean() < most


def test_scores_history_summary_and_samples(model, bars):
    assert model.score(bars.data) * len(bars.data) == pytest.approx(model.log_likelihood_)
    assert model.history_["noise_variance"].shape == (model.n_iter_ + 1,)
    assert (np.diff(model.history_["log_likelihood"]) >= -1e-6).all()
    told = model.summary()
    assert "σ of the Gaussian noise" in str(told)
    assert told["chosen"]["noise"] == "gaussian"
    X, bits = model.sample(3000, random_state=1)
    left = X - bits @ model.components_
    assert left.std() == pytest.approx(np.sqrt(model.noise_variance_), rel=0.05)
    assert model.predict(bars.data[:3]).shape == (3, 8)


def test_the_unit_of_the_data_changes_nothing_else(model, bars):
    for factor in (1e-6, 1e4):
        other = BinaryNMF(8, noise="gaussian").fit(factor * bars.data)
        assert np.allclose(other.components_, factor * model.components_, rtol=1e-3, atol=1e-3 * factor)
        assert other.noise_variance_ == pytest.approx(factor**2 * model.noise_variance_, rel=1e-3)
        assert np.allclose(other.transform(factor * bars.data), model.transform(bars.data), atol=1e-3)


@pytest.mark.parametrize("inference", ["exact", "truncated"])
def test_sparse_float32_missing_and_weights(bars, inference):
    options = {"noise": "gaussian", "inference": inference}
    X = np.where(bars.data > 4.0, bars.data, 0.0)
    dense, sparse = BinaryNMF(8, **options).fit(X), BinaryNMF(8, **options).fit(sp.csr_array(X))
    assert sparse.log_likelihood_ == pytest.approx(dense.log_likelihood_, rel=1e-6)
    single = BinaryNMF(8, **options).fit(X.astype(np.float32))
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.noise_variance_ == pytest.approx(dense.noise_variance_, rel=1e-3)
    holes = bars.data.copy()
    holes[np.random.default_rng(0).random(holes.shape) < 0.2] = np.nan
    filled = BinaryNMF(8, **options).fit(holes)
    assert parts_found(filled.components_, bars.components) == 8
    start = {"init": dense.components_, "max_iter": 5, "tol": 0, "rescue": False}
    twice = BinaryNMF(8, **options, **start).fit(X, sample_weight=np.where(np.arange(400) < 100, 2.0, 1.0))
    repeated = BinaryNMF(8, **options, **start).fit(np.concatenate([X, X[:100]]))
    assert np.allclose(twice.components_, repeated.components_, rtol=1e-6, atol=1e-9)
    assert twice.noise_variance_ == pytest.approx(repeated.noise_variance_)


def test_save_and_load(model, bars, tmp_path):
    partwise.save(model, tmp_path / "bars.partwise")
    again = partwise.load(tmp_path / "bars.partwise")
    assert np.array_equal(again.transform(bars.data), model.transform(bars.data))
    assert again.score(bars.data) == model.score(bars.data)


def test_a_checkpoint_goes_on_with_its_variance(bars, tmp_path):
    options = {"noise": "gaussian", "init": "random", "tol": 0, "rescue": False, "random_state": 1}
    straight = BinaryNMF(8, max_iter=6, **options).fit(bars.data, checkpoint=tmp_path / "one")
    again = BinaryNMF(8, max_iter=6, **options).fit(bars.data, checkpoint=tmp_path / "one")
    assert again.noise_variance_ == straight.noise_variance_
    assert np.array_equal(again.components_, straight.components_)


def test_wrong_noise_and_no_variance_get_a_sentence():
    with pytest.raises(ValueError, match=r"noise must be one of \['poisson', 'gaussian'\]; got 'laplace'"):
        BinaryNMF(2, noise="laplace").fit(np.ones((4, 3)))
    for X in (np.full((4, 3), 0.1), np.array([[2.5, np.nan], [np.nan, 2.5]])):
        with pytest.raises(ValueError, match=r"the same value, .*, in every observed entry.*no variance"):
            BinaryNMF(2, noise="gaussian").fit(X)
    bits = np.random.default_rng(0).random((60, 2)) < 0.5
    with pytest.warns(UserWarning, match="σ² has reached its floor"):
        BinaryNMF(2, noise="gaussian").fit(bits @ np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 1.0]]))
