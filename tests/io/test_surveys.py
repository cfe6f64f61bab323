"""Tables of yes and no as people write them, ids, chosen columns, workbooks, standard input, encodings."""

import io
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read
from partwise.io.answer_words import PAIRS, folded

NAN = np.nan
LANGUAGES = """yes no, y n, YES NO, ja nein, Oui NON, oui non, sí no, si no, sim não, SIM NAO, ja nee, ja nej,
ja nei, tak nie, ano ne, da nu, igen nem, kyllä ei, да нет, ДА НЕТ, ναι όχι, ΝΑΙ ΌΧΙ, evet hayır, EVET HAYIR,
j n, o n, s n, + -, + −, true false, T F, WAHR FALSCH, vrai faux, 1 2, 1.0 2.0""".replace("\n", " ").split(
    ", "
)


@pytest.fixture
def table(tmp_path):
    def write(text, **options):
        content = text if isinstance(text, bytes) else text.encode()
        (tmp_path / "survey.csv").write_bytes(content)
        return read(tmp_path / "survey.csv", **{"yes_no": True, **options})

    return write


@pytest.mark.parametrize("pair", LANGUAGES)
@pytest.mark.parametrize("start", ["", "a;b;c\n"])
def test_yes_and_no_in_many_words(table, pair, start):
    yes, no = pair.split()
    found = table(f"{start}{yes};{no};{no}\n{no};{yes};{yes}\n{no};;{yes}\n")
    np.testing.assert_array_equal(found.data, [[1, 0, 0], [0, 1, 1], [0, NAN, 1]])
    assert found.row_names is None
    assert found.column_names == (["a", "b", "c"] if start else None)
    assert len(found.notes) == 1
    names = "'a', 'b' and 'c'" if start else "'column 1', 'column 2' and 'column 3'"
    assert f"3 columns, {names}, were read as yes and no: 4 yes" in found.notes[0]
    assert "4 no" in found.notes[0]
    assert "1 missing" in found.notes[0]


def test_no_word_of_a_language_means_both_sides():
    for yes, no in PAIRS:
        assert not yes & no
        assert all(folded(word) == word for word in yes | no)


def test_a_cross_or_nothing(table):
    found = table("who,a,b,c\nann,x,,\nbob,,X,\ncy,x,NA,\n")
    np.testing.assert_array_equal(found.data, [[1, 0, 0], [0, 1, 0], [1, NAN, 0]])
    assert found.row_names == ["ann", "bob", "cy"]
    assert "3 yes ('x', 'X'), 5 no (empty), 1 missing" in found.notes[0]
    found = table("a,b\nx,\n,x\n", missing="")
    np.testing.assert_array_equal(found.data, [[1, NAN], [NAN, 1]])


def test_one_and_nothing_is_asked_about(table):
    found = table("a,b\n1,\n,1\n")
    np.testing.assert_array_equal(found.data, [[1, NAN], [NAN, 1]])
    assert "If it means no, add --no ''" in found.notes[0]
    np.testing.assert_array_equal(table("a,b\n1,\n,1\n", no="").data, np.eye(2))


def test_one_and_two_are_said(table):
    text = "a,b\n1,2\n2,2\n"
    found = table(text)
    np.testing.assert_array_equal(found.data, [[1, 0], [0, 0]])
    assert "if it is the other way round, add --yes 2 --no 1" in found.notes[0]
    found = table(text, yes="2", no="1")
    np.testing.assert_array_equal(found.data, [[0, 1], [1, 1]])
    assert "other way" not in found.notes[0]


def test_the_callers_words(table):
    found = table("a,b\nnever,often\noften,99\nnever,98\n", yes=["often"], no="NEVER", missing=["99", "98"])
    np.testing.assert_array_equal(found.data, [[0, 1], [1, NAN], [0, NAN]])
    assert "2 missing" in found.notes[0]
    found = table("a,b\n9,9.0\n3,2\n", yes_no=False, missing="9")
    np.testing.assert_array_equal(found.data, [[NAN, NAN], [3, 2]])


