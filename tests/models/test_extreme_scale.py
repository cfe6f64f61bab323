"""Data far from 1 give the answer of the same data near 1, in their own units; ordinary data are left alone."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, non_negative_factorization
from partwise.priors import Bounds, Gamma, Graph

RNG = np.random.default_rng(0)
X = RNG.gamma(1.0, 1.0, (24, 3)) @ RNG.gamma(1.0, 1.0, (3, 9)) + 0.01
X /= X.max() * (1 + 1e-6)
LOSSES = {2.0: "frobenius", 1.0: "kullback-leibler", 0.0: "itakura-saito", 0.5: 0.5, 2.6: 2.6}
SOLVERS = [
    ("hals", 2.0),
    ("scd", 2.0),
    ("scd", 1.0),
    ("emu", 0.0),
    ("mu", 0.5),
    ("emu", 2.6),
    ("mu", 2.0),
    ("cd", 2.0),
]
POWERS = [(np.float32, 100), (np.float32, -100), (np.float64, 1000), (np.float64, -1000)]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(("dtype", "power"), POWERS)
@pytest.mark.parametrize(("solver", "beta"), SOLVERS)
def test_equals_the_fit_near_one(dtype, power, solver, beta):
    near = X.astype(dtype)
    far = np.ldexp(near, power)
    one, other = (NMF(3, solver=solver, beta_loss=LOSSES[beta], max_iter=30) for _ in range(2))
    W, V = one.fit_transform(near), other.fit_transform(far)
    assert V.dtype == dtype
    assert other.data_exponent_ == power
    # W has no units: the size of the data is in H.
    np.testing.assert_array_equal(other.components_, np.ldexp(one.components_, power))
    np.testing.assert_array_equal(V, W)
    np.testing.assert_array_equal(other.transform(far), V)
    factor = 2.0 ** (beta * power) if abs(beta * power) < 1020 else np.inf if beta * power > 0 else 0.0
    np.testing.assert_allclose(other.objective_, one.objective_ * factor, rtol=1e-12)
    np.testing.assert_allclose(other.history_["objective"], one.history_["objective"] * factor, rtol=1e-12)
    np.testing.assert_allclose(other.score(far), one.score(near) * factor, rtol=1e-12)
    if abs(beta) <= 2:
        root = np.ldexp(one.reconstruction_err_, int(beta * power / 2))
        np.testing.assert_allclose(other.reconstruction_err_, root, rtol=1e-12)


@pytest.mark.parametrize("power", [100, -100])
def test_every_form_of_data(power):
    far = np.ldexp(X.astype(np.float32), power)
    holed = np.where(RNG.random(X.shape) < 0.2, np.nan, far).astype(np.float32)
    weights, rows = RNG.random(X.shape), RNG.random(24) + 0.1

    def stream(A):
        return lambda: (A[i : i + 7] for i in range(0, 24, 7))

    for given, extra in (
        (far, {}),
        (holed, {}),
        (far, {"weights": weights}),
        (far, {"sample_weight": rows}),
        (np.asfortranarray(far), {}),
        (sp.csr_array(far), {}),
        (sp.csc_array(far), {}),
        (stream(far), {}),
        (stream(sp.csr_array(far)), {}),
    ):
        for loss in ("frobenius", "kullback-leibler"):
            solver = "mu" if callable(given) else "auto"
            model = NMF(3, beta_loss=loss, solver=solver, max_iter=50).fit(given, **extra)
            seen = np.ldexp(model.inverse_transform(model.transform(far)), -power)
            assert np.abs(seen - X).max() < 0.2
            assert np.isfinite(model.objective_)


@pytest.mark.parametrize(
    "priors",
    [
        {"alpha_W": 1e-3, "l1_ratio": 0.5},
        {"prior_W": Gamma(2.0, 0.5), "prior_H": Gamma(0.7, 0.2)},
        {"prior_W": Graph(np.eye(24, k=1) + np.eye(24, k=-1), 0.1), "alpha_H": 0.01},
        {"prior_H": Bounds(0.0, 1.0)},
    ],
)
@pytest.mark.parametrize("beta", [2.0, 1.0, 0.5])
def test_priors_keep_their_meaning(priors, beta, monkeypatch):
    """The same fit with and without scaling inside, on data that need none."""
    far = np.ldexp(X, 14)
    made = []
    for ordinary in (10, 30):
        monkeypatch.setattr("partwise.models.units.ORDINARY", ordinary)
        model = NMF(3, beta_loss=LOSSES[beta], init="random", max_iter=40, **priors)
        made.append((model.fit_transform(far), model))
    (W, one), (V, other) = made
    assert one.data_exponent_
    assert not other.data_exponent_
    np.testing.assert_allclose(one.objective_, other.objective_, rtol=1e-6)
    np.testing.assert_allclose(one.history_["objective"], other.history_["objective"], rtol=1e-6)
    np.testing.assert_allclose(one.inverse_transform(W), other.inverse_transform(V), rtol=1e-2)


def test_priors_beyond_all_measure_are_refused():
    with pytest.raises(ValueError, match=r"beyond all measure against the data.*Divide X"):
        NMF(2, alpha_W=1.0).fit(X * 1e-200)


def test_given_factors_and_callbacks_are_in_the_units_of_the_data():
    far = np.ldexp(X.astype(np.float32), 100)
    seen = []
    H = np.ldexp(RNG.random((3, 9), dtype=np.float32), 90)
    W = np.ldexp(RNG.random((24, 3), dtype=np.float32), 10)
    model = NMF(
        3, init="custom", callbacks=[lambda info, state: seen.append((info.objective, state.W.max()))]
    )
    V = model.fit_transform(far, W=W, H=H)
    assert np.abs(np.ldexp(V @ model.components_, -100) - X).max() < 0.1
    assert model.history_["objective"].tolist() == [one for one, _ in seen]
    assert seen[0][1] == W.max()
    held, _, _ = non_negative_factorization(far, H=model.components_, update_H=False)
    assert np.abs(np.ldexp(held @ model.components_, -100) - X).max() < 0.1
    part = NMF(3, fixed_components=model.components_[:1]).fit(far)
    np.testing.assert_array_equal(part.components_[0], model.components_[0])


def test_rows_beyond_the_fit_are_refused():
    model = NMF(3).fit(X.astype(np.float32))
    with pytest.raises(ValueError, match=r"entries up to 1e\+37.*Divide X"):
        model.transform(np.full((2, 9), 1e37, np.float32))


def test_the_largest_numbers_of_a_type():
    for dtype in (np.float32, np.float64):
        top = np.finfo(dtype).max * X.astype(dtype)
        model = NMF(3)
        W = model.fit_transform(top)
        assert np.isfinite(W).all()
        assert np.abs(model.inverse_transform(W) / top - 1).max() < 0.5
        tiny = np.full((4, 3), np.finfo(dtype).smallest_subnormal, dtype)
        assert NMF(1).fit(tiny).inverse_transform(NMF(1).fit_transform(tiny)).max() > 0


def test_saved(tmp_path):
    from partwise.io import load, save

    far = np.ldexp(X, -800)
    model = NMF(3).fit(far)
    save(model, tmp_path / "m.partwise")
    np.testing.assert_array_equal(load(tmp_path / "m.partwise").transform(far), model.transform(far))
