"""Laws of bits: packed algebra is the algebra, usage is the best there is, PanPAL never rises."""

from itertools import product as every

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from partwise.boolean import starts
from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import count, pack, product, unpack, wrong
from partwise.boolean.climb import climb
from partwise.boolean.concepts import concept_cover
from partwise.boolean.descent import best_usage
from partwise.boolean.description import description_length
from partwise.boolean.discovery import log10_chance
from partwise.boolean.grow import tile_values
from partwise.boolean.log import SearchLog
from partwise.boolean.noise import looks_like_flips
from partwise.boolean.palm import Palm, RelaxedProblem, Sparsity, half_step, panpal, penalty, prox
from partwise.boolean.prices import Prices
from partwise.boolean.primp import code_length, primp_problem
from partwise.boolean.rank import best_drop
from partwise.boolean.search import search
from partwise.boolean.starts import relaxed_factors
from partwise.boolean.threshold import FINE, cut, cut_at
from partwise.boolean.tiles import Tiles, alternate, error_of
from partwise.core import Session, State, open_session
from partwise.datasets import make_boolean
from partwise.matrix import Dense, Sparse
from partwise.parallel import thread_limit
from partwise.priors import Terms
from partwise.reproduce.tiling import is_decidable
from partwise.solvers.hals import gram_sums
from partwise.solvers.sweep import sweep

widths = st.sampled_from([1, 7, 63, 64, 65, 128, 130])
seeds = st.integers(0, 10**6)


@given(n=st.integers(1, 6), m=widths, seed=seeds)
def test_packing_is_undone_by_unpacking(n, m, seed):
    A = np.random.default_rng(seed).random((n, m)) < 0.4
    P = pack(A)
    assert np.array_equal(unpack(P, m), A)
    assert np.array_equal(pack(sp.csr_array(A)), P)
    assert np.array_equal(count(P), A.sum(axis=1))


@given(n=st.integers(1, 6), m=widths, k=st.integers(1, 5), seed=seeds)
def test_the_packed_product_is_the_boolean_product(n, m, k, seed):
    rng = np.random.default_rng(seed)
    U, V, X, seen = (rng.random(shape) < 0.4 for shape in ((n, k), (k, m), (n, m), (n, m)))
    P = product(U, pack(V))
    expected = (U[:, :, None] & V[None]).any(axis=1)
    assert np.array_equal(unpack(P, m), expected)
    assert wrong(P, pack(X)) == (expected != X).sum()
    assert wrong(P, pack(X), pack(seen)) == ((expected != X) & seen).sum()


def cost(X, weights, U, V, prices):
    """The cost of a factorization, entry by entry."""
    cover = (U[:, :, None] & V[None]).any(axis=1)
    missed, overdone = weights[X & ~cover].sum(), weights[cover & ~X].sum()
    return prices.one * missed + prices.zero * overdone + prices.tile * U.sum()


def brute_usage(row, weights, V, prices):
    """The lowest cost over all subsets of tiles."""
    subsets = every((False, True), repeat=len(V))
    return min(cost(row[None], weights[None], np.array(s)[None], V, prices) for s in subsets)


@given(
    n=st.integers(1, 5),
    m=widths,
    k=st.integers(1, 7),
    seed=seeds,
    prices=st.sampled_from([Prices(), Prices(1.5, 0.7), Prices(1, 1, 2)]),
    kind=st.sampled_from(["missing", "weights", "sparse weights", "row weights"]),
)
def test_exact_usage_is_the_best_subset_and_local_usage_is_never_worse_than_before(
    n, m, k, seed, prices, kind
):
    rng = np.random.default_rng(seed)
    X, V = rng.random((n, m)) < 0.5, rng.random((k, m)) < 0.4
    start = rng.random((n, k)) < 0.5
    table, weights = weighted(X, rng, kind)
    tiles = pack(V)
    best = sum(brute_usage(X[i], weights[i], V, prices) for i in range(n))
    exact, local = start.copy(), start.copy()
    assert best_usage(table.by_row, tiles, exact, prices, exact=True) == pytest.approx(best)
    assert cost(X, weights, exact, V, prices) == pytest.approx(best)
    after = best_usage(table.by_row, tiles, local, prices, exact=False)
    assert best - 1e-9 <= after <= cost(X, weights, start, V, prices) + 1e-9
    assert after == pytest.approx(cost(X, weights, local, V, prices))
    assert error_of(table, local, V) == pytest.approx(cost(X, weights, local, V, Prices()))
    assert table.n_observed == pytest.approx(weights.sum())
    alone = [
        cost(X, weights, np.delete(local, t, axis=1), np.delete(V, t, axis=0), Prices()) for t in range(k)
    ]
    values = tile_values(table, local, V)
    assert values == pytest.approx(np.array(alone) - cost(X, weights, local, V, Prices()))
    lengths = [
        description_length(table, np.delete(local, t, axis=1), np.delete(V, t, axis=0)) for t in range(k)
    ]
    least, (left, error, length) = best_drop(table, Tiles(local, V, 0.0))
    assert (left, length) == (k - 1, pytest.approx(min(lengths)))
    assert length == pytest.approx(lengths[least])
    assert error == pytest.approx(alone[least])


