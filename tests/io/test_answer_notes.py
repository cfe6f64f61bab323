"""What is said of answers: columns of yes and nothing else, and how many cells are missing."""

import numpy as np
import pytest

from partwise.io import read


@pytest.fixture
def table(tmp_path):
    def write(text, **options):
        (tmp_path / "survey.csv").write_text(text, encoding="utf-8")
        return read(tmp_path / "survey.csv", **{"yes_no": True, **options})

    return write


@pytest.mark.parametrize(
    ("yes", "no"), [("1", "0"), ("ja", "nein"), ("1", "2"), ("genannt", "nicht genannt")]
)
@pytest.mark.parametrize("yes_no", [True, "answers"])
def test_columns_of_yes_and_nothing_are_named_whatever_others_hold(table, yes, no, yes_no):
    text = f"q0,q1,q2\n{yes},{yes},\n{no},,{yes}\n,{yes},\n"
    found = table(text, yes_no=yes_no)
    np.testing.assert_array_equal(np.isnan(found.data), [[0, 0, 1], [0, 1, 0], [1, 0, 1]])
    said = f"2 columns, 'q1' and 'q2', hold nothing but yes ('{yes}') and 3 empty cells, which are missing."
    if (yes, yes_no) == ("1", "answers") and no == "0":
        # A table of numbers, which is not asked for answers.
        assert found.notes == ()
        return
    assert found.notes[-1].startswith(f"{found.source}: {said} If it means no, add --no ''")
    assert "other columns" in found.notes[-1]
    read_so = table(text, yes_no=yes_no, no="")
    np.testing.assert_array_equal(read_so.data, [[1, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert not any("nothing but yes" in note for note in read_so.notes)


def test_one_such_column_and_columns_without_empty_cells(table):
    notes = table("a,b,c\nyes,yes,yes\nno,,yes\n").notes
    assert "column 'b' holds nothing but yes ('yes') and 1 empty cell, which is missing." in notes[-1]
    assert not any("nothing but" in note for note in table("a,b\nyes,yes\nno,yes\n").notes)
    assert not any("nothing but" in note for note in table("a,b\n1,\n,1\n", missing="").notes)


def test_ticks_are_decided_already(table):
    assert not any("nothing but" in note for note in table("a,b\nx,0\n,1\n").notes)


def test_missing_cells_are_counted_in_all_columns_of_answers(table):
    found = table("a,b,c\nja,1,\nnein,,0\nja,1,1\nja,,NA\n")
    assert (
        "3 columns, 'a', 'b' and 'c', were read as yes and no: 6 yes ('ja', '1'), 2 no ('nein', '0'), 4 missing."
        in found.notes[0]
    )
    assert np.isnan(found.data).sum() == 4


def test_a_sav_of_ja_and_system_missing(tmp_path):
    pd = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"q0": [1.0, 2, 1], "q1": [1.0, np.nan, np.nan], "q2": [np.nan, 1.0, np.nan]})
    labels = {"q0": {1: "ja", 2: "nein"}, "q1": {1: "ja"}, "q2": {1: "ja"}}
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels=labels)
    found = read(tmp_path / "a.sav", yes_no=True)
    assert (
        "3 columns, 'q0', 'q1' and 'q2', were read as yes and no: 4 yes ('ja', '1'), 1 no ('nein'), 4 missing."
        in found.notes[0]
    )
    assert "2 columns, 'q1' and 'q2', hold nothing but yes ('1') and 4 empty cells" in found.notes[1]
    assert not np.isnan(read(tmp_path / "a.sav", yes_no=True, no="").data).any()
