"""Compiled kernels: what is kept on disk and for how long, and what functions without reference counts may do."""

import ast
import builtins
import importlib
import importlib.util
import inspect
import os
import subprocess
import sys
import time
import typing
from pathlib import Path

import numba
import numpy as np
import pytest

import partwise
from partwise import jit
from partwise.boolean.bits import popcount

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


def test_what_other_versions_compiled_goes_when_it_was_not_used_for_long(fresh, tmp_path, monkeypatch):
    fresh()
    monkeypatch.setattr(jit, "fingerprint", lambda: "0123abcd")
    fresh()
    folder = tmp_path / "__pycache__"
    old = time.time() - (jit.KEPT_DAYS + 1) * 24 * 3600
    ours = {path.name for path in folder.glob("*-0123abcd-*")}
    assert len(ours) == 1
    theirs = {path.name for path in folder.glob("*.nb?")} - ours
    assert len(theirs) == 1
    for version in ("89abcdef", "0123abcd"):
        (folder / f"kernels.left-{version}-7.py311.1.nbc.tmp.0123456789abcdef").touch()
    others = {"foreign.f-12.py311.nbi", "notes-89abcdef.txt", "kernels.g-89abcdef-7.py311.pyc"}
    for name in others:
        (folder / name).touch()
    used = "kernels.used-89abcdef-7.py311.1.nbc"
    (folder / used).touch()
    (folder / "kernels.folder-89abcdef-7.py311.nbi").mkdir()
    for path in folder.iterdir():
        os.utime(path, (time.time() if path.name == used else old, old))
    jit.delete_unused.cache_clear()
    jit.delete_unused(str(folder))
    left = {path.name for path in folder.iterdir() if path.suffix != ".pyc" or path.name in others}
    assert left == ours | others | {used, "kernels.folder-89abcdef-7.py311.nbi"}


def test_a_folder_that_cannot_be_read_is_left_alone(tmp_path):
    jit.delete_unused(str(tmp_path / "gone"))


def all_leaves():
    folder = Path(partwise.__file__).parent
    for path in folder.rglob("*.py"):
        if "@leaf(" in path.read_text(encoding="utf-8"):
            importlib.import_module(".".join(["partwise", *path.relative_to(folder).with_suffix("").parts]))
    return {leaf.py_func.__name__: leaf for leaf in jit.leaves if leaf.py_func.__module__ != "leaf_of_a_test"}


def is_plain(kind):
    return kind in (None, type(None), bool, int, float, np.uint64) or (
        typing.get_origin(kind) is tuple and all(map(is_plain, typing.get_args(kind)))
    )


def test_every_leaf_is_known_and_returns_only_numbers():
    leaves = all_leaves()
    assert {"gain_of_taking", "improve", "perturb"} <= set(leaves)
    for name, leaf in leaves.items():
        assert is_plain(typing.get_type_hints(leaf.py_func)["return"]), name
        assert all(jit._is_plain(signature.return_type) for signature in leaf.nopython_signatures), name


def test_no_leaf_makes_an_array_or_calls_what_may():
    """An array that a called function returned would never be given back; its own it gives back itself."""
    numbers = {
        f"np.{name}"
        for name in ("random.randint", "uint64", "int32", "int64", "float64", "exp", "log", "sqrt")
    }
    leaves = all_leaves()
    for name, leaf in leaves.items():
        (definition,) = ast.parse(inspect.getsource(leaf.py_func)).body
        for node in (node for statement in definition.body for node in ast.walk(statement)):
            assert not isinstance(node, (ast.List, ast.ListComp, ast.Dict, ast.Set)), name
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            value = leaf.py_func.__globals__.get(called, getattr(builtins, called, None))
            if value is None:
                assert called in numbers, f"{name} calls {called}"
            elif value.__module__ not in ("builtins", "math"):
                known = any(value is other for other in (popcount, *leaves.values()))
                compiled = getattr(value, "py_func", None)
                returned = typing.get_type_hints(compiled).get("return", list) if compiled else list
                assert known or is_plain(returned), f"{name} calls {called}"


