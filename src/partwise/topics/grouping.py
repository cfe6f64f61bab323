"""How topics are grouped: by the components of thresholded similarities, or by average linkage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from partwise.topics.nodes import Group

#: Thresholds at first, and labels that may change between two of them (Epstein 2017, appendix).
QUANTILES, MOST_CHANGED = 100, 8


def cosines(profiles: np.ndarray) -> np.ndarray:
    """Cosine similarities between rows; a row of zeros is like no other.

    Parameters
    ----------
    profiles : array of shape (n_topics, n)
        What each topic is compared by.

    Returns
    -------
    array of shape (n_topics, n_topics)
        Symmetric, ones on the diagonal.
    """
    A = np.asarray(profiles, dtype=float)
    largest = np.abs(A).max(axis=1, keepdims=True)
    A = A / np.where(largest > 0, largest, 1.0)
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    A = A / np.where(norms > 0, norms, 1.0)
    S = np.clip(A @ A.T, -1.0, 1.0)
    np.fill_diagonal(S, 1.0)
    return np.asarray((S + S.T) / 2)


def centred_roots(profiles: np.ndarray, of_documents: bool) -> np.ndarray:
    """Square roots of shares, less their mean, so that cosines become correlations.

    Square roots make common and rare use comparable (Hellinger's distance is the Euclidean one of such roots), and
    what is left after the mean is taken off is how much more than usual.

    Parameters
    ----------
    profiles : array of shape (n_topics, n)
        Weights of each topic, in documents or of words; what is below zero counts as zero.
    of_documents : bool
        True: shares of the topics in each document, less each topic's mean. False: shares of words in each topic,
        less each word's mean.

    Returns
    -------
    array of shape (n_topics, n)
        Zero where there is nothing to compare.
    """
    A = np.maximum(np.asarray(profiles, dtype=float), 0.0)
    largest = A.max(initial=0.0)
    A = A / (largest if largest > 0 else 1.0)
    total = A.sum(axis=0 if of_documents else 1, keepdims=True)
    roots = np.sqrt(A / np.where(total > 0, total, 1.0))
    centred = roots - roots.mean(axis=1 if of_documents else 0, keepdims=True)
    # What is the same everywhere differs from its mean by rounding only.
    return np.asarray(np.where(np.abs(centred) > 1e-12, centred, 0.0))


def partition(S: np.ndarray, threshold: float) -> np.ndarray:
    """Connected components of the topics that are more alike than a threshold.

    Parameters
    ----------
    S : array of shape (n_topics, n_topics)
        Similarities.
    threshold : float
        Edges join topics with a larger similarity.

    Returns
    -------
    array of int
        The component of each topic.
    """
    return np.asarray(connected_components(threshold < S, directed=False)[1])


def n_changed(coarse: np.ndarray, fine: np.ndarray) -> int:
    """How many topics are in another group under the finer of two nested partitions.

    Groups are compared as sets: labels say nothing, since they are numbered anew at every threshold.

    Parameters
    ----------
    coarse, fine : array of int
        The group of each topic; every group of `fine` lies in one of `coarse`.

    Returns
    -------
    int
        Topics whose group has lost members.
    """
    sizes = np.bincount(coarse)[coarse], np.bincount(fine)[fine]
    return int((sizes[0] != sizes[1]).sum())


def thresholds(S: np.ndarray) -> np.ndarray:
    """Thresholds from the lowest, which joins all topics, to the highest, which parts them all.

    100 quantiles of the similarities; an interval in which more than 8 topics change their group is halved, as long
    as there are different similarities inside it.

    Parameters
    ----------
    S : array of shape (n_topics, n_topics)
        Similarities.

    Returns
    -------
    array
        Rising.
    """
    values = np.unique(S[np.triu_indices(len(S), 1)])
    below = np.nextafter(values[0], -np.inf)
    chosen = [below, *np.unique(np.quantile(values, np.linspace(0, 1, QUANTILES)))]
    out = [chosen[0]]
    parts = {below: partition(S, below)}

    def refine(low: float, high: float) -> None:
        for one in (low, high):
            if one not in parts:
                parts[one] = partition(S, one)
        middle = (low + high) / 2
        # The similarities that make the difference are those above `low`, up to `high`.
        inside = values[(values > low) & (values <= high)]
        if n_changed(parts[low], parts[high]) > MOST_CHANGED and len(inside) > 1 and low < middle < high:
            refine(low, middle)
            refine(middle, high)
        else:
            out.append(high)

    for low, high in pairwise(chosen):
        refine(float(low), float(high))
    return np.array(out)


def by_thresholds(S: np.ndarray) -> Group:
    """Groups that are connected components at rising thresholds (Epstein 2017, section 7.1).

    Parameters
    ----------
    S : array of shape (n_topics, n_topics)
        Similarities.

    Returns
    -------
    Group
        All topics. Each group's similarity is the highest threshold under which it holds together.
    """
    levels = [(float(one), partition(S, one)) for one in thresholds(S)] if len(S) > 1 else []

    def grouped(topics: tuple[int, ...], level: int) -> Group:
        if len(topics) == 1:
            return Group(topics)
        # Levels that leave the group whole say only how long it holds together.
        similarity = None
        while level < len(levels):
            threshold, labels = levels[level]
            found: dict[int, list[int]] = {}
            for one in topics:
                found.setdefault(int(labels[one]), []).append(one)
            level += 1
            if len(found) > 1:
                inside = [grouped(tuple(members), level) for members in found.values()]
                return Group(topics, inside, similarity)
            similarity = threshold
        # As alike as any two can be: identical topics.
        return Group(topics, [Group((one,)) for one in topics], 1.0)

    return grouped(tuple(range(len(S))), 0)


def by_linkage(S: np.ndarray) -> Group:
    """A binary tree that joins the two most similar groups again and again, by average linkage.

    Parameters
    ----------
    S : array of shape (n_topics, n_topics)
        Similarities.

    Returns
    -------
    Group
        All topics. Each group's similarity is the mean over pairs between its two halves.
    """
    n = len(S)
    groups = [Group((i,)) for i in range(n)]
    if n > 1:
        distances = squareform(np.maximum(1.0 - S, 0.0) * (1.0 - np.eye(n)), checks=False)
        for a, b, height, _ in linkage(distances, "average"):
            inside = [groups[int(a)], groups[int(b)]]
            topics = tuple(sorted(inside[0].topics + inside[1].topics))
            groups.append(Group(topics, inside, 1.0 - float(height)))
    return groups[-1]


def with_top_level(group: Group, belongs: Callable[[Group], bool]) -> Group:
    """The same tree, where the largest groups that belong together stand directly below the root.

    The joins of groups that have nothing in common are an accident of the order in which they come, and their nodes
    would say nothing. Where no two topics belong together, all of them stand below the root.

    Parameters
    ----------
    group : Group
        All topics.
    belongs : callable
        Whether a group stays whole.

    Returns
    -------
    Group
        All topics.
    """

    def tops(one: Group) -> list[Group]:
        if not one.inside or belongs(one):
            return [one]
        return [top for inner in one.inside for top in tops(inner)]

    found = tops(group)
    return group if len(found) < 2 else Group(group.topics, found, group.similarity)


def mean_above(level: float) -> Callable[[Group], bool]:
    """Whether the halves of a group are more alike than a level, for trees of average linkage.

    Parameters
    ----------
    level : float
        A similarity.

    Returns
    -------
    callable
        For `with_top_level`.
    """
    return lambda group: group.similarity is not None and group.similarity > level


def connected_above(S: np.ndarray, level: float) -> Callable[[Group], bool]:
    """Whether the topics of a group hang together by pairs more alike than a level, for trees of thresholds.

    Parameters
    ----------
    S : array of shape (n_topics, n_topics)
        Similarities.
    level : float
        A similarity.

    Returns
    -------
    callable
        For `with_top_level`.
    """
    labels = partition(S, level)
    return lambda group: len(set(labels[list(group.topics)])) == 1
