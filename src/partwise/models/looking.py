"""Looking at the parts of a fitted model: the features that lead each, and all of them as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.models.notebook import beside_diagram
from partwise.models.parameters import whole
from partwise.models.summary import feature_names_of, leading, part_names, parts_of


class PartsMixin:
    """What every model with parts offers for looking at them."""

    def top_features(
        self, n: int = 10, specific: bool = False, feature_names: Sequence[str] | None = None
    ) -> Any:
        """The features that lead each part.

        Parameters
        ----------
        n : int, default=10
            Features of each part, at most; those of no weight, or of at most a millionth of the largest, are never
            listed.
        specific : bool, default=False
            False ranks by weight, and so lists what is everywhere under every part. True ranks by what sets a part
            apart from the others, p · log((p + ε) / (q + ε)), where p is the feature's share of the part (weights
            below zero count as zero), q the mean of its shares of the other parts, and ε = 1 / n_features;
            features with p ≤ q are not listed.
        feature_names : sequence of str, optional
            Names of the columns; by default those of the fit, else column0, column1, …

        Returns
        -------
        pandas.DataFrame
            One row for each feature of each part: "part", "rank" (from 1), "feature", "weight", and with `specific`
            "score", what it was ranked by. Without pandas, a list of dicts with these entries.
        """
        check_is_fitted(self)
        parts, names = np.asarray(parts_of(self)), feature_names_of(self, feature_names)
        scores = specificity(parts) if specific else parts
        rows = [
            {
                "part": part,
                "rank": rank,
                "feature": names[j],
                "weight": parts[i, j].item(),
                **({"score": float(scores[i, j])} if specific else {}),
            }
            for i, part in enumerate(part_names(self))
            for rank, j in enumerate(leading(scores[i], whole("n", n)), 1)
        ]
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(
            rows, columns=["part", "rank", "feature", "weight", *(["score"] if specific else [])]
        )

    def _repr_html_inner(self) -> str:
        """What notebooks show: scikit-learn's diagram, and below it the parts."""
        return beside_diagram(self, super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """What notebooks ask for: text, and the diagram with the parts."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = beside_diagram(self, bundle["text/html"])
        return bundle

    def components_frame(self, feature_names: Sequence[str] | None = None) -> Any:
        """The parts as a table with names.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Names of the columns; by default those of the fit, else column0, column1, …

        Returns
        -------
        pandas.DataFrame
            A row for each part, named as the columns of `transform` are; a column for each feature.
        """
        check_is_fitted(self)
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError('components_frame needs pandas: pip install "partwise[tables]"') from error
        names = feature_names_of(self, feature_names)
        return pd.DataFrame(parts_of(self), index=part_names(self), columns=names)


def specificity(parts: Any) -> np.ndarray:
    """What sets each feature of each part apart from the other parts.

    This is the feature's term of the Kullback-Leibler divergence of a part from the mean of the others, with shares
    smoothed by those of a part that is the same everywhere: without this, features that no other part has at all
    would lead, however small.

    Parameters
    ----------
    parts : array of shape (n_components, n_features)
        One part in each row; below zero counts as zero.

    Returns
    -------
    array of shape (n_components, n_features)
        p · log((p + ε) / (q + ε)); see `PartsMixin.top_features`. For a single part q is ε.
    """
    weights = np.maximum(np.asarray(parts, dtype=float), 0.0)
    k, m = weights.shape
    even = 1.0 / max(m, 1)
    total = weights.sum(axis=1, keepdims=True)
    share = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    others = (share.sum(axis=0) - share) / (k - 1) if k > 1 else np.full_like(share, even)
    return share * np.log((share + even) / (np.maximum(others, 0.0) + even))
