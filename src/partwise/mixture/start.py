"""Where training begins: clusters of each class, as Gaussians of one common width."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled, sums

#: Samples of a class that k-means looks at, at most, and samples that the width is tried on.
LOOK, TRY = 20_000, 5_000


def class_counts(data: Labelled, n_classes: int, n_mixtures: int) -> np.ndarray:
    """Components for each class: as many as asked for, or as its samples of any weight allow."""
    samples = np.bincount(data.y[data.weight > 0], minlength=n_classes)
    return np.minimum(n_mixtures, np.maximum(samples, 1))


def clustered(
    data: Labelled, counts: np.ndarray, kind: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, float]:
    """Means (J × d) and masses of the clusters of each class, and the mean variance within them."""
    means, masses, spread, total = [], [], 0.0, 0.0
    for c, k in enumerate(counts):
        rows = np.flatnonzero((data.y == c) & (data.weight > 0))
        mass = data.weight[rows].sum()
        if len(rows) > LOOK:
            rows = np.sort(rng.choice(rows, LOOK, replace=False))
        X, weight = data.X[rows], data.weight[rows]
        if kind == "kmeans":
            found = KMeans(int(k), n_init=1, max_iter=30, random_state=int(rng.integers(2**31 - 1))).fit(
                X, sample_weight=weight
            )
            centres, labels = found.cluster_centers_.astype(float), found.labels_
        else:
            centres = X[rng.choice(len(X), int(k), replace=False)].astype(float)
            labels = nearest(X, centres)
        share = np.bincount(labels, weights=weight, minlength=int(k))
        means.append(centres)
        masses.append(mass * np.maximum(share, 1e-3) / np.maximum(share, 1e-3).sum())
        spread += float(weight @ ((X - centres[labels]) ** 2).sum(axis=1, dtype=float))
        total += float(weight.sum())
    variance = spread / max(total, 1e-300) / data.X.shape[1]
    return np.vstack(means), np.concatenate(masses), variance


def nearest(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The nearest centre of each row."""
    return np.argmin((centres**2).sum(axis=1) - 2.0 * (X @ centres.T), axis=1)


def start_from_clusters(
    data: Labelled, counts: np.ndarray, kind: str, rng: np.random.Generator
) -> Components:
    """θ_j = μ_j / σ², log W_j = log π_j − |μ_j|² / 2σ², as for Gaussians of width σ.

    The width within clusters makes far too sure a classifier of correlated features, so the one of a few that fits
    the labels best is taken. A vector that all exponents share changes nothing and is taken off: the penalty would
    pay for it.
    """
    means, masses, variance = clustered(data, counts, kind, rng)
    floor = 1e-12 * max(float((data.X.astype(float) ** 2).mean()), 1e-300)
    rows = rng.choice(len(data.y), min(TRY, len(data.y)), replace=False)
    few = data.rows(np.sort(rows))
    best: tuple[float, Components] | None = None
    for widen in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        width = widen * max(variance, floor)
        exponents = (means - np.average(means, axis=0, weights=masses)) / width
        log_weight = np.log(masses / masses.sum()) - (means**2).sum(axis=1) / (2.0 * width)
        trial = Components.of(exponents, log_weight - log_weight.max(), counts)
        value = sums(few, trial)[0]
        if best is None or value > best[0]:
            best = value, trial
    assert best is not None
    return best[1]
