"""Which tiles should a row use? One side of a Boolean factorization with the other held, on packed bits.

What is lowered, over observed entries, is `Prices`: so much for every one that is not covered, so much for
every zero that is, so much for every tile used. With 1, 1 and 0 that is the number of wrong entries. Single tiles
are added, dropped and exchanged until none of that helps; for few tiles a search by branch and bound then
finds the best subset there is. Columns are rows of the transpose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.boolean.bits import ones
from partwise.boolean.table import Side
from partwise.jit import leaf, njit
from partwise.parallel import over_rows

#: Up to so many tiles the best subset is found; with more, after so many steps the best of those seen is taken.
MOST_EXACT, MOST_STEPS = 16, 4096
#: Rows of up to so many words are covered without branches.
SHORT = 4
_ZERO, _FULL = np.uint64(0), ~np.uint64(0)
#: Two counts in one word.
_HALF, _LOWER = np.int64(32), np.int64(0xFFFFFFFF)
_HUGE = 1e300


class Prices(NamedTuple):
    """What is paid for a one left uncovered, for a zero covered, and for the use of a tile."""

    one: float = 1.0
    zero: float = 1.0
    tile: float = 0.0


WRONG = Prices()
#: The same, and of equals the one with the fewest bits.
FEWEST = Prices(tile=1e-6)


def best_usage(
    side: Side,
    packed: np.ndarray,
    usage: np.ndarray,
    prices: Prices = WRONG,
    exact: bool | None = None,
) -> float:
    """Improve `usage` (n × k, bool) of the packed tiles in place; returns what is paid.

    No row ends worse than it began. With `exact` the best subset is looked for, by default if tiles are few.
    """
    n, k = usage.shape
    out = np.zeros(n)
    tiles, held = side.spread(packed), as_floats(prices)
    across = np.ascontiguousarray(tiles.T)
    steps = 4 << k if k <= MOST_EXACT else MOST_STEPS

    def task(a: int, b: int) -> None:
        sides = side.bits[a:b], side.zeros[a:b], side.weight, tiles
        rows = usage[a:b], held, out[a:b]
        local_rows(*sides, across, *rows)
        if exact if exact is not None else k <= MOST_EXACT:
            exact_rows(*sides, *rows, steps)

    # To hand rows to another thread takes as long as to deal with so many tiles of a word.
    over_rows(task, n, grain=max(32, 32768 // max(1, tiles.size)))
    return float(out.sum())


def as_floats(prices: Prices) -> Prices:
    """The same prices, of the one type that kernels are compiled for."""
    return Prices(*(float(price) for price in prices))


@leaf(forceinline=True)
def taking(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    tiles: np.ndarray,
    t: int,
    closed: np.ndarray,
    prices: Prices,
    but: int,
) -> float:
    """What row i gains, ones over zeros, by what tile t covers outside of `closed` (n × words) and of tile `but`.

    -1 is no tile.
    """
    # Counts are whole numbers within a plane, so that the loop is one of integers.
    planes = weight.shape[0]
    width = bits.shape[1] if planes == 1 else bits.shape[1] // planes
    total = 0.0
    for p in range(planes):
        good, bad = 0, 0
        for w in range(p * width, (p + 1) * width):
            new = tiles[t, w] & ~(closed[i, w] | (tiles[but, w] if but >= 0 else _ZERO))
            good += ones(new & bits[i, w])
            bad += ones(new & zeros[i, w])
        total += weight[p] * (prices.one * good - prices.zero * bad)
    return total


@leaf(forceinline=True)
def wrong_in_row(
    bits: np.ndarray, zeros: np.ndarray, weight: np.ndarray, i: int, cover: np.ndarray, prices: Prices
) -> float:
    """What row i pays for what is covered and what is not."""
    planes = weight.shape[0]
    width = bits.shape[1] if planes == 1 else bits.shape[1] // planes
    total = 0.0
    for p in range(planes):
        missed, overdone = 0, 0
        for w in range(p * width, (p + 1) * width):
            missed += ones(bits[i, w] & ~cover[i, w])
            overdone += ones(zeros[i, w] & cover[i, w])
        total += weight[p] * (prices.one * missed + prices.zero * overdone)
    return total


@leaf(forceinline=True)
def cover_row(tiles: np.ndarray, use: np.ndarray, i: int, once: np.ndarray, twice: np.ndarray) -> None:
    """What the tiles of row i cover, and what two or more of them cover."""
    k, width = tiles.shape
    if width <= SHORT:
        # Which tiles a row uses cannot be guessed: to go through all of them is quicker than to skip some.
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


class Desk(NamedTuple):
    """Where a row's changes are worked out, tile by tile."""

    #: All ones for tiles that the row does not use.
    unused: np.ndarray
    #: Ones that the tile alone covers, or would cover, and in the upper half of the word the zeros.
    counts: np.ndarray
    #: What it gains to take the tile, or to drop it.
    gain: np.ndarray
    #: Of a tile that is used, the zeros that it alone covers; of one that is not, what it gains to take it.
    bound: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def desk_for(k: int) -> Desk:
    """One for so many tiles."""
    return Desk(np.empty(k, np.uint64), np.empty(k, np.int64), np.empty(k), np.empty(k))


