"""What codes know of labels that no method has seen: accuracy of a linear classifier, agreement of clusters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from partwise.io.unknown import is_nothing

#: Rows on which codes are judged, at most.
JUDGED = 20_000


def judged_rows(labels: np.ndarray) -> np.ndarray:
    """The rows on which codes are judged: all, or `JUDGED` of them, always the same.

    Parameters
    ----------
    labels : array of shape (n,)
        Classes.

    Returns
    -------
    int array
        Rows, in order.
    """
    n = len(labels)
    if n <= JUDGED:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).permutation(n)[:JUDGED])


def class_accuracy(codes: np.ndarray, labels: np.ndarray, folds: int = 5) -> float:
    """Accuracy of a logistic regression on the codes, cross-validated.

    Codes are standardised column by column, so that their units do not count: both splits of an SVD have the same
    accuracy. Folds are stratified and the same for all codes. (The codes themselves were found on all rows; labels
    had no part in that.)

    Parameters
    ----------
    codes : array of shape (n, k)
        One row for each sample.
    labels : array of shape (n,)
        Classes.
    folds : int, default=5
        At most; fewer where the smallest class has fewer members.

    Returns
    -------
    float
        Share of right answers; NaN where there are not two classes of two members.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from partwise.parallel import own_threads

    _, y = np.unique(labels, return_inverse=True)
    members = np.bincount(y)
    if (members >= 2).sum() < 2:
        return float("nan")
    split = StratifiedKFold(int(np.clip(members.min(), 2, folds)), shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    # Codes are narrow: more threads would wait for one another.
    with own_threads(), warnings.catch_warnings():
        # Of classes with one member, and of fits that use all their iterations.
        warnings.simplefilter("ignore")
        return float(cross_val_score(model, np.asarray(codes, np.float64), y, cv=split).mean())


def cluster_nmi(codes: np.ndarray, labels: np.ndarray, seed: int = 0) -> float:
    """Normalised mutual information of the classes with k-means clusters of the codes, rows at length one.

    Parameters
    ----------
    codes : array of shape (n, k)
        One row for each sample.
    labels : array of shape (n,)
        Classes; there are as many clusters.
    seed : int
        Seed of k-means.

    Returns
    -------
    float
        1 where clusters are the classes, near 0 where they know nothing of them.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.preprocessing import normalize

    from partwise.parallel import own_threads

    k = min(len(np.unique(labels)), len(codes))
    with own_threads(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of fewer distinct codes than clusters.
        found = KMeans(k, n_init=1, random_state=seed).fit_predict(normalize(np.asarray(codes, np.float64)))
    return float(normalized_mutual_info_score(labels, found))


def argmax_nmi(codes: np.ndarray, labels: np.ndarray) -> float:
    """Normalised mutual information of the classes with the largest entry of each row of the codes.

    Parameters
    ----------
    codes : array of shape (n, k)
        Nonnegative codes, one row for each sample.
    labels : array of shape (n,)
        Classes.

    Returns
    -------
    float
        1 where each class has a component of its own.
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(labels, codes.argmax(axis=1)))


def checked_labels(labels: Any, n: int) -> np.ndarray:
    """Labels that a user gave: one for each row, and classes rather than measurements.

    Parameters
    ----------
    labels : array-like
        One for each row.
    n : int
        Rows of the data.

    Returns
    -------
    array of shape (n,)
        The labels.
    """
    y = np.asarray(labels)
    if y.ndim != 1 or len(y) != n:
        raise ValueError(f"labels must be one for each of the {n} rows; got shape {y.shape}.")
    if y.dtype.kind == "O":
        empty = [i for i, label in enumerate(y.tolist()) if is_nothing(label)]
        if empty:
            raise ValueError(
                f"labels has nothing for row {empty[0]}; give each row a label, or leave it out."
            )
        y = y.astype(str)
    if y.dtype.kind == "f" and np.isnan(y).any():
        i = int(np.argmax(np.isnan(y)))
        raise ValueError(f"labels has nothing for row {i}; give each row a label, or leave it out.")
    classes = len(np.unique(y))
    if classes < 2:
        raise ValueError("labels has one class only; nothing can be told apart. Leave labels out.")
    if classes > max(2, n // 2):
        raise ValueError(
            f"labels has {classes} different values for {n} rows; they must be classes, with several rows each."
        )
    return y
