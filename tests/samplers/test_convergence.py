"""The verdict on chains: figures of the worst quantity, and a sentence that names what fails."""

import numpy as np
import pytest

from partwise.samplers import rhat
from partwise.samplers.convergence import convergence


def draws(n_draws=500, apart=0.0, n=3):
    x = np.random.default_rng(0).standard_normal((4, n_draws, n))
    x[0, :, 1] += apart
    return x


def test_the_worst_of_a_group_counts():
    x = draws(apart=2.0)
    found = convergence({"entries": x, "level": x[:, :, 0]})
    assert found.rhat["entries"] == pytest.approx(rhat(x[:, :, 1]))
    assert found.rhat["level"] < 1.02
    assert not found.converged
    said = found.sentence(500, 200)
    assert "R-hat of the entries is" in said
    assert said.endswith(
        "n_draws, for instance to 2000, and n_warmup, for instance to 800; intervals are not to be trusted yet."
    )


def test_good_chains_converge_and_constants_are_left_out():
    x = draws()
    x[:, :, 2] = 1.0
    found = convergence({"entries": x, "held": np.ones((4, 500))})
    assert found.converged
    assert set(found.rhat) == {"entries"}


def test_only_what_fails_is_named():
    x = np.repeat(draws(20), 25, axis=1)
    found = convergence({"entries": x})
    assert not found.converged
    assert "effective sample size of the entries" in found.sentence(500, 200)
    assert "cannot be told from 5 draws" in convergence({"entries": draws(5)}).sentence(5, 0)
