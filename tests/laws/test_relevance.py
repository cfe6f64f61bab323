"""Automatic relevance determination (Tan & Févotte 2013): its penalty, its descent, and what it removes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import partwise
from partwise import ARD, NMF, load, save
from partwise.core import Problem, run
from partwise.losses import FROBENIUS, KL
from partwise.matrix import Dense
from partwise.models.relevance import estimated_dispersion
from partwise.priors import Bounds, Gamma, Relevance
from partwise.solvers import REGISTRY, make_solver

SEEDS = st.integers(0, 10**6)
every_norm = pytest.mark.parametrize("norm", ["l1", "l2"])


def pairing_of(norm, seed, n=6, weighted=False, transposed=False):
    rng = np.random.default_rng(seed)
    weights = rng.random(n) + 0.1 if weighted else None
    weight, count, floor, size_W, size_H = 10.0 ** rng.uniform(-1, 1, 5)
    pairing = Relevance(norm, weight, count, floor, weights, size_W, size_H)
    return pairing.T if transposed else pairing


def factors(n, m, k, seed):
    rng = np.random.default_rng(seed)
    return tuple(rng.random((rows, k)) * (rng.random((rows, k)) < 0.7) for rows in (n, m))


def planted(rank, seed, n=40, m=30, mean=10.0):
    rng = np.random.default_rng(seed)
    clean = rng.gamma(0.5, 1.0, (n, rank)) @ rng.gamma(0.5, 1.0, (rank, m))
    return rng.poisson(clean * mean / clean.mean()).astype(float)


def fitted(X, norm="l2", k=10, **settings):
    prior = ARD(norm)
    return NMF(k, **{"beta_loss": "kl", "prior_W": prior, "prior_H": prior, "max_iter": 1000} | settings).fit(
        X
    )


@given(seed=SEEDS, weighted=st.booleans(), transposed=st.booleans())
@every_norm
@settings(max_examples=15)
def test_gradient_and_majoriser(norm, seed, weighted, transposed):
    n, m = (5, 6) if transposed else (6, 5)
    pairing, (W, Ht) = pairing_of(norm, seed, 6, weighted, transposed), factors(n, m, 3, seed)
    pairing.check(n, m)
    rng = np.random.default_rng(seed)
    for side in (0, 1):
        way, step = rng.standard_normal((W, Ht)[side].shape), 1e-6
        ends = [[A + s * step * way if i == side else A for i, A in enumerate((W, Ht))] for s in (1, -1)]
        slope = (pairing.value(*ends[0]) - pairing.value(*ends[1])) / (2 * step)
        assert np.vdot(pairing.gradient(W, Ht)[side], way) == pytest.approx(slope, rel=1e-4, abs=1e-5)
    terms = pairing.majorise(W, Ht)
    np.testing.assert_allclose(terms.gradient(W), pairing.gradient(W, Ht)[0], rtol=1e-10)
    for _ in range(5):
        Z = factors(n, m, 3, int(rng.integers(10**6)))[0] * 10.0 ** rng.uniform(-2, 2)
        assert terms.value(Z) - terms.value(W) >= pairing.value(Z, Ht) - pairing.value(W, Ht) - 1e-9


@every_norm
def test_the_penalty_is_what_remains_when_each_relevance_is_at_its_best(norm):
    pairing, (W, Ht) = pairing_of(norm, 3), factors(6, 5, 3, 3)
    sizes = pairing.sizes(W, Ht)

    def joint(lam):
        return pairing.weight * float(np.sum((sizes + pairing.floor) / lam + pairing.count * np.log(lam)))

    best = pairing.relevance(W, Ht)
    assert all(joint(best) <= joint(best * factor) for factor in (0.9, 1.1))
    empty = pairing.floor / pairing.count
    nothing = pairing.weight * 3 * (pairing.count + pairing.count * np.log(empty))
    assert pairing.value(W, Ht) == pytest.approx(joint(best) - nothing, rel=1e-10)
    assert pairing.value(0 * W, 0 * Ht) == 0.0


@every_norm
def test_the_shared_scale_settles_how_factors_share_their_size(norm):
    pairing, (W, Ht) = pairing_of(norm, 5, weighted=True), factors(6, 5, 3, 5)
    W, Ht = pairing.balanced(W, Ht)
    least = pairing.value(W, Ht)
    for c in (0.5, 0.99, 1.01, 2.0):
        assert pairing.value(c * W, Ht / c) > least
    assert not Relevance.scale_free


@given(seed=SEEDS, weighted=st.booleans(), gaps=st.booleans())
@every_norm
@pytest.mark.parametrize("loss", [FROBENIUS, KL], ids=["frobenius", "kl"])
@settings(max_examples=4)
def test_no_solver_raises_the_objective(loss, norm, seed, weighted, gaps):
    rng, n, m = np.random.default_rng(seed), 12, 9
    X = rng.poisson(4.0, (n, m)).astype(float)
    weights = rng.random(n) + 0.1 if weighted else None
    matrix = Dense.of(
        X, weights=(rng.random((n, m)) < 0.8).astype(float) if gaps else None, row_weight=weights
    )
    pairing = Relevance(norm, 1.0, 20.0, 10.0 ** rng.uniform(-1, 1), weights)
    problem = Problem(matrix, loss, shift=loss.shift(matrix.mean(), matrix.dtype), pairings=(pairing,))
    # Sizes that differ: a solver that rescales factors on its way would raise the objective.
    W, Ht = 50.0 * rng.random((n, 4)) + 0.1, 0.02 * rng.random((m, 4)) + 0.001
    for name in REGISTRY:
        solver = make_solver(name)
        if solver.lacks(problem) is None:
            result = run(
                problem, solver, solver.init(problem, W, Ht), stopping=solver.stopping(0.0), max_iter=25
            )
            objective = np.array(result.history.objective)
            assert np.all(np.diff(objective) <= 1e-9 * np.abs(objective).max()), name
            truth = problem.objective(result.state.W, result.state.Ht)
            assert objective[-1] == pytest.approx(truth, rel=1e-8)


@every_norm
def test_the_planted_number_is_found_and_transform_agrees(norm, tmp_path):
    X = planted(4, 0)
    model = fitted(X, norm)
    assert model.n_components_ == len(model.components_) == len(model.relevance_) == 4
    assert model.dispersion_ == 1.0
    W = model.transform(X)
    np.testing.assert_array_equal(W, fitted(X, norm).fit_transform(X))
    assert W.shape == (40, 4)
    again = load(save(model, tmp_path / "ard.partwise"))
    np.testing.assert_array_equal(again.transform(X), W)
    assert again.prior_W == ARD(norm)
    assert "4 of 10" in str(model.summary()["chosen"])
    np.testing.assert_allclose(
        fitted(sp.csr_array(X), norm).transform(sp.csr_array(X)), W, rtol=1e-3, atol=1e-3
    )
    # Without ARD again, nothing of it is left.
    plain = model.set_params(prior_W=None, prior_H=None, max_iter=20, tol=0).fit(X)
    assert plain.n_components_ == 10
    assert not hasattr(plain, "relevance_")


def test_gaps_and_weights():
    X = planted(4, 1, mean=20.0)
    gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    assert fitted(gaps).n_components_ == 4
    start = {"init": "custom", "tol": 0, "max_iter": 30}
    W, H = np.random.default_rng(1).random((40, 10)), np.random.default_rng(2).random((10, 30))
    prior = ARD(scale=1.0, dispersion=1.0)
    twice = NMF(10, beta_loss="kl", prior_W=prior, prior_H=prior, **start)
    weighted = NMF(10, beta_loss="kl", prior_W=prior, prior_H=prior, **start)
    twice.fit(np.vstack([X, X]), W=np.vstack([W, W]), H=H)
    weighted.fit(X, W=W, H=H, sample_weight=np.full(40, 2.0))
    # A row of weight two is the row twice.
    np.testing.assert_allclose(twice.objective_, weighted.objective_, rtol=1e-6)


def test_frobenius_with_the_noise_estimated():
    rng = np.random.default_rng(0)
    clean = rng.exponential(1.0, (80, 4)) @ rng.exponential(1.0, (4, 60))
    X = np.maximum(clean + 0.3 * rng.standard_normal(clean.shape), 0.0)
    model = fitted(X, beta_loss="frobenius")
    assert model.n_components_ == 4
    assert model.dispersion_ == pytest.approx(0.09, rel=0.25)
    problem = Problem(Dense.of(X))
    W = rng.random((80, 59))
    with pytest.raises(ValueError, match="nothing of 4800 observed entries"):
        estimated_dispersion(problem, W, rng.random((60, 59)))


def test_moments_of_the_prior_give_the_mean_of_the_data():
    rng = np.random.default_rng(0)
    for norm in ("l1", "l2"):
        prior = ARD(norm, shape=8.0)
        b = prior.moment_scale(3.0, 16)
        lam = b / rng.gamma(8.0, 1.0, 400_000)
        draw = rng.exponential(lam), rng.exponential(lam)
        if norm == "l2":
            draw = tuple(np.abs(rng.standard_normal(len(lam))) * np.sqrt(lam) for _ in range(2))
        assert 16 * np.mean(draw[0] * draw[1]) == pytest.approx(3.0, rel=0.02)
    assert partwise.ARD is ARD


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ARD("l3"), "'l1' or 'l2'"),
        (lambda: ARD("l1", shape=2.0), "shape above 2"),
        (lambda: ARD(shape=[5.0, 5.0]), "one shape"),
        (lambda: ARD(scale=0.0), "scale must be one number above 0"),
        (lambda: ARD(dispersion="guess"), "dispersion must be one number above 0"),
        (lambda: NMF(4, prior_W=ARD()).fit(planted(2, 0)), "must be the same ARD prior"),
        (lambda: NMF(4, prior_W=ARD("l1"), prior_H=ARD()).fit(planted(2, 0)), "must be the same ARD prior"),
        (lambda: NMF(4, prior_W=ARD() + Bounds(), prior_H=ARD()).fit(planted(2, 0)), "stands alone"),
        (
            lambda: NMF(4, prior_W=ARD(), prior_H=ARD(), fixed_components=np.ones((1, 30))).fit(
                planted(2, 0)
            ),
            "use one of them",
        ),
        (
            lambda: NMF(4, prior_W=ARD(dispersion=1e9), prior_H=ARD(dispersion=1e9)).fit(planted(2, 0)),
            "removed all 4 components",
        ),
        (lambda: NMF(4, prior_W=Gamma(1.0, np.ones(3))).fit(planted(2, 0)), "4 components"),
        (lambda: NMF(4, prior_W=Gamma(1.0, np.ones((7, 4)))).fit(planted(2, 0)), "40 rows and 4 components"),
    ],
)
def test_bad_input_gets_a_sentence(make, says):
    with pytest.raises(ValueError, match=says):
        make()


def test_the_noise_of_weighted_rows_is_that_of_rows_that_occur_so_often():
    rng = np.random.default_rng(0)
    X = np.clip(rng.gamma(1, 1, (40, 3)) @ rng.gamma(1, 2, (3, 20)) + rng.normal(0, 0.5, (40, 20)), 0, None)
    times = rng.integers(1, 4, 40)
    W, Ht = rng.random((40, 3)), rng.random((20, 3))
    W[W < 0.2] = 0
    repeated = Problem(Dense.of(np.repeat(X, times, axis=0)), FROBENIUS)
    weighted = Problem(Dense.of(X, row_weight=times.astype(float)), FROBENIUS)
    found = estimated_dispersion(weighted, W, Ht)
    assert found == pytest.approx(estimated_dispersion(repeated, np.repeat(W, times, axis=0), Ht))


def test_weights_that_are_no_repetitions_are_asked_about():
    rng = np.random.default_rng(0)
    X = np.clip(rng.gamma(1, 1, (60, 3)) @ rng.gamma(1, 2, (3, 20)) + rng.normal(0, 0.5, (60, 20)), 0, None)
    for weights in ({"sample_weight": np.full(60, 1000.0)}, {"weights": np.full((60, 20), 10.0)}):
        with pytest.warns(UserWarning, match="divide them by their mean"):
            NMF(6, prior_W=ARD(), prior_H=ARD(), max_iter=500).fit(X, **weights)