@leaf(forceinline=True)
def count_alone(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    i: int,
    across: np.ndarray,
    use: np.ndarray,
    once: np.ndarray,
    twice: np.ndarray,
    desk: Desk,
    prices: Prices,
) -> None:
    """What each tile alone covers of row i, or would: ones over zeros into `desk.gain`, zeros into `desk.bound`.

    Tile after tile in the inner loop, for which `across` has the tiles as columns: rows are often a word or two.
    """
    words, k = across.shape
    planes = weight.shape[0]
    width = words if planes == 1 else words // planes
    unused, counts, gain, bound = desk.unused, desk.counts, desk.gain, desk.bound
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
                alone = across[w, t] & ~(again | (covered & unused[t]))
                counts[t] += ones(alone & one) + (ones(alone & zero) << _HALF)
        for t in range(k):
            good, bad = np.int32(counts[t] & _LOWER), np.int32(counts[t] >> _HALF)
            gain[t] += weight[p] * (prices.one * good - prices.zero * bad)
            bound[t] += weight[p] * prices.zero * bad


@leaf(forceinline=True, fastmath={"nnan", "nsz", "reassoc", "contract"})
def weigh_changes(use: np.ndarray, i: int, desk: Desk, cost: float) -> tuple[float, float, float]:
    """From those counts what each change gains, and the most that one can; the most that a tile which is dropped,
    and one which is taken for it, can add to an exchange.
    """
    gain, bound = desk.gain, desk.bound
    best, drop, take = -_HUGE, -_HUGE, -_HUGE
    # Choices, not branches, so that several tiles are dealt with at a time.
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
    across: np.ndarray,
    use: np.ndarray,
    once: np.ndarray,
    twice: np.ndarray,
    desk: Desk,
    prices: Prices,
    tie: float,
) -> float:
    """Take the best single change of row i until none helps; returns what it pays.

    `once` holds what is covered, `twice` what is covered by two tiles or more: dropping a tile uncovers what it
    covers and `twice` does not. An exchange gains at most the zeros that the one tile alone covers and what the
    other gains by itself. A small `tie`, above or below zero, makes the row drop or take tiles that change nothing.
    """
    k = tiles.shape[0]
    gain, bound = desk.gain, desk.bound
    cost = prices.tile + tie
    while True:
        cover_row(tiles, use, i, once, twice)
        count_alone(bits, zeros, weight, i, across, use, once, twice, desk, prices)
        best, drop, take = weigh_changes(use, i, desk, cost)
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
                    worth = bound[b] + cost - taking(bits, zeros, weight, i, tiles, a, twice, prices, b)
                    if worth > best:
                        best, change, partner = worth, a, b
        if change < 0:
            break
        use[i, change] = False
        use[i, partner] = True
    uses = 0
    for t in range(k):
        uses += int(use[i, t])
    return wrong_in_row(bits, zeros, weight, i, once, prices) + prices.tile * uses


@njit(cache=True, nogil=True, error_model="numpy")
def local_rows(
    bits: np.ndarray,
    zeros: np.ndarray,
    weight: np.ndarray,
    tiles: np.ndarray,
    across: np.ndarray,
    usage: np.ndarray,
    prices: Prices,
    out: np.ndarray,
) -> None:
    """Each row from what it has and from nothing; the better of both."""
    n, width = bits.shape
    k = usage.shape[1]
    fresh = np.zeros((n, k), np.bool_)
    once, twice = np.empty((n, width), np.uint64), np.empty((n, width), np.uint64)
    desk = desk_for(k)
    for i in range(n):
        first = improve(bits, zeros, weight, i, tiles, across, usage, once, twice, desk, prices, 0.0)
        second = improve(bits, zeros, weight, i, tiles, across, fresh, once, twice, desk, prices, 0.0)
        if second < first - 1e-9:
            for t in range(k):
                usage[i, t] = fresh[i, t]
        out[i] = min(first, second)


@leaf()
def by_reach(
    bits: np.ndarray, weight: np.ndarray, i: int, tiles: np.ndarray, order: np.ndarray, reach: np.ndarray
) -> int:
    """The tiles that have any of row i's ones, those with most first, into `order`; returns how many there are."""
    plane = bits.shape[1] // weight.shape[0]
    useful = 0
    for t in range(tiles.shape[0]):
        hit = 0.0
        for w in range(bits.shape[1]):
            hit += weight[w // plane] * ones(tiles[t, w] & bits[i, w])
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
    """The best subset for each row; what it has now, and pays by `out`, if nothing is better.

    Depth first over the tiles, those with most of the row's ones first. A branch ends where what it covers wrongly,
    and what the tiles that are left cannot cover, cost as much as the best subset so far; and all do after `steps`.
    """
    n, width = bits.shape
    k = usage.shape[1]
    planes = weight.shape[0]
    plane = width // planes
    order, reach = np.empty(k, np.int64), np.empty(k)
    # At depth d: what is covered so far, and what the tiles from d on could cover.
    cover = np.zeros((k + 1, width), np.uint64)
    rest = np.zeros((k + 1, width), np.uint64)
    taken = np.zeros(k, np.bool_)
    tried = np.zeros(k + 1, np.int64)
    for i in range(n):
        if out[i] <= 1e-9:
            continue
        useful = by_reach(bits, weight, i, tiles, order, reach)
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
                        overdone += ones(cover[depth, w] & zeros[i, w])
                        missed += ones(bits[i, w] & ~(cover[depth, w] | rest[depth, w]))
                    least += weight[p] * (prices.zero * overdone + prices.one * missed)
                if least >= out[i] - 1e-9:
                    tried[depth] = 2
                elif depth == useful:
                    # A leaf that is better: nothing is left, so the bound is what it pays.
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
