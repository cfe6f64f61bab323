"""The fundamental frequency of a spectrum, and the name of its note."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Frequencies of notes, in Hz.
LOWEST, HIGHEST = 45.0, 4500.0
#: Overtones that are looked for.
_OVERTONES = 16
#: Peaks that candidates are made from, and the overtone that each may be.
_PEAKS, _RANKS = 12, 8
#: Below this a spectrum has no pitch.
_LEAST = 0.67
_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


class Peaks(NamedTuple):
    """The peaks of a spectrum: their frequencies in Hz, their heights, and how much of the spectrum they are."""

    frequency: np.ndarray
    height: np.ndarray
    share: float


def fundamental(spectrum: np.ndarray, frequencies: np.ndarray) -> tuple[float, float]:
    """The fundamental frequency of a magnitude spectrum, and how clear it is.

    A candidate is any frequency of which a strong peak may be an overtone, so a missing fundamental is found. Its
    score is the share of the peaks that are its overtones, times the share of its overtones that are peaks (each
    weighted by 1/√h): the first is low for an octave too high, the second for an octave too low. This is the idea of
    the two-way mismatch of Maher and Beauchamp (1994).

    Parameters
    ----------
    spectrum : array of shape (n_frequencies,)
        Magnitudes.
    frequencies : array of shape (n_frequencies,)
        The frequency of each entry in Hz, evenly spaced from 0.

    Returns
    -------
    frequency : float
        In Hz; NaN where no candidate is clear enough, as for noise, drums and attacks.
    clarity : float
        Between 0 and 1: the score, times the share of the spectrum that is in its peaks.
    """
    step = float(frequencies[1] - frequencies[0])
    peaks = find_peaks(spectrum, step)
    if not len(peaks.frequency):
        return float("nan"), 0.0
    ranks = np.arange(1, _RANKS + 1)
    strongest = np.argsort(-peaks.height, kind="stable")[:_PEAKS]
    candidates = (peaks.frequency[strongest, None] / ranks).ravel()
    candidates = candidates[(candidates >= max(LOWEST, 2 * step)) & (candidates <= HIGHEST)]
    if not len(candidates):
        return float("nan"), 0.0
    scores = _scores(candidates, peaks, step)
    best = float(candidates[int(np.argmax(scores))])
    clarity = float(scores.max()) * peaks.share
    if clarity < _LEAST**2:
        return float("nan"), clarity
    return _refined(best, peaks, step), clarity


def find_peaks(spectrum: np.ndarray, step: float) -> Peaks:
    """The peaks of a magnitude spectrum that stand out, placed between its entries by a parabola through logarithms.

    Parameters
    ----------
    spectrum : array of shape (n_frequencies,)
        Magnitudes.
    step : float
        Hz from one entry to the next.

    Returns
    -------
    Peaks
        By rising frequency; heights relative to the highest, and compressed by a square root.
    """
    from scipy.ndimage import median_filter
    from scipy.signal import find_peaks as local_maxima

    top = float(spectrum.max(initial=0.0))
    if top <= 0 or len(spectrum) < 8:
        return Peaks(np.zeros(0), np.zeros(0), 0.0)
    heights = np.asarray(spectrum, float) / top
    # What stands out does so from its surroundings of some 400 Hz, and from the highest peak's sidelobes.
    around = median_filter(heights, size=max(9, 2 * int(200.0 / step) + 1), mode="nearest")
    places, _ = local_maxima(np.append(heights, 0.0), height=0.01)
    places = places[(places > 0) & (places < len(heights) - 1)]
    places = places[heights[places] > 3.0 * around[places]]
    if not len(places):
        return Peaks(np.zeros(0), np.zeros(0), 0.0)
    left, middle, right = (np.log(np.maximum(heights[places + i], 1e-12)) for i in (-1, 0, 1))
    curve = left - 2 * middle + right
    shift = np.where(curve < 0, 0.5 * (left - right) / np.minimum(curve, -1e-12), 0.0)
    # A Hann window spreads a sine over four entries.
    inside = np.zeros(len(heights), bool)
    for i in range(-2, 3):
        inside[np.clip(places + i, 0, len(heights) - 1)] = True
    share = float((heights[inside] ** 2).sum() / (heights**2).sum())
    return Peaks(step * (places + np.clip(shift, -0.5, 0.5)), np.sqrt(heights[places]), share)


def _matches(candidates: np.ndarray, peaks: Peaks, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Which overtone of each candidate is nearest to each peak, and whether it is near enough."""
    rank = np.maximum(np.rint(peaks.frequency / candidates[:, None]), 1.0)
    off = np.abs(peaks.frequency - rank * candidates[:, None])
    # The higher an overtone, the more it may be off: a candidate is as exact as one peak, and strings are stiff.
    allowed = np.minimum(0.5 * step + 0.012 * rank * candidates[:, None], 0.25 * candidates[:, None])
    return rank, off <= allowed


def _scores(candidates: np.ndarray, peaks: Peaks, step: float) -> np.ndarray:
    rank, near = _matches(candidates, peaks, step)
    explained = (near * peaks.height).sum(axis=1) / peaks.height.sum()
    # Overtones up to the highest strong peak are expected, the fundamental at least.
    strong = peaks.frequency[peaks.height > 0.2].max()
    expected = np.clip(np.floor(strong / candidates + 0.25), 1, _OVERTONES)
    overtones = np.arange(1, _OVERTONES + 1)
    there = np.stack([(near & (rank == h)).any(axis=1) for h in overtones], axis=1)
    weight = (overtones <= expected[:, None]) / np.sqrt(overtones)
    present = (there * weight).sum(axis=1) / weight.sum(axis=1)
    found: np.ndarray = explained * present
    return found


def _refined(candidate: float, peaks: Peaks, step: float) -> float:
    """The candidate's mean over its lower overtones, which stiffness moves least."""
    rank, near = _matches(np.array([candidate]), peaks, step)
    rank, near = rank[0], near[0]
    lower = near & (rank <= max(4.0, float(rank[near].min(initial=np.inf))))
    if not lower.any():
        return candidate
    # Height counts by its square, for a faint peak is less exact; rank, for the error is divided by it.
    weight = peaks.height[lower] ** 2 * rank[lower]
    return float((weight * peaks.frequency[lower] / rank[lower]).sum() / weight.sum())


def note_name(frequency: float) -> str:
    """The name of the nearest note of equal temperament, A4 = 440 Hz.

    Parameters
    ----------
    frequency : float
        In Hz.

    Returns
    -------
    str
        For instance "C#4"; "" for NaN.
    """
    if not np.isfinite(frequency) or frequency <= 0:
        return ""
    number = round(69 + 12 * float(np.log2(frequency / 440.0)))
    return f"{_NAMES[number % 12]}{number // 12 - 1}"


def note_frequency(name: str) -> float:
    """The frequency of a note.

    Parameters
    ----------
    name : str
        A letter, then # or b for each half tone up or down, then the octave: "C#4" and "Db4" are the same.

    Returns
    -------
    float
        In Hz, with A4 = 440 Hz.
    """
    import re

    found = re.fullmatch(r"([A-Ga-g])([#♯b♭]*)(-?\d+)", name.strip())
    if found is None:
        raise ValueError(f"{name!r} is no note; write a letter, # or b, and the octave, as C#4.")
    letter, marks, octave = found.groups()
    number = _NAMES.index(letter.upper()) + 12 * (int(octave) + 1)
    number += sum(1 if mark in "#♯" else -1 for mark in marks)
    return 440.0 * 2.0 ** ((number - 69) / 12)
