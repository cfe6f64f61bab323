"""A first row of numbers that are names of columns: ids, or 0, 1, 2, … as pandas numbers them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from partwise.io.choice import may_name_rows, names_rows
from partwise.io.layout import counts, has_header, holds_text, number

#: Columns from which on ids, and 0, 1, 2, …, are taken for names.
_FEWEST_IDS, _FEWEST_COUNTED = 3, 4
#: How many times larger than every other number of the table ids are.
_LARGER = 2
_WHOLE = re.compile(r"[0-9]{1,18}")
#: Words above a column of names, in the corner of a table, beside those of columns that tell rows apart.
_CORNER = re.compile(
    r"(sample|gene|feature|protein|transcript|probe|peptide|species|tax(on|a)|otu|asv|strain|compound|metabolite|"
    r"document|doc|text|word|term|user|item|product|film|movie|country|city|region|state|year|land|stadt|jahr|"
    r"antibody|marker|pathway|variable|question)s?([ _.-]?(id|name|symbol|acc(ession)?))?|symbols?|"
    r"(hgnc|ensembl|entrez|uniprot|refseq|mgi)([ _.-]?\w+)*",
    re.IGNORECASE,
)


def number_header(rows: Sequence[list[str]], source: str) -> tuple[bool, tuple[str, ...]]:
    """Whether the first row, of numbers but perhaps for its first cell, holds the names of the columns.

    It does beside a word that stands above names of rows, as ``symbol``; where its numbers are whole, no two the
    same, at least three, and each more than twice as large as every number below; and where they count 0, 1, 2, … as
    no other row counts.

    Parameters
    ----------
    rows : sequence of list of str
        The first rows of the table.
    source : str
        Begins the note.

    Returns
    -------
    is_header : bool
        False also for a first row with words, for which there are other rules.
    notes : tuple of str
        A sentence where only the numbers tell it.
    """
    first = [cell.strip() for cell in rows[0]]
    rest = [row for row in rows[1:] if len(row) == len(first)]
    if len(first) < 2 or not rest or any(number(cell) is None for cell in first[1:]):
        return False, ()
    named = holds_text(row[0] for row in rest)
    corner = named or not _WHOLE.fullmatch(first[0])
    ids = first[1:] if corner else first
    known = (
        bool(_CORNER.fullmatch(first[0])) or names_rows(first[0]) or may_name_rows(first[0].removesuffix("s"))
    )
    if has_header(first, rest) or (named and known and _are_ids(ids, 2)):
        return True, ()
    counted = (
        len(first) >= _FEWEST_COUNTED
        and counts(first, 1)
        and int(first[0]) == 0
        and not any(counts(row[int(named) :], 2) for row in rest)
    )
    if not counted and not (
        _are_ids(ids, _FEWEST_IDS) and _exceed(ids, (row[int(corner) :] for row in rest))
    ):
        return False, ()
    how = "it counts the columns" if counted else "its numbers are more than twice as large as all below"
    note = (
        f"{source}: the first row, {', '.join(ids[:2])}, …, is taken for the names of the columns; {how}. If it is "
        "data, add --no-header (in Python: header=False)."
    )
    return True, (note,)


def _are_ids(cells: Sequence[str], fewest: int) -> bool:
    """Whether all cells are whole numbers, so many at least, and no two the same."""
    return len(set(cells)) == len(cells) >= fewest and all(map(_WHOLE.fullmatch, cells))


def _exceed(cells: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Whether each cell is more than twice as large as every number of the rows, which hold some."""
    found = [
        abs(value) for row in rows for cell in row if (value := number(cell)) is not None and value == value
    ]
    return bool(found) and min(map(int, cells)) > _LARGER * max(found)
