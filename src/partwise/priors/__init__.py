"""Priors: what is believed of a factor before seeing data."""

from partwise.priors.ard import ARD, Relevance
from partwise.priors.base import NO_PRIOR, Coupling, Pairing, Prior, SumPrior, entrywise
from partwise.priors.bounds import Bounds
from partwise.priors.direction import Direction
from partwise.priors.elastic_net import ElasticNet
from partwise.priors.gamma import Gamma
from partwise.priors.graph import Graph
from partwise.priors.registry import COUPLINGS, REGISTRY, register_prior
from partwise.priors.scaled_graph import ScaledGraph
from partwise.priors.terms import NO_TERMS, KernelTerms, Terms

__all__ = [
    "ARD",
    "COUPLINGS",
    "NO_PRIOR",
    "NO_TERMS",
    "REGISTRY",
    "Bounds",
    "Coupling",
    "Direction",
    "ElasticNet",
    "Gamma",
    "Graph",
    "KernelTerms",
    "Pairing",
    "Prior",
    "Relevance",
    "ScaledGraph",
    "SumPrior",
    "Terms",
    "entrywise",
    "register_prior",
]
