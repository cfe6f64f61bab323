"""A name is exported by one line of a stub: at run time, to `dir`, and to a type checker."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import partwise
from partwise import models
from partwise.lazy import exports, importer

SOURCE = Path(partwise.__file__).parents[1]


@pytest.mark.parametrize("package", [partwise, models])
def test_every_name_of_the_stub_is_there(package):
    assert package.__all__ == dir(package)
    assert {"NMF", "BinaryNMF", "BooleanMF", "MixtureClassifier", "load", "save"} <= set(package.__all__)
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = package.Nothing


def test_one_line_exports_a_name_from_both_packages(tmp_path):
    inner = tmp_path / "top" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "top" / "__init__.pyi").write_text(
        "from top.inner import *\nfrom top import other as other\n"
    )
    (inner / "__init__.pyi").write_text("from json import dumps as dumps\n")
    homes = exports("top", str(tmp_path / "top" / "__init__.py"))
    assert homes == {"dumps": "top.inner", "other": "top"}
    assert importer("x", exports("top.inner", str(inner / "__init__.py")))("dumps")(1) == "1"


def test_importing_partwise_imports_no_numerical_library():
    code = "import sys, partwise; dir(partwise); print([m for m in ('numpy', 'numba') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_a_type_checker_sees_the_classes(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "seen.py").write_text(
        "from partwise import NMF\nfrom partwise.models import BooleanMF\n"
        "reveal_type(NMF().fit)\nreveal_type(BooleanMF().tiles_)\nimport partwise\npartwise.Nothing\n"
    )
    # Only the package's own stubs are needed to answer; everything they import is left alone.
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports"]
    shown = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache"), "seen.py"],
        cwd=tmp_path,
        env={"MYPYPATH": str(SOURCE), "PATH": str(Path(shutil.which("python") or "").parent)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert "-> partwise.models.nmf.NMF" in shown
    assert 'Module has no attribute "Nothing"' in shown
