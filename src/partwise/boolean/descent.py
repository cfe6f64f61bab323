"""Which tiles should a row use? One side of a Boolean factorization with the other held, on packed bits.

What is lowered, over observed entries, is `Prices`: so much for every one that is not covered, so much for
every zero that is, so much for every tile used. With 1, 1 and 0 that is the number of wrong entries. For few
tiles every subset is tried; for many, single tiles are added, dropped and exchanged until none of that helps.
Columns are rows of the transpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from partwise.boolean.bits import ones
from partwise.boolean.table import Side
from partwise.parallel import over_rows

#: Up to so many tiles all subsets are tried.
MOST_EXACT = 12
_ZERO = np.uint64(0)


class Prices(NamedTuple):
    """What is paid for a one left uncovered, for a zero covered, and for the use of a tile."""

    one: float = 1.0
    zero: float = 1.0
    tile: float = 0.0


WRONG = Prices()


def best_usage(
    side: Side,
    packed: np.ndarray,
    usage: np.ndarray,
    prices: Prices = WRONG,
    exact: bool | None = None,
) -> float:
    """Improve `usage` (n × k, bool) of the packed tiles in place; returns what is paid.

    No row ends worse than it began.
    """
    n, k = usage.shape
    out = np.zeros(n)
    rows, observed, weight, tiles = side.bits, side.seen, side.weight, side.spread(packed)
    one, zero, cost = (float(price) for price in prices)
    if exact if exact is not None else k <= MOST_EXACT:
        table = subset_unions(tiles)
        sizes = np.array([bin(s).count("1") for s in range(2**k)], np.int64)
        over_rows(
            lambda a, b: exact_rows(
                rows[a:b], observed[a:b], weight, table, sizes, usage[a:b], one, zero, cost, out[a:b]
            ),
            n,
            grain=32,
        )
    else:
        over_rows(
            lambda a, b: local_rows(
                rows[a:b], observed[a:b], weight, tiles, usage[a:b], one, zero, cost, out[a:b]
            ),
            n,
            grain=32,
        )
    return float(out.sum())


def subset_unions(tiles: np.ndarray) -> np.ndarray:
    """The OR of every subset of tiles; row s has those whose bit is set in s."""
    k, width = tiles.shape
    table = np.zeros((2**k, width), np.uint64)
    for t in range(k):
        table[2**t : 2 ** (t + 1)] = table[: 2**t] | tiles[t]
    return table


@njit(cache=True, nogil=True)
def exact_rows(
    rows: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray,
    table: np.ndarray,
    sizes: np.ndarray,
    usage: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    out: np.ndarray,
) -> None:
    """The best subset for each row; what it has now, if nothing is better."""
    n, width = rows.shape
    k = usage.shape[1]
    for i in range(n):
        now = 0
        for t in range(k):
            if usage[i, t]:
                now |= 1 << t
        best, least = now, cost * sizes[now]
        for w in range(width):
            x, cover = rows[i, w] & observed[i, w], table[now, w] & observed[i, w]
            least += weight[w] * (one * ones(x & ~cover) + zero * ones(cover & ~x))
        for s in range(table.shape[0]):
            total = cost * sizes[s]
            for w in range(width):
                x, cover = rows[i, w] & observed[i, w], table[s, w] & observed[i, w]
                total += weight[w] * (one * ones(x & ~cover) + zero * ones(cover & ~x))
                if total >= least:
                    break
            if total < least:
                best, least = s, total
        for t in range(k):
            usage[i, t] = (best >> t) & 1 == 1
        out[i] = least


@njit(cache=True, nogil=True)
def local_rows(
    rows: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    usage: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    out: np.ndarray,
) -> None:
    """Each row from what it has and from nothing, by adding, dropping and exchanging tiles; the better of both."""
    n, width = rows.shape
    k = usage.shape[1]
    kept = np.empty(k, np.bool_)
    once = np.empty(width, np.uint64)
    twice = np.empty(width, np.uint64)
    bound = np.empty(k)
    for i in range(n):
        for t in range(k):
            kept[t] = usage[i, t]
        first = improve(rows[i], observed[i], weight, tiles, kept, one, zero, cost, once, twice, bound)
        for t in range(k):
            usage[i, t], kept[t] = kept[t], False
        second = improve(rows[i], observed[i], weight, tiles, kept, one, zero, cost, once, twice, bound)
        if second < first:
            for t in range(k):
                usage[i, t] = kept[t]
        out[i] = min(first, second)


@njit(cache=True, nogil=True)
def improve(
    row: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    use: np.ndarray,
    one: float,
    zero: float,
    cost: float,
    once: np.ndarray,
    twice: np.ndarray,
    bound: np.ndarray,
) -> float:
    """Take the best single change until none helps; returns what is paid.

    `once` holds what is covered, `twice` what is covered by two tiles or more: dropping a tile uncovers what it
    covers and `twice` does not. `bound` holds, of a tile that is used, the zeros that it alone covers, and of one
    that is not, what it would gain: an exchange gains at most the sum of both.
    """
    k, width = tiles.shape
    while True:
        for w in range(width):
            once[w] = _ZERO
            twice[w] = _ZERO
        for t in range(k):
            if use[t]:
                for w in range(width):
                    twice[w] |= once[w] & tiles[t, w]
                    once[w] |= tiles[t, w]
        best, change, partner = 1e-9, -1, -1
        for t in range(k):
            gain = 0.0
            if use[t]:
                zeros = 0.0
                for w in range(width):
                    freed = tiles[t, w] & ~twice[w] & observed[w]
                    zeros += weight[w] * zero * ones(freed & ~row[w])
                    gain -= weight[w] * one * ones(freed & row[w])
                bound[t] = zeros + cost
                gain += bound[t]
            else:
                for w in range(width):
                    new = tiles[t, w] & ~once[w] & observed[w]
                    gain += weight[w] * (one * ones(new & row[w]) - zero * ones(new & ~row[w]))
                gain -= cost
                bound[t] = gain
            if gain > best:
                best, change, partner = gain, t, -1
        if change < 0:
            # Exchange: one tile out, another in.
            for a in range(k):
                if not use[a]:
                    continue
                for b in range(k):
                    if use[b] or bound[a] + bound[b] <= best:
                        continue
                    gain = 0.0
                    for w in range(width):
                        freed = tiles[a, w] & ~twice[w] & ~tiles[b, w] & observed[w]
                        new = tiles[b, w] & ~once[w] & observed[w]
                        gain += weight[w] * (zero * ones(freed & ~row[w]) - one * ones(freed & row[w]))
                        gain += weight[w] * (one * ones(new & row[w]) - zero * ones(new & ~row[w]))
                    if gain > best:
                        best, change, partner = gain, a, b
        if change < 0:
            break
        use[change] = not use[change]
        if partner >= 0:
            use[partner] = True
    total = 0.0
    for w in range(width):
        x, cover = row[w] & observed[w], once[w] & observed[w]
        total += weight[w] * (one * ones(x & ~cover) + zero * ones(cover & ~x))
    for t in range(k):
        if use[t]:
            total += cost
    return total
