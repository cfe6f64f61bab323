"""How many communities: the spectral count against dense matrices, description length, and planted graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import SymmetricNMF, load, save
from partwise.datasets import load_karate
from partwise.graphs import modularity, neighbour_graph
from partwise.models.community_count import (
    _bulk_radius,
    count_communities,
    description_length,
    joined_count,
)


def planted(sizes, within, across, seed):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(sizes)), sizes)
    A = np.triu(rng.random((len(group), len(group))) < np.where(group[:, None] == group, within, across), 1)
    return sp.csr_matrix((A | A.T).astype(float)), group


def non_backtracking(A):
    """B of the definition, on directed edges."""
    i, j = A.nonzero()
    follows = (j[:, None] == i[None]) & (i[:, None] != j[None])
    return follows * (np.asarray(A[i, j]).ravel()[:, None])


@pytest.mark.parametrize("seed", range(3))
def test_the_bulk_has_the_root_of_the_largest_eigenvalue_of_the_non_backtracking_matrix(seed):
    A, _ = planted([15, 15], 0.5, 0.1, seed)
    rng = np.random.default_rng(seed)
    upper = sp.triu(A)
    upper.data = rng.random(upper.nnz) + 0.5
    for graph in (A, sp.csr_matrix(upper + upper.T)):
        squared = graph.multiply(graph).tocsr()
        largest = np.abs(np.linalg.eigvals(non_backtracking(squared))).max()
        assert _bulk_radius(graph.copy()) == pytest.approx(np.sqrt(largest), rel=1e-2)


@pytest.mark.parametrize("seed", range(4))
def test_the_count_is_that_of_real_eigenvalues_outside_of_the_bulk(seed):
    A, _ = planted([20, 20, 20], 0.4, 0.04, seed)
    values = np.linalg.eigvals(non_backtracking(A))
    real = values[np.abs(values.imag) < 1e-9].real
    radius = np.sqrt(np.abs(values).max())
    near = np.abs(real / radius - 1) < 0.02
    found = count_communities(A, np.random.default_rng(0))
    assert (real[~near] > radius).sum() <= found <= (real[near | (real > radius)] > 0.98 * radius).sum()


@pytest.mark.parametrize(
    ("sizes", "within", "across"),
    [([40], 0.2, 0.0), ([60, 60], 0.2, 0.03), ([50, 40, 30], 0.3, 0.03), ([12] * 8, 0.7, 0.04)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_auto_finds_the_number_that_was_planted(sizes, within, across, seed):
    A, group = planted(sizes, within, across, seed)
    model = SymmetricNMF("auto").fit(A)
    assert model.n_components_ == len(sizes)
    assert model.labels_.max() < len(sizes)
    assert model.components_.shape == (len(sizes), len(group))


def test_the_scale_and_order_of_a_graph_do_not_change_the_count():
    A, _ = planted([40, 40, 40], 0.3, 0.03, 5)
    count = [count_communities(sp.csr_matrix(c * A), np.random.default_rng(0)) for c in (1.0, 1e-6, 1e6)]
    order = np.random.default_rng(0).permutation(120)
    assert count == [3, 3, 3]
    assert count_communities(A[order][:, order], np.random.default_rng(1)) == 3


def test_a_few_very_heavy_edges_are_no_communities():
    A, _ = planted([40, 40], 0.3, 0.03, 0)
    A = A.tolil()
    for i in range(4):
        A[i, i + 1] = A[i + 1, i] = 1e4
    assert count_communities(A.tocsr(), np.random.default_rng(0)) == 2


@pytest.mark.parametrize("A", [np.zeros((4, 4)), np.eye(3), [[0, 1], [1, 0]], np.ones((6, 6))])
def test_graphs_without_communities_have_one(A):
    assert count_communities(sp.csr_matrix(np.asarray(A, dtype=float)), np.random.default_rng(0)) == 1


def test_description_length_is_that_of_the_formula_and_prefers_what_was_planted():
    from math import comb, factorial, log

    # Two triangles with one edge between them; m = (3, 3), 1 between, e = (7, 7), n = (3, 3).
    A = np.zeros((6, 6))
    for i, j in [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]:
        A[i, j] = A[j, i] = 1
    graph = sp.csr_matrix(A)
    inside = 2 * log(2**3 * factorial(3)) - log(comb(2 + 6 - 1, 6))
    between = log(factorial(1)) - 1 * log(1) - log(7 + 1)
    nodes = -2 * log(factorial(7)) - 2 * log(comb(3 + 7 - 1, 7))
    groups = 2 * log(factorial(3)) - log(factorial(6)) - log(comb(5, 1)) - log(6)
    assert description_length(graph, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(
        -(inside + between + nodes + groups)
    )
    B, group = planted([30, 30, 30], 0.4, 0.03, 0)
    shuffled = np.random.default_rng(0).permutation(group)
    lengths = [description_length(B, labels) for labels in (group, np.zeros(90, int), shuffled, group % 2)]
    assert min(lengths) == lengths[0]
    # Names of groups, loops and nodes without edges do not count.
    assert description_length(B, 7 - group) == pytest.approx(lengths[0])
    more = sp.block_diag([B + sp.eye(90), sp.csr_matrix((2, 2))]).tocsr()
    assert description_length(more, np.append(group, [5, 6])) == pytest.approx(lengths[0])


def test_the_karate_club_is_two_with_at_most_two_off(tmp_path):
    club = load_karate()
    model = SymmetricNMF("auto").fit(club.data)
    wrong = int((model.labels_ != club.target).sum())
    assert model.n_components_ == 2
    assert min(wrong, 34 - wrong) <= 2
    assert model.summary()["chosen"] == {"n_components": "2"}
    again = load(save(model, tmp_path / "m.partwise"))
    assert again.n_components == "auto"
    assert np.array_equal(again.labels_, model.labels_)


def test_directed_graphs_and_words_that_are_no_number():
    A, _ = planted([30, 30], 0.4, 0.03, 0)
    assert SymmetricNMF("auto", directed=True).fit(sp.csr_matrix(sp.triu(A) + 0.5 * A)).n_components_ == 2
    with pytest.raises(ValueError, match="n_components must be an integer of at least 1; got 'many'"):
        SymmetricNMF("many").fit(A)


def test_a_checkpoint_resumes_to_the_same_communities(tmp_path):
    A, _ = planted([30, 30, 20], 0.4, 0.03, 2)
    plain = SymmetricNMF("auto").fit(A)
    for _ in range(2):
        kept = SymmetricNMF("auto").fit(A, checkpoint=tmp_path / "c")
        assert np.array_equal(kept.membership_, plain.membership_)


@pytest.mark.parametrize("n_clouds", [2, 3, 4])
def test_clouds_of_points_are_communities_of_their_nearest_neighbours(n_clouds):
    """By description length alone there are a dozen and more: stretches of the clouds."""
    rng = np.random.default_rng(n_clouds)
    cloud = np.repeat(np.arange(n_clouds), 80)
    points = rng.normal(0, 8, (n_clouds, 8))[cloud] + rng.normal(0, 2, (len(cloud), 8))
    model = SymmetricNMF("auto").fit(neighbour_graph(points, 15))
    assert model.n_components_ == n_clouds
    assert len(set(zip(model.labels_, cloud))) == n_clouds


def test_groups_are_joined_to_those_of_largest_modularity_where_that_is_much():
    A, group = planted([40, 40, 40], 0.5, 0.02, 0)
    rng = np.random.default_rng(0)
    split = 4 * group + rng.integers(4, size=len(group))
    assert modularity(A, group) - modularity(A, split) > 0.1
    assert joined_count(A, split) == 3
    assert joined_count(A, group) == 3
    assert joined_count(A, np.zeros(len(group), int)) == 1
