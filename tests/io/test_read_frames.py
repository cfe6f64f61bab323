"""Parquet and AnnData files."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.io import DataError, read


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def pd():
    pytest.importorskip("pyarrow")
    return pytest.importorskip("pandas")


def test_parquet_of_numbers(folder, pd):
    pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_parquet("a.parquet")
    found = read("a.parquet")
    assert found.data.tolist() == [[1, 3], [2, 4]]
    assert found.data.dtype == np.int64
    assert (found.row_names, found.column_names) == (None, ["a", "b"])
    pd.DataFrame({"a": [1, 2]}, dtype="float32").to_parquet("a.parquet")
    assert read("a.parquet").data.dtype == np.float32


def test_parquet_names_from_index_or_first_column(folder, pd):
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"])
    frame.to_parquet("a.parquet")
    assert read("a.parquet").row_names == ["x", "y"]
    frame.rename_axis("gene").to_parquet("a.parquet")
    assert read("a.parquet").row_names == ["x", "y"]
    frame.set_axis([5, 3]).to_parquet("a.parquet")
    assert read("a.parquet").row_names == ["5", "3"]
    frame.set_axis(pd.MultiIndex.from_tuples([("x", 1), ("y", 2)])).to_parquet("a.parquet")
    assert read("a.parquet").row_names == ["x / 1", "y / 2"]
    frame.reset_index(names="gene").to_parquet("a.parquet")
    found = read("a.parquet")
    assert (found.row_names, found.column_names) == (["x", "y"], ["a"])
    frame.reset_index(names="gene").astype({"gene": "category"}).to_parquet("a.parquet")
    assert read("a.parquet").row_names == ["x", "y"]


def test_parquet_missing_bool_and_decimal(folder, pd):
    from decimal import Decimal

    pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "d": [Decimal("1.5"), None],
            "n": [None, None],
        }
    ).to_parquet("a.parquet")
    found = read("a.parquet")
    np.testing.assert_array_equal(found.data, [[1, 1, 1.5, np.nan], [np.nan] * 4])


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"a": [1, 2, 3, 4], "b": [None, "1.5", "oops", "2"]},
            r"column 'b' \(2nd\) holds text, e\.g\. 'oops' in row 3\.",
        ),
        ({"name": ["x", "y"], "city": [None, "Rome"]}, r"has no column of numbers: column 'city' \(2nd\)"),
        ({"a": ["x", "y"]}, r"column 'a' \(1st\) holds text"),
        (
            {"a": [1], "when": [np.datetime64("2020-01-01", "ns")]},
            "column 'when' holds values of type timestamp",
        ),
        ({"a": []}, "is empty: 0 rows"),
    ],
)
def test_parquet_that_is_no_matrix(folder, pd, columns, sentence):
    pd.DataFrame(columns).to_parquet("a.parquet")
    with pytest.raises(DataError, match=rf"^a\.parquet.*{sentence}"):
        read("a.parquet")


def test_parquet_text_is_set_aside(folder, pd):
    frame = pd.DataFrame(
        {"a": [1, 2], "city": [None, "Rome"], "b": [3, 4], "kind": ["x", "y"], "zip": ["01", "2"]}
    )
    frame.astype({"kind": "category"}).to_parquet("a.parquet")
    found = read("a.parquet")
    assert found.data.tolist() == [[1, 3], [2, 4]]
    assert found.column_names == ["a", "b"]
    assert found.text == {"city": ["", "Rome"], "kind": ["x", "y"], "zip": ["01", "2"]}
    assert found.notes == ("a.parquet: columns 'city', 'kind' and 'zip' hold text and were set aside.",)
    frame[["kind", "a"]].to_parquet("a.parquet")
    assert (read("a.parquet").corner, read("a.parquet").notes) == ("kind", ())


def test_parquet_in_a_folder_named_like_a_partition(folder, pd):
    (folder / "year=2020").mkdir()
    pd.DataFrame({"a": [1]}).to_parquet("year=2020/a.parquet")
    assert read("year=2020/a.parquet").column_names == ["a"]


def test_parquet_that_is_not_one(folder, pd):
    pd.DataFrame({"a": np.arange(5000.0)}).to_parquet("good.parquet")
    good = (folder / "good.parquet").read_bytes()
    for content in (b"", b"zz", b"a,b\n1,2\n" * 9, good[: len(good) // 2]):
        (folder / "a.parquet").write_bytes(content)
        with pytest.raises(DataError, match=r"a\.parquet is not a readable \.parquet file"):
            read("a.parquet")


@pytest.fixture
def annotated():
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")

    def make(matrix, **options):
        return anndata.AnnData(
            X=matrix,
            obs=pd.DataFrame(index=["cell1", "cell2"]),
            var=pd.DataFrame(index=["g1", "g2", "g3"]),
            **options,
        )

    return make


DENSE = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3.0]], dtype=np.float32)


def test_h5ad(folder, annotated):
    for matrix in (DENSE, sp.csr_matrix(DENSE), sp.csc_matrix(DENSE)):
        annotated(matrix, layers={"counts": 2 * DENSE}).write_h5ad("a.h5ad")
        found = read("a.h5ad")
        assert sp.issparse(found.data) == sp.issparse(matrix)
        if sp.issparse(found.data):
            assert isinstance(found.data, sp.csr_matrix)
        np.testing.assert_array_equal(found.data.toarray() if sp.issparse(matrix) else found.data, DENSE)
        assert found.row_names == ["cell1", "cell2"]
        assert found.column_names == ["g1", "g2", "g3"]
    np.testing.assert_array_equal(read("a.h5ad", key="counts").data, 2 * DENSE)
    with pytest.raises(DataError, match=r"a\.h5ad has no layer 'raw'\. Its layers are: 'counts'"):
        read("a.h5ad", key="raw")


def test_h5ad_tells_what_obs_says(folder, annotated):
    made = annotated(DENSE)
    made.obs["kind"] = ["B", "T"]
    made.obs["kind"] = made.obs["kind"].astype("category")
    made.obs["site"] = ["here", "there"]
    made.obs["depth"] = [3, 4]
    made.obs["dead"] = [True, False]
    made.write_h5ad("a.h5ad")
    found = read("a.h5ad")
    assert found.text == {"kind": ["B", "T"], "site": ["here", "there"]}
    assert {name: values.tolist() for name, values in found.extra.items()} == {
        "depth": [3, 4],
        "dead": [True, False],
    }
    assert found.notes == (), "obs was never part of the matrix"


def test_h5ad_without_x(folder, annotated):
    annotated(None, layers={"counts": DENSE}).write_h5ad("a.h5ad")
    with pytest.raises(
        DataError,
        match=r"a\.h5ad has no X\. Give one of its layers as --key \(in Python: key=\); it has: 'counts'",
    ):
        read("a.h5ad")


def test_h5ad_that_is_not_one(folder, annotated):
    for content in (b"", b"zz", b"\x89HDF\r\n\x1a\n" + b"\0" * 99):
        (folder / "a.h5ad").write_bytes(content)
        with pytest.raises(DataError, match=r"a\.h5ad is not a readable \.h5ad file"):
            read("a.h5ad")
