"""Labels that are not known: the values and the words that say so, in arrays and in files alike."""

from __future__ import annotations

from numbers import Real
from typing import Any

from partwise.io.words import MISSING

#: What pandas calls its own marks; it need not be installed.
_MARKS = ("NAType", "NaTType")


def is_nothing(label: Any) -> bool:
    """Whether a value is no label at all: None, NaN, pandas.NA or NaT, masked, or text without characters."""
    if label is None or type(label).__name__ in (*_MARKS, "MaskedConstant"):
        return True
    if isinstance(label, str):
        return not label.strip()
    return isinstance(label, Real) and bool(label != label)


def is_missing_word(label: Any) -> bool:
    """Whether a text reads as a missing cell does, as NA and nan; empty text included."""
    return isinstance(label, str) and label.strip() in MISSING


def is_minus_one(label: Any) -> bool:
    """Whether a label is −1, scikit-learn's mark of an unknown one, as a number or as text."""
    if isinstance(label, str):
        return label.strip() in ("-1", "-1.0")
    return not isinstance(label, bool) and bool(label == -1)
