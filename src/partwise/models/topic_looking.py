"""Looking at topics: their words, their documents, the documents as mixtures, how coherent they are."""

from __future__ import annotations

from itertools import count, islice
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.domains.text import apply_vectorizer, leading_words
from partwise.domains.text_measures import npmi_coherence, umass_coherence
from partwise.models.parameters import choice, whole

#: Leading documents of each topic that a model keeps.
KEPT_DOCUMENTS = 100


class TopicsMixin:
    """What a topic model offers for looking at what it found."""

    components_: np.ndarray
    documents_: dict[str, np.ndarray]
    vectorizer_: Any

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The words, one for each column of `components_`."""
        return np.asarray(self.vectorizer_.get_feature_names_out(), dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each word."""
        return {str(word): column for column, word in enumerate(self.feature_names_in_)}

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the topics: those that seed words name, then topic0, topic1, … by their place.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        array of str
            One name for each column of `transform`.
        """
        check_is_fitted(self)
        named = list(self.seed_words or {})  # type: ignore[attr-defined]
        # (Somebody may have named a topic by seed words as another would be numbered.)
        free = (name for t in count(len(named)) if (name := f"topic{t}") not in named)
        return np.array([*named, *islice(free, len(self.components_) - len(named))], dtype=object)

    def topics(self, n: int = 10) -> dict[str, list[tuple[str, float]]]:
        """The leading words of each topic.

        Parameters
        ----------
        n : int, default=10
            Words of each topic, at most; never those of no weight, or of at most a millionth of the largest.

        Returns
        -------
        dict of lists of (str, float)
            By the name of the topic: words and weights, largest first.
        """
        names = self.get_feature_names_out()
        return dict(zip(names, leading_words(self.components_, self.feature_names_in_, whole("n", n))))

    def topic_frame(self, n: int = 10) -> Any:
        """The leading words of each topic as a table.

        Parameters
        ----------
        n : int, default=10
            Words of each topic, at most.

        Returns
        -------
        pandas.DataFrame
            "topic", "rank" (from 1), "word" and "weight". Without pandas, a list of dicts with these entries.
        """
        rows = [
            {"topic": name, "rank": rank, "word": word, "weight": weight}
            for name, words in self.topics(n).items()
            for rank, (word, weight) in enumerate(words, 1)
        ]
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows, columns=["topic", "rank", "word", "weight"])

    def documents(self, topic: int | str, n: int = 10, texts: Any = None) -> list[dict[str, Any]]:
        """The documents of the fit that are most about a topic.

        Parameters
        ----------
        topic : int or str
            Its place or its name.
        n : int, default=10
            Documents, at most; the model keeps 100 for each topic.
        texts : sequence of str, optional
            The documents of the fit, to quote from.

        Returns
        -------
        list of dict
            "document" (its place among those of the fit), "weight" (the length of the topic's part of the document,
            as a vector, against that of the document itself), and "text" if `texts` are given. Largest weight first.
        """
        place = self._place_of(topic)
        # (A Series would look places up in its index.)
        quoted = None if texts is None else list(texts)
        if quoted is not None and len(quoted) != self.n_samples_fit_:  # type: ignore[attr-defined]
            raise ValueError(
                f"texts has {len(quoted)} documents, and the fit had {self.n_samples_fit_}."  # type: ignore[attr-defined]
            )
        index, weight = self.documents_["index"][place], self.documents_["weight"][place]
        return [
            {"document": int(i), "weight": float(w), **({} if quoted is None else {"text": quoted[i]})}
            for i, w in zip(index[: whole("n", n)], weight)
            if w > 0
        ]

    def mixtures(self, W: Any) -> np.ndarray:
        """Documents as mixtures of topics: the share of each topic in what the model sees in a document.

        Parameters
        ----------
        W : array of shape (n_documents, n_components)
            What `transform` or `fit_transform` returned.

        Returns
        -------
        array of shape (n_documents, n_components)
            Each row sums to one; a document without words of the vocabulary has zeros.
        """
        check_is_fitted(self)
        # In units of words: with a penalty, topics need not be at one scale.
        weights = np.asarray(W, dtype=float) * self.components_.sum(axis=1, dtype=float)
        total = weights.sum(axis=1, keepdims=True)
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)

    def coherence(self, X: Any, measure: str = "npmi", n_words: int = 10) -> np.ndarray:
        """How coherent topics are in a corpus: whether their leading words occur together.

        Parameters
        ----------
        X : list of str, Series, array of str or callable
            Documents, those of the fit or others.
        measure : {"npmi", "umass"}, default="npmi"
            See `partwise.domains.npmi_coherence` and `partwise.domains.umass_coherence`.
        n_words : int, default=10
            Leading words of each topic.

        Returns
        -------
        array of shape (n_components,)
            Higher is better.
        """
        check_is_fitted(self)
        choice("measure", measure, ("npmi", "umass"))
        count = npmi_coherence if measure == "npmi" else umass_coherence
        return count(self.components_, apply_vectorizer(self.vectorizer_, X), n_words)

    def _place_of(self, topic: int | str) -> int:
        names = [str(name) for name in self.get_feature_names_out()]
        if isinstance(topic, str):
            if topic not in names:
                raise ValueError(f"there is no topic {topic!r}; there are {', '.join(names)}.")
            return names.index(topic)
        place = whole("topic", topic, 0)
        if place >= len(names):
            raise ValueError(f"there is no topic {place}; the last is {len(names) - 1}.")
        return place


def leading_documents(W: np.ndarray, H: np.ndarray, counts: Any) -> dict[str, np.ndarray]:
    """For each topic the documents that are most about it: W_it ‖h_t‖ / ‖x_i‖, largest first.

    Not by W alone, which for counts would be a list of the longest documents; nor by the topic's share of a document,
    which would be one of the shortest.
    """
    squared = np.asarray(counts.multiply(counts).sum(axis=1), dtype=float).ravel()
    length = np.sqrt(squared)
    weight = W * np.linalg.norm(H.astype(float), axis=1) / np.where(length > 0, length, 1.0)[:, None]
    count = min(KEPT_DOCUMENTS, len(W))
    index = np.argsort(-weight, axis=0, kind="stable")[:count].T
    return {"index": np.ascontiguousarray(index), "weight": np.take_along_axis(weight.T, index, axis=1)}
