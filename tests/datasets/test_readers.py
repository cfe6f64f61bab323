"""The readers, each on a small file of the layout it reads."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import wavfile

from partwise import datasets
from partwise.datasets import _newsgroups
from partwise.datasets._npz import csr_from, read_arrays
from partwise.datasets._registry import REGISTRY
from partwise.datasets._source import Located

pytestmark = pytest.mark.filterwarnings("ignore:.*differs from the file this version:UserWarning")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    return tmp_path


def place(folder: Path, name: str, **arrays: Any) -> None:
    target = folder / REGISTRY[name].path
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez(target, **arrays)


def csr_fields(counts: sp.csr_array, *, prefix: str = "", turned: bool = False) -> dict[str, Any]:
    shape = counts.shape[::-1] if turned else counts.shape
    fields = {
        "data": counts.data,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "shape": np.array(shape),
    }
    return {prefix + key: field for key, field in fields.items()}


COUNTS = sp.csr_array(np.array([[1, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 5]], dtype=np.uint8))


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "bad.npz", X=np.array([{"run": "me"}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_arrays(tmp_path / "bad.npz")


def test_a_file_with_other_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", A=np.zeros(2))
    with pytest.raises(ValueError, match="holds the arrays A, but not X, y"):
        read_arrays(tmp_path / "other.npz", "X", "y")


@pytest.mark.parametrize("turned", [False, True])
def test_csr_has_one_row_per_sample_whatever_the_stored_shape(turned: bool) -> None:
    read = csr_from(csr_fields(COUNTS, turned=turned), np.float32)
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read.toarray(), COUNTS.toarray())


def test_mnist_joins_training_and_test(folder: Path) -> None:
    rng = np.random.default_rng(0)
    train, test = (rng.integers(0, 256, (n, 28, 28), dtype=np.uint8) for n in (3, 2))
    place(folder, "mnist", x_train=train, y_train=np.uint8([1, 2, 3]), x_test=test, y_test=np.uint8([4, 5]))
    mnist = datasets.fetch_mnist()
    assert mnist.data.shape == (5, 784)
    assert mnist.data.dtype == np.float32
    np.testing.assert_array_equal(mnist.data[4].reshape(28, 28), test[1])
    assert mnist.target.tolist() == [1, 2, 3, 4, 5]
    assert mnist.is_train.tolist() == [True] * 3 + [False] * 2


def test_cbcl_has_two_versions(folder: Path) -> None:
    place(folder, "cbcl", X=np.zeros((2, 19, 19), np.uint8), X_leeseung=np.ones((2, 19, 19), np.uint8))
    assert datasets.fetch_cbcl().data.sum() == 0
    assert datasets.fetch_cbcl(version="lee-seung", dtype=np.uint8).data.dtype == np.uint8
    with pytest.raises(ValueError, match="version must be one of 'original', 'lee-seung'"):
        datasets.fetch_cbcl(version="sharp")


def test_faces_stand_upright(folder: Path) -> None:
    rng = np.random.default_rng(0)
    faces = rng.integers(0, 256, (2, 32, 32), dtype=np.uint8)
    place(folder, "pie", X=faces.transpose(0, 2, 1).reshape(2, 1024), y=np.int16([1, 2]))
    pie = datasets.fetch_pie()
    np.testing.assert_array_equal(pie.images, faces)
    np.testing.assert_array_equal(pie.data.reshape(2, 32, 32), faces)
    assert pie.target.tolist() == [0, 1]


def test_swimmer_parts_explain_every_image(folder: Path) -> None:
    torso, arm, leg = (np.zeros((20, 11), np.uint8) for _ in range(3))
    torso[8:12, 5], arm[8, 6:9], leg[12, 6:9] = 1, 1, 1
    images = np.stack([torso + arm, torso + leg, torso + arm + leg])
    place(folder, "swimmer", X=images.transpose(0, 2, 1).reshape(3, 220).T)
    swimmer = datasets.fetch_swimmer()
    np.testing.assert_array_equal(swimmer.images, images)
    np.testing.assert_array_equal(swimmer.components[0].reshape(20, 11), torso)
    assert len(swimmer.components) == 3
    on = (swimmer.data @ swimmer.components.T) / swimmer.components.sum(axis=1)
    np.testing.assert_array_equal(on @ swimmer.components, swimmer.data)


def test_gene_expression_is_turned_to_samples_by_genes(folder: Path) -> None:
    place(
        folder,
        "all_aml",
        X=np.arange(6, dtype=np.float32).reshape(3, 2),
        y=np.array([0, 2]),
        samples=np.array(["a", "b"]),
        genes=np.array(["g1", "g2", "g3"]),
        classes=np.array(["ALL-B", "ALL-T", "AML"]),
    )
    genes = datasets.fetch_all_aml()
    assert genes.data.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert (len(genes.sample_names), len(genes.feature_names)) == genes.data.shape


def test_graphs_are_adjacency_matrices(folder: Path) -> None:
    edges = np.array([[0, 1], [1, 0], [1, 2], [2, 1]], dtype=np.int32)
    common = {"edges": edges, "n": np.int64(3), "y": np.array([0, 1, 1])}
    place(folder, "football", names=np.array(["a", "b", "c"]), **common)
    place(folder, "cora", **common, **csr_fields(COUNTS, prefix="X_", turned=True))
    football, cora = datasets.fetch_football(), datasets.fetch_cora()
    assert football.data.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert (cora.adjacency != football.adjacency).nnz == 0
    np.testing.assert_array_equal(cora.data.toarray(), COUNTS.toarray())


def test_missing_records_become_nan(folder: Path) -> None:
    place(folder, "boolean_records_large", tumor=np.uint8([[0, 1], [255, 1]]))
    records = datasets.fetch_boolean_records("large", dtype=np.float32)
    np.testing.assert_array_equal(records.data["tumor"], np.float32([[0, 1], [np.nan, 1]]))
    assert records.names == ["tumor"]
    with pytest.raises(ValueError, match="size must be one of 'small', 'large'"):
        datasets.fetch_boolean_records("huge")


def _movielens_zip(path: Path) -> None:
    flags = ["0"] * 19
    films = ["1|Toy Story (1995)|x||url|" + "|".join(["0"] * 3 + ["1"] + ["0"] * 15)]
    films.append("2|Misérables, Les (1995)|x||url|" + "|".join(flags))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ml-100k/u.data", "1\t2\t5\t881250949\n3\t1\t4\t881250950\n")
        archive.writestr("ml-100k/u.item", "\n".join(films).encode("latin-1"))


def test_movielens_reads_the_same_from_both_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    genres = np.zeros((2, 19), dtype=bool)
    genres[0, 3] = True
    place(
        folder,
        "movielens",
        user=np.int16([0, 2]),
        item=np.int16([1, 0]),
        rating=np.uint8([5, 4]),
        timestamps=np.int32([881250949, 881250950]),
        titles=np.array(["Toy Story (1995)", "Misérables, Les (1995)"]),
        genres=genres,
    )
    stored = datasets.fetch_movielens()
    assert stored.data.toarray().tolist() == [[0, 5], [0, 0], [4, 0]]
    assert stored.genre_names[stored.genres[0]].tolist() == ["Animation"]

    _movielens_zip(tmp_path / "ml-100k.zip")
    original = Located(tmp_path / "ml-100k.zip", upstream=True)
    monkeypatch.setattr("partwise.datasets._ratings.locate", lambda name: original)
    downloaded = datasets.fetch_movielens()
    assert abs(stored.data - downloaded.data).nnz == 0
    for key in ("user", "item", "rating", "timestamp", "titles", "genres"):
        np.testing.assert_array_equal(stored[key], downloaded[key])


POSTS = [
    _newsgroups.Post(True, 0, 9, "From: a\n\nGod and atheism, atheism!\n"),
    _newsgroups.Post(
        True, 0, 10, "From: b\n\nIn article <1> b wrote:\n> quoted\nBelief atheism\n--\nsignature"
    ),
    _newsgroups.Post(True, 1, 1, "From: c\n\nGraphics cards\n"),
    _newsgroups.Post(False, 0, 3, "From: d\n\nÉtude of belief\n"),
]


def _place_posts(folder: Path) -> None:
    target = folder / REGISTRY["20newsgroups_raw"].path
    target.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(target, "wt", encoding="utf-8") as lines:
        for post in POSTS:
            split = "train" if post.is_train else "test"
            record = {"split": split, "label": post.label, "id": str(post.id), "text": post.text}
            lines.write(json.dumps(record) + "\n")


def _tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for post in reversed(POSTS):
            split = "train" if post.is_train else "test"
            member = tarfile.TarInfo(f"20news-bydate-{split}/{_newsgroups.GROUPS[post.label]}/{post.id}")
            content = post.text.encode("latin-1")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_newsgroups_read_the_same_from_both_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _place_posts(folder)
    stored = datasets.fetch_20newsgroups("raw")
    assert stored.data == [post.text for post in POSTS]
    assert stored.ids.tolist() == [9, 10, 1, 3]
    assert stored.is_train.tolist() == [True, True, True, False]

    _tar(tmp_path / "posts.tar.gz")
    original = Located(tmp_path / "posts.tar.gz", upstream=True)
    monkeypatch.setattr("partwise.datasets._text.locate", lambda name: original)
    downloaded = datasets.fetch_20newsgroups("raw")
    assert downloaded.data == stored.data
    for key in ("target", "is_train", "ids", "target_names"):
        np.testing.assert_array_equal(stored[key], downloaded[key])

    counts = datasets.fetch_20newsgroups("counts", dtype=np.float32)
    assert counts.feature_names.tolist() == ["atheism", "belief", "cards", "god", "graphics", "tude"]
    assert counts.data.toarray().tolist() == [
        [2, 0, 0, 1, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 1, 0],
        [0, 1, 0, 0, 0, 1],
    ]


def test_the_words_in_most_posts_are_kept_first_in_the_alphabet_on_ties() -> None:
    counts, words = _newsgroups.count_words([post.text for post in POSTS], np.float64, n_words=3)
    assert words.tolist() == ["atheism", "belief", "cards"]
    assert counts.shape == (4, 3)


@pytest.mark.parametrize(
    "text",
    [
        "a: b\n\nbody\n\nmore\n--\nme",
        "a: b\n\n\n\nbody",
        "a: b\n\n-- \nonly a signature",
        "no header at all",
        "a: b\n\nx writes:\n> q\n| q\nfine\n\n",
        "a: b\n\nbody\n---\n\n",
    ],
)
def test_posts_are_stripped_as_scikit_learn_strips_them(text: str) -> None:
    module = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    expected = module.strip_newsgroup_quoting(
        module.strip_newsgroup_footer(module.strip_newsgroup_header(text))
    )
    assert _newsgroups.strip_post(text) == expected


def test_documents_know_their_words_and_split(folder: Path) -> None:
    place(
        folder,
        "bbc_news",
        **csr_fields(COUNTS),
        y=np.array([0, 1, 0]),
        label_names=np.array(["business", "tech"]),
        vocab=np.array(["a", "b", "c", "d"]),
        split=np.array(["train", "val", "test"]),
    )
    place(folder, "reuters", **csr_fields(COUNTS), y=np.int16([0, 1, 0]), train_idx=np.array([0, 2]))
    bbc, reuters = datasets.fetch_bbc_news(), datasets.fetch_reuters()
    np.testing.assert_array_equal(bbc.data.toarray(), COUNTS.toarray())
    assert len(bbc.feature_names) == bbc.data.shape[1]
    assert reuters.is_train.tolist() == [True, False, True]


def test_audio_is_scaled_to_one(folder: Path) -> None:
    target = folder / REGISTRY["audio_mary_piano"].path
    target.parent.mkdir(parents=True)
    wavfile.write(target, 16000, np.int16([-32768, 0, 16384]))
    mary = datasets.fetch_audio("mary_piano")
    assert mary.data.tolist() == [-1.0, 0.0, 0.5]
    assert mary.sampling_rate == 16000
    with pytest.raises(ValueError, match="name must be one of 'fevotte_piano', 'mary_piano', 'salamander'"):
        datasets.fetch_audio("violin")
