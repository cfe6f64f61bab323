"""Which columns of a table are answers of yes and no, and what their cells mean.

A column is read so if every cell of it is a word of one pair of `answer_words`, or was named by the caller. What
cannot be told is refused with the option that tells it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from partwise.io.answer_cells import Answers, Column, Locate, Meaning
from partwise.io.answer_notes import only_yes, told, with_numbers
from partwise.io.answer_numbers import guess_numbers
from partwise.io.answer_words import (
    CHECKS,
    CROSSES,
    NEUTRAL,
    PAIRS,
    PLAIN_LETTERS,
    TICKS,
    WEAK,
    WORDS,
    is_number,
)
from partwise.io.errors import DataError
from partwise.io.words import argument, listing, shorten


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
        if doubt is not None and (not answers.codes or any(found) or _mostly_ticked(columns, gone)):
            # In a table without any answers, a column with a few words for yes and no is one of text.
            raise doubt
        if answers.codes and not any(map(_has_both, columns, found)):
            # Where no column has both, a word for yes (or an x) in every row is but a word.
            found, beside = named, ""
        if answers.numbers or answers.codes:
            asked = locate if answers.numbers else None
            ambiguous = guess_numbers(columns, found, gone, source, asked, answers.labels)
        if "" in sides:
            found = _with_empty(columns, found, gone, sides[""])
    # In a table of answers 0 and 1 are counted with the words beside them.
    counted = with_numbers(columns, found, gone) if answers.numbers and any(found) else found
    notes = told(columns, counted, source, beside + ambiguous) or (
        (f"{source}: {ambiguous[1].lower()}{ambiguous[2:]}",) if ambiguous else ()
    )
    if answers.guess:
        notes = (*notes, *only_yes(columns, found, gone, source))
    absent = set(given) - {""}.union(*(column.cells for column in columns))
    if absent:
        notes = (*notes, f"{source}: no cell is {listing(sorted(absent))}.")
    if gone:
        found = [dict.fromkeys(gone, "") | (meaning or {}) for meaning in found]
    return found, notes


def _has_both(column: Column, meaning: Meaning | None) -> bool:
    """Whether yes and no both occur."""
    return {"0", "1"} <= {(meaning or {}).get(cell) for cell in column.cells}


def _with_empty(
    columns: Sequence[Column], found: Sequence[Meaning | None], gone: set[str], side: str
) -> list[Meaning | None]:
    """The meanings with that of an empty cell: in all columns of answers, and in those of 0 and 1."""
    return [
        (meaning or {word: word for word in column.words - gone}) | {"": side}
        if not column.many and (meaning is not None or column.words - gone <= {"0", "1"})
        else meaning
        for column, meaning in zip(columns, found)
    ]


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
    say = (
        "If that row holds totals, take it out of the file; else say"
        if _ticks_beside_numbers(words)
        else "Say"
    )
    raise DataError(
        f"{source}: column '{shorten(column.name)}' holds {listing(sorted(shown))} for yes or no, and also "
        f"{listing([column.spelling[word] for word in strange])} ('{shorten(one)}' {_times(cells[strange[0]])} in "
        f"row {locate(strange[0])}). "
        f"{say} what it means: --yes, --no or --missing {argument(one)}, or leave the column out: --drop "
        f"{argument(column.name)} (in Python: yes=, no=, missing= or drop=)."
    )


def _ticks_beside_numbers(words: set[str]) -> bool:
    """Whether a column holds ticks and, as in a row of totals, numbers."""
    return bool(words & TICKS) and words > TICKS & words and all(map(is_number, words - TICKS))


def _mostly_ticked(columns: Sequence[Column], gone: set[str]) -> bool:
    """Whether most columns, and not one alone, hold ticks, beside numbers or not: they are answers then."""
    held = [column.words - gone for column in columns if not column.many]
    ticked = [words for words in held if words and (words <= TICKS or _ticks_beside_numbers(words))]
    return len(ticked) > 1 and 2 * len(ticked) > len(columns)


def _refuse_ticks(column: Column, words: set[str], source: str) -> None:
    """Raise DataError for a column of one tick and 0, which may be yes and no."""
    ticks = sorted(words & TICKS)
    if words - TICKS != {"0"} or len(ticks) > 1:
        return
    tick, zero = column.spelling[ticks[0]], column.spelling["0"]
    raise DataError(
        f"{source}: column '{shorten(column.name)}' holds '{tick}' and {zero}. If they are yes and no, add "
        f"--yes {tick} --no {zero} (in Python: yes='{tick}', no='{zero}')."
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
                if _ticks_beside_numbers(words):
                    _refuse_ticks(column, words, source)
                    known = dict.fromkeys(words & TICKS, "1")
                _complete(column, known, words, source, partial(locate, place))
            except DataError as error:
                doubt = doubt or error
    said = _guess_ticks(columns, found, gone, ticked)
    spoken = set(used)
    for place in one_sided:
        words = columns[place].words - gone
        if max(map(len, words)) > 1 and not words & WEAK:
            spoken.update(i for i, (yes, no) in enumerate(PAIRS) if words <= yes | no)
    alone = _guess_letters(columns, found, gone, letters, one_sided, spoken)
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
        if "" in sides and found[place] is not None:
            found[place] = (found[place] or {}) | {"": sides[""]}
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
    one_sided: Sequence[int],
    spoken: set[int],
) -> list[int]:
    """Fill in the meanings of columns of single letters, of which ``letters`` has the pairs; the places so read.

    Letters may also be groups, as N and S for regions, E and K for classes. They are answers if they are plain; if
    others answer in words of their language, where ``spoken`` are the pairs of all words; or, without such words, if
    another column has the same letters, or one of them alone (``one_sided``).
    """
    language = spoken - NEUTRAL
    read = []
    for place, both in letters.items():
        words = columns[place].words - gone
        fits = [i for i in both if i in language]
        others = [columns[other].words - gone for other in (*letters, *one_sided) if other != place]
        if not fits and (
            words in PLAIN_LETTERS or (not language and any(other <= words for other in others))
        ):
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
    """Words for yes or no; those that are weak if their counterpart occurs, too, and letters that are plain."""
    pairs = [pair for pair in PAIRS if words & pair[0] and words & pair[1]]
    plain = {letter for pair in PLAIN_LETTERS if pair <= words for letter in pair}
    return {
        word
        for word in words & WORDS
        if word in plain
        or (len(word) > 1 and (word not in WEAK or any(word in yes | no for yes, no in pairs)))
    }


def _by_pair(pair: int, words: set[str]) -> Meaning:
    return {word: "1" if word in PAIRS[pair][0] else "0" for word in words}
