"""Laws of what factors may be: bounds, signs, terms of single entries, and rows that are tied together."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sweeps import LOSSES, columnwise_priors, complete_matrices, data, data_for, factors

from partwise import NMF
from partwise.core import Problem, run
from partwise.losses import as_loss
from partwise.matrix import Dense
from partwise.priors import NO_PRIOR, Bounds, ElasticNet, Gamma, Graph, Prior, Terms
from partwise.solvers import REGISTRY, make_solver, pick_solver

SIGNED = Bounds(-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Entries(Prior):
    """Terms given as they are."""

    held: Terms

    def terms(self):
        return self.held


def graph_of(n, seed, weight):
    rng = np.random.default_rng(seed)
    S = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return Graph(S + S.T, weight)


def problem_of(matrix, loss, prior_W=NO_PRIOR, prior_H=NO_PRIOR, **more):
    loss = LOSSES.get(loss) or as_loss(loss)
    return Problem(matrix, loss, prior_W, prior_H, shift=loss.shift(matrix.mean(), matrix.dtype), **more)


def trace(problem, name, W, Ht, steps):
    solver = make_solver(name)
    start = solver.init(problem, W, Ht)
    result = run(problem, solver, start, stopping=solver.stopping(0.0), max_iter=steps)
    return np.array(result.history.objective), result.state


def never_rises(objective):
    return np.all(np.diff(objective) <= 1e-10 * np.abs(objective).max())


def able(name, problem):
    return make_solver(name).lacks(problem) is None


PAIRS = [
    (name, loss)
    for name in REGISTRY
    for loss in LOSSES
    if able(name, Problem(Dense.of(np.ones((2, 2))), LOSSES[loss]))
]


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_coupled_objectives_never_rise_and_are_what_the_problem_says(name, loss):
    X = data_for(LOSSES[loss], 12, 9, 3)
    W, Ht = factors(12, 9, 3, 4)
    r = np.random.default_rng(0).random(12) + 0.3
    prior_W, prior_H = graph_of(12, 1, 0.5) + Gamma(1.5, 0.2), graph_of(9, 2, 0.3) + ElasticNet(0.1, 0.1)
    problem = problem_of(Dense.of(X, row_weight=r), loss, prior_W, prior_H)
    objective, state = trace(problem, name, W, Ht, 40)
    assert never_rises(objective)
    assert objective[-1] == pytest.approx(problem.objective(state.W, state.Ht), rel=1e-9)
    assert objective[-1] < objective[0]


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_a_coupling_of_weight_zero_changes_nothing(name, loss):
    X = data_for(LOSSES[loss], 12, 9, 3)
    W, Ht = factors(12, 9, 3, 4)
    free = trace(problem_of(Dense.of(X), loss), name, W, Ht, 9)[1]
    tied = trace(problem_of(Dense.of(X), loss, graph_of(12, 1, 0.0), graph_of(9, 2, 0.0)), name, W, Ht, 9)[1]
    assert np.allclose(free.W, tied.W, rtol=1e-10, atol=1e-12)
    assert np.allclose(free.Ht, tied.Ht, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["hals", "scd", "mu"])
def test_coupled_runs_agree_however_data_and_graph_are_stored(name):
    X = data(12, 9, 3)
    W, Ht = factors(12, 9, 3, 4)
    graph = graph_of(12, 1, 0.5)
    sparse = Graph(sp.coo_array(graph.adjacency.toarray()), 0.5)
    runs = []
    for matrix in complete_matrices(X).values():
        for coupling in (graph, sparse):
            problem = problem_of(matrix, "frobenius", coupling)
            if able(name, problem):
                solver = make_solver(name)
                solver = replace(solver, inner_sweeps=1) if hasattr(solver, "inner_sweeps") else solver
                start = solver.init(problem, W, Ht)
                runs.append(run(problem, solver, start, stopping=None, max_iter=6).history.objective)
    assert len(runs) > 4
    assert all(np.allclose(objective, runs[0], rtol=1e-8) for objective in runs)


def test_a_strong_graph_makes_neighbours_alike():
    rng = np.random.default_rng(0)
    X = data(20, 12, 1)
    labels = np.repeat([0, 1], 10)
    same = (labels[:, None] == labels).astype(float) - np.eye(20)

    def spread(W):
        return sum(W[labels == c].std(axis=0).sum() for c in (0, 1)) / W.mean()

    # The penalty is one on W's size too, which H would take over if nothing held that.
    held = ElasticNet(l2=1.0)
    free = NMF(3, prior_H=held, max_iter=500)
    tied = NMF(3, prior_W=Graph(same, 1.0), prior_H=held, max_iter=500)
    assert spread(tied.fit_transform(X)) < 0.3 * spread(free.fit_transform(X))
    assert tied.transform(X[:4]).shape == (4, 3)
    assert tied.transform(rng.random((7, 12))).shape == (7, 3)


@given(seed=st.integers(0, 10**6), weighted=st.booleans())
@pytest.mark.parametrize("loss", LOSSES)
def test_gradient_of_the_problem_matches_finite_differences(loss, seed, weighted):
    X = data_for(LOSSES[loss], 6, 5, seed)
    W, Ht = factors(6, 5, 2, seed + 1)
    r = np.random.default_rng(seed).random(6) + 0.5 if weighted else None
    prior_W = graph_of(6, seed, 0.5) + Gamma(np.array([1.5, 2.0]), 0.2)
    problem = problem_of(Dense.of(X, row_weight=r), loss, prior_W, ElasticNet(np.array([0.1, 0.3]), 0.1))
    problem = replace(problem, shift=0.01 if problem.loss.pole else 0.0)
    step = np.random.default_rng(seed).normal(size=(11, 2)) * 1e-6
    gradient = problem.gradient(W, Ht)
    slope = np.vdot(gradient[0], step[:6]) + np.vdot(gradient[1], step[6:])
    there, back = (problem.objective(W + s * step[:6], Ht + s * step[6:]) for s in (1, -1))
    assert slope == pytest.approx((there - back) / 2, rel=1e-4, abs=1e-8 * (1 + abs(there)))


@pytest.mark.parametrize("name", ["hals", "cd", "scd"])
@given(seed=st.integers(0, 10**6))
def test_signed_rows_are_least_squares(name, seed):
    X = data(5, 8, seed) - 0.5
    Ht = np.random.default_rng(seed).normal(size=(8, 3))
    problem = problem_of(Dense.of(X), "frobenius", SIGNED, update_H=False)
    W = make_solver(name).solve_rows(problem, Ht, 20_000, 1e-10)
    best = np.linalg.lstsq(Ht, X.T, rcond=None)[0].T
    assert problem.objective(W, Ht) <= problem.objective(best, Ht) * (1 + 1e-7) + 1e-9


@pytest.mark.parametrize("name", ["hals", "scd"])
@pytest.mark.parametrize("bounds", [(0.0, 0.4), (-0.3, 0.5), (-np.inf, 0.2)])
def test_rows_within_bounds_and_terms_of_their_own_match_a_general_optimiser(name, bounds):
    rng = np.random.default_rng(5)
    X, Ht = data(4, 7, 2), rng.random((7, 3))
    linear, quadratic = rng.normal(size=(4, 3)), rng.random((4, 3))
    prior = Entries(Terms(linear, quadratic, bounds=bounds))
    problem = problem_of(Dense.of(X), "frobenius", prior, update_H=False)
    W = make_solver(name).solve_rows(problem, Ht, 20_000, 1e-10)

    def cost(w):
        W = w.reshape(4, 3)
        return problem.objective(W, Ht), problem.gradient(W, Ht)[0].ravel()

    best = scipy.optimize.minimize(
        cost,
        np.zeros(12),
        jac=True,
        bounds=[bounds] * 12,
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 5000},
    )
    assert problem.objective(W, Ht) == pytest.approx(best.fun, rel=1e-7)
    assert W.min() >= bounds[0]
    assert W.max() <= bounds[1]


@pytest.mark.parametrize("name", ["hals", "cd", "scd", "randomized"])
def test_signed_factors_descend_to_the_singular_value_decomposition(name):
    X = data(15, 11, 3)
    rng = np.random.default_rng(0)
    W, Ht = rng.normal(size=(15, 2)), rng.normal(size=(11, 2))
    problem = problem_of(Dense.of(X), "frobenius", SIGNED, SIGNED)
    objective, _ = trace(problem, name, W, Ht, 800)
    assert never_rises(objective)
    singular = np.linalg.svd(X, compute_uv=False)
    assert objective[-1] == pytest.approx(0.5 * (singular[2:] ** 2).sum(), rel=1e-4)


@pytest.mark.parametrize(("name", "loss"), PAIRS)
@pytest.mark.parametrize("prior", columnwise_priors(3))
def test_priors_of_single_components_never_raise_the_objective(name, loss, prior):
    X = data_for(LOSSES[loss], 10, 8, 6)
    W, Ht = factors(10, 8, 3, 7)
    belief = columnwise_priors(3)[prior]
    objective, _ = trace(problem_of(Dense.of(X), loss, belief, belief), name, W, Ht, 25)
    assert never_rises(objective)


def test_what_does_not_fit_is_refused_in_words():
    X = Dense.of(data(6, 5, 0))
    W, Ht = factors(6, 5, 2, 1)
    with pytest.raises(ValueError, match=r"graph has 4 nodes.*6 rows"):
        problem_of(X, "frobenius", graph_of(4, 0, 1.0))
    with pytest.raises(ValueError, match=r"start of W has an entry 1.9 outside its bounds \[0, 1\]"):
        make_solver("hals").init(problem_of(X, "frobenius", Bounds(0, 1)), 2 * W / W.max() - 0.1, Ht)
    with pytest.raises(ValueError, match=r"'mu' keeps factors nonnegative.*'hals'"):
        pick_solver("mu", problem_of(X, "frobenius", SIGNED))
    with pytest.raises(
        ValueError, match="'scd' keeps factors nonnegative under beta_loss='kullback-leibler'"
    ):
        pick_solver("scd", problem_of(X, "kullback-leibler", SIGNED))
    with pytest.raises(ValueError, match="X can be read by rows only"):
        _ = problem_of(complete_matrices(data(6, 5, 0))["streamed"], "frobenius").T
    model = NMF(2, beta_loss="bernoulli")
    with pytest.raises(ValueError, match=r"'bernoulli' takes data between 0 and 1; X\[0, 0\] = 1.5"):
        model.fit(data(6, 5, 0))


@pytest.mark.parametrize("bounds", [Bounds(0, 1), SIGNED])
def test_nmf_keeps_its_factors_within_bounds(bounds):
    X = data(20, 12, 1)
    model = NMF(3, prior_W=bounds, prior_H=bounds, max_iter=300)
    W = model.fit_transform(X)
    low, high = bounds.terms().lower, bounds.terms().upper
    for A in (W, model.components_):
        assert A.min() >= low
        assert A.max() <= high
    assert np.array_equal(W, model.transform(X))
