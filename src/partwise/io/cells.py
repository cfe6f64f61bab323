"""What the caller says of a table: which columns, what their cells mean; carried out on rows of cells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from partwise.io.answer_cells import Answers, Meaning
from partwise.io.answer_words import CODES, PAIRS, TICKS, WORDS, folded, is_number
from partwise.io.choice import (
    NUMBERED,
    are_unique,
    chosen_places,
    count_up,
    may_name_rows,
    names_rows,
    separate_names,
    tells_rows_apart,
)
from partwise.io.coding import Coding
from partwise.io.decimals import with_point
from partwise.io.errors import DataError
from partwise.io.interpret import Rows, interpreted, worth_reading
from partwise.io.layout import UNNAMED, holds_text, lacks_corner
from partwise.io.nameless import without_nameless
from partwise.io.number_header import number_header
from partwise.io.words import MISSING, listing

#: Rows by which it is judged whether a table holds answers.
_SAMPLE = 50
#: Rows by which it is judged whether a first row of numbers holds names.
_HEADER_SAMPLE = 100


@dataclass(frozen=True)
class Reading:
    """How the cells of a table are read; the parameters are those of `partwise.io.read`.

    Columns that are ``aside`` hold labels: their cells are never read as yes and no, and are text where one of them
    is. Those that are ``spare`` are left out where they are columns of the file and no names of its rows, which will
    be columns when it is transposed, that is, ``turned``. Those that are left out ``again`` were dropped from the
    table of the coding, see `among`.
    """

    answers: Answers = field(default_factory=Answers)
    id: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    decimal: str = "."
    aside: tuple[str, ...] = ()
    skip: int = 0
    spare: tuple[str, ...] = ()
    coding: Coding | None = None
    turned: bool = False
    again: tuple[str, ...] = ()

    def among(self, names: Sequence[str]) -> Reading:
        """The same with what the coding says of columns that the table has, where nothing else is said now.

        Columns that were dropped are dropped ``again``. In a table that will be transposed the id is the same, too:
        columns of the coding are names of its rows, which do not tell where these names are.
        """
        if self.coding is None:
            return self
        kept = self.coding.options
        asked = {
            *separate_names(self.columns or (), names),
            *self.aside,
            self.id,
            *(self.coding.columns or ()),
        }
        there = [name for name in separate_names(kept.get("drop", ()), names) if name in names]
        again = tuple(name for name in there if name not in asked)
        if not self.turned:
            return replace(self, drop=(*self.drop, *again), again=again)
        id, before = self.id, kept.get("id", "")
        if id is None and (before in names or NUMBERED.fullmatch(before)):
            id = before or None
        return replace(self, id=id, spare=(*self.spare, *again), again=again)

    def told_again(self, source: str, names: Collection[str]) -> list[str]:
        """The note on columns that were dropped again, of which none is among the ``names`` that are left."""
        gone = [name for name in self.again if name not in names]
        which = "1 column" if len(gone) == 1 else f"{len(gone)} columns"
        return [f"{source}: {which} left out as at the fit: {listing(gone)}."] if gone else []

    @property
    def chooses(self) -> bool:
        """Whether columns are named."""
        return self.id is not None or bool(self.drop) or self.columns is not None

    @property
    def interprets(self) -> bool:
        """Whether cells may mean something else than the number they hold."""
        return self.answers != Answers() or self.coding is not None

    @property
    def guesses(self) -> bool:
        """Whether nothing is asked for but that words for yes and no are understood where there are any."""
        asks = Answers(guess=True, codes=self.answers.codes)
        return self.answers == asks and self.coding is None and not self.chooses and not self.spare

    @property
    def acts(self) -> bool:
        """Whether the table may come back other than the file has it."""
        return self.chooses or self.interprets or self.decimal != "." or bool(self.spare)


@dataclass(frozen=True)
class Prepared:
    """Rows with the chosen columns and with yes, no and missing as 1, 0 and empty cells.

    Attributes
    ----------
    rows : callable
        Goes through these rows.
    header, row_names : bool or None
        As given, or True where it is known now.
    notes : tuple of str
        Sentences on what was read as what.
    meanings : list
        What the cells of each column meant, that of the row names included; empty where nothing was interpreted.
    left_out : tuple of str
        Spare columns that were there.
    """

    rows: Rows
    header: bool | None
    row_names: bool | None
    notes: tuple[str, ...] = ()
    meanings: Sequence[Meaning | None] = ()
    left_out: tuple[str, ...] = ()


def prepared(
    rows: Rows, source: str, header: bool | None, row_names: bool | None, reading: Reading
) -> Prepared:
    """Choose columns, find the one that names the rows, and read yes, no and missing."""
    head = [cells for _, cells in _first(rows, 2)]
    if not head:
        return Prepared(rows, header, row_names)
    if reading.decimal == ",":
        rows = _with_points(rows, header is True)
    lacking = lacks_corner(head[0], [cells for _, cells in _first(rows, 20)[1:]])
    if lacking and header is not False and reading.acts:
        # R leaves the corner out.
        rows, head[0] = _cornered(rows), ["", *head[0]]
    notes: list[str] = []
    numbered: tuple[str, ...] = ()
    if header is None:
        is_header, numbered = number_header([cells for _, cells in _first(rows, _HEADER_SAMPLE)], source)
        header = True if is_header else None
    reading, told = _with_id(rows, head[0], source, header, row_names, reading)
    notes += told
    left_out: tuple[str, ...] = ()
    if reading.spare and header is not False:
        rows, order = _without_spare(rows, head[0], source, reading)
        left_out = tuple(cell.strip() for place, cell in enumerate(head[0]) if place not in order)
        head[0] = [head[0][place] for place in order]
        if left_out:
            header, numbered = True, ()
    if reading.chooses:
        place, places = chosen_places(
            [cell.strip() for cell in head[0]],
            source,
            reading.id,
            reading.drop,
            reading.columns,
            like_fit=reading.coding is not None,
        )
        if not all(
            map(NUMBERED.fullmatch, [*reading.drop, *(reading.columns or ()), reading.id or "column 1"])
        ):
            # Who names columns knows that the first row does.
            header, numbered = True, ()
        if place is None and reading.columns is not None and row_names is None and header:
            place, told = _names_beside(rows, head[0], source, reading, places)
            notes += told
        order = places if place is None else [place, *places]
        rows, head[0] = picked(rows, order, len(head[0]), source), [head[0][i] for i in order]
        row_names = True if place is not None else row_names
    bare: tuple[str, ...] = ()
    if (
        (reading.interprets or reading.turned)
        and reading.columns is None
        and "" not in _names_of_fit(reading)
    ):
        rows, order, bare = without_nameless(
            rows, head[0], source, header, int(bool(row_names or reading.turned))
        )
        head[0] = [head[0][i] for i in order]
    notes += reading.told_again(source, {cell.strip() for cell in head[0]})
    if reading.coding is not None:
        from partwise.io.coded import as_coded

        coded = as_coded(rows, source, header, row_names, reading, head[0])
        if coded is not None:
            known = coded.header and not set(reading.coding.columns or ()).isdisjoint(map(str.strip, head[0]))
            told = [*notes, *bare, *(() if known else numbered)]
            return replace(coded, left_out=left_out, notes=(*told, *coded.notes))
    notes += [*bare, *numbered]
    width = len(head[0])
    places = list(range(width))
    if reading.guesses:
        places = worth_reading(rows, width)
    interprets = reading.interprets and bool(places)
    named = row_names is None and header is not False and any(map(_names_rows, head[0]))
    counted = reading.guesses and are_unique([cells[0] for _, cells in _first(rows, _SAMPLE)[1:]])
    if interprets or named or counted:
        found, how = _find_id(rows, head[0], header, row_names, reading)
        if found is not None:
            order = [found, *(place for place in range(len(head[0])) if place != found)]
            if found:
                rows, head[0] = picked(rows, order, width, source), [head[0][i] for i in order]
                places = [order.index(place) for place in places]
            row_names = True
            if _names_rows(head[0][0]):
                header = True
            notes.append(f"{source}: column '{head[0][0].strip()}' names the rows{how}.")
    if not interprets:
        return Prepared(rows, header, row_names, tuple(notes), left_out=left_out)
    rows, more, meanings = interpreted(
        rows, source, header, row_names, reading.answers, reading.aside, places, width
    )
    return Prepared(rows, header, row_names, (*notes, *more), meanings, left_out)


def _names_of_fit(reading: Reading) -> tuple[str, ...]:
    """The names of the columns of a fit, none where there is no fit or it had none."""
    return () if reading.coding is None else reading.coding.columns or ()


def _with_id(
    rows: Rows, head: list[str], source: str, header: bool | None, row_names: bool | None, reading: Reading
) -> tuple[Reading, list[str]]:
    """The reading with what its coding says of these columns, and the note on it.

    Where the table will be transposed, the column that names its rows is that of the fit, or else found as there.
    """
    names = [cell.strip() for cell in head]
    reading = reading.among([] if header is False else names)
    if reading.coding is None or not reading.turned or reading.id is not None:
        return reading, []
    no_names = (*reading.aside, *separate_names(reading.spare, names))
    place, why = _find_id(rows, head, header, row_names, replace(reading, aside=no_names))
    if place is None:
        return reading, []
    name = names[place] if _names_rows(names[place]) else f"column {place + 1}"
    return replace(reading, id=name), [f"{source}: column '{names[place]}' names the rows{why}."]


def _without_spare(rows: Rows, head: list[str], source: str, reading: Reading) -> tuple[Rows, list[int]]:
    """The rows without the columns that are spare, and the places of those that are left."""
    names = [cell.strip() for cell in head]
    begin = names.index(reading.id) if reading.id in names else 0
    spare = set(separate_names(reading.spare, set(names))) & set(names) - {names[begin]}
    if spare:
        spare -= {cells[begin].strip() for _, cells in rows() if len(cells) == len(head)}
    order = [place for place, name in enumerate(names) if name not in spare]
    return picked(rows, order, len(head), source) if spare else rows, order


def _first(rows: Rows, count: int) -> list[tuple[int, list[str]]]:
    found = []
    for row in rows():
        if len(row[1]) > 1 or row[1][0].strip():
            found.append(row)
        if len(found) == count:
            break
    return found


def _with_points(rows: Rows, header: bool) -> Rows:
    """The rows with numbers that have a decimal comma written with a point; a header stays as it is."""

    def pointed() -> Iterator[tuple[int, list[str]]]:
        all_rows = rows()
        if header:
            yield from islice(all_rows, 1)
        for number, cells in all_rows:
            yield number, list(map(with_point, cells))

    return pointed


def _cornered(rows: Rows) -> Rows:
    def cornered() -> Iterator[tuple[int, list[str]]]:
        all_rows = rows()
        number, cells = next(all_rows)
        yield number, ["", *cells]
        yield from all_rows

    return cornered


def picked(rows: Rows, order: Sequence[int], width: int, source: str) -> Rows:
    def some() -> Iterator[tuple[int, list[str]]]:
        for number, cells in rows():
            if len(cells) == width:
                yield number, [cells[place] for place in order]
            elif len(cells) > 1 or cells[0].strip():
                raise DataError(
                    f"{source}: row {number} has {len(cells)} cells where the header has {width}. Give every row the "
                    "same number of cells; quote cells that contain the delimiter."
                )

    return some


def _names_rows(name: str) -> bool:
    """Whether a column of this name tells rows apart if its values are unique, or at least if it counts them."""
    return names_rows(name) or may_name_rows(name)


def _find_id(
    rows: Rows, head: list[str], header: bool | None, row_names: bool | None, reading: Reading
) -> tuple[int | None, str]:
    """The place of the column that tells rows apart: by its name and unique values.

    Where all or most data are yes and no, also a first column of whole numbers of which no two are the same; the
    second value then says so.
    """
    if row_names is not None or reading.columns is not None or len(head) < 2:
        return None, ""
    free = [place for place, name in enumerate(head) if name.strip() not in reading.aside]
    named = [place for place in free if _names_rows(head[place])] if header is not False else []
    guessed = reading.answers.guess
    candidates = dict.fromkeys([*named, *([0] if guessed and 0 in free else [])])
    cells: dict[int, list[str]] = {place: [] for place in candidates}
    for _, row in rows():
        if len(row) == len(head):
            for place, column in cells.items():
                column.append(row[place])
    for place, column in cells.items():
        why = tells_rows_apart(head[place], column[1:], place == 0) if place in named else None
        if why is not None:
            return place, why
        body = column if column and is_number(folded(column[0])) else column[1:]
        id_like = place in named and (names_rows(head[place]) or count_up(column[1:]))
        if not id_like and len(body) > 2 and are_unique(body):
            if reading.answers.numbers:
                return place, ""
            if _mostly_answers(rows, len(head)):
                return (
                    place,
                    " (a different number in each); if it is data, give it in --columns with the others",
                )
    return None, ""


def _names_beside(
    rows: Rows, head: list[str], source: str, reading: Reading, places: Sequence[int]
) -> tuple[int | None, list[str]]:
    """The place of a column that names the rows, though only others were asked for; and the note on it.

    It is the one that would name them if all columns were read: chosen columns are data.
    """
    everything = replace(reading, columns=None, drop=())
    place, why = _find_id(rows, head, True, None, everything)
    notes = [] if place is None else [f"{source}: column '{head[place].strip()}' names the rows{why}."]
    if place is None and head[0].strip() not in reading.aside:
        cells = [cells[0] for _, cells in _first(rows, _SAMPLE)[1:]]
        words = {folded(cell) for cell in cells if cell.strip() not in MISSING}
        answers = reading.answers.guess and words <= WORDS | TICKS
        if head[0].strip() in UNNAMED or (holds_text(cells) and not answers):
            place = 0
    if place is None or place in places:
        return None, []
    if reading.drop:
        names, like_fit = [cell.strip() for cell in head], reading.coding is not None
        if place not in chosen_places(names, source, None, reading.drop, None, like_fit=like_fit)[1]:
            return None, []
    return place, notes


def _mostly_answers(rows: Rows, width: int) -> bool:
    """Whether most columns behind the first, at least two, hold nothing but answers, by the first rows."""
    some = [cells for _, cells in _first(rows, _SAMPLE)[1:] if len(cells) == width]
    known = [CODES | {"0", "2"}, TICKS, *(yes | no for yes, no in PAIRS)]
    answers = 0
    for column in list(zip(*some))[1:]:
        words = {folded(cell) for cell in column if cell.strip() not in MISSING}
        answers += any(words <= each for each in known)
    return answers > 1 and 2 * answers >= width - 1
