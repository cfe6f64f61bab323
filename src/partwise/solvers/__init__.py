"""Solvers: one file per algorithm, chosen by name or by `best_solver`."""

from partwise.solvers.base import AlternatingSolver, Unsupported
from partwise.solvers.hals import Hals
from partwise.solvers.mu import MultiplicativeUpdate
from partwise.solvers.registry import REGISTRY, best_solver, make_solver, pick_solver, register_solver
from partwise.solvers.scd import CoordinateDescent

__all__ = [
    "REGISTRY",
    "AlternatingSolver",
    "CoordinateDescent",
    "Hals",
    "MultiplicativeUpdate",
    "Unsupported",
    "best_solver",
    "make_solver",
    "pick_solver",
    "register_solver",
]
