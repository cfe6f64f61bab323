"""How a fit went."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.plot.lines import draw_curve
from partwise.plot.style import figure


def history(model: Any) -> Any:
    """Draw what a fit recorded: the objective and whatever else the model keeps in `history_`.

    Parameters
    ----------
    model : estimator
        A fitted model with `history_`.

    Returns
    -------
    matplotlib Figure
        One panel for each quantity: by iteration, or by seconds where it was not recorded at every iteration.
    """
    check_is_fitted(model)
    found = {name: np.asarray(values) for name, values in getattr(model, "history_", {}).items()}
    seconds = found.pop("seconds", None)
    # How far a search had come, which is no quantity of its own.
    found.pop("trials", None)
    found = {name: values for name, values in found.items() if values.ndim == 1 and len(values)}
    if not found:
        raise ValueError(f"this {type(model).__name__} kept no history of its fit.")
    drawing, axes = figure([list(found)], size=(4.6 * len(found), 3.4))
    steps = int(getattr(model, "n_iter_", 0))
    for i, (name, values) in enumerate(found.items()):
        by_time = seconds is not None and len(seconds) == len(values) != steps + 1
        positive = values.min() > 0 and values.max() > 20 * values.min()
        draw_curve(
            axes[name],
            seconds if by_time else np.arange(len(values)),
            values,
            colour=i,
            title=name.replace("_", " "),
            xlabel="seconds" if by_time else "iteration",
            logy=bool(positive),
            marker="o" if len(values) <= 30 else "",
        )
        if by_time:
            # Between two records nothing better had been found.
            axes[name].lines[-1].set_drawstyle("steps-post")
    return drawing
