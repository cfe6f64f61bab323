"""Samplers: kernels, chains, what is recorded of them, and how they are checked."""

from partwise.samplers.truncated_normal import truncated_normal

__all__ = ["truncated_normal"]
