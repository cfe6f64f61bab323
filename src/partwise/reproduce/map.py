"""MAP estimation for NMF with Gamma priors, on faces (Ben Baccar 2018).

What is shown: the log-posterior under the updates (5) and (6), W first and then H: it never falls. The
held-out Poisson log-likelihood against the strength of the prior: most pixels are hidden (where data are plenty no
prior matters much), and the prior's mean is kept while its shape grows (shape 1 is exponential, large shapes pull
every entry to the mean, below 1 they push entries to zero). And the parts: without a prior and under the best one,
and of the complete pictures under shapes below, at and above 1, on W, on H and on both. Here rows are pictures, so H
holds the parts; in the notes columns are, and the parts are in their W.

Without a prior the likelihood can be astronomically low on small images. A row of the digits shows 13 of 64 pixels
for 25 weights. Where one of its pixels is fitted best by a part that has next to nothing there, 1e-20 say, the weight
of that part is 1e20, and so are the pixels that the part is made of and that are hidden: the maximum of the
likelihood is there, and only a prior says that it is absurd.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning

from partwise.comparison import mean_sparseness
from partwise.core import run
from partwise.datasets import fetch_orl, load_digits
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF
from partwise.plot import draw_curve, draw_parts, figure, save_figure
from partwise.priors import Gamma

SHAPES = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
#: Shapes of the priors of W and H on complete pictures. The other factor's is 1, which settles the scale.
PAIRS = ((1.0, 1.0), (0.5, 1.0), (4.0, 1.0), (1.0, 0.5), (1.0, 4.0), (0.5, 0.5), (4.0, 4.0))


def faces_or_digits() -> tuple[np.ndarray, tuple[int, int], str]:
    """ORL faces where they can be had, else the bundled digits."""
    try:
        faces = fetch_orl()
        return np.asarray(faces.data, dtype=np.float32), faces.images.shape[1:], "ORL faces"
    except OSError:
        return load_digits().data.astype(np.float32), (8, 8), "digits (set PARTWISE_DATA for the ORL faces)"


def reproduce_map(
    folder: Path,
    n_components: Annotated[int, typer.Option("-k", "--components", help="Number of parts.")] = 25,
    iterations: Annotated[int, typer.Option(help="Most iterations of each run.")] = 100,
    hidden_share: Annotated[float, typer.Option("--hidden", help="Share of the pixels held out.")] = 0.8,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """MAP estimation with Gamma priors: trace of the log-posterior, prior strength, the parts.

    ORL faces where PARTWISE_DATA has them, else the bundled digits.
    """
    X, shape, name = faces_or_digits()
    hidden = np.random.default_rng(seed).random(X.shape) < hidden_share
    seen = np.where(hidden, np.nan, X)
    mean = float(np.sqrt(X.mean() / n_components))

    traces = {
        solver: log_posterior(X, n_components, Gamma(2.0, 2.0 / mean), solver, iterations, seed)
        for solver in ("mu", "scd")
    }
    strengths: list[dict[str, Any]] = []
    models: dict[str, NMF] = {}
    for prior in (None, *(Gamma(shape, shape / mean) for shape in SHAPES)):
        model = NMF(
            n_components,
            beta_loss="kullback-leibler",
            prior_W=prior,
            prior_H=prior,
            init="random",
            random_state=seed,
            max_iter=iterations,
        )
        with warnings.catch_warnings():
            # The number of iterations is the experiment's own setting.
            warnings.simplefilter("ignore", ConvergenceWarning)
            W = model.fit_transform(seen)
        score = held_out(X, W @ model.components_, hidden)
        strengths.append({"shape": None if prior is None else prior.shape, "log_likelihood": score})
        models[str(strengths[-1]["shape"])] = model
    complete = complete_faces(X, n_components, mean, iterations, seed)
    best = max(strengths[1:], key=lambda row: row["log_likelihood"])
    summary: dict[str, Any] = {
        "data": name,
        "n_components": n_components,
        "hidden_share": hidden_share,
        "log_posterior": traces,
        "smallest_step": {solver: float(np.diff(t).min()) for solver, t in traces.items()},
        "held_out": strengths,
        "best_shape": best["shape"],
        "complete": [row for row, _ in complete],
    }
    summary["lines"] = describe(summary, folder)
    with uninterrupted():
        draw(folder / "map.png", summary, models, shape)
        draw_complete(folder / "map-faces.png", complete, shape)
        write_json(folder / "map.json", summary)
    return summary


def log_posterior(
    X: np.ndarray, n_components: int, prior: Gamma, solver: str, iterations: int, seed: int
) -> list[float]:
    """Log p(W, H | X) up to log p(X), after every iteration: Poisson likelihood and both Gamma densities."""
    from partwise.core import Problem
    from partwise.initial import random_factors
    from partwise.losses import BetaDivergence
    from partwise.matrix import Dense
    from partwise.solvers import make_solver

    # In double precision, in which rises of the last iterations are not lost in rounding.
    matrix = Dense.of(X.astype(float))
    loss = BetaDivergence(1.0)
    problem = Problem(matrix, loss, prior, prior, shift=loss.shift(matrix.mean(), matrix.dtype))
    W, Ht = random_factors(matrix, n_components, np.random.default_rng(seed))
    method = make_solver(solver)
    start = method.init(problem, W, Ht)
    history = run(problem, method, start, stopping=method.stopping(0.0), max_iter=iterations).history
    # log Poisson(x | y) = −d_KL(x | y) + x log x − x − log Γ(x + 1).
    positive = X[X > 0]
    constant = float((positive * np.log(positive)).sum() - X.sum() - gammaln(X + 1).sum())
    constant += (W.size + Ht.size) * prior.normaliser()
    return [constant - value for value in history.objective]


def complete_faces(
    X: np.ndarray, n_components: int, mean: float, iterations: int, seed: int
) -> list[tuple[dict[str, Any], NMF]]:
    """Fits to complete pictures under each of `PAIRS`: error, zeros and sparseness of both factors."""
    found = []
    for of_W, of_H in PAIRS:
        model = NMF(
            n_components,
            beta_loss="kullback-leibler",
            prior_W=Gamma(of_W, of_W / mean),
            prior_H=Gamma(of_H, of_H / mean),
            init="random",
            random_state=seed,
            max_iter=iterations,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            W = model.fit_transform(X)
        H = model.components_
        row = {
            "shape_W": of_W,
            "shape_H": of_H,
            "relative_error": float(np.linalg.norm(X - W @ H) / np.linalg.norm(X)),
            "zeros_W": float(np.mean(W == 0)),
            "zeros_H": float(np.mean(H == 0)),
            "sparseness_W": mean_sparseness(W),
            "sparseness_H": mean_sparseness(H),
        }
        found.append((row, model))
    return found


def held_out(X: np.ndarray, Y: np.ndarray, hidden: np.ndarray) -> float:
    """Mean Poisson log-likelihood of the hidden entries; means below 1e-3 of the data's are raised to that."""
    x, y = X[hidden], np.maximum(Y[hidden], 1e-3 * X.mean())
    return float(np.mean(x * np.log(y) - y - gammaln(x + 1)))


