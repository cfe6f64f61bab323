"""Chains of the Boolean posteriors: what each sampler needs, what is recorded of its draws, how they are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import count, pack, product, unpack
from partwise.boolean.starts import relaxed_factors
from partwise.boolean.threshold import cut_coarsely
from partwise.core import State
from partwise.samplers.alignment import align, match
from partwise.samplers.bit_kernels import add_bits
from partwise.samplers.boolean_gibbs import BooleanGibbs
from partwise.samplers.boolean_posterior import BooleanPosterior
from partwise.samplers.diagnostics import ess_bulk, rhat
from partwise.samplers.iasg import IASG
from partwise.samplers.langevin import Langevin
from partwise.samplers.metropolis import Metropolis
from partwise.samplers.recording import Draw, Draws, Moments, Recorder, Trace
from partwise.samplers.rejection import Rejection
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import unit_prior

#: The samplers by name; all but "gibbs" draw relaxed factors.
SAMPLERS = ("gibbs", "relaxed-gibbs", "iasg", "langevin", "mala", "metropolis", "rejection")
#: Groups of rows whose covered entries are counted, or entries of the reconstruction: what R-hat is computed on.
N_PROBES = 32


@dataclass(frozen=True)
class Target:
    """What is sampled, by what, and from where.

    Parameters
    ----------
    kernel : Kernel
        The sampler.
    problem : BooleanPosterior or RelaxedPosterior
        Data and priors.
    bits : bool
        Whether factors are bits.
    stride : int
        Steps from one sample of the sampler to the next: more than one for IASG.
    """

    kernel: Any
    problem: Any
    bits: bool
    stride: int = 1


def make_target(
    sampler: str,
    table: BitTable,
    *,
    prior: Any,
    noise: Any,
    batch_size: Any,
    boundary: Any,
    step_size: float | None,
    flip_prior: tuple[float, float],
    density_prior: tuple[float, float],
    searching: int,
    paper: bool = False,
) -> Target:
    """The kernel and the posterior of a sampler.

    Parameters
    ----------
    sampler : str
        One of `SAMPLERS`.
    table : BitTable
        The data.
    prior : str or UnitPrior
        Of relaxed entries.
    noise : float, "sample" or "auto"
        The variance of relaxed reconstructions; "auto" draws it where the sampler can, and is 1 elsewhere.
    batch_size : int, tuple or None
        Minibatches of "iasg".
    boundary : str or "auto"
        What "iasg", "langevin" and "mala" do at 0 and 1; "auto" is "clamp" for the first, "reflect" for the others.
    step_size : float or None
        Step of "langevin" and "mala"; standard deviation of the proposals of "metropolis".
    flip_prior, density_prior : tuple of float
        Beta priors of the OR model.
    searching : int
        First steps of "gibbs" that propose more replacements of whole tiles.
    paper : bool
        Whether "iasg" leaves the gradients of minibatches unscaled.

    Returns
    -------
    Target
        The kernel and the posterior.
    """
    if sampler == "gibbs":
        return Target(
            BooleanGibbs(searching=searching), BooleanPosterior(table, flip_prior, density_prior), True
        )
    ones, seen = table.unpacked()
    sampled = noise == "sample" or (noise == "auto" and sampler == "relaxed-gibbs")
    if noise == "sample" and sampler != "relaxed-gibbs":
        raise ValueError(
            f"noise='sample' needs sampler='relaxed-gibbs'; {sampler!r} holds it: give a number."
        )
    variance = float(max(np.var(ones), 1e-3)) if sampled else (1.0 if noise == "auto" else float(noise))
    observed = None if seen.all() else seen
    problem = RelaxedPosterior(ones.astype(np.float32), unit_prior(prior), variance, observed)
    way = (
        {"boundary": "clamp" if sampler == "iasg" else "reflect"}
        if boundary == "auto"
        else {"boundary": boundary}
    )
    if sampler == "relaxed-gibbs":
        return Target(RelaxedGibbs(sample_noise=sampled), problem, False)
    if sampler == "iasg":
        kernel = IASG(batch_size, paper=paper, **way)
        return Target(kernel, problem, False, kernel.window(problem))
    if sampler in ("langevin", "mala"):
        return Target(Langevin(step_size, adjusted=sampler == "mala", **way), problem, False)
    if sampler == "metropolis":
        return Target(Metropolis(0.1 if step_size is None else step_size), problem, False)
    return Target(Rejection(), problem, False)


def make_starts(
    target: Target,
    table: BitTable,
    numbers: Any,
    rank: int,
    rngs: Sequence[np.random.Generator],
    given: tuple[np.ndarray, np.ndarray] | None,
) -> list[Any]:
    """Where each chain begins.

    Parameters
    ----------
    target : Target
        The kernel and the posterior.
    table : BitTable
        The data.
    numbers : array or sparse matrix of float of shape (n, m)
        The data as numbers, for relaxed starts.
    rank : int
        Number of components.
    rngs : sequence of Generator
        One for each chain.
    given : tuple of arrays of shapes (n, k) and (m, k), or None
        Where all chains begin; by default each begins at factors of its own: random relaxed ones that were fitted
        and cut, for bits; random ones, for relaxed samplers.

    Returns
    -------
    list of states
        One for each chain.
    """
    kernel, problem = target.kernel, target.problem
    states: list[Any] = []
    for rng in rngs:
        if target.bits:
            factors = given
            if factors is None:
                tiles = cut_coarsely(table, *relaxed_factors(numbers, rank, rng))
                factors = tiles.usage, tiles.columns.T
            states.append(kernel.init(problem, *factors, rng))
            continue
        start = problem.start(rank, rng)
        if given is not None:
            clipped = [np.clip(np.array(A, dtype=float), 0.0, 1.0) for A in given]
            start = State(clipped[0], clipped[1], start.extra)
        if isinstance(kernel, IASG) and states:
            # The steps depend on data and prior, not on where a chain begins.
            start.extra = dict(states[0].extra)
            start.extra |= {
                "sum_W": 0.0 * start.W,
                "sum_Ht": 0.0 * start.Ht,
                "mean_W": start.W,
                "mean_Ht": start.Ht,
            }
            states.append(start)
        elif isinstance(kernel, IASG | Langevin):
            states.append(kernel.init(problem, rank, rng, start))
        else:
            states.append(start)
    return states


class CellCounts(Recorder):
    """How many draws cover each entry.

    Parameters
    ----------
    shape : tuple of int
        Of the table.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self.counts = np.zeros(shape, np.int32)

    def _add(self, draw: Draw) -> None:
        add_bits(draw["cover"], self.counts)

    @property
    def mean(self) -> np.ndarray:
        """Share of the draws that cover each entry."""
        return (self.counts / max(self.count, 1)).astype(np.float32)

    def merged(self, others: Sequence[CellCounts]) -> CellCounts:
        """Counts over all chains."""
        out = CellCounts(self.counts.shape)
        for one in (self, *others):
            out.counts += one.counts
            out.count += one.count
        return out

    def pack(self) -> dict[str, Any]:
        """The counts."""
        return {"count": self.count, "counts": self.counts}

    def restore(self, packed: Mapping[str, Any]) -> None:
        """Set the counts."""
        self.count, self.counts = int(packed["count"]), np.array(packed["counts"], np.int32)


