"""Rows of data that end in a delimiter which the header has not."""

import numpy as np
import pytest

from partwise.io import DataError, read


def test_trailing_delimiter_shifts_no_names(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("q1;q2;q3\nja;nein;ja;\nnein;nein;ja;\nja;ja;nein;\n")
    table = read(path, yes_no=True)
    assert table.column_names == ["q1", "q2", "q3"]
    assert table.row_names is None
    np.testing.assert_array_equal(table.data, [[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert any("ends in an empty cell" in note for note in table.notes)


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}, {"drop": "b"}])
def test_trailing_delimiter_below_numbers(tmp_path, how):
    path = tmp_path / "m.csv"
    path.write_text("a,b,c\n1,2,3.5,\n4,5,6,\n7,8,9,\n")
    table = read(path, **how)
    names = [name for name in ["a", "b", "c"] if name != how.get("drop")]
    assert table.column_names == names
    assert table.row_names is None
    assert table.data[0].tolist() == [{"a": 1, "b": 2, "c": 3.5}[name] for name in names]


def test_trailing_delimiter_keeps_row_names_of_text(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("gene,b,c\nx,2,3,\ny,5,6,\nz,8,9,\n")
    table = read(path)
    assert table.row_names == ["x", "y", "z"]
    assert table.column_names == ["b", "c"]


def test_a_later_row_with_a_cell_too_many_is_an_error(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("a,b,c\n" + "1,2,3,\n" * 150 + "1,2,3,4\n")
    with pytest.raises(DataError, match="row 152 has 4 cells where the header has 3"):
        read(path)


def test_a_header_without_corner_is_still_one(tmp_path):
    path = tmp_path / "m.tsv"
    path.write_text("a\tb\tc\nr1\t1\t2\t\nr2\t1\t2\t3\n")
    table = read(path)
    assert table.row_names == ["r1", "r2"]
    assert table.column_names == ["a", "b", "c"]


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}, {"drop": "b"}])
@pytest.mark.parametrize("tail", [",", ",,"])
def test_a_column_of_no_name_and_no_content_is_no_sample(tmp_path, tail, how):
    path = tmp_path / "m.csv"
    path.write_text("".join(f"{row}{tail}\n" for row in ("gene,a,b,c", "G1,1,2,3", "G2,4,0,1", "G3,0,5,2")))
    table = read(path, transpose=True, **how)
    names = [name for name in "abc" if name != how.get("drop")]
    assert (table.row_names, table.column_names) == (names, ["G1", "G2", "G3"])
    np.testing.assert_array_equal(table.data[-1], [3, 1, 2])
    which = "1 column has" if tail == "," else "2 columns have"
    assert f"{which} neither a name nor any cell" in "".join(table.notes)
    again = read(path, coding=table.coding, **how)
    assert again.row_names == names


def test_a_column_of_ticks_without_a_name_or_with_one_stays(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("q,a,,c,\nG1,x,,x,\nG2,,x,,\nG3,x,,,\n")
    table = read(path, transpose=True, yes_no=True)
    assert table.row_names == ["a", "", "c"]
    np.testing.assert_array_equal(table.data, [[1, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert read(path, coding=table.coding, yes_no=True).row_names == table.row_names
    path.write_text("q,a,b\nG1,1,\nG2,4,\nG3,0,\n")
    assert read(path, transpose=True).row_names == ["a", "b"]