def test_words_that_do_not_occur_are_told(table):
    numbers = "\n".join(f"{i},{i}" for i in range(100))
    found = table(f"a,b\n{numbers}\n", yes_no=False, missing=["99", "98.0", "zeros"])
    assert found.notes == (f"{found.source}: no cell is 'zeros'.",)
    assert np.isnan(found.data).sum() == 4


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (
            "a,b\nyes,no\nno,no\nmaybe,no\n",
            {},
            r"column 'a' holds 'no' and 'yes'.*also 'maybe' \('maybe' once, in row 4\)",
        ),
        ("a,b\nyes,no\nno,no\nmaybe,no\n", {}, "--yes, --no or --missing 'maybe'.*--drop 'a'"),
        ("a,b\n1,2\n2,9\n1,1\n", {}, "If 9 marks missing answers, add --missing 9"),
        ("a,b\n1,0\n0,9\n1,99\n", {}, "add --missing 9 --missing 99"),
        (
            "a,b\n1,0\n0,2\n1,1\n",
            {},
            r"column 'b' holds '0', '1' and '2' \(2 in row 3\); yes and no are 1 and 0. Say what 2 means",
        ),
        ("age,b\n31,0\n40,1\n31,1\n18,0\n", {}, "column 'age' holds '18', '31' and '40'.*--drop 'age'"),
        ("a,b\n1,2\n2,2\n", {"yes": "2"}, "holds '2' for yes or no, and also '1'"),
        ("a,b\n1,2\n2,2\n", {"yes": "2", "no": "2"}, "'2' cannot have two meanings"),
    ],
)
def test_what_cannot_be_told_is_refused_with_the_remedy(table, text, options, sentence):
    with pytest.raises(DataError, match=sentence):
        table(text, **options)


def test_words_that_only_look_so(table):
    """One letter that occurs alone, sexes and other words are text, whatever the other columns hold."""
    found = table("q,sex,class,size\nyes,m,a,low\nno,f,a,no\nno,f,a,high\nyes,m,a,high\n")
    assert list(found.text) == ["sex", "class", "size"]
    assert found.column_names == ["q"]
    # One side alone is read where the word is plain, or another column has both sides.
    assert table("a,b\ny,n\nn,n\n").data.tolist() == [[1, 0], [0, 0]]
    assert table("a,b\nnein,1\nnein,0\n").data.tolist() == [[0, 1], [0, 0]]


def test_counts_stay_counts_where_only_words_are_read(table):
    found = table("a,b\n1,yes\n2,no\n", yes_no="words")
    assert found.data.tolist() == [[1, 1], [2, 0]]


def test_without_asking_words_are_text_and_can_be_labels(table):
    found = table("a,b\n1,yes\n2,no\n", yes_no=False)
    assert found.text == {"b": ["yes", "no"]}


@pytest.mark.parametrize("name", ["id", "ID", "Respondent", "Response ID", "user_id", "lfdn", "Case no."])
@pytest.mark.parametrize("yes_no", [True, False])
def test_an_id_is_no_data(table, name, yes_no):
    found = table(f"a,{name},b\n1,101,0\n0,102,1\n", yes_no=yes_no)
    assert found.data.tolist() == [[1, 0], [0, 1]]
    assert found.row_names == ["101", "102"]
    assert found.notes == (f"{found.source}: column '{name}' names the rows.",)
    # Values that occur twice are no names.
    found = table(f"a,{name},b\n1,1,0\n0,1,1\n", yes_no=yes_no)
    assert found.column_names == ["a", name, "b"]


@pytest.mark.parametrize("yes_no", [True, "answers"])
def test_rows_without_any_cell_are_left_out(table, yes_no):
    found = table("id,q,r\n1,yes,no\n,,\n2,no,yes\n", yes_no=yes_no)
    assert found.data.tolist() == [[1, 0], [0, 1]]
    assert found.row_names == ["1", "2"]
    assert found.notes[-1] == f"{found.source}: row 3 has no cell and was left out."
    # Spreadsheets leave such rows above and below the table, too, and wider than it is.
    found = table(",,,\nq,r\n1,0\n , \n,,,\n0,1\n,\n", yes_no=yes_no)
    assert found.data.tolist() == [[1, 0], [0, 1]]
    assert found.column_names == ["q", "r"]
    assert found.notes[-1].endswith("4 rows, the first of them row 1, have no cell and were left out.")
    other = table("q,r\n1,1\n,\n", coding=found.coding)
    assert other.data.tolist() == [[1, 1]]


def test_rows_of_empty_cells_stay_where_these_mean_no(table):
    found = table("a,b\nx,\n,\n,x\n")
    assert found.data.tolist() == [[1, 0], [0, 0], [0, 1]]
    assert table("a,b\nx,x\n,\n", coding=found.coding).data.tolist() == [[1, 1], [0, 0]]
    assert table("a,b\n1,\n,1\n,\n", no="").data.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_an_id_with_gaps_names_the_rows_all_the_same(table):
    found = table("id,q,r\n1,yes,no\n,yes,no\n2,no,yes\n3,no,yes\n")
    assert found.row_names == ["1", "", "2", "3"]
    assert found.column_names == ["q", "r"]
    assert found.notes[0].endswith("column 'id' names the rows; 1 of them has no name there.")


