"""A law of readers: whatever bytes a file holds, a table or one sentence comes back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from partwise.io import DataError, read
from partwise.io.readers import known_suffixes


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize("suffix", known_suffixes())
@given(content=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
@example(b"")
@example(b"1 2\n3 x\n")
def test_any_bytes_are_a_table_or_an_error_that_names_the_file(suffix, folder, content):
    path = folder / f"any{suffix}"
    path.write_bytes(content)
    for options in ({}, {"yes_no": True, "missing": "1", "decimal": ","}):
        check(path, options)


def check(path, options):
    try:
        table, said = read(path, **options), None
    except DataError as error:
        table, said = None, str(error)
    if table is None:
        assert path.name in said or "pip install" in said
        return
    assert table.data.ndim == 2
    assert table.data.dtype.kind in "biuf"
    assert table.row_names is None or len(table.row_names) == table.shape[0]
    assert table.column_names is None or len(table.column_names) == table.shape[1]
