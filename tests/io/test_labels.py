"""Labels: found by name in any table, or read from a file of their own."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, Table, label_names, read, read_labels, row_labels, take_labels


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_column_of_text_or_numbers(folder):
    (folder / "a.csv").write_text("x,species,y,class\n1,cat,2,0\n3,dog,4,1\n")
    table = read("a.csv")
    rest, labels = take_labels(table, "species")
    assert labels.tolist() == ["cat", "dog"]
    assert (rest.text, rest.notes) == ({}, ())
    assert rest.column_names == ["x", "y", "class"]
    rest, labels = take_labels(table, "class")
    assert labels.dtype.kind == "i"
    assert labels.tolist() == [0, 1]
    assert rest.column_names == ["x", "y"]
    np.testing.assert_array_equal(rest.data, [[1, 2], [3, 4]])
    assert rest.notes == ("a.csv: column 'species' holds text and was set aside.",)
    assert table.shape == (2, 3), "the table that was given is as it was"


def test_the_note_keeps_the_columns_that_are_left(folder):
    (folder / "a.csv").write_text("x,kind,site\n1,a,b\n")
    rest, _ = take_labels(read("a.csv"), "kind")
    assert rest.notes == ("a.csv: column 'site' holds text and was set aside.",)


def test_the_column_that_named_the_rows(folder):
    (folder / "a.csv").write_text("species,x\ncat,1\ndog,2\n")
    rest, labels = take_labels(read("a.csv"), "species")
    assert labels.tolist() == ["cat", "dog"]
    assert rest.row_names is None


def test_numbers_that_are_not_whole_are_names():
    table = Table(np.array([[0.5, 1.0], [2.0, 1.0]]), None, ["dose", "x"], "a.csv")
    assert take_labels(table, "dose")[1].tolist() == ["0.5", "2.0"]
    sparse = Table(sp.csr_matrix([[0, 1, 5], [2, 1, 6]]), None, ["a", "b", "c"], "a.npz")
    rest, labels = take_labels(sparse, "b")
    assert labels.tolist() == [1, 1]
    assert rest.data.toarray().tolist() == [[0, 5], [2, 6]]


def test_an_array_of_an_npz(folder):
    np.savez("a.npz", X=np.eye(2), y=np.array([3.0, 7.0]), kind=np.array(["b", "a"]))
    table = read("a.npz")
    assert label_names(table) == ["kind", "y"]
    rest, labels = take_labels(table, "y")
    assert labels.tolist() == [3, 7]
    assert labels.dtype.kind == "i"
    assert label_names(rest) == ["kind"]
    assert take_labels(table, "kind")[1].tolist() == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "name", "sentence"),
    [
        ("x,species\n1,a\n", "specie", r"^a\.csv has no column 'specie'\. Did you mean 'species'\?"),
        ("x,y\n1,2\n", "zebra", r"^a\.csv has no column 'zebra'\. It has 'x', 'y'\."),
        ("x,y,s\n1,2,a\n1,2,\n1,2,\n", "s", r"2 rows have no label in 's'; the first is row 2"),
        ("id,x,y\nfirst,1,2\nsecond,1,\n", "y", r"1 row has no label in 'y'; the first is 'second'"),
        (
            "x,s\n1,a\n1,NA\n1,\n",
            "s",
            r"2 rows have no label in 's'; the first is row 2 of the data, which reads 'NA'",
        ),
        ("y,s\n1,a\n", "y", r"no other column of numbers than 'y'"),
    ],
)
def test_labels_that_are_not_there(folder, text, name, sentence):
    (folder / "a.csv").write_text(text)
    with pytest.raises(DataError, match=sentence):
        take_labels(read("a.csv"), name)


def test_no_such_array(folder):
    np.savez("a.npz", X=np.eye(2), y=[1, 2, 3])
    with pytest.raises(
        DataError, match=r"has no array 'y' with one number or string for each row\. It has none"
    ):
        take_labels(read("a.npz"), "y")


def test_a_file_of_labels(folder):
    (folder / "a.txt").write_text('"cat"\n dog ,\n1\n\n')
    assert read_labels("a.txt").tolist() == ["cat", "dog", "1"]
    (folder / "a.txt").write_text("1\n-2\n+3\n")
    assert read_labels("a.txt").tolist() == [1, -2, 3]
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"a\nb\n"))
    assert read_labels("a.txt.gz").tolist() == ["a", "b"]
    for given, expected in (
        (np.array([[1.0], [2.0]]), [1, 2]),
        (np.array([True, False]), [1, 0]),
        (np.array([b"x", b"y"]), ["x", "y"]),
        (np.array([1.5, 2.0]), ["1.5", "2.0"]),
        (np.array([3, 4], dtype=np.uint8), [3, 4]),
    ):
        np.save("a.npy", given)
        assert read_labels("a.npy").tolist() == expected


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", b"", r"a\.txt is empty"),
        ("a.txt", b"a\n\nb\n", r"a\.txt: line 2 is empty"),
        ("a.txt", b"a\nNA\nb\n", r"a\.txt: line 2 reads 'NA', which is no label"),
        ("a.txt", b"a\n\xff\n", r"is not UTF-8 text: byte 0xff"),
        ("a.txt", b"PK\x03\x04", "zip archive"),
        ("a.txt.gz", b"zz", "not a readable gzip file"),
        ("a.npy", b"zz", r"a\.npy is not a \.npy array"),
    ],
)
def test_files_that_are_no_labels(folder, name, content, sentence):
    (folder / name).write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        read_labels(name)


def test_labels_that_may_be_unknown(folder):
    (folder / "a.csv").write_text("x,s\n1,a\n1,NA\n1,\n1,b\n1,nan\n")
    assert take_labels(read("a.csv"), "s", unknown=True)[1].tolist() == ["a", None, None, "b", None]
    (folder / "a.txt").write_text("a\n\nNA\nb\n\n\n\n")
    assert read_labels("a.txt", unknown=True).tolist() == ["a", None, None, "b"]
    assert read_labels("a.txt", unknown=True, rows=6).tolist() == ["a", None, None, "b", None, None]
    (folder / "a.txt").write_text("1\n\n2\n")
    assert read_labels("a.txt", unknown=True).tolist() == [1, None, 2]
    for given in (np.array([1.0, np.nan]), np.array(["1", "nan"]), np.array([b"1", b""])):
        np.save("a.npy", given)
        assert read_labels("a.npy", unknown=True).tolist() == [1, None]
    (folder / "a.txt").write_text("NA\nNA\n")
    with pytest.raises(DataError, match="line 1 reads 'NA'"):
        read_labels("a.txt", unknown=True)


def test_characters_that_do_not_exist(folder):
    np.save("a.npy", np.array(["ab", "cd"]))
    content = bytearray((folder / "a.npy").read_bytes())
    content[-1] = 0xFF
    (folder / "a.npy").write_bytes(content)
    with pytest.raises(
        DataError, match=r"a\.npy is damaged: it holds text with characters that do not exist"
    ):
        read_labels("a.npy")
    np.save("a.npy", np.array(["ab", "cd"], dtype=">U2"))
    assert read_labels("a.npy").tolist() == ["ab", "cd"]


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.ones((2, 2)), r"has shape \(2, 2\), but labels are one value for each row"),
        (np.array([1.0, np.nan]), "label 2 is NaN"),
        (np.array([1, None], dtype=object), "holds Python objects"),
        (np.zeros(2, dtype="M8[s]"), "Save labels as numbers or strings"),
    ],
)
def test_arrays_that_are_no_labels(folder, array, sentence):
    np.save("a.npy", array)
    with pytest.raises(DataError, match=sentence):
        read_labels("a.npy")
    with pytest.raises(DataError, match=r"nowhere\.txt: no such file"):
        read_labels("nowhere.txt")


NAMES = ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.csv", "sample,group\ns3,b\ns1,a\ns4,b\ns2,a\n"),
        ("l.csv", "s3;b\ns1;a\ns4;b\ns2;a\n"),
        ("l.csv", ',group\n"s3","b"\n"s1","a"\n"s4","b"\n"s2","a"\n'),
        ("l.tsv", "sample\tgroup\ns3\tb\ns1\ta\ns4\tb\ns2\ta\n"),
        ("l.txt", "group\ns3\tb\ns1\ta\ns4\tb\ns2\ta\n"),  # as R writes it
    ],
)
def test_two_columns_are_matched_by_name(folder, name, content):
    (folder / name).write_text(content)
    labels, notes = row_labels(name, NAMES)
    assert labels.tolist() == ["a", "a", "b", "b"]
    assert notes == ()


def test_names_without_rows_and_rows_without_labels(folder):
    (folder / "l.csv").write_text("sample,group\ns3,2\nx,9\ns1,1\ns2,1\ny,9\n")
    with pytest.raises(DataError, match=r"l\.csv has no label for 1 of the 4 rows; the first is 's4'"):
        row_labels("l.csv", NAMES)
    labels, notes = row_labels("l.csv", NAMES, unknown=True)
    assert labels.tolist() == [1, 1, 2, None]
    assert "2 names are no rows of the data, as 'x', and ignored" in notes[0]
    (folder / "l.csv").write_text("s1,a\ns2,NA\ns3,b\ns4,b\n")
    with pytest.raises(DataError, match="the label of 's2' is missing, which reads 'NA'"):
        row_labels("l.csv", NAMES)
    assert row_labels("l.csv", NAMES, unknown=True)[0].tolist() == ["a", None, "b", "b"]
    (folder / "l.csv").write_text("s1,a\ns2,b\ns1,b\ns3,b\ns4,b\n")
    with pytest.raises(DataError, match="'s1' has two labels, 'a' and 'b'"):
        row_labels("l.csv", NAMES)


def test_numbers_of_rows_match_those_without_names(folder):
    (folder / "l.csv").write_text(",group\n0,a\n1,a\n2,b\n3,b\n")
    assert row_labels("l.csv", ["row0", "row1", "row2", "row3"], named=False)[0].tolist() == [
        "a",
        "a",
        "b",
        "b",
    ]
    with pytest.raises(
        DataError, match=r"two columns, but the first, as '3', holds no name of a row, as 's1'"
    ):
        row_labels("l.csv", NAMES)


@pytest.mark.parametrize("content", ["p1,a\np2,b\np3,a\np4,b\n", "s1,a,x\ns2,b,x\ns3,a,y\ns4,b,y\n"])
def test_columns_that_cannot_be_matched_are_refused(folder, content):
    (folder / "l.csv").write_text(content)
    with pytest.raises(DataError, match="columns"):
        row_labels("l.csv", NAMES)
    with pytest.raises(DataError, match="one a line, or two columns"):
        read_labels("l.csv")


def test_commas_behind_labels_and_in_text_are_no_columns(folder):
    (folder / "l.csv").write_text("a,\nb,\na,\nb,\n")
    assert row_labels("l.csv", NAMES)[0].tolist() == ["a", "b", "a", "b"]
    (folder / "l.txt").write_text("T cell, naive\nB cell, naive\nT cell, naive\nB cell, naive\n")
    assert row_labels("l.txt", NAMES)[0].tolist()[0] == "T cell, naive"


def test_labels_as_r_writes_them_between_blanks_are_matched_by_name(folder):
    by_name = {"s1": "NK", "s2": "T cell", "s3": "NK", "s4": "T cell"}
    lines = [f'"{name}" "{by_name[name]}"' for name in reversed(NAMES)]
    for first in ([], ['"celltype"']):
        (folder / "l.txt").write_text("\n".join([*first, *lines]) + "\n")
        assert row_labels("l.txt", NAMES)[0].tolist() == [by_name[name] for name in NAMES]


def test_a_first_label_that_may_be_a_header(folder):
    (folder / "l.txt").write_text("group\na\nb\na\nb\n")
    names = [*NAMES, "s5"]
    labels, (note,) = row_labels("l.txt", names)
    assert labels.tolist() == ["group", "a", "b", "a", "b"]
    assert "the first label, 'group', occurs once: if it is a header, one label is missing below it" in note
    for content in ("c\na\nb\na\nd\n", "a\na\nb\na\nb\n"):
        (folder / "l.txt").write_text(content)
        assert row_labels("l.txt", names)[1] == ()
