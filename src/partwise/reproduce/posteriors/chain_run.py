"""One chain of relaxed factors with what the thesis records (3.3.4), kept in a file and taken up again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from partwise.core import State
from partwise.io.atomic import write_bytes_atomic
from partwise.reproduce.posteriors.plan import Plan
from partwise.samplers.iasg import IASG
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS

#: Steps after which a running chain is kept.
CHECKPOINT = 20_000
#: Values of the log-posterior kept along a chain, about.
TRACE = 500


@dataclass(frozen=True)
class ChainRun:
    """Which chain.

    Parameters
    ----------
    table : {"clean", "noisy"}
        The data.
    prior : str
        A key of `UNIT_PRIORS`.
    start : {"random", "optimum"}
        Where it begins: at scaled random factors, or at the planted ones. Where the rank is smaller than that of
        the table, the last planted columns are cut off; where it is larger, uniform ones are added (Gonsior 2019,
        4.2.4).
    rank : int
        Number of components.
    batch : int
        Rows of a minibatch in the thesis: 75, 250 or 512. 0 is the exact sampler instead of IASG.
    """

    table: str
    prior: str
    start: str
    rank: int
    batch: int = 512


@dataclass(frozen=True)
class Found:
    """What came of a chain.

    Parameters
    ----------
    W_mean, W_std, Ht_mean, Ht_std : arrays
        Over all samples, the way to the mode included; of the exact sampler, after a third of its sweeps.
    W_slope, Ht_slope : arrays
        Mean gradients; zeros for the exact sampler.
    trace : array of shape (points, 2)
        Steps, and the log-posterior there.
    """

    W_mean: np.ndarray
    W_std: np.ndarray
    Ht_mean: np.ndarray
    Ht_std: np.ndarray
    W_slope: np.ndarray
    Ht_slope: np.ndarray
    trace: np.ndarray


def run_chain(plan: Plan, chain: ChainRun, steps: int) -> Found:
    """Run a chain, or go on with it where a shorter or an interrupted run has left it.

    Parameters
    ----------
    plan : Plan
        Tables and folder.
    chain : ChainRun
        Which chain.
    steps : int
        Number of steps in all.

    Returns
    -------
    Found
        What came of it; the same whether it was interrupted or not.
    """
    said = {**asdict(chain), "side": plan.side, "planted": plan.rank, "paper": plan.paper}
    said |= {"calibration": plan.calibration, "sweeps": plan.sweeps if chain.batch == 0 else 0}
    name = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:12]
    stem = f"{chain.table}-{chain.prior}-{chain.start}-k{chain.rank}-b{chain.batch}-{name}"
    folder = plan.folder / "chains"
    done = folder / f"{stem}-{steps}.npz"
    if done.exists():
        held = load_arrays(done)
    else:
        folder.mkdir(exist_ok=True)
        kept = [path for path in folder.glob(f"{stem}-*.npz") if int(path.stem.rsplit("-", 1)[1]) < steps]
        first = max(kept, key=lambda path: int(path.stem.rsplit("-", 1)[1]), default=None)
        held = advanced(plan, chain, steps, None if first is None else load_arrays(first), folder / stem)
    count = max(float(held["count"]), 1.0)
    std = {side: np.sqrt(np.maximum(held[f"{side}_squares"] / count, 0.0)) for side in ("W", "Ht")}
    return Found(
        held["W_mean"],
        std["W"],
        held["Ht_mean"],
        std["Ht"],
        held["W_slope"],
        held["Ht_slope"],
        held["trace"],
    )


def advanced(
    plan: Plan, chain: ChainRun, steps: int, held: dict[str, Any] | None, stem: Path
) -> dict[str, Any]:
    """A chain carried on to so many steps, kept on the way and at the end.

    Parameters
    ----------
    plan : Plan
        Tables and sizes.
    chain : ChainRun
        Which chain.
    steps : int
        Steps in all.
    held : dict or None
        Where it stands; None to begin.
    stem : Path
        Beginning of the names of its files.

    Returns
    -------
    dict of arrays
        Where it stands then.
    """
    problem, kernel = posterior_of(plan, chain), kernel_of(plan, chain)
    rng = np.random.default_rng(0)
    window, skip = 1, plan.sweeps // 3
    if isinstance(kernel, IASG):
        window, skip = kernel.window(problem), 0
    if held is None:
        state, held = begun(plan, chain, problem, kernel, rng), {}
        for side, A in (("W", state.W), ("Ht", state.Ht)):
            held |= {f"{side}_{what}": np.zeros(A.shape) for what in ("mean", "squares", "slope")}
        held |= {"count": 0, "seen": 0, "trace": np.array([[0, problem.log_density(state.W, state.Ht)]])}
    else:
        state, rng = restored(held)
    every = max(1, steps // TRACE)
    last: Path | None = None
    points: list[tuple[int, float]] = []
    while state.iteration < steps:
        state, info = kernel.step(problem, state, rng)
        i = state.iteration
        drawn = kernel.draw(problem, state)
        # The mean gradient is over all steps, the moments over the samples: one for each window.
        held["seen"] += 1
        if "gradient_W" in drawn:
            held["W_slope"] += (drawn["gradient_W"] - held["W_slope"]) / held["seen"]
            held["Ht_slope"] += (drawn["gradient_Ht"] - held["Ht_slope"]) / held["seen"]
        if i % window == 0 and i > skip:
            held["count"] += 1
            for side in ("W", "Ht"):
                away = drawn[side] - held[f"{side}_mean"]
                held[f"{side}_mean"] += away / held["count"]
                held[f"{side}_squares"] += away * (drawn[side] - held[f"{side}_mean"])
        if i % every == 0 or i <= 50:
            points.append((i, info.objective))
        if i % CHECKPOINT == 0 or i == steps:
            held["trace"] = np.concatenate([held["trace"], np.array(points).reshape(-1, 2)])
            points = []
            path = stem.with_name(f"{stem.name}-{i}.npz")
            save_arrays(path, {**held, **packed(state, rng)})
            if last is not None:
                last.unlink()
            last = path if i < steps else None
    return held


def posterior_of(plan: Plan, chain: ChainRun) -> RelaxedPosterior:
    """The posterior of a chain: σ² = 1 and a prior that is held (3.2).

    Parameters
    ----------
    plan : Plan
        The tables.
    chain : ChainRun
        Which chain.

    Returns
    -------
    RelaxedPosterior
        Data and prior.
    """
    return RelaxedPosterior(plan.tables[chain.table].data.astype(np.float32), UNIT_PRIORS[chain.prior])


def kernel_of(plan: Plan, chain: ChainRun) -> Any:
    """The sampler of a chain.

    Parameters
    ----------
    plan : Plan
        Batch sizes and calibration.
    chain : ChainRun
        Which chain.

    Returns
    -------
    IASG or RelaxedGibbs
        The second where the batch is 0.
    """
    if chain.batch == 0:
        return RelaxedGibbs()
    return IASG(
        plan.batch(chain.batch),
        paper=plan.paper,
        n_calibration=plan.calibration,
        every=1 if plan.side < 200 else 10,
        adapt=False,
    )


def begun(
    plan: Plan, chain: ChainRun, problem: RelaxedPosterior, kernel: Any, rng: np.random.Generator
) -> State:
    """Where a chain begins.

    Parameters
    ----------
    plan : Plan
        The tables.
    chain : ChainRun
        Which chain.
    problem : RelaxedPosterior
        Its posterior.
    kernel : IASG or RelaxedGibbs
        Its sampler.
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    State
        The first state.
    """
    state = problem.start(chain.rank, rng)
    if chain.start == "optimum":
        state = State(*optimum(plan.tables[chain.table], chain.rank, rng), state.extra)
    return kernel.init(problem, chain.rank, rng, state) if isinstance(kernel, IASG) else state


def optimum(table: Any, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The planted factors at another rank (Gonsior 2019, section 4.2.4).

    Parameters
    ----------
    table : Bunch
        From `make_boolean`.
    rank : int
        Number of components.
    rng : Generator
        For columns that are added.

    Returns
    -------
    tuple of arrays of shapes (n, rank) and (m, rank)
        Planted columns, the last cut off or uniform ones added.
    """
    out = []
    for A in (table.usage, table.components.T):
        more = rng.random((len(A), max(0, rank - A.shape[1])))
        out.append(np.hstack([A[:, :rank].astype(float), more]))
    return out[0], out[1]


