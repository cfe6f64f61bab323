"""Writing: what lands in the file, and that a failure leaves the old file alone."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read, write_csv, write_json
from partwise.io.atomic import atomic_file
from partwise.io.write import write_bytes_atomic


def test_csv_text(tmp_path):
    path = tmp_path / "a.csv"
    write_csv(path, np.array([[0.1, np.nan], [1e300, -2]]), ["r,1", 'r"2'], ["a", "b\nc"], corner="gene")
    assert path.read_bytes() == b'gene,a,"b\nc"\n"r,1",0.1,\n"r""2",1e+300,-2.0\n'
    write_csv(path, np.array([[1, 2]]))
    assert path.read_text() == "1,2\n"
    write_csv(path, np.array([[True, False]]), column_names=["a", "b"])
    assert path.read_text() == "a,b\n1,0\n"
    write_csv(path, np.array([[0.1, 1 / 3]], dtype=np.float32))
    assert path.read_text() == "0.1,0.33333334\n"
    write_csv(path, np.array([["a", "b,c"]]))
    assert path.read_text() == 'a,"b,c"\n'


def test_csv_of_tabs_gz_sparse_and_lists(tmp_path):
    write_csv(tmp_path / "a.tsv", [[1.0, 2.0]], ["a\tb"], ["x", "y"])
    assert (tmp_path / "a.tsv").read_text() == '\tx\ty\n"a\tb"\t1.0\t2.0\n'
    write_csv(tmp_path / "a.csv.gz", sp.csr_matrix(np.eye(3)))
    np.testing.assert_array_equal(read(tmp_path / "a.csv.gz").data, np.eye(3))


def test_csv_in_several_blocks(tmp_path):
    values = np.random.default_rng(0).random((3000, 200))
    values[5, 7] = values[2999, 0] = np.nan
    names = [f"row {i}" for i in range(3000)]
    write_csv(tmp_path / "a.csv", values, names)
    found = read(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.data, values)
    assert found.row_names == names


@pytest.mark.parametrize(
    ("array", "rows", "columns", "sentence"),
    [
        (np.ones(3), None, None, r"a table has 2 dimensions, but the array has shape \(3,\)"),
        (np.ones((2, 2)), ["a"], None, "1 row names were given for 2 rows"),
        (np.ones((2, 2)), None, ["a"], "1 column names were given for 2 columns"),
        (np.ones((2, 2), complex), None, None, "type complex128 cannot be written"),
    ],
)
def test_csv_that_cannot_be(tmp_path, array, rows, columns, sentence):
    with pytest.raises(DataError, match=sentence):
        write_csv(tmp_path / "a.csv", array, rows, columns)
    assert os.listdir(tmp_path) == []


def test_json(tmp_path):
    path = tmp_path / "a.json"
    write_json(
        path,
        {
            "f": np.float32(0.5),
            "nan": [np.nan, np.inf, -np.inf, np.float64("nan")],
            "array": np.array([[1.0, np.nan]]),
            "i": np.int64(3),
            "b": np.bool_(True),
            "t": (1, None),
            "é": Path("x"),
            3: "int key",
            np.int64(4): "numpy key",
        },
    )
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "é" in text
    assert json.loads(text) == {
        "f": 0.5,
        "nan": [None] * 4,
        "array": [[1.0, None]],
        "i": 3,
        "b": True,
        "t": [1, None],
        "é": "x",
        "3": "int key",
        "4": "numpy key",
    }


def test_json_that_cannot_be(tmp_path):
    with pytest.raises(DataError, match=r"the value\['a'\]\[1\] is a set, which JSON cannot hold"):
        write_json(tmp_path / "a.json", {"a": [1, {2}]})
    assert os.listdir(tmp_path) == []


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    write_bytes_atomic(path, b"old")

    def interrupted():
        with atomic_file(path) as stream:
            stream.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.bin"]
    write_bytes_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_failing_replace_leaves_nothing(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(DataError, match=r"a\.bin cannot be written: disk full"):
        write_bytes_atomic(tmp_path / "a.bin", b"new")
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match=r"cannot be written: the folder .* does not exist\. Create it first"):
        write_bytes_atomic(tmp_path / "nowhere" / "a", b"")
    with pytest.raises(DataError, match="cannot be written: it is a folder"):
        write_bytes_atomic(tmp_path, b"")


@pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes as POSIX has them")
def test_modes_links_and_devices(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    write_bytes_atomic(path, b"1")
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    path.chmod(0o640)
    link.symlink_to(path)
    write_bytes_atomic(link, b"2")
    assert link.is_symlink()
    assert path.read_bytes() == b"2"
    assert path.stat().st_mode & 0o777 == 0o640
    write_bytes_atomic(os.devnull, b"gone")
    assert not Path(os.devnull).is_file()
