"""Sphinx settings. Building needs no network: no inventories of other projects are fetched."""

import re
from typing import Any

from partwise._version import __version__

project = "partwise"
author = "The partwise developers"
copyright = "2026, the partwise developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}

html_theme = "furo"
html_title = f"partwise {release}"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# Docstrings put code into single backticks; whatever is the name of something documented becomes a link.
default_role = "py:obj"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_rtype = False


def plain_underscores(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Let a bare components_ in a docstring's prose be a name, not a reStructuredText link."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith(("..", ":", ">>>")):
            parts = re.split(r"(`+[^`]*`+)", line)
            parts[::2] = [
                re.sub(r"\b([A-Za-z]\w*)_(?=[\s.,;:)\]]|$)", r"\1\\_", prose) for prose in parts[::2]
            ]
            lines[i] = "".join(parts)


def setup(app: Any) -> None:
    """Run after napoleon, which has turned sections into fields by then."""
    app.connect("autodoc-process-docstring", plain_underscores, priority=600)
