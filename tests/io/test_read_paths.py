"""Paths and extensions: what is said before a file is even opened."""

import builtins
import os
import subprocess
import sys

import pytest

from partwise.io import DataError, read


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_such_file_offers_near_names(folder):
    (folder / "counts.csv").write_text("1\n")
    with pytest.raises(DataError, match=r"^count\.csv: no such file\. Did you mean counts\.csv\?"):
        read("count.csv")
    with pytest.raises(DataError, match=r"Did you mean counts\.csv\?"):
        read("counts.parquet")
    with pytest.raises(DataError, match=r"zebra\.npy: no such file\. Check the path"):
        read("zebra.npy")
    with pytest.raises(DataError, match=r"no such file; the folder nowhere does not exist"):
        read("nowhere/a.csv")


def test_a_folder_is_no_file(folder):
    (folder / "data.csv").mkdir()
    with pytest.raises(DataError, match=r"data\.csv is a folder"):
        read("data.csv")


def test_unknown_extensions_list_the_known(folder):
    (folder / "a.ods").write_text("")
    (folder / "a").write_text("")
    with pytest.raises(DataError, match=r"a\.ods has the extension \.ods.*\.csv, .*\.h5ad"):
        read("a.ods")
    with pytest.raises(DataError, match=r"a has no extension"):
        read("a")


def test_options_that_do_not_apply(folder):
    (folder / "a.csv").write_text("1,2\n")
    (folder / "a.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"key='X'\) only applies to \.npz, \.h5ad and \.xlsx"):
        read("a.csv", key="X")
    with pytest.raises(DataError, match="header only applies to tables of text"):
        read("a.npy", header=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_forbidden_file(folder):
    (folder / "a.csv").write_text("1,2\n")
    (folder / "a.csv").chmod(0)
    with pytest.raises(DataError, match=r"a\.csv cannot be read: Permission denied"):
        read("a.csv")


@pytest.mark.parametrize(
    ("suffix", "package"),
    [(".h5ad", "anndata"), (".parquet", "pyarrow"), (".xlsx", "openpyxl"), (".sav", "pyreadstat")],
)
def test_a_missing_extra_is_named(folder, monkeypatch, suffix, package):
    (folder / f"a{suffix}").write_bytes(b"")
    ordinary = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return ordinary(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(DataError) as caught:
        read(f"a{suffix}")
    extra = "surveys" if suffix in (".xlsx", ".sav") else "tables"
    assert str(caught.value) == f'Reading {suffix} needs {package}: pip install "partwise[{extra}]"'


def test_importing_is_cheap():
    heavy = "('scipy', 'pandas', 'pyarrow', 'anndata', 'sklearn', 'numba')"
    code = f"import sys, partwise.io, partwise.io.reading; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
    code = "import sys, partwise.io.readers; print('numpy' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False", "the command line lists the formats before it loads numpy"
