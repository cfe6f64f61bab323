"""Annotated matrices (AnnData): which of their matrices is factorized, how it is read, and where factors go back to.

anndata is optional and never imported here: whoever has an AnnData has the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from partwise.matrix.base import block_height


def is_anndata(X: Any) -> bool:
    """Whether X is an annotated matrix, recognised by its attributes, not its class."""
    return hasattr(X, "obs_names") and hasattr(X, "var_names") and hasattr(X, "X")


def layer_of(adata: Any, layer: str) -> Any:
    """One layer of an AnnData as the X of another, which every method takes with the same names.

    Parameters
    ----------
    adata : AnnData
        Is not changed, and the layer is not copied.
    layer : str
        Its name in ``adata.layers``.

    Returns
    -------
    AnnData
        With the layer as X, and the names and annotations of `adata`.

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from partwise import NMF
    >>> from partwise.domains import layer_of
    >>> cells = AnnData(np.zeros((3, 2)), layers={"counts": np.array([[1.0, 2], [2, 4], [3, 6]])})
    >>> NMF(1).fit(layer_of(cells, "counts")).feature_names_in_.tolist()
    ['0', '1']
    """
    if layer not in adata.layers:
        raise ValueError(f"There is no layer {layer!r}; the layers are {sorted(adata.layers)}.")
    return type(adata)(X=adata.layers[layer], obs=adata.obs, var=adata.var)


def matrix_of(adata: Any) -> Any:
    """X of an AnnData, from its file if that is where it is."""
    X = adata.X
    if X is None:
        raise ValueError(
            "This AnnData has no X. Give one of its layers, as partwise.domains.layer_of(adata, name); "
            f"they are {sorted(adata.layers)}."
        )
    return X.to_memory() if hasattr(X, "to_memory") else X


def backed_rows(adata: Any) -> Callable[[], Iterable[Any]] | None:
    """How to read X of an AnnData by row blocks, if it is in a file (``backed="r"``); None for anything else.

    Views and matrices in CSC are left to `matrix_of`: anndata reads X of a view whole, and every row block of a CSC
    file would read all of it.
    """
    if not (is_anndata(adata) and getattr(adata, "isbacked", False)) or adata.is_view:
        return None
    X = adata.X
    if X is None or getattr(X, "format", "csr") != "csr":
        return None
    n, m = adata.shape
    height = block_height(m)
    return lambda: (X[start : min(start + height, n)] for start in range(0, n, height))


def store(model: Any, adata: Any, W: Any = None, *, layer: str | None = None, key: str | None = None) -> None:
    """Put W into ``adata.obsm["X_" + key]`` and H, transposed, into ``adata.varm[key]``.

    Parameters
    ----------
    model : estimator
        Fitted; to these variables, or to some of them by name: others have zeros in ``varm``.
    adata : AnnData
        Is changed.
    W : array of shape (n_obs, n_components), optional
        What `fit_transform` returned; if it is not given, ``model.transform`` is called.
    layer : str, optional
        The layer to transform, if not X.
    key : str, optional
        By default the kind of the model: "nmf", "binary" or "boolean".

    Examples
    --------
    >>> import numpy as np
    >>> from anndata import AnnData
    >>> from partwise import NMF
    >>> from partwise.domains import store
    >>> cells = AnnData(np.array([[1.0, 2], [2, 4], [3, 6]]))
    >>> store(NMF(1).fit(cells), cells)
    >>> cells.obsm["X_nmf"].shape, cells.varm["nmf"].shape
    ((3, 1), (2, 1))
    """
    if not hasattr(model, "transform") or not hasattr(model, "components_"):
        raise ValueError(
            f"A {type(model).__name__} has no factors W and H; fit an NMF, BinaryNMF or BooleanMF."
        )
    held = np.asarray(adata.var_names, dtype=object)
    names = getattr(model, "feature_names_in_", None)
    places = np.arange(len(held)) if names is None else adata.var_names.get_indexer(names)
    if names is not None and (places < 0).any():
        lacking = names[places < 0].tolist()
        raise ValueError(f"This AnnData lacks {len(lacking)} variables of the fit: {lacking[:5]}.")
    key = model.kind if key is None else key
    if W is None:
        chosen = adata if layer is None else layer_of(adata, layer)
        W = model.transform(chosen if np.array_equal(places, np.arange(len(held))) else chosen[:, places])
    H = np.zeros((len(held), len(model.components_)), model.components_.dtype)
    H[places] = model.components_.T
    adata.obsm["X_" + key], adata.varm[key] = np.asarray(W), H
