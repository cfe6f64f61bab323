"""How many components a recording has, judged by the recording alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

#: Frames that are looked at; more would hardly change the number.
FRAMES = 500


def spread_frames(V: np.ndarray, most: int = FRAMES) -> np.ndarray:
    """At most so many rows, evenly spread.

    Parameters
    ----------
    V : array of shape (n_frames, n_frequencies)
        Rows.
    most : int
        Number of rows to keep.

    Returns
    -------
    array
        Rows of V, those that are all zero left out.
    """
    V = V[V.any(axis=1)]
    if len(V) <= most:
        return V
    return np.ascontiguousarray(V[np.linspace(0, len(V) - 1, most).astype(int)])


class Growth:
    """Fits to some frames with 1, 2, 3, … components, each begun from the better of two starts.

    One start are clusters of frames; the other are the spectra of the fit before, and one that explains most of what
    that fit left. Clusters alone often miss a source that is never heard alone, and growth alone keeps what it began
    with.

    Parameters
    ----------
    rows : array of shape (n_frames, n_frequencies)
        Frames, from `spread_frames`.
    fit : callable
        Given rows and spectra to start from, returns the spectra found, one more that explains most of what they
        leave (see `unexplained`), and the loss.
    clusters : callable
        Given a number k, returns k spectra to start from.

    Attributes
    ----------
    spectra : list of arrays
        Those of the best fit with 1, 2, 3, … components.
    losses : list of float
        The loss of each.
    """

    def __init__(
        self,
        rows: np.ndarray,
        fit: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, float]],
        clusters: Callable[[int], np.ndarray],
    ) -> None:
        self.rows, self.fit, self.clusters = rows, fit, clusters
        self.spectra: list[np.ndarray] = []
        self.losses: list[float] = []
        self._left: np.ndarray | None = None

    def grow(self) -> float:
        """Fit with one component more.

        Returns
        -------
        float
            The loss of the better fit.
        """
        starts = [self.clusters(len(self.spectra) + 1)]
        if self._left is not None:
            starts.append(np.vstack([self.spectra[-1], self._left]))
        found = min((self.fit(self.rows, H) for H in starts), key=lambda one: one[2])
        self.spectra.append(found[0])
        self.losses.append(found[2])
        self._left = found[1]
        return found[2]

    def until(self, least: float, most: int, stopped: Callable[[], bool]) -> int:
        """Fit with more and more components as long as they explain something.

        With one component the loss is D(1). A component is worth having if it takes away at least the share `least`
        of that, on the lower convex hull of D(k): a fit that ended in a poor local minimum then neither ends the
        search nor makes the next component look better than it is.

        Parameters
        ----------
        least : float
            Share of D(1) that a component must take away; 0 to go on to `most`.
        most : int
            Largest number.
        stopped : callable
            Whether to end the search, because of Ctrl-C or a time limit.

        Returns
        -------
        int
            The number of components.
        """
        while len(self.losses) < most:
            found = self.grow()
            lately = self.losses[-4] - found if len(self.losses) >= 4 else np.inf
            # Three components that together take away less than one should: none that follow will.
            if stopped() or (least > 0 and (found <= 0 or lately < least * self.losses[0])):
                break
        return knee(np.array(self.losses), least) if least > 0 else len(self.losses)


def unexplained(V: np.ndarray, W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """The spectrum that explains most of what a fit leaves over.

    Parameters
    ----------
    V : array of shape (n_frames, n_frequencies)
        Magnitudes.
    W : array of shape (n_frames, n_components)
        Activations.
    H : array of shape (n_components, n_frequencies)
        Spectra.

    Returns
    -------
    array of shape (1, n_frequencies)
        Positive; sums to one.
    """
    left = np.maximum(V - W @ H, 0.0)
    found = left[int(np.argmax(left.sum(axis=1)))]
    for _ in range(3):
        # Steps towards the first singular vector, which is nonnegative as `left` is.
        found = left.T @ (left @ found)
        found = found / max(float(found.sum()), 1e-30)
    return (0.99 * found + 0.01 / len(found))[None].astype(V.dtype)


def knee(losses: np.ndarray, least: float) -> int:
    """The last k at which the lower convex hull of losses falls by at least `least` of the first.

    Parameters
    ----------
    losses : array
        D(1), D(2), …
    least : float
        Share of D(1).

    Returns
    -------
    int
        At least 1.
    """
    hull = [0]
    for k in range(1, len(losses)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            # Keep b only if it lies below the line from a to k.
            if (losses[b] - losses[a]) * (k - a) < (losses[k] - losses[a]) * (b - a):
                break
            hull.pop()
        hull.append(k)
    count = 1
    for a, b in pairwise(hull):
        if (losses[a] - losses[b]) / (b - a) < least * losses[0]:
            break
        count = b + 1
    return count
