"""Missing data: planted matrices with entries hidden, and the held-out ratings of MovieLens 100k."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from partwise.datasets import fetch_movielens, make_low_rank
from partwise.io import write_json
from partwise.models import NMF

PENALTIES = (0.05, 0.07, 0.09, 0.11, 0.13, 0.15, 0.2)


def reproduce_missing(
    folder: Path,
    n_components: Annotated[
        int, typer.Option("-k", "--components", help="Number of parts of the ratings.")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Missing data: planted matrices, and MovieLens 100k with a tenth of the ratings held out."""
    summary: dict[str, Any] = {"planted": [planted_error(seed + i) for i in range(3)]}
    lines = ["planted rank 5, 200 × 100, no noise, 30 % missing: relative error of the missing entries"]
    lines += [f"  seed {seed + i}: {error:.2e}" for i, error in enumerate(summary["planted"])]
    try:
        ratings = fetch_movielens().data.tocoo()
    except OSError as error:
        lines.append(f"MovieLens left out. {error}")
    else:
        summary["ratings"] = held_out_ratings(ratings, n_components, seed)
        lines += describe(summary["ratings"], n_components, seed)
    summary["lines"] = lines
    write_json(folder / "missing.json", summary)
    return summary


def planted_error(seed: int) -> float:
    """Relative error of the hidden entries of a planted rank-5 matrix."""
    planted = make_low_rank(200, 100, 5, missing=0.3, random_state=seed)
    model = NMF(5, tol=1e-7, max_iter=5000)
    filled = model.inverse_transform(model.fit_transform(planted.data))
    hidden = np.isnan(planted.data)
    return float(np.linalg.norm((filled - planted.clean)[hidden]) / np.linalg.norm(planted.clean[hidden]))


def held_out_ratings(ratings: Any, n_components: int, seed: int) -> dict[str, Any]:
    """Split the ratings 80/10/10, choose `alpha_W` on the second part, report RMSE on the third."""
    order = np.random.default_rng(seed).permutation(ratings.nnz)
    tenth = ratings.nnz // 10
    test, validation, train = order[:tenth], order[tenth : 2 * tenth], order[2 * tenth :]

    def table(which: np.ndarray) -> Any:
        triple = (ratings.data[which], (ratings.row[which], ratings.col[which]))
        return sp.csr_array(triple, shape=ratings.shape, dtype=np.float64)

    def rmse(model: NMF, W: np.ndarray, which: np.ndarray) -> float:
        guess = np.einsum("ij,ij->i", W[ratings.row[which]], model.components_.T[ratings.col[which]])
        return float(np.sqrt(np.mean((np.clip(guess, 1, 5) - ratings.data[which]) ** 2)))

    def fitted(alpha: float, which: np.ndarray) -> tuple[NMF, np.ndarray]:
        model = NMF(n_components, missing_values=0, alpha_W=alpha, max_iter=500)
        return model, model.fit_transform(table(which))

    scores = {alpha: rmse(*fitted(alpha, train), validation) for alpha in PENALTIES}
    best = min(scores, key=scores.__getitem__)
    figure = rmse(*fitted(best, np.concatenate([train, validation])), test)
    mean = float(ratings.data[train].mean())
    baseline = float(np.sqrt(np.mean((mean - ratings.data[test]) ** 2)))
    return {
        "validation": scores,
        "alpha_W": best,
        "test_rmse": figure,
        "mean_rmse": baseline,
        "n_test": len(test),
    }


def describe(figures: dict[str, Any], n_components: int, seed: int) -> list[str]:
    """The results on the ratings as lines of text."""
    return [
        f"MovieLens 100k, k={n_components}, {figures['n_test']} ratings held out (seed {seed})",
        *(f"  alpha_W {a:<5g} validation RMSE {score:.4f}" for a, score in figures["validation"].items()),
        f"  chosen alpha_W {figures['alpha_W']:g}: test RMSE {figures['test_rmse']:.4f} "
        f"(mean rating alone: {figures['mean_rmse']:.4f})",
    ]