def weighted(X, rng, kind):
    """A table of each kind, and what its entries weigh."""
    n, m = X.shape
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=(n, m))
    if kind == "missing":
        return BitTable.of(X, weights == 0), (weights > 0).astype(float)
    if kind == "weights":
        return BitTable.of(X, None, weights), weights
    if kind == "sparse weights":
        return BitTable.of(sp.csr_array(X), None, sp.csr_array(weights)), weights
    by_row = rng.choice([0.0, 1.0, 2.0, 5.0], size=n)
    missing = weights == 0
    return BitTable.of(X, sp.csr_array(missing), None, by_row), np.where(missing, 0.0, by_row[:, None])


@given(n=st.integers(1, 8), m=st.integers(1, 9), k=st.integers(1, 4), seed=seeds)
def test_alternation_never_raises_the_error(n, m, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, m)) < 0.4
    table, _ = weighted(X, rng, rng.choice(["missing", "weights", "row weights"]))
    tiles = Tiles(rng.random((n, k)) < 0.5, rng.random((k, m)) < 0.5, 0)
    tiles.error = before = error_of(table, tiles.usage, tiles.columns)
    after = alternate(table, tiles)
    assert after.error <= before + 1e-9
    assert after.error == pytest.approx(error_of(table, after.usage, after.columns))


@given(x=st.floats(-1, 2), weight=st.floats(0.001, 1.0), L=st.floats(0.5, 50.0))
def test_the_proximal_operator_is_what_its_definition_says(x, weight, L):
    grid = np.linspace(0.0, 1.0, 20001)
    cost = 0.5 * (x - grid) ** 2 + 2.0 * weight * np.minimum(grid, 1 - grid) / L
    at = float(prox(np.array([x]), weight / L)[0])
    mine = 0.5 * (x - at) ** 2 + penalty(np.array([at]), weight) / L
    assert mine <= cost.min() + 1e-7


def panpal_problem(D, weight=1.0, entry=None):
    """The objective (2.6) of PanPAL."""
    return RelaxedProblem(D, Sparsity(), Sparsity(), weight, entry)


problems = pytest.mark.parametrize("make", [panpal_problem, primp_problem])


@problems
@given(
    n=st.integers(2, 10),
    m=st.integers(2, 10),
    k=st.integers(1, 4),
    seed=seeds,
    weight=st.floats(0.0, 1.0),
    weighted_entries=st.booleans(),
)
def test_palm_never_raises_its_penalised_objective(make, n, m, k, seed, weight, weighted_entries):
    rng = np.random.default_rng(seed)
    D = (rng.random((n, m)) < 0.4).astype(float)
    entry = rng.choice([0.0, 0.3, 1.0], size=D.shape) if weighted_entries else None
    problem, method = make(D, weight, entry), Palm()
    state = method.init(problem, k, rng)
    values = [method.value(problem, state)]
    for _ in range(15):
        state, info = method.step(problem, state, rng)
        assert info.objective == problem.penalised(state.W, state.Ht)
        values.append(info.objective)
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1]) + 1e-12).all()


