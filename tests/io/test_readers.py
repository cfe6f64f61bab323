"""The registry of formats: a reader that another package registers is read like any other."""

import importlib.util
import json
from pathlib import Path

import pytest

from partwise.cli import main
from partwise.io import DataError, Reader, read, readers, register_reader

MODULE = """
import numpy as np
from partwise.io import Reader, Table, register_reader

def read_bits(path, source, key):
    if key == "missing":
        import a_package_that_is_not_there
    rows = [[int(bit) for bit in line] for line in path.read_text().split()]
    return Table(np.array(rows), None, None, source, meta={"key": key}, notes=(f"{source}: bits were read.",))

register_reader(Reader((".bits", ".bits.gz"), read_bits, ("key",), package="bitlib"))
"""


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Begin with the built-in entries, which name their functions, and leave the registry as it was."""
    monkeypatch.setattr(
        readers, "_readers", [held for held in readers._readers if isinstance(held.function, str)]
    )


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bits_plugin.py").write_text(MODULE)
    spec = importlib.util.spec_from_file_location("bits_plugin", tmp_path / "bits_plugin.py")
    module = importlib.util.module_from_spec(spec)

    def load():
        spec.loader.exec_module(module)
        return module

    (tmp_path / "a.bits").write_text("101\n011\n110\n111\n")
    return load


def test_a_new_format_is_read(plugin, capsys):
    with pytest.raises(DataError, match=r"extension \.bits, which partwise does not read"):
        read("a.bits")
    plugin()
    plugin()  # a module may be imported again
    assert read("a.bits", key="k").meta == {"key": "k"}
    assert readers.known_suffixes()[-2:] == [".bits", ".bits.gz"]
    assert readers.listed(readers.known_suffixes()).endswith(".sav or .bits")
    Path("a.xyz").write_text("")
    with pytest.raises(DataError, match=r"It reads \.csv, .*\.bits"):
        read("a.xyz")
    with pytest.raises(DataError, match=r"^Reading \.bits needs bitlib: pip install bitlib$"):
        read("a.bits", key="missing")
    Path("a.csv").write_text("1,2\n")
    with pytest.raises(DataError, match=r"key='k'\) only applies to \.npz, \.h5ad, \.xlsx and \.bits files"):
        read("a.csv", key="k")
    with pytest.raises(DataError, match=r"only applies to tables of text \(\.csv, \.tsv, \.txt and \.xlsx\)"):
        read("a.bits", header=True)


def test_the_command_line_reads_a_new_format(plugin, tmp_path, capsys):
    plugin()
    with pytest.raises(SystemExit) as stop:
        main(["fit", "a.bits", "-k", "2", "-o", str(tmp_path / "out"), "-q"])
    assert stop.value.code == 0
    assert "Note: a.bits: bits were read." in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["n_samples"] == 4


def nothing(path, source):
    return None


@pytest.mark.parametrize(
    ("reader", "sentence"),
    [
        (
            Reader((".csv",), nothing),
            r"\.csv files are already read by partwise\.io\.delimited:read_delimited",
        ),
        (Reader(("xyz",), nothing), "A suffix is a dot and lower-case letters"),
        (Reader((".XYZ",), nothing), "A suffix is a dot and lower-case letters"),
        (Reader(".xyz", nothing), "suffixes must be a tuple"),
        (Reader((), nothing), "suffixes must be a tuple"),
        (Reader((".xyz",), nothing, ("sheet",)), r"Readers take the options key.*got 'sheet'"),
    ],
)
def test_entries_that_cannot_be(reader, sentence):
    with pytest.raises(ValueError, match=sentence):
        register_reader(reader)


def test_a_reader_must_return_a_table(tmp_path):
    register_reader(Reader((".none",), nothing))
    (tmp_path / "a.none").write_text("")
    with pytest.raises(TypeError, match=r"reader of \.none files returned a NoneType, not a Table"):
        read(tmp_path / "a.none")


def test_the_longest_suffix_wins():
    register_reader(Reader((".gz",), nothing))
    assert readers.find_reader("a.csv.gz")[0] == ".csv.gz"
    assert readers.find_reader("a.other.GZ")[0] == ".gz"
    assert readers.find_reader("a") is None


def test_every_entry_can_be_loaded():
    for entry in readers._readers:
        assert callable(entry.load())
