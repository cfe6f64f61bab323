"""Open question 3: the rank as uncertain, by the number of tiles in use; the signature of a wrong rank (4.2.4).

Every tile of the OR model has densities of its own, of its rows and of its columns, with a Beta(1, 1) prior: columns
of a spike-and-slab kind, which the data switch off where they are not needed. So a fit with more tiles than needed
has a posterior over their number. One with too few has all of them in use, and its flips absorb what is left.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.models import BayesianBooleanMF
from partwise.plot import INK, SERIES, figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.plan import LEVELS, Plan


def used(W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Number of tiles in use in each draw: with two rows and two columns at least, as Primp counts them.

    Parameters
    ----------
    W : array of bool of shape (draws, n, k)
        Which rows use each tile.
    H : array of bool of shape (draws, k, m)
        Which columns each tile has.

    Returns
    -------
    array of int of shape (draws,)
        The numbers.
    """
    return np.asarray(((W.sum(axis=1) >= 2) & (H.sum(axis=2) >= 2)).sum(axis=1))


def draw(plan: Plan) -> dict[str, Any]:
    """Draw posteriors of the number of tiles in use.

    Parameters
    ----------
    plan : Plan
        Tables, draws and folder.

    Returns
    -------
    dict
        A row for each table and rank, with "lines".
    """
    ranks = (plan.ranks[0], plan.rank, plan.ranks[1])
    rows = []
    for table in LEVELS:
        for rank in ranks:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = BayesianBooleanMF(rank, n_draws=plan.draws, random_state=0).fit(
                    plan.tables[table].data
                )
            W, H = (model.draws_[name].reshape(-1, *model.draws_[name].shape[2:]) for name in ("W", "H"))
            counts = np.bincount(used(W, H), minlength=rank + 1) / len(W)
            chance = model.probability_["cells"]
            rows.append(
                {
                    "data": table,
                    "rank": rank,
                    "share": counts.tolist(),
                    "mean": float(counts @ np.arange(len(counts))),
                    "add": model.noise_["add"],
                    "drop": model.noise_["drop"],
                    "doubtful": float(((chance > 0.05) & (chance < 0.95)).mean()),
                    "wrong": int(((model.usage_ @ model.tiles_) != plan.tables[table].clean).sum()),
                    "rhat": max(model.rhat_.values()),
                }
            )
    drawing, axes = figure([["clean", "noisy", "flips"]], size=(12.0, 3.4))
    for row in rows:
        i = ranks.index(row["rank"])
        places = np.arange(len(row["share"])) + 0.27 * (i - 1)
        axes[row["data"]].bar(places, row["share"], 0.27, color=SERIES[i], label=f"rank {row['rank']}")
    for name in LEVELS:
        axes[name].axvline(plan.rank, color=INK, ls=":", lw=1.0)
        axes[name].set_xlim(min(ranks) - 2, max(ranks) + 2)
        axes[name].set_xlabel("tiles in use")
        axes[name].legend(frameon=False, fontsize=8)
        title(axes[name], f"{'open question 3: ' if name == 'clean' else ''}draws by tiles in use, {name}")
        shown = [row for row in rows if row["data"] == name]
        for what, style in (("add", "o-"), ("drop", "s--")):
            axes["flips"].plot(
                ranks,
                [row[what] for row in shown],
                style,
                color=SERIES[list(LEVELS).index(name)],
                label=f"{name}, {'p₊' if what == 'add' else 'p₋'}",
            )
    axes["flips"].set_xlabel("rank of the model")
    axes["flips"].legend(frameon=False, fontsize=8)
    title(axes["flips"], "flips found: too few tiles raise them")
    save_figure(drawing, plan.folder / "figure_used_tiles.png")
    lines = []
    for row in rows:
        right = row["share"][plan.rank] if plan.rank < len(row["share"]) else 0.0
        lines.append(
            f"  question 3, {row['data']}, rank {row['rank']} (planted {plan.rank}): P({plan.rank} tiles in use) "
            f"{right:.2f}, on average {row['mean']:.2f}; flips {row['add']:.3f}/{row['drop']:.3f}, "
            f"{100 * row['doubtful']:.2f} % in doubt, {row['wrong']:,} wrong; R-hat at most {row['rhat']:.2f}"
        )
    return {"rows": rows, "lines": lines}
