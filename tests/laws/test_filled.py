"""Laws of the solver that fills in missing entries: its sums, its descent, and where it ends."""

from dataclasses import replace

import numpy as np
import pytest
from sweeps import PRIORS

import partwise.solvers.filled as filled
from partwise import NMF
from partwise.core import Problem, run
from partwise.losses import FROBENIUS
from partwise.matrix import Dense
from partwise.solvers import make_solver, pick_solver

rng = np.random.default_rng(0)
W, Ht = rng.random((40, 3)), rng.random((25, 3))
X = rng.random((40, 3)) @ rng.random((3, 25)) + 0.1 * rng.random((40, 25))
ROWS = rng.integers(1, 4, 40).astype(float)


def gaps(share):
    return (np.random.default_rng(1).random(X.shape) >= share).astype(float)


def problem_of(share, prior=PRIORS["none"], order="C", row_weight=None, dtype=float):
    data = np.where(gaps(share) > 0, X, np.nan).astype(dtype)
    matrix = Dense.of(np.asarray(data, order=order), np.asarray(gaps(share), dtype, order=order), row_weight)
    return Problem(matrix, FROBENIUS, prior, prior)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("row_weight", [None, ROWS])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.35])
def test_products_are_those_of_the_completed_matrix(share, row_weight, order):
    problem = problem_of(share, order=order, row_weight=row_weight)
    whole = np.where(gaps(share) > 0, X, W @ Ht.T)
    holes = filled.holes_of(problem)
    N, observed = filled.filled_product(problem.X, W, Ht, holes.by_row)
    np.testing.assert_allclose(N, whole @ Ht, rtol=1e-12)
    r = np.ones(40) if row_weight is None else row_weight
    Nt, observed_t = filled.filled_product(problem.X.T, Ht, W, holes.by_column)
    np.testing.assert_allclose(Nt, whole.T @ (r[:, None] * W), rtol=1e-12)
    error = (gaps(share) * (X - W @ Ht.T) ** 2).sum(axis=1)
    np.testing.assert_allclose(problem.X.squared_error(W, Ht), error, rtol=1e-12)
    np.testing.assert_allclose(
        problem.X.T.squared_error(Ht, W), (gaps(share) * (X - W @ Ht.T) ** 2).T @ r, rtol=1e-12
    )
    assert (observed is None) == (observed_t is None) == (share > filled.FEW)
    if observed is not None:
        np.testing.assert_allclose(
            filled.missing_squares(problem.X, W, Ht, holes.by_row),
            r @ ((1 - gaps(share)) * (W @ Ht.T) ** 2).sum(axis=1),
            rtol=1e-12,
            atol=1e-12,
        )


@pytest.mark.parametrize(
    ("share", "row_weight", "extrapolate"), [(0.02, None, True), (0.02, ROWS, False), (0.35, ROWS, True)]
)
@pytest.mark.parametrize("prior", PRIORS)
def test_the_objective_is_the_true_one_and_never_rises(prior, share, row_weight, extrapolate):
    problem = problem_of(share, PRIORS[prior], row_weight=row_weight)
    solver = replace(make_solver("filled"), extrapolate=extrapolate)
    start = (np.clip(A, 0.1, 0.9) for A in (W, Ht))
    result = run(problem, solver, solver.init(problem, *start), stopping=solver.stopping(0.0), max_iter=40)
    values = np.array(result.history.objective)
    assert (np.diff(values) <= 1e-10 * abs(values[0])).all()
    assert values[-1] == pytest.approx(problem.objective(result.state.W, result.state.Ht), rel=1e-9)


@pytest.mark.parametrize("share", [0.05, 0.35])
def test_where_it_ends_coordinate_descent_on_entries_has_nothing_left_to_do(share):
    problem = problem_of(share)
    solver = make_solver("filled")
    end = run(
        problem,
        solver,
        solver.init(problem, W.copy(), Ht.copy()),
        stopping=solver.stopping(0.0),
        max_iter=4000,
    )
    other = make_solver("scd")
    state = other.init(problem, end.state.W.copy(), end.state.Ht.copy())
    more = run(problem, other, state, stopping=other.stopping(0.0), max_iter=50).history.objective
    assert more[0] - more[-1] <= 1e-4 * more[0]


def test_it_is_chosen_where_little_is_missing_and_says_what_it_lacks():
    chosen = {share: pick_solver("auto", problem_of(share)).name for share in (0.05, 0.35, 0.8)}
    assert chosen == {0.05: "filled", 0.35: "filled", 0.8: "scd"}
    weighted = Problem(Dense.of(X, gaps(0.1) * 0.5 + 0.25), FROBENIUS)
    assert pick_solver("auto", weighted).name == "scd"
    for problem, said in (
        (weighted, "weights of entries use 'scd'"),
        (problem_of(0.8), "at most 40 %"),
        (Problem(Dense.of(X), FROBENIUS), "use 'hals' for complete data"),
    ):
        with pytest.raises(ValueError, match=said):
            pick_solver("filled", problem)


@pytest.mark.parametrize("share", [0.05, 0.35, 0.7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fits_of_data_with_gaps_end_at_an_optimum_and_transform_agrees(share, dtype):
    data = np.where(gaps(share) > 0, X, np.nan).astype(dtype)
    model = NMF(3, random_state=0)
    made = model.fit_transform(data)
    np.testing.assert_array_equal(made, model.transform(data))
    long = NMF(3, random_state=0, solver="scd", tol=1e-7, max_iter=3000).fit(data)
    assert model.objective_ <= 1.02 * long.objective_ + 1e-6


@pytest.mark.parametrize("weights", [None, 0.5 * gaps(0.8) + 0.0])
def test_observed_entries_alone_are_the_same_problem(weights):
    weights = gaps(0.8) if weights is None else weights
    dense = Problem(Dense.of(np.where(weights > 0, X, np.nan), weights, ROWS), FROBENIUS)
    sparse = filled.without_holes(dense)
    assert type(sparse.X).__name__ == "Sparse"
    assert sparse.objective(W, Ht) == pytest.approx(dense.objective(W, Ht))
    for a, b in zip(dense.gradient(W, Ht), sparse.gradient(W, Ht)):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    assert filled.without_holes(problem_of(0.1)).X.weighted
