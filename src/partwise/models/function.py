"""NMF as a function, with scikit-learn's signature."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from partwise.losses import as_loss
from partwise.models.inputs import check_start
from partwise.models.names import aligned_columns, column_labels
from partwise.models.nmf import NMF
from partwise.models.parameters import check_nmf
from partwise.models.units import inside, outside


def non_negative_factorization(
    X: Any,
    W: Any = None,
    H: Any = None,
    n_components: int | str | None = "auto",
    *,
    update_H: bool = True,
    sample_weight: Any = None,
    weights: Any = None,
    **parameters: Any,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Factor X ≈ W H once, without an estimator to keep.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
        The data, as for `NMF.fit_transform`.
    W : array of shape (n_samples, n_components), optional
        Where to start when ``init="custom"``.
    H : array of shape (n_components, n_features), optional
        Where to start when ``init="custom"``; the components to hold when ``update_H=False``.
    n_components : int, "auto" or None
        As in `NMF`.
    update_H : bool, default=True
        False holds H as given and solves for W only.
    sample_weight : array of shape (n_samples,), optional
        How much each row counts.
    weights : array of shape (n_samples, n_features), optional
        How much each entry counts; 0 is the same as missing.
    **parameters : object
        Any other parameter of `NMF`: `init`, `solver`, `beta_loss`, `tol`, `max_iter`, …

    Returns
    -------
    W : array of shape (n_samples, n_components)
        How much of each component is in each sample.
    H : array of shape (n_components, n_features)
        The components.
    n_iter : int
        Iterations done; 0 where H was held.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import non_negative_factorization
    >>> X = np.outer([1.0, 2, 3], [1.0, 0, 2])
    >>> W, H, n_iter = non_negative_factorization(X, n_components=1)
    >>> np.round(W @ H, 3).tolist() == X.tolist()
    True
    """
    model = NMF(n_components, **parameters)
    if update_H:
        W = model.fit_transform(X, W=W, H=H, sample_weight=sample_weight, weights=weights)
        return W, model.components_, model.n_iter_
    check_nmf(model)
    if W is not None:
        warnings.warn(
            "When update_H=False, the provided initial W is not used.", RuntimeWarning, stacklevel=2
        )
    if H is None:
        raise ValueError("update_H=False needs H, the components to hold.")
    data = model._given(X, reset=True, weights=weights, sample_weight=sample_weight)
    k = np.shape(H)[0] if n_components in ("auto", None) else int(n_components)
    H = aligned_columns(H, column_labels(X) or getattr(model, "feature_names_in_", None), "H")
    H = check_start(H, (k, data.X.shape[1]), "NMF (input H)", data.X.dtype)
    loss = as_loss(model.beta_loss)
    units = model._units(data.X, data.exponent, loss, H)
    problem = model._problem(data.X, units, loss=loss, update_H=False)
    model._pick(problem)
    W = model._solve_rows(problem, np.ascontiguousarray(inside(H, units.H).T))
    return outside(W, units.W), H, 0
