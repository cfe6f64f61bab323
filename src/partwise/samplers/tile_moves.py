"""Whole tiles replaced at once, by Metropolis-Hastings: so that chains leave arrangements that no single bit can.

A move takes one tile, or two, out of the state and proposes others in their place. For a tile, a row is drawn as a
seed. From the data that the remaining tiles leave uncovered, the rows that resemble the seed and their columns are
found (`bit_kernels.near_chances`); h' is drawn bit by bit near those columns, or, with probability `PRIOR_SHARE`,
from its prior; w' from its conditional given h', whose normalising constant is a product over rows. Everything but
the random bits depends on what is held alone, so for each seed this is an independence proposal with a density that
can be written down, for the tile proposed and for the one it replaces.

Which tiles are replaced, and which rows are seeds, does depend on the state: tiles without use go first, two tiles
are taken together more often if they resemble one another, and seeds lie more often in rows of the tiles that are
taken. The chances of the same choices after the move are computed too, and go into the ratio.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.boolean.bits import pack, product
from partwise.samplers.bit_kernels import draw_rows, evidence, near_chances
from partwise.samplers.boolean_posterior import BitState, BooleanPosterior, log_beta

#: Probability that the columns of a tile are proposed from their prior: what a tile without use looks like.
PRIOR_SHARE = 0.1
#: Least probability of either value of a proposed bit.
LEAST = 0.003
#: Shares of a seed's uncovered ones that are supposed to be the tile's; drawn with the seed.
SHARES = (0.25, 0.5, 1.0)
#: How often rows and columns are matched, and by what the rate of dropped ones is divided, so that tiles are found
#: that leave out fewer ones than the present tiles, which may be wrong, make believe; drawn with the seed.
PASSES, STRICTNESS = (0, 1, 2), (1.0, 1.0, 4.0)
#: Share of set bits that rows and columns of a proposed tile are supposed to have.
USUAL = 0.1
#: Beta distribution from which the densities of a tile are proposed.
DENSITY = (1.0, 4.0)


@dataclass(frozen=True)
class Seed:
    """What the proposal of one tile starts from: a row, the densities of the tile, and how it is looked for."""

    row: int
    densities: np.ndarray
    share: float
    passes: int
    strictness: float


@dataclass
class Tile:
    """One tile: its rows, its columns, and the densities of both."""

    rows: np.ndarray
    columns: np.ndarray
    densities: np.ndarray


class TileProposal:
    """The proposal for one tile, for one seed and with given tiles held.

    Parameters
    ----------
    problem : BooleanPosterior
        The posterior.
    others : array of uint64 of shape (n, words)
        What the tiles held cover, packed.
    seed : Seed
        The seed.
    flips : array of shape (2,)
        Probabilities of a flip.
    heat : float
        Exponent of the likelihood.
    """

    def __init__(
        self, problem: BooleanPosterior, others: np.ndarray, seed: Seed, flips: np.ndarray, heat: float
    ) -> None:
        self.problem, self.side, self.others = problem, problem.table.by_row, others
        add, drop = flips
        self.gain = heat * float(np.log((1.0 - drop) / add))
        self.loss = heat * float(np.log((1.0 - add) / drop))
        self.near = np.empty(problem.table.m)
        add, drop = np.clip(flips, 1e-4, 0.45)
        self.found = near_chances(
            self.side.bits,
            self.side.zeros,
            others,
            seed.row,
            seed.share,
            add,
            drop / seed.strictness,
            float(np.log(USUAL / (1.0 - USUAL))),
            seed.passes,
            LEAST,
            self.near,
        )

    def draw(self, densities: np.ndarray, rng: np.random.Generator) -> Tile:
        """A tile from the proposal, with given densities."""
        from_prior = rng.random() < PRIOR_SHARE or not self.found
        columns = rng.random(len(self.near)) < (densities[1] if from_prior else self.near)
        rows = np.empty(self.problem.table.n, bool)
        odds = float(np.log(densities[0]) - np.log1p(-densities[0]))
        uniform, tile = rng.random(len(rows)), pack(columns[None])[0]
        draw_rows(
            self.side.bits, self.side.zeros, self.others, tile, odds, self.gain, self.loss, uniform, rows
        )
        return Tile(rows, columns, densities)

    def log_worth(self, tile: Tile) -> float:
        """Log of the target over the proposal, for a tile; the likelihood is relative to that without the tile.

        With w drawn from its conditional, the target over the proposal of w is the same for every w: the sum over
        all w, the `evidence`.
        """
        on, m = int(tile.columns.sum()), len(tile.columns)
        prior = float(on * np.log(tile.densities[1]) + (m - on) * np.log1p(-tile.densities[1]))
        proposal = prior
        if self.found:
            near = float(np.log(np.where(tile.columns, self.near, 1.0 - self.near)).sum())
            proposal = float(np.logaddexp(np.log(PRIOR_SHARE) + prior, np.log1p(-PRIOR_SHARE) + near))
        likelihood = evidence(
            self.side.bits,
            self.side.zeros,
            self.others,
            pack(tile.columns[None])[0],
            float(tile.densities[0]),
            self.gain,
            self.loss,
        )
        believed = log_beta(tile.densities, *self.problem.density_prior).sum()
        proposed = log_beta(tile.densities, *DENSITY).sum()
        return float(likelihood + prior - proposal + believed - proposed)


def choice_chances(state: BitState, first: int | None) -> np.ndarray:
    """Probability of each tile to be chosen for replacement.

    Parameters
    ----------
    state : BitState
        The state.
    first : int or None
        The tile chosen before, where two are replaced.

    Returns
    -------
    array of shape (k,)
        For the first tile half of it even, half in inverse proportion to the tile's area; for the second, a third
        even among the others, a third in proportion to its area, for a large tile may be two in one, and a third to
        the cosines of its columns and of its rows with those of the first.
    """
    k = state.W.shape[1]
    sizes = np.stack([A.sum(axis=0, dtype=np.int64) for A in (state.W, state.Ht)])
    area = sizes[0] * sizes[1]
    if first is None:
        parts = [np.ones(k), 1.0 / (1.0 + area)]
    else:
        likeness = np.full(k, 1e-3)
        for A, size in zip((state.W, state.Ht), sizes):
            likeness += A[A[:, first]].sum(axis=0) / np.sqrt(np.maximum(1, size * size[first]))
        parts = [np.ones(k), 1.0 + area, likeness]
        for part in parts:
            part[first] = 0.0
    return np.asarray(sum(part / part.sum() for part in parts) / len(parts))


def log_chance(state: BitState, which: np.ndarray, seeds: list[Seed]) -> float:
    """Log-probability of choosing these tiles and these seeds.

    Parameters
    ----------
    state : BitState
        The state in which they are chosen.
    which : array of int
        One tile, or two.
    seeds : list of Seed
        A seed for each.

    Returns
    -------
    float
        Shares and densities, which are drawn independently of the state, are left out.
    """
    total = float(np.log(choice_chances(state, None)[which[0]]))
    if len(which) > 1:
        total += float(np.log(choice_chances(state, which[0])[which[1]]))
    rows = np.asarray(state.W[:, which].any(axis=1))
    n, inside = len(rows), int(rows.sum())
    for seed in seeds:
        chance = 1.0 / n if inside == 0 else 0.5 / n + 0.5 * rows[seed.row] / inside
        total += float(np.log(chance))
    return total


def draw_seeds(state: BitState, which: np.ndarray, rng: np.random.Generator) -> list[Seed]:
    """A seed for each tile: half of the rows from anywhere, half from the rows of the tiles to be replaced.

    Parameters
    ----------
    state : BitState
        The state.
    which : array of int
        The tiles.
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    list of Seed
        In the order of the tiles.
    """
    rows = np.flatnonzero(state.W[:, which].any(axis=1))
    seeds = []
    for _ in which:
        anywhere = rng.random() < 0.5 or len(rows) == 0
        row = rng.integers(len(state.W)) if anywhere else rows[rng.integers(len(rows))]
        share, passes, strictness = (int(rng.integers(3)) for _ in range(3))
        found = Seed(int(row), rng.beta(*DENSITY, 2), SHARES[share], PASSES[passes], STRICTNESS[strictness])
        seeds.append(found)
    return seeds


def replace_tiles(
    problem: BooleanPosterior,
    state: BitState,
    number: int,
    heat: float,
    rng: np.random.Generator,
    held: bool = False,
) -> bool:
    """Propose to replace one tile, or two one after the other, both accepted or neither; in place.

    Parameters
    ----------
    problem : BooleanPosterior
        The posterior.
    state : BitState
        The state; changed if the proposal is accepted.
    number : {1, 2}
        How many tiles.
    heat : float
        Exponent of the likelihood.
    rng : Generator
        Where random numbers are drawn from.
    held : bool
        Whether densities stay as they are.

    Returns
    -------
    bool
        Whether the proposal was accepted.
    """
    k = state.W.shape[1]
    chosen: list[int] = []
    for _ in range(number):
        chances = choice_chances(state, chosen[0] if chosen else None)
        chosen.append(min(int(np.searchsorted(chances.cumsum(), rng.random(), side="right")), k - 1))
    which = np.array(chosen)
    seeds = draw_seeds(state, which, rng)
    kept = np.ones(k, bool)
    kept[which] = False
    cover = product(np.ascontiguousarray(state.W[:, kept]), pack(state.Ht[:, kept].T))
    old_cover, new_cover = cover, cover
    ratio = 0.0
    proposed: list[Tile] = []
    for t, seed in zip(which, seeds):
        forward = TileProposal(problem, new_cover, seed, state.flips, heat)
        tile = forward.draw(state.densities[:, t] if held else seed.densities, rng)
        old = Tile(state.W[:, t], state.Ht[:, t], state.densities[:, t])
        backward = forward if not proposed else TileProposal(problem, old_cover, seed, state.flips, heat)
        ratio += forward.log_worth(tile) - backward.log_worth(old)
        proposed.append(tile)
        if len(proposed) < number:
            new_cover, old_cover = covered_too(new_cover, tile), covered_too(old_cover, old)
    threshold = float(np.log(rng.random()))
    # The chances of the choices are worth some twenty nats at most, and take time.
    if ratio < threshold - 60.0:
        return False
    after = BitState(state.W.copy(), state.Ht.copy(), state.flips, state.densities.copy())
    for t, tile in zip(which, proposed):
        after.W[:, t], after.Ht[:, t], after.densities[:, t] = tile.rows, tile.columns, tile.densities
    ratio += log_chance(after, which, seeds) - log_chance(state, which, seeds)
    if not threshold < ratio:
        return False
    state.W, state.Ht, state.densities = after.W, after.Ht, after.densities
    return True


def covered_too(cover: np.ndarray, tile: Tile) -> np.ndarray:
    """The packed cover with one more tile.

    Parameters
    ----------
    cover : array of uint64 of shape (n, words)
        What is covered.
    tile : Tile
        What is covered too.

    Returns
    -------
    array of uint64 of shape (n, words)
        A new array.
    """
    out = cover.copy()
    out[tile.rows] |= pack(tile.columns[None])[0]
    return out
