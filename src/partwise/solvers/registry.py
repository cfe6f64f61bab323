"""Solvers by name, and the best one for a problem."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

from partwise.core import Problem
from partwise.plugins import add, find
from partwise.solvers.base import AlternatingSolver
from partwise.solvers.filled import FilledHals
from partwise.solvers.hals import Hals
from partwise.solvers.mu import ExtrapolatedUpdate, MultiplicativeUpdate
from partwise.solvers.randomized import Randomized
from partwise.solvers.scd import CoordinateDescent

_Class = TypeVar("_Class", bound=type[AlternatingSolver])

#: Name → how to make it, given `shuffle`. "cd" and "mu" are scikit-learn's own, with its stopping rules.
REGISTRY: dict[str, Callable[[bool], AlternatingSolver]] = {
    "hals": lambda shuffle: Hals(shuffle=shuffle),
    "filled": lambda shuffle: FilledHals(shuffle=shuffle),
    "scd": lambda shuffle: CoordinateDescent(shuffle=shuffle),
    "randomized": lambda shuffle: Randomized(shuffle=shuffle),
    "emu": lambda shuffle: ExtrapolatedUpdate(),
    "mu": lambda shuffle: MultiplicativeUpdate(),
    "cd": lambda shuffle: Hals(inner_sweeps=1, extrapolate=False, shuffle=shuffle, like_sklearn=True),
}

#: Fastest first; the last one takes everything.
_PREFERENCE = ("hals", "filled", "scd", "emu")


def register_solver(cls: _Class) -> _Class:
    """Let `solver=` and `--solver` know a solver by its `name`; a decorator above @dataclass.

    Parameters
    ----------
    cls : class
        A dataclass derived from `AlternatingSolver` that can be made without arguments. If it has a field `shuffle`,
        that is set to what the estimator was given. "auto" does not choose it.

    Returns
    -------
    class
        The one that was given.
    """
    options = inspect.signature(cls).parameters

    def make(shuffle: bool) -> AlternatingSolver:
        given = {"shuffle": shuffle} if "shuffle" in options else {}
        return cls(**given)

    make.__module__, make.__qualname__ = cls.__module__, cls.__qualname__
    add(REGISTRY, cls.name, make, "solver")
    return cls


def make_solver(name: str, shuffle: bool = False) -> AlternatingSolver:
    """A solver by its name.

    Parameters
    ----------
    name : str
        A name from `REGISTRY`, or of a solver of an installed package.
    shuffle : bool
        Whether coordinate descent visits the components in random order.

    Returns
    -------
    AlternatingSolver
        The solver.

    Raises
    ------
    ValueError
        If there is no solver of this name.
    """
    make = find(REGISTRY, name) if isinstance(name, str) else None
    if make is None:
        raise ValueError(f"solver must be one of {['auto', *REGISTRY]}; got {name!r}.")
    return make(shuffle)


def pick_solver(name: str, problem: Problem, shuffle: bool = False) -> AlternatingSolver:
    """The solver of this name, or the best one for "auto".

    "cd" is coordinate descent: by Gram matrices where the data are complete, entry by entry where they are not.

    Parameters
    ----------
    name : str
        "auto" or a name from `REGISTRY`.
    problem : Problem
        What is to be solved.
    shuffle : bool
        Whether coordinate descent visits the components in random order.

    Returns
    -------
    AlternatingSolver
        The solver.

    Raises
    ------
    Unsupported
        If the solver of this name cannot solve the problem.
    """
    if name == "auto":
        return best_solver(problem, shuffle)
    solver = make_solver(name, shuffle)
    if name == "cd" and problem.X.weighted:
        solver = CoordinateDescent(inner_sweeps=1, extrapolate=False, shuffle=shuffle, like_sklearn=True)
    solver.check(problem)
    return solver


def best_solver(problem: Problem, shuffle: bool = False) -> AlternatingSolver:
    """The fastest solver that can do all that the problem asks.

    Parameters
    ----------
    problem : Problem
        What is to be solved.
    shuffle : bool
        Whether coordinate descent visits the components in random order.

    Returns
    -------
    AlternatingSolver
        The solver.
    """
    for name in _PREFERENCE:
        solver = make_solver(name, shuffle)
        if solver.lacks(problem) is None:
            return solver
    raise AssertionError("multiplicative updates take every problem")
