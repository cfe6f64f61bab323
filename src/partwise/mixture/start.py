"""Where training begins: clusters of each class, as Gaussians of one common width."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from partwise.core import joined_session
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled, sums
from partwise.mixture.spread import effective_size, pseudo_share

#: Samples of a class that k-means is given, at most, and samples that widths are compared on.
CLUSTERED_SAMPLES, COMPARED_SAMPLES = 20_000, 5_000
#: Widths that are compared, in multiples of the variance within clusters.
WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


class Clusters(NamedTuple):
    """Clusters of all classes, those of the first class first.

    Attributes
    ----------
    means : array of shape (J, d)
    masses : array of shape (J,)
        Sums of the samples' weights.
    variance : float
        Mean over samples and features of the squared distance from the cluster's mean.
    least : float
        The least variance that components may have, as in `partwise.mixture.spread`, in the mean over features.
    class_variance : float
        As `variance`, from the class's mean; `least` if that is more.
    """

    means: np.ndarray
    masses: np.ndarray
    variance: float
    least: float = 0.0
    class_variance: float = 0.0

    @property
    def width(self) -> float:
        """The variance that components begin with: that within clusters, or the least."""
        return max(self.variance, self.least)


def class_counts(data: Labelled, n_classes: int, n_mixtures: int) -> np.ndarray:
    """Number of components for each class: `n_mixtures`, or one for each distinct sample where a class has fewer."""
    members = ((data.y == c) & (data.weight > 0) for c in range(n_classes))
    return np.array([max(1, distinct_rows(data.X[rows], n_mixtures)) for rows in members])


def distinct_rows(X: np.ndarray, enough: int) -> int:
    """How many different rows there are, counted up to `enough`."""
    seen = 4 * enough
    while True:
        found = len(np.unique(X[:seen], axis=0))
        if found >= enough or seen >= len(X):
            return min(found, enough)
        seen *= 4


def clustered(data: Labelled, counts: np.ndarray, kind: str, rng: np.random.Generator) -> Clusters:
    """Clusters of each class. After Ctrl-C, those of the classes that remain begin at samples drawn at random.

    Parameters
    ----------
    data : Labelled
    counts : array of int
        Number of clusters of each class.
    kind : {"kmeans", "random"}
        "random" makes clusters around samples drawn from the class.
    rng : Generator

    Returns
    -------
    Clusters
    """
    # The threads of k-means add up their sums in the order they finish, so with several the last bits are by chance.
    with threadpool_limits(1, user_api="openmp"):
        return _clustered(data, counts, kind, rng)


def _clustered(data: Labelled, counts: np.ndarray, kind: str, rng: np.random.Generator) -> Clusters:
    means, masses, spread, total = [], [], 0.0, 0.0
    class_means, class_masses, class_spread = [], [], 0.0
    for c, k in enumerate(counts):
        rows = np.flatnonzero((data.y == c) & (data.weight > 0))
        mass = data.weight[rows].sum()
        if len(rows) > CLUSTERED_SAMPLES:
            rows = np.sort(rng.choice(rows, CLUSTERED_SAMPLES, replace=False))
        X, weight = data.X[rows], data.weight[rows]
        centres, labels = class_clusters(X, weight, int(k), kind, rng)
        share = np.bincount(labels, weights=weight, minlength=int(k))
        share = np.maximum(share, 1e-3 * weight.mean())
        means.append(centres)
        masses.append(mass * share / share.sum())
        spread += float(weight @ ((X - centres[labels]) ** 2).sum(axis=1, dtype=float))
        total += float(weight.sum())
        mean = weight @ X / weight.sum()
        class_spread += float(weight @ ((X - mean) ** 2).sum(axis=1, dtype=float))
        class_means.append(mean)
        class_masses.append(weight.sum())
    variance = spread / max(total, 1e-300) / data.X.shape[1]
    centre = np.average(class_means, axis=0, weights=class_masses)
    all_spread = class_spread + float(class_masses @ ((np.array(class_means) - centre) ** 2).sum(axis=1))
    least = max(
        pseudo_share(data, int(np.sum(counts))) * class_spread, pseudo_share(data, len(counts)) * all_spread
    )
    size = max(total, 1e-300) * data.X.shape[1]
    return Clusters(
        np.vstack(means), np.concatenate(masses), variance, least / size, max(least, class_spread) / size
    )


def class_clusters(
    X: np.ndarray, weight: np.ndarray, k: int, kind: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the clusters of one class, and the cluster of each sample."""
    with joined_session() as session:
        if kind == "kmeans" and not session.interrupted:
            seed = int(rng.integers(2**31 - 1))
            with session.interruptible(), warnings.catch_warnings():
                # Fewer clusters than asked for, where rows are almost the same: the others are copies of these.
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = KMeans(k, n_init=1, max_iter=30, random_state=seed).fit(X, sample_weight=weight)
                return found.cluster_centers_.astype(float), found.labels_
    centres = X[rng.choice(len(X), k, replace=False)].astype(float)
    return centres, nearest(X, centres)


def nearest(X: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The nearest centre of each row."""
    return np.argmin((centres**2).sum(axis=1) - 2.0 * (X @ centres.T), axis=1)


def start_from_clusters(
    data: Labelled,
    counts: np.ndarray,
    kind: str,
    rng: np.random.Generator,
    widths: Sequence[float] = WIDTHS,
) -> Components:
    """θ_j = μ_j / σ², log W_j = log π_j − |μ_j|² / 2σ², as for Gaussians of width σ at the clusters of `clustered`.

    The width within clusters makes far too sure a classifier of correlated features, so the one of `widths` that
    fits the labels best is taken. Where clusters have next to no width (copies of a few rows), their width is the
    least one (`Clusters.width`), and says little: more widths are tried, up to as many times the variance within
    classes, and the widest is taken whose log-likelihood is less than that of the best by at most 1.

    A vector that all exponents share changes nothing and is taken off: the penalty would pay for it. Ctrl-C ends the
    comparison of widths.
    """
    clusters = clustered(data, counts, kind, rng)
    floor = 1e-12 * max(float((data.X.astype(float) ** 2).mean()), 1e-300)
    variance = max(clusters.width, floor)
    narrow = variance > clusters.variance
    if narrow and len(widths) > 1:
        ratio = max(1.0, clusters.class_variance / variance)
        widths = [*widths, *(widths[-1] * 2.0 ** np.arange(1, np.ceil(np.log2(ratio)) + 1))]
    rows = rng.choice(len(data.y), min(COMPARED_SAMPLES, len(data.y)), replace=False)
    best, best_value = gaussian_components(clusters, widths[0] * variance, counts), -np.inf
    with joined_session() as session, session.interruptible():
        few = data.rows(np.sort(rows))
        allowed = few.total / effective_size(few) if narrow else 0.0
        for width in widths:
            trial = gaussian_components(clusters, width * variance, counts)
            value = sums(few, trial)[0]
            if value > best_value or value > best_value - allowed:
                best, best_value = trial, max(value, best_value)
    return best


def gaussian_components(clusters: Clusters, variance: float, counts: np.ndarray) -> Components:
    """The posterior's parameters for spherical Gaussians of this variance at the clusters."""
    means, masses = clusters.means, clusters.masses
    exponents = (means - np.average(means, axis=0, weights=masses)) / variance
    log_weight = np.log(masses / masses.sum()) - (means**2).sum(axis=1) / (2.0 * variance)
    return Components.of(exponents, log_weight - log_weight.max(), counts)
