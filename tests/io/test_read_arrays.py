"""NumPy's own files: dense, sparse, and the many that are neither."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_keeps_its_type(folder, dtype, order):
    array = np.array([[0, 1, 2], [3, 4, 5]], dtype=dtype, order=order)
    np.save("a.npy", array)
    found = read("a.npy")
    np.testing.assert_array_equal(found.data, array)
    assert found.data.dtype == array.dtype
    assert (found.row_names, found.column_names, found.source) == (None, None, "a.npy")


@pytest.mark.parametrize(("given", "got"), [(">f8", "<f8"), ("f2", "f4"), (">i4", "<i4"), ("g", "f8")])
def test_odd_number_types_become_native(folder, given, got):
    np.save("a.npy", np.ones((2, 2), dtype=given))
    assert read("a.npy").data.dtype == np.dtype(got)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.ones((2, 2), complex), "holds complex numbers .*np.abs"),
        (np.array([["a", "b"]]), r"holds text \(<U1\), e\.g\. a"),
        (np.array([[b"a"]]), "holds text"),
        (np.array([[1, None]], dtype=object), "holds Python objects, which partwise does not unpickle"),
        (np.ones(5), r"has shape \(5,\), but partwise needs rows and columns.*a\[None, :\]"),
        (np.ones((4, 3, 2)), r"has shape \(4, 3, 2\).*a\.reshape\(len\(a\), -1\)"),
        (np.float64(3), r"has shape \(\)"),
        (np.ones((0, 3)), "is empty: 0 rows and 3 columns"),
        (np.ones((3, 0)), "is empty: 3 rows and 0 columns"),
        (np.zeros((2, 2), dtype=[("x", float), ("y", int)]), "holds records with the fields x, y"),
        (np.zeros((2, 2), dtype="M8[s]"), r"holds values of type datetime64\[s\], which are not numbers"),
    ],
)
def test_npy_that_is_no_matrix(folder, array, sentence):
    np.save("a.npy", array)
    with pytest.raises(DataError, match=f"^a.npy {sentence}"):
        read("a.npy")


def npy(array, **kwargs):
    stream = io.BytesIO()
    np.save(stream, array, **kwargs)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a .npy array"),
        (b"a,b\n1,2\n", "is not a .npy array"),
        (pickle.dumps([1, 2]), "is not a .npy array"),
        (npy(np.ones((9, 9)))[:40], "header is damaged"),
        (npy(np.ones((9, 9)))[:200], r"is cut short: it declares an array of shape \(9, 9\), 648 bytes"),
        (npy(np.ones((9, 9))).replace(b"(9, 9)", b"(9,-9)"), "cut short|damaged"),
        (npy(np.ones((9, 9))).replace(b"(9, 9), }     ", b"(9, 9999999), }"[:14]), "cut short|damaged"),
    ],
)
def test_npy_that_is_not_one(folder, content, sentence):
    (folder / "a.npy").write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        read("a.npy")


class Bomb:
    exploded = False

    def __reduce__(self):
        return (setattr, (Bomb, "exploded", True))


def test_a_pickle_inside_npy_never_runs(folder):
    np.save("a.npy", np.array([[Bomb()]], dtype=object), allow_pickle=True)
    np.savez("a.npz", X=np.array([[Bomb()]], dtype=object))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(DataError, match="holds Python objects, which partwise does not unpickle"):
            read(name)
    assert not Bomb.exploded


def test_npz_finds_its_array(folder):
    one, two = np.eye(2), np.ones((3, 2))
    np.savez("one.npz", anything=one)
    np.savez_compressed("x.npz", A=two, X=one)
    np.savez("data.npz", A=two, data=one)
    np.savez("only2d.npz", labels=np.arange(3), M=one)
    for name in ("one.npz", "x.npz", "data.npz", "only2d.npz"):
        np.testing.assert_array_equal(read(name).data, one)
    np.testing.assert_array_equal(read("x.npz", key="A").data, two)


def test_npz_ambiguity_lists_the_keys(folder):
    np.savez("a.npz", A=np.eye(2), B=np.eye(3))
    with pytest.raises(
        DataError, match=r"a\.npz holds 2 arrays, 'A', 'B': say which one with --key A \(in Python: key='A'"
    ):
        read("a.npz")
    with pytest.raises(DataError, match=r"a\.npz has no array 'C'\. It holds 'A', 'B'"):
        read("a.npz", key="C")
    np.savez("v.npz", A=np.eye(2), B=np.ones(3))
    with pytest.raises(DataError, match=r"v\.npz: array 'B' has shape \(3,\)"):
        read("v.npz", key="B")


def test_npz_tells_what_else_it_says_of_each_row(folder):
    np.savez(
        "a.npz",
        X=np.eye(3),
        y=[[1], [0], [1]],
        name=["a", "b", "c"],
        code=[b"x", b"", b"z"],
        other=np.ones(4),
    )
    found = read("a.npz")
    assert found.text == {"name": ["a", "b", "c"], "code": ["x", "", "z"]}
    assert list(found.extra) == ["y"]
    assert found.extra["y"].tolist() == [1, 0, 1]
    assert found.notes == ()
    np.savez("b.npz", A=np.ones((3, 2)), y=np.ones((3, 1)))
    assert read("b.npz").shape == (3, 2)
    np.savez("c.npz", target=[1, 2], **plain_parts())
    assert read("c.npz").extra["target"].tolist() == [1, 2]
    assert list(read("c.npz").extra) == ["target"]


def test_a_stack_of_images_is_taken_when_asked_for(folder):
    images = np.arange(24).reshape(4, 3, 2)
    np.save("a.npy", images)
    np.savez("a.npz", pictures=images, y=np.arange(4))
    for name in ("a.npy", "a.npz"):
        found = read(name, stack=True)
        np.testing.assert_array_equal(found.data, images.reshape(4, 6))
        assert found.meta == {"shape": [3, 2]}
    assert read("a.npz", stack=True).extra["y"].tolist() == [0, 1, 2, 3]
    np.save("a.npy", np.eye(2))
    assert read("a.npy", stack=True).meta == {}


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_save_npz(folder, kind):
    dense = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]])
    for number, matrix in enumerate((sp.csr_matrix(dense), sp.csr_array(dense))):
        sp.save_npz(f"{number}.npz", matrix.asformat(kind))
        found = read(f"{number}.npz").data
        assert isinstance(found, sp.csr_matrix)
        np.testing.assert_array_equal(found.toarray(), dense)


def plain_parts(**changes):
    matrix = sp.csr_matrix(np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]]))
    parts = {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "shape": np.array(matrix.shape),
    }
    return {key: value for key, value in (parts | changes).items() if value is not None}


def test_plain_csr_parts_with_vocabulary(folder):
    np.savez("a.npz", **plain_parts())
    assert read("a.npz").column_names is None
    words = ["ant", "bee", "çat"]
    for vocab in (np.array(words), np.array([word.encode() for word in words])):
        np.savez("a.npz", vocab=vocab, **plain_parts())
        found = read("a.npz")
        assert found.column_names == words
        assert found.shape == (2, 3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"indices": np.array([1, 0, 99])}, "indices holds 99, outside of 0 … 2"),
        ({"indices": np.array([1, 0, -2])}, "indices holds -2"),
        ({"indptr": np.array([0, 1])}, "parts do not fit together"),
        ({"indptr": np.array([0, 9, 3])}, "indptr falls at place 2"),
        ({"shape": np.array([2, 3, 4])}, "'shape' must be two integers"),
        ({"shape": np.array([2.5, 3])}, "'shape' must be two integers"),
        ({"data": np.ones(3, complex)}, "array 'data' holds complex"),
        ({"data": np.array(["a", "b", "c"])}, "array 'data' holds text"),
        ({"vocab": np.array(["ant"])}, "'vocab' names 1 columns, but the matrix has 3"),
        (
            {"vocab": np.array(["a", "b", None], dtype=object)},
            "array 'vocab' holds Python objects.*dtype=str",
        ),
        ({"format": np.array(b"lil")}, "sparse matrix of format 'lil'"),
        ({"format": np.array(b"csr"), "indptr": None}, "lacks the array 'indptr'"),
    ],
)
def test_sparse_parts_that_do_not_fit(folder, changes, sentence):
    np.savez("a.npz", **plain_parts(**changes))
    with pytest.raises(DataError, match=sentence):
        read("a.npz")


def test_npz_that_is_not_one(folder):
    np.savez("good.npz", X=np.random.default_rng(0).random((50, 50)))
    good = (folder / "good.npz").read_bytes()
    for content in (b"", b"PK", b"a,b\n1,2\n", good[:100], good[: len(good) // 2], good[:-1]):
        (folder / "a.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"a\.npz is not a readable \.npz file.*cut short"):
            read("a.npz")
    damaged = bytearray(good)
    damaged[len(good) // 2] ^= 0xFF
    (folder / "a.npz").write_bytes(damaged)
    with pytest.raises(DataError, match="not a readable"):
        read("a.npz")


def test_an_entry_without_a_name(folder):
    np.savez("a.npz", X=np.eye(2))
    (folder / "a.npz").write_bytes((folder / "a.npz").read_bytes().replace(b"X.npy", b"\0.npy"))
    with pytest.raises(DataError, match="not a readable"):
        read("a.npz")


def test_zip_without_arrays(folder):
    with zipfile.ZipFile("a.npz", "w"):
        pass
    with pytest.raises(DataError, match="holds no arrays"):
        read("a.npz")
    with zipfile.ZipFile("a.npz", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(DataError, match=r"array 'hello\.txt' is not a \.npy array"):
        read("a.npz")
