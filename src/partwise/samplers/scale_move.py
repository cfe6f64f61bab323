"""A move along the direction that Gibbs steps are slow in: a component grows in one factor and shrinks in the other.

W H does not change when column t of W is multiplied by e^s and row t of H divided by it, so s is drawn from what the
priors alone say of it: a generalised Gibbs step on a group of transformations (Liu & Sabatti 2000). Its log-density

    power · s − L_W e^s − ½ Q_W e^2s − L_H e^−s − ½ Q_H e^−2s

is concave; s is proposed from the normal that touches it at its mode, and accepted by Metropolis & Hastings.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

import numpy as np

from partwise.jit import leaf, njit

#: Newton steps to the mode, which is found to rounding in a handful.
_NEWTON = 60


def scale_move(
    A: np.ndarray,
    B: np.ndarray,
    power: Any,
    sums_A: tuple[np.ndarray, np.ndarray],
    sums_B: tuple[np.ndarray, np.ndarray],
    upper: tuple[float, float],
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the share of every component's size between the two factors, in place.

    Parameters
    ----------
    A : array of shape (n, k)
        One factor, not negative.
    B : array of shape (m, k)
        The transpose of the other.
    power : float or array of shape (k,)
        n times the shape of A's Gamma prior minus m times that of B's; n − m for priors without a logarithm.
    sums_A, sums_B : tuple of two arrays of shape (k,)
        Of each factor's prior, the linear terms Σ linear · a, and the quadratic terms Σ quadratic · a².
    upper : tuple of float
        The largest value that an entry of A, and of B, may take.
    rng : Generator
        Where random numbers come from.

    Returns
    -------
    array of shape (k,)
        By which number each column of A was multiplied.
    """
    k = A.shape[1]
    normals, uniforms = rng.standard_normal(k), rng.random(k)
    least, most = np.full(k, -inf), np.full(k, inf)
    with np.errstate(divide="ignore"):
        if upper[0] < inf:
            most = np.log(upper[0] / A.max(axis=0, initial=0.0).astype(float))
        if upper[1] < inf:
            least = -np.log(upper[1] / B.max(axis=0, initial=0.0).astype(float))
    shares = np.ones(k)
    _draw_shares(
        np.broadcast_to(np.asarray(power, float), (k,)).copy(),
        *(np.asarray(part, float) for part in (*sums_A, *sums_B)),
        least,
        most,
        normals,
        uniforms,
        shares,
    )
    A *= shares.astype(A.dtype)
    B /= shares.astype(B.dtype)
    return shares


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_shares(
    power: np.ndarray,
    LA: np.ndarray,
    QA: np.ndarray,
    LB: np.ndarray,
    QB: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    normals: np.ndarray,
    uniforms: np.ndarray,
    shares: np.ndarray,
) -> None:
    """Propose and accept for each component; one without a mode is left as it is."""
    for t in range(len(shares)):
        bounded_above = LA[t] + QA[t] > 0.0 or power[t] < 0.0
        bounded_below = LB[t] + QB[t] > 0.0 or power[t] > 0.0
        if not (bounded_above and bounded_below):
            continue
        s = 0.0
        for _ in range(_NEWTON):
            slope, bend = _derivatives(s, power[t], LA[t], QA[t], LB[t], QB[t])
            # Far from the mode the exponentials make Newton's step too long or too short.
            move = min(max(slope / bend, -2.0), 2.0)
            s += move
            if abs(move) < 1e-13 * (1.0 + abs(s)):
                break
        _, bend = _derivatives(s, power[t], LA[t], QA[t], LB[t], QB[t])
        if not (0.0 < bend < inf):
            continue
        sd = 1.0 / sqrt(bend)
        new = s + sd * normals[t]
        if not least[t] <= new <= most[t]:
            continue
        before = _log_density(0.0, power[t], LA[t], QA[t], LB[t], QB[t]) + 0.5 * (s / sd) ** 2
        after = _log_density(new, power[t], LA[t], QA[t], LB[t], QB[t]) + 0.5 * normals[t] ** 2
        if log(uniforms[t]) < after - before:
            shares[t] = exp(new)


@leaf()
def _derivatives(s: float, power: float, LA: float, QA: float, LB: float, QB: float) -> tuple[float, float]:
    """Slope and downward curvature of the log-density."""
    up, down = exp(s), exp(-s)
    slope = power - LA * up - QA * up * up + LB * down + QB * down * down
    bend = LA * up + 2.0 * QA * up * up + LB * down + 2.0 * QB * down * down
    return slope, bend


@leaf()
def _log_density(s: float, power: float, LA: float, QA: float, LB: float, QB: float) -> float:
    """Log-density at s."""
    up, down = exp(s), exp(-s)
    return power * s - LA * up - 0.5 * QA * up * up - LB * down - 0.5 * QB * down * down
