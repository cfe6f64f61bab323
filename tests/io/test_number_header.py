"""First rows of numbers that are names of columns."""

import numpy as np
import pytest

from partwise.io import read


@pytest.fixture
def table(tmp_path):
    def of(text, name="m.csv", **how):
        path = tmp_path / name
        path.write_text(text)
        return read(path, **how)

    return of


CORNERS = [
    "symbol",
    "cell",
    "Cells",
    "barcode",
    "patient",
    "donor",
    "mouse",
    "animal",
    "tumor",
    "tumour",
    "specimen",
    "entrez",
    "entrezgene",
    "gene_name",
    "gene_id",
    "probe",
    "transcript",
    "protein",
    "species",
    "taxon",
    "OTU",
    "asv",
    "compound",
    "document",
    "doc",
    "user",
    "item",
    "product",
    "country",
    "city",
    "year",
    "sample",
]
HOW = [{}, {"yes_no": "answers"}, {"yes_no": "words"}]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "corner",
    CORNERS,
)
def test_numbers_beside_a_word_above_names_are_a_header(table, corner, how):
    found = table(f"{corner},1001,4,1019,22\nTP53,5,3000,2,1\nBRCA1,0,1,7,2\nEGFR,1,1,0,9\n", **how)
    assert found.column_names == ["1001", "4", "1019", "22"]
    assert found.row_names == ["TP53", "BRCA1", "EGFR"]
    assert found.notes == ()


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("corner", ["gizmo,", ",", "sample,", ""])
def test_ids_far_larger_than_all_below_are_a_header(table, corner, how):
    names = ["TP53", "BRCA1", "EGFR"] if corner == "gizmo," else ["11", "12", "13"]
    begin = [f"{name}," if corner else "" for name in names]
    found = table(f"{corner}1001,1004,1019\n{begin[0]}5,3,2.5\n{begin[1]}0,,7\n{begin[2]}-1,1,0\n", **how)
    assert found.column_names == ["1001", "1004", "1019"]
    np.testing.assert_array_equal(found.data, [[5, 3, 2.5], [0, np.nan, 7], [-1, 1, 0]])
    if corner in ("", "gizmo,"):
        assert any("the first row, 1001, 1004, …, is taken for the names" in note for note in found.notes)
        assert any("--no-header" in note for note in found.notes)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    "text",
    [
        "1001,1004,1004\n5,3,2\n0,1,7\n",  # two alike
        "1001,1004\n5,3\n0,1\n",  # too few
        "1001,1004,1019\n5,3,2\n0,600,7\n",  # not far larger
        "10.5,10.1,10.2\n1,2,3\n3,2,1\n",  # not whole
        "gizmo,1001,1004,1019\nTP53,5,3,2\nBRCA1,0,600,7\n",
        "cell,5,5,3\ndog,1,2,3\nfox,2,2,1\n",  # a row of counts
        "0,1,2\n5,3,2\n",
        "0,1,2,3\n4,5,6,7\n8,9,10,11\n",  # np.arange
    ],
)
def test_other_first_rows_of_numbers_are_data(table, text, how):
    found = table(text, **how)
    assert found.column_names is None
    assert found.shape[0] == text.count("\n")


@pytest.mark.parametrize("how", HOW)
def test_columns_counted_from_zero_are_names(table, how):
    found = table("0,1,2,3\n5,3,2,0.5\n0,1,7,2\n", **how)
    assert found.column_names == ["0", "1", "2", "3"]
    assert found.shape == (2, 4)
    assert any("the first row, 0, 1, …, is taken for the names" in note for note in found.notes)
    named = table("0,1,2,3\nx,3,2,0.5\ny,1,7,2\n", **how)
    assert named.column_names == ["1", "2", "3"]
    assert named.row_names == ["x", "y"]


def test_frames_without_an_index_keep_their_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame(np.random.default_rng(0).poisson(3, (6, 5)))
    frame.to_csv(tmp_path / "f.csv", index=False)
    frame.to_excel(tmp_path / "f.xlsx", index=False)
    for name in ("f.csv", "f.xlsx"):
        found = read(tmp_path / name)
        np.testing.assert_array_equal(found.data, frame.to_numpy())


def test_people_have_the_last_word(table):
    text = "1001,1004,1019\n5,3,2\n0,1,7\n"
    found = table(text, header=False)
    assert found.shape == (3, 3)
    assert found.column_names is None
    assert found.notes == ()
    assert found.coding.options == {"header": False}
    again = table("2001,2004,2019\n5,3,2\n", "n.csv", coding=found.coding)
    assert again.shape == (2, 3)
    assert table("5,3\n2,1\n", header=True).column_names == ["5", "3"]


def test_other_ids_than_those_of_the_fit_are_refused(table):
    known = table("1001,1004,1019\n5,3,2\n0,1,7\n")
    with pytest.raises(ValueError, match="has not all columns of the fit"):
        table("2001,2004,2019\n5,3,2\n0,1,7\n", "n.csv", coding=known.coding)
