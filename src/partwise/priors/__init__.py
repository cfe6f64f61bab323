"""Priors: what we believe of a factor before seeing data."""

from partwise.priors.base import NO_TERMS, Prior, SumPrior, Terms
from partwise.priors.elastic_net import ElasticNet
from partwise.priors.gamma import Gamma

#: Every prior the laws sweep over.
REGISTRY = {"elastic_net": ElasticNet, "gamma": Gamma}

__all__ = ["NO_TERMS", "REGISTRY", "ElasticNet", "Gamma", "Prior", "SumPrior", "Terms"]
