"""Components of a recording grouped into the sources that play them, by timbre and by when they sound."""

from __future__ import annotations

import numpy as np

#: Bands of the spectral envelope, overtones of the profile, and seconds after an onset.
_BANDS, _OVERTONES, _AFTER = 24, 10, 0.5


def group_components(
    spectra: np.ndarray,
    activations: np.ndarray,
    frequencies: np.ndarray,
    fundamental: np.ndarray,
    times: np.ndarray,
    n_sources: int,
) -> np.ndarray:
    """Which source each component belongs to.

    Components of one instrument are alike in the cepstrum of their spectral envelope (Spiertz and Gnann, 2009), in
    the heights of their overtones, which do not depend on the pitch (the idea of shifted bases, Jaiswal, FitzGerald,
    Barry, Coyle and Rickard, 2011), and in how they go on after an onset. The three are scaled to the same mean
    distance, and components with a pitch are clustered by Ward's method. A component without a pitch, such as the
    attack of plucked notes, goes to the source whose components begin when it does. Where too few have a pitch, all
    are clustered, without overtones.

    Parameters
    ----------
    spectra : array of shape (n_components, n_frequencies)
        Magnitudes.
    activations : array of shape (n_frames, n_components)
        Nonnegative.
    frequencies : array of shape (n_frequencies,)
        In Hz.
    fundamental : array of shape (n_components,)
        In Hz; NaN for components without a pitch.
    times : array of shape (n_frames,)
        In seconds.
    n_sources : int
        Number of groups, at most the number of components.

    Returns
    -------
    array of shape (n_components,)
        0, 1, …: sources by falling share of the sound.
    """
    from scipy.cluster.hierarchy import fcluster, linkage

    count = len(spectra)
    share = spectra.sum(axis=1, dtype=float) * activations.sum(axis=0, dtype=float)
    labels = np.arange(count)
    if n_sources < count:
        pitched = np.isfinite(fundamental)
        clustered = pitched if pitched.sum() >= n_sources else np.ones(count, bool)
        parts = [_cepstrum(spectra[clustered], frequencies), _course(activations[:, clustered], times)]
        if clustered is pitched:
            parts.append(_overtones(spectra[pitched], frequencies, fundamental[pitched]))
        labels = np.full(count, -1)
        rows = np.hstack([_scaled(part) for part in parts])
        labels[clustered] = fcluster(linkage(rows, "ward"), n_sources, "maxclust") - 1 if len(rows) > 1 else 0
        labels[~clustered] = _begin_together(activations, ~clustered, labels)
    order = np.argsort([-share[labels == label].sum() for label in range(labels.max() + 1)], kind="stable")
    found: np.ndarray = np.argsort(order)[labels]
    return found


def _begin_together(activations: np.ndarray, which: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """For each of the components `which`, the source whose activations rise when its own do."""
    rises = np.maximum(np.diff(activations.astype(float), axis=0), 0.0)
    # An attack comes a little before the tone: rises within three frames count.
    wide = np.maximum(rises, np.maximum(np.roll(rises, 1, axis=0), np.roll(rises, -1, axis=0)))
    by_source = np.stack([wide[:, labels == label].sum(axis=1) for label in range(labels.max() + 1)], axis=1)
    size = np.linalg.norm(by_source, axis=0)
    alike = rises[:, which].T @ by_source / np.where(size > 0, size, 1.0)
    found: np.ndarray = np.argmax(alike, axis=1)
    return found


def _cepstrum(spectra: np.ndarray, frequencies: np.ndarray) -> np.ndarray:
    """Mel-frequency cepstra without the first coefficient, which is loudness."""
    from scipy.fft import dct

    mel = 2595.0 * np.log10(1.0 + frequencies / 700.0)
    edges = np.linspace(0.0, mel[-1], _BANDS + 2)
    width = edges[1]
    bands = np.maximum(0.0, 1.0 - np.abs(mel[:, None] - edges[1:-1]) / width)
    energy = np.sqrt(spectra.astype(float) ** 2 @ bands)
    level = np.log10(energy / np.maximum(energy.max(axis=1, keepdims=True), 1e-300) + 1e-2)
    found: np.ndarray = dct(level, axis=1, norm="ortho")[:, 1:13]
    return found


def _overtones(spectra: np.ndarray, frequencies: np.ndarray, fundamental: np.ndarray) -> np.ndarray:
    """The heights of the overtones against the highest, in steps of 20 dB."""
    step = frequencies[1] - frequencies[0]
    found = np.zeros((len(spectra), _OVERTONES))
    for i, (spectrum, f0) in enumerate(zip(spectra.astype(float), fundamental)):
        for h in range(1, _OVERTONES + 1):
            reach = max(1.5 * step, 0.02 * h * f0)
            near = spectrum[(frequencies > h * f0 - reach) & (frequencies < h * f0 + reach)]
            found[i, h - 1] = near.max(initial=0.0)
    return np.log10(found / np.maximum(found.max(axis=1, keepdims=True), 1e-300) + 1e-2)


def _course(activations: np.ndarray, times: np.ndarray) -> np.ndarray:
    """How activations go on after their onsets: the mean course of half a second, against its largest value."""
    from partwise.domains.onsets import find_onsets

    step = float(times[1] - times[0]) if len(times) > 1 else 1.0
    length = max(2, round(_AFTER / step))
    found = np.zeros((activations.shape[1], 8))
    for i, activation in enumerate(activations.T.astype(float)):
        begin = np.rint((find_onsets(activation, times) - times[0]) / step).astype(int)
        longer = np.append(activation, np.zeros(length))
        if len(begin):
            course = longer[begin[:, None] + np.arange(length)].mean(axis=0)
            course /= max(course.max(), 1e-300)
            found[i] = np.interp(np.linspace(0, length - 1, 8), np.arange(length), course)
    return found


def _scaled(rows: np.ndarray) -> np.ndarray:
    """Rows whose mean distance is one."""
    from scipy.spatial.distance import pdist

    mean = float(pdist(rows).mean()) if len(rows) > 1 else 0.0
    return rows / mean if mean > 0 else np.zeros_like(rows)
