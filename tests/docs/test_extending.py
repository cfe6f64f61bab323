"""The page on extending partwise: its package is built from the page, held to the laws, and used as the page says.

All of it runs in processes of its own, in which the package is found by its entry points; nothing is registered here.
"""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

import partwise

ROOT = Path(__file__).parents[2]
SOURCE = Path(partwise.__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
#: Heading → the text below it.
SECTIONS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
MAIN = "from partwise.cli import main; main()"
RAIN = """station,jan,feb,mar,apr,may,jun
Bergen,256,200,196,132,97,131
Oslo,58,44,48,49,66,79
Tromso,117,102,84,70,58,59
Roros,36,29,27,27,44,62
"""


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def files_of_the_page():
    """Path → content of the blocks that begin with a path."""
    code = (re.match(r"# (my_pieces/\w+\.py)\n(.*)", block, re.DOTALL) for block in blocks(PAGE, "python"))
    return {found[1]: found[2] for found in code if found}


def entry_points():
    return tomllib.loads(blocks(PAGE, "toml")[0])["project"]["entry-points"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which the package of the page is installed."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "my_pieces").mkdir()
    (folder / "my_pieces" / "__init__.py").touch()
    for path, content in files_of_the_page().items():
        (folder / path).write_text(content, encoding="utf-8")
    about = folder / "my_pieces-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-pieces\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in entry_points().items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the data files that the page speaks of."""
    folder = tmp_path_factory.mktemp("desk")
    rng = np.random.default_rng(0)
    odds = rng.gamma(1.0, 1.0, (30, 2)) @ rng.gamma(1.0, 1.0, (2, 8))
    np.savetxt(folder / "genotypes.csv", rng.binomial(2, odds / (1 + odds)), "%d", delimiter=",")
    counts = rng.poisson(3 * rng.random((30, 3)) @ rng.gamma(1.0, 1.0, (3, 8)))
    np.savetxt(folder / "counts.csv", counts, "%d", delimiter=",")
    dump_svmlight_file(counts + 1.0, np.arange(30) % 2, str(folder / "events.svmlight"))
    (folder / "data" / "weather").mkdir(parents=True)
    (folder / "data" / "weather" / "rain.csv").write_text(RAIN)
    return folder


def call(site, folder, *arguments, **more):
    """Run Python with the package installed; what it printed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    env |= {"PYTHONPATH": os.pathsep.join([str(site), str(SOURCE)]), "COLUMNS": "200"} | more
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return done.stdout


def hold_to_the_laws(site, *arguments):
    shown = call(site, ROOT, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)
    return int(re.search(r"(\d+) passed", shown)[1])


def test_every_file_is_named_by_an_entry_point():
    named = {place.partition(":")[0] for group in entry_points().values() for place in group.values()}
    assert named == {path.removesuffix(".py").replace("/", ".") for path in files_of_the_page()}


@pytest.mark.parametrize(
    ("places", "pieces", "at_least"),
    [
        ("laws/test_losses.py laws/test_matrices.py laws/test_solvers.py", "binomial and not negative", 30),
        ("laws/test_priors.py laws/test_solvers.py", "Smooth", 10),
        ("laws/test_solvers.py", "proximal", 20),
        ("models/test_summary.py models/test_sklearn_checks.py", "shares or ShareNMF", 40),
        ("laws/test_datasets.py datasets/test_source.py", "rain or bumps", 3),
        ("laws/test_readers.py", "svmlight", 1),
    ],
)
def test_the_pieces_obey_the_laws(site, places, pieces, at_least):
    paths = [f"tests/{place}" for place in places.split()]
    assert hold_to_the_laws(site, *paths, "-k", pieces) >= at_least


@pytest.mark.parametrize("section", [name for name, text in SECTIONS.items() if blocks(text, "console")])
def test_every_command_runs(site, desk, section):
    for line in "".join(blocks(SECTIONS[section], "console")).splitlines():
        program, *arguments = line.removeprefix("$ ").split()
        if program == "pytest":
            assert hold_to_the_laws(site, *arguments) > 10
        else:
            assert program == "partwise"
            assert call(site, desk, "-c", MAIN, *arguments)


@pytest.mark.parametrize("section", [name for name, text in SECTIONS.items() if "```python\nfrom" in text])
def test_every_script_runs(site, desk, section):
    for script in blocks(SECTIONS[section], "python"):
        if not script.startswith("# my_pieces/"):
            call(site, desk, "-W", "error::UserWarning", "-c", script, PARTWISE_DATA=str(desk / "data"))


def test_what_a_package_brings_is_listed_but_not_imported(site, desk):
    seen = "; import sys; print([m for m in ('numpy', 'numba', 'my_pieces') if m in sys.modules])"
    for arguments, name in ((["--help"], "describe"), (["reproduce", "--help"], "restarts")):
        code = f"from partwise.cli import app; app.app({arguments}, standalone_mode=False)" + seen
        shown = call(site, desk, "-c", code)
        assert re.search(rf"{name} +From the package my-pieces\.", shown)
        assert shown.rstrip().endswith("[]")
    assert "Tell the size of DATA" in call(site, desk, "-c", MAIN, "describe", "--help")


def test_a_model_file_brings_back_a_loss_of_a_package(site, desk):
    call(site, desk, "-c", MAIN, "fit", "genotypes.csv", "-k", "2", "--loss", "binomial", "-o", "again", "-q")
    code = "import partwise; print(partwise.load('again/model.partwise').loss_)"
    assert call(site, desk, "-c", code) == "Binomial(trials=2.0)\n"
