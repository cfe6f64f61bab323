"""Seed words: named topics that are guided by some of their words, by where they start and by a penalty."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.core import Problem
from partwise.domains.letters import composed, without_dots
from partwise.io.caller import callers_level
from partwise.models.convention import conventional
from partwise.models.inputs import Given
from partwise.priors import Direction, SumPrior


@dataclass(frozen=True)
class Seeds:
    """The named topics: which words (columns) each has."""

    names: tuple[str, ...] = ()
    columns: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    def directions(self, n_words: int) -> np.ndarray:
        """One column for each named topic: 1 for its seed words, 0 for others."""
        found = np.zeros((n_words, len(self)))
        for topic, columns in enumerate(self.columns):
            found[columns, topic] = 1.0
        return found


def checked_seed_words(seed_words: Any, n_components: Any) -> dict[str, list[str]]:
    """Seed words as a dict of lists; raise ValueError with what is wrong."""
    if seed_words is None:
        return {}
    if not isinstance(seed_words, Mapping) or not all(isinstance(name, str) and name for name in seed_words):
        raise ValueError(
            f"seed_words must be a dict from names of topics to lists of words; got {seed_words!r}."
        )
    found = {}
    for name, words in seed_words.items():
        listed = [words] if isinstance(words, str) else list(words)
        if not listed or not all(isinstance(word, str) for word in listed):
            raise ValueError(f"seed_words[{name!r}] must be a list of words; got {words!r}.")
        found[name] = [composed(word) for word in listed]
    if isinstance(n_components, int) and len(found) > n_components:
        raise ValueError(
            f"seed_words names {len(found)} topics, more than n_components={n_components}; raise it."
        )
    return found


def find_seeds(seed_words: dict[str, list[str]], vectorizer: Any, words: np.ndarray) -> Seeds:
    """The columns of seed words.

    Words are looked up as they are written, else as the vectorizer would write them (in small letters). Those that
    are not in the vocabulary are named in a warning; a topic of which none is there is an error.
    """
    if not seed_words:
        return Seeds()
    place = {str(word): column for column, word in enumerate(words)}
    prepare = vectorizer.build_preprocessor() if hasattr(vectorizer, "build_preprocessor") else str.lower
    columns, lacking = [], []
    for name, listed in seed_words.items():
        hits = [place.get(word, place.get(without_dots(prepare(word)))) for word in listed]
        lost = [word for word, hit in zip(listed, hits) if hit is None]
        if len(lost) == len(listed):
            raise ValueError(
                f"None of the seed words of the topic {name!r} ({', '.join(listed)}) is a word of the vocabulary. "
                "Give words as they stand in the texts; min_df, max_df, max_features and stop words leave words out."
            )
        lacking += lost
        columns.append(np.unique([hit for hit in hits if hit is not None]))
    if lacking:
        warnings.warn(
            f"Seed words that are not in the vocabulary, and so guide nothing: {', '.join(lacking)}.",
            stacklevel=callers_level(),
        )
    return Seeds(tuple(seed_words), tuple(columns))


def seeded_start(
    counts: sp.csr_array, seeds: Seeds, free_start: Callable[[sp.csr_array], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ with the named topics first, and the free ones after them.

    A named topic starts at the documents with its seed words, by how much of them they have, and the words of these.
    The free ones start from what the named ones leave over: from all of the data, one of them would begin at the
    subject of a named topic, and two other subjects might have to share the next.

    Parameters
    ----------
    counts : sparse array of shape (n_documents, n_words)
        The documents.
    seeds : Seeds
        The named topics.
    free_start : callable
        From documents to W and Hᵀ of the free topics.

    Returns
    -------
    tuple of two arrays
        W and Hᵀ.
    """
    W0 = np.asarray(counts @ seeds.directions(counts.shape[1]), dtype=counts.dtype)
    Ht0 = np.asarray(counts.T @ W0) / (W0.astype(float) ** 2).sum(axis=0)
    W, Ht = free_start(left_over(counts, W0, Ht0))
    return np.hstack([W0.astype(W.dtype), W]), np.hstack([Ht0.astype(Ht.dtype), Ht])


def left_over(counts: sp.csr_array, W: np.ndarray, Ht: np.ndarray) -> sp.csr_array:
    """What W H leaves of the data, nowhere below zero; the data where it leaves nothing."""
    rest = counts.tocoo()
    left = rest.data.astype(float)
    for w, h in zip(W.T, Ht.T):
        left -= w[rest.row].astype(float) * h[rest.col]
    left = np.where(left > 1e-9 * rest.data, left, 0.0).astype(counts.dtype)
    found = sp.csr_array((left, (rest.row, rest.col)), shape=counts.shape)
    found.eliminate_zeros()
    return found if found.nnz else counts


def guided(problem: Problem, data: Given, seeds: Seeds, weight: float, n_components: int) -> Problem:
    """The problem with the penalty that keeps named topics at their words.

    Its unit is a topic's share of what there is to explain: the loss of a guess that knows no topics, words and
    lengths of documents being independent, divided by the number of topics. So `weight` means the same for every
    loss, and for few and many documents.
    """
    if not len(seeds) or not weight:
        return problem
    counts = data.array
    lengths = np.asarray(counts.sum(axis=1), counts.dtype).reshape(-1, 1)
    by_word = np.asarray(counts.sum(axis=0), counts.dtype).reshape(-1, 1)
    unexplained = problem.data_loss(lengths, by_word / by_word.sum())
    strength = weight * unexplained / n_components
    pull = Direction(seeds.directions(counts.shape[1]), strength)
    return replace(problem, prior_H=SumPrior((problem.prior_H, pull)))


def named_first(
    W: np.ndarray, Ht: np.ndarray, n_named: int, row_weight: np.ndarray | None, scale: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """W and Hᵀ by the convention of scale and order, the named topics left in their places."""
    groups = [slice(t, t + 1) for t in range(n_named)] + [slice(n_named, None)]
    pairs = [conventional(W[:, g], Ht[:, g], row_weight, scale) for g in groups if W[:, g].shape[1]]
    return tuple(np.ascontiguousarray(np.hstack(side)) for side in zip(*pairs))  # type: ignore[return-value]