def test_numbers_that_tell_rows_apart_in_a_table_of_yes_and_no(table):
    text = "code,a,b\n7,yes,no\n9,no,no\n8,no,yes\n"
    assert table(text).row_names == ["7", "9", "8"]
    assert table("7,1,0\n9,0,0\n8,0,1\n").row_names == ["7", "9", "8"]


def test_columns_by_name(table):
    text = 'who,"a, or b",c,d\n3,1,2,3\n3,4,5,6\n'
    keep = {"yes_no": False}
    assert table(text, **keep, drop=["who", "a, or b"]).column_names == ["c", "d"]
    assert table(text, **keep, drop="who,c").column_names == ["a, or b", "d"]
    assert table(text, **keep, columns='d,"a, or b"').data.tolist() == [[3, 1], [6, 4]]
    found = table(text, **keep, id="d")
    assert (found.row_names, found.corner, found.column_names) == (["3", "6"], "d", ["who", "a, or b", "c"])
    with pytest.raises(DataError, match=r"has no column 'whoo'. Did you mean 'who'"):
        table(text, **keep, drop="whoo")
    with pytest.raises(DataError, match=r"no column is left"):
        table("a,b\n1,2\n", **keep, drop="a,b")
    with pytest.raises(DataError, match=r"row 3 has 2 cells where the header has 3"):
        table("a,b,c\n1,2,3\n1,2\n", **keep, drop="a")


@pytest.mark.parametrize(
    ("head", "first"), [("ID", ("7", "8", "9")), ("", ("u", "v", "w")), ("town", ("Ulm", "Bonn", "Ulm"))]
)
@pytest.mark.parametrize("yes_no", [True, False, "answers"])
def test_chosen_columns_keep_the_names_of_their_rows(table, head, first, yes_no):
    text = f"{head},a,b\n" + "\n".join(f"{name},{i % 2},1" for i, name in enumerate(first)) + "\n"
    whole, some = table(text, yes_no=yes_no), table(text, yes_no=yes_no, columns="b,a")
    assert some.row_names == whole.row_names == list(first)
    assert some.column_names == ["b", "a"]
    assert some.notes == whole.notes
    assert some.corner == whole.corner
    # What is asked for is data, and what is left out names nothing.
    if head == "ID":
        assert table(text, yes_no=False, columns="ID,a").data[0, 0] == 7
        assert table(text, yes_no=yes_no, columns="a,b", drop="ID").row_names is None


def test_answers_in_front_of_chosen_columns_are_no_names(table):
    assert table("a,b,c\nja,ja,1\nnein,ja,0\n", columns="b,c").row_names is None


def test_columns_without_names(table):
    with pytest.raises(DataError, match=r"--drop 'column 2'"):
        table("1,2,0\n0,2,1\n")
    assert table("1,2,0\n0,2,1\n", drop="column 2").data.tolist() == [[1, 0], [0, 1]]


def test_a_dropped_column_may_hold_anything(table):
    assert table("a,b\n1,2\nx,3\n", yes_no=False, drop="a").data.tolist() == [[2], [3]]


def test_encodings_and_decimal_commas(table):
    with pytest.raises(DataError, match=r"not UTF-8.*--encoding latin-1"):
        table("a;größe\n1;0\n".encode("latin-1"))
    assert table("a;größe\n1;0\n".encode("latin-1"), encoding="latin-1").column_names == ["a", "größe"]
    with pytest.raises(DataError, match=r"no encoding 'klingon'"):
        table("a\n1\n", encoding="klingon")
    for text in (
        "a;b\n1,5;2\n1.000,25;-3,5\n",
        '"a","b"\n"1,5","2"\n"1.000,25","-3,5"\n',
        "1,5;2\n1.000,25;-3,5\n",
    ):
        assert table(text, yes_no=False, decimal=",").data.tolist() == [[1.5, 2], [1000.25, -3.5]]
    with pytest.raises(DataError, match=r"--decimal ,"):
        table("a;b\n1,5;2\n2,5;3\n", yes_no=False)
    with pytest.raises(DataError, match=r"decimal must be"):
        table("a\n1\n", decimal=";")


def test_points_beside_decimal_commas_stand_between_thousands(table):
    options = {"yes_no": False, "decimal": ","}
    found = table("p;q;r\n1.234;2,5;1\n-2.500;1;3\n1.000,5;3;1\n12.345.678;0;1\n", **options)
    assert found.data[:, 0].tolist() == [1234, -2500, 1000.5, 12345678]
    assert found.notes == (f"{found.source}: points stand between thousands: '1.234' in row 2 is 1234.",)
    for cell in ("12.5", "1.23", "0.125", "1234.567", "1.5e3"):
        for more in ({}, {"missing": "99"}):
            with pytest.raises(
                DataError, match=rf"column 'q' \(2nd\) holds '{cell}'.*\(row 3\).*--decimal \."
            ):
                table(f"p;q\n1;12,5\n2;{cell}\n", **options, **more)
    # Where the first rows have nothing, it is found as well.
    gaps = "2;\n" * 150
    with pytest.raises(DataError, match=r"'q' \(2nd\) holds '12.5'.*\(row 152\)"):
        table(f"p;q\n{gaps}2;12.5\n", **options)


