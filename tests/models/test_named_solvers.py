"""What scikit-learn's names of solvers mean here."""

import numpy as np
import pytest

from partwise import NMF, non_negative_factorization
from partwise.core import ObjectiveEveryTen
from partwise.solvers import MultiplicativeUpdate

rng = np.random.default_rng(0)
X = rng.poisson(4 * rng.gamma(0.5, 1.0, (50, 3)) @ rng.gamma(0.5, 1.0, (3, 40))).astype(float) + 0.1
LOSSES = {"frobenius": "hals", "kullback-leibler": "scd", "itakura-saito": "emu"}


@pytest.mark.parametrize("loss", LOSSES)
def test_mu_is_the_loss_by_the_fastest_solver_and_the_rule_of_scikit_learn(loss):
    model = NMF(3, solver="mu", beta_loss=loss, random_state=0, init="random")
    assert isinstance(model._stopping(None, 1e-4), ObjectiveEveryTen)
    W = model.fit_transform(X)
    assert model.solver_ == LOSSES[loss]
    assert model.n_iter_ % 10 == 0
    np.testing.assert_array_equal(W, model.transform(X))
    literal = NMF(3, solver="mu", beta_loss=loss, init="custom")
    start = NMF(3, beta_loss=loss, max_iter=1, tol=0, init="random", random_state=0).fit(X)
    literal.fit_transform(X, W=np.ones((50, 3)), H=start.components_)
    assert literal.solver_ == "mu"
    if loss != "itakura-saito":  # which has many more local optima
        assert model.objective_ <= 1.02 * literal.objective_


def test_a_start_and_penalties_have_the_updates_themselves():
    W, H = rng.random((50, 3)) + 0.1, rng.random((3, 40)) + 0.1
    custom = NMF(3, solver="mu", init="custom", max_iter=1, tol=0)
    found = custom.fit_transform(X, W=W.copy(), H=H.copy())
    once = W * (X @ H.T) / (W @ H @ H.T)
    np.testing.assert_allclose(found, once, rtol=1e-10)
    np.testing.assert_allclose(custom.components_, H * (once.T @ X) / (once.T @ once @ H), rtol=1e-10)
    penalised = NMF(3, solver="mu", init="random", alpha_W=0.1, max_iter=5, tol=0).fit(X)
    assert penalised.solver_ == "mu"
    assert isinstance(penalised._solver_for(penalised._held(X, None)[1]), MultiplicativeUpdate)


def test_the_function_with_held_components_finds_the_optimum():
    _, H, _ = non_negative_factorization(X, n_components=3, beta_loss="kullback-leibler", random_state=0)
    options = {"H": H, "n_components": 3, "update_H": False, "beta_loss": "kullback-leibler"}
    fast = non_negative_factorization(X, solver="mu", init="random", tol=1e-8, max_iter=5000, **options)[0]
    slow = non_negative_factorization(X, solver="mu", init="custom", tol=1e-8, max_iter=5000, **options)[0]
    np.testing.assert_allclose(fast @ H, slow @ H, rtol=1e-2, atol=1e-3)