@problems
@pytest.mark.parametrize("weighted_entries", [False, True])
def test_palm_gradients_are_finite_differences_within_their_moduli(make, weighted_entries):
    rng = np.random.default_rng(0)
    D = (rng.random((5, 4)) < 0.5).astype(float)
    problem = make(D, entry=rng.random(D.shape) if weighted_entries else None)
    W, Ht = rng.random((5, 2)), rng.random((4, 2))
    for side, A, B in ((problem, W, Ht), (problem.T, Ht, W)):
        gradient = side.gradient(A, B)
        for at in np.ndindex(A.shape):
            values = []
            for sign in (1, -1):
                moved = A.copy()
                moved[at] += sign * 1e-6
                values.append(side.objective(moved, B))
            assert (values[0] - values[1]) / 2e-6 == pytest.approx(gradient[at], abs=1e-6)
        for other in rng.random((20, *A.shape)):
            change = np.linalg.norm(side.gradient(other, B) - gradient)
            assert change <= side.modulus(A, B) * np.linalg.norm(other - A) + 1e-9


def test_a_half_step_of_the_transposed_problem_is_the_other_half_step():
    rng = np.random.default_rng(0)
    D, W, Ht = (rng.random((7, 5)) < 0.5).astype(float), rng.random((7, 3)), rng.random((5, 3))
    problem = panpal_problem(D)
    transposed = panpal_problem(np.ascontiguousarray(D.T))
    assert half_step(problem.T, Ht, W) == pytest.approx(half_step(transposed, Ht, W))
    state, _ = Palm().step(problem, State(W=W.copy(), Ht=Ht.copy()), rng)
    assert state.Ht == pytest.approx(half_step(transposed, Ht, W))
    assert half_step(problem, W, state.Ht) == pytest.approx(state.W)


def test_panpal_ends_where_its_steps_no_longer_pay():
    D = np.asarray(make_boolean(60, 40, 3, random_state=0).data, float)
    result = panpal(D, 3, np.random.default_rng(0))
    assert result.converged
    falls = -np.diff(result.history.objective)
    assert (falls[:-1] > 1e-6 * np.array(result.history.objective[1:-1])).all()
    assert falls[-1] <= 1e-6 * result.history.objective[-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_sweep_of_relaxed_starts_is_that_of_the_solvers(dtype, make, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.random((37, 23)) < 0.3).astype(dtype)
    matrix = Dense.of(X) if make is np.asarray else Sparse.of(make(X))
    A, B = rng.random((37, 4)).astype(dtype), rng.random((23, 4)).astype(dtype)
    B[:, 2] = 0.0
    monkeypatch.setattr(starts, "BLOCK", 10)
    before = A.copy()
    found, expected = starts.swept(matrix, A, B, 0.3), A.copy()
    sweep(expected, gram_sums(matrix, A, B), Terms(linear=0.3, bounds=(0.0, 1.0)), np.arange(4), 1, 0.0)
    assert np.allclose(found, expected, atol=1e-5)
    assert np.array_equal(A, before)


def test_relaxed_factors_stay_in_the_unit_interval():
    X = make_boolean(120, 90, 4, random_state=0).data
    for data in (X.astype(float), sp.csr_array(X.astype(np.float32))):
        W, Ht = relaxed_factors(data, 4, np.random.default_rng(0))
        for A in (W, Ht):
            assert A.dtype == data.dtype
            assert A.min() >= 0
            assert A.max() <= 1


@pytest.mark.parametrize("seed", [0, 1])
def test_planted_tiles_come_back_exactly(seed):
    planted = make_boolean(200, 150, 8, noise_add=0.03, noise_drop=0.1, random_state=seed)
    table = BitTable.of(planted.data)
    with open_session(max_time=20.0) as session:
        tiles, ended_by = search(
            SearchLog(session), table, planted.data.astype(np.float32), 8, np.random.default_rng(seed)
        )
    assert ended_by == "patience"
    found = unpack(product(tiles.usage, pack(tiles.columns)), 150)
    assert (found != planted.clean).sum() == 0


def test_the_generator_has_the_structure_of_gonsior_2019():
    planted = make_boolean(random_state=0)
    assert planted.usage.sum(axis=0).tolist() == [6 + int((512 - 180) * 0.1)] * 30
    assert planted.components.sum(axis=1).tolist() == [6 + int((512 - 180) * 0.1)] * 30
    flips = planted.data ^ planted.clean
    assert flips[planted.clean].mean() == pytest.approx(0.05, abs=0.01)
    assert flips[~planted.clean].mean() == pytest.approx(0.01, abs=0.002)
    with pytest.raises(ValueError, match="do not fit"):
        make_boolean(50, 50, 60)


@pytest.mark.parametrize("kind", ["missing", "weights", "row weights"])
def test_climbing_never_ends_worse_and_is_the_same_on_any_number_of_threads(kind):
    X = np.random.default_rng(0).random((40, 23)) < 0.4
    table, _ = weighted(X, np.random.default_rng(1), kind)
    start = alternate(table, Tiles(X[:, :4].copy(), X[:4].copy(), np.inf))
    answers = []
    for threads in (1, 2):
        with thread_limit(threads):
            rng = np.random.default_rng(0)
            answers.append(climb(Session(), table, start.usage, start.columns, rng, 200))
    for usage, columns, error, trials, ended_by in answers:
        assert (ended_by, trials) == ("patience", answers[0].trials)
        assert error == pytest.approx(error_of(table, usage, columns))
        assert error < start.error
        assert np.array_equal(usage, answers[0][0])


def test_the_chance_of_a_tile_in_noise_is_below_its_bound():
    """Every 2 × 2 choice of small noise tables, against the bound for tiles of all ones."""
    rng = np.random.default_rng(0)
    n, m, p, tables = 4, 4, 0.1, 4000
    pairs = [(a, b) for a in range(4) for b in range(a)]
    noise = rng.random((tables, n, m)) < p
    holds = np.zeros(tables, bool)
    for rows in pairs:
        for columns in pairs:
            holds |= noise[:, rows][:, :, columns].all(axis=(1, 2))
    bound = 10 ** log10_chance(n, m, np.array([2]), np.array([2]), np.array([1.0]), p)[0]
    assert holds.mean() <= bound
    assert log10_chance(n, m, np.array([2]), np.array([2]), np.array([p]), p)[0] == 0
    assert log10_chance(500, 500, np.array([50]), np.array([50]), np.array([0.8]), 0.05)[0] < -100


def test_the_code_length_on_a_table_written_out_by_hand():
    X = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)
    U, V = np.array([[1], [1], [0], [1]], dtype=bool), np.array([[1, 1, 0]], dtype=bool)
    c = -np.log(np.array([3, 3, 2]) / 8)
    # The tile is used three times, item 3 is wrong twice; five codes in all.
    rows = 3 * -np.log(3 / 5) + 2 * -np.log(2 / 5)
    book = c[0] + c[1] - np.log(3 / 5) + c[2] - np.log(2 / 5)
    assert code_length(BitTable.of(X), U, V) == pytest.approx(rows + book)