def test_names_and_text_keep_their_points_and_commas(table):
    text = "who;1.5;2,5;note;old\n1.001;1,5;2;1,5 m;1.5\nb1.2;1;2;12.5;2.5\n1,3;1;2;u;3\n"
    found = table(text, yes_no=False, decimal=",", drop="old", id="who")
    assert found.row_names == ["1.001", "b1.2", "1,3"]
    assert found.column_names == ["1.5", "2,5"]
    assert found.text["note"] == ["1,5 m", "12.5", "u"]


def test_numbers_of_a_workbook_have_no_marks(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1.234, "1.234"], [0.5, "2,5"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx", decimal=",").data.tolist() == [[1.234, 1234], [0.5, 2.5]]


def test_numbers_of_a_frame_have_no_marks(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.234, 0.5], "b": ["1.234", "2,5"], "c": [1.5, 2.0]})
    frame.to_parquet(tmp_path / "a.parquet")
    expected = [[1.234, 1234, 1.5], [0.5, 2.5, 2]]
    assert read(tmp_path / "a.parquet", decimal=",").data.tolist() == expected
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"))
    assert read(tmp_path / "a.sav", decimal=",").data.tolist() == expected


def test_text_in_another_encoding_than_the_named_one(tmp_path):
    path = tmp_path / "ru.csv"
    path.write_bytes("Пол;Город\n1;0\n0;1\n".encode("cp1251"))
    with pytest.raises(DataError, match=r"not UTF-8.*latin-1 \(Western Europe\).*cp1251 \(Cyrillic\)"):
        read(path)
    assert "'Ïîë' are hardly latin-1: try --encoding" in read(path, encoding="latin-1").notes[-1]
    assert read(path, encoding="cp1251").notes == ()
    path.write_bytes("Пол\nмужской\nженский\n".encode("cp1251"))
    with pytest.raises(DataError, match=r"no column of numbers.*are hardly latin-1"):
        read(path, encoding="latin-1")
    path.write_bytes("Größe;façade;créée;naïf\n1;0;1;0\n0;1;1;1\n".encode("latin-1"))
    assert read(path, encoding="latin-1").notes == ()


def test_a_comma_in_a_question_cuts_nothing(table):
    assert table("Do you read, often?;b\nyes;no\nno;no\n").column_names == ["Do you read, often?", "b"]


def test_numbers_in_arrays(tmp_path):
    X = np.array([[1, 2], [2, 9]])
    np.savez(tmp_path / "a.npz", X=X)
    found = read(tmp_path / "a.npz", yes_no=True, missing="9")
    np.testing.assert_array_equal(found.data, [[1, 0], [0, NAN]])
    assert "1 yes, 2 no, 1 missing. 1 is taken for yes" in found.notes[0]
    sp.save_npz(tmp_path / "s.npz", sp.csr_matrix([[0, 3], [9, 0]]))
    found = read(tmp_path / "s.npz", yes="3", missing="9").data.toarray()
    np.testing.assert_array_equal(found, [[0, 1], [NAN, 0]])
    with pytest.raises(DataError, match=r"what it does not store is 0"):
        read(tmp_path / "s.npz", yes="0")


def test_parquet(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": ["yes", None], "b": [True, False], "c": [1.0, 2.0], "age": [30, 31]}, index=["r", "s"]
    )
    frame.to_parquet(tmp_path / "a.parquet")
    found = read(tmp_path / "a.parquet", yes_no="words", drop="age")
    np.testing.assert_array_equal(found.data, [[1, 1, 1], [NAN, 0, 2]])
    assert found.row_names == ["r", "s"]


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["ID", "a", "b"], [11, "Ja", 2.5], [12, "nein", None], [None, None, None]):
        book.active.append(row)
    book.create_sheet("other").append([1, 2])
    book.save(tmp_path / "a.xlsx")
    found = read(tmp_path / "a.xlsx", yes_no="words")
    np.testing.assert_array_equal(found.data, [[1, 2.5], [0, NAN]])
    assert (found.row_names, found.column_names) == (["11", "12"], ["a", "b"])
    assert read(tmp_path / "a.xlsx", key="other").data.tolist() == [[1, 2]]
    with pytest.raises(DataError, match=r"no sheet 'x'. Its sheets are: 'Sheet' and 'other'"):
        read(tmp_path / "a.xlsx", key="x")


