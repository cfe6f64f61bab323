"""What expectation truncation does to σ² of Gaussian noise, on bars: a bias of the method, not of its code.

The M-step for σ² is the mean of ⟨(y − a)²⟩ over all samples, under posteriors that have states of at most γ parts. A
sample drawn with g > γ parts is explained by γ of them at best, and the rest of it counts as noise. Where bars do not
overlap and noise is small, that is

    σ²_γ ≈ σ² + Σ_{g > γ} P(|s| = g) (g − γ) ‖W_h‖² / D.

It does not matter how few such samples there are, only what they leave: one in a hundred with a bar of ten in a
quarter of the pixels adds 0.25. "Enumerated" is truncated EM written down anew, over a table of all states with at
most γ parts, begun at the true parts: a fit that agrees with it has the bias of truncation and no other.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import nnls

from partwise.datasets import make_bars
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import BinaryNMF
from partwise.reproduce.bars import parts_found, with_progress

#: Steps of the enumerated EM; from the truth it comes to rest within a few.
ROUNDS = 60


def reproduce_truncation(
    folder: Path,
    n_samples: Annotated[int, typer.Option("--samples", min=10, help="Images.")] = 2000,
    sigma: Annotated[
        float, typer.Option(min=0.0, help="Standard deviation of the noise; bars are 10.")
    ] = 1.5,
    activation: Annotated[float, typer.Option(min=0.0, max=1.0, help="Probability of each bar.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """The variance of Gaussian noise against the number of parts that a truncated state may have, on bars."""
    bars = make_bars(n_samples, noise=None, activation=activation, random_state=seed)
    rng = np.random.default_rng(seed + 1)
    X = np.maximum(bars.data + sigma * rng.standard_normal(bars.data.shape), 0.0)
    # Clipping at 0 lifts the dark pixels: the truth is what the true bits leave, at the W that is best for them.
    W = nonnegative_least_squares(bars.latent.T @ bars.latent, bars.latent.T @ X)
    true = float(((X - bars.latent @ W) ** 2).mean())
    H = len(bars.components)
    levels = [*range(1, H), None]
    rows = []
    for i in with_progress(len(levels), "truncations"):
        rows.append(one_level(X, bars, levels[i], true, seed))
    table: dict[str, Any] = {
        "columns": [
            "γ",
            "states",
            "samples with more parts",
            "σ² / truth",
            "enumerated",
            "first order",
            "π",
            "bars",
        ],
        "rows": [
            [
                str(row["max_active"] or "exact"),
                str(row["states"]),
                f"{row['beyond']:.1%}",
                f"{row['variance'] / true:.2f}",
                f"{row['enumerated'] / true:.2f}",
                f"{row['first_order'] / true:.2f}",
                f"{row['activation']:.3f}",
                str(row["bars"]),
            ]
            for row in rows
        ],
    }
    summary: dict[str, Any] = {
        "true": true,
        "activation": float(bars.latent.mean()),
        "rows": rows,
        "tables": {"truncation": table},
        "lines": [
            f"{n_samples} images of {H} bars, π = {bars.latent.mean():.3f}, σ² = {true:.2f} (clipped at 0)",
            *("  ".join(f"{cell:>12s}" for cell in row) for row in (table["columns"], *table["rows"])),
        ],
    }
    with uninterrupted():
        write_json(folder / "truncation.json", summary)
    return summary


def one_level(X: np.ndarray, bars: Any, max_active: int | None, true: float, seed: int) -> dict[str, Any]:
    """A fit with states of at most `max_active` parts (None: exact), beside what it must come to."""
    H, D = bars.components.shape
    limits = (
        {"inference": "exact"}
        if max_active is None
        else {"inference": "truncated", "max_active": max_active, "n_candidates": H}
    )
    model = BinaryNMF(H, noise="gaussian", random_state=seed, **limits).fit(X)
    most = H if max_active is None else max_active
    sizes = bars.latent.sum(axis=1)
    energy = float((bars.components**2).sum(axis=1).mean())
    return {
        "max_active": max_active,
        "states": len(states(H, most)),
        "beyond": float((sizes > most).mean()),
        "variance": model.noise_variance_,
        "enumerated": enumerated(X, bars.components, float(bars.latent.mean()), most, true),
        "first_order": true + float(np.maximum(sizes - most, 0).mean()) * energy / D,
        "activation": float(model.activation_),
        "bars": parts_found(model.components_, bars.components),
    }


def states(H: int, most: int) -> np.ndarray:
    """All states of H bits with at most `most` of them on."""
    every = (np.arange(2**H)[:, None] >> np.arange(H) & 1).astype(float)
    return every[every.sum(axis=1) <= most]


def enumerated(X: np.ndarray, W: np.ndarray, pi: float, most: int, variance: float) -> float:
    """The σ² at which truncated EM comes to rest, by a table of the states that are kept; π is given."""
    S = states(len(W), most)
    log_prior = S.sum(axis=1) * (np.log(pi) - np.log1p(-pi))
    squares = float((X**2).sum())
    for _ in range(ROUNDS):
        A = S @ W
        score = log_prior + (X @ A.T - 0.5 * (A**2).sum(axis=1)) / variance
        q = np.exp(score - score.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        pairs, cross = (S.T * q.sum(axis=0)) @ S, S.T @ (q.T @ X)
        W = nonnegative_least_squares(pairs, cross)
        variance = (squares - 2.0 * float((W * cross).sum()) + float((W * (pairs @ W)).sum())) / X.size
    return variance


def nonnegative_least_squares(pairs: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """W ≥ 0 that minimises tr(Wᵀ pairs W) / 2 − tr(Wᵀ cross), column by column."""
    root = np.linalg.cholesky(pairs + 1e-9 * np.trace(pairs) * np.eye(len(pairs)))
    right = np.linalg.solve(root, cross)
    return np.stack([nnls(root.T, column)[0] for column in right.T], axis=1)
