"""What the pages show comes from commands: every picture has one, and tables are those of the files they wrote."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import pytest
import typer

from partwise.cli.app import app
from partwise.reproduce import experiments

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
OWNERS = json.loads((DOCS / "figures" / "pictures.json").read_text(encoding="utf-8"))
COMMANDS = sorted(
    {
        command
        for page in PAGES.values()
        for command in re.findall(r"`(partwise reproduce [a-z][^`\n…]*)`", page)
    }
    | {one["command"] for one in OWNERS.values() if one["command"].startswith("partwise")}
)

spec = importlib.util.spec_from_file_location("tables", DOCS / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


def marked():
    """(page, file, name, table) of every marked table."""
    return [(name, *match) for name, page in PAGES.items() for match in tables.MARK.findall(page)]


def test_every_picture_has_a_command_and_a_page():
    shown = {name for page in PAGES.values() for name in re.findall(r"[(\"]_static/([^)\"]+)[)\"]", page)}
    kept = {path.name for path in (DOCS / "_static").glob("*.png")}
    assert kept == shown == set(OWNERS)


@pytest.mark.parametrize("picture", sorted(OWNERS))
def test_the_command_writes_the_picture_it_owns(picture):
    owner = OWNERS[picture]
    words = owner["command"].split()
    if words[0] == "python":
        assert Path(owner["file"]).stem in taken_by(ROOT / words[1])
        return
    if words[1] == "reproduce":
        path = Path("reproduce") / f"{words[2].replace('-', '_')}.py"
    else:
        path = Path("cli") / f"{words[1]}.py"
    source = (ROOT / "src" / "partwise" / path).read_text(encoding="utf-8")
    # One file for each of several data sets has a name that is put together.
    assert owner["file"] in source or re.search(r'f"[^"]*\}\.png"', source), (
        f"{path} writes no {owner['file']}"
    )


def taken_by(script):
    """Names of the pictures that docs/screenshots.py takes."""
    text = script.read_text(encoding="utf-8")
    small = re.search(r"SMALL = \{(.*?)\}", text, re.DOTALL)[1]
    return set(re.findall(r'"(report-[\w-]+)": Shot', text)) | {
        f"report-small-{name}" for name in re.findall(r'"(\w+)":', small)
    }


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_on_the_pages_exist(command):
    words = shlex.split(command)[1:]
    found = typer.main.get_command(app)
    while hasattr(found, "resolve_command"):
        # An unknown name is an error of its own.
        _, found, words = found.resolve_command(typer.Context(found), words)
    known = {option for one in found.params for option in (*one.opts, *one.secondary_opts)}
    for word in words:
        if word.startswith("-"):
            assert word.split("=")[0] in known, f"{command}: there is no {word}"


def test_marked_tables_are_what_the_commands_wrote():
    assert marked(), "no page has a marked table"
    for page, file, name, table in marked():
        assert table == tables.rendered(file, name), f"{page}: run python docs/tables.py"


def test_every_file_of_figures_is_shown():
    files = {path.name for path in (DOCS / "figures").glob("*.json")} - {"pictures.json"}
    assert files == {file for _, file, _, _ in marked()}


def test_a_stale_table_is_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "FIGURES", tmp_path)
    (tmp_path / "a.json").write_text(json.dumps({"tables": {"t": {"columns": ["x"], "rows": [["2"]]}}}))
    page = "<!-- table: a.json t -->\n\n| x |\n| --- |\n| 1 |\n\nText.\n"
    assert tables.renewed(page) == page.replace("1", "2")


def test_experiments_are_those_of_their_files():
    assert {"bars", "notes", "digits17"} <= set(experiments())
