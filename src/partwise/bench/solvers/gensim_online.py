"""gensim's online NMF of documents; sparse, Frobenius."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """One iteration is one pass over the documents; the usage that is scored is solved for off the clock."""

    name: ClassVar[str] = "gensim"
    single_steps: ClassVar[bool] = True

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It must be installed; sparse, Frobenius."""
        if importlib.util.find_spec("gensim") is None:
            return "not installed"
        if beta != 2.0:
            return "minimises only the Frobenius loss"
        return None if hasattr(X, "tocsr") else "takes documents (sparse data) only"

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        import scipy.sparse as sp
        from gensim.models.nmf import Nmf

        self.documents = sp.csc_matrix(X.T)
        n_words, k = self.documents.shape[0], W.shape[1]
        words = {i: str(i) for i in range(n_words)}
        self.model = Nmf(
            num_topics=k, id2word=words, chunksize=2000, passes=1, eval_every=None, random_state=0
        )
        self.model._setup(self.documents)
        # Its topics have norm 1 at most.
        self.model._W = np.ascontiguousarray(H.T / np.maximum(np.linalg.norm(H, axis=1), 1e-300), dtype=float)
        self.start: tuple[np.ndarray, np.ndarray] | None = (W, H)

    def advance(self, iterations: int) -> None:
        """Pass over the documents this many times."""
        self.model.update(self.documents, passes=iterations)
        self.start = None

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """Usage by its own solver, then the topics."""
        if self.start is not None:
            return self.start
        usage = self.model._solveproj(self.documents, self.model._W, v_max=self.model.v_max)
        return usage.T, self.model._W.T
