"""The public estimators, and the files they are kept in (which name models, so models come first)."""

from partwise.io import load, save
from partwise.models.binary import BinaryNMF
from partwise.models.function import non_negative_factorization
from partwise.models.nmf import NMF

__all__ = ["NMF", "BinaryNMF", "load", "non_negative_factorization", "save"]
