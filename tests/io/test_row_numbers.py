"""Columns that number the rows: found by their names, or asked about."""

import numpy as np
import pytest

from partwise.io import read

NAMES = """respid, RespID, idno, ID-Nr., rowid, n°, nr, identifiant, Laufnummer, lfd. Nr., pnr, Kundennummer,
Respondent.Serial, barcode, userId, respondent_serial, RecordID""".replace("\n", " ").split(", ")
MEASURED = [
    "sample",
    "entrezgene",
    "Gene",
    "mouse",
    "donor",
    "run",
    "GSM",
    "well",
    "cell",
    "specimen",
    "animal",
]
MEASURED += ["tumor", "probe"]
PERHAPS = ["case", "record", "seq", "No", "cell", "row", "n", "obs"]


@pytest.fixture
def table(tmp_path):
    def write(names, cells, **options):
        rows = [",".join(names), *(",".join(map(str, row)) for row in zip(*cells))]
        (tmp_path / "a.csv").write_text("\n".join(rows), encoding="utf-8")
        return read(tmp_path / "a.csv", **{"yes_no": "answers", **options})

    return write


SCORES = np.random.default_rng(0).integers(0, 50, size=12).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_ids_by_their_names(table, name):
    values = [1000 + 7 * i % 12 for i in range(12)]
    found = table(["a", name, "b"], [SCORES, values, SCORES])
    assert found.column_names == ["a", "b"]
    assert found.row_names == [str(value) for value in values]
    assert f"column '{name}' names the rows" in found.notes[0]


@pytest.mark.parametrize("name", PERHAPS)
def test_names_of_numbers_are_ids_where_they_count(table, name):
    found = table([name, "a", "b"], [range(1, 13), SCORES, SCORES])
    assert found.column_names == ["a", "b"]
    assert f"column '{name}' names the rows" in found.notes[0]
    if name in MEASURED:
        return
    # With gaps, as after a selection of rows, they may be data, and are asked about.
    found = table([name, "a", "b"], [range(1, 37, 3), SCORES, SCORES])
    assert found.column_names == [name, "a", "b"]
    assert f"column '{name}' holds 1, 4, 7, …" in found.notes[0]
    assert f"add --id '{name}', or leave it out: --drop '{name}'" in found.notes[0]
    # In another order they are numbers.
    assert table([name, "a"], [SCORES, SCORES]).notes == ()


def test_a_first_column_that_counts_is_asked_about(table):
    found = table(["Fragebogen", "a"], [range(1, 13), SCORES])
    assert found.column_names == ["Fragebogen", "a"]
    assert (
        "column 'Fragebogen' holds 1, 2, 3, …, a larger number in every row, and is taken for data"
        in found.notes[0]
    )
    assert table(["Fragebogen", "a"], [range(1, 13), SCORES], columns=["Fragebogen", "a"]).notes == ()
    assert table(["Fragebogen", "a"], [range(1, 13), SCORES], yes_no=False).notes == ()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("year", range(2001, 2013)),
        ("Jahr", range(12)),
        ("t", range(12)),
        ("dose", range(10, 22)),
        ("bid", SCORES),
    ],
)
def test_data_are_not_doubted(table, name, values):
    found = table([name, "a"], [values, SCORES])
    assert found.column_names == [name, "a"]
    assert found.notes == ()
    assert table(["a", name], [SCORES, values]).notes == ()


def test_few_rows_may_count_by_chance(table):
    assert table(["x1", "a"], [[1, 2, 3], [5, 4, 4]]).notes == ()


@pytest.mark.parametrize("how", [{}, {"yes_no": False}])
@pytest.mark.parametrize("name", MEASURED)
def test_names_of_what_is_measured_are_ids_in_a_first_column(table, name, how):
    ids = [7157, 1956, 672, 5290, 4609]
    found = table([name, "a", "b"], [ids, SCORES, SCORES], **how)
    assert found.column_names == ["a", "b"]
    assert found.row_names == [str(value) for value in ids]
    assert f"column '{name}' names the rows" in found.notes[0]
    # Elsewhere they may be how many there are of them; so they may where a number occurs again, or is not whole.
    assert table(["a", name, "b"], [SCORES, [*ids[:-1], 3], SCORES], **how).shape == (5, 3)
    assert table([name, "a"], [[*ids, 672], SCORES], **how).shape == (6, 2)
    assert table([name, "a"], [[*ids, 1.5], SCORES], **how).shape == (6, 2)
    assert table([name, "a"], [ids[:3], SCORES], **how).shape == (3, 2)


def test_a_first_column_beyond_all_others_is_asked_about(table):
    ids = [7157, 1956, 672, 5290, 4609]
    found = table(["locus", "a", "b"], [ids, SCORES, SCORES])
    assert found.column_names == ["locus", "a", "b"]
    (note,) = found.notes
    assert "column 'locus' holds 7157, 1956, 672, …, a different number in every row" in note
    assert "--id 'locus'" in note
    assert table(["locus", "a"], [[7157, 1956, 672, 5290, 672], SCORES]).notes == ()
    assert table(["locus", "a"], [[7157, 1956, 672, 5290, 20.5], SCORES]).notes == ()
    assert table(["year", "a"], [[2001, 1999, 2004, 2007, 2011], SCORES]).notes == ()


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}])
@pytest.mark.parametrize("name", ["Nr", "sample_id", "id", "mouse", "count"])
def test_every_format_finds_the_same_names(tmp_path, name, how):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({name: [17, 4, 23, 9, 12], "a": [1, 2, 30, 4, 5], "b": [0.5, 2, 1, 1, 7]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_excel(tmp_path / "x.xlsx", index=False)
    frame.to_parquet(tmp_path / "x.parquet", index=False)
    csv, xlsx, parquet = (read(tmp_path / f"x.{ending}", **how) for ending in ("csv", "xlsx", "parquet"))
    assert (csv.row_names is None) == (name == "count")
    for other in (xlsx, parquet):
        assert other.row_names == csv.row_names
        assert other.column_names == csv.column_names
        assert other.corner == csv.corner
        assert other.coding.options == csv.coding.options
        assert len(other.notes) == len(csv.notes)
        np.testing.assert_array_equal(other.data, csv.data)


@pytest.mark.parametrize("how", [{}, {"yes_no": "answers"}])
def test_numbers_below_no_corner_name_the_rows(tmp_path, how):
    path = tmp_path / "r.tsv"
    path.write_text("A\tB\tC\n17\t1\t2\t3\n4\t5\t6\t7.5\n23\t0\t1\t4\n")
    found = read(path, **how)
    assert found.row_names == ["17", "4", "23"]
    assert found.column_names == ["A", "B", "C"]
    np.testing.assert_array_equal(found.data, [[1, 2, 3], [5, 6, 7.5], [0, 1, 4]])
