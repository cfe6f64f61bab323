"""Prices of what a Boolean factorization gets wrong and of the tiles it uses: together, its cost."""

from __future__ import annotations

from typing import NamedTuple


class Prices(NamedTuple):
    """Price of an observed one left uncovered, of an observed zero covered, and of each use of a tile."""

    one: float = 1.0
    zero: float = 1.0
    tile: float = 0.0


#: The cost is the number of wrong entries.
WRONG = Prices()
#: The number of wrong entries first; among equals, the fewest uses of tiles.
FEWEST = Prices(tile=1e-6)
#: Wrong entries and the set bits of both factors: |D − Y ⊙ Xᵀ| + |X| + |Y| (Gonsior 2019, equation 2.5).
SPARSE = Prices(tile=1.0)


def as_floats(prices: Prices) -> Prices:
    """The same prices as floats, the one type that kernels are compiled for."""
    return Prices(*(float(price) for price in prices))
