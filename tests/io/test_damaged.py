"""Damaged and forged files, one by one: each gives a sentence that says what is wrong. `tests/fuzz` tries many."""

import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read, read_labels


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def h5ad(name, value, place=0):
    """A file whose sparse X has `value` at one place of its indices, or of its row pointers, or as its shape."""
    anndata = pytest.importorskip("anndata")
    import h5py

    anndata.AnnData(sp.csr_matrix(np.eye(6))).write_h5ad("a.h5ad")
    with h5py.File("a.h5ad", "r+") as file:
        if name == "shape":
            file["X"].attrs["shape"] = value
        elif value is None:
            del file["X"][name]
            file["X"][name] = h5py.ExternalLink("b.h5ad", "X")
        else:
            file["X"][name][place] = value


@pytest.mark.parametrize(
    ("forged", "words"),
    [
        (("indices", 10**9), "indices holds 1000000000, outside of 0 … 5"),
        (("indices", -5), "indices holds -5"),
        (("indptr", 10**9, -1), "indptr ends with 1000000000"),
        (("indptr", 10**9, 2), "indptr falls at place 3"),
        (("indptr", -3), "indptr begins with -3"),
        (("shape", [6, 2]), "obs has 6 rows and var has 6"),
        (("shape", [50, 6]), "not a readable .h5ad file"),
        (("shape", [-1, 6]), r"the shape \[-1, 6\]"),
        (("indices", None), "leads out of the file"),
    ],
)
def test_forged_h5ad(folder, forged, words):
    h5ad(*forged)
    with pytest.raises(DataError, match=f"a.h5ad .*{words}"):
        read("a.h5ad")


def test_a_bsr_block_of_size_zero(folder):
    X = sp.bsr_array(np.eye(4), blocksize=(2, 2))
    parts = {"format": np.array(b"bsr"), "shape": np.array(X.shape), "indices": X.indices, "indptr": X.indptr}
    np.savez("a.npz", data=np.zeros((len(X.indices), 0, 2)), **parts)
    with pytest.raises(DataError, match="parts do not fit together"):
        read("a.npz")


@pytest.mark.parametrize("place", [60, 100, 150])
def test_a_damaged_array_beside_the_matrix(folder, place):
    np.savez_compressed("a.npz", X=np.eye(40), y=np.random.default_rng(0).random(40))
    with zipfile.ZipFile("a.npz") as archive:
        start = archive.getinfo("y.npy").header_offset
    with open("a.npz", "r+b") as file:
        file.seek(start + place)
        file.write(b"\xff" * 20)
    with pytest.raises(DataError, match=r"a\.npz is not a readable \.npz file|array 'y' is"):
        read("a.npz")


def test_numbers_beyond_their_type_are_read_without_a_word_from_numpy(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.save("a.npy", np.array([1, 2, 60000], dtype=np.float16))
        assert read_labels("a.npy").tolist() == [1, 2, 60000]
        if np.finfo(np.longdouble).max > np.finfo(float).max:
            np.save("b.npy", np.array([[np.finfo(np.longdouble).max, 1]]))
            assert np.isinf(read("b.npy").data[0, 0])


def test_indices_that_are_no_whole_numbers(folder):
    X = sp.csr_array(np.eye(4))
    parts = {"format": np.array(b"csr"), "shape": np.array(X.shape), "data": X.data, "indptr": X.indptr}
    np.savez("a.npz", indices=np.array([0.0, np.nan, 2.0, 3.0]), **parts)
    with pytest.raises(DataError, match="array 'indices' must hold whole numbers; it holds float64"):
        read("a.npz")
