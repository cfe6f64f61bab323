"""Losses: how far a reconstruction is from the data."""

from partwise.losses.beta import BetaDivergence, as_loss

__all__ = ["BetaDivergence", "as_loss"]
