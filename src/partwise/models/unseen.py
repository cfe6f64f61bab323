"""Columns of which nothing was observed: named in a warning, since nothing can be learned of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from partwise.io.caller import callers_level

#: Names listed in the warning; of others there is only a sign that there are more.
LISTED = 5
#: What posteriors say of such columns.
PRIOR_ALONE = "what is said there is the prior alone"


def unseen_columns(model: Any, observed: np.ndarray, outcome: str) -> np.ndarray:
    """Which columns have no observed entry; said in a warning where there are any.

    Parameters
    ----------
    model : estimator
        Its `n_features_in_` and, where columns have names, `feature_names_in_` are set.
    observed : array of shape (n_features,) or longer
        Weight of what was observed in each column; columns after `n_features_in_` are not looked at.
    outcome : str
        What the model says of such columns, as the end of a sentence: "the parts are zero there".

    Returns
    -------
    array of int
        Their places; none where no column was observed, which is another fault.
    """
    unseen = np.flatnonzero(observed[: model.n_features_in_] == 0.0)
    if not 0 < unseen.size < model.n_features_in_:
        return np.zeros(0, dtype=int)
    names = getattr(model, "feature_names_in_", None)
    named = [str(j) if names is None else repr(str(names[j])) for j in unseen[:LISTED]]
    more = ", …" if unseen.size > LISTED else ""
    one = unseen.size == 1
    warnings.warn(
        f"Column{'' if one else 's'} {', '.join(named)}{more} {'has' if one else 'have'} no observed entry: "
        f"nothing is learned of {'it' if one else 'them'}, and {outcome}.",
        UserWarning,
        stacklevel=callers_level(),
    )
    return unseen
