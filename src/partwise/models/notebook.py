"""What a notebook shows of a fitted model beside scikit-learn's diagram: how the fit went, and the parts."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError

from partwise.models.summary import summary_of

#: Parts listed, features of each, and characters of a name.
PARTS, FEATURES, NAME = 12, 8, 40


def beside_diagram(model: Any, diagram: str, describe: Callable[[Any], str] | None = None) -> str:
    """The diagram, and below it what was found; the diagram alone for what is not fitted.

    Parameters
    ----------
    model : estimator
        Fitted or not.
    diagram : str
        What scikit-learn shows.
    describe : callable, optional
        From the fitted model to HTML; by default a table of its parts.

    Returns
    -------
    str
        HTML.
    """
    try:
        found = parts_html(summary_of(model)) if describe is None else describe(model)
    except (NotFittedError, AttributeError):
        return diagram
    return f"{diagram}{found}"


def parts_html(summary: dict[str, Any]) -> str:
    """A small table of parts: the name of each, and the features that lead it, wider bars for more weight.

    Parameters
    ----------
    summary : dict
        What a model's `summary()` returned.

    Returns
    -------
    str
        HTML in which names are text, whatever they hold.
    """
    rows = []
    for i, part in enumerate(summary["parts"][:PARTS]):
        top = max((abs(one["weight"]) for one in part["top_features"]), default=0.0) or 1.0
        names = " ".join(
            f"<span style='display:inline-block;padding:0 6px;margin:1px;border-radius:3px;"
            f"background:rgba(31,111,139,{0.08 + 0.3 * abs(one['weight']) / top:.2f})'>{named(one['name'])}</span>"
            for one in part["top_features"][:FEATURES]
        )
        said = named(part.get("sentence", ""), 90)
        extra = f"<div style='opacity:.7'>{said}</div>" if said else ""
        head = "text-align:left;padding:2px 12px 2px 0;vertical-align:top;white-space:nowrap"
        rows.append(
            f"<tr><th scope='row' style='{head}'>{escape(summary['part_word'])} {i}</th>"
            f"<td style='text-align:left;padding:2px 0'>{names or 'nothing of any weight'}{extra}</td></tr>"
        )
    more = len(summary["parts"]) - PARTS
    note = f"<div style='opacity:.7'>… and {more} more</div>" if more > 0 else ""
    sentence = named(summary.get("sentence", ""), 300)
    return (
        "<div style='margin-top:8px;font-size:13px;line-height:1.5'>"
        f"<div>{sentence}</div><table style='border-collapse:collapse;margin-top:4px'>"
        f"<tbody>{''.join(rows)}</tbody></table>{note}</div>"
    )


def named(text: Any, length: int = NAME) -> str:
    """A name as HTML: shortened, on one line, and shown as it is.

    Parameters
    ----------
    text : object
        Its `str` is taken.
    length : int
        Characters, at most.

    Returns
    -------
    str
        Escaped.
    """
    line = " ".join(str(text).split())
    return escape(line if len(line) <= length else line[: length - 1] + "…")
