"""Laws of merging: two answers with half of the tiles each make the whole one; climbs that agree end it."""

import numpy as np
import pytest

from partwise import BooleanMF
from partwise.boolean import search as searching
from partwise.boolean.bit_table import BitTable
from partwise.boolean.merge import merged
from partwise.boolean.search import AGREE, MERGING, PLAIN, POOL, Pool
from partwise.boolean.tiles import Tiles, error_of
from partwise.datasets import make_boolean
from partwise.reproduce import narrow, narrow_tables


@pytest.mark.parametrize("seed", range(5))
def test_two_halves_of_the_planted_tiles_make_all_of_them(seed):
    planted = make_boolean(80, 60, 6, noise_add=0.0, noise_drop=0.0, random_state=seed)
    U, V, rng = planted.usage, np.ascontiguousarray(planted.components), np.random.default_rng(seed)
    table = BitTable.of(planted.data)
    halves = []
    for kept in (slice(0, 3), slice(3, 6)):
        usage, columns = rng.random(U.shape) < 0.05, rng.random(V.shape) < 0.05
        usage[:, kept], columns[kept] = U[:, kept], V[kept]
        halves.append(Tiles(usage, columns, error_of(table, usage, columns)))
    both = merged(table, *halves, rng)
    assert len(both.columns) == 6
    assert both.error == 0 == error_of(table, both.usage, both.columns)
    assert halves[0].error == error_of(table, halves[0].usage, halves[0].columns), (
        "what was merged is as it was"
    )


def test_an_answer_merged_with_itself_is_itself():
    X = np.random.default_rng(0).random((20, 15)) < 0.4
    table = BitTable.of(X)
    one = Tiles(X[:, :3].copy(), np.ascontiguousarray(X[:3]), 0.0)
    again = merged(table, one, one.copy(), np.random.default_rng(0))
    assert np.array_equal(again.columns, one.columns)


def test_a_pool_keeps_the_best_different_answers_and_counts_those_that_reach_the_best():
    pool = Pool()
    for error in (9.0, 7.0, 7.0, 8.0, 6.0, 12.0, 10.0, 6.0):
        pool.add(Tiles(np.zeros((1, 1), bool), np.zeros((1, 1), bool), error))
    assert [tiles.error for tiles in pool.tiles] == [6.0, 7.0, 8.0, 9.0][:POOL]
    assert (pool.reached, pool.agreed) == (2, False)
    for _ in range(AGREE - 2):
        pool.add(pool.tiles[0].copy())
    assert pool.agreed


def test_only_small_tables_whose_climbs_disagree_are_merged(monkeypatch):
    calls, original = [], searching.merged

    def counted(*arguments):
        calls.append(True)
        return original(*arguments)

    monkeypatch.setattr(searching, "merged", counted)
    easy = make_boolean(60, 40, 3, random_state=0).data
    BooleanMF(3, patience=100, random_state=0).fit(easy)
    assert not calls, "all climbs find the planted tiles"
    hard = np.random.default_rng(0).random((60, 24)) < 0.4
    BooleanMF(10, patience=100, random_state=0).fit(hard)
    assert 0 < len(calls) <= MERGING.merges
    calls.clear()
    BooleanMF(10, patience=2, max_iter=50, max_time=None, random_state=0).fit(np.tile(hard, (20, 1)))
    assert not calls, "a large table"


def test_the_experiment_compares_both_plans(tmp_path, monkeypatch):
    monkeypatch.setattr(
        narrow, "narrow_tables", lambda half: [("coins", np.random.default_rng(0).random((30, 12)) < 0.4, 5)]
    )
    monkeypatch.setattr(narrow, "default_patience", lambda table, k: 60)
    found = narrow.reproduce_narrow(tmp_path, seeds=2)
    (row,) = found["rows"]
    assert row["best"] == min(wrong for key in narrow.PLANS for wrong, _ in row[key])
    assert narrow.PLANS == {"plain": PLAIN, "merging": MERGING}
    names = [{name for name, *_ in narrow_tables.narrow_tables(half)} for half in ("chosen", "others")]
    assert not {name for name in names[0] & names[1] if name[-1].isdigit()}, "halves have no table in common"
