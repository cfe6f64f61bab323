"""When a component begins to sound."""

from __future__ import annotations

import numpy as np

#: A window that the edge of a recording cuts spreads a tone over all frequencies: its magnitudes sum to about so many
#: times those of a whole window.
CUT = 2.0


def find_onsets(
    activation: np.ndarray,
    times: np.ndarray,
    *,
    rise: float = 0.2,
    gap: float = 0.08,
    whole: slice | None = None,
) -> np.ndarray:
    """The times at which an activation rises to a peak.

    A peak counts if it stands at least `rise` of the largest activation above the valleys on both sides of it; its
    onset is where the way up to it is steepest. Peaks of the same height without such a valley between them are one.

    Parameters
    ----------
    activation : array of shape (n_frames,)
        Nonnegative.
    times : array of shape (n_frames,)
        The middle of each frame in seconds, evenly spaced.
    rise : float, default=0.2
        Share of the largest activation.
    gap : float, default=0.08
        Seconds between two onsets, at least.
    whole : slice, optional
        The frames whose windows lie inside the recording (`ShortTime.whole_frames`). Windows that its edges cut make
        steady sounds seem louder: frames after the last whole one are taken to be no louder than it is, so that
        the end of a recording is no onset.

    Returns
    -------
    array of float
        In seconds, rising; at least 0.
    """
    from scipy.signal import find_peaks

    activation = np.asarray(activation, float)
    top, activation = _without_cuts(activation, whole)
    if top <= 0 or len(activation) < 2:
        return np.zeros(0)
    # Silence before and after, so that what sounds from the first or until the last frame has a valley there.
    level = np.concatenate([[0.0], activation / top, [0.0]])
    step = float(times[1] - times[0])
    peaks, _ = find_peaks(level, prominence=rise, distance=max(1, round(gap / step)))
    # Of peaks that are equally high each counts as standing out from the others, however shallow the valleys between.
    peaks = _parted(level, peaks, rise)
    # Level peaks of several equal frames are given by their middle.
    starts = np.concatenate([[0], peaks[:-1]])
    climb = np.diff(level)
    steepest = [a + int(np.argmax(climb[a:b])) for a, b in zip(starts, peaks) if b > a]
    # climb[i] leads from level i to i + 1, which are the frames i − 1 and i.
    found = times[0] + step * (np.array(steepest, float) - 0.5)
    return np.maximum(found, 0.0)


def _without_cuts(activation: np.ndarray, whole: slice | None) -> tuple[float, np.ndarray]:
    """How loud the component is at most, and its activation without what the end of the recording adds."""
    inside = activation if whole is None else activation[whole]
    if whole is None or not len(inside):
        return float(activation.max(initial=0.0)), activation
    top = max(float(inside.max()), float(activation.max()) / CUT)
    last = len(activation[: whole.stop]) - 1
    return top, np.concatenate([activation[: last + 1], np.minimum(activation[last + 1 :], activation[last])])


def _parted(level: np.ndarray, peaks: np.ndarray, rise: float) -> np.ndarray:
    """The peaks with a valley of at least `rise` before them; of those without one between them, the first."""
    kept: list[int] = []
    for peak in peaks:
        valley = level[kept[-1] : peak].min() if kept else 0.0
        if min(level[peak], level[kept[-1]] if kept else np.inf) - valley >= rise:
            kept.append(int(peak))
    return np.array(kept, int)
