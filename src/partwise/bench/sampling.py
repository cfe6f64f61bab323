"""What a step of the samplers costs: a Gibbs sweep beside a HALS sweep of the same size, IASG beside its products."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.core import Problem, State
from partwise.datasets import make_boolean
from partwise.losses import FROBENIUS, KL
from partwise.matrix import Dense, InMemory, Sparse
from partwise.messages import inform
from partwise.parallel import own_threads, thread_limit
from partwise.priors import Gamma
from partwise.samplers.gaussian_gibbs import GaussianGibbs
from partwise.samplers.iasg import IASG
from partwise.samplers.poisson_gibbs import PoissonGibbs
from partwise.samplers.relaxed import RelaxedPosterior
from partwise.samplers.relaxed_gibbs import RelaxedGibbs
from partwise.samplers.unit_priors import UNIT_PRIORS
from partwise.solvers.hals import Hals
from partwise.solvers.scd import CoordinateDescent

#: Steps before the first that counts: kernels are compiled, and chains leave their starts.
WARMUP = 30
#: Steps of a round.
STEPS = 20
#: Seconds of processor time after which a slow step is measured no more.
ENOUGH = 4.0
#: Steps of IASG in the long runs of Gonsior (2019, table 3.2).
LONG = 60_000


@dataclass(frozen=True)
class Size:
    """Size of a case: rows, columns, parts, and the share of nonzero entries where the data are sparse."""

    n: int
    m: int
    k: int
    share: float | None = None


CASES = {
    "512": Size(512, 512, 30),
    "2000": Size(2000, 500, 20),
    "sparse": Size(5000, 2000, 20, 0.01),
}
#: A step that does its work when it is called, again and again.
Stepper = Callable[[], Any]


def nonnegative(size: Size, dtype: Any, counts: bool) -> InMemory:
    """Data of a case from exponential factors: with normal errors, or counts."""
    rng = np.random.default_rng(0)
    W, H = rng.exponential(1.0, (size.n, size.k)), rng.exponential(1.0, (size.k, size.m))
    if size.share is None:
        clean = W @ H
        X = rng.poisson(clean) if counts else np.abs(clean + rng.standard_normal(clean.shape))
        return Dense.of(X.astype(dtype))
    cells = np.unique(rng.integers(0, size.n * size.m, int(size.share * size.n * size.m)))
    rows, columns = np.divmod(cells, size.m)
    clean = np.einsum("et,te->e", W[rows], H[:, columns])
    values = 1 + rng.poisson(clean) if counts else np.abs(clean + rng.standard_normal(clean.shape))
    X = sp.csr_matrix((values.astype(dtype), (rows, columns)), (size.n, size.m))
    return Sparse.of(X)


def stepping(kernel: Any, problem: Any, state: Any) -> Stepper:
    """Steps of a sampler or a solver."""
    rng = np.random.default_rng(0)

    def step() -> None:
        nonlocal state
        state, _ = kernel.step(problem, state, rng)

    return step


def hals(size: Size, dtype: Any) -> Stepper:
    """Sweeps of HALS, one for each product, on the data of the Gaussian sampler."""
    problem = Problem(nonnegative(size, dtype, False), FROBENIUS)
    solver = Hals(inner_sweeps=1, extrapolate=False)
    return stepping(solver, problem, solver.init(problem, *start(size, dtype)))


def kl_descent(size: Size, dtype: Any) -> Stepper:
    """Sweeps of coordinate descent for the Kullback-Leibler loss, on the counts of the Poisson sampler."""
    problem = Problem(nonnegative(size, dtype, True), KL)
    solver = CoordinateDescent(inner_sweeps=1, extrapolate=False)
    return stepping(solver, problem, solver.init(problem, *start(size, dtype)))


def start(size: Size, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Random factors."""
    rng = np.random.default_rng(1)
    return tuple(rng.exponential(1.0, (side, size.k)).astype(dtype) for side in (size.n, size.m))  # type: ignore[return-value]


def gaussian(size: Size, dtype: Any) -> Stepper:
    """Sweeps of `GaussianGibbs` with exponential priors, the noise drawn."""
    problem = Problem(nonnegative(size, dtype, False), FROBENIUS, Gamma(1.0, 1.0), Gamma(1.0, 1.0))
    kernel = GaussianGibbs()
    return stepping(kernel, problem, kernel.init(problem, *start(size, dtype), 1.0))


def poisson(size: Size, dtype: Any) -> Stepper:
    """Sweeps of `PoissonGibbs` with exponential priors."""
    problem = Problem(nonnegative(size, dtype, True), KL, Gamma(1.0, 1.0), Gamma(1.0, 1.0))
    kernel = PoissonGibbs()
    return stepping(kernel, problem, kernel.init(problem, *start(size, dtype)))


def relaxed_problem(size: Size, dtype: Any) -> RelaxedPosterior:
    """The posterior of relaxed factors of a planted table."""
    table = make_boolean(size.n, size.m, size.k, random_state=0)
    return RelaxedPosterior(table.data.astype(dtype), UNIT_PRIORS["normal"])