def describe(summary: dict[str, Any], folder: Path) -> list[str]:
    """The summary as lines of text."""
    traces = summary["log_posterior"]
    lines = [f"MAP-NMF with Gamma priors on {summary['data']}, k={summary['n_components']}"]
    for solver, trace in traces.items():
        lines.append(
            f"  {solver}: log-posterior {trace[0]:.6g} → {trace[-1]:.6g} in {len(trace) - 1} iterations; "
            f"smallest step {summary['smallest_step'][solver]:.3g} (never falls, but for rounding: "
            f"{min(np.diff(trace)) >= -1e-6 * abs(trace[-1])})"
        )
    lines.append(
        f"  {100 * summary['hidden_share']:g} % of pixels hidden; their mean log-likelihood by the prior's shape "
        "(mean kept):"
    )
    for row in summary["held_out"]:
        label = "no prior" if row["shape"] is None else f"shape {row['shape']:g}"
        lines.append(f"    {label:10s} {row['log_likelihood']:.5g}")
    gain = (
        max(r["log_likelihood"] for r in summary["held_out"][1:]) - summary["held_out"][0]["log_likelihood"]
    )
    lines.append(f"  best shape {summary['best_shape']:g}: {gain:+.4g} per hidden pixel against no prior")
    lines.append("  complete pictures, shapes of the priors of W and H (mean kept; H holds the parts):")
    for row in summary["complete"]:
        lines.append(
            f"    W {row['shape_W']:<3g} H {row['shape_H']:<3g} relative error {row['relative_error']:.4f}, zeros in "
            f"W {100 * row['zeros_W']:4.1f} %, in H {100 * row['zeros_H']:4.1f} %, "
            f"sparseness {row['sparseness_W']:.2f}, {row['sparseness_H']:.2f}"
        )
    if gain > 100:
        lines.append(
            "  without a prior, parts of which a row shows next to nothing get any weight that fits what it shows; "
            "hidden pixels follow"
        )
    return [*lines, f"Results are in {folder}/: map.png, map-faces.png, map.json"]