def test_formulas_whose_values_are_not_stored_are_told(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"

    def written(*rows):
        book = openpyxl.Workbook()
        book.create_sheet("other").append(["=1"])
        for row in rows:
            book.active.append(row)
        book.active["B3"].font = openpyxl.styles.Font(bold=True)
        book.save(path)
        return path

    found = read(written(["a", "b", "c"], [1, 2, "=A2+B2"], [3, None, 5]))
    np.testing.assert_array_equal(found.data, [[1, 2, NAN], [3, NAN, 5]])
    assert "1 cell holds a formula whose value is not stored (e.g. C2), and taken for empty" in found.notes[0]
    found = read(written(["a", "b", "c"], [1, 2, "=A2+B2"], [3, None, "=A3"]))
    assert "2 cells hold formulas whose values are not stored (e.g. C2)" in found.notes[0]
    assert "open the file in a spreadsheet program and save it" in found.notes[0]
    # Cells with a format alone are empty, and nothing is to be told.
    assert not any("formula" in note for note in read(written(["a", "b"], [1, 2], [3, None])).notes)
    with pytest.raises(DataError, match="1 cell holds a formula"):
        read(path, key="other")


def test_formulas_with_an_empty_text_are_calculated(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, '=IF(A2=1,"",2)'], [3, 4]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    # As spreadsheet programs store the value of such a formula.
    with zipfile.ZipFile(tmp_path / "a.xlsx") as old, zipfile.ZipFile(tmp_path / "b.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                assert b'<c r="B2"><f>' in content
                content = content.replace(b'<c r="B2"><f>', b'<c r="B2" t="str"><f>')
            new.writestr(name, content)
    found = read(tmp_path / "b.xlsx")
    np.testing.assert_array_equal(found.data, [[1, NAN], [3, 4]])
    assert not any("formula" in note for note in found.notes)


def test_spss(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": [1.0, 2, 3], "q": [2.0, 1, 9], "mood": [1.0, 4, 5]})
    labels = {"q": {1: "Nein", 2: "Ja", 9: "weiß nicht"}, "mood": {1: "low", 5: "high"}}
    pyreadstat.write_sav(
        frame, str(tmp_path / "a.sav"), variable_value_labels=labels, missing_ranges={"q": [9]}
    )
    found = read(tmp_path / "a.sav", yes_no="words")
    np.testing.assert_array_equal(found.data, [[1, 1], [0, 4], [NAN, 5]])
    assert found.row_names == ["1", "2", "3"]
    np.testing.assert_array_equal(read(tmp_path / "a.sav").data, [[2, 1], [1, 4], [NAN, 5]])


def test_spss_labels_that_do_not_say_yes_and_no(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2, 99], "b": [2.0, 1, 1], "sex": [1.0, 2, 1]})
    answers = {1: "Ja", 2: "Nein", 99: "keine Angabe"}
    labels = {"a": answers, "b": answers, "sex": {1: "m", 2: "w"}}
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
    gone = {"yes_no": True, "missing": "99"}
    with pytest.raises(
        DataError, match=r"'sex' holds 1 \('m'\) and 2 \('w'\).*--yes 'm' --no 'w'.*--drop 'sex'"
    ):
        read(path, **gone)
    # Codes mark what is missing as their labels do.
    np.testing.assert_array_equal(read(path, drop="sex", **gone).data, [[1, 0], [0, 1], [NAN, 1]])
    named = read(path, drop="sex", yes_no=True, missing="keine Angabe")
    np.testing.assert_array_equal(named.data, [[1, 0], [0, 1], [NAN, 1]])
    told = read(path, yes=["w"], no=["m"], **gone)
    np.testing.assert_array_equal(told.data[:, 2], [0, 1, 0])
    np.testing.assert_array_equal(read(path, coding=told.coding).data, told.data)
    # Numbers stay numbers where they may.
    np.testing.assert_array_equal(read(path, yes_no="answers", missing="99").data[:, 2], [1, 2, 1])
    np.testing.assert_array_equal(read(path, missing="keine Angabe").data[:, 0], [1, 2, NAN])


@pytest.mark.parametrize(
    "words", ["genannt, nicht genannt", "Selected, Not selected", "Cité, Non cité", "ja, nein"]
)
@pytest.mark.parametrize("codes", [(0, 1), (1, 0), (1, 2), (2, 1)])
def test_spss_labels_go_before_codes(tmp_path, words, codes):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    answers = dict(zip(codes, words.split(", ")))
    yes, no = map(float, codes)
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"a": [yes, no, yes], "b": [no, yes, NAN], "c": [yes, yes, yes]})
    pyreadstat.write_sav(frame, str(path), variable_value_labels=dict.fromkeys("abc", answers))
    for yes_no in (True, "answers"):
        found = read(path, yes_no=yes_no)
        np.testing.assert_array_equal(found.data, [[1, 0, 1], [0, 1, 1], [1, NAN, 1]])
        assert f"6 yes ('{answers[codes[0]]}'), 2 no ('{answers[codes[1]]}'), 1 missing" in found.notes[0]
        np.testing.assert_array_equal(read(path, coding=found.coding).data, found.data)
    # What the caller says of codes goes before labels, but he has to say so each time.
    named = {"yes": str(codes[1]), "no": str(codes[0])}
    turned = read(path, yes_no=True, **named)
    np.testing.assert_array_equal(turned.data, [[0, 1, 0], [1, 0, 0], [0, NAN, 0]])
    np.testing.assert_array_equal(read(path, coding=turned.coding, **named).data, turned.data)
    with pytest.raises(DataError, match=r"labelled .* but was .* in the data of the fit"):
        read(path, coding=turned.coding)


