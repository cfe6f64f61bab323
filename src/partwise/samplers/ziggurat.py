"""Normal and exponential random numbers for compiled kernels, by the ziggurat (Marsaglia & Tsang 2000).

The area below a falling density is covered by 256 layers of equal area, 255 rectangles and a base with the tail. A
layer is drawn by eight bits of a word, a place in it by 52 others (distinct bits, as Doornik 2005 asks). Below the
place where the layer above ends, the number is accepted at once: 99 times in 100, without a logarithm. Otherwise it
is compared with the density itself, so that the law is exact.
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt

import numpy as np

from partwise.jit import leaf
from partwise.samplers.streams import bits, uniform

#: Where the tail begins, for 256 layers of exp(−x²/2) and of exp(−x); the area of a layer is that of base and tail.
_NORMAL_TAIL, _TAIL = 3.6541528853610088, 7.69711747013104972
_NORMAL_AREA = _NORMAL_TAIL * exp(-0.5 * _NORMAL_TAIL**2) + sqrt(0.5 * pi) * erfc(_NORMAL_TAIL / sqrt(2.0))
_AREA = (_TAIL + 1.0) * exp(-_TAIL)
_PLACES = 2.0**52


def _layers(tail: float, area: float, normal: bool) -> tuple[np.ndarray, np.ndarray]:
    """The right ends of the 256 layers, the base first, and the density there; one more for the top."""

    def density(x: float) -> float:
        return exp(-0.5 * x * x) if normal else exp(-x)

    ends = np.zeros(257)
    # The base is as if it were a rectangle of the same area.
    ends[0], ends[1] = area / density(tail), tail
    for i in range(2, 256):
        height = area / ends[i - 1] + density(ends[i - 1])
        ends[i] = sqrt(-2.0 * log(height)) if normal else -log(height)
    heights = np.array([density(x) for x in ends])
    return ends, heights


_NORMAL_ENDS, _NORMAL_HEIGHTS = _layers(_NORMAL_TAIL, _NORMAL_AREA, True)
_ENDS, _HEIGHTS = _layers(_TAIL, _AREA, False)
# A place in units of 2⁻⁵² of the layer: what it is multiplied by, and below which number it is accepted at once.
_NORMAL_UNIT, _UNIT = _NORMAL_ENDS[:256] / _PLACES, _ENDS[:256] / _PLACES
_NORMAL_SURE = (_NORMAL_ENDS[1:] / _NORMAL_ENDS[:256] * _PLACES).astype(np.int64)
_SURE = (_ENDS[1:] / _ENDS[:256] * _PLACES).astype(np.int64)
_LAYER, _SIGN_AT, _PLACE_AT = np.uint64(255), np.uint64(8), np.uint64(12)
_ONE = np.uint64(1)


@leaf(forceinline=True)
def exponential(stream: np.ndarray) -> float:
    """The next number of a stream, from the exponential distribution with rate 1."""
    word = bits(stream)
    layer = np.int64(word & _LAYER)
    place = np.int64(word >> _PLACE_AT)
    if place < _SURE[layer]:
        return place * _UNIT[layer]
    return _exponential_edge(layer, place * _UNIT[layer], stream)


@leaf()
def _exponential_edge(layer: np.int64, x: float, stream: np.ndarray) -> float:
    """What becomes of a place beside the layer above."""
    while True:
        if layer == 0:
            return _TAIL - log(uniform(stream))
        low, high = _HEIGHTS[layer], _HEIGHTS[layer + 1]
        if low + uniform(stream) * (high - low) < exp(-x):
            return x
        word = bits(stream)
        layer = np.int64(word & _LAYER)
        place = np.int64(word >> _PLACE_AT)
        x = place * _UNIT[layer]
        if place < _SURE[layer]:
            return x


@leaf(forceinline=True)
def normal(stream: np.ndarray) -> float:
    """The next number of a stream, from the standard normal distribution."""
    word = bits(stream)
    layer = np.int64(word & _LAYER)
    place = np.int64(word >> _PLACE_AT)
    x = place * _NORMAL_UNIT[layer]
    if place >= _NORMAL_SURE[layer]:
        x = _normal_edge(layer, x, stream)
    return x if (word >> _SIGN_AT) & _ONE else -x


@leaf()
def _normal_edge(layer: np.int64, x: float, stream: np.ndarray) -> float:
    """What becomes of a place beside the layer above; without a sign."""
    while True:
        if layer == 0:
            # The tail after Marsaglia (1964).
            while True:
                excess = exponential(stream) / _NORMAL_TAIL
                if 2.0 * exponential(stream) >= excess * excess:
                    return _NORMAL_TAIL + excess
        low, high = _NORMAL_HEIGHTS[layer], _NORMAL_HEIGHTS[layer + 1]
        if low + uniform(stream) * (high - low) < exp(-0.5 * x * x):
            return x
        word = bits(stream)
        layer = np.int64(word & _LAYER)
        place = np.int64(word >> _PLACE_AT)
        x = place * _NORMAL_UNIT[layer]
        if place < _NORMAL_SURE[layer]:
            return x
