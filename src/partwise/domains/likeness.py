"""How alike recordings are, by the cosine between their spectra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def recordings_alike(spectra: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """How alike recordings are whose spectra were learned apart, as Holzapfel and Stylianou (2008) compare genres.

    Every spectrum has a nearest one in the other recording, by the cosine between them. Recordings are as alike as
    their spectra are to the nearest ones, on average over the spectra of both.

    Parameters
    ----------
    spectra : sequence of arrays of shape (n_components, n_frequencies)
        Those of each recording, over the same frequencies.

    Returns
    -------
    recordings : array of shape (n_recordings, n_recordings)
        Symmetric, between 0 and 1, 1 on the diagonal.
    all_spectra : array of shape (n_spectra, n_spectra)
        The cosines of all spectra.
    """
    stacked = np.vstack([np.asarray(one, float) for one in spectra])
    size = np.linalg.norm(stacked, axis=1, keepdims=True)
    stacked = stacked / np.where(size > 0, size, 1.0)
    cosine = np.clip(stacked @ stacked.T, 0.0, 1.0)
    ends = np.cumsum([0, *(len(one) for one in spectra)])
    n = len(spectra)
    alike = np.ones((n, n))
    for i in range(n):
        for j in range(i):
            block = cosine[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]
            both = np.concatenate([block.max(axis=1), block.max(axis=0)])
            alike[i, j] = alike[j, i] = both.mean()
    return alike, cosine
