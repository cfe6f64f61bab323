"""Which columns of a table are data, and which one names the rows."""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Container, Sequence
from itertools import pairwise

from partwise.io.errors import DataError
from partwise.io.words import MISSING, listing, shorten

#: Names of columns that tell rows apart: id, respondent, Response ID, user_id, case no., lfdn, Nr, Kundennummer.
_WHO = (
    "resp|respon(dent|se)|participant|subj(ect)?|case|record|row|obs(ervation)?|user|person|patient|customer|client|"
    "student|member|household|interview|sample|teilnehmer|fall|lfd"
)
_ID = re.compile(
    rf"#|ids?|index|uuid|guid|n[°º]|№|nr\.?|no\.|serial|lfdn|barcode|respondent|participant|person|patient|"
    rf"proband(in)?|student|customer|teilnehmer(in)?|befragte[rn]?|versuchsperson|vpn?|kunde|"
    rf"identifi(er|ant|kator)|identificador|identificativo|kennung|\w*nummer|\w+nr\.?|.+[ _.-](id|serial)|"
    rf"id[ _.-]*(no|nr|num(ber)?|code)\.?|({_WHO})[ _.-]*(id|nr\.?|no\.?|num(ber|mer)?|key|uuid)",
    re.IGNORECASE,
)
#: RespID, userId: case tells them from words that end in the same letters, as paid.
_CAMEL = re.compile(r".*[a-z](ID|Id)")
#: Names that may be those of numbers as well: such a column tells rows apart if it counts them.
_PERHAPS = re.compile(
    r"case|record|rec|row|obs(ervation)?|seq(uence)?|no|n|num(ber)?|num[eé]ro|n[uú]mero|cell|line|entry|item|unit|"
    r"key|code|sample|subj(ect)?|member|interview|household|fall|zeile|datensatz|ligne|enregistrement|caso|registro",
    re.IGNORECASE,
)
#: Names of what is measured, which as the name of a first column of different whole numbers are ids: Entrez genes,
#: numbers of mice.
_MEASURED = re.compile(
    r"(sample|specimen|donor|mouse|animal|tumou?r|cell|well|run|probe([ _.-]?set)?|gene|gsm|transcript|protein|"
    r"biopsy|plate|slide|accession)s?|mice|maus|tier|zelle|gen|spender(in)?|"
    r"entrez|(entrez|gene|hgnc|geo|sra)([ _.-]?(gene|ids?|no|nr|number|accession))+",
    re.IGNORECASE,
)
#: Rows from which on such a column names them.
_FEWEST_MEASURED = 4


#: What a column without a name is called, counted from 1.
NUMBERED = re.compile(r"column (\d{1,9})")


def names_rows(name: str) -> bool:
    """Whether a column of this name, if its values are unique, tells rows apart rather than being data."""
    text = name.strip()
    return bool(_ID.fullmatch(text) or _CAMEL.fullmatch(text))


def may_name_rows(name: str) -> bool:
    """Whether a column of this name, if it counts the rows, tells them apart rather than being data."""
    return bool(_PERHAPS.fullmatch(name.strip()) or _MEASURED.fullmatch(name.strip()))


def tells_rows_apart(name: str, cells: Sequence[str], first: bool) -> str | None:
    """Whether a column names the rows, by its name and its cells.

    Parameters
    ----------
    name : str
        Of the column.
    cells : sequence of str
        Below its name.
    first : bool
        Whether no column stands in front of it: ``gene`` or ``mouse`` are then ids, else perhaps numbers of them.

    Returns
    -------
    str or None
        What is to be said of it, "" where nothing is; None where it does not name the rows.
    """
    measured = first and bool(_MEASURED.fullmatch(name.strip())) and len(cells) >= _FEWEST_MEASURED
    if not (names_rows(name) or measured or (may_name_rows(name) and count_up(cells))):
        return None
    if cells and are_unique(cells):
        return ""
    held = [cell for cell in cells if cell.strip() not in MISSING]
    gaps = len(cells) - len(held)
    if (names_rows(name) or not measured) and len(held) > max(gaps, 1) and are_unique(held):
        return f"; {gaps} of them {'has' if gaps == 1 else 'have'} no name there"
    return None


def count_up(cells: Sequence[str]) -> bool:
    """Whether all cells, three at least, are whole numbers, each by one larger than that before it."""
    if len(cells) < 3 or not are_unique(cells):
        return False
    numbers = [int(cell.strip().split(".")[0]) for cell in cells if len(cell) < 19]
    return len(numbers) == len(cells) and all(b - a == 1 for a, b in pairwise(numbers))