def test_concepts_are_closed_and_the_first_is_the_greedy_best():
    X = np.random.default_rng(0).random((30, 9)) < 0.6
    usage, columns = concept_cover(BitTable.of(X), 4)
    for u, v in zip(usage.T, columns, strict=True):
        assert X[u][:, v].all(), "nothing but ones"
        assert np.array_equal(X[u].all(axis=0), v), "no column can be added"
        assert np.array_equal(X[:, v].all(axis=1), u), "no row can be added"
    covered = np.zeros_like(X)
    for u, v in zip(usage.T, columns, strict=True):
        gain = (np.outer(u, v) & ~covered).sum()
        assert gain >= (X & ~covered).sum(axis=0).max(), "a single column would cover no more"
        covered |= np.outer(u, v)


def test_wrong_entries_like_flips_are_told_from_others():
    planted = make_boolean(300, 300, 6, noise_add=0.05, noise_drop=0.15, random_state=0)
    table = BitTable.of(planted.data)
    assert looks_like_flips(table, planted.usage, planted.components)
    assert not looks_like_flips(table, planted.usage[:, 1:], planted.components[1:]), "a tile is missing"


def test_thresholds_are_the_best_of_their_grid():
    rng = np.random.default_rng(0)
    X, W, Ht = rng.random((20, 15)) < 0.4, rng.random((20, 3)), rng.random((15, 3))
    table = BitTable.of(X)
    errors = {tau: cut_at(table, W, Ht, tau, tau).error for tau in FINE}
    tiles, (lowest, highest) = cut(table, W, Ht)
    assert tiles.error == min(errors.values()) == errors[lowest[0]] == errors[highest[0]]
    assert cut(table, W, Ht, each=True)[0].error <= min(errors[round(0.05 * i, 2)] for i in range(1, 20))


def test_only_noise_that_drowns_a_bit_is_undecidable():
    for noise, decidable in (((0.05, 0.15), True), ((0.3, 0.45), False)):
        table = make_boolean(noise_add=noise[0], noise_drop=noise[1], random_state=3)
        assert is_decidable(table, *noise) == decidable
