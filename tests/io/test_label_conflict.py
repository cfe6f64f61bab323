"""Labels of an SPSS file beside the codes that a fit knew: they agree, or it is asked which is right."""

import numpy as np
import pytest

from partwise.io import DataError, read

pd = pytest.importorskip("pandas")
pyreadstat = pytest.importorskip("pyreadstat")

ANSWERS = pd.DataFrame({"a": [1, 1, 0, 0], "b": [1, 0, 0, 1], "c": [0, 0, 1, 1]})


@pytest.fixture
def coded(tmp_path):
    """The coding of answers without labels, as 1 and 0, or 1 and another number for no."""

    def coded(second=0, **options):
        ANSWERS.replace(0, second).to_csv(tmp_path / "old.csv", index=False)
        return read(tmp_path / "old.csv", **{"yes_no": True} | options).coding

    return coded


@pytest.fixture
def labelled(tmp_path):
    """An SPSS file of two people: the codes of the first and of the second, and their labels."""

    def labelled(labels, first, second):
        frame = pd.DataFrame({"a": [first, second], "b": [first, second], "c": [second, first]}, dtype=float)
        path = tmp_path / "new.sav"
        pyreadstat.write_sav(frame, str(path), variable_value_labels=dict.fromkeys("abc", labels))
        return path

    return labelled


@pytest.mark.parametrize("yes_no", [True, "answers"])
@pytest.mark.parametrize("no", [0, 2])
@pytest.mark.parametrize("words", [("ja", "nein"), ("Genannt", "Nicht genannt"), ("j", "n")])
def test_labels_that_contradict_the_fit_are_asked_about(coded, labelled, words, no, yes_no):
    before = {"coding": coded(no, yes_no=yes_no), "yes_no": yes_no}
    # What the fit took for yes is labelled as no.
    path = labelled({1: words[1], no: words[0]}, 1, no)
    sentence = (
        rf"'a' \(1st\) 1 is labelled '{words[1]}', but was yes in the data of the fit "
        rf"\(as are codes of 'b' and 'c'\)\..* --yes '{words[0]}' --no '{words[1]}'; .* --yes 1 --no {no} "
    )
    with pytest.raises(DataError, match=sentence):
        read(path, **before)
    by_labels = read(path, **before, yes=words[0], no=words[1])
    np.testing.assert_array_equal(by_labels.data, [[0, 0, 1], [1, 1, 0]])
    by_codes = read(path, **before, yes=1, no=no)
    np.testing.assert_array_equal(by_codes.data, [[1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("yes_no", [True, "answers"])
@pytest.mark.parametrize("no", [0, 2])
def test_labels_that_agree_with_the_fit_are_no_matter(coded, labelled, no, yes_no):
    before = {"coding": coded(no, yes_no=yes_no), "yes_no": yes_no}
    for labels in ({1: "ja", no: "nein"}, {no: "nein"}, {1: "Tee", no: "nicht genannt"}, {1: "m", no: "w"}):
        found = read(labelled(labels, 1, no), **before)
        np.testing.assert_array_equal(found.data, [[1, 1, 0], [0, 0, 1]])


def test_codes_that_were_named_at_the_fit_are_not_named_again(coded, labelled):
    before = coded(2, yes="2", no="1")
    np.testing.assert_array_equal(
        read(labelled({1: "nein", 2: "ja"}, 2, 1), coding=before).data, [[1, 1, 0], [0, 0, 1]]
    )
    with pytest.raises(DataError, match=r"1 is labelled 'ja', but was no .* --yes 2 --no 1 "):
        read(labelled({1: "ja", 2: "nein"}, 2, 1), coding=before)


def test_one_label_that_contradicts_is_enough(coded, labelled):
    with pytest.raises(DataError, match=r"labelled 'nein', but was yes .* give yes and no their labels"):
        read(labelled({1: "nein"}, 1, 0), coding=coded())
    with pytest.raises(DataError, match=r"9 is labelled 'nein', but was missing"):
        read(labelled({1: "ja", 9: "nein"}, 1, 9), coding=coded(missing="9"))


def test_codes_that_are_named_now_go_before_labels_that_the_fit_knew(labelled):
    path = labelled({1: "ja", 2: "nein"}, 1, 2)
    before = read(path, yes_no=True).coding
    np.testing.assert_array_equal(read(path, coding=before).data, [[1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(read(path, coding=before, yes=2, no=1).data, [[0, 0, 1], [1, 1, 0]])


def test_numbers_of_a_fit_stay_numbers(coded, labelled):
    before = coded(2, yes_no="answers", numbers=True)
    path = labelled({1: "nein", 2: "ja"}, 1, 2)
    found = read(path, coding=before, yes_no="answers", numbers=True)
    np.testing.assert_array_equal(found.data, [[1, 1, 2], [2, 2, 1]])
