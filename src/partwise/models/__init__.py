"""The public estimators."""

from partwise.models.function import non_negative_factorization
from partwise.models.nmf import NMF

__all__ = ["NMF", "non_negative_factorization"]
