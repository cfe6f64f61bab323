"""Tables read as another one was: the meaning of cells, chosen columns, titles above the header, transposed files."""

import re

import numpy as np
import pytest

from partwise.io import Coding, DataError, read

NAN = np.nan


@pytest.fixture
def write(tmp_path):
    def write(name, text, encoding="utf-8"):
        (tmp_path / name).write_bytes(text.encode(encoding))
        return tmp_path / name

    return write


def test_answers_mean_in_new_rows_what_they_meant_before(write):
    old = read(
        write("old.csv", "who,a,b\n7,1,2\n8,2,99\n9,1,1\n"), yes_no=True, yes="2", no="1", missing="99"
    )
    np.testing.assert_array_equal(old.data, [[0, 1], [1, NAN], [0, 0]])
    # By themselves, two rows of 1 would be taken for yes, and the numbers of persons for answers.
    new = write("new.csv", "b,extra,a,who\n1,2,1,2\n2,1,99,1\n")
    found = read(new, coding=old.coding)
    assert found.column_names == ["b", "a"]
    np.testing.assert_array_equal(found.data, [[0, 0], [1, NAN]])
    assert found.row_names == ["2", "1"]
    assert "unknown to the model left out: 'extra'" in found.notes[0]
    np.testing.assert_array_equal(read(new, coding=old.coding, yes="1", no="2").data, [[1, 1], [0, NAN]])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("a,b\nja,nein\nnein,ja\n", "b,a\nja,ja\nja,vielleicht\n", "column 'a' holds 'vielleicht' in row 3"),
        (
            "a,b\nja,nein\nnein,ja\n",
            "a,b\n1,ja\n",
            "column 'a' holds '1' in row 2.*'ja' is yes and 'nein' is no",
        ),
        ("a,b\n1,0\n0,1\n", "a,b\n1,0\n0,2\n", "column 'b' holds '2' in row 3"),
        ("a,b\n1,2\n2,1\n", "x,a,b\n5,1,0\n", "column 'b' holds '0' in row 2.*'1' is yes and '2' is no"),
        ("a,b\nx,\n,x\n", "a,b\nja,\n", "column 'a' holds 'ja' in row 2.*an empty cell is no"),
        ("tea,b\nja,nein\nnein,ja\n", "teas,b\nja,ja\n", "Is 'teas' the same as 'tea'"),
        ("a,b\nja,nein\nnein,ja\n", "Ja,b\nja,ja\n", "has not all columns of the fit; there is no 'a'"),
    ],
)
def test_cells_that_a_coding_does_not_know_are_named(write, old, new, sentence):
    coding = read(write("old.csv", old), yes_no=True).coding
    path = write("new.csv", new)
    with pytest.raises(DataError, match=sentence):
        read(path, coding=coding)


def test_other_words_of_a_pair_and_columns_without_an_answer(write):
    old = read(write("old.csv", "a;b;c\nja;nein;\nk.A.;ja;\n"), yes_no=True, missing="k.A.")
    new = write("new.csv", "a;b;c\nN;j;NEIN\n")
    np.testing.assert_array_equal(read(new, coding=old.coding).data, [[0, 1, 0]])


def test_numbers_stay_numbers_and_text_is_blamed_on_its_row(write):
    old = read(
        write("old.csv", "age,a,b\n31,ja,nein\n40,nein,ja\n31,ja,ja\n"), yes_no="answers", missing="-1"
    )
    new = read(write("new.csv", "b,a,age\nja,nein,-1\nnein,ja,1\n"), coding=old.coding)
    np.testing.assert_array_equal(new.data, [[1, 0, NAN], [0, 1, 1]])
    with pytest.raises(DataError, match=r"'age'.*'alt' in row 2"):
        read(write("bad.csv", "b,a,age\nja,nein,alt\nja,nein,jung\n"), coding=old.coding)


def test_a_coding_holds_for_other_formats_and_without_names(write, tmp_path):
    old = read(write("old.csv", "1,2\n2,1\n1,1\n"), yes_no=True)
    np.save(tmp_path / "new.npy", np.array([[2, 2], [1, 2]]))
    np.testing.assert_array_equal(read(tmp_path / "new.npy", coding=old.coding).data, [[0, 0], [1, 0]])
    np.save(tmp_path / "new.npy", np.array([[2, 2], [1, 5]]))
    with pytest.raises(DataError, match="column 2 holds 5 in row 2"):
        read(tmp_path / "new.npy", coding=old.coding)
    np.testing.assert_array_equal(read(write("new.csv", "2,1\n"), coding=old.coding).data, [[0, 1]])
    with pytest.raises(DataError, match="has 4 columns, but the fit had 2"):
        read(write("new.csv", "2,1,1,1\n"), coding=old.coding)


