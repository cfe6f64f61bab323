"""What reading one file may take in all: PARTWISE_MAX_BYTES, in every format, counted while it is read."""

import gzip
import io
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read, read_labels, take_labels
from partwise.io import budget as budgets

LIMIT = 4_000_000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARTWISE_MAX_BYTES", str(LIMIT))
    return tmp_path


def zipped(text, times):
    """A gzip file of a text many times over, made without holding it."""

    def write(path):
        with gzip.open(path, "wb", compresslevel=6) as stream:
            for _ in range(times):
                stream.write(text * 1000)

    return write


def npz(**arrays):
    return lambda path: np.savez_compressed(path, **arrays)


def long_header(path):
    """An array whose header claims to be 64 MB long."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        length = (64_000_000).to_bytes(4, "little")
        archive.writestr("X.npy", b"\x93NUMPY\x02\x00" + length + b" " * 64_000_000)


def market(*lines):
    return lambda path: Path(path).write_text("%%MatrixMarket matrix " + "\n".join(lines) + "\n")


def h5ad(change):
    def write(path):
        anndata = pytest.importorskip("anndata")
        import h5py

        anndata.AnnData(sp.csr_matrix(np.eye(3))).write_h5ad(path)
        with h5py.File(path, "r+") as file:
            change(file)

    return write


def fill_values(file):
    del file["X"]
    file.create_dataset("X", shape=(3, 10**9), chunks=(1, 1000), fillvalue=1.0, dtype="f8")


def absurd_shape(file):
    file["X"].attrs["shape"] = [10**9, 3]


def one_long_text(file):
    """Many row names that are all the same long text, kept once."""
    import h5py

    del file["obs/_index"]
    dataset = file["obs"].create_dataset(
        "_index", shape=(3000,), dtype=h5py.string_dtype(), fillvalue="x" * 60_000
    )
    dataset.attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})


def parquet(rows, **columns):
    def write(path):
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(
            pa.table({name: pa.array([value] * rows) for name, value in columns.items()}), path
        )

    return write


def far_cell(path):
    """A sheet with one cell in its last row and last column."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = book.active["XFD1048576"] = 1
    book.save(path)


def long_rows(path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyreadstat").write_sav(pd.DataFrame({"a": [1.0] * 100_000}), path, row_compress=True)


BOMBS = {
    "cells.csv.gz": zipped(b",".join([b"1"] * 1000) + b"\n", 1),
    "row.csv.gz": zipped(b"1,", 2000),
    "quoted.csv.gz": zipped(b'"a\n",', 2000),
    "cells.tsv": lambda path: Path(path).write_bytes((b"\t".join([b"1"] * 1000) + b"\n") * 600),
    "words.csv": lambda path: Path(path).write_bytes(b"1,word\n" * 30_000),
    "wide.npz": npz(X=np.zeros((1000, 1000))),
    "together.npz": npz(X=np.zeros((100_000, 2)), **{f"y{i}": np.zeros(100_000) for i in range(10)}),
    "small.npy": lambda path: np.save(path, np.zeros((1000, 600))),
    "rows.npz": npz(
        format=np.array(b"csc"),
        shape=np.array([10**9, 1]),
        data=np.ones(1),
        indices=np.array([0]),
        indptr=np.array([0, 1]),
    ),
    "rows_coo.npz": npz(
        format=np.array(b"coo"),
        shape=np.array([10**12, 3]),
        data=np.ones(1),
        row=np.array([0]),
        col=np.array([0]),
    ),
    "rows.mtx": market("coordinate real general", "1000000000 3 1", "1 1 1"),
    "columns.mtx": market("coordinate real general", "3 1000000000 1", "1 1 1"),
    "dense.mtx": market("array real general", "100000 100000", "1"),
    "blank.mtx.gz": zipped(b"%%MatrixMarket matrix coordinate real general\n", 1000),
    "rows.parquet": parquet(2_000_000, a=1.0),
    "words.parquet": parquet(200_000, a=1.0, b=2.0, name="x" * 1000),
    "far.xlsx": far_cell,
    "rows.sav": long_rows,
    "fill.h5ad": h5ad(fill_values),
    "shape.h5ad": h5ad(absurd_shape),
    "text.h5ad": h5ad(one_long_text),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_before_it_goes_off(folder, name):
    BOMBS[name](name)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=rf"{name} .* more than 4,000,000 bytes.*set PARTWISE_MAX_BYTES"):
            read(name)
        assert tracemalloc.get_traced_memory()[1] < 6 * LIMIT
    finally:
        tracemalloc.stop()


def test_so_is_a_header_as_long_as_a_bomb(folder):
    long_header("a.npz")
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="its header is damaged"):
            read("a.npz")
        assert tracemalloc.get_traced_memory()[1] < LIMIT
    finally:
        tracemalloc.stop()


