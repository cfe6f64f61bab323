"""Compiled kernels that are kept on disk: for as long as no kernel changes, and no longer."""

import importlib.util
import pickle

import pytest

from partwise import jit

SOURCE = """
from partwise.jit import njit

@njit(cache=True)
def doubled(x):
    return 2 * x
"""


@pytest.fixture
def fresh(tmp_path):
    """The module as a new process would meet it."""
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(SOURCE, encoding="utf-8")

    def load():
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.doubled(21) == 42
        return sum(module.doubled.stats.cache_hits.values())

    return load


def test_kernels_are_kept_until_any_kernel_changes(fresh, monkeypatch):
    assert [fresh(), fresh()] == [0, 1]
    monkeypatch.setattr(jit, "fingerprint", lambda: "another")
    assert [fresh(), fresh()] == [0, 1]


def test_what_cannot_be_read_any_more_is_not_read(fresh, tmp_path, monkeypatch):
    """An index that names a class which is gone: it used to end in an AttributeError."""
    fresh()
    for index in tmp_path.rglob("*.nbi"):
        data = index.read_bytes()
        version = pickle.loads(data)
        index.write_bytes(pickle.dumps(version) + b"cpartwise.jit\nGone\n.")
    monkeypatch.setattr(jit, "fingerprint", lambda: "another")
    assert fresh() == 0


def test_the_fingerprint_is_of_all_files_with_kernels(tmp_path, monkeypatch):
    for name, text in (
        ("jit.py", "a"),
        ("leaves.py", "from partwise.jit import leaf"),
        ("plain.py", "x = 1"),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "jit.py"))
    seen = {}
    for change in ("", "plain.py", "leaves.py", "jit.py"):
        if change:
            with (tmp_path / change).open("a", encoding="utf-8") as file:
                file.write("\n# changed\n")
        seen[change] = jit.fingerprint.__wrapped__()
    assert seen["plain.py"] == seen[""]
    assert len(set(seen.values())) == 3
