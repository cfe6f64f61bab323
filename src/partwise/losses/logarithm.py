"""Logarithms that loops can compute with vector instructions; those of the C library are called one by one.

With z = 2^e m and m between √½ and √2,

    log z = e log 2 + log m,      log m = 2 artanh(s) = 2 s + 2 s³ P(s²),      s = (m − 1) / (m + 1),

where |s| ≤ 0.172. The series P(q) = 1/3 + q/5 + q²/7 + … is cut off where its next term no longer counts in double
precision. There are no branches, so that a loop over many numbers is compiled to vector instructions.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import inlined

_LOG_2 = 0.6931471805599453
#: Bits of the number √½, and of what stands for its exponent in a double.
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
_FRACTION = np.int64(52)


@inlined()
def tail(q: float) -> float:
    """P(q) above, for q ≤ 0.0295."""
    high = 1.0 / 15.0 + q * (1.0 / 17.0 + q * (1.0 / 19.0))
    return 1.0 / 3.0 + q * (
        1.0 / 5.0 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q * (1.0 / 13.0 + q * high))))
    )


@inlined()
def logarithm(z: float) -> float:
    """Log z of a number in double precision, to about 2e-16 of max(1, |log z|); −∞ at 0, NaN at ∞.

    Numbers that double precision holds with fewer digits (below 2.3e-308) are taken for 0.
    """
    bits = np.float64(z).view(np.int64)
    e = (bits - _ROOT_HALF) >> _FRACTION
    m = np.int64(bits - (e << _FRACTION)).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    found = np.float64(e) * _LOG_2 + (2.0 * s + 2.0 * s * q * tail(q))
    # z − z is 0, unless z is infinite or not a number.
    return (found if z >= 2.2250738585072014e-308 else -np.inf) + (z - z)


@inlined()
def relative_kl(r: float) -> float:
    """``r − log(1 + r)`` for r > −1, to full precision also near 0, where the difference cancels.

    Where e = 0 above, r − 2 s is r s, and no digits are lost.
    """
    z = 1.0 + r
    bits = np.float64(z).view(np.int64)
    e = (bits - _ROOT_HALF) >> _FRACTION
    m = np.int64(bits - (e << _FRACTION)).view(np.float64)
    near = e == 0
    s = r / (2.0 + r) if near else (m - 1.0) / (m + 1.0)
    q = s * s
    first = r * s if near else r - (np.float64(e) * _LOG_2 + 2.0 * s)
    found = first - 2.0 * s * q * tail(q)
    return (found if z >= 2.2250738585072014e-308 else np.inf) + (z - z)
