"""The Gibbs sampler of bits against the enumeration of every factorization of a small table."""

from __future__ import annotations

from itertools import product as every

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc, betaln

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.datasets import make_boolean
from partwise.samplers.bit_kernels import add_bits, sweep_rows
from partwise.samplers.boolean_gibbs import BooleanGibbs, beta_below
from partwise.samplers.boolean_posterior import BitState, BooleanPosterior

X = np.array([[1, 1, 0], [1, np.nan, 0], [0, 1, 1]], dtype=float)
FLIPS, DENSITIES = np.array([0.15, 0.25]), np.array([[0.3, 0.6], [0.5, 0.4]])


def small_problem() -> BooleanPosterior:
    missing = np.isnan(X)
    return BooleanPosterior(BitTable.of(X == 1, missing), flip_prior=(1.0, 2.0), density_prior=(1.5, 2.0))


def all_factors(n: int, m: int, k: int):
    """Every pair of bit matrices, stacked: W of shape (N, n, k) and Ht of shape (N, m, k)."""
    bits = np.array(list(every((False, True), repeat=(n + m) * k)))
    return bits[:, : n * k].reshape(-1, n, k), bits[:, n * k :].reshape(-1, m, k)


def log_weights_held(problem, W, Ht):
    make = lambda w, h: BitState(w, h, FLIPS, DENSITIES)  # noqa: E731
    return np.array([problem.log_density(make(w, h)) for w, h in zip(W, Ht)])


def flip_integral(a, b, wrong, right, inner):
    return quad(lambda p: p ** (a - 1 + wrong) * (1 - p) ** (b - 1 + right) * betainc(*inner, 1 - p), 0, 1)[0]


def log_weights(problem, W, Ht):
    """Flips and densities integrated out: Beta functions, and a quadrature over p₊ + p₋ < 1."""
    a, b = problem.density_prior
    total = np.zeros(len(W))
    for A in (W, Ht):
        on = A.sum(axis=1)
        total += (betaln(a + on, b + A.shape[1] - on) - betaln(a, b)).sum(axis=1)
    a, b = problem.flip_prior
    cache = {}
    for s, (w, h) in enumerate(zip(W, Ht)):
        (right0, wrong0), (wrong1, right1) = key = tuple(map(tuple, problem.counts(w, h)))
        if key not in cache:
            inner = (a + wrong1, b + right1)
            value = flip_integral(a, b, wrong0, right0, inner)
            cache[key] = np.log(value) + betaln(*inner)
        total[s] += cache[key]
    return total


@pytest.mark.parametrize("held", [True, False])
def test_cells_have_the_probabilities_of_enumeration(held):
    problem, rng = small_problem(), np.random.default_rng(3)
    W, Ht = all_factors(3, 3, 2)
    logs = (log_weights_held if held else log_weights)(problem, W, Ht)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    covers = np.einsum("sik,sjk->sij", W.astype(int), Ht.astype(int)) > 0
    quantities = np.concatenate([covers.reshape(len(W), -1), W.sum(axis=(1, 2))[:, None] / 6], axis=1)
    exact = weights @ quantities

    kernel = BooleanGibbs(n_single=1, n_pair=1, held=held)
    state = kernel.init(problem, np.zeros((3, 2)), np.zeros((3, 2)), rng)
    if held:
        state.flips, state.densities = FLIPS, DENSITIES
    draws, moved = [], np.zeros(2)
    for _ in range(4000):
        state, info = kernel.step(problem, state, rng)
        cover = (state.W.astype(int) @ state.Ht.T.astype(int)) > 0
        draws.append([*cover.ravel(), state.W.sum() / 6])
        moved += info.notes["accepted_tiles"], info.notes["accepted_pairs"]
    batches = np.array(draws, float).reshape(50, 80, -1).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(50)
    assert (np.abs(batches.mean(axis=0) - exact) < 4.5 * error + 1e-3).all()
    assert (moved > 50).all()


def test_tile_moves_alone_leave_the_posterior_as_it_is():
    """Started from the exact posterior, one proposal for two tiles leaves the mean of the log-density unchanged."""
    problem, rng = small_problem(), np.random.default_rng(0)
    from partwise.samplers.tile_moves import replace_tiles

    W, Ht = all_factors(3, 3, 2)
    logs = log_weights_held(problem, W, Ht)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    chosen = rng.choice(len(W), size=3000, p=weights)
    after = []
    for s in chosen:
        state = BitState(W[s].copy(), Ht[s].copy(), FLIPS, DENSITIES.copy())
        replace_tiles(problem, state, 2, 1.0, rng, held=True)
        after.append([(state.W @ state.Ht.T).sum(), state.W.sum(), problem.log_density(state)])
    exact = weights @ np.stack(
        [(W @ Ht.transpose(0, 2, 1)).sum(axis=(1, 2)), W.sum(axis=(1, 2)), logs], axis=1
    )
    after = np.array(after, float)
    assert (np.abs(after.mean(axis=0) - exact) < 4.5 * after.std(axis=0) / np.sqrt(len(after))).all()


