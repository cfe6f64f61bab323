"""Yes and no as people write them: ja and nein, y and n, + and −, x and nothing. Case and accents do not count."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from partwise.io.words import MISSING


def _pairs(*lines: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Words for yes and words for no of each line; _ is a blank inside of a word."""
    sides = [
        [{word.replace("_", " ") for word in side.split()} for side in line.split("/")] for line in lines
    ]
    return tuple((frozenset(yes), frozenset(no)) for yes, no in sides)


#: True and false: they go with answers in any language.
_TRUTH = _pairs(
    "true t / false f",
    "wahr w / falsch f",
    "vrai v / faux f",
    "vero verdadero verdadeiro v / falso f",
    "waar / onwaar",
    "prawda p / falsz f",
)
#: What was ticked in a list, as SPSS files and survey programs label it.
_MENTIONS = _pairs(
    "mentioned / not_mentioned unmentioned",
    "selected / not_selected unselected",
    "chosen / not_chosen",
    "checked / not_checked unchecked",
    "ticked / not_ticked unticked",
    "marked / not_marked unmarked",
    "quoted / not_quoted",
    "cited / not_cited",
    "genannt / nicht_genannt ungenannt",
    "erwahnt / nicht_erwahnt",
    "gewahlt ausgewahlt / nicht_gewahlt nicht_ausgewahlt",
    "angekreuzt / nicht_angekreuzt",
    "markiert / nicht_markiert",
    "zutreffend / nicht_zutreffend unzutreffend",
    "trifft_zu / trifft_nicht_zu",
    "cite citee / non_cite non_citee pas_cite",
    "mentionne / non_mentionne pas_mentionne",
    "coche / non_coche pas_coche",
    "selectionne / non_selectionne",
    "mencionado / no_mencionado nao_mencionado",
    "seleccionado / no_seleccionado",
    "marcado / no_marcado nao_marcado",
    "selecionado / nao_selecionado",
    "citato / non_citato",
    "selezionato / non_selezionato",
    "genoemd / niet_genoemd",
    "aangevinkt / niet_aangevinkt",
)
#: Words for yes and words for no that go together, without accents; one line for each language or convention.
PAIRS: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    *_pairs(
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
    ),
    *_TRUTH,
    *_pairs("+ / -"),
    *_MENTIONS,
)
#: Words that may be about anything, unless another of their pair occurs as well.
WEAK = frozenset().union(*(yes | no for yes, no in _MENTIONS))
#: The places in ``PAIRS`` of those that tell nothing of the language of a table.
NEUTRAL = frozenset(i for i, pair in enumerate(PAIRS) if pair in (*_TRUTH, *_MENTIONS) or "+" in pair[0])
#: Letters that are yes and no, or true and false, and hardly anything else, whatever other columns hold. Not s and n,
#: which are south and north as well, nor o and n.
PLAIN_LETTERS = (frozenset("yn"), frozenset("jn"), frozenset("tf"))
#: Marks for yes; and those that are yes beside empty cells, but no beside the former. The second x is Cyrillic.
CHECKS, CROSSES = frozenset("✓✔☑"), frozenset("xх×✗✘☒")
TICKS = CHECKS | CROSSES
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


def beside_answers(cells: Iterable[str]) -> str | None:
    """A word of a column that has words for yes and for no, and is neither; None where there is none.

    Parameters
    ----------
    cells : iterable of str
        Of the column.

    Returns
    -------
    str or None
        The first of at most three such words, as the column has it.
    """
    held = {folded(cell): cell for cell in cells if cell.strip() not in MISSING}
    for yes, no in PAIRS:
        others = held.keys() - yes - no
        if held.keys() & yes and held.keys() & no and 0 < len(others) <= 3:
            return held[next(key for key in held if key in others)]
    return None
