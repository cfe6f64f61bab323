"""Parts whose features are frequencies, drawn as spectra: an SVG that needs no script."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting.source import Stage

#: Size of a drawing, and the lowest frequency in it.
WIDTH, HEIGHT, LOWEST = 240, 84, 40.0
#: Frequencies above which no part has this share of its largest entry are left out.
QUIET = 0.01


def has_spectra(stage: Stage) -> bool:
    """Whether the features of a step's parts are frequencies.

    Parameters
    ----------
    stage : Stage
        The step.

    Returns
    -------
    bool
        True where the model says so by its attribute `frequencies_`.
    """
    found = getattr(stage.model, "frequencies_", None)
    return found is not None and len(found) == stage.H.shape[1]


def spectrum(stage: Stage, i: int) -> dict[str, Any] | None:
    """A part as a curve over frequencies, on a logarithmic axis that all parts share.

    Parameters
    ----------
    stage : Stage
        The step.
    i : int
        Number of the part.

    Returns
    -------
    dict or None
        "path" (the `d` of an SVG path), "ticks" (place and text), "width", "height" and "alt"; None for other parts.
    """
    if not has_spectra(stage):
        return None
    hz = np.asarray(stage.model.frequencies_, dtype=float)
    H = np.abs(np.asarray(stage.H, dtype=float))
    top = np.where(H.max(axis=1) > 0, H.max(axis=1), 1.0)
    low = max(LOWEST, float(hz[hz > 0].min()))
    heard = hz[(QUIET * top[:, None] < H).any(axis=0)]
    high = max(float(heard.max(initial=0.0)), 4 * low)
    inside = (hz >= low) & (hz <= high)
    across = WIDTH * np.log(hz[inside] / low) / np.log(high / low)
    heights = H[i][inside] / top[i]
    # One point for each pixel: the largest of its frequencies, so that no peak is lost.
    pixels, first = np.unique(np.round(across), return_index=True)
    tallest = np.maximum.reduceat(heights, first) if len(first) else heights
    points = "".join(f"L{x:.0f} {HEIGHT * (1 - 0.97 * y):.1f}" for x, y in zip(pixels, tallest))
    ticks = [f for f in (100, 200, 500, 1000, 2000, 5000, 10000) if low <= f <= high]
    ticks = ticks if len(ticks) < 5 else [f for f in ticks if f in (100, 500, 2000, 10000)]
    loudest = float(hz[int(H[i].argmax())]) if H[i].any() else 0.0
    return {
        "path": f"M0 {HEIGHT}{points}L{WIDTH} {HEIGHT}Z",
        "ticks": [
            {"x": round(float(WIDTH * np.log(f / low) / np.log(high / low)), 1), "text": _text(f)}
            for f in ticks
        ],
        "width": WIDTH,
        "height": HEIGHT,
        "alt": f"Spectrum, strongest at {loudest:.0f} Hz, from {low:.0f} to {high:.0f} Hz",
    }


def _text(hz: int) -> str:
    return f"{hz} Hz" if hz < 1000 else f"{hz // 1000} kHz"
