"""scikit-learn's multiplicative updates."""

from __future__ import annotations

from typing import Any, ClassVar

from partwise.bench.solvers import sklearn_cd


class Racer(sklearn_cd.Racer):
    """As `sklearn-cd`, with the other solver."""

    name: ClassVar[str] = "sklearn-mu"
    method: ClassVar[str] = "mu"

    @classmethod
    def why_not(cls, X: Any, beta: float) -> str | None:
        """Every loss; for Frobenius its own coordinate descent is always ahead."""
        return "for the Frobenius loss scikit-learn's 'cd' is its faster solver" if beta == 2.0 else None
