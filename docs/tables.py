"""Tables in the documentation that come from files a command wrote.

A line ``<!-- table: bars-grid.json grid -->`` in a page says that the table below it is the one named ``grid`` in
docs/figures/bars-grid.json. After a run of the command that the page names, call
``python docs/tables.py results/bars.json bars-grid.json``: the tables and the printed lines of the run are kept under
that name, and every marked table is written anew. tests/docs/test_figures.py compares them, so that a page and its
figures cannot drift apart.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

DOCS = Path(__file__).parent
FIGURES = DOCS / "figures"
MARK = re.compile(r"<!-- table: (\S+) (\S+) -->\n+((?:\|.*\n)*)\n*")


def rendered(file: str, name: str) -> str:
    """The table of that name as Markdown."""
    table = json.loads((FIGURES / file).read_text(encoding="utf-8"))["tables"][name]
    rows = [table["columns"], ["---"] * len(table["columns"]), *table["rows"]]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def renewed(page: str) -> str:
    """A page with every marked table as its file has it."""
    return MARK.sub(lambda m: f"<!-- table: {m[1]} {m[2]} -->\n\n{rendered(m[1], m[2])}\n", page)


def keep(source: Path, name: str) -> None:
    """Keep the tables and the printed lines of a run under this name."""
    found = json.loads(source.read_text(encoding="utf-8"))
    kept = {part: found[part] for part in ("lines", "tables")}
    (FIGURES / name).write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Keep a run if one is given; write the marked tables of all pages, and say which pages changed."""
    if arguments:
        keep(Path(arguments[0]), arguments[1])
    for path in sorted(DOCS.glob("*.md")):
        before = path.read_text(encoding="utf-8")
        after = renewed(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
