"""Bad input gets a sentence that names the problem, the place and the way out."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, MixtureClassifier, non_negative_factorization
from partwise.priors import Gamma

A = np.arange(1.0, 13).reshape(4, 3)


def changed(row, column, value):
    X = A.copy()
    X[row, column] = value
    return X


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (
            changed(2, 1, -3),
            r"Negative values in data passed to NMF: X\[2, 1\] = -3\. Entries must be nonnegative",
        ),
        (changed(1, 2, np.inf), r"contains infinity: X\[1, 2\] = inf\. Replace"),
        (sp.csr_array(changed(2, 1, -3)), r"X\[2, 1\] = -3"),
        (sp.csc_array(changed(3, 0, -3)), r"X\[3, 0\] = -3"),
        (np.zeros((4, 3)), r"X \(4 × 3\) has no observed entry above zero"),
        (np.full((4, 3), np.nan), "no observed entry above zero"),
        (np.empty((0, 3)), "0 sample"),
        (np.empty((3, 0)), "0 feature"),
        (A * 1j, "Complex data not supported"),
        (np.array([["a", "b"], ["c", "d"]]), "X holds words, as .a., and NMF takes numbers.*yes: X == word"),
        (np.ones(5), "Expected 2D array, got 1D array"),
    ],
)
def test_data(X, words):
    with pytest.raises(ValueError, match=words):
        NMF(2).fit(X)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1; got 0"),
        ({"n_components": 2.5}, "n_components must be an integer"),
        ({"n_components": 9}, r"n_components=9 exceeds both sides of X \(4 × 3\).*Choose fewer"),
        ({"n_components": 4, "init": "nndsvd"}, "init = 'nndsvd' can only be used when"),
        ({"init": "svd"}, "init must be one of"),
        ({"init": "custom"}, "needs both W and H"),
        ({"solver": "adam"}, r"solver must be one of \['auto', "),
        ({"solver": "hals", "beta_loss": 1}, "solver 'hals' minimises only the Frobenius loss"),
        ({"solver": "cd", "beta_loss": 1}, "solver 'cd' does not handle beta_loss = 1"),
        ({"beta_loss": "gaussian"}, "beta_loss must be"),
        ({"tol": -1}, "tol must be a number of at least 0"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"alpha_W": -0.1}, "alpha_W must be"),
        ({"alpha_H": "none"}, "alpha_H must be"),
        ({"l1_ratio": 2}, "l1_ratio must be a number of at least 0 and at most 1"),
        ({"n_init": 0}, "n_init must be"),
        ({"max_time": -1}, "max_time must be"),
        ({"missing_values": -1}, "missing_values must be nan, 0 or None"),
        ({"prior_W": 3}, r"prior_W must be a prior such as partwise.priors.Gamma"),
        ({"callbacks": [3]}, "callbacks must be callables"),
        ({"fixed_components": np.ones((1, 4))}, "fixed_components must have one column for each of the 3"),
        ({"fixed_components": -np.ones((1, 3))}, "Negative values"),
        ({"fixed_components": np.ones((3, 3))}, "fixed_components has 3 rows, more than n_components=2"),
    ],
)
def test_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        NMF(**{"n_components": 2, **parameters}).fit(A)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"sample_weight": [1, 2]}, "one number for each of the 4 rows"),
        ({"sample_weight": [1, 2, -3, 1]}, r"sample_weight\[2\] = -3"),
        ({"sample_weight": [0, 0, 0, 0]}, "zero for every row"),
        ({"weights": np.ones((3, 4))}, "weights must have the shape of X"),
        ({"weights": -np.ones((4, 3))}, r"weights\[0, 0\] = -1"),
    ],
)
def test_weights(given, words):
    with pytest.raises(ValueError, match=words):
        NMF(2).fit(A, **given)


def test_weights_of_sparse_data():
    S = sp.csr_array(np.diag([1.0, 2, 3]))
    with pytest.raises(ValueError, match="exactly the entries that X stores"):
        NMF(2).fit(S, weights=sp.csr_array(np.ones((3, 3))))
    with pytest.raises(ValueError, match="keep weight 1; make X dense"):
        NMF(2).fit(S, weights=np.full((3, 3), 0.5))
    with pytest.raises(ValueError, match="one number for each of its 3 stored entries"):
        NMF(2).fit(S, weights=np.ones(5))
    by_array = NMF(2, max_iter=5, tol=0).fit(S, weights=[1.0, 0.5, 2.0]).components_
    by_pattern = NMF(2, max_iter=5, tol=0).fit(S, weights=sp.csr_array(np.diag([1.0, 0.5, 2]))).components_
    assert np.array_equal(by_array, by_pattern)


def test_refusing_missing_values():
    with pytest.raises(ValueError, match=r"contains NaN: X\[1, 1\] = nan\. With missing_values=nan"):
        NMF(2, missing_values=None).fit(changed(1, 1, np.nan))


def test_zeros_under_itakura_saito():
    with pytest.raises(ValueError, match=r"beta_loss <= 0 and X contains zeros.*X\[0, 2\] = 0"):
        NMF(2, beta_loss="itakura-saito").fit(changed(0, 2, 0))
    with pytest.raises(ValueError, match="unstored entries are zeros"):
        NMF(2, beta_loss=-1).fit(sp.csr_array(changed(0, 2, 0)))


def test_wrong_width_in_transform_and_inverse_transform():
    model = NMF(2).fit(A)
    with pytest.raises(ValueError, match="X has 5 features, but NMF is expecting 3 features"):
        model.transform(np.ones((2, 5)))
    with pytest.raises(ValueError, match="one column for each of the 2 components"):
        model.inverse_transform(np.ones((2, 3)))


def test_holding_h_needs_h():
    with pytest.raises(ValueError, match="update_H=False needs H"):
        non_negative_factorization(A, update_H=False)


def test_two_shifted_priors_do_not_combine():
    with pytest.raises(ValueError, match="Two Gamma priors"):
        NMF(2, prior_W=Gamma(0.5, 1) + Gamma(2, 1)).fit(A)


def test_a_signalling_nan_is_refused_in_a_sentence_alone():
    X = np.ones((4, 3), np.float32)
    X.view(np.uint32)[1, 1] = 0x7FA00000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="Input X contains NaN"):
            MixtureClassifier(1).fit(X, [0, 1, 0, 1])
