"""Compiled pieces of the Gibbs sampler for bits: one row's bits in turn, and whole tiles.

Tables and tiles are packed (`partwise.boolean.bits`). A bit of a tile counts in a row only where no other tile
covers the entry. What the others cover is the OR of the tiles before it, which is kept as the sweep goes on, and of
those behind it, which is computed once for a row from the last tile to the first: no counts have to be kept up to
date.
"""

from __future__ import annotations

import numpy as np

from partwise.boolean.bits import popcount
from partwise.jit import leaf, njit

_ONE = np.uint64(1)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_rows(
    ones: np.ndarray,
    zeros: np.ndarray,
    tiles: np.ndarray,
    use: np.ndarray,
    uniform: np.ndarray,
    odds: np.ndarray,
    gain: float,
    loss: float,
) -> None:
    """Draw every bit of `use` (n × k) from its conditional given all others, row by row; in place.

    `odds` has the prior log-odds of a bit of each tile. A one that a tile alone covers speaks for it by `gain`, a
    zero against it by `loss`. `uniform` has a number from [0, 1) for each bit.
    """
    n, k = use.shape
    width = tiles.shape[1]
    behind = np.zeros((k + 1, width), np.uint64)
    before = np.zeros(width, np.uint64)
    for i in range(n):
        for t in range(k - 1, -1, -1):
            for w in range(width):
                behind[t, w] = behind[t + 1, w] | (tiles[t, w] if use[i, t] else np.uint64(0))
        for w in range(width):
            before[w] = 0
        for t in range(k):
            right, wrong = 0, 0
            for w in range(width):
                alone = tiles[t, w] & ~(before[w] | behind[t + 1, w])
                right += popcount(ones[i, w] & alone)
                wrong += popcount(zeros[i, w] & alone)
            logit = odds[t] + gain * right - loss * wrong
            on = uniform[i, t] * (1.0 + np.exp(-logit)) < 1.0
            use[i, t] = on
            if on:
                for w in range(width):
                    before[w] |= tiles[t, w]


@njit(cache=True, nogil=True, error_model="numpy")
def add_bits(packed: np.ndarray, counts: np.ndarray) -> None:
    """Add the bits of packed rows to `counts` (n × m)."""
    n, m = counts.shape
    for i in range(n):
        for j in range(m):
            counts[i, j] += (packed[i, j >> 6] >> np.uint64(j & 63)) & _ONE


@leaf()
def row_score(
    ones: np.ndarray,
    zeros: np.ndarray,
    others: np.ndarray,
    i: int,
    tile: np.ndarray,
    gain: float,
    loss: float,
) -> float:
    """Log-likelihood that row i gains by using a packed tile, where `others` are covered already."""
    right, wrong = 0, 0
    for w in range(tile.shape[0]):
        free = tile[w] & ~others[i, w]
        right += popcount(ones[i, w] & free)
        wrong += popcount(zeros[i, w] & free)
    return gain * right - loss * wrong


@leaf()
def column_scores(
    ones: np.ndarray,
    zeros: np.ndarray,
    others: np.ndarray,
    rows: np.ndarray,
    gain: float,
    loss: float,
    out: np.ndarray,
) -> None:
    """Log-likelihood that each column gains by joining a tile of given rows (bool)."""
    m = out.shape[0]
    for j in range(m):
        out[j] = 0.0
    for i in range(rows.shape[0]):
        if rows[i]:
            for w in range(ones.shape[1]):
                one, zero = ones[i, w] & ~others[i, w], zeros[i, w] & ~others[i, w]
                for j in range(64 * w, min(64 * w + 64, m)):
                    b = np.uint64(j & 63)
                    out[j] += gain * ((one >> b) & _ONE) - loss * ((zero >> b) & _ONE)


