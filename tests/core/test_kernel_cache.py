"""Compiled kernels on disk: any machine has a place for them or does without, and no damaged file is ever run."""

import errno
import importlib.util
import logging
import os
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numba
import pytest

import partwise
from partwise import kernel_cache
from partwise.kernel_cache import KernelFiles, temporary_folder

SOURCE = """
from partwise.jit import njit

@njit(cache=True)
def doubled(x):
    return 2 * x
"""


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """The module as a new process would meet it; what is compiled is kept beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(
        kernel_cache,
        "warn_once",
        lambda text: logging.getLogger("partwise").warning("%s", text),
    )
    path = tmp_path / "kernels_of_a_test.py"
    path.write_text(SOURCE, encoding="utf-8")

    def load(*, keep=True):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.doubled(21) == 42
        assert module.doubled(0.75) == 1.5
        if keep:
            assert not list((tmp_path / "__pycache__").glob("*.tmp.*"))
        return sum(module.doubled.stats.cache_hits.values())

    return load


def kept(tmp_path):
    return sorted((tmp_path / "__pycache__").glob("*.nbc"))


DAMAGE = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "half": lambda data: data[: len(data) // 2],
    "last byte": lambda data: data[:-1],
    "zeroed end": lambda data: data[:-2000] + bytes(2000),
    "a bit": lambda data: data[:900] + bytes([data[900] ^ 1]) + data[901:],
    "garbage": lambda data: os.urandom(5000),
    "text": lambda data: b"not compiled\n" * 9,
    "another program's": lambda data: signed(pickle.dumps(("other", 1))),
    "a class that is gone": lambda data: signed(b"cpartwise.jit\nGone\n."),
}


def signed(body):
    return sha256(body).digest() + body


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_anew_and_mended(damage, fresh, tmp_path):
    assert [fresh(), fresh()] == [0, 2]
    for path in kept(tmp_path):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert [fresh(), fresh()] == [0, 2]


def test_code_compiled_for_other_types_is_not_run(fresh, tmp_path):
    """Two files exchanged: each is whole, but what it was compiled for is in it."""
    fresh()
    first, second = kept(tmp_path)
    held = first.read_bytes(), second.read_bytes()
    second.write_bytes(held[0])
    first.write_bytes(held[1])
    assert fresh() == 0


def test_two_that_save_at_once_have_files_of_their_own(tmp_path):
    """Neither knows of the other when it begins to save."""
    one, other = (KernelFiles(str(tmp_path), "kernel", "stamp") for _ in range(2))
    one.save("int64", "code for integers")
    other.save("float64", "code for floats")
    assert one.load("float64") == "code for floats"
    assert other.load("int64") == "code for integers"
    assert KernelFiles(str(tmp_path), "kernel", "another stamp").load("int64") is None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_full_disk_does_not_end_a_fit(number, fresh, tmp_path, monkeypatch, caplog):
    def refuse(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(kernel_cache.os, "replace", refuse)
    assert fresh() == 0
    assert os.strerror(number) in caplog.text
    assert kept(tmp_path) == []


def test_a_folder_that_went_away_does_not_end_a_fit(fresh, tmp_path):
    fresh()
    shutil.rmtree(tmp_path / "__pycache__")
    (tmp_path / "__pycache__").touch()
    fresh(keep=False)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and modes here")
def test_a_temporary_folder_is_taken_only_where_nobody_else_can_write(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache.tempfile, "tempdir", str(tmp_path))
    folder = Path(temporary_folder())
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    assert temporary_folder() == str(folder)
    for mode in (0o770, 0o707, 0o755):
        folder.chmod(mode)
        assert temporary_folder() is None
    folder.chmod(0o700)
    for mode, safe in ((0o777, False), (0o1777, True), (0o770, False), (0o755, True)):
        tmp_path.chmod(mode)
        assert (temporary_folder() is not None) == safe
    uid = os.getuid()
    moved = folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(moved)
    assert temporary_folder() is None
    folder.unlink()
    folder.touch(0o700)
    assert temporary_folder() is None
    folder.unlink()
    monkeypatch.setattr(kernel_cache.os, "getuid", lambda: uid + 1)
    moved.rename(tmp_path / f"partwise-kernels-{uid + 1}")
    assert temporary_folder() is None


@pytest.fixture
def sealed(tmp_path):
    """A program with a kernel, and an environment in which no folder of Numba's can be made, not even by root."""
    script = tmp_path / "sealed" / "program.py"
    script.parent.mkdir()
    (script.parent / "__pycache__").touch()  # a file in place of the folder
    script.write_text(
        SOURCE + "assert doubled(21) == 42\nprint(sum(doubled.stats.cache_hits.values()))\n", encoding="utf-8"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir(0o700)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "HOME": os.devnull,
        "NUMBA_CACHE_DIR": os.path.join(os.devnull, "x"),
        "TMPDIR": str(temporary),
    }

    def run(script=script):
        return subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True, cwd=script.parent
        )

    return run, temporary


def test_without_a_cache_folder_kernels_are_kept_among_the_temporary_files(sealed):
    run, temporary = sealed
    for hits in ("0\n", "1\n"):
        done = run()
        assert (done.returncode, done.stdout) == (0, hits), done.stderr
        assert done.stderr.count("compiled kernels are kept in") == 1
        assert str(temporary) in done.stderr
    (folder,) = temporary.iterdir()
    if hasattr(os, "getuid"):
        # Somebody else may have put something into it.
        folder.chmod(0o777)
        done = run()
        assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
        assert done.stderr.count("each process compiles its own") == 1


def test_a_user_without_a_home_gets_no_folder_of_that_name(tmp_path, monkeypatch):
    """Where "~" cannot be resolved, Numba would make "~" in the working folder, and run what is there already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert kernel_cache.HomeLocator.from_function(signed, __file__) is None
    assert not list(tmp_path.iterdir())


def test_a_fit_works_where_nothing_of_the_package_can_be_written(sealed, tmp_path):
    """A container without root, with a read-only root and no home."""
    run, temporary = sealed
    package = tmp_path / "sealed" / "partwise"
    shutil.copytree(Path(partwise.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in package.rglob("*.py")}:
        (folder / "__pycache__").touch()
    script = tmp_path / "sealed" / "fit.py"
    script.write_text(
        "import numpy as np, partwise\n"
        "X = np.arange(12.0).reshape(4, 3)\n"
        "print(partwise.__file__, partwise.NMF(2).fit_transform(X).shape)\n"
    )
    done = run(script)
    assert done.stdout == f"{package / '__init__.py'} (4, 2)\n", done.stderr
    assert list(temporary.rglob("*.nbc"))
