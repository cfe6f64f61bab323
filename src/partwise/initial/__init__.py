"""Where factors start."""

from partwise.initial.nndsvd import nndsvd
from partwise.initial.random import random_factors
from partwise.initial.semi import random_semi, svd_start
from partwise.initial.start import INITS, start_factors

__all__ = ["INITS", "nndsvd", "random_factors", "random_semi", "start_factors", "svd_start"]