def test_a_text_that_unpacks_to_many_times_its_size_is_refused_early(folder, monkeypatch):
    zipped(b"%%MatrixMarket matrix coordinate real general\n", 2000)("a.mtx.gz")
    monkeypatch.delenv("PARTWISE_MAX_BYTES")
    with pytest.raises(DataError, match=r"unpacks to more than .* bytes.*set PARTWISE_MAX_BYTES"):
        read("a.mtx.gz")
    zipped(b"\n", 1001)("a.csv.gz")
    with pytest.raises(DataError, match="more than 1,000,000 blank lines"):
        read("a.csv.gz")


def test_what_is_not_needed_is_not_read(folder):
    def much(file):
        file["uns"].create_dataset("noise", shape=(10**9,), chunks=(1000,), fillvalue=1.0, dtype="f8")
        file["obsm"].create_dataset("X_pca", shape=(3, 10**9), chunks=(1, 1000), dtype="f8")

    h5ad(much)("a.h5ad")
    assert read("a.h5ad").shape == (3, 3)


def test_the_limit_can_be_raised(folder, monkeypatch):
    BOMBS["small.npy"]("small.npy")
    monkeypatch.setenv("PARTWISE_MAX_BYTES", "8M")
    assert read("small.npy").shape == (1000, 600)
    monkeypatch.setenv("PARTWISE_MAX_BYTES", "plenty")
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES is 'plenty', which is no number of bytes"):
        read("small.npy")


def test_without_a_limit_it_is_half_of_the_memory_or_of_the_container(folder, monkeypatch):
    monkeypatch.delenv("PARTWISE_MAX_BYTES")
    assert 0 < budgets.max_bytes() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    (folder / "memory.max").write_text("600000000\n")
    (folder / "none").write_text("max\n")
    monkeypatch.setattr(
        budgets, "_cgroup_files", lambda: [folder / "memory.max", folder / "none", folder / "gone"]
    )
    assert budgets.max_bytes() == 300_000_000


def test_labels_are_counted_too(folder):
    zipped(b"yes\n", 100)("labels.txt.gz")
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES"):
        read_labels("labels.txt.gz")
    # As an array, every label takes as much as the longest.
    Path("labels.txt").write_text("yes\n" * 5000 + "x" * 5000 + "\n")
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES"):
        read_labels("labels.txt")
    Path("a.csv").write_text("value,label\n" + "1,yes\n" * 5000 + "1," + "x" * 5000 + "\n")
    with pytest.raises(DataError, match="PARTWISE_MAX_BYTES"):
        take_labels(read("a.csv"), "label")


def test_standard_input_is_counted(folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(open("/dev/zero", "rb")))  # noqa: SIM115
    with pytest.raises(DataError, match="stdin needs more than 4,000,000 bytes"):
        read("-")


@pytest.mark.parametrize("name", ["pipe.csv", "pipe.npy", "pipe.h5ad"])
def test_pipes_and_devices_are_refused_not_waited_for(folder, name):
    os.mkfifo(name)
    with pytest.raises(DataError, match="is a pipe or a device, not a file"):
        read(name)
    os.symlink("/dev/zero", f"endless-{name}")
    with pytest.raises(DataError, match="is a pipe or a device, not a file"):
        read(f"endless-{name}")
    with pytest.raises(DataError, match="is a pipe or a device, not a file"):
        read_labels(name)
