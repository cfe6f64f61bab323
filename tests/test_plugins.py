"""What installed packages bring: found once, refused where a name is taken, left out where it is broken."""

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from partwise import plugins


@pytest.fixture
def installed(monkeypatch):
    """Entry points as if packages had brought them, none of them imported yet."""

    def install(*values):
        entries = EntryPoints(EntryPoint("any", value, "partwise") for value in values)
        monkeypatch.setattr(plugins, "entry_points", lambda group: entries.select(group=group))
        monkeypatch.setattr(plugins, "_begun", False)

    return install


def test_modules_are_imported_when_a_name_is_not_known_and_only_once(installed, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "brought.py").write_text(
        "import builtins, partwise.plugins\npartwise.plugins.load_plugins()\nbuiltins.brought += 1\n"
    )
    monkeypatch.setattr("builtins.brought", 0, raising=False)
    installed("brought")
    import builtins

    assert plugins.find({"here": 1}, "here") == 1
    assert builtins.brought == 0
    assert plugins.find({"here": 1}, "there") is None
    assert plugins.find({}, "there") is None
    assert builtins.brought == 1


def test_a_module_that_cannot_be_imported_is_left_out(installed):
    installed("a_package_that_is_not_there.pieces", "json")
    with pytest.warns(
        UserWarning, match=r"a_package_that_is_not_there\.pieces.*cannot be imported and is left out"
    ):
        plugins.load_plugins()


def test_a_name_belongs_to_one_piece():
    def make(module):
        return type("Piece", (), {"__module__": module})

    registry = {}
    plugins.add(registry, "piece", make("one"), "loss")
    again = make("one")
    plugins.add(registry, "piece", again, "loss")
    with pytest.raises(ValueError, match=r"The loss 'piece' is already registered, by one\.Piece"):
        plugins.add(registry, "piece", make("two"), "loss")
    assert registry == {"piece": again}
