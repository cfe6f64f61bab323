"""Where factors start."""

from partwise.initial.nndsvd import nndsvd
from partwise.initial.random import random_factors
from partwise.initial.start import INITS, start_factors

__all__ = ["INITS", "nndsvd", "random_factors", "start_factors"]
