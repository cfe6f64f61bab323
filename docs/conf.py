"""Sphinx settings. Building needs no network: no inventories of other projects are fetched."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from partwise._version import __version__

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "_ext")]

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
    "sphinx-mathjax-offline",  # MathJax from a package, so that formulas need no network
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "examples"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

# The button copies what is typed, not prompts and not what is printed.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("off_screen",),
    "capture_repr": (),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "write_computation_times": False,
}

html_theme = "furo"
html_title = f"partwise {release}"
html_static_path = ["_static"]
html_css_files = ["place.css"]

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


def list_exports(app: Any, docname: str, source: list[str]) -> None:
    """Replace each line `<!-- exports: package -->` by the reference of what that package exports."""
    source[0] = re.sub(r"<!-- exports: ([\w.]+) -->", lambda found: reference(found[1]), source[0])


def reference(package: str) -> str:
    """A list of the exported classes and functions, then each with its public methods."""
    module = importlib.import_module(package)
    values = {name: getattr(module, name) for name in module.__all__}
    if package != "partwise":
        # What the package itself exports too is described there.
        whole = importlib.import_module("partwise")
        values = {name: value for name, value in values.items() if name not in whole.__all__}
    # Functions made by a factory have no docstring of their own.
    documented = {
        name: value
        for name, value in values.items()
        if (inspect.isclass(value) or inspect.isfunction(value)) and "<locals>" not in value.__qualname__
    }
    lines = [f".. currentmodule:: {package}", "", ".. autosummary::", "   :nosignatures:", ""]
    lines += [f"   {name}" for name in documented]
    for name, value in documented.items():
        if inspect.isfunction(value):
            lines += ["", f".. autofunction:: {name}"]
        else:
            kind = "autoexception" if issubclass(value, Exception) else "autoclass"
            lines += ["", f".. {kind}:: {name}"]
            if members := own_members(value):
                lines.append(f"   :members: {members}")
            if others := methods_of_sklearn(value):
                lines += ["", f"   From scikit-learn: {', '.join(f'``{one}``' for one in others)}."]
    return "\n".join(["```{eval-rst}", *lines, "```"])


def own_members(cls: type) -> str:
    """Names of the public methods and properties of a class that are written in partwise, inherited ones included."""
    names = []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        written = getattr(member, "fget", getattr(member, "__func__", member))
        if inspect.isfunction(written) and written.__module__.startswith("partwise."):
            names += [] if name.startswith("_") else [name]
    return ", ".join(names)


def methods_of_sklearn(cls: type) -> list[str]:
    """Names of the public methods of a class that are scikit-learn's own; its pages describe them."""
    return [
        name
        for name in dir(cls)
        if not name.startswith("_")
        and inspect.isfunction(getattr(cls, name, None))
        and getattr(cls, name).__module__.startswith("sklearn.")
    ]


def report_gallery(app: Any, failed: Exception | None) -> None:
    """Write the reports that docs/report.md links to beside the pages."""
    if failed is None and app.builder.format == "html":
        from report_gallery import write_reports

        write_reports(Path(app.outdir) / "reports")


def setup(app: Any) -> None:
    """Connect these; docstrings after napoleon, which has turned sections into fields by then."""
    app.connect("build-finished", report_gallery)
    app.connect("source-read", list_exports)
    app.connect("autodoc-process-docstring", plain_underscores, priority=600)
