"""Data sets beside those that solvers were tuned on: faces, news, genes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.datasets import fetch_all_aml, fetch_bbc_news, fetch_cbcl, fetch_mnist, fetch_orl


def load_cbcl() -> np.ndarray:
    """CBCL faces, 2,429 × 361."""
    return np.ascontiguousarray(fetch_cbcl(dtype=np.float32).data)


def load_orl_unit() -> np.ndarray:
    """ORL faces as rows, 400 × 10,304, from 0 to 1."""
    return to_unit(fetch_orl(dtype=np.float32).data)


def load_mnist_unit() -> np.ndarray:
    """20,000 digits of MNIST as rows, from 0 to 1."""
    return to_unit(fetch_mnist(dtype=np.float32).data[:20_000])


def load_cbcl_unit() -> np.ndarray:
    """CBCL faces, from 0 to 1."""
    return to_unit(fetch_cbcl(dtype=np.float32).data)


def to_unit(X: np.ndarray) -> np.ndarray:
    """Grey values divided by the largest."""
    return np.ascontiguousarray(X / X.max(), dtype=np.float32)


def load_genes() -> np.ndarray:
    """Leukaemia samples, 38 × 5,000 genes."""
    return np.ascontiguousarray(fetch_all_aml().data, dtype=np.float32)


def load_bbc() -> Any:
    """BBC news, 2,225 × 2,949 word counts."""
    return sp.csr_matrix(fetch_bbc_news().data, dtype=np.float32)


def load_bbc_tfidf() -> Any:
    """The same, weighted by tf-idf."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_matrix(TfidfTransformer().fit_transform(load_bbc()), dtype=np.float32)
