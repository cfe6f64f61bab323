"""Colours of the page, told apart also by colour-blind readers, and texts that plotly shows as they are."""

from __future__ import annotations

#: Branches of a tree, tiles, curves: after Paul Tol's qualitative schemes.
BRANCHES = (
    "#4477aa", "#ee8866", "#228833", "#aa3377", "#ccaa33", "#66ccee", "#882255", "#999933", "#77aadd",
    "#cc6677", "#44aa99", "#7a6fb5",
)  # fmt: skip
#: Blue to yellow, even in lightness: matplotlib's cividis.
BLUE_TO_YELLOW = (
    "#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838",
)  # fmt: skip


def branch_colour(number: int) -> str:
    """The colour of a branch, a tile or a curve; they come round again.

    Parameters
    ----------
    number : int
        From 0.

    Returns
    -------
    str
        As #rrggbb.
    """
    return BRANCHES[number % len(BRANCHES)]


def mixed(colour: str, other: str, share: float) -> str:
    """A colour between two.

    Parameters
    ----------
    colour, other : str
        As #rrggbb.
    share : float
        Of the other, 0 to 1.

    Returns
    -------
    str
        As #rrggbb.
    """
    one, two = _channels(colour), _channels(other)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(one, two))


def scale_colour(value: float) -> str:
    """The colour of a number from 0, blue, to 1, yellow.

    Parameters
    ----------
    value : float
        Cut to 0 … 1.

    Returns
    -------
    str
        As #rrggbb.
    """
    place = min(max(value, 0.0), 1.0) * (len(BLUE_TO_YELLOW) - 1)
    low = min(int(place), len(BLUE_TO_YELLOW) - 2)
    return mixed(BLUE_TO_YELLOW[low], BLUE_TO_YELLOW[low + 1], place - low)


def readable_on(colour: str) -> str:
    """Dark or white letters, whichever contrast more with a colour.

    Parameters
    ----------
    colour : str
        As #rrggbb.

    Returns
    -------
    str
        As #rrggbb.
    """
    linear = [(c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4) for c in _channels(colour)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # Where both contrast the same, as WCAG 2 measures it: (1.05 · (0.0137 + 0.05))^½ − 0.05.
    return "#16202a" if luminance > 0.2087 else "#ffffff"


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def as_shown(text: object) -> str:
    """A text for plotly, which takes <b>, <br> and the like in texts for its own marks.

    Parameters
    ----------
    text : object
        Its `str` is taken.

    Returns
    -------
    str
        Shows as the text itself.
    """
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
