"""What write_csv writes, read gives back: any shape, any float, any name."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partwise.io import read, write_csv

# Zero bytes mark a file as binary and lone surrogates are no text; outer blanks are trimmed by design.
NAME = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8
) | st.sampled_from(
    ['a,"b"', '"', "x\ny", "x\r\ny", "\r", "été", "1", "NA", "", "a\tb", ";", "'", "#", "1_0"]
)
VALUE = st.floats(width=64) | st.sampled_from([np.nan, np.inf, -np.inf, 5e-324, 1.7976931348623157e308, -0.0])


@st.composite
def tables(draw, dtype=np.float64, elements=VALUE):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    values = draw(hnp.arrays(dtype, shape, elements=elements))
    rows = draw(st.none() | st.lists(NAME, min_size=shape[0], max_size=shape[0]))
    columns = draw(st.none() | st.lists(NAME, min_size=shape[1], max_size=shape[1]))
    return values, rows, columns, draw(NAME)


def stripped(names):
    return None if names is None else [name.strip() for name in names]


def round_trip(values, rows, columns, corner, suffix=".csv", **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        write_csv(path, values, rows, columns, corner)
        return read(path, **options)


@settings(max_examples=200, deadline=None)
@given(tables(), st.sampled_from([".csv", ".tsv", ".csv.gz"]))
@example((np.full((2, 2), np.nan), None, None, ""), ".csv")
@example((np.full((2, 1), np.nan), ["", "\r"], None, ""), ".csv")
def test_everything_comes_back(table, suffix):
    values, rows, columns, corner = table
    if (
        values.shape[1] == 1
        and rows is None
        and not "".join(columns or []).strip()
        and np.isnan(values).all()
    ):
        return  # a file of nothing but blanks is called empty
    found = round_trip(
        values, rows, columns, corner, suffix, header=columns is not None, row_names=rows is not None
    )
    np.testing.assert_array_equal(found.data, values)
    np.testing.assert_array_equal(np.signbit(found.data), np.signbit(values) & ~np.isnan(values))
    assert found.row_names == stripped(rows)
    assert found.column_names == stripped(columns)


WORD = st.text(st.characters(categories=["L"]), min_size=1, max_size=8).map(lambda text: f"w{text}\"',\n é;")


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_names_of_words_are_found_unasked(data):
    values, rows, columns, _ = data.draw(tables())
    rows = None if rows is None else data.draw(st.lists(WORD, min_size=len(rows), max_size=len(rows)))
    columns = data.draw(st.lists(WORD, min_size=values.shape[1], max_size=values.shape[1]))
    found = round_trip(values, rows, columns, "")
    np.testing.assert_array_equal(found.data, values)
    assert found.row_names == stripped(rows)
    assert found.column_names == stripped(columns)


@settings(max_examples=50, deadline=None)
@given(tables(np.float32, st.floats(width=32)))
def test_float32_comes_back(table):
    values, rows, _, corner = table
    columns = [f"c{place}" for place in range(values.shape[1])]
    found = round_trip(values, rows, columns, corner, row_names=rows is not None, header=True)
    np.testing.assert_array_equal(found.data.astype(np.float32), values)


@settings(max_examples=50, deadline=None)
@given(hnp.arrays(np.int64, (3, 2), elements=st.integers(-(2**53), 2**53)))
def test_integers_come_back(values):
    np.testing.assert_array_equal(round_trip(values, None, None, "").data, values)
