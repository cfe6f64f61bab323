"""The page: what `content` says, put into one HTML file by templates, which loads nothing."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from partwise.io.write import json_text
from partwise.reporting.requirements import require_report

#: What a browser lets the page do: draw, and run the scripts that it came with. Nothing is loaded, nothing is sent.
POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; connect-src 'none'; img-src data: blob:; "
    "media-src data:; font-src data:; style-src 'unsafe-inline'; script-src {scripts}"
)


def page(shown: dict[str, Any]) -> str:
    """One self-contained HTML page.

    Parameters
    ----------
    shown : dict
        What `partwise.reporting.content.content` returned.

    Returns
    -------
    str
        The page. Names, labels and texts are text in it, whatever they hold.
    """
    require_report()
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("partwise.reporting", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    data = drawn_by_scripts(shown)
    scripts = {name: asset(f"{name}.js") for name in ("theme", "tables")}
    if data["figures"] or data["trees"]:
        scripts |= {"plotly": plotly_script(), "charts": asset("charts.js"), "tree": asset("tree.js")}
    policy = POLICY.format(scripts=" ".join(f"'sha256-{_hash(script)}'" for script in scripts.values()))
    return environment.get_template("page.html").render(
        page=shown, style=asset("style.css"), scripts=scripts, policy=policy, data=embedded(data)
    )


def drawn_by_scripts(shown: dict[str, Any]) -> dict[str, Any]:
    """Of what is shown, what scripts draw: charts, tables, trees, by their ids.

    Parameters
    ----------
    shown : dict
        What `partwise.reporting.content.content` returned.

    Returns
    -------
    dict
        "figures", "tables" and "trees".
    """
    found: dict[str, Any] = {"figures": {}, "tables": {}, "trees": {}}
    for section in shown["sections"]:
        for block in section["blocks"]:
            if block["block"] == "figure":
                found["figures"][block["id"]] = {key: block[key] for key in ("data", "layout", "height")}
            elif block["block"] == "table":
                found["tables"][block["id"]] = {
                    key: block[key] for key in ("columns", "rows", "page", "wide")
                }
            elif block["block"] == "tree":
                kept = {key: block[key] for key in ("nodes", "by_importance", "pictures", "word", "plural")}
                classes = [{key: one[key] for key in ("name", "weights")} for one in block["classes"]]
                found["trees"][block["id"]] = {**kept, "classes": classes}
    return found


def embedded(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment.

    Parameters
    ----------
    data : object
        Plain data.

    Returns
    -------
    str
        JSON, in which <, > and & inside texts are written as escapes.
    """
    text = json_text(data).encode("utf-8", "replace").decode()
    for mark in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


@cache
def asset(name: str) -> str:
    """A style sheet or script of this package.

    Parameters
    ----------
    name : str
        Of the file in ``templates``.

    Returns
    -------
    str
        Its text.
    """
    return resources.files("partwise.reporting").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def plotly_script() -> str:
    """The script of plotly, as the installed package has it.

    Returns
    -------
    str
        JavaScript that can stand in a script element.
    """
    text = resources.files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