def test_spss_labels_of_zero_and_one(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    path = tmp_path / "a.sav"
    frame = pd.DataFrame({"a": [0.0, 1, 1], "b": [1.0, 0, 1], "sex": [0.0, 1, 0]})

    def labelled(**labels):
        pyreadstat.write_sav(frame, str(path), variable_value_labels=labels)
        return path

    labelled(sex={0: "m", 1: "w"})
    with pytest.raises(
        DataError, match=r"'sex' holds 0 \('m'\) and 1 \('w'\).*--yes 'w' --no 'm'.*--drop 'sex'"
    ):
        read(path, yes_no=True)
    assert read(path, yes_no=True, drop="sex").data.tolist() == [[0, 1], [1, 0], [1, 1]]
    assert read(path, yes_no=True, yes="m", no="w").data[:, 2].tolist() == [1, 0, 1]
    # Numbers stay numbers where they may.
    np.testing.assert_array_equal(read(path, yes_no="answers").data, frame.to_numpy())
    # One label that says what its code says is enough, and one that says the contrary is refused.
    for kind in ({0: "No", 1: "Tea"}, {0: "Tea", 1: "yes"}, {0: "0", 1: "1"}, {1: "Tea"}):
        np.testing.assert_array_equal(read(labelled(a=kind), yes_no=True).data, frame.to_numpy())
    for kind in ({0: "Yes", 1: "Tea"}, {0: "Tea", 1: "no"}, {0: "low", 1: "high"}):
        with pytest.raises(DataError, match="these labels do not say yes and no"):
            read(labelled(a=kind), yes_no=True)


def test_words_of_mentions_need_their_counterpart(table):
    text = "a,b,c\nselected,not selected,yes\nnot selected,not selected,no\n"
    assert table(text).data.tolist() == [[1, 0, 1], [0, 0, 0]]
    found = table("q,state,more\nyes,selected,genannt\nno,rejected,genannt\nno,selected,genannt\n")
    assert list(found.text) == ["state", "more"]


@pytest.mark.parametrize("pair", ["✓ ✗", "✔ ✘", "✓ ×", "✓ x", "☑ ☒", "✓ X"])
def test_a_cross_beside_a_tick_is_no(table, pair):
    yes, no = pair.split()
    text = f"a,b,c\n{yes},{no},{no}\n{no},{yes},{no}\n{yes},,{no}\n"
    for yes_no in (True, "answers"):
        found = table(text, yes_no=yes_no)
        np.testing.assert_array_equal(found.data, [[1, 0, 0], [0, 1, 0], [1, NAN, 0]])
        assert f"3 yes ('{yes}'), 5 no ('{no}'), 1 missing" in found.notes[0]
        assert f"'{no.lower()}' beside '{yes}' is taken for no, and empty cells for missing" in found.notes[0]
        # Another table is read in the same way, also where it has but one of the marks.
        other = table(f"a,b,c\n{no},{no},{yes}\n{no},,{yes}\n", coding=found.coding)
        np.testing.assert_array_equal(other.data, [[0, 0, 1], [0, NAN, 1]])
    assert table(text, no="").data[2, 1] == 0
    assert np.isnan(table(text, missing=no).data[0, 1])
    assert table(text, yes=yes).data[0].tolist() == [1, 0, 0]


def test_an_x_beside_empty_cells_stays_yes(table):
    """Another column may have been filled in by somebody who writes ✓."""
    assert table("a,b\nx,\n,✓\nx,✓\n").data.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert table("a,b\n✗,\n,✗\n").data.tolist() == [[1, 0], [0, 1]]


def test_letters_beside_answers_in_words(table):
    """N and S are regions beside yes and no, but no and sí beside the latter."""
    text = "tea,milk,where\n{0},{1},N\n{1},{0},S\n{0},{0},N\n"
    for yes_no in (True, "answers"):
        found = table(text.format("yes", "no"), yes_no=yes_no)
        assert found.text == {"where": ["N", "S", "N"]}
        assert found.column_names == ["tea", "milk"]
        found = table(text.format("sí", "no"), yes_no=yes_no)
        assert found.data[:, 2].tolist() == [0, 1, 0]
        assert "Single letters in 'where' are taken for answers, too" in found.notes[0]
    assert table("a,where\nyes,N\nyes,S\n").text == {"where": ["N", "S"]}
    found = table("a,b,c,d\nyes,y,n,j\nno,n,n,n\n")
    assert found.data.tolist() == [[1, 1, 0, 1], [0, 0, 0, 0]]
    assert "Single letters in 'b', 'c' and 'd'" in found.notes[0]
    # True and false are of no language, and letters of one language in several columns are answers.
    assert table("a,b,c\nTRUE,S,N\nFALSE,N,S\n").data.tolist() == [[1, 1, 0], [0, 0, 1]]
    assert table("a,c\nTRUE,N\nFALSE,S\n").column_names == ["a"]
    assert "Single" not in table("a,b\ny,n\nn,y\n").notes[0]


@pytest.mark.parametrize("letters", ["EK", "NS", "DN", "AN", "PF", "EH", "ON", "BE"])
def test_letters_that_may_be_groups_need_other_evidence(table, letters):
    one, two = letters
    text = f"group,a,b,c\nx1,3,{one},7\nx2,4,{two},8\nx3,5,{one},9\n"
    found = table(text, yes_no="answers")
    assert found.text == {"b": [one, two, one]}
    assert found.notes == (f"{found.source}: column 'b' holds text and was set aside.",)
    assert table(f"q,b\n1,{one}\n0,{two}\n1,{one}\n").column_names == ["q"]
    # Other columns of the same letters make them answers.
    found = table(f"a,b,c\n3.5,{one},{one}\n4,{two},{one}\n4,{one},{two}\n", yes_no="answers")
    assert found.text == {}
    assert "2 columns, 'b' and 'c', were read as yes and no" in found.notes[0]


@pytest.mark.parametrize("letters", ["YN", "jn", "TF"])
def test_plain_letters_need_no_other_evidence(table, letters):
    found = table(f"a,b\n3,{letters[0]}\n4,{letters[1]}\n5,{letters[0]}\n", yes_no="answers")
    assert found.data[:, 1].tolist() == [1, 0, 1]
    assert "column 'b' was read as yes and no" in found.notes[0]


def test_letters_of_directions_beside_answers_are_no_error(table):
    found = table("a,where\nyes,N\nno,S\nyes,W\nno,N\n")
    assert found.text == {"where": ["N", "S", "W", "N"]}


def test_one_and_two_beside_words_are_named(table):
    found = table("a,b,Geschlecht\nja,nein,1\nnein,ja,2\nja,ja,1\n")
    assert "1 is taken for yes and 2 for no in 'Geschlecht', beside answers in words" in found.notes[0]


def test_numbers_of_persons_that_occur_twice_have_a_remedy(table):
    rows = "\n".join(f"{i // 2},{i % 2},1" for i in range(100))
    with pytest.raises(
        DataError, match="If it tells rows apart, add --id 'ID'; else leave it out, --drop 'ID'"
    ):
        table(f"ID,a,b\n{rows}\n")
    assert table(f"ID,a,b\n{rows}\n", id="ID").row_names[:3] == ["0", "0", "1"]


def test_standard_input(monkeypatch, tmp_path):
    def piped(content, **options):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return read("-", **options)

    for content in (b"a,b\nyes,no\nno,no\n", b"a\tb\nyes\tno\nno\tno\n"):
        found = piped(content, yes_no=True)
        assert found.data.tolist() == [[1, 0], [0, 0]]
        assert found.source == "stdin"
    array = io.BytesIO()
    np.savez(array, X=np.eye(2))
    assert piped(array.getvalue(), format="npz").data.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(DataError, match=r"stdin is not a text table. Say what it is, as --format npz"):
        piped(array.getvalue())
    (tmp_path / "a.dat").write_text("a|b\n1|2\n")
    assert read(tmp_path / "a.dat", format=".txt").column_names == ["a", "b"]


def test_one_column_of_numbers_with_decimal_commas(tmp_path):
    (tmp_path / "one.csv").write_text("x\n1,5\n2,5\n3,25\n")
    table = read(tmp_path / "one.csv", decimal=",")
    assert table.column_names == ["x"]
    assert np.asarray(table.data)[:, 0].tolist() == [1.5, 2.5, 3.25]


def test_a_first_column_that_repeats_itself_is_told_to_name_the_rows(tmp_path):
    (tmp_path / "d.csv").write_text("smokes,tea,x\nno,3,1\nno,2,5\nno,4,1\n")
    notes = " ".join(read(tmp_path / "d.csv").notes)
    assert "the first column, 'smokes', is text and names the rows, though 'no' occurs 3 times" in notes
    (tmp_path / "d.csv").write_text("name,tea,x\nann,3,1\nbob,2,5\neve,4,1\n")
    assert not read(tmp_path / "d.csv").notes


def test_spss_labels_that_all_say_no_are_no(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"tea": [1.0, 2.0] * 4, "smokes": [1.0] * 8})
    labels = {"tea": {1: "nein", 2: "ja"}, "smokes": {1: "nein"}}
    pyreadstat.write_sav(frame, str(tmp_path / "no.sav"), variable_value_labels=labels)
    for yes_no in (True, "answers"):
        table = read(tmp_path / "no.sav", yes_no=yes_no)
        assert np.asarray(table.data)[:, table.column_names.index("smokes")].tolist() == [0.0] * 8


