"""Columns with neither a name nor a cell."""

import numpy as np
import pytest

from partwise.io import read

NOTE = "column has neither a name nor any cell, and was left out"


@pytest.fixture
def table(tmp_path):
    def table(text, name="a.csv", **options):
        (tmp_path / name).write_text(text)
        return read(tmp_path / name, **options)

    return table


@pytest.mark.parametrize("yes_no", [True, "answers"])
@pytest.mark.parametrize("end", ["", ",", ",,,"])
def test_nobody_is_asked_a_question_without_a_name(table, yes_no, end):
    found = table(f"id,q1,,q2{end}\n1,x,,{end}\n\n2,,,x{end}\n3,x,,x{end}\n", yes_no=yes_no)
    assert found.column_names == ["q1", "q2"]
    np.testing.assert_array_equal(found.data, [[1, 0], [0, 1], [1, 1]])
    count = 1 + len(end)
    assert (NOTE if count == 1 else f"{count} columns have neither") in found.notes[0]
    # Another file of the same questions need not have such columns, or may.
    for more in ("", ","):
        new = table(f"id,q1,q2{more}\n9,x,{more}\n", "new.csv", coding=found.coding, yes_no=yes_no)
        np.testing.assert_array_equal(new.data, [[1, 0]])
        assert any(NOTE in note for note in new.notes) == bool(more)


def test_words_numbers_and_workbooks_lose_them_too(table, tmp_path):
    found = table("q1,q2,\nja,nein,\nnein,ja,\n", yes_no=True)
    assert found.column_names == ["q1", "q2"]
    found = table("a,b,\n1.5,2,\n3,4,\n", yes_no="answers")
    np.testing.assert_array_equal(found.data, [[1.5, 2], [3, 4]])
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([None, "q1", None, "q2"], [None, "x", None, None], [None, None, None, "x"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    found = read(tmp_path / "a.xlsx", yes_no=True)
    assert found.column_names == ["q1", "q2"]
    np.testing.assert_array_equal(found.data, [[1, 0], [0, 1]])


def test_names_cells_and_tables_without_names_keep_their_columns(table):
    assert table("q1,q2,\nx,,\n,x,x\n", yes_no=True).shape == (2, 3)
    assert table("q1,q2,q3\nx,,\n,x,\n", yes_no=True).shape == (2, 3)
    assert table("x,,\n,x,\nx,x,\n", yes_no=True).shape == (3, 3)
    assert table("1,0,\n0,1,\n", yes_no=True).shape == (2, 3)
    assert table("a,b,\n1,2,\n").shape == (1, 3)
    # A column may be named by its place.
    assert table("q1,q2,\nx,,\n,x,\n", yes_no=True, drop="column 3").column_names == ["q1", "q2"]
