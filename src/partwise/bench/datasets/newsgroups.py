"""20 Newsgroups, 18,846 posts × 10,000 words, sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.datasets import fetch_20newsgroups


def load_counts() -> Any:
    """Word counts."""
    return sp.csr_matrix(fetch_20newsgroups().data, dtype=np.float32)


def load_tfidf() -> Any:
    """tf-idf, rows of length one."""
    from sklearn.feature_extraction.text import TfidfTransformer

    return sp.csr_matrix(TfidfTransformer().fit_transform(load_counts()), dtype=np.float32)
