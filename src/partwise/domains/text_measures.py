"""How good topics are, by numbers: coherence of their words in a corpus, diversity, near-duplicates.

Topics are the rows of a matrix over the words, from any method: NMF, SVD, LDA, k-means. The top words of a topic are
those of largest weight; a word whose weight is negligible (at most a millionth of the largest), zero or less is never
one of them, so a topic may have fewer than asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["near_duplicates", "npmi_coherence", "topic_diversity", "umass_coherence"]

#: Weights of at most this share of the largest lead nothing: multiplicative updates leave 1e-34 where zero is meant.
NEGLIGIBLE = 1e-6


def npmi_coherence(components: Any, counts: Any, n_words: int = 10) -> np.ndarray:
    r"""Coherence of each topic: mean normalised pointwise mutual information of its top words (Bouma 2009).

    For every pair of top words, with p the share of documents in which words occur,

    .. math::

        \mathrm{NPMI}(i, j) = \frac{\log p_{ij} - \log p_i - \log p_j}{-\log p_{ij}} \in [-1, 1].

    A pair that never occurs together has −1, and so has every pair with a word that occurs in no document: a model is
    not rewarded for words that the corpus lacks. Two words that are in every document have 1, the limit for words
    that only occur together. Lau, Newman & Baldwin (2014) compare it to human judgement.

    Parameters
    ----------
    components : array or sparse matrix of shape (n_topics, n_features)
        Weights of words; they may be signed.
    counts : array or sparse matrix of shape (n_documents, n_features)
        A word occurs in a document where the entry is not zero: counts or tf-idf alike.
    n_words : int, default=10
        Top words of each topic, at most.

    Returns
    -------
    array of shape (n_topics,)
        Higher is better. NaN for a topic with fewer than two top words.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.domains.text_measures import npmi_coherence
    >>> counts = np.array([[1, 2, 0, 0], [3, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 4]])
    >>> npmi_coherence([[1.0, 1, 0, 0], [0, 0, 1, 1]], counts, n_words=2).tolist()
    [1.0, -1.0]
    """
    return _mean_over_pairs(components, counts, n_words, _npmi)


def umass_coherence(components: Any, counts: Any, n_words: int = 10) -> np.ndarray:
    r"""Coherence of each topic as Mimno, Wallach, Talley, Leenders & McCallum (2011) measure it.

    With D the number of documents in which words occur, the mean over pairs of top words, l ranked above m, of

    .. math::

        \log \frac{D(m, l) + 1}{D(l)}.

    (They take the sum, which is the same but for topics with fewer words.) A word l that occurs in no document has
    the least value there is, log(1 / n_documents).

    Parameters
    ----------
    components : array or sparse matrix of shape (n_topics, n_features)
        Weights of words; they may be signed.
    counts : array or sparse matrix of shape (n_documents, n_features)
        A word occurs in a document where the entry is not zero.
    n_words : int, default=10
        Top words of each topic, at most.

    Returns
    -------
    array of shape (n_topics,)
        Higher (nearer to zero) is better. NaN for a topic with fewer than two top words.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.domains.text_measures import umass_coherence
    >>> counts = np.array([[1, 2, 0, 0], [3, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 4]])
    >>> umass_coherence([[2.0, 1, 0, 0], [0, 0, 2, 1]], counts, n_words=2).round(3).tolist()
    [0.405, 0.0]
    """
    return _mean_over_pairs(components, counts, n_words, _umass)


def topic_diversity(components: Any, n_words: int = 25) -> float:
    """Share of different words among the top words of all topics (Dieng, Ruiz & Blei 2020).

    Parameters
    ----------
    components : array or sparse matrix of shape (n_topics, n_features)
        Weights of words; they may be signed.
    n_words : int, default=25
        Top words of each topic, at most.

    Returns
    -------
    float
        1 where no two topics share a top word; near 1 / n_topics where all are the same. NaN where there are no top
        words.

    Examples
    --------
    >>> from partwise.domains.text_measures import topic_diversity
    >>> topic_diversity([[3.0, 2, 1, 0], [0, 0, 1, 2]], n_words=2)
    1.0
    >>> topic_diversity([[3.0, 2, 1, 0], [3, 1, 0, 0]], n_words=2)
    0.5
    """
    words = np.concatenate([np.empty(0, np.intp), *top_words(components, n_words)])
    return len(np.unique(words)) / len(words) if len(words) else float("nan")


def near_duplicates(components: Any, threshold: float = 0.9) -> int:
    """Number of pairs of topics that are nearly the same.

    Parameters
    ----------
    components : array or sparse matrix of shape (n_topics, n_features)
        Weights of words; they may be signed.
    threshold : float, default=0.9
        Two topics are near-duplicates where their cosine is above it. A topic without words is like no other.

    Returns
    -------
    int
        Pairs of topics.

    Examples
    --------
    >>> from partwise.domains.text_measures import near_duplicates
    >>> near_duplicates([[1.0, 1, 0], [2, 2.1, 0], [0, 0, 1]])
    1
    """
    H = _topics(components)
    size = np.linalg.norm(H, axis=1, keepdims=True)
    unit = np.divide(H, size, out=np.zeros_like(H), where=size > 0)
    return int((np.triu(unit @ unit.T, 1) > threshold).sum())


def top_words(components: Any, n_words: int) -> list[np.ndarray]:
    """Columns of the words of largest weight of each topic, largest first; among equals the first.

    Parameters
    ----------
    components : array or sparse matrix of shape (n_topics, n_features)
        Weights of words.
    n_words : int
        Words of each topic, at most; never those of negligible weight, zero or less.

    Returns
    -------
    list of int arrays
        One for each topic.
    """
    H = _topics(components)
    if n_words < 1:
        raise ValueError(f"n_words must be at least 1; got {n_words}.")
    order = np.argsort(-H, axis=1, kind="stable")[:, :n_words]
    least = NEGLIGIBLE * np.maximum(H.max(axis=1, initial=0.0), 0.0)
    return [found[row[found] > low] for row, found, low in zip(H, order, least)]


def _mean_over_pairs(
    components: Any, counts: Any, n_words: int, measure: Callable[[np.ndarray, int], np.ndarray]
) -> np.ndarray:
    """The mean of a measure over the pairs of top words of each topic.

    `measure` is called with the numbers of documents in which pairs of words occur, ordered by rank (on the diagonal
    each word by itself), and the number of documents. Only the columns of top words are ever looked at.
    """
    if n_words < 2:
        raise ValueError(
            f"Coherence is measured on pairs of words, so n_words must be at least 2; got {n_words}."
        )
    words = top_words(components, n_words)
    held = counts if sp.issparse(counts) else sp.csr_array(np.atleast_2d(np.asarray(counts)))
    n_features = _topics(components).shape[1]
    if held.shape[1] != n_features:
        raise ValueError(f"counts has {held.shape[1]} columns, and the topics are over {n_features} words.")
    if held.shape[0] == 0:
        raise ValueError("counts has no documents, so words cannot occur together.")
    used, places = np.unique(np.concatenate([np.empty(0, np.intp), *words]), return_inverse=True)
    occurs = sp.csc_array(held[:, used] != 0).astype(np.int64)
    ends = np.cumsum([0, *map(len, words)])
    found = np.full(len(words), np.nan)
    for topic, (begin, end) in enumerate(pairwise(ends)):
        if end - begin >= 2:
            mine = occurs[:, places[begin:end]]
            together = (mine.T @ mine).toarray()
            found[topic] = measure(together, held.shape[0])[np.tril_indices(end - begin, -1)].mean()
    return found


def _npmi(together: np.ndarray, n_documents: int) -> np.ndarray:
    alone = np.diag(together)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_pair = np.log(together / n_documents)
        log_single = np.log(alone / n_documents)
        value = (log_pair - log_single[:, None] - log_single) / -log_pair
    value[together == 0] = -1.0
    value[together == n_documents] = 1.0
    return value


def _umass(together: np.ndarray, n_documents: int) -> np.ndarray:
    """Rows are the lower ranked words m, columns the higher ranked l."""
    alone = np.diag(together)
    return np.where(alone == 0, -np.log(n_documents), np.log(together + 1.0) - np.log(np.maximum(alone, 1)))


def _topics(components: Any) -> np.ndarray:
    """The topics as an array of floats, one in each row."""
    H = np.asarray(components.toarray() if sp.issparse(components) else components, dtype=float)
    if H.ndim != 2:
        raise ValueError(
            f"components must have a row for each topic and a column for each word; got shape {H.shape}."
        )
    if not np.isfinite(H).all():
        raise ValueError("components holds NaN or infinity.")
    return H
