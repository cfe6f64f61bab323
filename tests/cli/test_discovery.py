"""Verbs and experiments are found by themselves: one line, one file."""

import json
from pathlib import Path
from typing import Annotated

import pytest
import typer
from calling import call

from partwise import reproduce
from partwise.cli.app import VERBS
from partwise.cli.reproduce import Experiments, command_of

DOCS = Path(__file__).parents[2] / "docs"


def test_every_verb_and_experiment_is_in_the_guide():
    guide = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for name in (*VERBS, *reproduce.experiments()):
        assert f"`{name}`" in guide or f"partwise {name}`" in guide or f"reproduce {name}`" in guide, name


@pytest.mark.parametrize("name", reproduce.experiments())
def test_every_experiment_has_help_a_folder_and_json(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert call("reproduce", name, "--help") == 0
    shown = capsys.readouterr().out
    assert reproduce.experiments()[name].help.split()[0] in shown
    assert f"partwise-{name}-results" in shown
    assert "--json" in shown


def test_a_file_with_a_function_of_its_name_is_an_experiment(tmp_path, monkeypatch):
    (tmp_path / "new_thing.py").write_text('def reproduce_new_thing(folder):\n    """Shows it."""\n')
    (tmp_path / "helper.py").write_text("def reproduce_other(folder): pass\n")
    monkeypatch.setattr(reproduce, "__file__", str(tmp_path / "__init__.py"))
    found = reproduce.experiments()
    assert list(found) == ["new-thing"]
    assert (found["new-thing"].module, found["new-thing"].help) == (
        "partwise.reproduce.new_thing",
        "Shows it.",
    )
    assert Experiments(name="reproduce").list_commands(None) == ["new-thing"]


def test_annotated_parameters_are_options_and_others_are_not(tmp_path, capsys):
    def experiment(
        folder: Path, count: Annotated[int, typer.Option("-k", "--count", min=1)] = 2, hidden: int = 5
    ):
        """Counts."""
        (folder / "there").touch()
        return {"count": count, "hidden": hidden, "lines": [f"{count} and {hidden}"]}

    app = typer.Typer()
    app.command()(command_of("counting", experiment))
    app(["-k", "7", "-o", str(tmp_path / "o")], standalone_mode=False)
    assert capsys.readouterr().out == "7 and 5\n"
    assert (tmp_path / "o" / "there").exists()
    app(["--json", "-o", str(tmp_path / "o")], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["count"] == 2
    with pytest.raises(Exception, match="hidden"):
        app(["--hidden", "1", "-o", str(tmp_path / "o")], standalone_mode=False)


def test_a_mistyped_experiment_is_corrected(capsys):
    assert call("reproduce", "tilling") == 2
    assert "tiling" in capsys.readouterr().err