@pytest.mark.parametrize("nine", [9, 9.0, "9", [9], np.int64(9)])
def test_single_numbers_are_cells(tmp_path, nine):
    path = tmp_path / "s.csv"
    path.write_text("a,b\n1,2\n9,1\n2,1\n")
    table = read(path, yes=2, no=1, missing=nine)
    np.testing.assert_array_equal(table.data, [[0, 1], [np.nan, 0], [1, 0]])


def test_a_word_that_is_no_answer_is_named(tmp_path):
    pd = pytest.importorskip("pandas")
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"Nr": [3.0, 1, 7, 5], "q1": [1.0, 2, 9, 1], "q2": [2.0, 2, 1, 9]})
    labels = {1: "ja", 2: "nein", 9: "keine Angabe"}
    path = tmp_path / "a.sav"
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"q1": labels, "q2": labels})
    with pytest.raises(DataError, match=r"also 'keine Angabe' in row 4\. .* --missing 'keine Angabe'"):
        read(path, yes_no="answers")
    found = read(path, yes_no="answers", missing="keine Angabe")
    np.testing.assert_array_equal(found.data, [[1, 0], [0, 0], [np.nan, 1], [1, np.nan]])


def test_the_advice_on_titles_counts_their_rows(tmp_path):
    path = tmp_path / "a.gct"
    path.write_text("#1.2\n2\t2\nName\tDescription\ts1\ts2\ng1\tx\t1\t2\ng2\ty\t3\t4\n")
    with pytest.raises(DataError, match="--skip 2"):
        read(path, format="tsv")
    assert read(path, format="tsv", skip=2).column_names == ["s1", "s2"]