def leaf_of(function):
    function.__module__ = "leaf_of_a_test"
    return jit.leaf()(function)


def test_a_leaf_that_returns_its_argument_is_not_compiled():
    for function in (lambda x: x, lambda x: (1, x)):
        leaf = leaf_of(function)
        caller = numba.njit(lambda x: (leaf(x), 1)[1])  # noqa: B023
        with pytest.raises((TypeError, numba.TypingError), match="only numbers"):
            caller(np.ones(3))


def test_a_leaf_that_makes_an_array_is_not_compiled():
    leaf = leaf_of(lambda x: np.zeros(3)[0] + x[0])
    caller = numba.njit(lambda x: leaf(x))
    with pytest.raises(numba.TypingError):
        caller(np.ones(3))


SCRIPT = """
import sys, types
import numba
import numba.core.{module} as real

sys.modules["numba.core.{module}"] = {instead}
numba.core.{module} = {instead}

import numpy as np
from partwise import compiling
from partwise.jit import leaf, njit
from partwise.models import base, boolean

@leaf()
def first(x):
    return x[0]

@njit(cache=True)
def doubled(x):
    return 2 * first(x)

# Numba itself needs it to compile.
sys.modules["numba.core.{module}"] = numba.core.{module} = real
begin = compiling.clock()
assert doubled(np.array([21.0])) == 42
assert compiling.clock() > begin
"""


@pytest.mark.parametrize("module", ["caching", "options", "event", "codegen", "registry"])
@pytest.mark.parametrize("instead", ["None", "types.ModuleType('other')"])
def test_all_works_without_the_private_names_of_numba(module, instead, tmp_path):
    """Another Numba may lack the module, or the names in it."""
    script = tmp_path / "kernels_of_a_test.py"
    script.write_text(SCRIPT.format(module=module, instead=instead), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(Path(partwise.__file__).parents[1])}
    done = subprocess.run([sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


BITS = """
import hashlib
from partwise import NMF
from partwise.datasets import load_digits

for loss in ("frobenius", "kullback-leibler"):
    model = NMF(6, beta_loss=loss, max_iter=5, tol=0).fit(load_digits().data)
    print(hashlib.sha256(model.components_.tobytes()).hexdigest(), repr(model.history_["objective"][-1]))
"""


def test_a_process_that_compiles_and_one_that_finds_kernels_on_disk_have_the_same_bits(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    compiled, found = (
        subprocess.run(
            [sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    assert compiled == found != b""


def test_every_compiled_function_lies_in_a_file_that_the_fingerprint_reads():
    """A loss changes the loops that it is compiled into: its file counts although another module compiles it."""
    for name in ("partwise.losses", "partwise.solvers", "partwise.samplers"):
        importlib.import_module(name)
    files = {str(path) for path in jit.kernel_files()}
    for name, module in list(sys.modules.items()):
        if not name.startswith("partwise."):
            continue
        for what in vars(module).values():
            function = getattr(what, "py_func", None)
            if function is not None and str(function.__module__).startswith("partwise."):
                assert function.__code__.co_filename in files, function


def test_pieces_have_no_machine_code_of_their_own():
    """They would be optimised once for themselves and once more in every kernel that calls them."""
    inner = leaf_of(lambda x: x[0] + 1.0)
    outer = jit.piece()(lambda x: 2.0 * inner(x))
    kernel = jit.njit()(lambda x: outer(x))
    assert kernel(np.array([20.0])) == 42.0
    for compiled in (inner, outer, kernel):
        ((result),) = compiled.overloads.values()
        own = result.library
        assert own.codegen._engine.is_symbol_defined(result.fndesc.llvm_func_name) is (compiled is kernel)


def test_what_a_piece_calls_can_be_called_from_python_afterwards():
    """Whoever compiles it first: a function that Python may call gets its machine code."""
    ours = jit.njit()(lambda x: x + 1.0)
    foreign = numba.njit(lambda x: 2.0 * x)
    inner = jit.piece()(lambda x: foreign(ours(x)))
    assert jit.njit()(lambda x: inner(x))(20.0) == 42.0
    assert (ours(20.0), foreign(21.0)) == (21.0, 42.0)
