"""The data sets of `reproduce structured`: a matrix, classes, and a graph where the data come with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from partwise import datasets


class Samples(NamedTuple):
    """Data, classes, a graph if the data come with one, and which samples are for training where that is given."""

    name: str
    X: Any
    y: np.ndarray
    graph: Any = None
    training: np.ndarray | None = None


def all_samples(only: str, lines: list[str]) -> Iterator[Samples]:
    """The data sets that are to be had; the others are named in a line."""
    wanted = [name.strip().lower() for name in only.split(",") if name.strip()]
    for name, load in LOADERS.items():
        if wanted and name.lower() not in wanted:
            continue
        try:
            yield load(name)
        except OSError as error:
            lines.append(f"{name} left out. {error}")


def _pie(name: str) -> Samples:
    data = datasets.fetch_pie()
    return Samples(name, normalize(data.data), data.target)


def _orl(name: str) -> Samples:
    data = datasets.fetch_orl()
    return Samples(name, data.data / data.data.max(), data.target)


def _text(name: str) -> Samples:
    if name == "20 Newsgroups":
        data = datasets.fetch_20newsgroups()
        X, y = sp.csr_matrix(data.data), data.target
        training = np.asarray(data.is_train, dtype=bool)
    else:
        data = datasets.fetch_reuters()
        X, y = sp.csr_matrix(data.data), data.target
        largest = np.argsort(-np.bincount(y), kind="stable")[:30]
        kept = np.isin(y, largest)
        X, y, training = X[kept], y[kept], None
    X = X[:, np.asarray(X.sum(axis=0)).ravel() > 0]
    return Samples(name, sp.csr_matrix(TfidfTransformer().fit_transform(X)), y, None, training)


def _cora(name: str) -> Samples:
    data = datasets.fetch_cora()
    return Samples(name, sp.csr_matrix(data.data), data.target, sp.csr_matrix(data.adjacency))


def _football(name: str) -> Samples:
    data = datasets.fetch_football()
    A = sp.csr_matrix(data.adjacency)
    return Samples(name, A, data.target, A)


def _genes(name: str) -> Samples:
    data = datasets.fetch_all_aml()
    return Samples(name, data.data, data.target)


LOADERS: dict[str, Callable[[str], Samples]] = {
    "Cora": _cora,
    "Reuters": _text,
    "20 Newsgroups": _text,
    "PIE pose 27": _pie,
    "ORL": _orl,
    "ALL/AML": _genes,
    "football": _football,
}