def are_unique(cells: Sequence[str]) -> bool:
    """Whether all cells are whole numbers and none occurs twice. (Names in words are found without a note.)"""
    stripped = {cell.strip() for cell in cells}
    return len(stripped) == len(cells) and all(re.fullmatch(r"\d+(\.0+)?", cell) for cell in stripped)


def chosen_places(
    names: Sequence[str],
    source: str,
    id: str | None,
    drop: Sequence[str],
    columns: Sequence[str] | None,
    *,
    like_fit: bool = False,
) -> tuple[int | None, list[int]]:
    """Find columns by their names.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.
    source : str
        Begins the sentences of errors.
    id : str or None
        The column that names the rows; a column without a name is "column 3", as in the sentences of errors.
    drop : sequence of str
        Columns to leave out; each a name, or several with commas between them.
    columns : sequence of str or None
        Columns to keep, in this order, given in the same way; None keeps all.
    like_fit : bool, default=False
        Whether the columns of a fit are looked for anyway, so that one to leave out need not be there.

    Returns
    -------
    id : int or None
        The place of the column that names the rows.
    places : list of int
        The places of the others.
    """
    first: dict[str, int] = {}
    for place, name in enumerate(names):
        first.setdefault(name, place)

    def find(name: str) -> int | None:
        numbered = NUMBERED.fullmatch(name)
        by_number = int(numbered[1]) - 1 if numbered and 0 < int(numbered[1]) <= len(names) else None
        return first.get(name, by_number)

    def place_of(name: str) -> int:
        place = find(name)
        if place is not None:
            return place
        near = difflib.get_close_matches(name, first, n=1)
        hint = f"Did you mean '{shorten(near[0])}'?" if near else f"It has {listing(list(first)) or 'none'}."
        raise DataError(f"{source} has no column '{shorten(name)}'. {hint}")

    def places_of(given: Sequence[str]) -> list[int]:
        return [place_of(name) for name in separate_names(given, first)]

    row_names = None if id is None else place_of(id)
    gone = [name for name in separate_names(drop, first) if not like_fit or find(name) is not None]
    without = {row_names, *map(place_of, gone)}
    kept = range(len(names)) if columns is None else places_of(columns)
    places = [place for place in kept if place not in without]
    if not places:
        raise DataError(f"{source}: no column is left. Its columns are {listing(list(first))}.")
    return row_names, places


def separate_names(given: Sequence[str], known: Container[str]) -> list[str]:
    """The names in texts that hold one each, or several with commas between them.

    Parameters
    ----------
    given : sequence of str
        The texts.
    known : container of str
        Names that there are: a question may have commas in it.

    Returns
    -------
    list of str
        Each once.
    """
    wanted: list[str] = []
    for text in given:
        wanted += [text] if text in known else next(csv.reader([text], skipinitialspace=True), [])
    return list(dict.fromkeys(wanted))


def told_lacking(source: str, held: Sequence[str], wanted: Sequence[str]) -> str:
    """The sentence on columns of a fit that are not there.

    Parameters
    ----------
    source : str
        Begins the sentence.
    held, wanted : sequence of str
        The columns of the file and of the fit.

    Returns
    -------
    str
        With those that have another spelling in the file: all that differ in case and blanks only; else one that is
        near to the first that is lacking.
    """
    there, known = set(held), set(wanted)
    lacking = [name for name in wanted if name not in there]
    free = {_bare(name): name for name in held if name not in known}
    same = [(free[_bare(name)], name) for name in lacking if _bare(name) in free]
    near = difflib.get_close_matches(lacking[0], free.values(), n=1)
    hint = ""
    if same:
        shown = ", ".join(f"'{shorten(other)}' for '{shorten(name)}'" for other, name in same[:5])
        more = f" and {len(same) - 5} more" if len(same) > 5 else ""
        which = "Some of them are" if len(same) < len(lacking) else "They are" if len(same) > 1 else "It is"
        hint = f" {which} there but for case or blanks: {shown}{more}. Rename as in the fit."
    elif near:
        hint = f" Is '{shorten(near[0])}' the same as '{shorten(lacking[0])}'? Rename it."
    more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
    shown = ", ".join(f"'{shorten(name)}'" for name in lacking[:5])
    return f"{source} has not all columns of the fit; there is no {shown}{more}.{hint}"


def _bare(name: str) -> str:
    return "".join(name.split()).casefold()
