"""What a report needs that the library itself does not."""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = ("jinja2", "plotly", "PIL")


def require_report() -> None:
    """Raise ImportError, with what to install, where a report cannot be made."""
    import sys

    for name in NEEDED:
        # A name that is None in sys.modules is one whose import is forbidden.
        found = sys.modules[name] is not None if name in sys.modules else find_spec(name) is not None
        if not found:
            raise ImportError('A report needs plotly, jinja2 and pillow: pip install "partwise[report]"')