def test_a_coding_is_kept_as_plain_values(write):
    found = read(write("old.csv", "age,a\n31,ja\n40,nein\n31,ja\n"), yes_no="answers", encoding="latin-1")
    kept = found.coding.kept()

    class Model:
        reading_ = kept
        feature_names_in_ = np.array(found.column_names, dtype=object)

    assert Coding.of(Model()) == found.coding
    assert Coding.of(object()) is None
    assert found.coding.described() == "yes is 'ja', no is 'nein'; --encoding latin-1"


@pytest.mark.parametrize("yes_no", ["answers", True])
def test_persons_are_no_feature(write, yes_no):
    body = "".join(
        f"{300 - 7 * i},{'ja' if i % 2 else 'nein'},{'ja' if i % 3 else 'nein'}\n" for i in range(9)
    )
    found = read(write("a.csv", "wer,q1,q2\n" + body), yes_no=yes_no)
    assert found.column_names == ["q1", "q2"]
    assert found.row_names[0] == "300"
    assert "'wer' names the rows" in found.notes[0]


def test_a_table_of_one_and_two_without_asking_for_answers(write):
    text = "a,b,c\n1,2,1\n2,2,1\n1,1,2\n"
    found = read(write("a.csv", text), yes_no="answers")
    np.testing.assert_array_equal(found.data, [[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert "1 is taken for yes and 2 for no" in found.notes[0]
    assert "--numbers" in found.notes[0]
    plain = [[1, 2, 1], [2, 2, 1], [1, 1, 2]]
    np.testing.assert_array_equal(read(write("a.csv", text), yes_no="answers", numbers=True).data, plain)
    # Matrices without names, and tables with other numbers, are numbers.
    np.testing.assert_array_equal(read(write("a.csv", text[6:]), yes_no="answers").data, plain)
    found = read(write("a.csv", text + "3,1,1\n"), yes_no="answers")
    assert found.data.max() == 3
    found = read(write("a.csv", text + "1,99,1\n"), yes_no="answers")
    assert found.data.max() == 99
    assert "add --missing 99" in found.notes[0]


def test_words_among_text_are_text_unless_others_are_answers(write):
    found = read(write("a.csv", "x,land\n1.5,no\n2.5,no\n3.5,se\n"), yes_no="answers")
    assert found.text == {"land": ["no", "no", "se"]}
    with pytest.raises(DataError, match=r"'land' holds 'no' .*'se' once, in row 4"):
        read(write("a.csv", "x,land,q\n1.5,no,yes\n2.5,no,no\n3.5,se,no\n"), yes_no="answers")


def test_one_word_in_every_row_is_no_answer(write):
    found = read(write("a.csv", "a,b,remark\n1.5,2,x\n2.5,2,x\n3.5,1,x\n"), yes_no="answers")
    assert found.text == {"remark": ["x", "x", "x"]}
    found = read(write("a.csv", "a,q,r\n1.5,yes,no\n2.5,yes,yes\n3.5,yes,no\n"), yes_no="answers")
    assert found.data[:, 1:].tolist() == [[1, 0], [1, 1], [1, 0]]


def test_columns_aside_are_labels_as_they_stand(write):
    found = read(
        write("a.csv", "buys,q,r\nyes,yes,no\nno,no,yes\n"), yes_no="answers", aside="buys", row_names=False
    )
    assert found.text == {"buys": ["yes", "no"]}
    assert found.column_names == ["q", "r"]


def test_the_odd_column_is_blamed_not_the_usual_ones(write):
    with pytest.raises(
        DataError, match=r"column 'c' holds '1', '2' and '3' \(3 in row 3\).*1 and 2 in the other"
    ):
        read(write("a.csv", "a,b,c\n1,2,1\n2,1,3\n2,2,2\n"), yes_no=True)


@pytest.mark.parametrize(
    "title", ["Survey of 2024\n", "Survey of 2024;;\n", "Survey, of 2024\n\n", '"Survey; 2024"\n(draft)\n']
)
def test_a_title_above_the_names_is_found(write, title):
    found = read(write("a.csv", f"{title}a;b;c\n1;2;3\n4;5;6\n"))
    assert found.column_names == ["a", "b", "c"]
    np.testing.assert_array_equal(found.data, [[1, 2, 3], [4, 5, 6]])
    assert "'Survey" in found.notes[0]
    assert "is taken for a title" in found.notes[0]


def test_what_is_no_title_stays_and_rows_can_be_skipped(write):
    assert read(write("a.csv", "name;;\nann;1;2\nbob;3;4\n")).row_names == ["ann", "bob"]
    found = read(write("r.txt", "first second\nann 1 2\nbob 3 4\n"))
    assert (found.row_names, found.notes) == (["ann", "bob"], ())
    assert read(write("one.csv", "first\nann,1\nbob,3\n")).column_names == ["first"]
    found = read(write("years.csv", "Rain\n;2001;2002\na;1;2\nb;3;5\n"), skip=1)
    assert found.column_names == ["2001", "2002"]
    with pytest.raises(DataError, match="no more than 9 rows"):
        read(write("few.csv", "a,b\n1,2\n"), skip=9)
    with pytest.raises(DataError, match="--skip 1"):
        read(write("years.csv", "Rain\na,2001,2002\nb,1,2\n"))


def test_a_transposed_file(write, tmp_path):
    path = write("genes.csv", "gene,s1,s2,s3\nA,1,2,3\nB,4,5,6\n")
    found = read(path, transpose=True)
    np.testing.assert_array_equal(found.data, [[1, 4], [2, 5], [3, 6]])
    assert (found.row_names, found.column_names) == (["s1", "s2", "s3"], ["A", "B"])
    assert found.notes[-1].endswith("transposed: 3 columns of the file are the samples: 's1', 's2' and 's3'.")
    new = read(write("new.csv", "gene,t1\nB,1\nA,2\n"), coding=found.coding)
    assert (new.row_names, new.column_names, new.data.tolist()) == (["t1"], ["B", "A"], [[1, 2]])
    assert new.notes[-1].endswith("transposed: 1 column of the file is the sample: 't1'.")
    assert read(path, transpose=True, drop="A").column_names == ["B"]
    words = read(write("w.csv", "q,p1,p2\na,ja,nein\nb,nein,nein\nc,ja,ja\n"), transpose=True, yes_no=True)
    np.testing.assert_array_equal(words.data, [[1, 0, 1], [0, 0, 1]])
    new = read(write("new.csv", "q,p9\na,j\nc,nein\nb,ja\n"), coding=words.coding)
    assert (new.column_names, new.data.tolist()) == (["a", "c", "b"], [[1, 0, 1]])
    np.savez(tmp_path / "a.npz", A=np.ones((2, 3)), B=np.ones((3, 2)))
    with pytest.raises(DataError, match=r"--key A \(in Python: key='A'\)"):
        read(tmp_path / "a.npz")
    assert read(tmp_path / "a.npz", key="A", transpose=True).shape == (3, 2)


GENES = "{},a,b,c,d\n101,5,0,1,2\n205,4,1,0,9\n309,0,7,3,1\n417,1,6,2,0\n"
NEW_GENES = "{},e,f\n417,1,0\n309,0,1\n205,4,9\n101,5,2\n"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("yes_no", ["answers", False])
@pytest.mark.parametrize("name", ["EntrezID", "entrez", "gene", "gene_id", "", "rpt"])
def test_numbers_that_name_features_name_them_again(write, tmp_path, name, yes_no, suffix):
    paths = [write("old.csv", GENES.format(name)), write("new.csv", NEW_GENES.format(name))]
    if suffix == ".parquet":
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        for path in paths:
            frame = pd.read_csv(path).rename(columns={"Unnamed: 0": ""})
            frame.to_parquet(path.with_suffix(suffix), index=False)
        paths = [path.with_suffix(suffix) for path in paths]
    given = {"id": name} if name == "rpt" else {}
    if suffix == ".parquet" and not name:
        given = {"id": ""}
    old = read(paths[0], transpose=True, yes_no=yes_no, **given)
    assert old.column_names == ["101", "205", "309", "417"]
    new = read(paths[1], yes_no=yes_no, coding=old.coding)
    assert (new.row_names, new.column_names) == (["e", "f"], ["417", "309", "205", "101"])
    np.testing.assert_array_equal(new.data, [[1, 0, 4, 5], [0, 1, 9, 2]])
    again = read(paths[1], yes_no=yes_no, coding=new.coding)
    assert again.column_names == new.column_names


def test_features_are_named_by_a_column_of_another_name_or_place(write):
    old = read(write("old.csv", GENES.format("gene")), transpose=True)
    new = read(write("new.csv", NEW_GENES.format("EntrezID")), coding=old.coding)
    assert new.row_names == ["e", "f"]
    assert "new.csv: column 'EntrezID' names the rows." in new.notes[0]
    new = read(write("new.csv", "e,gene\n3,101\n4,205\n"), coding=old.coding)
    assert (new.row_names, new.column_names) == (["e"], ["101", "205"])
    bare = read(write("bare.csv", "9,5,0\n2,4,1\n7,0,7\n"), transpose=True, id="column 1", header=False)
    new = read(write("new.csv", "2,1\n9,3\n7,5\n"), coding=bare.coding)
    assert (new.column_names, new.data.tolist()) == (["2", "9", "7"], [[1, 3, 5]])


def test_plain_numbers_are_not_spoken_of_and_formats_agree(write, tmp_path):
    old = read(write("old.csv", "a,b\n1,0\n0,1\n"), yes_no=True)
    assert old.coding.described() == ""
    assert read(write("new.csv", "a,b\n1,1\n"), coding=old.coding).notes == ()
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"who": [31, 17, 24], "a": [1, 2, 1], "b": [2, 2, 1]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    for name in ("a.parquet", "a.csv"):
        found = read(tmp_path / name, yes_no="answers")
        assert (found.row_names, found.column_names) == (["31", "17", "24"], ["a", "b"])
        assert found.data.tolist() == [[1, 0], [0, 0], [1, 1]]


def test_labels_of_spss_are_read_as_before(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    labels = {"q": {1: "Nein", 2: "Ja"}}
    pyreadstat.write_sav(pd.DataFrame({"q": [2.0, 1, 2]}), tmp_path / "a.sav", variable_value_labels=labels)
    pyreadstat.write_sav(pd.DataFrame({"q": [1.0]}), tmp_path / "b.sav", variable_value_labels=labels)
    old = read(tmp_path / "a.sav", yes_no="answers")
    assert old.data.tolist() == [[1], [0], [1]]
    assert read(tmp_path / "b.sav", coding=old.coding).data.tolist() == [[0]]


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        (
            "tea,MILK,ca ke,age",
            "They are there but for case or blanks: 'tea' for 'Tea', 'MILK' for 'Milk', 'ca ke' for",
        ),
        (
            "tea,Milch,ca ke,age",
            "Some of them are there but for case or blanks: 'tea' for 'Tea', 'ca ke' for 'Cake'.",
        ),
        ("Tee,Milch,Kuchen,age", "there is no 'Tea', 'Milk', 'Cake'. Is 'Tee' the same as 'Tea'"),
        (
            "Tea,Milk,cake,age",
            "there is no 'Cake'. It is there but for case or blanks: 'cake' for 'Cake'.",
        ),
    ],
)
@pytest.mark.parametrize("words", ["ja nein", "3 7"])
def test_columns_that_are_not_there_go_before_strange_cells(tmp_path, header, sentence, words):
    """One column more than the fit had was taken for row names, and the numbers of another for a strange answer."""
    yes, no = words.split()
    (tmp_path / "a.csv").write_text(f"Tea,Milk,Cake\n{yes},{no},{no}\n{no},{yes},{yes}\n{no},{yes},{no}\n")
    old = read(tmp_path / "a.csv", yes_no="answers")
    (tmp_path / "b.csv").write_text(f"{header}\n{yes},{no},{yes},31\n{no},{no},{yes},44\n")
    with pytest.raises(DataError, match=re.escape(sentence)):
        read(tmp_path / "b.csv", yes_no="answers", coding=old.coding)


@pytest.mark.parametrize("drop", ["height", "height,weight", ["weight", "height"]])
def test_columns_to_leave_out_need_not_be_in_another_table(write, tmp_path, drop):
    old = read(
        write("old.csv", "height,a,weight,b\n1.5,1,70,2\n2.5,2,71,1\n"), drop="height,weight", yes_no=True
    )
    for text in ("a,b\n1,1\n", "a,weight,b\n1,3,1\n", "b,a,height\n1,1,9\n"):
        found = read(write("new.csv", text), coding=old.coding, drop=drop)
        assert found.column_names == [name for name in text.split("\n")[0].split(",") if name in "ab"]
        np.testing.assert_array_equal(found.data, [[1, 1]])
    np.save(tmp_path / "new.npy", np.array([[2, 1]]))
    np.testing.assert_array_equal(read(tmp_path / "new.npy", coding=old.coding, drop=drop).data, [[0, 1]])
    with pytest.raises(DataError, match="has no column 'height'"):
        read(write("new.csv", "a,b\n1,1\n"), drop="height")


def test_features_to_leave_out_need_not_be_in_another_transposed_table(write):
    text = "gene,s1,s2\nA,1,2\nB,3,4\n"
    old = read(write("old.csv", text + "C,5,6\n"), drop="C", transpose=True)
    assert old.column_names == ["A", "B"]
    found = read(write("new.csv", text), coding=old.coding, drop="C")
    np.testing.assert_array_equal(found.data, old.data)
