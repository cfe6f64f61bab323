"""Coherence against a brute force over documents, and what the measures do at their edges."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.domains.text import leading_words
from partwise.domains.text_measures import (
    near_duplicates,
    npmi_coherence,
    top_words,
    topic_diversity,
    umass_coherence,
)


def brute_npmi(topic, counts, n_words):
    best = [
        j
        for j in sorted(range(len(topic)), key=lambda j: (-topic[j], j))[:n_words]
        if topic[j] > 1e-6 * max(topic[j], *topic)
    ]
    n, values = len(counts), []
    for i, j in combinations(best, 2):
        pi, pj = sum(row[i] != 0 for row in counts) / n, sum(row[j] != 0 for row in counts) / n
        pij = sum(row[i] != 0 and row[j] != 0 for row in counts) / n
        values.append(-1.0 if pij == 0 else 1.0 if pij == 1 else log(pij / (pi * pj)) / -log(pij))
    return np.mean(values) if values else np.nan


def brute_umass(topic, counts, n_words):
    best = [
        j
        for j in sorted(range(len(topic)), key=lambda j: (-topic[j], j))[:n_words]
        if topic[j] > 1e-6 * max(topic[j], *topic)
    ]
    values = []
    for high, low in combinations(best, 2):
        alone = sum(row[high] != 0 for row in counts)
        both = sum(row[high] != 0 and row[low] != 0 for row in counts)
        values.append(log((both + 1) / alone) if alone else -log(len(counts)))
    return np.mean(values) if values else np.nan


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 30),
    m=st.integers(1, 12),
    k=st.integers(1, 4),
    n_words=st.integers(2, 12),
    density=st.sampled_from([0.05, 0.3, 0.9]),
)
def test_coherence_is_that_of_brute_force(seed, n, m, k, n_words, density):
    rng = np.random.default_rng(seed)
    counts = sp.random_array((n, m), density=density, rng=rng, format="csr")
    topics = rng.normal(size=(k, m)) * (rng.random((k, m)) < 0.7)
    for form in (counts, counts.tocsc(), counts.toarray(), sp.csr_matrix(counts)):
        expected = [brute_npmi(row, counts.toarray(), n_words) for row in topics]
        np.testing.assert_allclose(npmi_coherence(topics, form, n_words), expected, atol=1e-12)
        expected = [brute_umass(row, counts.toarray(), n_words) for row in topics]
        np.testing.assert_allclose(umass_coherence(topics, form, n_words), expected, atol=1e-12)


def test_stored_zeros_do_not_occur():
    counts = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 3.0]]))
    counts.data[1] = 0.0
    assert npmi_coherence([[1.0, 1.0]], counts)[0] == pytest.approx(brute_npmi([1, 1], counts.toarray(), 2))


def test_words_that_never_occur_are_no_reward():
    counts = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
    there, absent = [3.0, 2.0, 0, 0], [0, 0, 3.0, 2.0]
    assert npmi_coherence([absent], counts)[0] == -1.0
    for measure in (npmi_coherence, umass_coherence):
        found = measure([there, absent], counts)
        assert found[1] < found[0]


def test_measures_do_not_depend_on_the_scale_of_topics_or_counts():
    rng = np.random.default_rng(0)
    counts, topics = rng.poisson(0.5, (40, 15)), rng.random((3, 15))
    for measure in (npmi_coherence, umass_coherence):
        np.testing.assert_array_equal(measure(topics, counts, 5), measure(7 * topics, counts * 0.3, 5))
    assert near_duplicates(topics, 0.8) == near_duplicates(topics * [[1.0], [5.0], [0.1]], 0.8)


def test_top_words_of_a_signed_topic_are_those_of_largest_value():
    assert top_words([[-9.0, 1.0, 0.0, 2.0]], 3)[0].tolist() == [3, 1]


def test_diversity_and_duplicates_count_what_topics_share():
    one = np.array([4.0, 3, 2, 1, 0, 0])
    assert topic_diversity([one, one], 4) == 0.5
    assert topic_diversity([one, one[::-1]], 2) == 1.0
    assert near_duplicates([one, 2 * one, 3 * one, one[::-1], -one, 0 * one]) == 3
    assert near_duplicates(sp.csr_array([one, one])) == 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: npmi_coherence([[1.0, 2.0]], np.ones((3, 3))), "3 columns, and the topics are over 2 words"),
        (lambda: npmi_coherence([1.0, 2.0], np.ones((3, 2))), "a row for each topic"),
        (lambda: umass_coherence([[1.0, 2.0]], np.ones((3, 2)), 1), "at least 2"),
        (lambda: umass_coherence([[1.0, 2.0]], np.ones((0, 2))), "no documents"),
        (lambda: topic_diversity([[1.0, np.nan]]), "NaN"),
        (lambda: topic_diversity([[1.0, 1.0]], 0), "at least 1"),
    ],
)
def test_what_cannot_be_measured_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_topics_without_words_have_no_coherence():
    found = npmi_coherence([[0.0, 0.0], [1.0, 1.0]], np.eye(2))
    assert np.isnan(found[0])
    assert found[1] == -1.0
    assert np.isnan(topic_diversity([[0.0, -1.0]]))


def test_weights_that_round_off_left_are_no_top_words():
    H = np.array([[3.0, 1e-34, 1e-5, 2e-6], [0.0, 0, 0, 0], [-1.0, -2, -3, -4]])
    assert [found.tolist() for found in top_words(H, 4)] == [[0, 2], [], []]
    assert [[word for word, _ in row] for row in leading_words(H, list("abcd"), 4)] == [["a", "c"], [], []]
