"""Priors by the names of their classes: what model files may name and what the laws sweep over."""

from __future__ import annotations

from typing import TypeVar

from partwise.io.registry import register_value
from partwise.plugins import add
from partwise.priors.base import Coupling, Prior
from partwise.priors.bounds import Bounds
from partwise.priors.direction import Direction
from partwise.priors.elastic_net import ElasticNet
from partwise.priors.gamma import Gamma
from partwise.priors.graph import Graph

_Class = TypeVar("_Class", bound=type[Prior])

#: Every prior of single entries.
REGISTRY: dict[str, type[Prior]] = {"ElasticNet": ElasticNet, "Gamma": Gamma, "Bounds": Bounds}
#: Every prior that ties rows together.
COUPLINGS: dict[str, type[Coupling]] = {"Graph": Graph, "Direction": Direction}


def register_prior(cls: _Class) -> _Class:
    """Let model files and the laws know a prior or a coupling; a decorator above @dataclass.

    Parameters
    ----------
    cls : class
        A dataclass derived from `Prior` or `Coupling`. The laws try it as it is made without arguments.

    Returns
    -------
    class
        The one that was given.
    """
    register_value(cls)
    add(COUPLINGS if issubclass(cls, Coupling) else REGISTRY, cls.__name__, cls, "prior")
    return cls
