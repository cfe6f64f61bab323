"""Laws of solvers: descent, optimality, agreement with references, symmetry between the factors."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given
from hypothesis import strategies as st
from sweeps import (
    COUPLED,
    LOSSES,
    PRIORS,
    complete_matrices,
    data,
    data_for,
    factors,
    masked_matrices,
)

from partwise.core import History, Problem, run
from partwise.losses import BetaDivergence, as_loss
from partwise.matrix import Dense
from partwise.priors import NO_PRIOR, ElasticNet, Gamma
from partwise.solvers import REGISTRY, make_solver, pick_solver
from partwise.solvers.hals import Hals

SOLVERS = sorted(REGISTRY)
#: Those of installed packages.
OTHERS = [name for name, make in REGISTRY.items() if not make.__module__.startswith("partwise.")]
#: Solvers with the losses they say they can do; that they refuse the others is tested at the end.
ABLE = [
    (name, loss)
    for name in SOLVERS
    for loss in LOSSES
    if make_solver(name).lacks(Problem(Dense.of(np.ones((2, 2))), LOSSES[loss])) is None
]


def problem_of(matrix, loss, prior_W=NO_PRIOR, prior_H=NO_PRIOR, **more):
    loss = LOSSES[loss] if loss in LOSSES else as_loss(loss)
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
@pytest.mark.parametrize(("name", "loss"), ABLE)
def test_objective_never_rises(name, loss, prior):
    X = data_for(LOSSES[loss], 13, 9, 5)
    W, Ht = factors(13, 9, 3, 7)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), loss, PRIORS[prior], PRIORS[prior])
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
    loss=st.sampled_from(sorted(LOSSES)),
    prior=st.sampled_from(sorted(PRIORS)),
    zeros=st.sampled_from([0.0, 0.3, 0.9]),
)
@pytest.mark.parametrize("name", SOLVERS)
def test_objective_never_rises_on_any_shape(name, n, m, k, seed, loss, prior, zeros):
    X = data_for(LOSSES[loss], n, m, seed, zeros)
    W, Ht = factors(n, m, k, seed + 1)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), loss, PRIORS[prior], PRIORS[prior])
    if solver.lacks(problem) is None:
        objective, state = trace(problem, solver, W, Ht, 15)
        assert never_rises(objective)
        assert np.isfinite(state.W).all()
        assert np.isfinite(state.Ht).all()


@pytest.mark.parametrize("coupling", COUPLED)
@pytest.mark.parametrize(("name", "loss"), ABLE)
def test_objective_never_rises_with_couplings(name, loss, coupling):
    X = data_for(LOSSES[loss], 4, 9, 5)
    W, Ht = factors(4, 9, 3, 7)
    solver = make_solver(name)
    on_W = problem_of(Dense.of(X), loss, COUPLED[coupling] + ElasticNet(0.1, 0.1), ElasticNet(0.1, 0.1))
    objective, state = trace(on_W, solver, W, Ht, 40)
    assert never_rises(objective)
    assert objective[-1] == pytest.approx(on_W.objective(state.W, state.Ht), rel=1e-9)
    r = np.random.default_rng(0).random(9) + 0.5
    on_H = problem_of(
        Dense.of(X.T, row_weight=r), loss, ElasticNet(0.1, 0.1), COUPLED[coupling] + ElasticNet(0.1, 0.1)
    )
    assert never_rises(trace(on_H, solver, Ht, W, 40)[0])


@pytest.mark.parametrize(("name", "loss"), ABLE)
def test_every_matrix_gives_the_same_run(name, loss):
    X = data_for(LOSSES[loss], 11, 8, 2, 0.5)
    positive = LOSSES[loss].needs_positive_data
    r = np.random.default_rng(0).integers(0, 3, 11).astype(float)
    W, Ht = factors(11, 8, 3, 4)
    results = {}
    for label, matrix in complete_matrices(X, r).items():
        problem = problem_of(matrix, loss, ElasticNet(0.1, 0.1), Gamma(1.5, 0.5))
        solver = make_solver(name)
        if isinstance(solver, Hals):
            # How many sweeps pay depends on how many entries are stored; that is choice, not arithmetic.
            solver = replace(solver, inner_sweeps=1)
        if solver.lacks(problem) is None and not (positive and ("csr" in label or label == "csc")):
            results[label] = trace(problem, solver, W, Ht, 8)[0]
    assert len(results) > 2
    first = next(iter(results.values()))
    for label, objective in results.items():
        assert np.allclose(objective, first, rtol=1e-8), label


@pytest.mark.parametrize(("name", "loss"), [pair for pair in ABLE if pair[0] in ("scd", "mu")])
def test_weighted_data_descend_and_agree(name, loss):
    rng = np.random.default_rng(1)
    X = data_for(LOSSES[loss], 12, 10, 2, 0.3)
    weights = rng.random((12, 10)) * (rng.random((12, 10)) < 0.7)
    W, Ht = factors(12, 10, 3, 4)
    runs = []
    for label, matrix in masked_matrices(X, weights).items():
        problem = problem_of(matrix, loss)
        solver = make_solver(name)
        if solver.lacks(problem) is None and not (LOSSES[loss].needs_positive_data and "all stored" in label):
            objective, _ = trace(problem, solver, W, Ht, 20)
            assert never_rises(objective), label
            runs.append(objective)
    for objective in runs[1:]:
        assert np.allclose(objective, runs[0], rtol=1e-7)


def kkt_gap(problem, W, Ht):
    """Largest violation of optimality within the bounds, |A − clip(A − gradient)|, each factor in its own units."""
    gap = 0.0
    pairs = zip((W, Ht), problem.gradient(W, Ht), (problem.terms_W, problem.terms_H))
    for A, G, terms in pairs:
        gap = max(gap, np.abs(A - np.clip(A - G, terms.lower, terms.upper)).max())
    return gap


@pytest.mark.parametrize("prior", ["none", "net", "gamma", "unit", "unit+net"])
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("hals", "frobenius"),
        ("cd", "frobenius"),
        ("scd", "frobenius"),
        ("scd", "kullback-leibler"),
        *(pair for pair in ABLE if pair[0] in OTHERS and pair[1] == "frobenius"),
    ],
)
def test_runs_end_where_the_projected_gradient_vanishes(name, loss, prior):
    X = data(14, 10, 3)
    W, Ht = factors(14, 10, 3, 6)
    problem = problem_of(Dense.of(X), loss, PRIORS[prior], PRIORS[prior])
    _, state = trace(problem, make_solver(name), np.minimum(W, 1), np.minimum(Ht, 1), 5000)
    assert kkt_gap(problem, state.W, state.Ht) < 1e-6


@pytest.mark.parametrize("name", ["hals", "cd", "scd", "mu", *OTHERS])
@given(n=st.integers(1, 8), m=st.integers(4, 10), seed=st.integers(0, 10**6))
def test_rows_match_nonnegative_least_squares(name, n, m, seed):
    X = data(n, m, seed)
    _, Ht = factors(n, m, 3, seed + 1)
    problem = problem_of(Dense.of(X), "frobenius", update_H=False)
    W = make_solver(name).solve_rows(problem, Ht, 20_000, 1e-8)
    reference = np.array([scipy.optimize.nnls(Ht, x)[0] for x in X])
    excess = problem.objective(W, Ht) - problem.objective(reference, Ht)
    # Multiplicative updates approach a zero only as 1/t; of other packages' solvers nothing is known.
    slack = 1e-4 if name == "mu" or name in OTHERS else 1e-8
    assert excess <= slack * max(problem.objective(reference, Ht), 1e-3)


@pytest.mark.parametrize("name", ["scd", "mu"])
@pytest.mark.parametrize("prior", ["none", "net", "gamma"])
def test_rows_match_a_general_optimiser_for_kl(name, prior):
    X = data(6, 9, 11)
    _, Ht = factors(6, 9, 3, 12)
    terms = PRIORS[prior].terms()
    problem = problem_of(Dense.of(X), "kullback-leibler", PRIORS[prior], update_H=False)
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


@pytest.mark.parametrize(("name", "loss"), ABLE)
def test_h_step_is_the_w_step_of_the_transposed_problem(name, loss):
    X = data_for(LOSSES[loss], 9, 7, 8)
    W, Ht = factors(9, 7, 3, 9)
    r = np.random.default_rng(0).random(9) + 0.5
    solver = make_solver(name)
    problem = problem_of(Dense.of(X, row_weight=r), loss, ElasticNet(0.1, 0.2), Gamma(1.5, 0.3))
    _, whole = trace(problem, solver, W, Ht, 1)
    _, half = trace(replace(problem.T, update_H=False), solver, Ht, whole.W, 1)
    assert np.allclose(half.W, whole.Ht, rtol=1e-9)
    assert problem.T.objective(Ht, W) == pytest.approx(problem.objective(W, Ht), rel=1e-12)
    assert problem.T.T.objective(W, Ht) == pytest.approx(problem.objective(W, Ht), rel=1e-12)


@pytest.mark.parametrize("name", ["hals", "cd", "mu"])
def test_the_objective_of_held_parts_counts_every_block(name):
    X = data(11, 8, 2)
    W, Ht = factors(11, 8, 3, 4)
    runs = []
    for label in ("dense", "streamed"):
        problem = problem_of(complete_matrices(X)[label], "frobenius", update_H=False)
        objective, state = trace(problem, make_solver(name), W, Ht, 3)
        assert objective[-1] == pytest.approx(problem.objective(state.W, state.Ht), rel=1e-10)
        runs.append(objective)
    assert np.allclose(*runs)


@pytest.mark.parametrize("name", SOLVERS)
def test_inputs_are_not_modified(name):
    X = data(9, 7, 8)
    W, Ht = factors(9, 7, 3, 9)
    kept = X.copy(), W.copy(), Ht.copy()
    trace(problem_of(Dense.of(X), "frobenius"), make_solver(name), W, Ht, 3)
    for now, before in zip((X, W, Ht), kept):
        assert np.array_equal(now, before)


def test_gamma_update_is_equation_5_of_ben_baccar():
    X = data(8, 6, 1)
    W, Ht = factors(8, 6, 3, 2)
    shape, rate = 2.5, 1.5
    problem = problem_of(Dense.of(X), "kullback-leibler", Gamma(shape, rate), Gamma(shape, rate))
    _, state = trace(problem, make_solver("mu"), W, Ht, 1)
    H = Ht.T
    # (5), with the shapes mended: its 1_{F,N} Hᵀ is the row sums of H, whatever F and N are.
    W1 = (shape - 1 + W * ((X / (W @ H)) @ H.T)) / (rate + H.sum(axis=1))
    # (6) with the new W on the right, which is what makes the pair monotone.
    H1 = (shape - 1 + H * (W1.T @ (X / (W1 @ H)))) / (rate + W1.sum(axis=0)[:, None])
    assert np.allclose(state.W, W1, rtol=1e-9)
    assert np.allclose(state.Ht.T, H1, rtol=1e-9)


def test_updating_both_factors_at_once_as_printed_is_not_monotone():
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
    problem = problem_of(Dense.of(X), "kullback-leibler")
    _, state = trace(problem, make_solver("mu"), W, Ht, 1)
    W1 = W * ((X / (W @ Ht.T)) @ Ht) / Ht.sum(axis=0)
    assert np.allclose(state.W, W1, rtol=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_held_components_stay(name):
    X = data(10, 8, 4)
    W, Ht = factors(10, 8, 4, 5)
    problem = problem_of(Dense.of(X), "frobenius", free_H=np.array([2, 3]))
    objective, state = trace(problem, make_solver(name), W, Ht, 20)
    assert np.array_equal(state.Ht[:, :2], Ht[:, :2])
    assert not np.allclose(state.Ht[:, 2:], Ht[:, 2:])
    assert never_rises(objective)


@pytest.mark.parametrize(
    ("name", "loss"), [pair for pair in ABLE if not pair[1].startswith("beta") and pair[1] != "itakura-saito"]
)
def test_float32_follows_float64(name, loss):
    X = data_for(LOSSES[loss], 30, 20, 4)
    W, Ht = factors(30, 20, 4, 5)
    solver = make_solver(name)
    problem = problem_of(Dense.of(X), loss)
    exact, _ = trace(problem, solver, W, Ht, 30)
    problem32 = problem_of(Dense.of(X.astype(np.float32)), loss)
    single, state = trace(problem32, solver, W, Ht, 30)
    assert state.W.dtype == np.float32
    assert np.allclose(single, exact, rtol=1e-4)


def test_solvers_say_what_they_lack_and_who_has_it():
    X = data(5, 4, 0)
    with pytest.raises(ValueError, match=r"solver 'hals' minimises only the Frobenius loss.*'scd' or 'mu'"):
        pick_solver("hals", problem_of(Dense.of(X), "kullback-leibler"))
    with pytest.raises(ValueError, match=r"solver 'hals' has no missing entries.*'scd' or 'mu'"):
        pick_solver("hals", problem_of(Dense.of(X, np.ones_like(X)), "frobenius"))
    with pytest.raises(ValueError, match=r"solver 'scd' minimises only.*use 'mu'"):
        pick_solver("scd", problem_of(Dense.of(X), "beta=0.5"))
    with pytest.raises(ValueError, match="X must be in memory"):
        pick_solver("scd", problem_of(complete_matrices(X)["streamed"], "kullback-leibler"))
