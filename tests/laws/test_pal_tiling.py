"""Laws of PAL-Tiling: what its bits cost, its thresholds, its search, and the level of its test."""

from itertools import product as every

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise import BooleanMF
from partwise.boolean import pal_tiling
from partwise.boolean.bit_table import BitTable
from partwise.boolean.chance_test import ChanceTest
from partwise.boolean.climb import climb
from partwise.boolean.palm import RelaxedProblem, Sparsity, panpal_problem
from partwise.boolean.prices import SPARSE
from partwise.boolean.threshold import WHOLE, cut, cut_at
from partwise.boolean.tiles import Tiles, cost_of
from partwise.core import Session
from partwise.datasets import make_boolean

seeds = st.integers(0, 10**6)


def cost(X, U, V):
    """|D − Y ⊙ Xᵀ| + |X| + |Y| (2.5), entry by entry."""
    return int((((U.astype(int) @ V.astype(int)) > 0) != X).sum() + U.sum() + V.sum())


@given(seed=seeds)
def test_twice_the_relaxed_objective_is_the_cost_of_bits_whose_tiles_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    X, owner = rng.random((9, 8)) < 0.4, rng.integers(0, 3, 9)
    U, V = owner[:, None] == np.arange(3), rng.random((3, 8)) < 0.5
    problem = RelaxedProblem(X.astype(float), Sparsity(0.5), Sparsity(0.5))
    assert cost_of(BitTable.of(X), Tiles(U, V, 0.0), SPARSE) == cost(X, U, V)
    assert 2.0 * problem.objective(U.astype(float), V.T.astype(float)) == pytest.approx(cost(X, U, V))
    U[:, 0] = True
    assert 2.0 * problem.objective(U.astype(float), V.T.astype(float)) >= cost(X, U, V) - 1e-9


@given(seed=seeds)
def test_the_cut_of_least_cost_is_the_best_of_its_grid_and_never_dearer_than_no_tiles(seed):
    rng = np.random.default_rng(seed)
    X, W, Ht = rng.random((12, 9)) < 0.4, rng.random((12, 3)), rng.random((9, 3))
    table = BitTable.of(X)
    for each in (False, True):
        tiles, ((rows, columns), _) = cut(table, W, Ht, each, SPARSE)
        found = cost(X, tiles.usage, tiles.columns)
        assert found <= X.sum()
        assert found <= cost_of(table, cut_at(table, W, Ht, rows, columns), SPARSE)
    for rows, columns in every(WHOLE, WHOLE):
        assert found <= cost_of(table, cut_at(table, W, Ht, rows, columns), SPARSE)


def test_a_climb_counts_the_bits_of_both_factors():
    X = make_boolean(60, 40, 5, noise_add=0.05, noise_drop=0.15, random_state=1).data
    table, rng = BitTable.of(X), np.random.default_rng(0)
    U, V = rng.random((60, 5)) < 0.2, rng.random((5, 40)) < 0.2
    found = climb(Session(), table, U, V, rng, 50, prices=SPARSE)
    assert found.error == pytest.approx(cost(X, found.usage, found.columns))


@pytest.mark.parametrize("seed", range(4))
def test_one_tile_of_least_cost_is_the_best_there_is(seed):
    X = np.random.default_rng(seed).random((7, 6)) < 0.6
    best = X.sum()
    for bits in every((False, True), repeat=6):
        V = np.array(bits)
        gains = (2 * X[:, V].astype(int) - 1).sum(axis=1) - 1
        best = min(best, X.sum() - gains[gains > 0].sum() + V.sum())
    model = BooleanMF(1, objective="sparse", random_state=0).fit(X)
    assert model.criterion_ == "sparse"
    assert model.objective_ == best == cost(X, model.transform(X), model.components_)


