"""The README's example is run as a stranger would run it."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
    assert len(code.strip().splitlines()) <= 12
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("True")


def test_every_page_it_names_is_there():
    for target in re.findall(r"\]\((docs/[^)]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
