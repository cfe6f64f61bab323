"""Units: data in cents, euros or millions have the same parts, found in as many iterations."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import (
    NMF,
    BinaryNMF,
    DeepNMF,
    GraphNMF,
    ManifoldNMF,
    MixtureClassifier,
    SemiNMF,
    SemiSupervisedNMF,
    SymmetricNMF,
)

SCALES = (1e-5, 1e3, 1e6)
rng = np.random.default_rng(0)
GROUPS = np.kron(np.eye(3), np.ones(4)) + 0.05
X = rng.gamma(1, 1, (90, 3)) @ GROUPS * np.exp(0.05 * rng.standard_normal((90, 12)))
FEW, MANY = (np.where(rng.random(X.shape) < share, np.nan, X) for share in (0.1, 0.7))
CLASSES = X.argmax(axis=1) // 4
SOME = np.where(np.arange(90) % 5 == 0, CLASSES, -1)

CASES = {
    "NMF": (NMF(3), X, None),
    "NMF, KL": (NMF(3, beta_loss="kullback-leibler"), X, None),
    "NMF, Itakura-Saito": (NMF(3, beta_loss="itakura-saito", solver="mu"), X, None),
    "NMF, scd": (NMF(3, solver="scd"), X, None),
    "NMF, sparse": (NMF(3), sp.csr_matrix(np.where(X > 1, X, 0)), None),
    "NMF, few missing": (NMF(3), FEW, None),
    "NMF, many missing": (NMF(3), MANY, None),
    "NMF, nndsvd": (NMF(3, init="nndsvd"), FEW, None),
    "NMF, random": (NMF(3, init="random"), FEW, None),
    "SemiNMF": (SemiNMF(3, max_iter=30), X - X.mean(), None),
    "GraphNMF": (GraphNMF(3, graph_weight=0.1), X, None),
    "SemiSupervisedNMF": (SemiSupervisedNMF(4, max_iter=50), X, SOME),
    "SemiSupervisedNMF, missing": (SemiSupervisedNMF(4, max_iter=50), FEW, SOME),
    "ManifoldNMF": (ManifoldNMF(4, max_iter=50), X, SOME),
    "SymmetricNMF": (SymmetricNMF(3), X @ X.T, None),
    "DeepNMF": (DeepNMF((6, 3), semi=False), X, None),
    "BinaryNMF": (BinaryNMF(3, noise="gaussian", max_iter=20), X, None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_parts_do_not_depend_on_the_units(name):
    model, data, y = CASES[name]
    first = model.fit(data, y)
    steps, parts = first.n_iter_, first.components_ / np.abs(first.components_).max()
    for scale in SCALES:
        again = model.fit(data * scale, y)
        assert again.n_iter_ == steps
        np.testing.assert_allclose(
            again.components_ / np.abs(again.components_).max(), parts, rtol=0, atol=1e-7
        )


@pytest.mark.parametrize("activation", ["softplus", "tanh"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_layers_with_a_function_between_them_fit_as_well_in_any_units(activation):
    errors = [
        DeepNMF((6, 3), activation=activation, max_iter=100).fit(X * scale).reconstruction_err_ / scale
        for scale in (1.0, *SCALES)
    ]
    assert max(errors) < 1.1 * min(errors)


def test_a_classifier_sees_no_units():
    model = MixtureClassifier(2, random_state=0)
    expected = model.fit(X, CLASSES).predict(X)
    for scale in SCALES:
        assert (model.fit(X * scale, CLASSES).predict(X * scale) == expected).mean() > 0.98


@pytest.mark.parametrize("data", [X, FEW], ids=["complete", "missing"])
def test_a_start_in_other_units_is_not_taken_for_progress(data):
    """What the objective was at the start says nothing about when it is down to rounding."""
    start = {"W": np.full((90, 3), 1e4) * (1 + rng.random((90, 3))), "H": 1e4 * (1 + rng.random((3, 12)))}
    model = NMF(3, init="custom")
    W = model.fit_transform(data, **start)
    best = NMF(3).fit(X).reconstruction_err_
    assert model.n_iter_ > 10
    assert np.linalg.norm(X - W @ model.components_) < 1.5 * best


@pytest.mark.parametrize("init", ["nndsvda", "nndsvdar"])
def test_starts_that_know_units_end_as_well_in_any(init):
    """scikit-learn's own have the mean of X in the factors; large numbers must not be left there."""
    for data in (X, FEW):
        best = NMF(3).fit(data).reconstruction_err_
        for scale in SCALES:
            assert NMF(3, init=init).fit(data * scale).reconstruction_err_ / scale < 1.02 * best
