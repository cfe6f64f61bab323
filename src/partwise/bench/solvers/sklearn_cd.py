"""scikit-learn's coordinate descent."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np

from partwise.bench.solvers.base import BaseRacer


class Racer(BaseRacer):
    """Each call is a fit that starts where the last one ended; its iterations carry nothing else over."""

    name: ClassVar[str] = "sklearn-cd"
    method: ClassVar[str] = "cd"

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """Frobenius only."""
        return None if beta == 2.0 else "minimises only the Frobenius loss"

    def __init__(self, X: Any, W: np.ndarray, H: np.ndarray, beta: float) -> None:
        self.X, self.W, self.H, self.beta = X, W.copy(), H.copy(), beta

    def advance(self, iterations: int) -> None:
        """One call of `non_negative_factorization`."""
        from sklearn.decomposition import non_negative_factorization

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.W, self.H, _ = non_negative_factorization(
                self.X,
                W=self.W,
                H=np.ascontiguousarray(self.H),
                n_components=self.W.shape[1],
                init="custom",
                solver=self.method,
                beta_loss=self.beta,
                tol=0,
                max_iter=iterations,
            )

    def factors(self) -> tuple[np.ndarray, np.ndarray]:
        """As returned."""
        return self.W, self.H
