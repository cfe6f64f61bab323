"""When a component begins to sound."""

from __future__ import annotations

import numpy as np


def find_onsets(
    activation: np.ndarray, times: np.ndarray, *, rise: float = 0.2, gap: float = 0.08
) -> np.ndarray:
    """The times at which an activation rises to a peak.

    A peak counts if it stands at least `rise` of the largest activation above the valleys on both sides of it; its
    onset is where the way up to it is steepest.

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

    Returns
    -------
    array of float
        In seconds, rising; at least 0.
    """
    from scipy.signal import find_peaks

    activation = np.asarray(activation, float)
    top = float(activation.max(initial=0.0))
    if top <= 0 or len(activation) < 2:
        return np.zeros(0)
    # Silence before and after, so that what sounds from the first or until the last frame has a valley there.
    level = np.concatenate([[0.0], activation / top, [0.0]])
    step = float(times[1] - times[0])
    peaks, _ = find_peaks(level, prominence=rise, distance=max(1, round(gap / step)))
    # Level peaks of several equal frames are given by their middle.
    starts = np.concatenate([[0], peaks[:-1]])
    climb = np.diff(level)
    steepest = [a + int(np.argmax(climb[a:b])) for a, b in zip(starts, peaks) if b > a]
    # climb[i] leads from level i to i + 1, which are the frames i − 1 and i.
    found = times[0] + step * (np.array(steepest, float) - 0.5)
    return np.maximum(found, 0.0)
