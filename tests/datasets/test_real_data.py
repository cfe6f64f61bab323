"""The real files, read only where PARTWISE_DATA says they are."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import datasets
from partwise.datasets import _newsgroups
from partwise.datasets._registry import REGISTRY
from partwise.datasets._source import locate

pytestmark = [
    pytest.mark.skipif(not os.environ.get("PARTWISE_DATA"), reason="PARTWISE_DATA is not set"),
    pytest.mark.filterwarnings("error:.*differs from the file this version:UserWarning"),
]


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_file_is_the_registered_one(name: str) -> None:
    assert locate(name).path.is_file()


@pytest.mark.parametrize(
    ("fetch", "shape", "n_classes"),
    [
        (datasets.fetch_mnist, (70000, 784), 10),
        (datasets.fetch_orl, (400, 10304), 40),
        (datasets.fetch_cbcl, (2429, 361), None),
        (datasets.fetch_swimmer, (256, 220), None),
        (datasets.fetch_pie, (2856, 1024), 68),
        (datasets.fetch_20newsgroups, (18846, 10000), 20),
        (datasets.fetch_bbc_news, (2225, 2949), 5),
        (datasets.fetch_reuters, (8293, 18933), 65),
        (datasets.fetch_cora, (2708, 1433), 7),
        (datasets.fetch_football, (115, 115), 12),
        (datasets.fetch_all_aml, (38, 5000), 3),
        (datasets.fetch_movielens, (943, 1682), None),
    ],
)
def test_data_are_nonnegative_samples_by_features(fetch, shape, n_classes) -> None:
    bunch = fetch()
    assert bunch.data.shape == shape
    assert bunch.data.min() >= 0
    assert bunch.DESCR
    if n_classes is not None:
        assert bunch.target.shape == (shape[0],)
        assert set(bunch.target.tolist()) == set(range(n_classes))
    if "target_names" in bunch:
        assert len(bunch.target_names) == n_classes
    if "feature_names" in bunch:
        assert len(bunch.feature_names) == shape[1]
    if "images" in bunch:
        np.testing.assert_array_equal(bunch.images.reshape(shape), bunch.data)
    if sp.issparse(bunch.data):
        bunch.data.check_format()


def test_swimmer_has_seventeen_parts() -> None:
    swimmer = datasets.fetch_swimmer()
    assert swimmer.components.shape == (17, 220)
    sizes = swimmer.components.sum(axis=1)
    assert sizes.tolist() == [14] + [3] * 16
    on = (swimmer.data @ swimmer.components.T) / sizes
    np.testing.assert_array_equal(on @ swimmer.components, swimmer.data)
    assert np.all(on.sum(axis=1) == 5)


@pytest.mark.parametrize("fetch", [datasets.fetch_cora, datasets.fetch_football])
def test_graphs_are_symmetric(fetch) -> None:
    graph = fetch()
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert set(graph.adjacency.data) == {1.0}
    assert graph.adjacency.nnz == len(graph.edges)


def test_raw_and_counted_newsgroups_are_the_same_posts() -> None:
    raw, counts = datasets.fetch_20newsgroups("raw"), datasets.fetch_20newsgroups("counts")
    assert len(raw.data) == 18846
    for key in ("target", "is_train", "target_names"):
        np.testing.assert_array_equal(raw[key], counts[key])
    assert raw.is_train.sum() == 11314
    counted, words = _newsgroups.count_words(raw.data, np.float64)
    np.testing.assert_array_equal(words, counts.feature_names)
    assert abs(counted - counts.data).nnz == 0


def test_movielens_has_all_ratings() -> None:
    movielens = datasets.fetch_movielens()
    assert movielens.data.nnz == len(movielens.rating) == len(movielens.timestamp) == 100_000
    assert set(movielens.data.data) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert movielens.genres.shape == (len(movielens.titles), len(movielens.genre_names))


@pytest.mark.parametrize(("size", "n_tables"), [("small", 4), ("large", 7)])
def test_boolean_records_are_zeros_ones_and_gaps(size: str, n_tables: int) -> None:
    records = datasets.fetch_boolean_records(size)
    assert len(records.names) == n_tables
    for table in records.data.values():
        assert set(np.unique(table[~np.isnan(table)])) == {0.0, 1.0}


@pytest.mark.parametrize("name", ["fevotte_piano", "mary_piano", "salamander"])
def test_audio_is_a_signal(name: str) -> None:
    audio = datasets.fetch_audio(name)
    assert audio.data.ndim == 1
    assert 0 < np.abs(audio.data).max() <= 1
    if name == "salamander":
        assert list(audio.stems) == audio.notes
        np.testing.assert_allclose(sum(audio.stems.values()), audio.data, atol=1e-4)
        assert {note for note, _, _ in audio.events} == set(audio.notes)
