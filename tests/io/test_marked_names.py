"""A first column of numbers with marks, as 1 000 or 10 %, which is taken for the names of rows."""

import pytest

from partwise.io import read


@pytest.mark.parametrize(
    "cells", [("1 000", "2 000"), ("10%", "20 %"), ("$10", "$9"), ("1'000", "2'500"), ("10 €", "9 €")]
)
def test_a_first_column_of_marked_numbers_is_asked_about(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text(
        "ca;n;m\n" + "".join(f"{cell};{i};{i + 3}\n" for i, cell in enumerate(cells)), encoding="utf-8"
    )
    table = read(path)
    assert table.row_names == list(cells)
    assert any("may be numbers" in note and cells[0] in note for note in table.notes)


@pytest.mark.parametrize("cells", [("a1", "b 2"), ("10x", "20x"), ("2 b", "c")])
def test_other_names_of_rows_are_not(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text(
        "ca;n;m\n" + "".join(f"{cell};{i};{i + 3}\n" for i, cell in enumerate(cells)), encoding="utf-8"
    )
    assert read(path).notes == ()
