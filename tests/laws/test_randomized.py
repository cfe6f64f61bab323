"""Compression: the compressed matrix is the product it stands for, and its start is a good one."""

import numpy as np
from sweeps import factors

from partwise.core import Problem
from partwise.datasets import make_low_rank
from partwise.initial import random_factors
from partwise.losses import FROBENIUS
from partwise.matrix import Dense
from partwise.matrix.low_rank import LowRank
from partwise.solvers import make_solver


def test_compressed_matrix_equals_its_product():
    rng = np.random.default_rng(0)
    Q, B = rng.random((12, 3)), rng.random((3, 9))
    compressed, dense = LowRank(Q, B), Dense.of(Q @ B)
    W, Ht = factors(12, 9, 2, 1)
    assert np.allclose(compressed.product(Ht), dense.product(Ht))
    assert np.allclose(compressed.T.product(W), dense.T.product(W))
    assert np.isclose(compressed.squared_norm(), dense.squared_norm())
    assert np.allclose(
        compressed.row_divergence(W, Ht, FROBENIUS, 0.0), dense.row_divergence(W, Ht, FROBENIUS, 0.0)
    )
    for a, b in zip(compressed.ratio_sums(W, Ht, FROBENIUS, 0.0), dense.ratio_sums(W, Ht, FROBENIUS, 0.0)):
        assert np.allclose(a, b)


def test_compressed_start_is_most_of_the_way():
    X = Dense.of(make_low_rank(300, 200, 5, noise="gaussian", noise_scale=0.05, random_state=0).data)
    problem = Problem(X)
    W, Ht = random_factors(X, 5, np.random.default_rng(0))
    begin = problem.objective(W, Ht)
    state = make_solver("randomized").init(problem, W, Ht)
    plain = make_solver("hals").init(problem, W, Ht)
    plain.objective = begin
    for _ in range(100):
        plain, _ = make_solver("hals").step(problem, plain, np.random.default_rng(0))
    reached = problem.objective(state.W, state.Ht)
    assert reached - plain.objective < 0.02 * (begin - plain.objective)
