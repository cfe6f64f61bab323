"""The best subset of given tiles for each row, by branch and bound on packed bits.

Arguments are named as in `descent`.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bits import popcount
from partwise.boolean.prices import Prices
from partwise.jit import leaf, njit

_ZERO = np.uint64(0)


@leaf()
def order_by_reach(
    bits: np.ndarray, weight: np.ndarray, i: int, tiles: np.ndarray, order: np.ndarray, reach: np.ndarray
) -> int:
    """Sort the tiles that cover any one of row i into `order`, most ones first; returns their number."""
    plane = bits.shape[1] // weight.shape[0]
    useful = 0
    for t in range(tiles.shape[0]):
        hit = 0.0
        for w in range(bits.shape[1]):
            hit += weight[w // plane] * popcount(tiles[t, w] & bits[i, w])
        if hit > 0.0:
            at = useful
            while at > 0 and reach[at - 1] < hit:
                reach[at], order[at] = reach[at - 1], order[at - 1]
                at -= 1
            reach[at], order[at] = hit, t
            useful += 1
    return useful


@njit(cache=True, nogil=True, error_model="numpy")
def exact_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    prices: Prices,
    out: np.ndarray,
    steps: int,
) -> None:
    """Find the cheapest subset of tiles for each row.

    `usage` and `out` come in with a subset and its cost, and are replaced where a cheaper subset is found. The
    search is depth first over the tiles, those that cover most of the row's ones first. A branch ends when a bound
    from below, the zeros covered so far and the ones that no remaining tile covers, reaches the best cost so far.
    After `steps` nodes the best subset found until then is kept.
    """
    n, width = bits.shape
    k = usage.shape[1]
    planes = weight.shape[0]
    plane = width // planes
    order, reach = np.empty(k, np.int64), np.empty(k)
    # At depth d: the cover so far, and the union of the tiles from d on.
    cover = np.zeros((k + 1, width), np.uint64)
    rest = np.zeros((k + 1, width), np.uint64)
    taken = np.zeros(k, np.bool_)
    tried = np.zeros(k + 1, np.int64)
    for i in range(n):
        if out[i] <= 1e-9:
            continue
        useful = order_by_reach(bits, weight, i, tiles, order, reach)
        for w in range(width):
            rest[useful, w] = _ZERO
            cover[0, w] = _ZERO
        for d in range(useful - 1, -1, -1):
            for w in range(width):
                rest[d, w] = rest[d + 1, w] | tiles[order[d], w]
        depth, used, left = 0, 0, steps
        tried[0] = 0
        while depth >= 0 and left > 0:
            left -= 1
            if tried[depth] == 0:
                least = prices.tile * used
                for p in range(planes):
                    overdone, missed = 0, 0
                    for w in range(p * plane, (p + 1) * plane):
                        overdone += popcount(cover[depth, w] & zeros[i, w])
                        missed += popcount(bits[i, w] & ~(cover[depth, w] | rest[depth, w]))
                    least += weight[p] * (prices.zero * overdone + prices.one * missed)
                if least >= out[i] - 1e-9:
                    tried[depth] = 2
                elif depth == useful:
                    # At a leaf no tile remains, so the bound is the cost itself.
                    out[i] = least
                    for t in range(k):
                        usage[i, t] = False
                    for d in range(useful):
                        usage[i, order[d]] = taken[d]
                    tried[depth] = 2
            if tried[depth] == 2:
                depth -= 1
                if depth >= 0 and taken[depth]:
                    taken[depth] = False
                    used -= 1
                continue
            taking_it = tried[depth] == 0
            tried[depth] += 1
            taken[depth] = taking_it
            for w in range(width):
                cover[depth + 1, w] = cover[depth, w] | (tiles[order[depth], w] if taking_it else _ZERO)
            used += int(taking_it)
            depth += 1
            tried[depth] = 0
