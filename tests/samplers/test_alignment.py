"""Components in one order: planted permutations are found, the sum of cosines is the largest there is."""

from itertools import permutations

import numpy as np
import pytest

from partwise.samplers.alignment import align, best_order, match, unit_columns


@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_planted_permutations_and_scales_are_undone(k):
    rng = np.random.default_rng(k)
    W, Ht = rng.random((20, k)) ** 3, rng.random((15, k)) ** 3
    reference = unit_columns(W), unit_columns(Ht)
    for _ in range(5):
        planted, scale = rng.permutation(k), rng.uniform(0.1, 9.0, k)
        order = match(reference, (W[:, planted] * scale, Ht[:, planted] / scale))
        assert np.array_equal(planted[order], np.arange(k))


@pytest.mark.parametrize("seed", range(5))
def test_no_other_order_is_better(seed):
    alike = np.random.default_rng(seed).random((5, 5))
    found = alike[np.arange(5), best_order(alike)].sum()
    assert found == pytest.approx(max(alike[np.arange(5), list(p)].sum() for p in permutations(range(5))))


def test_the_reference_becomes_the_mean_of_all_draws():
    rng = np.random.default_rng(3)
    k, truth = 4, rng.random((30, 4)) ** 2
    planted = [rng.permutation(k) for _ in range(40)]
    draws = [((truth + 0.3 * rng.random(truth.shape))[:, p],) for p in planted]
    orders, (reference,) = align(draws)
    places = np.stack([p[order] for p, order in zip(planted, orders)])
    assert (places == places[0]).all()
    cosines = np.einsum("ij,ij->j", reference, unit_columns(truth[:, places[0]]))
    assert np.array_equal(places[0], planted[0][orders[0]])
    one_draw = unit_columns(draws[0][0][:, orders[0]])
    assert (cosines > np.einsum("ij,ij->j", one_draw, unit_columns(truth[:, places[0]]))).all()


def test_components_of_zeros_do_no_harm():
    W = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert sorted(match((unit_columns(W),), (W[:, [2, 1, 0]],)).tolist()) == [0, 1, 2]
    assert match((unit_columns(W),), (W[:, [2, 1, 0]],)).tolist() == [2, 1, 0]
