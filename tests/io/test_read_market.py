"""Matrix Market files."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from partwise.io import DataError, read

DENSE = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 3.0]])


def test_coordinate_files_become_csr(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_matrix(DENSE))
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    for name in ("a.mtx", "a.mtx.gz"):
        found = read(tmp_path / name)
        assert isinstance(found.data, sp.csr_matrix)
        np.testing.assert_array_equal(found.data.toarray(), DENSE)


def test_array_files_stay_dense(tmp_path):
    scipy.io.mmwrite(tmp_path / "a.mtx", DENSE)
    np.testing.assert_array_equal(read(tmp_path / "a.mtx").data, DENSE)


def test_pattern_and_integers(tmp_path):
    head = "%%MatrixMarket matrix coordinate {} general\n2 2 1\n"
    (tmp_path / "a.mtx").write_text(head.format("pattern") + "2 1\n")
    assert read(tmp_path / "a.mtx").data.toarray().tolist() == [[0, 0], [1, 0]]
    (tmp_path / "a.mtx").write_text(head.format("integer") + "2 1 7\n")
    assert read(tmp_path / "a.mtx").data.dtype.kind == "i"


COORDINATE = b"%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a Matrix Market file: its first line"),
        (b"1 2 3\n", "is not a Matrix Market file: its first line"),
        (b"%%MatrixMarket matrix zebra\n", "is not a readable Matrix Market file"),
        (COORDINATE + b"3 3 2\n1 1 1\n9 9 2\n", "is not a readable Matrix Market file"),
        (COORDINATE + b"3 3 2\n1 1 1\n", "is not a readable Matrix Market file"),
        (COORDINATE + b"3 3 2\n1 1 x\n2 2 1\n", "is not a readable Matrix Market file"),
        (COORDINATE + b"0 0 0\n", "is empty"),
        (b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n", "holds complex numbers"),
    ],
)
def test_bad_files_say_why(tmp_path, monkeypatch, content, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.mtx").write_bytes(content)
    with pytest.raises(DataError, match=rf"^a\.mtx {sentence}"):
        read("a.mtx")


def test_broken_gzip(tmp_path):
    (tmp_path / "a.mtx.gz").write_bytes(b"%%MatrixMarket")
    with pytest.raises(DataError, match="is not a readable Matrix Market file: Not a gzipped file"):
        read(tmp_path / "a.mtx.gz")