def draw(path: Path, summary: dict[str, Any], models: dict[str, NMF], shape: tuple[int, int]) -> None:
    """Log-posterior by iteration, held-out likelihood by shape, and the parts with and without a prior."""
    drawing, axes = figure([["trace", "strength"], ["plain", "best"]], size=(10.0, 9.0), height_ratios=(2, 3))
    for colour, (solver, trace) in enumerate(summary["log_posterior"].items()):
        label = {"mu": "updates (5-6) of Ben Baccar (2018)", "scd": "coordinate descent"}[solver]
        best = max(max(t) for t in summary["log_posterior"].values())
        gap = best - np.array(trace)
        draw_curve(
            axes["trace"],
            np.arange(len(gap)),
            np.maximum(gap, 1e-3),
            label=label,
            colour=colour,
            title="log-posterior: distance to the best seen",
            xlabel="iteration",
            logy=True,
        )
    rows = summary["held_out"]
    draw_curve(
        axes["strength"],
        [r["shape"] for r in rows[1:]],
        [r["log_likelihood"] for r in rows[1:]],
        label="Gamma priors",
        marker="o",
        title="held-out log-likelihood per pixel",
        xlabel="shape of the Gamma priors (mean kept)",
        logx=True,
    )
    axes["strength"].axhline(rows[0]["log_likelihood"], color="#e07a5f", ls="--", label="no prior")
    axes["strength"].legend(frameon=False)
    for place, key, title in (
        (axes["plain"], "None", "parts without a prior"),
        (
            axes["best"],
            str(summary["best_shape"]),
            f"parts under Gamma priors of shape {summary['best_shape']:g}",
        ),
    ):
        draw_parts(place, models[key].components_[:25], shape, title)
    save_figure(drawing, path)


def draw_complete(path: Path, complete: list[tuple[dict[str, Any], NMF]], shape: tuple[int, int]) -> None:
    """Parts of the complete pictures: shape 1 in the middle, below 1 on the left, above 1 on the right."""
    places = {(1.0, 1.0): "one"}
    places |= {(s, 1.0): f"W {s:g}" for s in (0.5, 4.0)} | {(1.0, s): f"H {s:g}" for s in (0.5, 4.0)}
    places |= {(s, s): f"both {s:g}" for s in (0.5, 4.0)}
    rows = [[f"{on} 0.5", "one", f"{on} 4"] for on in ("W", "H", "both")]
    drawing, axes = figure(rows, size=(12.0, 11.0))
    for row, model in complete:
        name = places[row["shape_W"], row["shape_H"]]
        few = 25 if name == "one" else 9
        on, _, value = name.partition(" ")
        title = "shape 1 on both" if name == "one" else f"shape {value} on {on}"
        title += f": {100 * row['zeros_H']:.0f} % zeros"
        draw_parts(axes[name], model.components_[:few], shape, title, columns=5 if few == 25 else 3)
    save_figure(drawing, path)
