"""Matrix Market files."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from partwise.io import DataError, market, read

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
ARRAY = b"%%MatrixMarket matrix array real general\n"


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("form", [np.asarray, sp.coo_matrix])
def test_symmetric_files_are_completed(tmp_path, symmetry, form):
    sign = -1 if symmetry == "skew-symmetric" else 1
    half = np.tril(np.arange(1.0, 10.0).reshape(3, 3), k=-1)
    whole = half + sign * half.T
    scipy.io.mmwrite(tmp_path / "a.mtx", form(whole), symmetry=symmetry)
    found = read(tmp_path / "a.mtx").data
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, whole)


@pytest.mark.parametrize("end", [b"", b"\n", b" ", b"\t", b"\r\n", b"\n\n"])
def test_any_end_of_file(tmp_path, end):
    """mmread itself reads past the end of a file that ends in a blank."""
    (tmp_path / "a.mtx").write_bytes(COORDINATE + b"% c\n\n2 2 2\n1 1 1.5\n\n 2\t2  -2e0" + end)
    assert read(tmp_path / "a.mtx").data.toarray().tolist() == [[1.5, 0], [0, -2]]
    (tmp_path / "a.mtx").write_bytes(ARRAY + b"2 1\n1\n2" + end)
    assert read(tmp_path / "a.mtx").data.tolist() == [[1], [2]]


def test_lines_are_checked_in_several_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(market, "_CHUNK", 7)
    values = np.random.default_rng(0).random((20, 5))
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.coo_matrix(values))
    np.testing.assert_array_equal(read(tmp_path / "a.mtx").data.toarray(), values)
    text = (tmp_path / "a.mtx").read_text().splitlines()
    text[60] = "1 1 x"
    (tmp_path / "a.mtx").write_text("\n".join(text))
    with pytest.raises(DataError, match="line 61 should give row, column and value, but is '1 1 x'"):
        read(tmp_path / "a.mtx")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a Matrix Market file: its first line"),
        (b"1 2 3\n", "is not a Matrix Market file: its first line"),
        (b"%%MatrixMarket matrix zebra\n", "is not a readable Matrix Market file: its first line is"),
        (
            COORDINATE.replace(b"real", b"zebra"),
            "is not .*: its first line announces 'coordinate zebra general'",
        ),
        (COORDINATE, "is not .*: line 2 should give rows, columns and entries, but is ''"),
        (
            COORDINATE + b"% hm\n3 3\n",
            "is not .*: line 3 should give rows, columns and entries, but is '3 3'",
        ),
        (COORDINATE + b"3 3 2\n1 1 1\n9 9 2\n", "is not .*: Line 4: Row index out of bounds"),
        (COORDINATE + b"3 3 2\n1 1 1\n", "is not .*: it announces 2 entries but holds 1"),
        (COORDINATE + b"3 3 1\n1 1 1\n2 2 1\n", "is not .*: it announces 1 entries but holds 2"),
        (COORDINATE + b"3 3 2\n1 1 x\n2 2 1\n", "is not .*: line 3 should give row, column and value"),
        (COORDINATE + b"3 3 2\n1 1 1\n2 2 3E", "is not .*: line 4 .* but is '2 2 3E'"),
        (COORDINATE + b"3 3 1\n1 1\n", "is not .*: line 3 should give row, column and value, but is '1 1'"),
        (COORDINATE + b"0 0 0\n", "is empty: 0 rows and 0 columns"),
        (ARRAY + b"0 4\n", "is empty: 0 rows and 4 columns"),
        (ARRAY + b"2 2\n1\n2\n3\n", "is not .*: it announces 4 entries but holds 3"),
        (
            ARRAY.replace(b"general", b"symmetric") + b"2 3\n",
            "is not .*: it announces a symmetric matrix of 2 rows",
        ),
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
