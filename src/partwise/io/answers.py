"""Which columns of a table are answers of yes and no, and what their cells mean.

A column is read so if every cell of it is a word of one pair of `answer_words`, or was named by the caller. What
cannot be told is refused with the option that tells it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from partwise.io.answer_words import (
    CHECKS,
    CODES,
    CROSSES,
    NEUTRAL,
    PAIRS,
    PLAIN_LETTERS,
    TICKS,
    WEAK,
    WORDS,
    folded,
    is_number,
)
from partwise.io.choice import names_rows
from partwise.io.errors import DataError
from partwise.io.layout import MISSING
from partwise.io.words import listing, shorten

#: A column with more different cells than this is none of yes and no.
MOST = 40
_NA = "\0"


@dataclass(frozen=True)
class Answers:
    """What the caller says of cells.

    Parameters
    ----------
    yes, no, missing : tuple of str
        Cells that mean this; "" is an empty cell.
    guess : bool
        Whether words of ``PAIRS`` and ticks are read, too.
    numbers : bool
        Whether, with ``guess``, the table must hold nothing but yes and no, so that 1 and 2 are read as well.
    codes : bool
        Whether, with ``guess``, 1 and 2 are read as well if the table has no other numbers; others are then no error.
    labels : mapping
        Column → code → what the file itself says 1 and 2, or 0 and 1, are, where that is not yes and no: they are not
        read so.
    """

    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    guess: bool = False
    numbers: bool = False
    codes: bool = False
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict, compare=False)

    @property
    def given(self) -> dict[str, str]:
        """Folded cell → "1", "0" or "" for missing, as named by the caller."""
        sides = ((self.yes, "1"), (self.no, "0"), (self.missing, ""))
        found: dict[str, str] = {}
        for words, meaning in sides:
            for word in words:
                if found.setdefault(folded(word), meaning) != meaning:
                    raise DataError(f"'{word}' cannot have two meanings of yes, no and missing.")
        return found


@dataclass
class Column:
    """How often each cell occurs in a column.

    Parameters
    ----------
    name : str
    cells : Counter
        Folded cells; ``_NA`` stands for all words that mean "missing" in any table.
    spelling : dict
        Folded cell → a cell of the file.
    many : bool
        Whether there are more than ``MOST`` different cells, of which only the first are counted.
    """

    name: str
    cells: Counter[str] = field(default_factory=Counter)
    spelling: dict[str, str] = field(default_factory=dict)
    many: bool = False

    @classmethod
    def of(cls, name: str, raw: Mapping[str, int], given: Container[str]) -> Column:
        """From cells as they stand in the file; ``given`` are folded cells whose meaning the caller named."""
        column = cls(name, many=len(raw) > MOST)
        for cell, count in raw.items():
            text, key = cell.strip(), folded(cell)
            if text and text in MISSING and key not in given:
                key = _NA
            column.cells[key] += count
            column.spelling.setdefault(key, text)
        return column

    @property
    def words(self) -> set[str]:
        """The cells that are not empty and not missing."""
        return set(self.cells) - {"", _NA}


#: Folded cell → "1", "0", or "" for missing.
Meaning = dict[str, str]
#: The number of the row in which a column, by its place, first has a folded cell.
Locate = Callable[[int, str], int]


def find_meanings(
    columns: Sequence[Column], answers: Answers, source: str, locate: Locate
) -> tuple[list[Meaning | None], tuple[str, ...]]:
    """What the cells of each column mean; errors name the row that ``locate`` finds.

    Returns
    -------
    meanings : list
        For each column a dict, folded cell → "1", "0" or "" (missing), or None where the cells stay as they are.
    notes : tuple of str
        One sentence on what was read as yes and no, if anything was.
    """
    given = answers.given
    gone = {key for key, meaning in given.items() if meaning == ""}
    sides = {key: meaning for key, meaning in given.items() if meaning}
    found: list[Meaning | None] = [
        None if column.many else _named(column, sides, gone, source, partial(locate, place))
        for place, column in enumerate(columns)
    ]
    ambiguous = ""
    beside = ""
    if answers.guess:
        named = list(found)
        doubt, beside = _guess_words(columns, found, gone, sides, source, locate)
        if doubt is not None and (not answers.codes or any(found)):
            # In a table without any answers, a column with a few words for yes and no is one of text.
            raise doubt
        if answers.codes and not any(map(_has_both, columns, found)):
            # Where no column has both, a word for yes (or an x) in every row is but a word.
            found, beside = named, ""
        if answers.numbers or answers.codes:
            asked = locate if answers.numbers else None
            ambiguous = _guess_numbers(columns, found, gone, source, asked, answers.labels)
    notes = told(columns, found, source, beside + ambiguous) or (
        (f"{source}: {ambiguous[1].lower()}{ambiguous[2:]}",) if ambiguous else ()
    )
    if answers.numbers and not notes and _only_ones(columns, gone):
        notes = (f"{source}: every cell is 1 or empty, and empty is missing. If it means no, add --no ''.",)
    absent = set(given) - {""}.union(*(column.cells for column in columns))
    if absent:
        notes = (*notes, f"{source}: no cell is {listing(sorted(absent))}.")
    if gone:
        found = [dict.fromkeys(gone, "") | (meaning or {}) for meaning in found]
    return found, notes


def _has_both(column: Column, meaning: Meaning | None) -> bool:
    """Whether yes and no both occur."""
    return {"0", "1"} <= {(meaning or {}).get(cell) for cell in column.cells}


def _only_ones(columns: Sequence[Column], gone: set[str]) -> bool:
    words = set().union(*(column.words for column in columns))
    return words - gone == {"1"} and "" not in gone and any("" in column.cells for column in columns)


def _named(
    column: Column, sides: Meaning, gone: set[str], source: str, locate: Callable[[str], int]
) -> Meaning | None:
    """The column by the words that the caller named; for a side that was not named, by any word for it."""
    words = column.words - gone
    if not words & (set(sides) - {""}):
        return None
    known = dict(sides)
    for place, meaning in ((0, "1"), (1, "0")):
        if meaning not in sides.values():
            for pair in PAIRS:
                known |= {word: meaning for word in pair[place] if word not in known}
            known.setdefault("1" if meaning == "1" else "0", meaning)
            if meaning == "1" or CHECKS & set(sides):
                known |= dict.fromkeys((CHECKS if meaning == "1" else CROSSES) - set(known), meaning)
    return _complete(column, known, words, source, locate)


def _complete(
    column: Column, known: Meaning, words: set[str], source: str, locate: Callable[[str], int]
) -> Meaning | None:
    """The meaning of all words, or an error if most cells are known and some are not; None if few are known."""
    cells = column.cells
    strange = sorted(words - set(known), key=lambda word: -cells[word])
    if not strange:
        return {word: known[word] for word in (*words, *({""} & set(known)))}
    if 2 * sum(cells[word] for word in words - set(strange)) < sum(cells[word] for word in words):
        return None
    shown = [column.spelling[word] for word in words if word not in strange]
    one = column.spelling[strange[0]]
    raise DataError(
        f"{source}: column '{shorten(column.name)}' holds {listing(sorted(shown))} for yes or no, and also "
        f"{listing([column.spelling[word] for word in strange])} ('{shorten(one)}' {_times(cells[strange[0]])} in "
        f"row {locate(strange[0])}). "
        f"Say what it means: --yes, --no or --missing '{shorten(one)}', or leave the column out: --drop "
        f"'{shorten(column.name)}' (in Python: yes=, no=, missing= or drop=)."
    )


def _times(count: int) -> str:
    return "once," if count == 1 else f"{count} times, first"


def _guess_words(
    columns: Sequence[Column],
    found: list[Meaning | None],
    gone: set[str],
    sides: Meaning,
    source: str,
    locate: Locate,
) -> tuple[DataError | None, str]:
    """Fill in the meanings of columns of known words and of ticks.

    Returns
    -------
    doubt : DataError or None
        The error of a column that has other words too.
    beside : str
        A sentence on what was read so only because of other columns, or "".
    """
    doubt = None
    used: set[int] = set()
    one_sided: list[int] = []
    ticked: list[int] = []
    letters: dict[int, list[int]] = {}
    for place, column in enumerate(columns):
        words = column.words - gone
        if column.many or found[place] is not None or all(map(is_number, words)):
            continue
        if words <= TICKS:
            ticked.append(place)
            continue
        fits = [i for i, (yes, no) in enumerate(PAIRS) if words <= yes | no]
        both = [i for i in fits if words & PAIRS[i][0] and words & PAIRS[i][1]]
        if both and _are_letters(words):
            letters[place] = both
        elif both:
            used.update(both)
            found[place] = _by_pair(both[0], words)
        elif fits:
            one_sided.append(place)
        else:
            known = dict.fromkeys(_plain_words(words), "1")
            try:
                _complete(column, known, words, source, partial(locate, place))
            except DataError as error:
                doubt = doubt or error
    said = _guess_ticks(columns, found, gone, ticked)
    spoken = set(used)
    for place in one_sided:
        words = columns[place].words - gone
        if max(map(len, words)) > 1 and not words & WEAK:
            spoken.update(i for i, (yes, no) in enumerate(PAIRS) if words <= yes | no)
    alone = _guess_letters(columns, found, gone, letters, spoken)
    used.update(i for place in alone for i in letters[place])
    for place in one_sided:
        # One letter alone may be anything: another column must have both letters of its pair.
        words = columns[place].words - gone
        fits = [i for i, (yes, no) in enumerate(PAIRS) if words <= yes | no]
        fits = [i for i in fits if i in used] or [
            i for i in fits if max(map(len, words)) > 1 and not words & WEAK
        ]
        readings = [_by_pair(i, words) for i in fits]
        if readings and all(reading == readings[0] for reading in readings):
            found[place] = readings[0]
            if _are_letters(words):
                alone.append(place)
    for place, column in enumerate(columns):
        words = column.words - gone
        if found[place] is None and not words and ticked and not said and "" not in gone:
            found[place] = {"": "0"}
        if "" in sides and not column.many and (found[place] is not None or words <= {"0", "1"}):
            found[place] = (found[place] or {word: word for word in words}) | {"": sides[""]}
    if alone and any(map(_by_long_words, found)):
        named = listing([columns[place].name for place in sorted(alone)])
        said += f" Single letters in {named} are taken for answers, too (leave out what is none with --drop)."
    return doubt, said


def _guess_ticks(
    columns: Sequence[Column], found: list[Meaning | None], gone: set[str], ticked: Sequence[int]
) -> str:
    """Fill in the meanings of columns of ticks; the sentence on crosses that are no, or "".

    A cross is yes and an empty cell is no; but beside ✓ in the table a cross is no, and an empty cell is missing. An
    x is such a cross only if some column has both, for in another column it may be what somebody writes for ✓.
    """
    if not ticked:
        return ""
    # Columns whose marks the caller named count as well.
    held = [words for column in columns if not column.many and (words := column.words - gone) <= TICKS]
    marks: set[str] = set().union(*held)
    both = any(words & CHECKS and words & CROSSES for words in held)
    crossed = both or bool(marks & CHECKS and marks & CROSSES - {"x", "х"})
    for place in ticked:
        words = columns[place].words - gone
        if crossed:
            known = (*sorted(words), *sorted(TICKS - gone))
            found[place] = {word: "1" if word in CHECKS else "0" for word in known}
        else:
            found[place] = dict.fromkeys(words, "1") | ({} if "" in gone else {"": "0"})
    if not crossed:
        return ""
    no, yes = (min(marks & kind) for kind in (CROSSES, CHECKS))
    empty = any(columns[place].cells[""] for place in ticked) and "" not in gone
    more = ", and empty cells for missing; if they are no, add --no ''" if empty else ""
    return f" '{no}' beside '{yes}' is taken for no{more}."


def _guess_letters(
    columns: Sequence[Column],
    found: list[Meaning | None],
    gone: set[str],
    letters: Mapping[int, list[int]],
    spoken: set[int],
) -> list[int]:
    """Fill in the meanings of columns of single letters, of which ``letters`` has the pairs; the places so read.

    Beside answers in words, whose pairs are ``spoken``, letters of another language are no answers, as N and S for
    regions beside yes and no.
    """
    language = spoken - NEUTRAL
    read = []
    for place, both in letters.items():
        words = columns[place].words - gone
        fits = [i for i in both if i in language]
        if not fits and (not spoken or words in PLAIN_LETTERS or (not language and len(letters) > 1)):
            fits = both
        if fits:
            found[place] = _by_pair(fits[0], words)
            read.append(place)
    return read


def _are_letters(words: set[str]) -> bool:
    return all(len(word) == 1 and word.isalpha() for word in words)


def _by_long_words(meaning: Meaning | None) -> bool:
    """Whether a column has answers in words of more than one letter."""
    return any(side and len(word) > 1 and not is_number(word) for word, side in (meaning or {}).items())


def _plain_words(words: set[str]) -> set[str]:
    """Words for yes or no; a single letter, and others that are weak, if their counterpart occurs, too."""
    pairs = [pair for pair in PAIRS if words & pair[0] and words & pair[1]]
    return {
        word
        for word in words & WORDS
        if (len(word) > 1 and word not in WEAK) or any(word in yes | no for yes, no in pairs)
    }


def _by_pair(pair: int, words: set[str]) -> Meaning:
    return {word: "1" if word in PAIRS[pair][0] else "0" for word in words}


def _guess_numbers(
    columns: Sequence[Column],
    found: list[Meaning | None],
    gone: set[str],
    source: str,
    locate: Locate | None,
    labels: Mapping[str, Mapping[str, str]],
) -> str:
    """Fill in the meanings of 1 and 2 where the table has no other numbers; the sentence that says so, or "".

    Other numbers, and 1 and 2 with other ``labels`` than yes and no, are an error where ``locate`` is given.
    """
    numeric = [
        place
        for place, column in enumerate(columns)
        if found[place] is None and all(map(is_number, column.words - gone))
    ]
    other = [
        place
        for place in numeric
        if columns[place].name in labels
        and set() < columns[place].words - gone <= set(_labelled(labels[columns[place].name]))
    ]
    if other and locate is not None:
        _refuse_labels(columns[other[0]], labels[columns[other[0]].name], source)
    numeric = [place for place in numeric if place not in other]
    seen: set[str] = set().union(*(columns[place].words - gone for place in numeric))
    if seen <= {"0", "1"}:
        return ""
    both = seen == {"1", "2"} and len(numeric) > 1
    if seen <= {"1", "2"} and (both or locate is not None):
        kept = "" if locate is not None else ", and if they are numbers, --numbers"
        which = ""
        if any(map(_by_words, columns, found)):
            # Beside answers in words, a lone 1 and 2 may be anything, so the user is told where it is.
            named = listing([columns[place].name for place in numeric if columns[place].words - gone])
            which = f" in {named}, beside answers in words (leave out what is none with --drop)"
        for place in numeric:
            found[place] = {"1": "1", "2": "0"}
        return f" 1 is taken for yes and 2 for no{which}; if it is the other way round, add --yes 2 --no 1{kept}."
    if locate is not None:
        _refuse_numbers(columns, numeric, gone, source, locate)
    codes = seen - {"1", "2"}
    if {"1", "2"} <= seen and codes <= CODES and len(numeric) > 1:
        marks = sorted(codes, key=float)
        words = " ".join(f"--missing {word}" for word in marks)
        return f" Its numbers are 1, 2 and {', '.join(marks)}: if this marks missing answers, add {words}."
    return ""


def _by_words(column: Column, meaning: Meaning | None) -> bool:
    """Whether a word that is no number means yes or no in a column."""
    return any(side and word and not is_number(word) for word, side in (meaning or {}).items())


def _refuse_labels(column: Column, labels: Mapping[str, str], source: str) -> None:
    """Raise DataError for a column of two codes that are, by the file, something else than yes and no."""
    codes = _labelled(labels)
    first, second = (shorten(labels[code]) for code in codes)
    yes, no = (second, first) if codes[0] == "0" else (first, second)
    name = shorten(column.name)
    raise DataError(
        f"{source}: column '{name}' holds {codes[0]} ('{first}') and {codes[1]} ('{second}'), and these labels do "
        f"not say yes and no. Say which is which, as --yes '{yes}' --no '{no}', or leave the column out: --drop "
        f"'{name}' (in Python: yes= and no=, or drop=)."
    )


def _labelled(labels: Mapping[str, str]) -> tuple[str, str]:
    """The two codes of a column that might be yes and no."""
    return ("0", "1") if "0" in labels else ("1", "2")


def _refuse_numbers(
    columns: Sequence[Column], numeric: Sequence[int], gone: set[str], source: str, locate: Locate
) -> None:
    """Raise DataError for the first column that holds other numbers than most columns have for yes and no."""
    held = {place: columns[place].words - gone for place in numeric}
    seen: set[str] = set().union(*held.values())
    codes = seen - {"0", "1", "2"}
    coded = bool(codes) and codes <= CODES and not {"0", "2"} <= seen
    by_two = sum("2" in words and words - codes <= {"1", "2"} for words in held.values())
    by_zero = sum("0" in words and words - codes <= {"0", "1"} for words in held.values())
    usual = {"1", "2"} if by_two > by_zero or (coded and "2" in seen) else {"0", "1"}
    for place, found in held.items():
        words = sorted(found, key=float)
        odd = [word for word in words if word not in usual]
        if odd:
            _refuse_column(
                columns[place], words, odd, sorted(usual), codes if coded else set(), source, place, locate
            )


def _refuse_column(
    column: Column,
    words: list[str],
    odd: list[str],
    usual: list[str],
    codes: set[str],
    source: str,
    place: int,
    locate: Locate,
) -> None:
    name = shorten(column.name)
    held = f"more than {MOST} different numbers" if column.many else listing(words)
    where = "" if column.many else f" ({odd[0]} in row {locate(place, odd[0])})"
    if codes:
        raise DataError(
            f"{source}: column '{name}' holds {held}{where}. If {odd[0]} marks missing answers, add "
            + " ".join(f"--missing {word}" for word in sorted(codes, key=float))
            + " (in Python: missing=)."
        )
    if column.many or len(odd) > 2:
        who = (
            f"If it tells rows apart, add --id '{name}'; else leave"
            if column.many or names_rows(column.name)
            else "Leave"
        )
        raise DataError(
            f"{source}: column '{name}' holds {held}, which are not yes and no. {who} it out, --drop '{name}', "
            "or name the columns to read, --columns A,B,C (in Python: id=, drop= or columns=)."
        )
    both = "1 and 0" if usual[0] == "0" else "1 and 2 in the other columns"
    raise DataError(
        f"{source}: column '{name}' holds {held}{where}; yes and no are {both}. Say what {odd[0]} means, as --yes "
        f"{odd[0]}, --no {odd[0]} or --missing {odd[0]}, or leave the column out: --drop '{name}' "
        "(in Python: yes=, no=, missing= or drop=)."
    )


def told(
    columns: Sequence[Column], found: Sequence[Meaning | None], source: str, more: str
) -> tuple[str, ...]:
    """The sentence on the columns that were read as yes and no, with counts and words."""
    counts: Counter[str] = Counter()
    words: dict[str, Counter[str]] = {"1": Counter(), "0": Counter()}
    number = 0
    for column, meaning in zip(columns, found):
        if meaning is None:
            continue
        number += 1
        for key, count in column.cells.items():
            counts[meaning.get(key, "")] += count
            if meaning.get(key):
                words[meaning[key]][column.spelling[key]] += count
    if not number:
        return ()
    sides = [f"{counts['1']} yes{_shown(words['1'])}", f"{counts['0']} no{_shown(words['0'])}"]
    which = "1 column was" if number == 1 else f"{number} columns were"
    return (f"{source}: {which} read as yes and no: {sides[0]}, {sides[1]}, {counts['']} missing.{more}",)


def _shown(words: Counter[str]) -> str:
    names = ["empty" if not word else f"'{shorten(word)}'" for word, _ in words.most_common(4)]
    return f" ({', '.join(names)}{', …' if len(words) > 4 else ''})" if names else ""


def tally(rows: Iterable[Sequence[str]], width: int, given: Mapping[str, str]) -> list[Counter[str]]:
    """How often each cell occurs in each column; once there are more than ``MOST`` different, only given ones."""
    counts: list[Counter[str]] = [Counter() for _ in range(width)]
    for row in rows:
        for count, cell in zip(counts, row):
            if len(count) <= MOST or cell in count or (given and folded(cell) in given):
                count[cell] += 1
    return counts