def test_tiles_that_do_not_earn_their_bits_are_dropped_and_search_costs_no_more_than_thresholds():
    planted = make_boolean(120, 80, 5, noise_add=0.02, noise_drop=0.1, random_state=0)
    X, found = planted.data, {}
    for name, settings in {
        "one": {"n_components": 9, "method": "panpal"},
        "each": {"n_components": 9, "method": "panpal", "thresholds": "each"},
        "growing": {"method": "panpal", "thresholds": "each"},
        "search": {"n_components": 9, "patience": 100},
    }.items():
        model = BooleanMF(objective="sparse", random_state=0, **settings).fit(X)
        found[name] = model.objective_
        assert model.objective_ == cost(X, model.transform(X), model.components_) < X.sum()
        # a × b ones cost a + b bits: a tile of one row or one column never earns them.
        assert model.tiles_["rows"].min() > 1
        assert model.tiles_["columns"].min() > 1
    assert found["search"] <= min(found.values())
    assert found["search"] <= cost(X, planted.usage, planted.components)


def test_tiles_are_added_as_long_as_they_are_accepted():
    X = make_boolean(200, 160, 14, random_state=0).data
    grown, ten = (BooleanMF(k, method="trustpal", random_state=0).fit(X) for k in ("auto", pal_tiling.STEP))
    assert 10 < grown.n_components_ <= 14
    assert grown.reconstruction_err_ < ten.reconstruction_err_


def test_tiles_are_judged_by_what_no_accepted_tile_covers():
    rng = np.random.default_rng(0)
    X = rng.random((100, 60)) < 0.05
    X[:30, :20] = rng.random((30, 20)) < 0.95
    rows, columns = np.arange(100), np.arange(60)
    true, shifted, noise = (
        (rows < 30, columns < 20),
        # Dense by the true tile, and noise elsewhere.
        (rows < 36, columns < 18),
        (rows >= 60, columns >= 40),
    )
    U = np.array([tile[0] for tile in (noise, shifted, true)]).T
    V = np.array([tile[1] for tile in (noise, shifted, true)])
    table = BitTable.of(X)
    assert ChanceTest.of(table, 0.01).accepted(U, V).tolist() == [False, False, True]
    assert ChanceTest.of(table, 1.0).accepted(U, V).all()
    assert not ChanceTest.of(table, 1e-200).accepted(U[:, :2], V[:2]).any()


def test_missing_entries_are_no_evidence():
    X = np.zeros((40, 30))
    X[:12, :10] = 1.0
    U, V = np.zeros((40, 1), bool), np.zeros((1, 30), bool)
    U[:12], V[:, :10] = True, True
    hidden = np.zeros(X.shape, bool)
    hidden[:12, 2:10] = True
    assert ChanceTest.of(BitTable.of(X), 0.01).accepted(U, V).all()
    assert not ChanceTest.of(BitTable.of(X, missing=hidden), 0.01).accepted(U, V).any()


@pytest.mark.parametrize("method", ["auto", "trustpal"])
def test_tables_of_noise_have_no_tiles_that_are_trusted(method):
    for seed, share in enumerate((0.1, 0.3, 0.5)):
        noise = np.random.default_rng(seed).random((50, 40)) < share
        model = BooleanMF(5, method=method, fdr=0.05, patience=20, random_state=0).fit(noise)
        assert model.n_components_ == 0, "a false tile has a chance of 5 % at most"


def test_every_tile_that_is_left_passes_the_test():
    X = make_boolean(90, 60, 5, noise_add=0.05, noise_drop=0.2, random_state=2).data
    for settings in ({"n_components": 10, "fdr": 0.01, "patience": 50}, {"method": "trustpal"}):
        model = BooleanMF(random_state=0, **settings).fit(X)
        assert model.n_components_ > 0
        usage = model.transform(X)
        assert ChanceTest.of(BitTable.of(X), 0.01).accepted(usage, model.components_).all()


def test_the_problem_of_panpal_has_half_of_the_bits():
    D = np.eye(4)
    zero, one = np.zeros((4, 1)), np.ones((4, 1))
    problem = panpal_problem(D)
    assert problem.objective(one, zero) - problem.objective(zero, zero) == 0.5 * 4
