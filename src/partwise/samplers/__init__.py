"""Samplers: kernels, chains, what is recorded of them, and how they are checked."""

from partwise.samplers.alignment import align, match
from partwise.samplers.chains import Chain, Chains, DivergedError, Kernel, sample_chains
from partwise.samplers.diagnostics import ess_bulk, ess_mean, ess_tail, mcse_mean, rhat
from partwise.samplers.recording import Draws, Histogram, Moments, Recorder, Trace
from partwise.samplers.truncated_normal import truncated_normal

__all__ = [
    "Chain",
    "Chains",
    "DivergedError",
    "Draws",
    "Histogram",
    "Kernel",
    "Moments",
    "Recorder",
    "Trace",
    "align",
    "ess_bulk",
    "ess_mean",
    "ess_tail",
    "match",
    "mcse_mean",
    "rhat",
    "sample_chains",
    "truncated_normal",
]
