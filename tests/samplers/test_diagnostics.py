"""R̂, effective sample sizes and standard errors: those of ArviZ, and what they must be."""

import numpy as np
import pytest

from partwise.samplers import ess_bulk, ess_mean, ess_tail, mcse_mean, rhat


def autoregressive(n_chains, n_draws, phi, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n_chains, n_draws))
    for t in range(1, n_draws):
        x[:, t] += phi * x[:, t - 1]
    return x


CASES = [
    (4, 500, 0.9),
    (4, 501, 0.0),
    (2, 100, -0.7),
    (4, 20, 0.3),
    (3, 64, 0.99),
    (4, 9, 0.2),
    (2, 1000, 0.5),
]


@pytest.mark.parametrize(("n_chains", "n_draws", "phi"), CASES)
def test_they_are_those_of_arviz(n_chains, n_draws, phi):
    az = pytest.importorskip("arviz")
    x = np.exp(autoregressive(n_chains, n_draws, phi))
    for own, theirs in (
        (rhat(x), az.rhat(x)),
        (ess_bulk(x), az.ess(x)),
        (ess_tail(x), az.ess(x, method="tail")),
        (ess_mean(x), az.ess(x, method="mean")),
        (mcse_mean(x), az.mcse(x)),
    ):
        assert own == pytest.approx(np.asarray(theirs).ravel()[0], rel=1e-9)


def test_many_quantities_are_as_one_by_one():
    x = np.stack(
        [autoregressive(3, 80, phi, seed) for seed, phi in enumerate(np.linspace(-0.5, 0.9, 300))], axis=2
    )
    for function in (rhat, ess_bulk, ess_tail, mcse_mean):
        assert np.allclose(function(x), [function(x[:, :, q]) for q in range(x.shape[2])])


def test_chains_apart_are_noticed_and_those_together_are_not():
    x = np.random.default_rng(0).standard_normal((4, 500))
    assert rhat(x) < 1.01
    assert rhat(x + np.arange(4)[:, None]) > 1.3
    assert rhat(x * np.array([1.0, 1, 1, 5])[:, None]) > 1.1
    assert rhat(np.cumsum(x, axis=1)) > 1.3


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_the_effective_size_of_an_autoregression(phi):
    x = autoregressive(8, 4000, phi)
    assert ess_mean(x) == pytest.approx(x.size * (1 - phi) / (1 + phi), rel=0.1)


def test_too_few_draws_and_infinite_ones_give_nan_and_constants_their_number():
    assert np.isnan(rhat(np.zeros((4, 5))))
    x = np.random.default_rng(0).standard_normal((2, 50, 3))
    x[0, 0, 1] = np.inf
    assert np.isnan(ess_bulk(x)).tolist() == [False, True, False]
    assert ess_bulk(np.ones((2, 50))) == 100
    with pytest.raises(ValueError, match="chains, draws"):
        rhat(np.zeros(10))
