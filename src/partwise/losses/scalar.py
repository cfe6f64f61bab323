"""The β-divergence of two numbers, as compiled leaf functions.

Févotte & Idier (2011), equation 2: with x ≥ 0 the datum and y > 0 its reconstruction,

    d(x | y) = ½ (x − y)²                                              β = 2
             = x log(x / y) − x + y                                    β = 1
             = x / y − log(x / y) − 1                                  β = 0
             = [x^β + (β − 1) y^β − β x y^(β−1)] / (β (β − 1))         otherwise

Half the usual general form's scale at β = 2 is that form's own value, so the family is continuous in β.
"""

from __future__ import annotations

from math import log

from partwise.jit import njit


@njit(cache=True, nogil=True, error_model="numpy")
def divergence(x: float, y: float, beta: float) -> float:
    """d(x | y); terms that vanish with x are taken at their limit."""
    if beta == 2.0:
        return 0.5 * (x - y) * (x - y)
    if beta == 1.0:
        if x <= 0.0:
            return y
        # Written around r = y/x − 1, which keeps full precision where x and y almost agree.
        return x * _relative_kl(y / x - 1.0)
    if beta == 0.0:
        return _relative_kl(x / y - 1.0)
    if x <= 0.0:
        # For β < 0 the divergence of zero is infinite; callers refuse such data.
        return y**beta / beta
    return (x**beta + (beta - 1.0) * y**beta - beta * x * y ** (beta - 1.0)) / (beta * (beta - 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _relative_kl(r: float) -> float:
    """R − log(1 + r) ≥ 0, by its series near 0 where the difference cancels."""
    if abs(r) < 1e-3:
        return r * r * (0.5 - r * (1.0 / 3.0 - r * (0.25 - r * (0.2 - r / 6.0))))
    return r - log(1.0 + r)


@njit(cache=True, nogil=True, error_model="numpy")
def derivative(x: float, y: float, beta: float) -> float:
    """∂d/∂y = y^(β−1) − x y^(β−2)."""
    if beta == 2.0:
        return y - x
    if beta == 1.0:
        return 1.0 - x / y
    return y ** (beta - 2.0) * (y - x)
