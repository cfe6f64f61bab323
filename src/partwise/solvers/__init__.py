"""Solvers: one file per algorithm, chosen by name or by `best_solver`."""

from partwise.solvers.base import Unsupported
from partwise.solvers.hals import Hals
from partwise.solvers.mu import MultiplicativeUpdate
from partwise.solvers.registry import REGISTRY, best_solver, make_solver, pick_solver
from partwise.solvers.scd import CoordinateDescent

__all__ = [
    "REGISTRY",
    "CoordinateDescent",
    "Hals",
    "MultiplicativeUpdate",
    "Unsupported",
    "best_solver",
    "make_solver",
    "pick_solver",
]
