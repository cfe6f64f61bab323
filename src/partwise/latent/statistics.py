"""What an E-step hands to the M-step: sums over the posterior, never the posterior itself (3.2.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Statistics:
    """Sums over samples and states.

    Attributes
    ----------
    evidence : array of shape (n_samples,)
        log Σ_s p(y, s) without the constant log y!, over the states that were visited.
    means : array of shape (n_samples, H)
        ⟨s⟩.
    best : array of bool of shape (n_samples, H)
        The most probable state.
    pairs : array of shape (H, H)
        Σ_n r_n ⟨s sᵀ⟩.
    numerator : callable
        W ↦ Σ_n r_n Σ_s q_n(s) s_h y_nd W_hd / a_sd. Where the sums per state were kept it may be asked at several
        W for the same q, else only at the W of the E-step.
    repeatable : bool
        Whether `numerator` may be asked at several W.
    cross : array of shape (H, n_features), optional
        Σ_n r_n ⟨s_h⟩ ω y_nd, for Gaussian noise.
    fitted : callable, optional
        W ↦ (Σ_n r_n ω ⟨s_h a_d⟩, Σ_n r_n ω ⟨s_h |s|⟩) for Gaussian noise where entries are missing; where none is,
        the first is `pairs` · W. `repeatable` holds for it, too.
    truncation : (int, int), optional
        (γ, v) where states were left out: those of up to v bits were visited, those of up to γ bits counted.
    """

    evidence: np.ndarray
    means: np.ndarray
    best: np.ndarray
    pairs: np.ndarray
    numerator: Callable[[np.ndarray], np.ndarray]
    repeatable: bool
    truncation: tuple[int, int] | None = None
    cross: np.ndarray | None = None
    fitted: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None


def log_prior(activation: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Log-probability of each state (Yus López 2015, equation 2.1)."""
    on, off = np.log(activation), np.log1p(-activation)
    return np.asarray(states @ (on - off) + off.sum())