def packed(state: State, rng: np.random.Generator) -> dict[str, Any]:
    """A state and its random numbers as arrays."""
    extra = {f"extra.{name}": np.asarray(value) for name, value in (state.extra or {}).items()}
    return {
        "state.W": state.W,
        "state.Ht": state.Ht,
        "state.iteration": state.iteration,
        "state.objective": state.objective,
        "rng": json.dumps(rng.bit_generator.state),
        **extra,
    }


def restored(held: dict[str, Any]) -> tuple[State, np.random.Generator]:
    """What `packed` packed."""
    extra = {name.removeprefix("extra."): held.pop(name) for name in [*held] if name.startswith("extra.")}
    state = State(
        held.pop("state.W"),
        held.pop("state.Ht"),
        extra,
        iteration=int(held.pop("state.iteration")),
        objective=float(held.pop("state.objective")),
    )
    rng = np.random.default_rng(0)
    rng.bit_generator.state = json.loads(str(held.pop("rng")))
    held |= {"count": int(held["count"]), "seen": int(held["seen"])}
    return state, rng


def save_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write arrays to a file, whole or not at all."""
    stream = BytesIO()
    np.savez(stream, **arrays)
    write_bytes_atomic(path, stream.getvalue())


def load_arrays(path: Path) -> dict[str, Any]:
    """What `save_arrays` wrote."""
    with np.load(path) as found:
        return {name: found[name].copy() for name in found.files}
