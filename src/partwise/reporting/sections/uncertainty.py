"""How sure each part is: convergence of the chains, means against standard deviations, doubt by part."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import branch_colour
from partwise.reporting.limits import short
from partwise.reporting.source import Source

#: Points of the chart, at most.
POINTS = 2000


def section(source: Source) -> dict[str, Any] | None:
    """How sure each part is.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for models that give one answer without its uncertainty.
    """
    stage = source.last
    if stage is None or not hasattr(stage.model, "components_std_"):
        return None
    model = stage.model
    lead = (
        f"Of {model.n_draws_:,} draws from the posterior: the mean is what to expect of an entry, the standard "
        "deviation how far it varies among answers that the data allow."
    )
    found = [chains_block(model), *spread_blocks(model), parts_block(source)]
    cells = getattr(model, "probability_", {}).get("cells")
    if cells is not None and getattr(model, "sampler", "") == "gibbs":
        doubtful = int(((cells > 0.05) & (cells < 0.95)).sum())
        found.append(
            blocks.text(
                f"{doubtful:,} of {cells.size:,} entries of the noise-free table are in doubt (a probability between "
                f"0.05 and 0.95); the tiles named are expected to have {model.expected_wrong_:,.1f} entries wrong."
            )
        )
    return {"title": "Uncertainty", "lead": lead, "blocks": found}


def chains_block(model: Any) -> dict[str, Any]:
    """R-hat and effective sample sizes.

    Parameters
    ----------
    model : estimator
        With `rhat_` and `ess_`.

    Returns
    -------
    dict
        A table.
    """
    rows = [[name.replace("_", " "), value, model.ess_.get(name)] for name, value in model.rhat_.items()]
    said = "the chains agree" if model.converged_ else "the chains have not converged"
    return blocks.table(
        "chains",
        ["quantity", "R-hat", "effective draws"],
        rows,
        caption=f"Chains compared: {said} (R-hat near 1, and 100 effective draws or more)",
        searchable=False,
        wide=0,
    )


def spread_blocks(model: Any) -> list[dict[str, Any]]:
    """Means of entries against their standard deviations, for both factors.

    Parameters
    ----------
    model : estimator
        With means and standard deviations of W and H.

    Returns
    -------
    list of dict
        A chart.
    """
    traces = []
    pairs = (("W", model.W_mean_, model.W_std_), ("H", model.components_, model.components_std_))
    for i, (name, mean, std) in enumerate(pairs):
        x, y = np.ravel(mean), np.ravel(std)
        if len(x) > POINTS:
            chosen = np.random.default_rng(0).permutation(len(x))[:POINTS]
            x, y = x[chosen], y[chosen]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": blocks.rounded(x, 4),
                "y": blocks.rounded(y, 4),
                "marker": {"size": 4, "color": branch_colour(i), "opacity": 0.5},
                "hovertemplate": "mean %{x:.3~g}, standard deviation %{y:.3~g}<extra></extra>",
            }
        )
    layout = {
        "xaxis": {"title": {"text": "mean"}},
        "yaxis": {"title": {"text": "standard deviation"}, "rangemode": "tozero"},
        "showlegend": True,
    }
    total = model.W_mean_.size + model.components_.size
    return [
        blocks.figure(
            "uncertainty-spread",
            traces,
            layout,
            alt=f"Means against standard deviations of {total:,} entries of both factors",
            caption="Every entry of both factors"
            if max(model.W_mean_.size, model.components_.size) <= POINTS
            else f"{POINTS:,} entries of each factor, chosen at random",
            height=340,
        )
    ]


def parts_block(source: Source) -> dict[str, Any]:
    """How sure each part is.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict
        A table: doubt of each part, and of tiles how often they are drawn.
    """
    stage = source.last
    assert stage is not None
    model = stage.model
    tiles = getattr(model, "probability_", {}).get("tiles")
    least = [stage.features[j] for j in np.argmax(model.components_std_, axis=1)]
    mean = np.maximum(np.abs(model.components_).mean(axis=1), 1e-300)
    relative = model.components_std_.mean(axis=1) / mean
    columns = [source.word, "standard deviation over mean", "least certain column"]
    rows = [
        [short(name, 40), round(float(doubt), 4), short(column, 60)]
        for name, doubt, column in zip(stage.parts, relative, least)
    ]
    if tiles is not None:
        columns.insert(1, "share of draws that have it")
        rows = [[row[0], round(float(share), 3), *row[1:]] for row, share in zip(rows, tiles)]
    return blocks.table(
        "uncertainty-parts", columns, rows, caption=f"How sure each {source.word} is", wide=len(columns) - 1
    )
