"""Texts and the matrix of their words, there and back.

Rows are documents, columns are words. Texts are a list of strings, a pandas Series, an array of strings, or a
function that returns an iterable of strings at each call: such a stream is read one document at a time, and its
strings are never held together. The counting is scikit-learn's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.domains.letters import Unspaced, composed, without_dots, word_pattern
from partwise.domains.stop_words import as_stop_words
from partwise.domains.text_measures import NEGLIGIBLE
from partwise.io.caller import callers_level

__all__ = ["document_term_matrix", "leading_words", "make_vectorizer"]

#: Words are runs of two or more letters; numbers are no words. As a setting it stands for `letters.word_pattern`,
#: which takes letters with their marks and is the same for ASCII.
WORD = r"(?u)\b[^\W\d_]{2,}\b"

VECTORIZERS = ("tfidf", "count")


def make_vectorizer(
    kind: str = "tfidf",
    *,
    stop_words: Any = "english",
    min_df: float = 2,
    max_df: float = 0.95,
    max_features: int | None = None,
    ngram_range: tuple[int, int] = (1, 1),
    token_pattern: str = WORD,
) -> Any:
    """A vectorizer of scikit-learn from settings.

    Parameters
    ----------
    kind : {"tfidf", "count"}, default="tfidf"
        Counts weighted by rarity, each document of length one; or counts.
    stop_words : str, list of str or None, default="english"
        A language (`partwise.domains.stop_words.LANGUAGES`), or the words themselves.
    min_df : int or float, default=2
        Leave out words that are in fewer documents: a number, or a share below 1.
    max_df : int or float, default=0.95
        Leave out words that are in more documents.
    max_features : int, optional
        Keep the most frequent words, at most so many.
    ngram_range : tuple of two int, default=(1, 1)
        Runs of how many words are counted: (1, 2) has words and pairs.
    token_pattern : str
        Regular expression of a word; by default two or more letters, with the marks of their script.

    Returns
    -------
    TfidfVectorizer or CountVectorizer
        Not fitted.

    Examples
    --------
    >>> from partwise.domains import make_vectorizer
    >>> counts = make_vectorizer("count", min_df=1).fit_transform(["Two cats and 1 dog", "The cats"])
    >>> counts.toarray().tolist()
    [[1], [0]]
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if kind not in VECTORIZERS:
        raise ValueError(
            f"vectorizer must be 'tfidf', 'count' or a text vectorizer of scikit-learn; got {kind!r}."
        )
    cls = TfidfVectorizer if kind == "tfidf" else CountVectorizer
    return cls(
        stop_words=as_stop_words(stop_words),
        min_df=min_df,
        max_df=max_df,
        max_features=max_features,
        ngram_range=tuple(ngram_range),
        token_pattern=word_pattern() if token_pattern == WORD else token_pattern,
    )


def document_term_matrix(
    texts: Any, vectorizer: Any = "tfidf", **settings: Any
) -> tuple[sp.csr_array, np.ndarray]:
    """The matrix of texts, and the words that its columns stand for.

    Parameters
    ----------
    texts : iterable of str or callable
        A list, an array or a Series of strings, or a function that returns an iterable of them at each call.
    vectorizer : {"tfidf", "count"} or vectorizer, default="tfidf"
        A vectorizer of scikit-learn is fitted to the texts.
    **settings : object
        Parameters of `make_vectorizer`, where `vectorizer` is a name.

    Returns
    -------
    X : csr_array of shape (n_documents, n_words)
        How much of each word is in each document.
    words : array of str
        The words, one for each column.

    Examples
    --------
    >>> from partwise.domains import document_term_matrix
    >>> X, words = document_term_matrix(["red green", "green green blue"], "count", min_df=1, max_df=1.0)
    >>> X.toarray().tolist(), words.tolist()
    ([[0, 1, 1], [1, 2, 0]], ['blue', 'green', 'red'])
    """
    made = make_vectorizer(vectorizer, **settings) if isinstance(vectorizer, str) else vectorizer
    X = fit_vectorizer(made, texts)
    return X, np.asarray(made.get_feature_names_out(), dtype=object)


def leading_words(X: Any, words: Any, n: int = 10) -> list[list[tuple[str, float]]]:
    """From rows of a matrix back to words: those of largest weight in each.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_words)
        Documents or topics.
    words : sequence of str
        The words, one for each column.
    n : int, default=10
        Words of each row, at most; never those of weight zero or less, or of at most a millionth of the largest.

    Returns
    -------
    list of lists of (str, float)
        Words with their weights, largest first.

    Examples
    --------
    >>> from partwise.domains import leading_words
    >>> leading_words([[0.0, 2, 3], [1, 0, 0]], ["blue", "green", "red"], 2)
    [[('red', 3.0), ('green', 2.0)], [('blue', 1.0)]]
    """
    rows = sp.csr_array(X)
    if rows.shape[1] != len(words):
        raise ValueError(f"{len(words)} words were given for {rows.shape[1]} columns.")
    found = []
    for begin, end in zip(rows.indptr[:-1], rows.indptr[1:]):
        weights, places = rows.data[begin:end], rows.indices[begin:end]
        order = np.lexsort((places, -weights))[:n]
        least = NEGLIGIBLE * max(weights.max(initial=0), 0)
        found.append([(str(words[places[j]]), float(weights[j])) for j in order if weights[j] > least])
    return found


