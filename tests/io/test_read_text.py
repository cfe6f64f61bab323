"""Text tables: where the names are, what counts as missing, and a sentence for everything else."""

import gzip

import numpy as np
import pytest

from partwise.io import DataError, read

nan = np.nan


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write a file of this name and text, and read it."""
    monkeypatch.chdir(tmp_path)

    def make(text, name="data.csv", **options):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return read(name, **options)

    return make


@pytest.mark.parametrize(
    ("text", "data", "rows", "columns"),
    [
        ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], None, ["a", "b"]),
        ("1,2\n3,4\n", [[1, 2], [3, 4]], None, None),
        ("1,2\n3,4", [[1, 2], [3, 4]], None, None),
        (",a,b\nx,1,2\ny,3,4\n", [[1, 2], [3, 4]], ["x", "y"], ["a", "b"]),
        ("gene,a,b\nx,1,2\ny,3,4\n", [[1, 2], [3, 4]], ["x", "y"], ["a", "b"]),
        (",0,1\n0,5,6\n1,7,8\n", [[5, 6], [7, 8]], ["0", "1"], ["0", "1"]),
        ("Unnamed: 0,a\n3,5\n4,7\n", [[5], [7]], ["3", "4"], ["a"]),
        ("x,1,2\ny,3,4\n", [[1, 2], [3, 4]], ["x", "y"], None),
        ("id,3,1\nx,1,2\n", [[1, 2]], ["x"], ["3", "1"]),
        (
            "land,1990,1991,1992\nFrance,1,2,9\nItaly,3,4,9\n",
            [[1, 2, 9], [3, 4, 9]],
            ["France", "Italy"],
            ["1990", "1991", "1992"],
        ),
        ("a,1,2,3\nb,4,5,6\n", [[1, 2, 3], [4, 5, 6]], ["a", "b"], None),
        ("a,1,2\n", [[1, 2]], ["a"], None),
        ("V1,V2\nr1,1,2\nr2,3,4\n", [[1, 2], [3, 4]], ["r1", "r2"], ["V1", "V2"]),
        ("x\n1\n2\n", [[1], [2]], None, ["x"]),
        ("\ufeffa,b\r\n1,2\r\n\r\n3,4\r\n", [[1, 2], [3, 4]], None, ["a", "b"]),
        ("a,b\r1,2\r3,4\r", [[1, 2], [3, 4]], None, ["a", "b"]),
        ("a;b\n1;2\n", [[1, 2]], None, ["a", "b"]),
        ('"a;b"\n1\n', [[1]], None, ["a;b"]),
        ("a , b\n 1 ,  2e3\n-3.5E-2,+4\n", [[1, 2000], [-0.035, 4]], None, ["a", "b"]),
        ('"a ""q"", x","b\nc"\n"1",2\n', [[1, 2]], None, ['a "q", x', "b\nc"]),
        ("True,false\nFALSE,true\n", [[1, 0], [0, 1]], None, None),
        ("a,b\n1,inf\n-Infinity,2\n", [[1, np.inf], [-np.inf, 2]], None, ["a", "b"]),
        ("a,b\n1,2\n   \n3,4\n", [[1, 2], [3, 4]], None, ["a", "b"]),
    ],
)
def test_names_and_numbers(table, text, data, rows, columns):
    found = table(text)
    np.testing.assert_array_equal(found.data, data)
    assert found.data.dtype == np.float64
    assert found.row_names == rows
    assert found.column_names == columns
    assert found.source == "data.csv"
    assert found.shape == np.shape(data)


def test_missing_cells_become_nan(table):
    found = table("a,b,c,d\n1,,NA,NaN\nnan,null,?,4\nN/A,NULL, ,<NA>\n")
    np.testing.assert_array_equal(found.data, [[1, nan, nan, nan], [nan, nan, nan, 4], [nan] * 4])


def test_a_row_name_may_look_missing(table):
    assert table(",a\nNA,1\nDE,2\n").row_names == ["NA", "DE"]


def test_header_and_row_names_can_be_said(table):
    years = table("1999,2000\n5,6\n", header=True)
    assert years.column_names == ["1999", "2000"]
    assert years.data.tolist() == [[5, 6]]
    numbered = table("id,a\n1,5\n2,6\n", row_names=True)
    assert numbered.row_names == ["1", "2"]
    assert numbered.column_names == ["a"]
    assert table("a,1,2,3\nb,7,2,9\n").column_names == ["1", "2", "3"]
    assert table("a,1,2,3\nb,7,2,9\n", header=False).row_names == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n1\t2\n",
        "a,b\n1,2\n",
        "a;b\n1;2\n",
        "a|b\n1|2\n",
        "  a   b \n 1.0  2.0\n",
        '"a" "b"\n1 2\n',
    ],
)
def test_txt_finds_its_delimiter(table, text):
    found = table(text, "data.txt")
    assert found.column_names == ["a", "b"]
    assert found.data.tolist() == [[1, 2]]


def test_numpy_savetxt_is_read(tmp_path):
    np.savetxt(tmp_path / "a.txt", np.eye(3))
    np.testing.assert_array_equal(read(tmp_path / "a.txt").data, np.eye(3))


def test_r_write_table_is_read(table):
    found = table('"V1" "V2"\n"1" 1 2\n"2" 3 4\n', "data.txt")
    assert found.row_names == ["1", "2"]
    assert found.column_names == ["V1", "V2"]


def test_tsv_gz_and_upper_case(table):
    assert table("a\tb, c\n1\t2\n", "data.TSV").column_names == ["a", "b, c"]
    packed = gzip.compress(b"a,b\n1,2\n")
    assert table(packed, "data.csv.gz").data.tolist() == [[1, 2]]
    assert table("a,b\n1,2\n".encode("utf-16")).data.tolist() == [[1, 2]]


def test_pandas_index_is_read(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.5, nan], [2.0, 3.0]], index=["r,1", 'r"2'], columns=["a b", "c"])
    frame.to_csv(tmp_path / "a.csv")
    found = read(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.data, frame.to_numpy())
    assert found.row_names == list(frame.index)
    assert found.column_names == list(frame.columns)


@pytest.mark.parametrize(
    ("text", "data", "rows", "columns", "aside"),
    [
        (
            "n,x,city,land\n1,2,Paris,F\n1,2,Rome,\n",
            [[1, 2], [1, 2]],
            None,
            ["n", "x"],
            {"city": ["Paris", "Rome"], "land": ["F", ""]},
        ),
        (
            "name,x,kind,y\na,1,big,2\nb,3, NA ,4\nc,5,small,\n",
            [[1, 2], [3, 4], [5, nan]],
            ["a", "b", "c"],
            ["x", "y"],
            {"kind": ["big", "NA", "small"]},
        ),
        ("5.1,setosa\n4.9,setosa\n6.3,lily\n", [[5.1], [4.9], [6.3]], None, None, "setosa setosa lily"),
        ("a,x,1\nb,y,5\n", [[1], [5]], ["a", "b"], None, "x y"),
        (
            "land,city,1990,1991,1992\nF,Paris,1,2,9\nI,Rome,3,4,9\n",
            [[1, 2, 9], [3, 4, 9]],
            ["F", "I"],
            ["1990", "1991", "1992"],
            {"city": ["Paris", "Rome"]},
        ),
        (",city,x\n0,Paris,1\n1,Rome,2\n", [[1], [2]], ["0", "1"], ["x"], {"city": ["Paris", "Rome"]}),
        ("x,t,t\n1,a,b\n", [[1]], None, ["x"], {"t": ["a"], "column 3": ["b"]}),
        (
            "x,day\n1,2020-01-01\n2,2020-01-02\n",
            [[1], [2]],
            None,
            ["x"],
            {"day": ["2020-01-01", "2020-01-02"]},
        ),
    ],
)
def test_columns_of_text_are_set_aside(table, text, data, rows, columns, aside):
    found = table(text)
    np.testing.assert_array_equal(found.data, data)
    assert (found.row_names, found.column_names) == (rows, columns)
    if isinstance(aside, str):
        aside = {"column 2": aside.split()}
    assert found.text == aside
    (note,) = found.notes
    assert note.startswith("data.csv: column")
    assert all(f"'{name}'" in note for name in aside)


def test_the_note_on_text_is_a_sentence(table):
    assert table("x,species\n1,a\n").notes == ("data.csv: column 'species' holds text and was set aside.",)
    assert table("x,a,b\n1,a,b\n").notes == ("data.csv: columns 'a' and 'b' hold text and were set aside.",)
    many = table("x," + ",".join("abcdefgh") + "\n1" + ",t" * 8 + "\n").notes
    assert many == ("data.csv: columns 'a', 'b', 'c', 'd', 'e' and 3 more hold text and were set aside.",)
    plain = table("x,y\n1,2\n")
    assert (plain.text, plain.notes, plain.meta, plain.extra) == ({}, (), {}, {})


def test_text_below_many_empty_cells(table):
    found = table("a,remark,b,c\n" + "1,,2,\n" * 300 + "1,late,2,7\n")
    assert found.column_names == ["a", "b", "c"]
    assert found.text == {"remark": [""] * 300 + ["late"]}
    np.testing.assert_array_equal(found.data[[0, -1]], [[1, 2, nan], [1, 2, 7]])


def test_a_first_column_of_text_that_is_said_to_be_no_name(table):
    found = table("kind,x\na,1\nb,2\n", row_names=False)
    assert (found.row_names, found.column_names, found.text) == (None, ["x"], {"kind": ["a", "b"]})
    assert table("kind,x\na,1\nb,2\n").corner == "kind"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "n,x,y,z\n1,2,3,4\n1,2,five,six\n",
            r"^data\.csv: column 'y' \(3rd\) holds text, e\.g\. 'five' in row 3; so does 'z'\. ",
        ),
        ("a,b\n1,2\n\n3,oops\n", r"column 'b' \(2nd\) holds text, e\.g\. 'oops' in row 4"),
        ("1,2\n3,oops\n", r"column 2 holds text, e\.g\. 'oops' in row 2"),
        ("a,b,c,d\n1,2,3,4\n1,x,y,z\n", r"so does 'c' and 1 more"),
        ("a,b,c\n1,2,x\n3,y,x\n4,5,x\n", r"column 'b' \(2nd\) holds text, e\.g\. 'y' in row 3"),
        ("a,b\n" + "1,\n" * 200 + "1,2\n1,3\n1,oops\n", r"column 'b' \(2nd\).*'oops' in row 204"),
        ("a,b\n" + "1,x\n" * 110 + "1,2\n" * 200, r"column 'b' \(2nd\) holds text, e\.g\. 'x' in row 2"),
        (
            "name,city\nx,Paris\ny,Rome\n",
            r"^data\.csv has no column of numbers: column 'city' \(2nd\) holds text",
        ),
        ("a;b\n1;2,5\n3;4,5\n", r"If its commas are decimal points, add --decimal ,"),
        ("a,b\n1,2\n3,4\nx,5\n6,7\n", r"column 'a' \(1st\).*leave its header cell empty"),
        ("a,b\n1,2\n3,1_000\n", r"holds text, e\.g\. '1_000' in row 3"),
        ("a;b\n1;2,5\n", r"If its commas are decimal points, add --decimal ,"),
        ("a\nb\nc\n", r"has no column of numbers: column 'a' \(1st\) holds text, e\.g\. 'b' in row 2"),
        ("a,b,c\n1,2,3\n4,5\n", r"^data\.csv: row 3 has 2 cells where the header has 3"),
        ("a,b,c\n1,2,3\n4,5,6,7\n", r"row 3 has 4 cells where the header has 3"),
        ("1,2\n3\n", r"row 2 has 1 cell where the first row has 2"),
        ("a,b\n0.5,2,3\n", r"row 2 has 3 cells where the header has 2"),
        ("", r"^data\.csv is empty"),
        ("\n  \n\n", r"is empty"),
        ("a,b\n", r"has a header but no rows of data"),
        ("word\n", r"has a header but no rows of data"),
        ('a,b\n1,"2\n3,4\n', r"row 2 cannot be cut into cells: .*quote that is not closed"),
        (b"a,b\n1,\x00\x01\n", r"is not a text table: it holds binary data"),
        (b"PK\x03\x04zz", r"is not a text table: it is a zip archive; name it .xlsx"),
        (b"\x1f\x8b\x08zz", r"gzip-compressed; add \.gz"),
        (b"\x93NUMPY\x01", r"it is a NumPy array; name it \.npy"),
        (b"a,b\n1,\xe9\n", r"is not UTF-8 text: byte 0xe9"),
    ],
)
def test_bad_tables_say_why(table, text, sentence):
    with pytest.raises(DataError, match=sentence):
        table(text)


def test_ragged_row_far_down(table):
    rows = "a,b,c,d,e,f\n" + "1,2,3,4,5,6\n" * 300 + "1,2,3,4,5\n"
    with pytest.raises(DataError, match="row 302 has 5 cells where the header has 6"):
        table(rows)


def test_bad_bytes_far_down(table):
    rows = b"a,b\n" + b"1,2\n" * 40_000 + b"1,\xff\n"
    with pytest.raises(DataError, match="is not UTF-8 text: byte 0xff near row"):
        table(rows)


def test_only_row_names(table):
    with pytest.raises(DataError, match="no numbers left"):
        table("1\n2\n", row_names=True)


def test_broken_gzip(table):
    with pytest.raises(DataError, match=r"data\.csv\.gz is not a readable gzip file"):
        table("a,b\n1,2\n", "data.csv.gz")
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 90_000)
    with pytest.raises(DataError, match=r"cut short|not a readable gzip"):
        table(whole[: len(whole) // 2], "data.csv.gz")


def test_a_wide_and_long_table_is_read_exactly(tmp_path):
    values = np.random.default_rng(0).normal(size=(3000, 40))
    lines = [",".join(f"c{i}" for i in range(40))] + [",".join(map(repr, row)) for row in values.tolist()]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    np.testing.assert_array_equal(read(tmp_path / "a.csv").data, values)


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
@pytest.mark.parametrize("line", ["sep={}", '"sep={}"', "SEP={}", "\ufeffsep={}"])
def test_a_first_line_for_excel_says_what_stands_between_cells(tmp_path, mark, line):
    rows = [line.format(mark), mark.join("rab"), mark.join(["x", "1.5", "2"]), mark.join(["y", "3", "4"])]
    (tmp_path / "a.csv").write_text("\r\n".join(rows), encoding="utf-8", newline="")
    table = read(tmp_path / "a.csv")
    assert table.column_names == ["a", "b"]
    assert table.row_names == ["x", "y"]
    assert table.data.tolist() == [[1.5, 2], [3, 4]]
    assert table.notes == ()
    (tmp_path / "a.csv").write_text("\n".join([*rows, mark.join(["z", "3", "?!"])]), encoding="utf-8")
    with pytest.raises(DataError, match="row 5"):
        read(tmp_path / "a.csv")
