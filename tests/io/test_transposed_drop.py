"""Columns of a file that are left out before it is transposed."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read

COUNTS = (
    "Geneid\tChr\tStart\tEnd\tStrand\tLength\ta.bam\tb.bam\n"
    "g1\t1\t100\t200\t+\t101\t5\t6\n"
    "g2\tX;X\t300;400\t350;450\t+;+\t102\t0\t1\n"
    "g3\t1\t500\t600\t-\t101\t7\t8\n"
)


@pytest.fixture
def counts(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text(COUNTS)
    return path


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}])
@pytest.mark.parametrize(
    ("drop", "genes"),
    [
        ("Chr,Start,End,Strand,Length", ["g1", "g2", "g3"]),
        (["Chr", "Start", "End,Strand", "Length,g2"], ["g1", "g3"]),
    ],
)
def test_columns_of_the_file_are_dropped(counts, drop, genes, how):
    found = read(counts, transpose=True, drop=drop, **how)
    assert found.row_names == ["a.bam", "b.bam"]
    assert found.column_names == genes
    np.testing.assert_array_equal(found.data[:, -1], [7, 8])
    assert found.meta == {}


def test_features_go_first_and_unknown_names_are_errors(tmp_path, counts):
    path = tmp_path / "m.csv"
    path.write_text("gene,x,y,z\nx,1,2,3\nb,4,5,6\nc,4,5,6\n")
    found = read(path, transpose=True, drop="x,y")
    assert found.column_names == ["b", "c"]
    assert found.row_names == ["x", "z"]
    with pytest.raises(DataError, match="has no column 'Strat'"):
        read(counts, transpose=True, drop="Chr,Start,End,Strand,Strat")


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}])
def test_what_was_dropped_is_dropped_again_where_it_is_there(tmp_path, counts, how):
    old = read(counts, transpose=True, drop="Chr,Start,End,Strand,Length", **how)
    for text in (COUNTS, COUNTS.replace("\t+", "\t1").replace("Geneid", "gene")):
        (tmp_path / "new.tsv").write_text(text)
        new = read(tmp_path / "new.tsv", coding=old.coding, **how)
        assert (new.row_names, new.column_names) == (["a.bam", "b.bam"], ["g1", "g2", "g3"])
        assert "5 columns left out as at the fit: 'Chr', 'Start', 'End'" in " ".join(new.notes)
    (tmp_path / "few.tsv").write_text("Geneid\tLength\ta.bam\tc.bam\ng3\t101\t5\t6\n")
    new = read(tmp_path / "few.tsv", coding=new.coding, drop="a.bam", **how)
    assert new.row_names == ["c.bam"]
    assert "1 column left out as at the fit: 'Length'." in new.notes[0]
    (tmp_path / "none.tsv").write_text("Geneid\ta.bam\ng3\t5\n")
    with pytest.raises(DataError, match=r"no column is left"):
        read(tmp_path / "none.tsv", coding=new.coding, **how)


def test_what_was_dropped_names_no_rows_of_another_table(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("id,x,y\n7,1,2\n9,4,5\n8,4,6\n")
    old = read(path, drop=["id"], columns=None)
    assert (old.row_names, old.column_names) == (None, ["x", "y"])
    new = read(path, coding=old.coding)
    assert (new.row_names, new.column_names) == (None, ["x", "y"])
    assert new.notes == (f"{path}: 1 column left out as at the fit: 'id'.",)
    assert read(path, coding=old.coding, id="id").row_names == ["7", "9", "8"]
    assert old.coding.described() == "--drop id"


def test_other_formats_and_models(tmp_path, counts):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"Length": [9, 8], "a": [1, 2], "b": [3, 4]}, index=["g1", "g2"])
    frame.to_parquet(tmp_path / "m.parquet")
    found = read(tmp_path / "m.parquet", transpose=True, drop="Length")
    assert found.row_names == ["a", "b"]
    assert read(tmp_path / "m.parquet", coding=found.coding).row_names == ["a", "b"]
    X = sp.csr_matrix(frame.to_numpy())
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "format": b"csr"}
    np.savez(tmp_path / "m.npz", **parts, vocab=list(frame.columns))
    assert read(tmp_path / "m.npz", coding=found.coding).row_names == ["a", "b"]
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(frame.astype(float)).write_h5ad(tmp_path / "m.h5ad")
    found = read(tmp_path / "m.h5ad", transpose=True, drop="Length")
    assert found.row_names == ["a", "b"]
    assert found.column_names == ["g1", "g2"]
