"""Normal random numbers between two bounds, exact however far the bounds lie in a tail.

Rejection sampling after Robert (1995): where the interval holds the mean well inside, from the normal itself or, if
the interval is short, from the uniform; elsewhere from an exponential that begins at the nearer bound, at nearly
Robert's best rate, or, if the interval is short, from the uniform. At least 0.4 of the proposals are accepted in
every case, and 0.65 where there is one bound. Normal and exponential numbers come from the ziggurat, and an
exponential number decides on acceptance, so that hardly a draw needs a logarithm, a root or an exponential function.
A number in a tail is computed as its distance from the bound, so no digits are lost by cancellation.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from partwise.jit import leaf, njit
from partwise.parallel import over_rows
from partwise.samplers.streams import STREAM_SIZE, begin_stream, draw_keys, uniform
from partwise.samplers.ziggurat import exponential, normal

#: Where a bound is nearer to the mean than this many standard deviations, proposals begin at the bound.
_INSIDE = 0.5
#: Where an interval that holds the mean is shorter than this many standard deviations, uniform proposals are better.
_SHORT = 2.5
#: From where on the best rate of exponential proposals is that of the density at the bound, nearly.
_FAR = 2.0
#: Entries whose draws are worth another thread.
_GRAIN = 2048


def truncated_normal(
    mean: Any, sd: Any, low: Any, high: Any, rng: np.random.Generator, size: Any = None
) -> np.ndarray:
    """Independent draws from normals truncated to [low, high].

    Parameters
    ----------
    mean, sd, low, high : float or array
        Mean and standard deviation of the normals before they are truncated, and the bounds, which may be infinite;
        broadcast against each other.
    rng : Generator
        Where random numbers come from; two are drawn, whatever the number of draws.
    size : tuple of int, optional
        Shape of the result; by default that of the arguments together.

    Returns
    -------
    array of float
        The draws; the number of threads does not change them.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.samplers import truncated_normal
    >>> draws = truncated_normal(-50.0, 1.0, 0.0, 1.0, np.random.default_rng(0), size=10_000)
    >>> round(float(draws.mean()), 3)
    0.02
    """
    parts = (np.asarray(part, dtype=float) for part in (mean, sd, low, high))
    shape = np.broadcast_shapes(*(np.shape(part) for part in (mean, sd, low, high))) if size is None else size
    mu, sigma, a, b = (np.ascontiguousarray(np.broadcast_to(part, shape)).reshape(-1) for part in parts)
    if not ((sigma > 0) & (a <= b) & np.isfinite(mu)).all():
        raise ValueError("A truncated normal needs a finite mean, sd > 0 and low ≤ high.")
    out = np.empty(mu.shape)
    keys = draw_keys(rng)
    over_rows(lambda i, j: _fill(mu, sigma, a, b, keys, out, i, j), len(out), grain=_GRAIN)
    return out.reshape(shape)


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(
    mean: np.ndarray,
    sd: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    keys: np.ndarray,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Draws number `start … stop`, each from a stream of its own."""
    stream = np.empty(STREAM_SIZE, np.uint64)
    for i in range(start, stop):
        begin_stream(keys, i, stream)
        out[i] = draw_truncated(mean[i], sd[i], low[i], high[i], stream)


@leaf()
def draw_truncated(mean: float, sd: float, low: float, high: float, stream: np.ndarray) -> float:
    """One draw from N(mean, sd²) truncated to [low, high], for kernels; the bounds may be infinite."""
    return draw_scaled((low - mean) / sd, (high - mean) / sd, mean, sd, low, high, stream)


@leaf(forceinline=True)
def draw_scaled(
    a: float, b: float, mean: float, sd: float, low: float, high: float, stream: np.ndarray
) -> float:
    """`draw_truncated` for a caller that has the bounds in standard deviations from the mean, a and b."""
    # Seen from the bound that is nearer to the mean, or on the wrong side of it.
    below = a + b < 0.0
    near, width = (-b if below else a), b - a
    if near < -_INSIDE:
        while True:
            x = a + width * uniform(stream) if width < _SHORT else normal(stream)
            if a <= x <= b and (width >= _SHORT or 2.0 * exponential(stream) >= x * x):
                break
        z = mean + sd * x
    else:
        # Robust where the bound is 1e200 standard deviations away: the draw is then the bound.
        excess = sd * _excess(near, width, stream)
        z = high - excess if below else low + excess
    return min(max(z, low), high)