def fit_vectorizer(
    vectorizer: Any, texts: Any, watch: Callable[[Iterable[str]], Iterable[str]] = iter
) -> sp.csr_array:
    """Fit a vectorizer, and return the matrix of the texts.

    Parameters
    ----------
    vectorizer : estimator
        Of scikit-learn; is fitted.
    texts : iterable of str or callable
        See `document_term_matrix`.
    watch : callable
        Passes documents on, for a progress bar.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Their matrix.
    """
    if not hasattr(vectorizer, "get_feature_names_out") or not hasattr(vectorizer, "fit_transform"):
        raise ValueError(
            f"A {type(vectorizer).__name__} keeps no words, so that topics could not be read; use 'tfidf', 'count' "
            "or another text vectorizer with get_feature_names_out."
        )
    passed = Passed(texts, _lowers(vectorizer))
    try:
        X = vectorizer.fit_transform(watch(passed))
    except ValueError as error:
        raise _explained(error, vectorizer, passed) from error
    # (A vectorizer that was given may know how to cut them.)
    if passed.unspaced and getattr(vectorizer, "token_pattern", None) == word_pattern():
        warnings.warn(Unspaced.ADVICE, stacklevel=callers_level())
    return sp.csr_array(X)


def apply_vectorizer(
    vectorizer: Any, texts: Any, watch: Callable[[Iterable[str]], Iterable[str]] = iter
) -> sp.csr_array:
    """The matrix of texts, with the words that a vectorizer was fitted to.

    Parameters
    ----------
    vectorizer : estimator
        Fitted.
    texts : iterable of str or callable
        See `document_term_matrix`.
    watch : callable
        Passes documents on, for a progress bar.

    Returns
    -------
    csr_array of shape (n_documents, n_words)
        Their matrix.
    """
    passed = Passed(texts, _lowers(vectorizer))
    try:
        X = sp.csr_array(vectorizer.transform(watch(passed)))
    except ValueError as error:
        # A TfidfTransformer refuses a matrix without rows, by its own name.
        if passed.count == 0 and "0 sample" in str(error):
            raise _no_documents() from error
        raise
    if passed.count == 0:
        raise _no_documents()
    return X


class Passed:
    """Documents one after the other, checked to be strings, in composed form (NFC), and counted.

    Those that will be put into small letters (`lowers`) come without the dots that İ would leave behind.
    """

    def __init__(self, texts: Any, lowers: bool) -> None:
        self.texts, self.count = as_texts(texts), 0
        self.form = without_dots if lowers else composed
        self.unspaced, self.lettered, self.written = Unspaced(), False, False

    def __iter__(self) -> Iterator[str]:
        self.count = 0
        for text in self.texts:
            if not isinstance(text, str):
                raise ValueError(
                    f"document {self.count} is {_shown(text)}, not a string. Drop such documents, or put '' there."
                )
            self.count += 1
            self.unspaced.see(text)
            self.written = self.written or not (text == "" or text.isspace())
            self.lettered = self.lettered or any(map(str.isalpha, text))
            yield self.form(text)


def _lowers(vectorizer: Any) -> bool:
    """Whether a vectorizer puts texts into small letters by itself."""
    return bool(getattr(vectorizer, "lowercase", False)) and getattr(vectorizer, "preprocessor", None) is None


def as_texts(texts: Any) -> Iterable[Any]:
    """What documents can be taken from: itself, or what a function returns.

    Parameters
    ----------
    texts : iterable of str or callable
        See `document_term_matrix`.

    Returns
    -------
    iterable
        The documents, not looked at yet.
    """
    found = texts() if callable(texts) and not hasattr(texts, "__iter__") else texts
    if isinstance(found, str | bytes):
        raise ValueError("X is one string; give a list of strings, one for each document.")
    if sp.issparse(found) or getattr(found, "ndim", 1) != 1 or hasattr(found, "columns"):
        raise ValueError(
            f"X is a table of shape {getattr(found, 'shape', '?')}, not documents; give one column of strings. "
            "For a matrix of counts use partwise.NMF."
        )
    if not isinstance(found, Iterable):
        raise ValueError(f"X is {_shown(found)}; give a list of strings, one for each document.")
    return found


def size_of(texts: Any) -> int | None:
    """The number of documents, if it is known before they are read."""
    return len(texts) if hasattr(texts, "__len__") and not callable(texts) else None


def _explained(error: ValueError, vectorizer: Any, passed: Passed) -> ValueError:
    """scikit-learn's refusals as sentences about the documents; other errors as they are."""
    n_documents = passed.count
    advice = f" {Unspaced.ADVICE}" if passed.unspaced else ""
    if n_documents == 0 and "empty vocabulary" in str(error):
        return _no_documents()
    kept = ", ".join(
        f"{name}={getattr(vectorizer, name)!r}" for name in ("min_df", "max_df") if hasattr(vectorizer, name)
    )
    if "no terms remain" in str(error).lower() or "max_df corresponds" in str(error):
        return ValueError(
            f"no words are left of {n_documents} documents: none is in enough of them and not in too many ({kept}). "
            f"Lower min_df to 1, raise max_df to 1.0, or give more documents.{advice}"
        )
    if "empty vocabulary" in str(error).lower() and not passed.written:
        return ValueError(
            f"there are no words in {n_documents} documents: all of them are empty. "
            "Check that the right texts, or the right column, were read."
        )
    if "empty vocabulary" in str(error).lower() and not passed.lettered:
        return ValueError(
            f"there are no words in {n_documents} documents: they hold numbers or signs, but no letters. "
            "Check that the right texts, or the right column, were read."
        )
    if "empty vocabulary" in str(error).lower():
        return ValueError(
            f"there are no words in {n_documents} documents but stop words. "
            "Check that the right texts were read, and the language of the stop words."
        )
    return error


def _no_documents() -> ValueError:
    return ValueError("there are no documents: X is empty.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"a {type(value).__name__}"