def relaxed(size: Size, dtype: Any, sample_noise: bool = True) -> Stepper:
    """Sweeps of `RelaxedGibbs`."""
    problem, kernel = relaxed_problem(size, dtype), RelaxedGibbs(sample_noise=sample_noise)
    return stepping(kernel, problem, kernel.init(problem, size.k, np.random.default_rng(0)))


def iasg(size: Size, dtype: Any) -> Stepper:
    """Steps of `IASG` on full batches, drawn with replacement."""
    problem, kernel = relaxed_problem(size, dtype), IASG(n_calibration=20)
    return stepping(kernel, problem, kernel.init(problem, size.k, np.random.default_rng(0)))


def iasg_products(size: Size, dtype: Any) -> Stepper:
    """The products that a step of IASG cannot do without: X H, Xᵀ W, two Gram matrices, and both with the factors."""
    problem = relaxed_problem(size, dtype)
    state: State = problem.start(size.k, np.random.default_rng(0))
    X, W, Ht = problem.X, state.W.astype(problem.X.dtype), state.Ht.astype(problem.X.dtype)

    def step() -> None:
        X @ Ht
        state.W @ (state.Ht.T @ state.Ht)
        X.T @ W
        state.Ht @ (state.W.T @ state.W)

    return step


@dataclass(frozen=True)
class Racer:
    """A step, what it is measured by, and the ratio that it should stay below; the last may be None."""

    name: str
    make: Callable[[Size, Any], Stepper]
    beside: Callable[[Size, Any], Stepper] = hals
    limit: float | None = None
    dense_only: bool = False


RACERS = (
    Racer("Gaussian Gibbs", gaussian, limit=3.0),
    Racer("relaxed Gibbs", relaxed, limit=3.0, dense_only=True),
    Racer(
        "relaxed Gibbs, σ² = 1", lambda size, dtype: relaxed(size, dtype, False), limit=3.0, dense_only=True
    ),
    Racer("Poisson Gibbs, by KL descent", poisson, kl_descent),
    Racer("IASG, by its products", iasg, iasg_products, 2.0, True),
)


def race_sampling(folder: Path, names: Sequence[str], rounds: int) -> dict[str, Any]:
    """Measure every sampler on every case in both precisions, and write `sampling.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Keys of `CASES`; all if none is given.
    rounds : int
        Rounds of `STEPS` steps each.

    Returns
    -------
    dict
        The contents of `sampling.json`, and "lines".
    """
    rows = []
    for case, racer, dtype in jobs(names):
        rows.append({"case": case, **measured(racer, CASES[case], dtype, rounds)})
        inform(lines_of(rows[-1:])[-1])
    summary: dict[str, Any] = {"rounds": rounds, "rows": rows, "lines": lines_of(rows)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sampling.json").write_text(json.dumps(summary), encoding="utf-8")
    return summary


def jobs(names: Sequence[str]) -> Iterator[tuple[str, Racer, str]]:
    """What is measured: case, sampler, precision."""
    for case in names or CASES:
        for racer in RACERS:
            if CASES[case].share is None or not racer.dense_only:
                for dtype in ("float64", "float32"):
                    yield case, racer, dtype


def measured(racer: Racer, size: Size, dtype: str, rounds: int) -> dict[str, Any]:
    """Processor time of a step and of what it is measured by, in turns on one thread; medians, and their ratio."""
    step, beside = racer.make(size, np.dtype(dtype)), racer.beside(size, np.dtype(dtype))
    times: list[tuple[float, float]] = []
    with own_threads(), thread_limit(1):
        # Steps that are slow need fewer rounds: what is measured is long beside what disturbs it.
        for n_steps in (WARMUP, STEPS * rounds):
            times, first = [], process_time()
            while len(times) < n_steps and (len(times) < 3 or process_time() - first < ENOUGH):
                begin = process_time()
                step()
                middle = process_time()
                beside()
                times.append((middle - begin, process_time() - middle))
    ours, theirs = (float(part) for part in np.median(np.array(times), axis=0))
    return {
        "racer": racer.name,
        "dtype": dtype,
        "seconds": ours,
        "beside": theirs,
        "ratio": ours / theirs,
        "limit": racer.limit,
        **({"long": LONG * ours} if racer.make is iasg else {}),
    }


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results as lines of text."""
    out = ["milliseconds of processor time of a step, and of a HALS sweep or what is named; ratio (limit)"]
    for row in rows:
        limit = "" if row["limit"] is None else f" ({row['limit']:g})"
        long = f"; {LONG:,} steps {row['long']:.0f} s" if "long" in row else ""
        out.append(
            f"{row['case']:7s} {row['dtype']:8s} {row['racer']:29s} {1e3 * row['seconds']:9.3f} "
            f"{1e3 * row['beside']:9.3f}   {row['ratio']:5.2f}{limit}{long}"
        )
    return out
