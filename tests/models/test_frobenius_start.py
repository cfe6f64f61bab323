"""Fits of dense data under the Kullback-Leibler divergence begin at the factors of the Frobenius loss."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF
from partwise.initial.orthonormal import gram, orthonormalise
from partwise.parallel import thread_limit


def planted(seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(5 * rng.gamma(0.5, 1.0, (80, 4)) @ rng.gamma(0.5, 1.0, (4, 60))).astype(float)


def test_the_start_lowers_the_first_objective_and_never_the_worth_of_the_answer():
    X = planted()
    options = {"beta_loss": "kullback-leibler", "random_state": 0}
    warm, cold = NMF(4, **options).fit(X), NMF(4, init="nndsvda", **options).fit(X)
    assert warm.history_["objective"][0] < 0.5 * cold.history_["objective"][0]
    assert warm.objective_ <= 1.01 * cold.objective_
    assert (np.diff(warm.history_["objective"]) <= 1e-9 * warm.history_["objective"][0]).all()


@pytest.mark.parametrize(
    "changed",
    [
        {"init": "nndsvda"},
        {"solver": "mu"},
        {"alpha_W": 0.1},
        {"beta_loss": "itakura-saito"},
        {"fixed_components": np.ones((1, 60))},
    ],
)
def test_whoever_names_a_start_a_solver_or_a_prior_gets_those(changed, monkeypatch):
    def refuse(*args):
        raise AssertionError("no such start was asked for")

    monkeypatch.setattr("partwise.models.nmf.frobenius_start", refuse)
    X = planted() + 1.0
    NMF(4, **{"beta_loss": "kullback-leibler", "max_iter": 2, "tol": 0, **changed}).fit(X)
    with pytest.raises(AssertionError, match="no such start"):
        NMF(4, beta_loss="kullback-leibler", max_iter=2, tol=0).fit(X)
    with np.errstate(all="raise"):
        NMF(4, beta_loss="kullback-leibler", max_iter=2, tol=0).fit(sp.csr_matrix(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exact", [True, False])
def test_bases_are_orthonormal_and_span_what_they_were_made_of(dtype, exact):
    rng = np.random.default_rng(0)
    Y = (rng.standard_normal((5000, 12)) * np.logspace(0, 6, 12)).astype(dtype)
    Q, R = orthonormalise(Y, exact)
    level = 1e-12 if exact else 1e-5
    assert np.abs(Q.T.astype(float) @ Q - np.eye(12)).max() < level
    assert np.linalg.norm(Q @ R - Y) <= (1e-6 if dtype == np.float32 else 1e-10) * np.linalg.norm(Y)
    assert np.allclose(R, np.triu(R))


def test_dependent_columns_have_a_basis_too():
    rng = np.random.default_rng(0)
    Y = np.repeat(rng.standard_normal((300, 3)), 2, axis=1)
    Q, R = orthonormalise(Y)
    assert np.abs(Q.T @ Q - np.eye(6)).max() < 1e-12
    assert np.allclose(Q @ R, Y)
    assert orthonormalise(np.zeros((10, 2)))[0].shape == (10, 2)


def test_the_gram_matrix_has_the_same_bits_for_any_number_of_threads():
    Y = np.random.default_rng(0).standard_normal((9000, 7)).astype(np.float32)
    with thread_limit(1):
        one = gram(Y)
    with thread_limit(2):
        assert np.array_equal(one, gram(Y))
    assert np.allclose(one, Y.T.astype(float) @ Y.astype(float))


def test_columns_of_tiny_numbers_have_a_basis_in_single_precision():
    Y = np.random.default_rng(0).random((50, 3)).astype(np.float32) * np.float32(1e-41)
    with np.errstate(all="raise", under="ignore"):
        Q, _ = orthonormalise(Y, exact=False)
    assert Q.dtype == np.float32
    assert np.abs(Q.T.astype(float) @ Q - np.eye(3)).max() < 1e-5
