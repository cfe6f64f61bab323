"""The public estimators, and the files they are kept in (which name models, so models come first)."""

from partwise.io import load, save
from partwise.models.binary import BinaryNMF
from partwise.models.boolean import BooleanMF
from partwise.models.function import non_negative_factorization
from partwise.models.nmf import NMF

__all__ = ["NMF", "BinaryNMF", "BooleanMF", "load", "non_negative_factorization", "save"]
