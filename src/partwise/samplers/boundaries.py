"""What a step does that leads out of [0, 1]: clamp, reflect, or move on the logit scale.

Clamping (Gonsior 2019, section 3.2.3) piles up draws at the ends and samples another distribution. Reflection keeps
a symmetric proposal symmetric. "mirror" moves z = log(a / (1 − a)), whose density is that of a times the Jacobian
a (1 − a).
"""

from __future__ import annotations

import numpy as np

#: The ways there are.
BOUNDARIES = ("clamp", "reflect", "mirror")
#: Distance from 0 and 1 that the logit scale keeps.
EDGE = 1e-9


def check_boundary(boundary: str) -> None:
    """Raise ValueError unless it is one of `BOUNDARIES`.

    Parameters
    ----------
    boundary : str
        What was given.
    """
    if boundary not in BOUNDARIES:
        raise ValueError(f"boundary must be one of {list(BOUNDARIES)}; got {boundary!r}.")


def fold(A: np.ndarray) -> np.ndarray:
    """Values reflected at 0 and 1 as often as it takes.

    Parameters
    ----------
    A : array
        Any values.

    Returns
    -------
    array
        Values in [0, 1].
    """
    rest = np.mod(A, 2.0)
    return np.minimum(rest, 2.0 - rest)


def moved(A: np.ndarray, change: np.ndarray, boundary: str, margin: float = 0.0) -> np.ndarray:
    """Values after a change on their own scale ("clamp", "reflect") or on the logit scale ("mirror").

    Parameters
    ----------
    A : array
        Values in [0, 1].
    change : array
        What is added to them, or to their logits.
    boundary : str
        One of `BOUNDARIES`.
    margin : float
        Distance from 0 and 1 that "clamp" and "reflect" keep; δ in Gonsior (2019).

    Returns
    -------
    array
        Values in [0, 1].
    """
    if boundary == "mirror":
        inside = np.clip(A, EDGE, 1.0 - EDGE)
        z = np.log(inside) - np.log1p(-inside) + change
        return np.clip(1.0 / (1.0 + np.exp(-np.clip(z, -40.0, 40.0))), EDGE, 1.0 - EDGE)
    B = A + change
    return np.clip(B if boundary == "clamp" else fold(B), margin, 1.0 - margin)


def on_logits(A: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The gradient of the log-density of the logits, from that of the values themselves.

    Parameters
    ----------
    A : array
        Values in (0, 1).
    gradient : array
        Gradient of their log-density.

    Returns
    -------
    array
        a (1 − a) times the gradient, and 1 − 2a from the Jacobian.
    """
    return A * (1.0 - A) * gradient + (1.0 - 2.0 * A)
