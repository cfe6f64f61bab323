"""report.html and report.json of every verb that writes a folder of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from partwise.cli.common import REPORT_WANTED, say

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted
    from partwise.core import Session
    from partwise.reporting.source import Source


def page_files(make: Callable[[], Source], pictures: dict[str, bytes], session: Session) -> dict[str, bytes]:
    """The page about a result, and what it needs of the data; nothing where it is not wanted or cannot be made.

    Parameters
    ----------
    make : function
        Returns what the page is made from; not called where there will be no page.
    pictures : dict of bytes
        Files that will be beside it, which the page may show.
    session : Session
        That of the verb. Like the pictures the page is made before files are written, so that Ctrl-C is heard.

    Returns
    -------
    dict of bytes
        Name to contents; empty after --no-report, after Ctrl-C, and (with a note) without the extra `report`.
    """
    if not REPORT_WANTED.get():
        return {}
    found: dict[str, bytes] = {}
    why = "The fit was interrupted."
    try:
        with session.interruptible():
            if not session.interrupted:
                found = _made(make, pictures)
    except ImportError as error:
        why = str(error)
    if not found:
        say(f"Note: report.html not written. {why}")
    return found


def _made(make: Callable[[], Source], pictures: dict[str, bytes]) -> dict[str, bytes]:
    from partwise.io.write import json_text
    from partwise.reporting.kept import KEPT
    from partwise.reporting.making import Report, content
    from partwise.reporting.requirements import require_report

    require_report()
    source = make()
    source.files |= pictures
    page = Report(content(source)).html.encode("utf-8", "replace")
    return {KEPT: json_text(source.kept).encode("utf-8", "replace") + b"\n", "report.html": page}


def source_of(fitted: Fitted, summary: dict[str, Any], extras: Extras) -> Source:
    """What the page about a fit is made from."""
    from partwise.reporting.source import from_model, usage_of_shares

    samples = fitted.samples
    shape = (summary.get("meta") or {}).get("image_shape") or samples.shape
    source = from_model(
        fitted.model,
        samples.X,
        W=fitted.usage if extras.usage is None else usage_of_shares(fitted.model, extras.usage),
        y=samples.y if extras.labels is None else extras.labels,
        row_names=samples.rows,
        shape=None if shape is None else tuple(shape),
        summary=summary,
    )
    source.kept |= extras.kept
    return source
