"""The number of parts found by automatic relevance determination (Tan & Févotte 2013).

Planted data of known rank, counts and numbers with Gaussian noise; the swimmer of 17 parts (a body and four limbs in
four positions each) with Poisson noise; and the bundled digits, whose number of parts nobody knows.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import fetch_swimmer, load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF
from partwise.plot import draw_curve, figure, save_figure
from partwise.priors import ARD
from partwise.reproduce.bars import with_progress

RANKS = (3, 5, 8)
SHAPE = (120, 80)
NORMS = ("l1", "l2")
#: Name, shape of the Gamma density of the planted factors (1 is exponential), mean count (None: Gaussian noise).
PLANTED = (
    ("Poisson, exponential factors, mean 5", 1.0, 5.0),
    ("Poisson, exponential factors, mean 20", 1.0, 20.0),
    ("Poisson, Gamma(0.5) factors, mean 5", 0.5, 5.0),
    ("Gaussian noise, a tenth of the spread", 1.0, None),
)


def reproduce_ard(
    folder: Path,
    n_seeds: Annotated[int, typer.Option("--seeds", help="Data sets of each kind and rank.")] = 20,
    largest: Annotated[int, typer.Option("-k", "--components", help="Components to begin with.")] = 16,
    quick: Annotated[bool, typer.Option("--quick", help="Planted data only.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the first data set.")] = 0,
) -> dict[str, Any]:
    """Number of parts found by ARD: planted ranks 3, 5 and 8 from 16 components; swimmer; digits."""
    jobs = [(kind, norm, rank) for kind in PLANTED for norm in NORMS for rank in RANKS]
    table: list[dict[str, Any]] = []
    for i in with_progress(len(jobs), "planted"):
        (name, concentration, mean), norm, rank = jobs[i]
        found = [
            parts_found(planted(rank, concentration, mean, seed + s), norm, largest, mean is not None)
            for s in range(n_seeds)
        ]
        table.append(
            {
                "data": name,
                "norm": norm,
                "rank": rank,
                "found": [int(one["parts"]) for one in found],
                "exact": float(np.mean([one["parts"] == rank for one in found])),
            }
        )
    summary: dict[str, Any] = {"shape": SHAPE, "largest": largest, "seeds": n_seeds, "planted": table}
    summary["real"] = [] if quick else others(seed)
    summary["lines"] = lines(summary)
    with uninterrupted():
        draw(folder / "ard.png", table)
        write_json(folder / "ard.json", summary)
    return summary


def planted(rank: int, concentration: float, mean: float | None, seed: int) -> np.ndarray:
    """A table of this rank under noise: Poisson counts of this mean, or normal, cut off at zero."""
    rng = np.random.default_rng(seed)
    n, m = SHAPE
    clean = rng.gamma(concentration, 1.0, (n, rank)) @ rng.gamma(concentration, 1.0, (rank, m))
    if mean is not None:
        return rng.poisson(clean * mean / clean.mean()).astype(float)
    return np.maximum(clean + 0.1 * clean.std() * rng.standard_normal(clean.shape), 0.0)


def parts_found(
    X: np.ndarray, norm: str, largest: int, counts: bool, dispersion: float | str | None = None
) -> dict[str, Any]:
    """Fit with all components, and count those that are left."""
    prior = ARD(norm, dispersion=dispersion)
    loss = "kullback-leibler" if counts else "frobenius"
    model = NMF(largest, beta_loss=loss, prior_W=prior, prior_H=prior, max_iter=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    return {
        "parts": model.n_components_,
        "dispersion": model.dispersion_,
        "converged": model.converged_,
        "iterations": model.n_iter_,
    }


def others(seed: int) -> list[dict[str, Any]]:
    """Swimmer, where it can be had, with Poisson noise of mean 5 at its ink; digits as counts and as numbers."""
    found: list[dict[str, Any]] = []

    def tried(data: str, X: np.ndarray, largest: int, counts: bool) -> None:
        for norm in NORMS:
            found.append(
                {"data": data, "norm": norm, "largest": largest, **parts_found(X, norm, largest, counts)}
            )

    try:
        ink = np.asarray(fetch_swimmer().data, dtype=float)
    except OSError:
        pass
    else:
        ink = 5.0 * ink / ink.max()
        noisy = np.random.default_rng(seed).poisson(ink).astype(float)
        tried("swimmer, Poisson noise (17 parts)", noisy, 32, counts=True)
    digits = np.asarray(load_digits().data, dtype=float)
    tried("digits, as counts", digits, 40, counts=True)
    tried("digits, Gaussian noise estimated", digits, 40, counts=False)
    return found


def lines(summary: dict[str, Any]) -> list[str]:
    """The summary as lines of text."""
    n, m = summary["shape"]
    out = [
        f"planted, {n} × {m}, from {summary['largest']} components, {summary['seeds']} data sets each: rank found "
        "exactly"
    ]
    for kind in dict.fromkeys(row["data"] for row in summary["planted"]):
        for norm in NORMS:
            rows = [row for row in summary["planted"] if (row["data"], row["norm"]) == (kind, norm)]
            cells = ", ".join(f"rank {row['rank']} {100 * row['exact']:.0f} %" for row in rows)
            out.append(f"  {kind:40s} {norm}: {cells}")
    for row in summary["real"]:
        out.append(
            f"  {row['data']:40s} {row['norm']}: {row['parts']} of {row['largest']} parts, "
            f"φ = {row['dispersion']:.3g}, {row['iterations']} iterations"
            f"{'' if row['converged'] else ' (not converged)'}"
        )
    return out


def draw(path: Path, table: list[dict[str, Any]]) -> None:
    """Share of exact ranks, by rank, for each kind of data."""
    drawing, axes = figure([list(NORMS)], size=(10.0, 4.0))
    for norm in NORMS:
        for colour, kind in enumerate(dict.fromkeys(row["data"] for row in table)):
            rows = [row for row in table if (row["data"], row["norm"]) == (kind, norm)]
            draw_curve(
                axes[norm],
                [row["rank"] for row in rows],
                [100 * row["exact"] for row in rows],
                label=kind if norm == NORMS[-1] else None,
                colour=colour,
                marker="o",
                title=f"ARD {norm}: rank found exactly, %",
                xlabel="planted rank",
            )
        axes[norm].set_ylim(-5, 105)
        axes[norm].set_xticks(RANKS)
    axes[NORMS[-1]].legend(frameon=False, fontsize=8, loc="lower left")
    save_figure(drawing, path)