@pytest.mark.parametrize("yes_no", [True, "answers"])
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_a_row_of_totals_below_crosses_is_named(tmp_path, name, yes_no):
    rows = [["id", "q1", "q2"], [1, "x", None], [2, None, "x"], [3, "x", None], [None] * 3, ["Total", 2, 1]]
    if name == "a.csv":
        lines = (",".join("" if cell is None else str(cell) for cell in row) for row in rows)
        (tmp_path / name).write_text("\n".join(lines))
    else:
        book = pytest.importorskip("openpyxl").Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / name)
    sentence = (
        r"'q1' holds 'x' .* and also '2' \('2' once, in row 6\)\. If that row holds totals, take it out"
    )
    for options in ({}, {"yes": "x"}):
        with pytest.raises(DataError, match=sentence):
            read(tmp_path / name, yes_no=yes_no, **options)


@pytest.mark.parametrize("yes_no", [True, "answers"])
def test_crosses_beside_zeros_are_asked_about(table, yes_no):
    text = "a,b\nX,0\n0,X\n0,0\n0,X\n"
    with pytest.raises(DataError, match=r"'a' holds 'X' and 0\. If they are yes and no, add --yes X --no 0 "):
        table(text, yes_no=yes_no)
    assert table(text, yes_no=yes_no, yes="X", no=0).data.tolist() == [[1, 0], [0, 1], [0, 0], [0, 1]]


def test_a_column_of_crosses_and_numbers_among_numbers_is_text(table):
    found = table("size,score,mark\n5.5,2.5,x\n7.5,3.5,x\n9.5,4.5,3\n", yes_no="answers")
    assert found.text == {"mark": ["x", "x", "3"]}
