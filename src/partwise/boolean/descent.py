"""Which tiles should a row use? One factor of a Boolean factorization with the other one held, on packed bits.

The cost, over observed entries, is given by `Prices`: a price for every one left uncovered, for every zero covered,
and for every tile used. Single tiles are added, dropped and exchanged until no such change helps; with few tiles a
search by branch and bound then finds the best subset. Columns are treated as rows of the transpose.

Arguments of the compiled functions: `bits`, `zeros` and `weight` as in `bit_table.Side`; `tiles`, the packed tiles
in all planes (k × words), and `tiles_T`, their transpose; `use` or `usage`, which tiles each row uses (n × k, bool);
`once` and `twice`, what is covered by at least one and by at least two used tiles (n × words).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.bit_table import Side
from partwise.boolean.bits import popcount
from partwise.boolean.branch_and_bound import exact_rows
from partwise.boolean.prices import WRONG, Prices, as_floats
from partwise.jit import leaf, njit, piece
from partwise.parallel import over_rows

#: With up to `MOST_EXACT` tiles the best subset is found; with more, branch and bound ends after `MOST_STEPS` nodes.
MOST_EXACT, MOST_STEPS = 16, 4096
#: Longest row, in words, that is covered without branches.
SHORT = 4
_ZERO, _FULL = np.uint64(0), ~np.uint64(0)
#: Two counts share a word: zeros in the upper half, ones in the lower.
_HALF, _LOWER = np.int64(32), np.int64(0xFFFFFFFF)
_HUGE = 1e300


def best_usage(
    side: Side,
    packed: np.ndarray,
    usage: np.ndarray,
    prices: Prices = WRONG,
    exact: bool | None = None,
) -> float:
    """Lower the cost of `usage`, in place; returns the cost.

    Parameters
    ----------
    side : Side
        The table by rows; by columns, to improve the columns of tiles whose rows are held.
    packed : array of uint64 of shape (k, words)
        The packed tiles.
    usage : array of bool of shape (n, k)
        Which tiles each row uses. No row ends with a higher cost than it began with.
    prices : Prices
    exact : bool, optional
        Whether to look for the best subset by branch and bound. By default, if there are at most `MOST_EXACT` tiles.

    Returns
    -------
    float
        The cost over all rows.
    """
    n, k = usage.shape
    out = np.zeros(n)
    tiles, held = side.spread(packed), as_floats(prices)
    tiles_T = np.ascontiguousarray(tiles.T)
    steps = 4 << k if k <= MOST_EXACT else MOST_STEPS

    def task(a: int, b: int) -> None:
        sides = side.bits[a:b], side.zeros[a:b], side.weight, tiles
        rows = usage[a:b], held, out[a:b]
        local_rows(*sides, tiles_T, *rows)
        if exact if exact is not None else k <= MOST_EXACT:
            exact_rows(*sides, *rows, steps)

    # Handing rows to another thread takes about as long as working on 32768 words of tiles.
    over_rows(task, n, grain=max(32, 32768 // max(1, tiles.size)))
    return float(out.sum())


@leaf(forceinline=True)
def gain_of_taking(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    tiles: np.ndarray,
    t: int,
    covered: np.ndarray,
    prices: Prices,
    other: int,
) -> float:
    """Gain of row i by what tile t covers outside of `covered` (n × words) and outside of tile `other`.

    The price of the ones less the price of the zeros, without the price of using the tile. -1 for `other` is no tile.
    """
    # Within a plane every bit weighs the same, so the inner loop counts in integers.
    planes = weight.shape[0]
    width = bits.shape[1] if planes == 1 else bits.shape[1] // planes
    total = 0.0
    for p in range(planes):
        good, bad = 0, 0
        for w in range(p * width, (p + 1) * width):
            new = tiles[t, w] & ~(covered[i, w] | (tiles[other, w] if other >= 0 else _ZERO))
            good += popcount(new & bits[i, w])
            bad += popcount(new & zeros[i, w])
        total += weight[p] * (prices.one * good - prices.zero * bad)
    return total


@leaf(forceinline=True)
def cover_cost(
    bits: np.ndarray, zeros: np.ndarray, weight: np.ndarray, i: int, cover: np.ndarray, prices: Prices
) -> float:
    """Cost of row i if `cover[i]` is covered: uncovered ones and covered zeros, without uses of tiles."""
    planes = weight.shape[0]
    width = bits.shape[1] if planes == 1 else bits.shape[1] // planes
    total = 0.0
    for p in range(planes):
        missed, overdone = 0, 0
        for w in range(p * width, (p + 1) * width):
            missed += popcount(bits[i, w] & ~cover[i, w])
            overdone += popcount(zeros[i, w] & cover[i, w])
        total += weight[p] * (prices.one * missed + prices.zero * overdone)
    return total


@leaf(forceinline=True)
def cover_row(tiles: np.ndarray, use: np.ndarray, i: int, once: np.ndarray, twice: np.ndarray) -> None:
    """Write what the tiles used by row i cover into `once[i]`, and what two or more cover into `twice[i]`."""
    k, width = tiles.shape
    if width <= SHORT:
        # Which tiles a row uses is unpredictable: masking all of them is quicker than branching around some.
        for w in range(width):
            covered, again = _ZERO, _ZERO
            for t in range(k):
                tile = tiles[t, w] & (_ZERO - np.uint64(use[i, t]))
                again |= covered & tile
                covered |= tile
            once[i, w] = covered
            twice[i, w] = again
        return
    for w in range(width):
        once[i, w] = _ZERO
        twice[i, w] = _ZERO
    for t in range(k):
        if use[i, t]:
            for w in range(width):
                twice[i, w] |= once[i, w] & tiles[t, w]
                once[i, w] |= tiles[t, w]


class RowScratch(NamedTuple):
    """Scratch arrays with one entry per tile, for the changes that are open to a row."""

    #: All bits set for tiles that the row does not use, none for those it uses.
    unused: np.ndarray
    #: Ones that the tile alone covers or would add, and in the upper half of the word the zeros.
    counts: np.ndarray
    #: Gain of dropping the tile, or of taking it.
    gain: np.ndarray
    #: For a used tile the price of the zeros it alone covers, for an unused one the gain of taking it.
    bound: np.ndarray


@piece()
def row_scratch(k: int) -> RowScratch:
    """Scratch arrays for k tiles."""
    return RowScratch(np.empty(k, np.uint64), np.empty(k, np.int64), np.empty(k), np.empty(k))


@leaf(forceinline=True)
def count_alone(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    tiles_T: np.ndarray,
    use: np.ndarray,
    once: np.ndarray,
    twice: np.ndarray,
    scratch: RowScratch,
    prices: Prices,
) -> None:
    """For each tile, count what it alone covers of row i, or what an unused tile would add to the cover.

    The price of these ones less that of these zeros goes into `scratch.gain`, the price of the zeros into
    `scratch.bound`. The inner loop runs over tiles, contiguous in `tiles_T`, because rows are often only a word or
    two.
    """
    words, k = tiles_T.shape
    planes = weight.shape[0]
    width = words if planes == 1 else words // planes
    unused, counts, gain, bound = scratch.unused, scratch.counts, scratch.gain, scratch.bound
    for t in range(k):
        unused[t] = _ZERO if use[i, t] else _FULL
        gain[t] = 0.0
        bound[t] = 0.0
    for p in range(planes):
        for t in range(k):
            counts[t] = 0
        for w in range(p * width, (p + 1) * width):
            one, zero, covered, again = bits[i, w], zeros[i, w], once[i, w], twice[i, w]
            for t in range(k):
                alone = tiles_T[w, t] & ~(again | (covered & unused[t]))
                counts[t] += popcount(alone & one) + (popcount(alone & zero) << _HALF)
        for t in range(k):
            good, bad = np.int32(counts[t] & _LOWER), np.int32(counts[t] >> _HALF)
            gain[t] += weight[p] * (prices.one * good - prices.zero * bad)
            bound[t] += weight[p] * prices.zero * bad


@leaf(forceinline=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def weigh_changes(use: np.ndarray, i: int, scratch: RowScratch, cost: float) -> tuple[float, float, float]:
    """Turn the counts in `scratch` into what each change gains, where using a tile costs `cost`.

    On return `gain` has, for each tile, the gain of dropping it (if used) or taking it (if not). `bound` has the
    share of each tile in an upper bound on the gain of an exchange. Returns the best single gain, the largest bound
    of a used tile and the largest bound of an unused one.
    """
    gain, bound = scratch.gain, scratch.bound
    best, drop, take = -_HUGE, -_HUGE, -_HUGE
    # Selections instead of branches, so that the compiler can handle several tiles at a time.
    for t in range(use.shape[1]):
        used = use[i, t]
        taken, dropped = gain[t] - cost, bound[t] + cost
        change = -taken if used else taken
        gain[t] = change
        bound[t] = dropped if used else taken
        best = change if change > best else best
        dropped = dropped if used else -_HUGE
        taken = -_HUGE if used else taken
        drop = dropped if dropped > drop else drop
        take = taken if taken > take else take
    return best, drop, take


@leaf()
def improve(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    tiles: np.ndarray,
    tiles_T: np.ndarray,
    use: np.ndarray,
    once: np.ndarray,
    twice: np.ndarray,
    scratch: RowScratch,
    prices: Prices,
    tie: float,
) -> float:
    """Apply the best single change to row i, or the best exchange where none helps, until neither does.

    Returns the cost of the row. Dropping a tile uncovers what it covers and `twice` does not. An exchange gains at
    most the price of the zeros that the dropped tile alone covers plus the gain of taking the other by itself.
    `tie` is added to the price of a tile: a small positive or negative value makes the row drop or take tiles that
    change nothing.
    """
    k = tiles.shape[0]
    gain, bound = scratch.gain, scratch.bound
    cost = prices.tile + tie
    while True:
        cover_row(tiles, use, i, once, twice)
        count_alone(bits, zeros, weight, i, tiles_T, use, once, twice, scratch, prices)
        best, drop, take = weigh_changes(use, i, scratch, cost)
        if best > 1e-9:
            t = 0
            while gain[t] != best:
                t += 1
            use[i, t] = not use[i, t]
            continue
        best, change, partner = 1e-9, -1, -1
        if drop + take > best:
            for a in range(k):
                if not use[i, a] or bound[a] + take <= best:
                    continue
                for b in range(k):
                    if use[i, b] or bound[a] + bound[b] <= best:
                        continue
                    worth = (
                        bound[b] + cost - gain_of_taking(bits, zeros, weight, i, tiles, a, twice, prices, b)
                    )
                    if worth > best:
                        best, change, partner = worth, a, b
        if change < 0:
            break
        use[i, change] = False
        use[i, partner] = True
    uses = 0
    for t in range(k):
        uses += int(use[i, t])
    return cover_cost(bits, zeros, weight, i, once, prices) + prices.tile * uses


@njit(cache=True, nogil=True, error_model="numpy")
def local_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    tiles_T: np.ndarray,
    usage: np.ndarray,
    prices: Prices,
    out: np.ndarray,
) -> None:
    """Improve each row twice, from the tiles it uses and from none, and keep the cheaper result in `usage`.

    The costs go into `out`.
    """
    n, width = bits.shape
    k = usage.shape[1]
    fresh = np.zeros((n, k), np.bool_)
    once, twice = np.empty((n, width), np.uint64), np.empty((n, width), np.uint64)
    scratch = row_scratch(k)
    for i in range(n):
        first = improve(bits, zeros, weight, i, tiles, tiles_T, usage, once, twice, scratch, prices, 0.0)
        second = improve(bits, zeros, weight, i, tiles, tiles_T, fresh, once, twice, scratch, prices, 0.0)
        if second < first - 1e-9:
            for t in range(k):
                usage[i, t] = fresh[i, t]
        out[i] = min(first, second)
