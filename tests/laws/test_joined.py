"""Data with labels beside them: the same numbers as one dense matrix with weights, whatever is asked of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.core import Problem, run
from partwise.losses import as_loss
from partwise.matrix import Dense, Joined, Sparse
from partwise.solvers import pick_solver


def both(seed, masked, weighted, sparse, weight=2.5):
    """The same data as `Joined` and as a dense matrix with entry weights, and factors."""
    rng = np.random.default_rng(seed)
    n, m, c, k = 14, 6, 3, 2
    X, at = rng.poisson(1.5, (n, m)).astype(float), np.sort(rng.choice(n, 6, replace=False))
    Y = np.eye(c)[rng.integers(0, c, 6)]
    seen = rng.random(Y.shape) < 0.6 if masked else np.ones(Y.shape, dtype=bool)
    r = rng.random(n) + 0.5 if weighted else None
    full, weights = np.zeros((n, m + c)), np.zeros((n, m + c))
    full[:, :m], weights[:, :m] = X, 1.0
    full[at, m:], weights[at, m:] = np.where(seen, Y, 0.0), weight * seen
    part = Sparse.of(sp.csr_matrix(X), None, r, True) if sparse else Dense.of(X, None, r)
    return (
        Joined(part, at, Y, seen, weight),
        Dense.of(full, weights, r),
        rng.random((n, k)),
        rng.random((m + c, k)),
    )


@pytest.mark.parametrize("name", ["frobenius", "kullback-leibler"])
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=15, deadline=None)
def test_all_sums_are_those_of_one_matrix_with_weights(name, seed, masked, weighted, sparse):
    J, D, W, Ht = both(seed, masked, weighted, sparse)
    loss = as_loss(name)
    shift = loss.shift(1.0, np.dtype(float))
    one, other = Problem(J, loss, shift=shift), Problem(D, loss, shift=shift)
    assert one.data_loss(W, Ht) == pytest.approx(other.data_loss(W, Ht), rel=1e-12)
    for found, expected in zip(one.gradient(W, Ht), other.gradient(W, Ht)):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(J.product(Ht), D.product(Ht), atol=1e-12)
    np.testing.assert_allclose(J.T.product(W), D.T.product(W), atol=1e-12)
    np.testing.assert_allclose(J.weight_product(Ht), D.weight_product(Ht), atol=1e-12)
    np.testing.assert_allclose(J.T.weight_product(W), D.T.weight_product(W), atol=1e-12)
    assert J.T.T.shape == J.shape


@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=15, deadline=None)
def test_every_row_has_the_gram_matrix_of_what_is_seen_of_it(seed, masked, weighted, sparse):
    J, D, W, Ht = both(seed, masked, weighted, sparse)
    for joined, dense, B in ((J, D, Ht), (J.T, D.T, W)):
        _, omega = dense.arrays(0, dense.shape[0])
        G, groups = joined.gram(B), joined.row_groups
        for i in range(dense.shape[0]):
            # (The arrays of a transposed matrix carry the inner weights already.)
            np.testing.assert_allclose(G[groups[i]], (B * omega[i][:, None]).T @ B, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["frobenius", "kullback-leibler"])
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=10, deadline=None)
def test_solvers_never_raise_the_objective_and_say_what_it_is(name, seed, masked, weighted, sparse):
    J, _, W, Ht = both(seed, masked, weighted, sparse)
    loss = as_loss(name)
    problem = Problem(J, loss, shift=loss.shift(1.0, np.dtype(float)))
    solver = pick_solver("auto", problem)
    assert solver.name == ("hals" if name == "frobenius" else "emu")
    result = run(problem, solver, solver.init(problem, W, Ht), max_iter=25)
    found = np.array(result.history.objective)
    assert (np.diff(found) <= 1e-9 * found[0]).all()
    assert problem.objective(result.state.W, result.state.Ht) == pytest.approx(found[-1], rel=1e-9, abs=1e-9)


def test_complete_labels_are_supervised_factorization_of_data_and_labels_side_by_side():
    """With all labels known, equation 6.3 is NMF of [X | √λ Y], step by step."""
    rng = np.random.default_rng(0)
    X, Y, weight = rng.random((20, 6)), np.eye(3)[rng.integers(0, 3, 20)], 7.0
    W, Ht = rng.random((20, 2)), rng.random((9, 2))
    joined = Problem(Joined(Dense.of(X), np.arange(20), Y, np.ones(Y.shape, dtype=bool), weight))
    plain = Problem(Dense.of(np.hstack([X, np.sqrt(weight) * Y])))
    scaled = Ht * np.where(np.arange(9) < 6, 1.0, np.sqrt(weight))[:, None]
    found = []
    for problem, start in ((joined, Ht), (plain, scaled)):
        solver = pick_solver("hals", problem)
        found.append(run(problem, solver, solver.init(problem, W, start), max_iter=30).history.objective)
    np.testing.assert_allclose(*found, rtol=1e-8)


def test_some_rows_keep_their_labels():
    J, D, W, Ht = both(0, True, True, False)
    rows = np.array([3, 0, 3, 11, 7])
    loss = as_loss("frobenius")
    some = Problem(J.rows(rows), loss).data_loss(W[rows], Ht)
    assert some == pytest.approx(Problem(D.rows(rows), loss).data_loss(W[rows], Ht))


def test_an_entry_that_alone_stands_for_a_datum_is_not_dropped():
    """Labels at the size of their rows beside pixels of all sizes: a tiny entry of H met a huge one of W."""
    from sklearn.datasets import load_digits

    from partwise import SemiSupervisedNMF

    X, y = load_digits(return_X_y=True)
    known = np.where(np.random.default_rng(0).random(len(y)) < 0.05, y, -1)
    model = SemiSupervisedNMF(20, beta_loss="kl", solver="emu", tol=0, max_iter=70).fit(X, known)
    objective = model.history_["objective"]
    assert (np.diff(objective) <= 1e-9 * objective[0]).all()
