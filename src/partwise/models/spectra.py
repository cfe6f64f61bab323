"""Where the spectra of a recording start, and which of them are one note."""

from __future__ import annotations

import numpy as np

from partwise.domains.pitch import fundamental

#: Frames that are clustered.
_FRAMES = 2000
#: Semitones that components of one note are apart, at most, and how alike their overtones are, at least.
_SEMITONES, _ALIKE = 0.6, 0.75


def start_from_frames(V: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Spectra to start from: centres of clusters of frames, each frame brought to the same loudness.

    Of the starts that were compared (random, NNDSVD, extreme frames, clusters) this one most often leads to the
    lowest loss, for frames in which few sources sound are near to their spectra.

    Parameters
    ----------
    V : array of shape (n_frames, n_frequencies)
        Magnitudes.
    k : int
        Number of spectra.
    rng : Generator
        Random numbers.

    Returns
    -------
    array of shape (k, n_frequencies)
        Positive; each sums to one.
    """
    from sklearn.cluster import KMeans

    loud = V.sum(axis=1)
    frames = V[loud > max(np.quantile(loud, 0.2), 1e-6 * float(loud.max()))]
    if len(frames) > _FRAMES:
        frames = frames[np.linspace(0, len(frames) - 1, _FRAMES).astype(int)]
    frames = frames / np.linalg.norm(frames, axis=1, keepdims=True)
    centres = np.zeros((0, V.shape[1]), V.dtype)
    found = min(k, len(np.unique(frames, axis=0))) if len(frames) < 2 * k else min(k, len(frames))
    if found:
        seed = int(rng.integers(2**31))
        centres = KMeans(found, n_init=2, max_iter=50, random_state=seed).fit(frames).cluster_centers_
    more = V.mean(axis=0) * rng.uniform(0.5, 1.5, (k - len(centres), V.shape[1]))
    H = np.maximum(np.vstack([centres, more / max(float(more.sum()), 1e-30)]), 0.0)
    # What is zero would stay small for long.
    H = H / np.maximum(H.sum(axis=1, keepdims=True), 1e-30) + 1e-3 / V.shape[1]
    return np.asarray(H / H.sum(axis=1, keepdims=True), V.dtype)


def one_per_note(H: np.ndarray, W: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Spectra with those joined that are the same note of the same timbre, as a note with vibrato has several.

    Parameters
    ----------
    H : array of shape (n_components, n_frequencies)
        Spectra.
    W : array of shape (n_frames, n_components)
        Activations.
    frequencies : array of shape (n_frequencies,)
        In Hz.

    Returns
    -------
    array of shape (n_notes, n_frequencies)
        Spectra that were joined are the mean of their components, by loudness.
    """
    pitch = np.array([fundamental(h, frequencies)[0] for h in H])
    profile = _profiles(H, frequencies, pitch)
    loud = W.sum(axis=0, dtype=float)[:, None] * H
    note = np.full(len(H), -1)
    joined: list[np.ndarray] = []
    for i in np.argsort(-loud.sum(axis=1), kind="stable"):
        # Only components that were joined to none are compared with, the loudest of each note.
        for j, first in enumerate(note_firsts(note)):
            apart = 12 * abs(np.log2(pitch[i] / pitch[first]))
            if apart < _SEMITONES and profile[i] @ profile[first] > _ALIKE:
                note[i] = j
                joined[j] = joined[j] + loud[i]
                break
        else:
            note[i] = len(joined)
            joined.append(loud[i])
    return np.asarray(joined, H.dtype)


def note_firsts(note: np.ndarray) -> list[int]:
    """The first component of every note."""
    return [int(np.flatnonzero(note == j)[0]) for j in range(int(note.max(initial=-1)) + 1)]


def _profiles(H: np.ndarray, frequencies: np.ndarray, pitch: np.ndarray) -> np.ndarray:
    """Heights of the first twelve overtones, as vectors of length one; zeros where there is no pitch."""
    step = frequencies[1] - frequencies[0]
    found = np.zeros((len(H), 12))
    for i, (spectrum, f0) in enumerate(zip(H, pitch)):
        if np.isfinite(f0):
            for h in range(1, 13):
                reach = max(1.5 * step, 0.03 * h * f0)
                near = (frequencies > h * f0 - reach) & (frequencies < h * f0 + reach)
                found[i, h - 1] = np.sqrt(float((spectrum[near] ** 2).sum()))
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return found / np.where(size > 0, size, 1.0)
