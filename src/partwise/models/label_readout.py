"""How a model with labels classifies: a logistic regression from parts to classes, and whom it learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, softmax
from sklearn.preprocessing import normalize

from partwise.graphs import spread_labels
from partwise.models.label_part import Labels

#: Folds of the labelled samples when two teachings are compared, and how many samples each may learn from there.
FOLDS, MOST_ROWS = 5, 3000
#: Numbers for every part in `readout_features`.
VIEWS = 3
#: 1 / weight of the squared coefficients. Rows of `readout_features` have lengths near √3 whatever the data, so that
#: one number does: weak enough for one label a class, strong enough for large classes not to take all.
FREEDOM = 3.0
#: How far labels may be carried along edges; the first where there is no evidence for another.
REACHES = (0.85, 0.95, 0.7)


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


def labels_along(graph: sp.csr_matrix, reach: float, labels: Labels) -> Taught:
    """All samples that labels reach along edges of a graph (Zhou et al. 2004), each by its most probable label."""
    spread = _spread(graph, reach, labels)
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
    if len(teachings) < 2 or labels.multilabel:
        return 0
    rng, number = np.random.default_rng(0), labels.Y.argmax(axis=1)
    right = np.zeros((len(teachings), len(number)))
    for out, kept in _folds(labels):
        for i, teaching in enumerate(teachings):
            taught = _fewer(teaching(kept), rng)
            counted = taught.weights * weights[taught.rows]
            coef, intercept = trained_readout(features[taught.rows], taught.Y, taught.seen, counted, False)
            found = (features[labels.at[out]] @ coef + intercept).argmax(axis=1)
            right[i, out] = found == number[out]
    return _surely_best(right, weights[labels.at])


def best_reach(graph: sp.csr_matrix, labels: Labels, weights: np.ndarray) -> float:
    """How far labels should be carried along edges: as far as labels that were left out are met best.

    Far is good where neighbours nearly always share their class; where they often do not, labels that come from far
    wash out those from near, and the largest class takes all.
    """
    number = labels.Y.argmax(axis=1)
    right = np.zeros((len(REACHES), len(number)))
    for out, kept in _folds(labels):
        for i, reach in enumerate(REACHES):
            right[i, out] = _spread(graph, reach, kept)[labels.at[out]].argmax(axis=1) == number[out]
    return REACHES[_surely_best(right, weights[labels.at])]


def _spread(graph: sp.csr_matrix, reach: float, labels: Labels) -> np.ndarray:
    known = np.zeros((graph.shape[0], len(labels.classes)))
    known[labels.at] = labels.Y
    return spread_labels(graph, known, reach)


def _folds(labels: Labels) -> Iterator[tuple[np.ndarray, Labels]]:
    """Labelled samples that are left out, and the labels of the others; the only label of a class stays in."""
    number, rng = labels.Y.argmax(axis=1), np.random.default_rng(0)
    fold = np.full(len(number), -1)
    for c in np.unique(number):
        members = rng.permutation(np.flatnonzero(number == c))
        if len(members) > 1:
            fold[members] = (np.arange(len(members)) + c) % FOLDS
    for f in np.unique(fold[fold >= 0]):
        out = fold == f
        if len(np.unique(number[~out])) > 1:
            yield out, replace(labels, at=labels.at[~out], Y=labels.Y[~out], seen=labels.seen[~out])


def _surely_best(right: np.ndarray, weights: np.ndarray) -> int:
    """The first, or one that is right more often by more than one standard error."""
    gain = weights * (right - right[0])
    sure = gain.sum(axis=1) - np.sqrt((gain * gain).sum(axis=1))
    best = int(sure.argmax())
    return best if sure[best] > 0 else 0


def _fewer(taught: Taught, rng: np.random.Generator) -> Taught:
    if len(taught.rows) <= MOST_ROWS:
        return taught
    kept = np.sort(rng.permutation(len(taught.rows))[:MOST_ROWS])
    return Taught(*(part[kept] for part in taught))


def readout_features(W: np.ndarray, components: np.ndarray, typical: np.ndarray) -> np.ndarray:
    """What the read-out sees of each sample, three numbers for every part.

    Its amount in rows of length one, at the scale where components have length one; √ of its share of the
    reconstruction; and √ of its amount, over √ of the number of parts: three rows of about length one. The first two
    tell mixtures apart whatever the length of a document or the brightness of a picture, the first by the large
    parts, the second by the small ones too; amounts matter where they differ between classes. `typical` are the root
    mean squares of the columns of W, so that nothing depends on how W and H share their scale.
    """
    A, H = W.astype(float), components.astype(float)
    # Directions and shares do not see the size of a row, nor that of H: powers of two keep squares within range.
    H = np.ldexp(H, -np.frexp(np.abs(H).max(initial=0.0))[1])
    rows = np.ldexp(A, -np.frexp(np.abs(A).max(axis=1, keepdims=True, initial=0.0))[1])
    directions = normalize(rows * np.linalg.norm(H, axis=1))
    mass = rows * np.abs(H).sum(axis=1)
    total = mass.sum(axis=1, keepdims=True)
    shares = np.where(total > 0, mass / np.where(total > 0, total, 1.0), 1.0 / max(mass.shape[1], 1))
    amounts = np.sqrt(A / typical) / np.sqrt(max(A.shape[1], 1))
    return np.hstack([directions, np.sqrt(shares), amounts])


def class_probabilities(
    features: np.ndarray, coef: np.ndarray, intercept: np.ndarray, multilabel: bool
) -> np.ndarray:
    """How probable each class is for rows of `readout_features`: a softmax, or a logistic function of each class."""
    scores = features @ coef + intercept
    return np.asarray(expit(scores) if multilabel else softmax(scores, axis=1))


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
        model = LogisticRegression(C=FREEDOM, max_iter=1000).fit(X, y, sample_weight=w)
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
