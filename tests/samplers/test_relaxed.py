"""Samplers of relaxed factors: gradients, quadrature, and what they do without noise."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from scipy.integrate import quad

from partwise.datasets import make_boolean
from partwise.samplers.boundaries import fold, moved, on_logits
from partwise.samplers.iasg import IASG
from partwise.samplers.langevin import Langevin
from partwise.samplers.metropolis import Metropolis
from partwise.samplers.rejection import Rejection
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS, UnitPrior, unit_prior

PRIORS = [*UNIT_PRIORS.values(), UnitPrior(1.0, 2.0, 1.5, 0.7, 0.5)]


def problem_of(n=6, m=5, k=2, prior=None, missing=0.0, seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, k)) @ rng.random((k, m)) > 0.5).astype(float)
    observed = rng.random((n, m)) >= missing if missing else None
    return RelaxedPosterior(X if observed is None else X * observed, prior or UnitPrior(), noise, observed)


# ------------------------------------------------------------------------- priors


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_prior_integrates_to_one_and_draws_have_its_mean(prior):
    def density(t):
        a = np.sin(0.5 * np.pi * t) ** 2
        return np.exp(prior.log_density(np.array([a]))) * 0.5 * np.pi * np.sin(np.pi * t), a

    assert quad(lambda t: density(t)[0], 0, 1, points=[0.5])[0] == pytest.approx(1.0, abs=1e-6)
    mean = quad(lambda t: np.prod(density(t)), 0, 1, points=[0.5])[0]
    draws = prior.sample((20_000,), np.random.default_rng(0))
    assert draws.min() >= 0.0
    assert draws.max() <= 1.0
    assert abs(draws.mean() - mean) < 5 * draws.std() / np.sqrt(draws.size)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_gradients_are_those_of_finite_differences(prior, missing):
    problem = problem_of(prior=prior, missing=missing)
    rng, h = np.random.default_rng(1), 1e-6
    W, Ht = rng.uniform(0.05, 0.45, (6, 2)), rng.uniform(0.55, 0.95, (5, 2))
    for given, A, B, f in (
        (problem, W, Ht, lambda A: problem.log_density(A, Ht)),
        (problem.T, Ht, W, lambda A: problem.log_density(W, A)),
    ):
        G = given.gradient(A, B)
        for index in np.ndindex(A.shape):
            up, down = A.copy(), A.copy()
            up[index] += h
            down[index] -= h
            assert G[index] == pytest.approx((f(up) - f(down)) / (2 * h), rel=1e-4, abs=1e-4)


def test_logit_gradient_has_the_jacobian():
    problem, rng, h = problem_of(), np.random.default_rng(0), 1e-6
    z, Ht = rng.standard_normal((6, 2)), rng.random((5, 2))

    def density(z):
        A = 1 / (1 + np.exp(-z))
        return problem.log_density(A, Ht) + np.log(A * (1 - A)).sum()

    A = 1 / (1 + np.exp(-z))
    G = on_logits(A, problem.gradient(A, Ht))
    for index in np.ndindex(z.shape):
        up, down = z.copy(), z.copy()
        up[index] += h
        down[index] -= h
        assert G[index] == pytest.approx((density(up) - density(down)) / (2 * h), rel=1e-4, abs=1e-4)


def test_bad_priors_are_refused():
    with pytest.raises(ValueError, match="one of"):
        unit_prior("cauchy")
    with pytest.raises(ValueError, match="alpha > 0"):
        UnitPrior(alpha=0.0)


# --------------------------------------------------------------- exact conditionals


def exact_rank_one(problem, points=400):
    """Mean and variance of the entries for a 2 × 2 table with k = 1, and E[w h], by quadrature on θ, a = sin²θ."""
    t = (np.arange(points) + 0.5) / points * np.pi / 2
    a, jacobian = np.sin(t) ** 2, np.sin(2 * t)
    prior = np.exp(problem.prior.log_kernel(a)) * jacobian
    seen = np.ones((2, 2), bool) if problem.observed is None else problem.observed
    # Given h, w₁ and w₂ are independent: integrate each over its grid, for every pair (h₁, h₂) on a coarser one.
    coarse = slice(None, None, 8)
    h, ph = a[coarse], prior[coarse]
    H1, H2 = np.meshgrid(h, h, indexing="ij")
    weight = np.outer(ph, ph)
    moments = []
    for i in range(2):
        log = np.zeros((*H1.shape, points))
        for j, H in enumerate((H1, H2)):
            if seen[i, j]:
                log -= 0.5 * (problem.X[i, j] - H[..., None] * a) ** 2 / problem.noise
        density = np.exp(log) * prior
        moments.append([(density * a**p).sum(axis=-1) for p in (0, 1, 2)])
    joint = weight * moments[0][0] * moments[1][0]
    total = joint.sum()
    mean_w = (weight * moments[0][1] * moments[1][0]).sum() / total
    square_w = (weight * moments[0][2] * moments[1][0]).sum() / total
    cell = (weight * H1 * moments[0][1] * moments[1][0]).sum() / total
    return np.array([mean_w, square_w, cell, (joint * H1).sum() / total])


TABLE = np.array([[1.0, 0.0], [1.0, 1.0]])


def small(prior, observed=None, noise=0.3):
    return RelaxedPosterior(TABLE if observed is None else TABLE * observed, prior, noise, observed)


def means(kernel, problem, steps, rng):
    state = kernel.init(problem, 1, rng)
    seen = []
    for _ in range(steps):
        state, _ = kernel.step(problem, state, rng)
        seen.append([state.W[0, 0], state.W[0, 0] ** 2, state.W[0, 0] * state.Ht[0, 0], state.Ht[0, 0]])
    batches = np.array(seen)[steps // 10 :]
    batches = batches[: len(batches) // 40 * 40].reshape(40, -1, 4).mean(axis=1)
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(40)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_gibbs_agrees_with_quadrature(prior):
    problem = small(prior)
    found, error = means(RelaxedGibbs(), problem, 6000, np.random.default_rng(0))
    assert (np.abs(found - exact_rank_one(problem)) < 4.5 * error + 2e-3).all()


def test_gibbs_agrees_with_quadrature_where_entries_are_missing():
    problem = small(UnitPrior(linear=0.5), np.array([[True, True], [False, True]]))
    found, error = means(RelaxedGibbs(), problem, 6000, np.random.default_rng(0))
    assert (np.abs(found - exact_rank_one(problem)) < 4.5 * error + 2e-3).all()


@pytest.mark.parametrize(
    "kernel",
    [
        Metropolis(0.3),
        Rejection(200),
        Langevin(0.05, adjusted=True, boundary="reflect"),
        Langevin(0.8, adjusted=True, boundary="mirror"),
    ],
    ids=str,
)
def test_other_exact_kernels_agree_with_quadrature(kernel):
    problem = small(UnitPrior(quadratic=1.0))
    steps = 1500 if isinstance(kernel, Rejection) else 12_000
    found, error = means(kernel, problem, steps, np.random.default_rng(0))
    assert (np.abs(found - exact_rank_one(problem)) < 4.5 * error + 2e-3).all()


def test_a_component_without_use_is_drawn_from_its_prior():
    """Where H is zero, the conditional of W is the prior."""
    prior = UnitPrior(linear=2.0)
    problem = RelaxedPosterior(np.ones((4000, 2)), prior)
    from partwise.samplers.relaxed_gibbs import draw_factor

    W = np.full((4000, 1), 0.5)
    draw_factor(problem.X, W, np.zeros((2, 1)), 1.0, prior, np.random.default_rng(0))
    direct = prior.sample((4000,), np.random.default_rng(1))
    assert abs(W.mean() - direct.mean()) < 5 * np.hypot(W.std(), direct.std()) / np.sqrt(4000)


def test_noise_and_strength_are_found():
    rng = np.random.default_rng(0)
    prior = UnitPrior(linear=4.0)
    W, Ht = prior.sample((200, 2), rng), prior.sample((80, 2), rng)
    X = W @ Ht.T + 0.1 * rng.standard_normal((200, 80))
    problem = RelaxedPosterior(X, UnitPrior(linear=1.0), noise=1.0)
    kernel = RelaxedGibbs(sample_noise=True, sample_prior=True)
    state = kernel.init(problem, 2, rng)
    seen = []
    for _ in range(300):
        state, info = kernel.step(problem, state, rng)
        seen.append([state.extra["noise"], state.extra["strength"][0]])
        assert info.objective == pytest.approx(kernel.value(problem, state))
    noise, strength = np.array(seen)[100:].mean(axis=0)
    assert noise == pytest.approx(0.01, rel=0.05)
    assert 2.0 < strength < 6.0


# --------------------------------------------------------------------- without noise


@pytest.mark.parametrize("boundary", ["clamp", "reflect", "mirror"])
@pytest.mark.parametrize(
    "prior", [UnitPrior(), UnitPrior(quadratic=1.0), UnitPrior(alpha=0.5, beta=0.5)], ids=str
)
def test_iasg_on_the_full_batch_without_replacement_is_the_gradient_step(boundary, prior):
    problem, rng = problem_of(prior=prior), np.random.default_rng(0)
    kernel = IASG(boundary=boundary, replacement=False, n_calibration=20)
    state = kernel.init(problem, 2, rng)
    after, _ = kernel.step(problem, state, rng)
    for A, B, name, given, fresh in (
        (state.Ht, state.W, "Ht", problem.T, after.Ht),
        (state.W, after.Ht, "W", problem, after.W),
    ):
        G, step = given.gradient(A, B), state.extra[f"step_{name}"]
        change = 16 * step * on_logits(A, G) if boundary == "mirror" else step * G
        margin = 0.0 if boundary == "mirror" else kernel.margin
        assert fresh == pytest.approx(moved(A, change, boundary, margin))


@pytest.mark.parametrize("boundary", ["clamp", "reflect", "mirror"])
def test_langevin_at_temperature_zero_is_the_gradient_step(boundary):
    problem, rng = problem_of(prior=UnitPrior(quadratic=1.0)), np.random.default_rng(0)
    kernel = Langevin(0.01, boundary=boundary, temperature=0.0)
    state = kernel.init(problem, 2, rng)
    after, _ = kernel.step(problem, state, rng)
    for A, B, given, fresh in (
        (state.W, state.Ht, problem, after.W),
        (state.Ht, state.W, problem.T, after.Ht),
    ):
        G = given.gradient(A, B)
        change = 0.005 * (on_logits(A, G) if boundary == "mirror" else G)
        assert fresh == pytest.approx(moved(A, change, boundary))


# ------------------------------------------------------------------------------ IASG


@pytest.mark.parametrize("sizes", [(6, 5), (2, 2), (4, 1)])
def test_multiplicities_are_rows_gathered_with_replacement(sizes):
    problem, rng = problem_of(missing=0.2), np.random.default_rng(0)
    W, Ht = rng.random((6, 2)), rng.random((5, 2))
    for paper in (False, True):
        kernel = IASG(sizes, paper=paper)
        drawn = np.random.default_rng(7).integers(5, size=sizes[1])
        found = kernel.gradient(problem, W, Ht, sizes[1], np.random.default_rng(7))
        error = np.where(problem.observed, problem.X - W @ Ht.T, 0.0)
        gathered = sum(np.outer(error[:, j], Ht[j]) for j in drawn) / problem.noise
        assert found == pytest.approx(gathered * (1.0 if paper else 5 / sizes[1]))


def test_a_sample_is_the_mean_of_exactly_the_window():
    problem, rng = problem_of(), np.random.default_rng(0)
    kernel = IASG((2, 2), n_calibration=20)
    assert kernel.window(problem) == 3
    state = kernel.init(problem, 2, rng)
    states = []
    for _ in range(6):
        state, _ = kernel.step(problem, state, rng)
        states.append(state.W)
    assert kernel.draw(problem, state)["W"] == pytest.approx(np.mean(states[3:], axis=0))


def test_scaled_minibatch_gradients_are_unbiased():
    problem, rng = problem_of(40, 30), np.random.default_rng(0)
    W, Ht = rng.random((40, 2)), rng.random((30, 2))
    full = problem.gradient(W, Ht)
    for paper, expected in ((False, full), (True, full * 8 / 30)):
        kernel = IASG(8, paper=paper)
        draws = np.array([kernel.gradient(problem, W, Ht, 8, rng) for _ in range(400)])
        error = draws.std(axis=0) / 20
        assert np.mean(np.abs(draws.mean(axis=0) - expected) < 3 * error) > 0.97


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("replacement", [True, False])
def test_wanted_steps_come_from_the_variance_of_minibatch_gradients(missing, replacement):
    problem, rng = problem_of(missing=missing, noise=0.3), np.random.default_rng(0)
    W, Ht = rng.random((6, 2)), rng.random((5, 2))
    kernel = IASG((2, 2), replacement=replacement)
    wanted = kernel.wanted(problem, W, Ht)
    for name, given, A, B in (("wanted_W", problem, W, Ht), ("wanted_Ht", problem.T, Ht, W)):
        pairs = product(range(len(B)), repeat=2) if replacement else permutations(range(len(B)), 2)
        gradients = [
            len(B) / 2 * given.slope(A, B, np.bincount(pair, minlength=len(B)).astype(float))
            for pair in pairs
        ]
        assert wanted[name] == pytest.approx(2.0 / np.var(gradients, axis=0))


def test_without_noise_adapted_steps_never_lower_the_density():
    # The inverse of the curvature is a step of a majorised objective; a clamp is its projection.
    for missing, prior in ((0.0, UnitPrior()), (0.3, UnitPrior(quadratic=1.0)), (0.0, UnitPrior(linear=0.5))):
        problem, rng = problem_of(30, 20, missing=missing, prior=prior), np.random.default_rng(0)
        kernel = IASG(replacement=False, every=1)
        state = kernel.init(problem, 4, rng)
        densities = []
        for _ in range(200):
            state, info = kernel.step(problem, state, rng)
            densities.append(info.objective)
        assert (np.diff(densities) >= -1e-9 * np.abs(densities[0])).all()
        assert densities[-1] > densities[0] + 1.0


def test_curvature_bounds_the_largest_eigenvalue_of_scaled_gram_matrices():
    rng = np.random.default_rng(0)
    for _ in range(20):
        Ht = rng.random((12, 5)) * (rng.random((12, 5)) < 0.5)
        problem = problem_of(noise=rng.uniform(0.1, 2.0))
        bound = np.diag(problem.curvature(Ht)) - Ht.T @ Ht / problem.noise
        assert np.linalg.eigvalsh(bound)[0] > -1e-9


def test_adapted_steps_find_planted_tiles_that_published_steps_have_not_begun_with():
    table = make_boolean(128, 128, 9, noise_add=0.01, noise_drop=0.05, random_state=0)
    problem = RelaxedPosterior(table.data.astype(float), UnitPrior(quadratic=1.0))
    wrong = {}
    for adapt in (True, False):
        kernel, rng = IASG(adapt=adapt, n_calibration=50), np.random.default_rng(0)
        state = kernel.init(problem, 9, rng)
        for _ in range(300):
            state, _ = kernel.step(problem, state, rng)
        wrong[adapt] = int((((state.W > 0.5) @ (state.Ht > 0.5).T) != table.clean).sum())
    assert wrong[True] == 0
    assert wrong[False] > 100


def test_steps_without_curvature_stay_finite():
    problem, rng = RelaxedPosterior(np.zeros((6, 5)), UnitPrior(linear=0.5)), np.random.default_rng(0)
    kernel = IASG(3)
    state = kernel.init(problem, 2, rng)
    for _ in range(120):
        state, info = kernel.step(problem, state, rng)
    assert np.isfinite(state.W).all()
    assert np.isfinite(info.objective)


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="boundary must be one of"):
        IASG(boundary="bounce")
    with pytest.raises(ValueError, match="batch_size"):
        IASG(0).batches(problem_of())
    with pytest.raises(ValueError, match="cannot be Metropolis-adjusted"):
        Langevin(adjusted=True, boundary="clamp")
    kernel, big = Rejection(10, max_tries=20), RelaxedPosterior(np.ones((30, 30)), noise=1e-3)
    state = kernel.init(big, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="relaxed-gibbs"):
        kernel.step(big, state, np.random.default_rng(0))


def test_folding_reflects_as_often_as_it_takes():
    assert fold(np.array([-0.25, 1.25, 2.25, -2.5, 0.5])) == pytest.approx([0.25, 0.75, 0.25, 0.5, 0.5])


# ---------------------------------------------------------------- Langevin and Gibbs


def test_langevin_comes_nearer_to_gibbs_as_the_step_shrinks():
    """Reflection is nearly unbiased at a small step, and the clamp is not better than it."""
    problem = small(UnitPrior(), noise=0.5)
    exact = exact_rank_one(problem)
    bias = {}
    for boundary, step in (("reflect", 0.3), ("reflect", 0.01), ("clamp", 0.3)):
        found, error = means(Langevin(step, boundary=boundary), problem, 12_000, np.random.default_rng(0))
        bias[boundary, step] = np.abs(found - exact)[:3].max()
        if step == 0.01:
            assert (np.abs(found - exact) < 4.5 * error + 0.01).all()
    assert bias["clamp", 0.3] > bias["reflect", 0.01]


def test_held_noise_is_the_problems():
    problem = replace(problem_of(), noise=0.7)
    kernel = RelaxedGibbs()
    state = kernel.init(problem, 2, np.random.default_rng(0))
    state, _ = kernel.step(problem, state, np.random.default_rng(0))
    assert float(state.extra["noise"]) == 0.7
