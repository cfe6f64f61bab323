"""Coverage: how often intervals of `BayesianNMF` hold the truth, on data simulated from the model and its prior."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Annotated, Any

import numpy as np
import typer

from partwise.core import Problem
from partwise.io import write_json
from partwise.losses import FROBENIUS
from partwise.matrix import Dense
from partwise.models import BayesianNMF
from partwise.parallel import own_threads
from partwise.priors import Gamma
from partwise.samplers.gaussian_gibbs import GaussianGibbs
from partwise.solvers.hals import Hals

#: Rows, columns, components.
SIZES = ((60, 50, 4), (100, 80, 6))
#: Sizes at which a Gibbs sweep is timed against a HALS sweep.
RACES = ((100, 80, 6), (512, 512, 30), (1000, 800, 20))
LEVEL = 0.9
#: Shape and scale of the prior of σ² that data are simulated with.
NOISE = (5.0, 1.0)


def reproduce_coverage(
    folder: Path,
    n_sets: Annotated[int, typer.Option("--sets", help="Data sets of each kind and size.")] = 12,
    n_draws: Annotated[int, typer.Option("--draws", help="Draws of each chain.")] = 500,
    n_chains: Annotated[int, typer.Option("--chains", help="Chains of each fit.")] = 2,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Coverage of 90 % intervals of BayesianNMF, and the price of a Gibbs sweep."""
    lines = [
        f"90 % intervals of (WH)_ij: mean coverage over {n_sets} data sets, and the least and most of one set"
    ]
    found: dict[str, Any] = {"level": LEVEL, "coverage": []}
    for likelihood in ("gaussian", "poisson"):
        for n, m, k in SIZES:
            sets = [
                covered(likelihood, n, m, k, seed + i, n_draws=n_draws, n_chains=n_chains)
                for i in range(n_sets)
            ]
            shares = [one["covered"] for one in sets]
            found["coverage"].append({"likelihood": likelihood, "shape": [n, m], "k": k, "sets": sets})
            lines.append(
                f"  {likelihood:<8} {n} × {m}, k={k}: {100 * np.mean(shares):.1f} % "
                f"({100 * min(shares):.1f} to {100 * max(shares):.1f}), "
                f"R-hat up to {max(one['rhat'] for one in sets):.3f}"
            )
    lines.append(
        "processor time of a Gibbs sweep over that of a HALS sweep (one inner sweep; products included)"
    )
    found["sweeps"] = [sweep_ratio(*size, seed) for size in RACES]
    lines += [
        f"  {one['shape'][0]} × {one['shape'][1]}, k={one['k']}: {one['ratio']:.2f}"
        for one in found["sweeps"]
    ]
    found["lines"] = lines
    write_json(folder / "coverage.json", found)
    return found


def simulated(
    likelihood: str, n: int, m: int, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Data from the model and its prior, and the noise-free W H."""
    shape = 1.0 if likelihood == "gaussian" else 0.8
    clean = rng.gamma(shape, 1.0, (n, k)) @ rng.gamma(shape, 1.0, (k, m))
    if likelihood == "gaussian":
        noise = NOISE[1] / rng.gamma(NOISE[0])
        return clean + np.sqrt(noise) * rng.standard_normal((n, m)), clean
    return rng.poisson(clean).astype(float), clean


def covered(
    likelihood: str, n: int, m: int, k: int, seed: int, *, n_draws: int, n_chains: int
) -> dict[str, float]:
    """One data set: the share of entries whose interval holds the truth."""
    X, clean = simulated(likelihood, n, m, k, np.random.default_rng([seed, n, m, k]))
    prior = Gamma(1.0 if likelihood == "gaussian" else 0.8, 1.0)
    model = BayesianNMF(
        k,
        likelihood=likelihood,
        prior_W=prior,
        prior_H=prior,
        noise_prior=NOISE,
        n_chains=n_chains,
        n_draws=n_draws,
        n_warmup=300,
        thin=1 if likelihood == "gaussian" else 3,
        random_state=seed,
    ).fit(X)
    low, high = model.predict_interval(level=LEVEL)
    return {
        "covered": float(np.mean((low <= clean) & (clean <= high))),
        "rhat": max(model.rhat_.values()),
        "ess": min(model.ess_.values()),
    }


def sweep_ratio(n: int, m: int, k: int, seed: int) -> dict[str, Any]:
    """Time of a Gibbs sweep over that of a HALS sweep, taken in turns on the same data."""
    rng = np.random.default_rng(seed)
    X, _ = simulated("gaussian", n, m, k, rng)
    problem = Problem(Dense.of(X), FROBENIUS, Gamma(1.0, 1.0), Gamma(1.0, 1.0))
    kernel, solver = GaussianGibbs(*NOISE), Hals(inner_sweeps=1, extrapolate=False)
    W, Ht = rng.exponential(1.0, (n, k)), rng.exponential(1.0, (m, k))
    chain, state = kernel.init(problem, W, Ht, 1.0), solver.init(problem, W.copy(), Ht.copy())
    times: list[tuple[float, float]] = []
    with own_threads():
        for _ in range(43):
            begin = process_time()
            chain, _ = kernel.step(problem, chain, rng)
            middle = process_time()
            state, _ = solver.step(problem, state, rng)
            times.append((middle - begin, process_time() - middle))
    # The first steps compile.
    gibbs, hals = np.array(times[3:]).T
    return {
        "shape": [n, m],
        "k": k,
        "ratio": float(np.median(gibbs) / np.median(hals)),
        "gibbs": float(np.median(gibbs)),
        "hals": float(np.median(hals)),
    }