@njit(cache=True, nogil=True, error_model="numpy")
def near_chances(
    ones: np.ndarray,
    zeros: np.ndarray,
    others: np.ndarray,
    seed: int,
    share: float,
    add: float,
    drop: float,
    odds: float,
    passes: int,
    least: float,
    out: np.ndarray,
) -> bool:
    """Probabilities of the columns of a tile that row `seed` may belong to, from what `others` leave uncovered.

    Rows that share more of the seed's uncovered ones than noise would, if a `share` of those ones were the tile's,
    are taken together; the columns that they have in common are the tile, and rows and columns are matched `passes`
    times more. All of this is a function of the data, the other tiles and the seed, so that it may serve as a
    proposal. Probabilities are at least `least` away from 0 and 1. Returns False if the seed has nothing uncovered.
    """
    n, width = ones.shape
    m = out.shape[0]
    gain, loss = np.log((1.0 - drop) / add), np.log((1.0 - add) / drop)
    both = share * (1.0 - drop) + (1.0 - share) * add
    yes, no = np.log(both / add), -np.log((1.0 - both) / (1.0 - add))
    rows = np.zeros(n, np.bool_)
    tile = np.zeros(width, np.uint64)
    template = 0
    for w in range(width):
        tile[w] = ones[seed, w] & ~others[seed, w]
        template += popcount(tile[w])
    if template == 0:
        return False
    for i in range(n):
        rows[i] = odds + row_score(ones, zeros, others, i, tile, yes, no) > 0.0
    rows[seed] = True
    for _ in range(passes):
        column_scores(ones, zeros, others, rows, gain, loss, out)
        for w in range(width):
            tile[w] = 0
        for j in range(m):
            if out[j] + odds > 0.0:
                tile[j >> 6] |= _ONE << np.uint64(j & 63)
        for i in range(n):
            rows[i] = odds + row_score(ones, zeros, others, i, tile, gain, loss) > 0.0
    column_scores(ones, zeros, others, rows, gain, loss, out)
    for j in range(m):
        out[j] = min(max(1.0 / (1.0 + np.exp(-odds - out[j])), least), 1.0 - least)
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def draw_rows(
    ones: np.ndarray,
    zeros: np.ndarray,
    others: np.ndarray,
    tile: np.ndarray,
    odds: float,
    gain: float,
    loss: float,
    uniform: np.ndarray,
    out: np.ndarray,
) -> None:
    """Draw which rows use a packed tile from their conditional, given prior log-odds; into `out` (bool)."""
    for i in range(out.shape[0]):
        logit = odds + row_score(ones, zeros, others, i, tile, gain, loss)
        out[i] = uniform[i] * (1.0 + np.exp(-logit)) < 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def evidence(
    ones: np.ndarray,
    zeros: np.ndarray,
    others: np.ndarray,
    tile: np.ndarray,
    density: float,
    gain: float,
    loss: float,
) -> float:
    """Log of the sum over all w of prior times likelihood of a packed tile: Σ log(1 − q + q exp(score)) over rows."""
    total = 0.0
    on, off = np.log(density), np.log1p(-density)
    for i in range(ones.shape[0]):
        score = on + row_score(ones, zeros, others, i, tile, gain, loss)
        total += max(score, off) + np.log1p(np.exp(-abs(score - off)))
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def usage_chances(
    ones: np.ndarray,
    zeros: np.ndarray,
    tiles: np.ndarray,
    odds: np.ndarray,
    gain: float,
    loss: float,
    uniform: np.ndarray,
    n_warmup: int,
    out: np.ndarray,
) -> None:
    """Probability that each row uses each of given tiles, by Gibbs sampling; into `out` (n × k).

    `uniform` has a line of k numbers for each sweep, the same for all rows, so that the result for a row depends on
    its data alone. After the first sweeps, the conditional probabilities of the bits are averaged.
    """
    n, k = out.shape
    width = tiles.shape[1]
    behind = np.zeros((k + 1, width), np.uint64)
    before = np.zeros(width, np.uint64)
    use = np.zeros(k, np.bool_)
    for i in range(n):
        for t in range(k):
            use[t] = False
            out[i, t] = 0.0
        for s in range(uniform.shape[0]):
            for t in range(k - 1, -1, -1):
                for w in range(width):
                    behind[t, w] = behind[t + 1, w] | (tiles[t, w] if use[t] else np.uint64(0))
            for w in range(width):
                before[w] = 0
            for t in range(k):
                right, wrong = 0, 0
                for w in range(width):
                    alone = tiles[t, w] & ~(before[w] | behind[t + 1, w])
                    right += popcount(ones[i, w] & alone)
                    wrong += popcount(zeros[i, w] & alone)
                chance = 1.0 / (1.0 + np.exp(-odds[t] - gain * right + loss * wrong))
                if s >= n_warmup:
                    out[i, t] += chance / (uniform.shape[0] - n_warmup)
                use[t] = uniform[s, t] < chance
                if use[t]:
                    for w in range(width):
                        before[w] |= tiles[t, w]
