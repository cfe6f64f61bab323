"""Laws of solvers: descent, optimality, agreement with references, symmetry between the factors."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from sweeps import BETAS, PRIORS, complete_matrices, data, factors, masked_matrices

from partwise.core import History, Problem, run
from partwise.losses import BetaDivergence
from partwise.matrix import Dense
from partwise.priors import NO_TERMS, ElasticNet, Gamma
from partwise.solvers import REGISTRY, make_solver, pick_solver
from partwise.solvers.hals import Hals

SOLVERS = sorted(REGISTRY)
#: Solvers with the losses they say they can do; that they refuse the others is tested at the end.
ABLE = [
    (name, beta)
    for name in SOLVERS
    for beta in BETAS
    if make_solver(name).lacks(Problem(Dense.of(np.ones((2, 2))), BetaDivergence(beta))) is None
]


def problem_of(matrix, beta, prior_W=NO_TERMS, prior_H=NO_TERMS, **more):
    loss = BetaDivergence(beta)
    return Problem(matrix, loss, prior_W, prior_H, shift=loss.shift(matrix.mean(), matrix.dtype), **more)


def trace(problem, solver, W, Ht, steps):
    history = History()
    state = solver.init(problem, W, Ht)
    result = run(problem, solver, state, stopping=solver.stopping(0.0), max_iter=steps, callbacks=[history])
    return np.array(history.objective), result.state


def never_rises(objective, slack=1e-10):
    scale = np.abs(objective).max()
    return np.all(np.diff(objective) <= slack * scale)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("name", "beta"), ABLE)
def test_objective_never_rises(name, beta, prior):
    X = data(13, 9, 5, zeros=0.0 if beta <= 0 else 0.4)
    W, Ht = factors(13, 9, 3, 7)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), beta, PRIORS[prior], PRIORS[prior])
    objective, state = trace(problem, solver, W, Ht, 60)
    assert never_rises(objective)
    assert objective[-1] == pytest.approx(problem.objective(state.W, state.Ht), rel=1e-9)
    for A in (state.W, state.Ht):
        assert np.isfinite(A).all()
        assert (A >= 0).all()


@given(
    n=st.integers(1, 15),
    m=st.integers(1, 12),
    k=st.integers(1, 5),
    seed=st.integers(0, 10**6),
    beta=st.sampled_from(BETAS),
    prior=st.sampled_from(sorted(PRIORS)),
    zeros=st.sampled_from([0.0, 0.3, 0.9]),
)
@pytest.mark.parametrize("name", SOLVERS)
def test_objective_never_rises_on_any_shape(name, n, m, k, seed, beta, prior, zeros):
    X = data(n, m, seed, zeros=0.0 if beta <= 0 else zeros)
    W, Ht = factors(n, m, k, seed + 1)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), beta, PRIORS[prior], PRIORS[prior])
    if solver.lacks(problem) is None:
        objective, state = trace(problem, solver, W, Ht, 15)
        assert never_rises(objective)
        assert np.isfinite(state.W).all()
        assert np.isfinite(state.Ht).all()


@pytest.mark.parametrize(("name", "beta"), ABLE)
def test_every_matrix_gives_the_same_run(name, beta):
    X = data(11, 8, 2, zeros=0.0 if beta <= 0 else 0.5)
    r = np.random.default_rng(0).integers(0, 3, 11).astype(float)
    W, Ht = factors(11, 8, 3, 4)
    results = {}
    for label, matrix in complete_matrices(X, r).items():
        problem = problem_of(matrix, beta, ElasticNet(0.1, 0.1).terms(), Gamma(1.5, 0.5).terms())
        solver = make_solver(name)
        if isinstance(solver, Hals):
            # How many sweeps pay depends on how many entries are stored; that is choice, not arithmetic.
            solver = replace(solver, inner_sweeps=1)
        if solver.lacks(problem) is None and not (beta <= 0 and ("csr" in label or label == "csc")):
            results[label] = trace(problem, solver, W, Ht, 8)[0]
    assert len(results) > 2
    first = next(iter(results.values()))
    for label, objective in results.items():
        assert np.allclose(objective, first, rtol=1e-8), label


@pytest.mark.parametrize(("name", "beta"), [pair for pair in ABLE if pair[0] in ("scd", "mu")])
def test_weighted_data_descend_and_agree(name, beta):
    rng = np.random.default_rng(1)
    X = data(12, 10, 2, zeros=0.0 if beta <= 0 else 0.3)
    weights = rng.random((12, 10)) * (rng.random((12, 10)) < 0.7)
    W, Ht = factors(12, 10, 3, 4)
    runs = []
    for label, matrix in masked_matrices(X, weights).items():
        problem = problem_of(matrix, beta)
        solver = make_solver(name)
        if solver.lacks(problem) is None and not (beta <= 0 and "all stored" in label):
            objective, _ = trace(problem, solver, W, Ht, 20)
            assert never_rises(objective), label
            runs.append(objective)
    for objective in runs[1:]:
        assert np.allclose(objective, runs[0], rtol=1e-7)


def kkt_gap(problem, X, weights, W, Ht, terms_W, terms_H):
    """Largest violation of optimality, |min(A, gradient)| with each factor in its own units."""
    Y = W @ Ht.T + problem.shift
    R = weights * problem.loss.gradient(X, Y)
    gap = 0.0
    for A, G in ((W, R @ Ht + terms_W.gradient(W)), (Ht, R.T @ W + terms_H.gradient(Ht))):
        gap = max(gap, np.abs(np.minimum(A, G)).max())
    return gap


@pytest.mark.parametrize("prior", ["none", "net", "gamma"])
@pytest.mark.parametrize(("name", "beta"), [("hals", 2.0), ("cd", 2.0), ("scd", 2.0), ("scd", 1.0)])
def test_runs_end_where_the_projected_gradient_vanishes(name, beta, prior):
    X = data(14, 10, 3)
    W, Ht = factors(14, 10, 3, 6)
    terms = PRIORS[prior]
    problem = problem_of(Dense.of(X), beta, terms, terms)
    _, state = trace(problem, make_solver(name), W, Ht, 5000)
    assert kkt_gap(problem, X, 1.0, state.W, state.Ht, terms, terms) < 1e-6


@pytest.mark.parametrize("name", ["hals", "cd", "scd", "mu"])
@given(n=st.integers(1, 8), m=st.integers(4, 10), seed=st.integers(0, 10**6))
def test_rows_match_nonnegative_least_squares(name, n, m, seed):
    X = data(n, m, seed)
    _, Ht = factors(n, m, 3, seed + 1)
    problem = problem_of(Dense.of(X), 2.0, update_H=False)
    W = make_solver(name).solve_rows(problem, Ht, 20_000, 1e-8)
    reference = np.array([scipy.optimize.nnls(Ht, x)[0] for x in X])
    excess = problem.objective(W, Ht) - problem.objective(reference, Ht)
    # Multiplicative updates approach a zero only as 1/t.
    slack = 1e-4 if name == "mu" else 1e-8
    assert excess <= slack * max(problem.objective(reference, Ht), 1e-3)


@pytest.mark.parametrize("name", ["scd", "mu"])
@pytest.mark.parametrize("prior", ["none", "net", "gamma"])
def test_rows_match_a_general_optimiser_for_kl(name, prior):
    X = data(6, 9, 11)
    _, Ht = factors(6, 9, 3, 12)
    terms = PRIORS[prior]
    problem = problem_of(Dense.of(X), 1.0, terms, update_H=False)
    W = make_solver(name).solve_rows(problem, Ht, 5000, 1e-8)

    def cost(w):
        W = w.reshape(6, 3)
        R = problem.loss.gradient(X, W @ Ht.T + problem.shift)
        return problem.objective(W, Ht), (R @ Ht + terms.gradient(W)).ravel()

    best = scipy.optimize.minimize(
        cost,
        np.full(18, 0.3),
        jac=True,
        bounds=[(1e-12, None)] * 18,
        options={"maxiter": 5000, "ftol": 1e-15},
    )
    assert problem.objective(W, Ht) == pytest.approx(best.fun, rel=1e-5 if name == "mu" else 1e-7)


@pytest.mark.parametrize(("name", "beta"), ABLE)
def test_h_step_is_the_w_step_of_the_transposed_problem(name, beta):
    X = data(9, 7, 8, zeros=0.0 if beta <= 0 else 0.4)
    W, Ht = factors(9, 7, 3, 9)
    solver = make_solver(name)
    prior_W, prior_H = ElasticNet(0.1, 0.2).terms(), Gamma(1.5, 0.3).terms()
    problem = problem_of(Dense.of(X), beta, prior_W, prior_H)
    _, whole = trace(problem, solver, W, Ht, 1)
    # The same step, H-update done as the first half-step (the W-step) of the problem Xᵀ ≈ Hᵀ Wᵀ.
    flipped = problem_of(Dense.of(X.T), beta, prior_H, update_H=False)
    _, half = trace(flipped, solver, Ht, whole.W, 1)
    assert np.allclose(half.W, whole.Ht, rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_inputs_are_not_modified(name):
    X = data(9, 7, 8)
    W, Ht = factors(9, 7, 3, 9)
    kept = X.copy(), W.copy(), Ht.copy()
    trace(problem_of(Dense.of(X), 2.0), make_solver(name), W, Ht, 3)
    for now, before in zip((X, W, Ht), kept):
        assert np.array_equal(now, before)


def test_gamma_update_is_equation_5_of_seed_003():
    X = data(8, 6, 1)
    W, Ht = factors(8, 6, 3, 2)
    shape, rate = 2.5, 1.5
    problem = problem_of(Dense.of(X), 1.0, Gamma(shape, rate).terms(), Gamma(shape, rate).terms())
    _, state = trace(problem, make_solver("mu"), W, Ht, 1)
    H = Ht.T
    # (5), with the shapes of the seed mended: its 1_{F,N} Hᵀ is the row sums of H, whatever F and N are.
    W1 = (shape - 1 + W * ((X / (W @ H)) @ H.T)) / (rate + H.sum(axis=1))
    # (6) with the new W on the right, which is what makes the pair monotone.
    H1 = (shape - 1 + H * (W1.T @ (X / (W1 @ H)))) / (rate + W1.sum(axis=0)[:, None])
    assert np.allclose(state.W, W1, rtol=1e-9)
    assert np.allclose(state.Ht.T, H1, rtol=1e-9)


def test_updating_both_factors_at_once_as_seed_003_prints_it_is_not_monotone():
    # One row and one column: W and H each fit X with the other held, so moved together they overshoot.
    X, W, H, objectives = np.array([[4.0]]), np.array([[1.0]]), np.array([[1.0]]), []
    for _ in range(3):
        objectives.append(float(BetaDivergence(1.0).value(X, W @ H)))
        V = W @ H
        W, H = W * (X / V @ H.T) / H.sum(axis=1), H * (W.T @ (X / V)) / W.sum(axis=0)[:, None]
    assert max(np.diff(objectives)) > 0.1


def test_kl_update_without_prior_is_lee_seung_saul():
    X = data(8, 6, 1)
    W, Ht = factors(8, 6, 3, 2)
    problem = problem_of(Dense.of(X), 1.0)
    _, state = trace(problem, make_solver("mu"), W, Ht, 1)
    W1 = W * ((X / (W @ Ht.T)) @ Ht) / Ht.sum(axis=0)
    assert np.allclose(state.W, W1, rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_held_components_stay(name):
    X = data(10, 8, 4)
    W, Ht = factors(10, 8, 4, 5)
    problem = problem_of(Dense.of(X), 2.0, free_H=np.array([2, 3]))
    objective, state = trace(problem, make_solver(name), W, Ht, 20)
    assert np.array_equal(state.Ht[:, :2], Ht[:, :2])
    assert not np.allclose(state.Ht[:, 2:], Ht[:, 2:])
    assert never_rises(objective)


@pytest.mark.parametrize(("name", "beta"), [pair for pair in ABLE if pair[1] in (1.0, 2.0)])
def test_float32_follows_float64(name, beta):
    X = data(30, 20, 4)
    W, Ht = factors(30, 20, 4, 5)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), beta)
    exact, _ = trace(problem, solver, W, Ht, 30)
    problem32 = problem_of(Dense.of(X.astype(np.float32)), beta)
    single, state = trace(problem32, solver, W, Ht, 30)
    assert state.W.dtype == np.float32
    assert np.allclose(single, exact, rtol=1e-4)


def test_solvers_say_what_they_lack_and_who_has_it():
    X = data(5, 4, 0)
    with pytest.raises(ValueError, match=r"solver 'hals' minimises only the Frobenius loss.*'scd' or 'mu'"):
        pick_solver("hals", problem_of(Dense.of(X), 1.0))
    with pytest.raises(ValueError, match=r"solver 'hals' has no missing entries.*'scd' or 'mu'"):
        pick_solver("hals", problem_of(Dense.of(X, np.ones_like(X)), 2.0))
    with pytest.raises(ValueError, match=r"solver 'scd' minimises only.*use 'mu'"):
        pick_solver("scd", problem_of(Dense.of(X), 0.5))
    with pytest.raises(ValueError, match="X must be in memory"):
        pick_solver("scd", problem_of(complete_matrices(X)["streamed"], 1.0))
