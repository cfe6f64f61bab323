"""How a model with labels classifies: a logistic regression from parts to classes, and whom it learns from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.graphs import spread_labels
from partwise.models.label_part import Labels

#: Folds of the labelled samples when two teachings are compared, and how many samples each may learn from there.
FOLDS, MOST_ROWS = 5, 3000


class Taught(NamedTuple):
    """Samples that a read-out learns from, their labels, which of these are known, and how surely."""

    rows: np.ndarray
    Y: np.ndarray
    seen: np.ndarray
    weights: np.ndarray


#: From labels to whom a read-out learns from.
Teaching = Callable[[Labels], Taught]


def labels_alone(labels: Labels) -> Taught:
    """The labelled samples."""
    return Taught(labels.at, labels.Y, labels.seen, np.ones(len(labels.at)))


def labels_along(graph: sp.csr_matrix, labels: Labels) -> Taught:
    """All samples that labels reach along edges of a graph (Zhou et al. 2004), each by its most probable label."""
    known = np.zeros((graph.shape[0], len(labels.classes)))
    known[labels.at] = labels.Y
    spread = spread_labels(graph, known)
    spread[labels.at] = labels.Y
    rows = np.flatnonzero(spread.sum(axis=1) > 1e-12)
    Y = np.eye(len(labels.classes))[spread[rows].argmax(axis=1)]
    sure = spread[rows].max(axis=1) / spread[rows].sum(axis=1)
    return Taught(rows, Y, np.ones(Y.shape, dtype=bool), sure)


def joins_alike(graph: sp.csr_matrix, features: np.ndarray) -> bool:
    """Whether neighbours in a graph are more alike than any two nodes, by more than three standard errors."""
    F = features - features.mean(axis=0)
    F /= np.maximum(np.linalg.norm(F, axis=1, keepdims=True), 1e-12)
    order = np.random.default_rng(0).permutation(len(F))
    degrees = np.maximum(np.asarray(graph.sum(axis=1)).ravel(), 1e-300)
    # A node's likeness to its neighbours, less that to the neighbours of another node.
    means = np.asarray(graph @ F) / degrees[:, None]
    more = (F * (means - means[order])).sum(axis=1)
    return bool(more.sum() > 3.0 * np.sqrt(len(more)) * more.std())


def best_teaching(
    teachings: Sequence[Teaching], labels: Labels, features: np.ndarray, weights: np.ndarray
) -> int:
    """Which teaching is best at labelled samples that it was not told of; the first, if no other is surely better.

    Parameters
    ----------
    teachings : sequence of callables
        What can be learned from; the first is believed in where there is no evidence.
    labels : Labels
        Of which each fold is left out once. The only label of a class stays in.
    features : array of shape (n_samples, n_features)
        What the read-out sees of each sample; rows that no teaching names may hold anything.
    weights : array of shape (n_samples,)
        How much each sample counts.

    Returns
    -------
    int
        The number of the teaching. Another than the first is right more often by more than one standard error.
    """
    number = labels.Y.argmax(axis=1)
    if len(teachings) < 2 or labels.multilabel:
        return 0
    rng = np.random.default_rng(0)
    fold = np.full(len(number), -1)
    for c in np.unique(number):
        members = rng.permutation(np.flatnonzero(number == c))
        if len(members) > 1:
            fold[members] = (np.arange(len(members)) + c) % FOLDS
    right = np.zeros((len(teachings), len(number)))
    for f in np.unique(fold[fold >= 0]):
        out = fold == f
        kept = replace(labels, at=labels.at[~out], Y=labels.Y[~out], seen=labels.seen[~out])
        if len(np.unique(number[~out])) < 2:
            continue
        for i, teaching in enumerate(teachings):
            taught = _fewer(teaching(kept), rng)
            counted = taught.weights * weights[taught.rows]
            coef, intercept = trained_readout(features[taught.rows], taught.Y, taught.seen, counted, False)
            found = (features[labels.at[out]] @ coef + intercept).argmax(axis=1)
            right[i, out] = found == number[out]
    gain = weights[labels.at] * (right - right[0])
    sure = gain.sum(axis=1) - np.sqrt((gain * gain).sum(axis=1))
    best = int(sure.argmax())
    return best if sure[best] > 0 else 0


def _fewer(taught: Taught, rng: np.random.Generator) -> Taught:
    if len(taught.rows) <= MOST_ROWS:
        return taught
    kept = np.sort(rng.permutation(len(taught.rows))[:MOST_ROWS])
    return Taught(*(part[kept] for part in taught))


def readout_features(W: np.ndarray, components: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """What the read-out sees of each sample: √ of each part's share of its reconstruction, and of its amount.

    Shares tell mixtures apart whatever the length of a document or the depth of a measurement; amounts matter where
    they differ between classes. `typical` are the root mean squares of the columns of W, so that neither depends on
    how W and H share their scale.
    """
    mass = W.astype(float) * np.abs(components).sum(axis=1, dtype=float)
    total = mass.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, mass / np.where(total > 0, total, 1.0), 1.0 / max(mass.shape[1], 1))
    return np.hstack([np.sqrt(shares), np.sqrt(W / typical)])


def typical_amounts(W: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Root mean square of each column over rows of these weights, 1 for columns of zeros."""
    found = np.sqrt((weights[:, None] * W.astype(float) ** 2).sum(axis=0) / weights.sum())
    return np.where(found > 0, found, 1.0)


def trained_readout(
    features: np.ndarray, Y: np.ndarray, seen: np.ndarray, weights: np.ndarray, multilabel: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts of a logistic regression from `readout_features` to classes.

    The label factor itself is a poor classifier: it is fitted by least squares or counts, which reward large classes
    and shared parts. A logistic regression of the labels on what `transform` gives for the labelled samples knows
    which parts tell classes apart, and is trained on what it will see.
    """
    from sklearn.linear_model import LogisticRegression

    def fitted(X: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        model = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=w)
        return model.coef_.T, model.intercept_

    k, n_classes = features.shape[1], Y.shape[1]
    coef, intercept = np.zeros((k, n_classes)), np.full(n_classes, -30.0)
    if not multilabel:
        number = Y.argmax(axis=1)
        present = np.unique(number)
        found = fitted(features, number, weights)
        if len(present) == 2:
            # One column tells two classes apart: half to each side, so that the softmax is the logistic function.
            coef[:, present], intercept[present] = (
                np.hstack([-found[0], found[0]]) / 2,
                np.array([-1, 1]) * found[1] / 2,
            )
        else:
            coef[:, present], intercept[present] = found
        return coef, intercept
    for c in range(n_classes):
        rows = np.flatnonzero(seen[:, c])
        labels = Y[rows, c]
        if len(np.unique(labels)) == 2:
            one = fitted(features[rows], labels, weights[rows])
            coef[:, c], intercept[c] = one[0][:, 0], one[1][0]
        else:
            intercept[c] = 30.0 if len(labels) and labels[0] == 1 else -30.0
    return coef, intercept
