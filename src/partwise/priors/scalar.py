"""Minimisers of one coordinate under a prior, as compiled leaf functions."""

from __future__ import annotations

from math import exp, sqrt

from partwise.jit import inlined

#: A bound further away than this is none: where nothing curves, nobody is driven there.
FAR = 1e7


@inlined()
def bounded_minimiser(
    h: float, b: float, log_weight: float, current: float, lower: float, upper: float
) -> float:
    """Argmin over lower ≤ z ≤ upper of ½ h z² − b z − log_weight · log z.

    The function is convex, so its minimiser over an interval is its free minimiser cut to the interval. Where nothing
    curves and no logarithm bends, the slope decides: to a bound if that is not far, else the coordinate stays.
    """
    if log_weight == 0.0 and h <= 0.0:
        z = lower if b < 0.0 else (upper if b > 0.0 else current)
        return z if abs(z) < FAR else current
    return min(max(quadratic_minimiser(h, b, log_weight, current), lower), upper)


@inlined()
def quadratic_minimiser(h: float, b: float, log_weight: float, current: float) -> float:
    """Argmin over all z (z ≥ 0 with a logarithm) of ½ h z² − b z − log_weight · log z, for h > 0 or log_weight > 0.

    With a logarithm, the positive root of h z² − b z − log_weight = 0.
    """
    if log_weight == 0.0:
        return b / h
    if h <= 0.0:
        return log_weight / -b if b < 0.0 else current
    root = sqrt(b * b + 4.0 * h * log_weight)
    if b >= 0.0:
        return (b + root) / (2.0 * h)
    return 2.0 * log_weight / (root - b)


@inlined()
def surrogate_minimiser(
    w: float, num: float, den: float, quadratic: float, log_weight: float, p: float, q: float
) -> float:
    """Minimiser of the multiplicative-update surrogate of one entry, from its current value w > 0.

    The majorisers of Févotte & Idier (2011, table 1) have, in r = w_new / w, the derivative

        −num · r^p + den · r^q + quadratic · w · r − (log_weight / w) / r

    with (p, q) = (β−2, 0) for β < 1, (β−2, β−1) for 1 ≤ β ≤ 2 and (0, β−1) for β > 2. It rises with r, so its
    root is unique. Without a prior the root is (num / den)^(1 / (q − p)), which holds their exponents γ(β);
    for β = 1 it is the update (5) of Ben Baccar (2018). A linear term belongs into `den` and, where q ≥ 1, so does
    the quadratic one: both are then bounded by the power r^q, which keeps the surrogate above the objective.
    """
    if log_weight == 0.0 and num <= 0.0:
        return 0.0 if den + quadratic > 0.0 else w
    if q >= 1.0:
        den += quadratic * w
        quadratic = 0.0
    pull = log_weight / w
    push = quadratic * w
    if den + push <= 0.0:
        return w
    if pull == 0.0 and push == 0.0:
        r = num / den
        return w * r if q - p == 1.0 else w * r ** (1.0 / (q - p))
    if p == -1.0 and q == 0.0:
        top = num + pull
        return w * 2.0 * top / (den + sqrt(den * den + 4.0 * push * top))
    if p == 0.0 and q == 1.0:
        return w * quadratic_minimiser(den, num, pull, 1.0)
    return w * exp(_log_root(num, den, push, pull, p, q))


@inlined()
def _log_root(num: float, den: float, push: float, pull: float, p: float, q: float) -> float:
    """Root in s of −num e^(ps) + den e^(qs) + push e^s − pull e^(−s), by Newton inside a bracket."""
    low, high = -60.0, 60.0
    s = 0.0
    for _ in range(80):
        value = -num * exp(p * s) + den * exp(q * s) + push * exp(s) - pull * exp(-s)
        if value > 0.0:
            high = s
        else:
            low = s
        slope = -p * num * exp(p * s) + q * den * exp(q * s) + push * exp(s) + pull * exp(-s)
        move = s - value / slope if slope > 0.0 else 0.5 * (low + high)
        if not low < move < high:
            move = 0.5 * (low + high)
        if abs(move - s) <= 1e-13 * (1.0 + abs(s)):
            return move
        s = move
    return s
