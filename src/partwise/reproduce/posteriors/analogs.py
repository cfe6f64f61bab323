"""Figures 4.2 and 4.3: a posterior of three variables with the shape of relaxed Boolean factors.

LL₁ = −½[(xy − a)² + (xz − b)² + (yz − c)²], and LL₂ = LL₁ − ½(x² + y² + z²). As printed, (4.1) and (4.2) have minus
signs inside the bracket, with which there is no two-way split at (a, b, c) = (0, 1, 1), which the thesis describes.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from partwise.plot import INK, SERIES, figure, save_figure
from partwise.plot.style import heading, title
from partwise.reproduce.posteriors.plan import Plan
from partwise.samplers.truncated_normal import truncated_normal

#: Cases of the data, cuts through z, and points along each axis.
CASES = list(product((0, 1), (0, 1), (0, 1)))
CUTS = (0.0, 0.25, 0.5, 0.75, 1.0)
GRID = 81


def log_density(x: Any, y: Any, z: Any, case: tuple[int, int, int], normal: bool) -> np.ndarray:
    """LL₁, or LL₂ with a normal prior.

    Parameters
    ----------
    x, y, z : arrays
        Values in [0, 1].
    case : tuple of int
        The data a, b, c.
    normal : bool
        Whether there is a normal prior.

    Returns
    -------
    array
        Up to a constant.
    """
    a, b, c = case
    out = -0.5 * ((x * y - a) ** 2 + (x * z - b) ** 2 + (y * z - c) ** 2)
    return np.asarray(out - 0.5 * (x * x + y * y + z * z) if normal else out)


def exact_moments(case: tuple[int, int, int], normal: bool) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of x, y and z by quadrature.

    Parameters
    ----------
    case : tuple of int
        The data.
    normal : bool
        Whether there is a normal prior.

    Returns
    -------
    tuple of arrays of shape (3,)
        Means and standard deviations.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    axes = np.meshgrid(nodes, nodes, nodes, indexing="ij")
    mass = np.exp(log_density(*axes, case, normal)) * np.einsum("i,j,k->ijk", weights, weights, weights)
    mass /= mass.sum()
    mean = np.array([float((mass * A).sum()) for A in axes])
    std = np.array([float(np.sqrt((mass * (A - m) ** 2).sum())) for A, m in zip(axes, mean)])
    return mean, std


def gibbs(case: tuple[int, int, int], normal: bool, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draws by Gibbs sampling: each variable is a truncated normal given the others.

    Parameters
    ----------
    case : tuple of int
        The data.
    normal : bool
        Whether there is a normal prior.
    draws : int
        How many in each of 200 chains.
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    array of shape (200 · draws, 3)
        The draws.
    """
    a, b, c = case
    # Which datum stands at the product of two variables.
    data = {(0, 1): a, (0, 2): b, (1, 2): c}
    at, out = rng.random((200, 3)), []
    for step in range(draws + 20):
        for i in range(3):
            j, k = (other for other in range(3) if other != i)
            weight = at[:, j] ** 2 + at[:, k] ** 2 + (1.0 if normal else 0.0)
            pull = data[min(i, j), max(i, j)] * at[:, j] + data[min(i, k), max(i, k)] * at[:, k]
            weight = np.maximum(weight, 1e-9)
            at[:, i] = truncated_normal(pull / weight, weight**-0.5, 0.0, 1.0, rng)
        if step >= 20:
            out.append(at.copy())
    return np.concatenate(out)


def draw(plan: Plan) -> dict[str, Any]:
    """Draw both figures, and exact means beside them.

    Parameters
    ----------
    plan : Plan
        Folder, and how many draws are made.

    Returns
    -------
    dict
        Moments of every case and the largest error of the sampler, with "lines".
    """
    rng, found = np.random.default_rng(0), {}
    worst = 0.0
    for number, normal in (("4_2", False), ("4_3", True)):
        draw_cuts(plan, number, normal)
        for case in CASES:
            mean, std = exact_moments(case, normal)
            drawn = gibbs(case, normal, plan.draws, rng)
            worst = max(worst, float(np.abs(drawn.mean(axis=0) - mean).max()))
            found["".join(map(str, case)) + ("n" if normal else "f")] = {
                "mean": mean.tolist(),
                "std": std.tolist(),
                "gibbs": drawn.mean(axis=0).tolist(),
            }
    draw_moments(plan, found)
    flat, sparse = found["011f"], found["011n"]
    return {
        "moments": found,
        "error": worst,
        "lines": [
            f"  4.2 data 011, flat prior: exact means x {flat['mean'][0]:.2f}, y {flat['mean'][1]:.2f}, z "
            f"{flat['mean'][2]:.2f}; 4.3 normal prior: {sparse['mean'][0]:.2f}, {sparse['mean'][1]:.2f}, "
            f"{sparse['mean'][2]:.2f}; Gibbs sampling differs from quadrature by at most {worst:.3f} in 16 cases"
        ],
    }


def draw_cuts(plan: Plan, number: str, normal: bool) -> None:
    """Contours of the log-density over x and y: cuts through z in rows, data in columns; maxima in red."""
    drawing, axes = figure([[f"{i} {j}" for j in range(8)] for i in range(5)], size=(11.5, 7.6))
    side = np.linspace(0.0, 1.0, GRID)
    x, y = np.meshgrid(side, side, indexing="ij")
    for i, z in enumerate(CUTS):
        for j, case in enumerate(CASES):
            place, value = axes[f"{i} {j}"], log_density(x, y, z, case, normal)
            place.contourf(x, y, value, levels=12, cmap="Blues")
            best = value >= value.max() - 1e-9
            place.plot(x[best], y[best], ".", color="#c0392b", ms=6 if best.sum() < 20 else 3, clip_on=False)
            place.set_xticks([])
            place.set_yticks([])
            place.grid(False)
            place.set_aspect("equal")
            if i == 0:
                title(place, "abc = " + "".join(map(str, case)))
            if j == 0:
                place.set_ylabel(f"z = {z:g}")
    kind = "normal prior" if normal else "flat prior"
    heading(
        drawing,
        f"{number.replace('_', '.')}  three variables, {kind}: x to the right, y upwards, maxima red "
        "(signs of the equation corrected)",
    )
    save_figure(drawing, plan.folder / f"figure_{number}.png")


def draw_moments(plan: Plan, found: dict[str, Any]) -> None:
    """Exact means and standard deviations of the variables in all cases, with those of Gibbs sampling."""
    drawing, axes = figure([["f"], ["n"]], size=(9.0, 5.2))
    for kind, said in (("f", "flat prior"), ("n", "normal prior")):
        for v, name in enumerate("xyz"):
            places = np.arange(8) + 0.2 * (v - 1)
            rows = [found["".join(map(str, case)) + kind] for case in CASES]
            mean, std = (np.array([row[what][v] for row in rows]) for what in ("mean", "std"))
            axes[kind].errorbar(
                places, mean, std, fmt="o", color=SERIES[v], ms=5, capsize=2, label=f"{name}, quadrature"
            )
            drawn = [row["gibbs"][v] for row in rows]
            axes[kind].plot(places, drawn, "x", color=INK, ms=6, label="Gibbs sampling" if v == 2 else None)
        axes[kind].set_xticks(range(8), ["".join(map(str, case)) for case in CASES])
        axes[kind].set_ylim(0.0, 1.0)
        title(axes[kind], f"exact mean ± standard deviation by data abc, {said}")
    axes["f"].legend(frameon=False, fontsize=8, ncols=4, loc="lower right")
    save_figure(drawing, plan.folder / "figure_4_2_exact.png")
