"""nimfa's multiplicative updates."""

from __future__ import annotations

import importlib.util
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """`nimfa.Nmf` from fixed factors, in double precision: it knows no other."""

    name: ClassVar[str] = "nimfa"

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """It must be installed; its sparse divergence makes the reconstruction dense."""
        if importlib.util.find_spec("nimfa") is None:
            return "not installed"
        if hasattr(X, "tocsr") and beta == 1.0:
            return "makes the reconstruction of sparse data dense"
        return None

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        self.X = X.astype(np.float64)
        self.W, self.H, self.beta = W.astype(np.float64), np.ascontiguousarray(H, np.float64), beta

    def advance(self, iterations: int) -> None:
        """One call of `factorize` from where the last ended; the objective is found at the end only."""
        import nimfa

        rule, goal = ("euclidean", "fro") if self.beta == 2.0 else ("divergence", "div")
        fit = nimfa.Nmf(
            self.X,
            W=self.W,
            H=self.H,
            rank=self.W.shape[1],
            update=rule,
            objective=goal,
            max_iter=iterations,
            test_conv=iterations,
        )()
        self.W, self.H = (
            A.toarray() if hasattr(A, "toarray") else np.asarray(A) for A in (fit.basis(), fit.coef())
        )

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """As returned."""
        return self.W, self.H
