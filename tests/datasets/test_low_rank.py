"""Laws of the planted low-rank matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.datasets import _low_rank, make_low_rank


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("density", [1.0, 0.4])
def test_without_noise_data_is_the_product(dtype: type, density: float) -> None:
    planted = make_low_rank(30, 20, 4, density=density, dtype=dtype, random_state=0)
    assert (planted.W.shape, planted.H.shape, planted.data.shape) == ((30, 4), (4, 20), (30, 20))
    np.testing.assert_allclose(planted.data, planted.W @ planted.H, rtol=1e-5)
    np.testing.assert_array_equal(planted.data, planted.clean)
    assert {planted[key].dtype for key in ("data", "W", "H", "clean")} == {np.dtype(dtype)}
    assert min(planted.W.min(), planted.H.min(), planted.data.min()) >= 0
    assert np.linalg.matrix_rank(planted.clean) == 4


def test_data_can_be_changed_without_harm_to_the_truth() -> None:
    planted = make_low_rank(random_state=0)
    assert not np.shares_memory(planted.data, planted.clean)


def test_density_is_the_share_of_nonzero_entries() -> None:
    planted = make_low_rank(2000, 50, 10, density=0.3, random_state=0)
    assert np.mean(planted.W > 0) == pytest.approx(0.3, abs=0.02)


def test_missing_entries_are_nan_in_data_only() -> None:
    planted = make_low_rank(300, 200, missing=0.25, random_state=0)
    gaps = np.isnan(planted.data)
    assert gaps.mean() == pytest.approx(0.25, abs=0.01)
    assert np.all(np.isfinite(planted.clean))
    np.testing.assert_array_equal(planted.data[~gaps], planted.clean[~gaps])


def test_gaussian_noise_has_the_asked_scale_and_keeps_data_nonnegative() -> None:
    planted = make_low_rank(400, 300, 20, noise="gaussian", noise_scale=0.05, random_state=0)
    spread = np.sqrt(np.mean((planted.data - planted.clean) ** 2))
    assert spread == pytest.approx(0.05 * np.sqrt(np.mean(planted.clean**2)), rel=0.02)
    loud = make_low_rank(50, 40, noise="gaussian", noise_scale=3.0, random_state=0)
    assert loud.data.min() == 0


def test_poisson_noise_gives_counts_with_the_clean_means() -> None:
    planted = make_low_rank(500, 300, 8, noise="poisson", random_state=0)
    assert np.all(planted.data == np.round(planted.data))
    residual = planted.data - planted.clean
    assert residual.mean() == pytest.approx(0, abs=0.05)
    assert np.mean(residual**2) == pytest.approx(planted.clean.mean(), rel=0.03)


@pytest.mark.parametrize("noise", [None, "poisson"])
def test_sparse_is_csr_of_the_same_product(noise: str | None) -> None:
    planted = make_low_rank(200, 150, 5, density=0.2, noise=noise, sparse=True, random_state=0)
    assert sp.issparse(planted.data)
    assert planted.data.format == planted.clean.format == "csr"
    np.testing.assert_allclose(planted.clean.toarray(), planted.W @ planted.H)
    assert np.all(planted.data.data > 0)
    if noise is None:
        assert abs(planted.data - planted.clean).nnz == 0


def test_sparse_gaussian_noise_stays_on_stored_entries() -> None:
    planted = make_low_rank(
        200, 150, 5, density=0.2, noise="gaussian", noise_scale=0.1, sparse=True, random_state=0
    )
    assert np.all(planted.clean.toarray()[planted.data.toarray() > 0] > 0)
    assert abs(planted.data - planted.clean).nnz > 0


def test_sparse_data_too_large_to_exist_densely() -> None:
    planted = make_low_rank(200_000, 100_000, 3, density=0.003, sparse=True, dtype=np.float32, random_state=0)
    assert planted.data.shape == (200_000, 100_000)
    assert planted.data.dtype == np.float32
    assert planted.data.nnz < 2_000_000


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_cover_everything_once(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(_low_rank, "_BLOCK_ENTRIES", block)
    for shape in [(9, 5), (1, 40), (40, 1), (3, 64), (1, 0)]:
        values = np.zeros(shape)
        for view in _low_rank._blocks(values):
            assert view.size <= max(block, shape[1] if shape[1] < block else block)
            view += 1
        assert np.all(values == 1)


def test_random_state_decides_everything() -> None:
    draws = [
        make_low_rank(20, 10, noise="poisson", missing=0.1, density=0.5, random_state=seed)
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(draws[0].data, draws[1].data)
    assert not np.array_equal(draws[0].data, draws[2].data)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1"),
        ({"n_features": -3}, ValueError, "n_features must be at least 1"),
        ({"n_components": True}, TypeError, "n_components must be a whole number"),
        ({"density": 0.0}, ValueError, r"density must lie in \(0, 1\]"),
        ({"missing": 1.0}, ValueError, r"missing must lie in \[0, 1\)"),
        ({"noise": "pink"}, ValueError, "noise must be one of None, 'gaussian', 'poisson', but 'pink'"),
        ({"noise": "gaussian", "noise_scale": -1.0}, ValueError, "noise_scale must lie in"),
        ({"noise_scale": 0.1}, ValueError, "only Gaussian noise has a scale"),
        ({"noise": "poisson", "noise_scale": 0.1}, ValueError, "leave noise_scale at 0"),
        ({"sparse": True, "missing": 0.1}, ValueError, "pass missing=0 or sparse=False"),
        ({"dtype": np.int64}, ValueError, "dtype must be float32 or float64, but int64"),
    ],
)
def test_bad_parameters_are_named(given: dict, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        make_low_rank(**given)
