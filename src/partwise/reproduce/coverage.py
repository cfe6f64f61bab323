"""Coverage: how often intervals of `BayesianNMF` hold the truth, on data simulated from the model and its prior."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from partwise.io import write_json
from partwise.models import BayesianNMF
from partwise.priors import Gamma

#: Rows, columns, components.
SIZES = ((60, 50, 4), (100, 80, 6))
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
    """Coverage of 90 % intervals of BayesianNMF."""
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
