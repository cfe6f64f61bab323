"""Reading .xlsx with openpyxl, which is an optional package (the extra "surveys")."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from partwise.io.budget import spend
from partwise.io.cells import Reading
from partwise.io.decimals import with_comma
from partwise.io.delimited import table_of_cells
from partwise.io.errors import DataError
from partwise.io.table import Table
from partwise.io.words import listing, shorten


def read_excel(
    path: Path,
    source: str,
    key: str | None,
    header: bool | None,
    row_names: bool | None,
    reading: Reading,
) -> Table:
    """Return the first sheet of a workbook, or the sheet ``key``, as a text table of the same cells would be read."""
    import openpyxl

    try:
        with warnings.catch_warnings():
            # openpyxl warns of styles and extensions, which the reader of a table need not know of.
            warnings.simplefilter("ignore")
            with zipfile.ZipFile(path) as archive:
                # openpyxl keeps the strings of a workbook; no entry unpacks to more than it announces.
                spend(2 * sum(info.file_size for info in archive.infolist()))
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            names = [sheet.title for sheet in book.worksheets]
            if key is not None and key not in names:
                raise DataError(f"{source} has no sheet '{key}'. Its sheets are: {listing(names)}.")
            sheet = book.worksheets[0 if key is None else names.index(key)]
            rows, valueless = [], False
            for row in sheet.iter_rows():
                cells = [_cell(cell.value, reading.decimal == ",") for cell in row]
                valueless = valueless or any(map(_is_valueless, row))
                # Rows are as long as the sheet says it is wide.
                spend(sum(16 + len(cell) for cell in cells) + 64)
                rows.append(cells)
            book.close()
            unstored = _unstored_formulas(path, names.index(sheet.title)) if valueless else []
    except (DataError, MemoryError):
        raise
    except Exception as error:  # zipfile, the XML parser and openpyxl raise many kinds on damaged files
        raise DataError(
            f"{source} is not a readable .xlsx file: {shorten(str(error), 120)}. "
            "It may have been cut short, or not be what its name says; save it again."
        ) from error
    # A sheet may remember cells that were cleared, to the right of the table and below it.
    width = max((place for row in rows for place, cell in enumerate(row, start=1) if cell), default=0)
    table = [(number, (row + [""] * width)[:width]) for number, row in enumerate(rows, start=1) if any(row)]
    formulas = _told_formulas(source, unstored)
    if not table and formulas:
        raise DataError(formulas[0])
    if not table:
        raise DataError(
            f"{source} is empty: its sheet '{sheet.title}' has no cells. Name another with --key"
            + (f": {listing([name for name in names if name != sheet.title])}." if len(names) > 1 else ".")
        )

    def all_rows() -> Iterator[tuple[int, list[str]]]:
        return iter(table)

    found = table_of_cells(all_rows, source, header, row_names, reading)
    found = replace(found, notes=(*found.notes, *formulas))
    others = [name for name in names if name != sheet.title]
    if key is None and others:
        note = (
            f"read the sheet '{sheet.title}' alone; the others are {listing(others)} (--key NAME reads one)"
        )
        found = replace(found, notes=(*found.notes, note))
    return found


def _is_valueless(cell: Any) -> bool:
    """Whether a cell is there and has no value: it has a format alone, or a formula that nobody has calculated.

    Formulas whose value is an empty text are calculated, and say so by their type.
    """
    return cell.value is None and cell.data_type == "n" and hasattr(cell, "coordinate")


def _unstored_formulas(path: Path, place: int) -> list[str]:
    """The coordinates of cells with formulas whose values are not stored, as programs write them that calculate none.

    Parameters
    ----------
    path : Path
        The workbook, which is read again: one reading gives values, or formulas.
    place : int
        Of the sheet.
    """
    import openpyxl

    books = [openpyxl.load_workbook(path, read_only=True, data_only=only) for only in (True, False)]
    pairs = zip(*(book.worksheets[place].iter_rows() for book in books))
    found = [
        formula.coordinate
        for values, formulas in pairs
        for value, formula in zip(values, formulas)
        if _is_valueless(value) and formula.data_type == "f"
    ]
    for book in books:
        book.close()
    return found


def _told_formulas(source: str, cells: list[str]) -> tuple[str, ...]:
    """The note on formulas without values."""
    if not cells:
        return ()
    hold = (
        "1 cell holds a formula whose value is"
        if len(cells) == 1
        else f"{len(cells)} cells hold formulas whose values are"
    )
    return (
        f"{source}: {hold} not stored (e.g. {cells[0]}), and taken for empty: open the file in a spreadsheet program "
        "and save it.",
    )


def _cell(value: Any, commas: bool) -> str:
    """A cell as text; whole numbers without a point, as the sheet shows them, others with a comma where asked for."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return with_comma(str(value)) if commas and isinstance(value, float) else str(value)
