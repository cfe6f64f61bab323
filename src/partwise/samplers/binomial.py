"""Binomial and multinomial random numbers inside compiled kernels."""

from __future__ import annotations

from math import floor, lgamma, log, log1p, sqrt

import numpy as np

from partwise.jit import leaf
from partwise.samplers.streams import uniform

#: Expected successes below which counting down the probabilities is quicker than rejection.
_FEW = 10.0
#: Counts up to this many times the number of parts are split one by one.
_ONE_BY_ONE = 4


@leaf()
def draw_binomial(n: int, p: float, stream: np.ndarray) -> int:
    """The number of successes among n trials of probability p, from a stream; exact for every n and p."""
    if n <= 0 or p <= 0.0:
        return 0
    if p >= 1.0:
        return n
    if p > 0.5:
        return n - draw_binomial_low(n, 1.0 - p, stream)
    return draw_binomial_low(n, p, stream)


@leaf()
def draw_binomial_low(n: int, p: float, stream: np.ndarray) -> int:
    """`draw_binomial` for 0 < p ≤ ½: by waiting times where few succeed, else by transformed rejection."""
    if n * p < _FEW:
        # The gaps between successes are geometric (Devroye 1986, X.4).
        quit_log = log1p(-p)
        count, place = 0, 0.0
        while True:
            place += floor(log(uniform(stream)) / quit_log) + 1.0
            if place > n:
                return count
            count += 1
    # Hörmann (1993), algorithm BTRS.
    spread = sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    odds = log(p / (1.0 - p))
    mode = floor((n + 1) * p)
    h = lgamma(mode + 1.0) + lgamma(n - mode + 1.0)
    while True:
        u = uniform(stream) - 0.5
        v = uniform(stream)
        us = 0.5 - abs(u)
        k = floor((2.0 * a / us + b) * u + c)
        if k < 0.0 or k > n:
            continue
        if us >= 0.07 and v <= v_r:
            return int(k)
        v = log(v * alpha / (a / (us * us) + b))
        if v <= h - lgamma(k + 1.0) - lgamma(n - k + 1.0) + (k - mode) * odds:
            return int(k)


@leaf()
def split_count(x: int, rates: np.ndarray, total: float, parts: np.ndarray, stream: np.ndarray) -> None:
    """Split a count over parts in proportion to `rates`, whose sum is `total`: a multinomial draw into `parts`."""
    k = rates.shape[0]
    for t in range(k):
        parts[t] = 0.0
    if x <= _ONE_BY_ONE * k:
        for _ in range(x):
            left = uniform(stream) * total
            t = 0
            left -= rates[0]
            while left > 0.0 and t < k - 1:
                t += 1
                left -= rates[t]
            # Rounding may lead past the last part that has a rate at all.
            while rates[t] <= 0.0 and t > 0:
                t -= 1
            parts[t] += 1.0
        return
    rest, mass = x, total
    last = k - 1
    while last > 0 and rates[last] <= 0.0:
        last -= 1
    for t in range(last):
        if rest == 0:
            return
        taken = draw_binomial(rest, min(rates[t] / mass, 1.0), stream)
        parts[t] = taken
        rest -= taken
        mass -= rates[t]
        if mass <= 0.0:
            mass = 1e-300
    parts[last] += rest
