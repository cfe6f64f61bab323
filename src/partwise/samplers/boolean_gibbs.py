"""Gibbs sampling of bits: rows, columns, flip probabilities, densities, and whole tiles.

Given everything else, a bit w_it is set with log-odds log(q/(1 − q)) + Σ_j [x_ij = 1] log((1 − p₋)/p₊) −
[x_ij = 0] log((1 − p₊)/p₋), the sum over the columns of tile t that no other tile of the row covers. Flip
probabilities and densities have Beta conditionals. Bits one at a time move between arrangements of tiles slowly;
`tile_moves` replaces whole tiles.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv

from partwise.boolean.bit_table import Side
from partwise.boolean.bits import pack
from partwise.core import Info
from partwise.parallel import over_rows, thread_limit, worthwhile
from partwise.samplers.bit_kernels import sweep_rows
from partwise.samplers.boolean_posterior import BitState, BooleanPosterior
from partwise.samplers.tile_moves import replace_tiles

#: Flip probabilities and densities stay this far from 0 and 1, where their logarithms end.
EDGE = 1e-9
#: How many times more proposals for two tiles the first steps make.
SEARCH = 6
#: Words of tiles to be looked at, in all rows, up to which one thread does the work.
SMALL = 2_000_000


@dataclass(frozen=True)
class BooleanGibbs:
    """Gibbs sampler of the OR model.

    Parameters
    ----------
    n_single : int, default=1
        Proposals to replace one tile, in each step.
    n_pair : int, default=1
        Proposals to replace two tiles at once, in each step.
    heat : tuple of float, default=()
        Exponents of the likelihood of the first steps: an annealed warm-up, after which the exponent is 1.
    searching : int, default=0
        Number of first steps that make `SEARCH` times as many proposals for two tiles: chains that begin in other
        arrangements of tiles meet there.
    held : bool, default=False
        Whether flip probabilities and densities stay as they are.
    """

    name = "gibbs"
    remedy = "Look for entries of the table that are not 0, 1 or missing."

    n_single: int = 1
    n_pair: int = 1
    heat: tuple[float, ...] = ()
    searching: int = 0
    held: bool = False

    def init(self, problem: BooleanPosterior, W: Any, Ht: Any, rng: np.random.Generator) -> BitState:
        """A state with given bits, and flips and densities drawn from their conditionals.

        Parameters
        ----------
        problem : BooleanPosterior
            The posterior.
        W, Ht : array-like of bool of shapes (n, k) and (m, k)
            Where to begin.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        BitState
            The first state.
        """
        W, Ht = np.array(W, dtype=bool, order="C"), np.array(Ht, dtype=bool, order="C")
        state = BitState(W, Ht, np.array([0.1, 0.1]), np.full((2, W.shape[1]), 0.5))
        draw_rates(problem, state, problem.counts(W, Ht), 1.0, rng)
        return state

    def value(self, problem: BooleanPosterior, state: BitState) -> float:
        """The log-density of the posterior.

        Parameters
        ----------
        problem : BooleanPosterior
            The posterior.
        state : BitState
            The point.

        Returns
        -------
        float
            Up to a constant of the data.
        """
        return problem.log_density(state)

    def draw(self, problem: BooleanPosterior, state: BitState) -> dict[str, Any]:
        """The parameters at a state.

        Parameters
        ----------
        problem : BooleanPosterior
            The posterior.
        state : BitState
            The point.

        Returns
        -------
        dict
            "W" and "Ht" (bool), "noise_add" and "noise_drop".
        """
        return {"W": state.W, "Ht": state.Ht, "noise_add": state.flips[0], "noise_drop": state.flips[1]}

    def step(
        self, problem: BooleanPosterior, state: BitState, rng: np.random.Generator
    ) -> tuple[BitState, Info]:
        """All bits once, proposals for whole tiles, then flip probabilities and densities.

        Parameters
        ----------
        problem : BooleanPosterior
            The posterior.
        state : BitState
            Where the chain stands; not changed.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : BitState
            Where it stands next.
        info : Info
            Its log-density; notes have the log-likelihood, the flips, and the shares of accepted proposals.
        """
        # To wake another thread takes longer than a sweep over a small table.
        small = state.W.size * problem.table.by_row.bits.shape[1] < SMALL
        with thread_limit(1) if small else nullcontext():
            return self._step(problem, state, rng)

    def _step(
        self, problem: BooleanPosterior, state: BitState, rng: np.random.Generator
    ) -> tuple[BitState, Info]:
        """`step`, on the threads that it may use."""
        heat = self.heat[state.iteration] if state.iteration < len(self.heat) else 1.0
        state = BitState(
            state.W.copy(),
            state.Ht.copy(),
            state.flips.copy(),
            state.densities.copy(),
            iteration=state.iteration + 1,
        )
        k, table = state.W.shape[1], problem.table
        draw_bits(table.by_row, state.W, state.Ht, state.densities[0], state.flips, heat, rng)
        draw_bits(table.by_column, state.Ht, state.W, state.densities[1], state.flips, heat, rng)
        accepted, pairs = np.zeros(2), self.n_pair
        if state.iteration <= self.searching:
            pairs *= SEARCH
        for _ in range(self.n_single if k else 0):
            accepted[0] += replace_tiles(problem, state, 1, heat, rng, self.held)
        for _ in range(pairs if k > 1 else 0):
            accepted[1] += replace_tiles(problem, state, 2, heat, rng, self.held)
        counts = problem.counts(state.W, state.Ht)
        if not self.held:
            draw_rates(problem, state, counts, heat, rng)
        state.objective = problem.log_density(state, counts)
        notes = {
            "log_likelihood": problem.log_likelihood(state, counts),
            "noise_add": float(state.flips[0]),
            "noise_drop": float(state.flips[1]),
            "accepted_tiles": float(accepted[0] / max(1, self.n_single)),
            "accepted_pairs": float(accepted[1] / max(1, pairs)),
        }
        return state, Info(state.iteration, state.objective, notes=notes)


def draw_bits(
    side: Side,
    use: np.ndarray,
    other: np.ndarray,
    density: np.ndarray,
    flips: np.ndarray,
    heat: float,
    rng: np.random.Generator,
) -> None:
    """Draw every bit of one factor from its conditional; in place.

    Parameters
    ----------
    side : Side
        The table by the rows of this factor.
    use : array of bool of shape (n, k)
        The factor.
    other : array of bool of shape (m, k)
        The other factor.
    density : array of shape (k,)
        Probability of a set bit of each tile.
    flips : array of shape (2,)
        p₊ and p₋.
    heat : float
        Exponent of the likelihood.
    rng : Generator
        Where random numbers are drawn from.
    """
    add, drop = flips
    gain, loss = heat * np.log((1.0 - drop) / add), heat * np.log((1.0 - add) / drop)
    odds = np.log(density) - np.log1p(-density)
    tiles, uniform = pack(other.T), rng.random(use.shape)

    def task(start: int, stop: int) -> None:
        part = slice(start, stop)
        sweep_rows(side.bits[part], side.zeros[part], tiles, use[part], uniform[part], odds, gain, loss)

    over_rows(task, len(use), worthwhile(4.0 * tiles.size))


def draw_rates(
    problem: BooleanPosterior, state: BitState, counts: np.ndarray, heat: float, rng: np.random.Generator
) -> None:
    """Draw flip probabilities and densities from their Beta conditionals; in place.

    Parameters
    ----------
    problem : BooleanPosterior
        The posterior.
    state : BitState
        The state.
    counts : array of shape (2, 2)
        Observed entries by cover and value, for its bits.
    heat : float
        Exponent of the likelihood.
    rng : Generator
        Where random numbers are drawn from.
    """
    a, b = problem.flip_prior
    for c in (0, 1):
        flipped, kept = heat * counts[c, 1 - c], heat * counts[c, c]
        state.flips[c] = beta_below(a + flipped, b + kept, 1.0 - state.flips[1 - c], rng)
    a, b = problem.density_prior
    on = np.stack([state.W.sum(axis=0), state.Ht.sum(axis=0)])
    off = np.array([[len(state.W)], [len(state.Ht)]]) - on
    state.densities = np.clip(rng.beta(a + on, b + off), EDGE, 1.0 - EDGE)


def beta_below(a: float, b: float, limit: float, rng: np.random.Generator) -> float:
    """A number from Beta(a, b) restricted to values below a limit.

    Parameters
    ----------
    a, b : float
        Parameters of the distribution.
    limit : float
        Between 0 and 1.
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    float
        Drawn by inversion; where the limit lies so far in the lower tail that its probability is no longer a number,
        from the exponential distribution that the tail is there.
    """
    below, u = float(betainc(a, b, limit)), 1.0 - rng.random()
    if below > 1e-280:
        p = float(betaincinv(a, b, u * below))
    else:
        slope = (a - 1.0) / limit - (b - 1.0) / (1.0 - limit)
        p = limit + np.log(u) / max(slope, EDGE)
    return float(np.clip(p, EDGE, limit - EDGE))