@dataclass(frozen=True)
class Watch:
    """What is looked at in every draw.

    Parameters
    ----------
    target : Target
        The kernel and the posterior.
    shape : tuple of int
        Of the table.
    probes : array of int of shape (N_PROBES, 2)
        Entries whose reconstruction is followed, for relaxed factors.
    cells : bool
        Whether the mean of every entry of the reconstruction is kept.
    memory : float
        Bytes of draws kept, for each chain.
    limit : int
        Most draws kept, for each chain.
    """

    target: Target
    shape: tuple[int, int]
    probes: np.ndarray
    cells: bool
    memory: float
    limit: int

    def prepare(self, states: Sequence[Any]) -> dict[str, Any]:
        """The order of components that the chains agree on, after the warm-up.

        Parameters
        ----------
        states : sequence
            Where the chains stand.

        Returns
        -------
        dict
            The reference factors, columns of length one.
        """
        draws = [self.target.kernel.draw(self.target.problem, state) for state in states]
        _, reference = align([(one["W"], one["Ht"]) for one in draws])
        return {"W": reference[0], "Ht": reference[1]}

    def observe(self, prepared: dict[str, Any], draw: Draw) -> Draw:
        """A draw with its components in the order of the reference, and what does not depend on their order.

        Parameters
        ----------
        prepared : dict
            What `prepare` returned.
        draw : mapping
            What the kernel shows.

        Returns
        -------
        dict
            With "W", "Ht" in order; "cover" (packed) and "probes" for bits; "cells", "on_W", "on_Ht" and "probes"
            for relaxed factors.
        """
        order = match((prepared["W"], prepared["Ht"]), (draw["W"], draw["Ht"]))
        W, Ht = np.ascontiguousarray(draw["W"][:, order]), np.ascontiguousarray(draw["Ht"][:, order])
        seen = {**draw, "W": W, "Ht": Ht}
        if self.target.bits:
            cover = product(W, pack(Ht.T))
            by_row = count(cover)
            groups = np.add.reduceat(
                by_row, np.linspace(0, len(W), min(N_PROBES, len(W)), endpoint=False).astype(int)
            )
            return {**seen, "cover": cover, "probes": groups}
        rows, columns = self.probes.T
        seen |= {"on_W": W > 0.5, "on_Ht": Ht > 0.5, "probes": np.einsum("pk,pk->p", W[rows], Ht[columns])}
        if self.cells:
            seen["cells"] = W.astype(np.float32) @ Ht.T.astype(np.float32)
        return seen

    def recorders(self) -> dict[str, Recorder]:
        """Empty recorders for one chain.

        Returns
        -------
        dict of str to Recorder
            Moments of the factors, kept draws, traces, and cells where asked for.
        """
        numbers = ["noise_add", "noise_drop"] if self.target.bits else ["noise"]
        out: dict[str, Recorder] = {
            "W": Moments("W"),
            "Ht": Moments("Ht"),
            "draws": Draws(["W", "Ht"], self.limit, self.memory, bool if self.target.bits else np.float32),
            "trace": Trace(["log_posterior", "probes", *numbers]),
        }
        if not self.target.bits:
            out |= {"on_W": Moments("on_W"), "on_Ht": Moments("on_Ht")}
        if self.cells:
            out["cells"] = CellCounts(self.shape) if self.target.bits else Moments("cells")
        return out


