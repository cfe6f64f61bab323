"""Yes and no as people write them: ja and nein, y and n, + and −, x and nothing. Case and accents do not count."""

from __future__ import annotations

import unicodedata

#: Words for yes and words for no that go together, without accents; one line for each language or convention.
PAIRS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(line.split("/")[0].split()), frozenset(line.split("/")[1].split()))
    for line in (
        "yes y / no n",
        "ja j / nein n",
        "ja j / nee n",
        "ja j / nej n",
        "ja j / nei n",
        "ja j / ne n",
        "oui o / non n",
        "si s / no n",
        "sim s / nao n",
        "tak t / nie n",
        "ano a / ne n",
        "ano a / nie n",
        "da d / ne n",
        "da d / nu n",
        "igen i / nem n",
        "kylla k / ei e",
        "jah j / ei e",
        "taip t / ne n",
        "po p / jo j",
        "bai b / ez e",
        "да д / нет н",
        "да д / не н",
        "так т / ні н",
        "ναι ν / οχι ο",
        "evet e / hayir h",
        "true t / false f",
        "wahr w / falsch f",
        "vrai v / faux f",
        "vero verdadero verdadeiro v / falso f",
        "waar / onwaar",
        "prawda p / falsz f",
        "+ / -",
    )
)
TICKS = frozenset("xх×✓✔✗✘☑☒")  # the second is Cyrillic
WORDS = frozenset().union(*(yes | no for yes, no in PAIRS))
_ALSO = str.maketrans({"ı": "i", "ł": "l", "−": "-", "–": "-", "ς": "σ"})
#: Numbers that questionnaires use for "no answer", "does not know" and the like.
CODES = frozenset(
    str(sign * code) for code in (1, 7, 8, 9, 66, 77, 88, 96, 97, 98, 99, 999) for sign in (1, -1)
)


def folded(cell: str) -> str:
    """A cell without case, accents and blanks around it; numbers in one spelling."""
    text = cell.strip()
    if is_number(text):
        return f"{float(text) + 0.0:.15g}"
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(mark for mark in plain if not unicodedata.combining(mark)).translate(_ALSO)


def is_number(key: str) -> bool:
    """Whether a cell is a number; Python's float also takes 1_000, which in a table is a label."""
    try:
        float(key)
    except ValueError:
        return False
    return "_" not in key
