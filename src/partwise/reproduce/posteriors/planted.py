"""Figures 3.4 and 3.5: planted factors, the table they make, and the noise on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.plot import figure, save_figure
from partwise.plot.style import title
from partwise.reproduce.posteriors.plan import LEVELS, Plan


def draw(plan: Plan) -> dict[str, Any]:
    """Draw the figures.

    Parameters
    ----------
    plan : Plan
        Tables and folder.

    Returns
    -------
    dict
        Ones before and after noise, with "lines".
    """
    table = plan.tables["clean"]
    drawing, axes = figure([["X", "Y"]], size=(9.0, 3.2))
    for name, A in (("X", table.components), ("Y", table.usage.T)):
        axes[name].imshow(A, cmap="RdYlBu", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
        axes[name].grid(False)
        title(axes[name], f"{'3.4  ' if name == 'X' else ''}{name} of the clean data, transposed: ones blue")
        axes[name].set_ylabel("tile")
    save_figure(drawing, plan.folder / "figure_3_4.png")
    draw_noise(plan, table)
    ones = {name: [int(one.clean.sum()), int(one.data.sum())] for name, one in plan.tables.items()}
    lines = [
        f"  {name}: {plan.side} × {plan.side}, {plan.rank} tiles, p₊ {LEVELS[name][0]:g}, p₋ {LEVELS[name][1]:g}: "
        f"{before:,} ones before noise, {after:,} after (table 3.1)"
        for name, (before, after) in ones.items()
    ]
    return {"ones": ones, "lines": lines}


def draw_noise(plan: Plan, table: Any) -> None:
    """Figure 3.5: the noise-free table C, the data D with noise in red, negative noise N, positive noise P."""
    clean, data = table.clean, table.data
    shades = np.ones((*clean.shape, 3))
    shades[data & clean] = (0.12, 0.44, 0.71)
    shades[data != clean] = (0.8, 0.2, 0.15)
    drawing, axes = figure([["C", "D", "N", "P"]], size=(12.0, 3.4))
    shown = {"C": ~clean, "D": shades, "N": ~(clean & ~data), "P": ~(data & ~clean)}
    said = {"C": "3.5  C: clean", "D": "D: the data, noise red", "N": "N: ones lost", "P": "P: ones added"}
    for name, picture in shown.items():
        axes[name].imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        axes[name].set_xticks([])
        axes[name].set_yticks([])
        axes[name].grid(False)
        title(axes[name], said[name])
    save_figure(drawing, plan.folder / "figure_3_5.png")