def test_a_sweep_draws_the_conditional_of_each_bit():
    """With the uniform number at the conditional probability ± ε, the bit is on or off."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        n, m, k = rng.integers(1, 5), rng.integers(1, 70), rng.integers(1, 5)
        data, W, Ht = rng.random((n, m)) < 0.5, rng.random((n, k)) < 0.4, rng.random((m, k)) < 0.4
        missing = rng.random((n, m)) < 0.2
        problem = BooleanPosterior(BitTable.of(data & ~missing, missing))
        flips, densities = np.array([0.2, 0.3]), rng.uniform(0.2, 0.8, (2, k))
        i, t = rng.integers(n), k - 1
        both = []
        for value in (False, True):
            W[i, t] = value
            both.append(problem.log_density(BitState(W, Ht, flips, densities)))
        chance = 1.0 / (1.0 + np.exp(both[0] - both[1]))
        for shift, expected in ((-1e-9, True), (1e-9, False)):
            # Every other bit is forced to stay as it is.
            uniform = np.where(W, 0.0, 1.0)
            uniform[i, t] = chance + shift
            use = W.copy()
            side = problem.table.by_row
            odds = np.log(densities[0]) - np.log1p(-densities[0])
            gain, loss = np.log(0.7 / 0.2), np.log(0.8 / 0.3)
            sweep_rows(side.bits, side.zeros, pack(Ht.T), use, uniform, odds, gain, loss)
            assert use[i, t] == expected
            rest = np.ones_like(W)
            rest[i, t] = False
            assert (use[rest] == W[rest]).all()


def test_flips_below_a_limit():
    rng = np.random.default_rng(0)
    draws = np.array([beta_below(3.0, 2.0, 0.4, rng) for _ in range(4000)])
    mean = quad(lambda p: p**3 * (1 - p), 0, 0.4)[0] / quad(lambda p: p**2 * (1 - p), 0, 0.4)[0]
    assert draws.max() < 0.4
    assert abs(draws.mean() - mean) < 5 * draws.std() / np.sqrt(len(draws))
    far = [beta_below(1e5, 1e3, 0.1, rng) for _ in range(100)]
    assert np.isfinite(far).all()
    assert 0.0999 < min(far) <= max(far) < 0.1


def test_bits_are_added_where_they_are_set():
    rng = np.random.default_rng(0)
    bits = rng.random((5, 130)) < 0.3
    counts = np.ones((5, 130), np.int64)
    add_bits(pack(bits), counts)
    assert (counts == 1 + bits).all()


def test_a_tile_that_holds_two_is_split():
    """Bits one at a time cannot leave it: two tiles in one, and an empty one beside it."""
    planted = make_boolean(60, 50, 3, 0.3, noise_add=0.02, noise_drop=0.05, random_state=0)
    problem, rng = BooleanPosterior(BitTable.of(planted.data)), np.random.default_rng(0)
    W, Ht = planted.usage.copy(), planted.components.T.copy()
    W[:, 0] |= W[:, 1]
    Ht[:, 0] |= Ht[:, 1]
    W[:, 1] = Ht[:, 1] = False
    kernel = BooleanGibbs(n_single=1, n_pair=4)
    state = kernel.init(problem, W, Ht, rng)
    for _ in range(150):
        state, _ = kernel.step(problem, state, rng)
    wrong = ((state.W.astype(int) @ state.Ht.T > 0) != planted.clean).sum()
    assert wrong <= 20


def test_steps_depend_on_the_generator_alone():
    planted = make_boolean(40, 30, 3, random_state=0)
    problem, kernel = BooleanPosterior(BitTable.of(planted.data)), BooleanGibbs()
    ends = []
    for _ in range(2):
        rng = np.random.default_rng(5)
        state = kernel.init(problem, planted.usage, planted.components.T, rng)
        for _ in range(5):
            before = state.copy()
            after, info = kernel.step(problem, state, rng)
            assert (state.W == before.W).all()
            assert (state.Ht == before.Ht).all()
            assert info.objective == pytest.approx(kernel.value(problem, after))
            state = after
        ends.append(state)
    assert (ends[0].W == ends[1].W).all()
    assert (ends[0].flips == ends[1].flips).all()