def judged(chains: Any, names: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """R-hat and effective sample size of what does not depend on the order of components.

    Parameters
    ----------
    chains : Chains
        What came of the chains.
    names : sequence of str
        Quantities of the recorder "trace"; of vectors the worst entry is given.

    Returns
    -------
    rhat : dict of str to float
        The largest R-hat of each; 1 where all draws of all chains are the same.
    ess : dict of str to float
        The smallest effective sample size of each.
    """
    worst: dict[str, float] = {}
    least: dict[str, float] = {}
    for name in names:
        draws = chains.stacked("trace", name)
        draws = draws.reshape(*draws.shape[:2], -1)
        still = (draws == draws[:1, :1]).all(axis=(0, 1))
        found, size = np.asarray(rhat(draws)), np.asarray(ess_bulk(draws))
        # Chains that never move but stand at different places agree on nothing.
        found = np.where(still, 1.0, np.where(np.isnan(found) & (draws.shape[1] >= 8), np.inf, found))
        size = np.where(still, float(draws.shape[0] * draws.shape[1]), size)
        worst[name] = float(np.max(found)) if found.size else 1.0
        least[name] = float(np.min(size)) if size.size else float("nan")
    return worst, least


def same_tiles(
    W: np.ndarray, Ht: np.ndarray, usage: np.ndarray, tiles: np.ndarray, alike: float = 0.8
) -> np.ndarray:
    """Share of draws in which each tile is the one that was named.

    Parameters
    ----------
    W, Ht : arrays of bool of shapes (draws, n, k) and (draws, m, k)
        Draws, with tiles in one order.
    usage, tiles : arrays of bool of shapes (n, k) and (k, m)
        The tiles named.
    alike : float
        Least Jaccard index of the areas of tiles that are the same.

    Returns
    -------
    array of shape (k,)
        The shares.
    """
    shares = np.zeros(usage.shape[1])
    area = usage.sum(axis=0) * tiles.sum(axis=1)
    for w, h in zip(W, Ht):
        both = (w & usage).sum(axis=0) * (h & tiles.T).sum(axis=0)
        joint = w.sum(axis=0) * h.sum(axis=0) + area - both
        shares += both >= alike * np.maximum(joint, 1)
    return shares / max(len(W), 1)


def cell_shares(draws_W: np.ndarray, draws_Ht: np.ndarray, m: int) -> np.ndarray:
    """Share of draws that cover each entry.

    Parameters
    ----------
    draws_W, draws_Ht : arrays of bool of shapes (draws, n, k) and (draws, m, k)
        The draws.
    m : int
        Number of columns.

    Returns
    -------
    array of shape (n, m)
        The shares.
    """
    total = np.zeros((draws_W.shape[1], m))
    for W, Ht in zip(draws_W, draws_Ht):
        total += unpack(product(np.ascontiguousarray(W), pack(Ht.T)), m)
    return total / max(len(draws_W), 1)