@leaf(forceinline=True)
def _excess(a: float, width: float, stream: np.ndarray) -> float:
    """How far above a ≥ −½ a standard normal lies that is truncated to [a, a + width], where a + width ≥ −a.

    Proposals are exponential with a rate λ ≥ a. The density of x against them is ∝ exp(−(x − λ)²/2). Robert's best
    rate is (a + √(a² + 4)) / 2; a polynomial that comes near it spares the root, and far out λ = a is as good. An
    exponential number decides: it is larger than f with probability exp(−f).
    """
    if not width > 0.0:  # a point, or the difference of two bounds that are infinitely far
        return 0.0
    rate = a if a > _FAR else 1.0 + a * (0.5 + 0.1 * a)
    per_rate, top = 1.0 / rate, rate - a
    if width < per_rate:
        peak = max(-a, 0.0)
        while True:
            t = width * uniform(stream)
            # (x² − a²)/2 from a on, or x²/2 where the interval holds the mean.
            if exponential(stream) >= (t - peak) * (max(a, 0.0) + 0.5 * (t - peak)):
                return t
    while True:
        t = exponential(stream) * per_rate
        if t <= width and 2.0 * exponential(stream) >= (t - top) * (t - top):
            return t


@leaf()
def normal_quantile(p: float) -> float:
    """The quantile of the standard normal at p in (0, 1), to 16 digits (Wichura 1988, algorithm AS 241)."""
    q = p - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        num = 2.5090809287301226727e3
        num = num * r + 3.3430575583588128105e4
        num = num * r + 6.7265770927008700853e4
        num = num * r + 4.5921953931549871457e4
        num = num * r + 1.3731693765509461125e4
        num = num * r + 1.9715909503065514427e3
        num = num * r + 1.3314166789178437745e2
        num = num * r + 3.3871328727963666080e0
        den = 5.2264952788528545610e3
        den = den * r + 2.8729085735721942674e4
        den = den * r + 3.9307895800092710610e4
        den = den * r + 2.1213794301586595867e4
        den = den * r + 5.3941960214247511077e3
        den = den * r + 6.8718700749205790830e2
        den = den * r + 4.2313330701600911252e1
        den = den * r + 1.0
        return q * num / den
    r = sqrt(-log(p if q < 0.0 else 1.0 - p))
    if r <= 5.0:
        r -= 1.6
        num = 7.74545014278341407640e-4
        num = num * r + 2.27238449892691845833e-2
        num = num * r + 2.41780725177450611770e-1
        num = num * r + 1.27045825245236838258e0
        num = num * r + 3.64784832476320460504e0
        num = num * r + 5.76949722146069140550e0
        num = num * r + 4.63033784615654529590e0
        num = num * r + 1.42343711074968357734e0
        den = 1.05075007164441684324e-9
        den = den * r + 5.47593808499534494600e-4
        den = den * r + 1.51986665636164571966e-2
        den = den * r + 1.48103976427480074590e-1
        den = den * r + 6.89767334985100004550e-1
        den = den * r + 1.67638483018380384940e0
        den = den * r + 2.05319162663775882187e0
        den = den * r + 1.0
    else:
        r -= 5.0
        num = 2.01033439929228813265e-7
        num = num * r + 2.71155556874348757815e-5
        num = num * r + 1.24266094738807843860e-3
        num = num * r + 2.65321895265761230930e-2
        num = num * r + 2.96560571828504891230e-1
        num = num * r + 1.78482653991729133580e0
        num = num * r + 5.46378491116411436990e0
        num = num * r + 6.65790464350110377720e0
        den = 2.04426310338993978564e-15
        den = den * r + 1.42151175831644588870e-7
        den = den * r + 1.84631831751005468180e-5
        den = den * r + 7.86869131145613259100e-4
        den = den * r + 1.48753612908506148525e-2
        den = den * r + 1.36929880922735805310e-1
        den = den * r + 5.99832206555887937690e-1
        den = den * r + 1.0
    return -num / den if q < 0.0 else num / den
