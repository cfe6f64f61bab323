"""Topics split further: the documents that a topic leads in are factored again, if that says more than the topic."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partwise.core import Problem
from partwise.domains.text_measures import npmi_coherence
from partwise.losses import Loss, as_loss
from partwise.matrix import Dense, Sparse
from partwise.models.function import non_negative_factorization
from partwise.topics.nodes import Group

#: Parts that a topic may be split into.
SIZES = (2, 3)
#: Share of a topic's documents, and of the words, that a split is tested on.
HELD_OUT = 0.5
#: What is added to predictions where the loss has a pole at zero, in means of the data.
SMOOTHING = 0.01


def split_topics(
    X: Any,
    W: np.ndarray,
    H: np.ndarray,
    loss: Loss | str | float,
    *,
    max_depth: int,
    min_documents: int,
    seed: int,
) -> Group:
    """Each topic with the parts that it was split into.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_documents, n_words)
        The data.
    W : array of shape (n_documents, n_topics)
        How much of each topic is in each document, in units in which topics can be compared.
    H : array of shape (n_topics, n_words)
        The topics.
    loss : Loss, str or float
        That of the model.
    max_depth, min_documents : int
        Levels below each topic, and documents that what is split must lead in.
    seed : int
        Of the splits.

    Returns
    -------
    Group
        All topics; the topics are the groups inside it, in their order.
    """
    X = X.tocsr() if sp.issparse(X) else np.asarray(X)
    loss = as_loss(loss)
    leader = W.argmax(axis=1)
    used = W.sum(axis=1) > 0
    groups = []
    for k, row in enumerate(H):
        documents = X[np.flatnonzero(used & (leader == k))]
        rng = np.random.default_rng([seed, k])
        inside = _parts(documents, row, (k,), loss, max_depth, min_documents, rng)
        groups.append(Group((k,), inside))
    return Group(tuple(range(len(H))), groups)


def _parts(
    X: Any, parent: np.ndarray, topics: tuple[int, ...], loss: Loss, depth: int, least: int, rng: Any
) -> list[Group]:
    """What the documents of a topic, or of a part of one, are split into: nothing, or two or three parts."""
    if depth == 0 or X.shape[0] < least:
        return []
    # Words that these documents lack would only be carried along.
    words = np.flatnonzero(np.asarray((X != 0).sum(axis=0)).ravel())
    found = best_split(X[:, words], parent[words], loss, rng) if len(words) > 1 else None
    if found is None:
        return []
    W, H = found[0], np.zeros((len(found[1]), X.shape[1]))
    H[:, words] = found[1]
    mass = W.sum(axis=0) * H.sum(axis=1)
    leader = (W * H.sum(axis=1)).argmax(axis=1)
    return [
        Group(
            topics,
            _parts(X[np.flatnonzero(leader == j)], H[j], topics, loss, depth - 1, least, rng),
            profile=H[j],
            share=float(mass[j] / mass.sum()),
        )
        for j in range(len(H))
    ]


def best_split(
    X: Any, parent: np.ndarray, loss: Loss, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """The split of some documents that predicts unseen words best, if it is better than no split.

    Half of the documents are factored into two and into three parts. In the others, the parts are fitted to half of
    the words and must predict the other half better than one part does (that of these documents, found in the same
    way, and the topic itself). For sparse data the mean coherence of the parts must not be below the topic's.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_documents, n_words)
        The documents.
    parent : array of shape (n_words,)
        The topic.
    loss : Loss
        What predictions are measured by.
    rng : Generator
        Divides documents and words.

    Returns
    -------
    tuple of arrays or None
        W and H of all of these documents.
    """
    order = rng.permutation(X.shape[0])
    cut = max(1, int(len(order) * HELD_OUT))
    train, test = X[order[cut:]], X[order[:cut]]
    seen = rng.random(X.shape[1]) < HELD_OUT
    if train.shape[0] < 4 or not seen.any() or seen.all():
        return None
    one = min(
        held_out_loss(test, H, seen, loss) for H in (parent[None, :], _factors(train, 1, loss)[1]) if H.any()
    )
    best, size = one, 0
    for k in SIZES:
        if k < min(train.shape):
            value = held_out_loss(test, _factors(train, k, loss)[1], seen, loss)
            if value < best:
                best, size = value, k
    if not size:
        return None
    W, H = _factors(X, size, loss)
    if sp.issparse(X):
        before, after = npmi_coherence(parent[None, :], X)[0], np.nanmean(npmi_coherence(H, X))
        if not after >= before:
            return None
    return (W, H) if (W.sum(axis=0) * H.sum(axis=1) > 0).all() else None


def held_out_loss(X: Any, H: np.ndarray, seen: np.ndarray, loss: Loss) -> float:
    """The loss of words that documents are predicted to have from the words that were seen.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_documents, n_words)
        Documents that had no part in finding H.
    H : array of shape (n_components, n_words)
        Components.
    seen : array of bool
        The words that W is fitted to.
    loss : Loss
        How predictions are measured.

    Returns
    -------
    float
        The sum over documents and unseen words.
    """
    known, unknown = np.flatnonzero(seen), np.flatnonzero(~seen)
    W, _, _ = _quietly(X[:, known], H=H[:, known], n_components=len(H), update_H=False, beta_loss=loss)
    rest = X[:, unknown]
    data = Sparse.of(rest) if sp.issparse(rest) else Dense.of(np.ascontiguousarray(rest))
    # A word that the components lack is improbable, not impossible.
    shift = SMOOTHING * float(X.mean()) if loss.pole else 0.0
    factors = (np.ascontiguousarray(A, data.dtype) for A in (W, H[:, unknown].T))
    return Problem(data, loss, shift=shift).data_loss(*factors)


def _factors(X: Any, k: int, loss: Loss) -> tuple[np.ndarray, np.ndarray]:
    W, H, _ = _quietly(X, n_components=k, beta_loss=loss, scale="components", random_state=0)
    return W, H


def _quietly(X: Any, **parameters: Any) -> Any:
    """The factorization without a warning about its iterations, of which a split needs few."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return non_negative_factorization(X, max_iter=60, **parameters)
