"""The words that several readers share: those of missing cells, and those of their sentences."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Sequence

#: Cells that are missing.
MISSING = ("", "NA", "NaN", "nan", "null", "?", "N/A", "n/a", "#N/A", "NULL", "Null", "None", "<NA>")
#: A number with a decimal comma, with several points, which can only stand between thousands, or with commas there.
DECIMAL_COMMA = re.compile(
    r"[-+]?((\d+|[1-9]\d{0,2}(\.\d{3})+),\d+|[1-9]\d{0,2}(\.\d{3}){2,}|[1-9]\d{0,2}(,\d{3})+(\.\d+)?)"
)
#: A number whose commas may stand between thousands; if it has several, or a point too, they do.
THOUSANDS_COMMA = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")


#: A number that no reader takes for one: blanks or apostrophes between thousands, or a sign of percent or of money.
_MARKED = re.compile(
    r"[-+]?\s*[€$£¥₹]?\s*[-+]?(\d{1,3}([ \u00a0\u202f\u2009'’]\d{3})+|\d+)([.,]\d+)?\s*"
    r"(%|‰|[€$£¥₹]|EUR|USD|GBP|CHF|kr)?"
)


def marked_number(cell: str) -> bool:
    """Whether a cell is a number with marks that no reader takes off, as '1 000', '10 %' or '$5'."""
    text = cell.strip()
    return bool(_MARKED.fullmatch(text)) and not re.fullmatch(r"[-+]?\d+([.,]\d+)?", text)


def ordinal(number: int) -> str:
    """1 as '1st', 2 as '2nd', 11 as '11th'."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def shorten(text: str, length: int = 40) -> str:
    """The text on one line, cut after ``length`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def argument(text: str) -> str:
    """The text, whole, as one would type it on the command line after an option: in quotes that a shell takes off."""
    if "'" not in text:
        return f"'{text}'"
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'


def listing(words: Sequence[str], most: int = 5) -> str:
    """Words in quotes for a sentence: 'a', 'b' and 'c'; "and 3 more" after ``most``."""
    shown = [f"'{shorten(word)}'" for word in words[:most]]
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def text_column(
    source: str, name: str | None, place: int, example: str, row: int, others: Sequence[str] = ()
) -> str:
    """The sentence for a column (``place`` counts from 0) that holds text where numbers belong."""
    column = label(name, place)
    also = ""
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        also = f"; so does '{shorten(others[0])}'{more}"
    sentence = (
        f"{source}: {column} holds text, e.g. '{shorten(example)}' in row {row}{also}. "
        "partwise factorizes numbers: remove it or replace its text with numbers "
        "(empty, NA, NaN, null and ? are read as missing)."
    )
    if place == 0:
        sentence += " If it holds row names, leave its header cell empty."
    return sentence + _about_marks(example.strip())


def _about_marks(number: str) -> str:
    """What to do about a number with a comma, or with points between thousands; "" for any other text."""
    if not DECIMAL_COMMA.fullmatch(number):
        return ""
    thousands = THOUSANDS_COMMA.fullmatch(number) is not None
    advice = ""
    if not thousands or (number.count(",") == 1 and "." not in number):
        marks = "commas are decimal points" if "," in number else "points stand between thousands"
        advice = f" If its {marks}, add --decimal , (in Python: decimal=',')."
    if thousands:
        plain = number.replace(",", "")
        advice += (
            f" If its commas stand between thousands, so that '{number}' is {plain}, take them out of the file first "
            "(in pandas: read_csv(..., thousands=','))."
        )
    return advice


def only_text(source: str, name: str | None, place: int, example: str, row: int) -> str:
    """The sentence for a table without a column of numbers; the arguments describe its first column of text."""
    return (
        f"{source} has no column of numbers: {label(name, place)} holds text, e.g. '{shorten(example)}' in row "
        f"{row}. Give a table with numbers in it, or name its words for yes and no: --yes, --no (in Python: yes=, "
        "no=)."
    )


def no_answer(source: str, name: str | None, place: int, cell: str, row: int) -> str:
    """The sentence for a column of yes and no with a cell that is neither; ``place`` counts from 0."""
    return (
        f"{source}: {label(name, place)} holds yes and no, but also '{shorten(cell)}' in row {row}. If that marks "
        f"missing answers, add --missing {argument(cell)} (in Python: missing=)."
    )


def set_aside(source: str, names: Sequence[str]) -> tuple[str, ...]:
    """The note on columns of text that were left out of the matrix: one sentence, or none for no columns."""
    if not names:
        return ()
    if len(names) == 1:
        return (f"{source}: column '{shorten(names[0])}' holds text and was set aside.",)
    return (f"{source}: columns {listing(names)} hold text and were set aside.",)


def free_name(name: str | None, place: int, taken: Container[str]) -> str:
    """The name of a column (``place`` counts from 0), or "column 3" where it has none or another has it too."""
    return name if name and name not in taken else f"column {place + 1}"


def label(name: str | None, place: int) -> str:
    """What sentences call a column; ``place`` counts from 0."""
    return f"column {place + 1}" if not name else f"column '{shorten(name)}' ({ordinal(place + 1)})"
