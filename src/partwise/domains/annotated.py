"""Annotated matrices (AnnData): which of their matrices is factorized, how it is read, and where factors go back to.

anndata is optional, and imported only to write into a file: whoever has an AnnData has the package.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise._version import __version__
from partwise.domains.part_names import in_order_of_parts
from partwise.io.atomic import atomic_file
from partwise.io.caller import callers_level
from partwise.io.coding import Coding
from partwise.io.errors import DataError
from partwise.matrix.base import block_height


def is_anndata(X: Any) -> bool:
    """Whether X is an annotated matrix, recognised by its attributes, not its class."""
    return hasattr(X, "obs_names") and hasattr(X, "var_names") and hasattr(X, "X")


#: Where `layer_of` says, in ``uns``, which layer X was.
LAYER = "partwise_layer"
#: The name by which `layer_of` and the reader of files know ``adata.raw``, unless a layer is called so.
RAW = "raw"


class OtherLayer(UserWarning):
    """X of an AnnData is read, and the model was fitted to a layer that this AnnData has."""


def layer_of(adata: Any, layer: str) -> Any:
    """One layer of an AnnData as the X of another, which every method takes with the same names.

    A model that is fitted to it remembers the layer: `store` then transforms this one, and other methods, which read
    the X that they are given, warn if that is not this layer though the AnnData has it.

    Parameters
    ----------
    adata : AnnData
        Is not changed, and the layer is not copied.
    layer : str
        Its name in ``adata.layers``; "raw" is ``adata.raw``, with the variables of that.

    Returns
    -------
    AnnData
        With the layer as X, the names and annotations of `adata`, and the name of the layer in ``uns``.

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
    if layer == RAW and RAW not in adata.layers and adata.raw is not None:
        raw = adata.raw
        return type(adata)(X=raw.X, obs=adata.obs, var=raw.var, uns={LAYER: RAW})
    if layer not in adata.layers:
        raise ValueError(f"There is no layer {layer!r}; the layers are {sorted(adata.layers)}.")
    return type(adata)(X=adata.layers[layer], obs=adata.obs, var=adata.var, uns={LAYER: layer})


def layer_in(adata: Any) -> str | None:
    """The layer that X of an AnnData was, if `layer_of` made it; "raw" for ``adata.raw`` itself."""
    if not hasattr(adata, "uns"):
        return RAW
    layer = adata.uns.get(LAYER)
    return None if layer is None else str(layer)


def say_other_layer(coding: Coding | None, adata: Any) -> None:
    """Warn where X of an AnnData is given to a model that was fitted to a layer which this AnnData has too."""
    layer = None if coding is None else coding.options.get("key")
    if layer is None or layer == layer_in(adata):
        return
    in_raw = layer == RAW and getattr(adata, "raw", None) is not None
    if layer in getattr(adata, "layers", ()) or in_raw:
        warnings.warn(
            f"The model was fitted to the layer {layer!r}, and what is read here is X of an AnnData that has this "
            f"layer too. If the layer is meant, give partwise.domains.layer_of(adata, {layer!r}).",
            OtherLayer,
            stacklevel=callers_level(),
        )


def _to_transform(model: Any, adata: Any, layer: str | None) -> Any:
    """The AnnData whose X is to be transformed: by the name of a layer, or as the model was fitted."""
    coding = Coding.of(model)
    remembered = layer is None and coding is not None
    if remembered and coding is not None:
        layer = coding.options.get("key")
        held = {*adata.layers, "X", layer_in(adata), *([] if adata.raw is None else [RAW])}
        if layer is not None and layer not in held:
            raise DataError(
                f"The model was fitted to {layer!r}, and this AnnData has no such layer; its layers are "
                f"{sorted(adata.layers)}. Name another as layer=, or layer='X' for X."
            )
    if layer is None or (remembered and layer == layer_in(adata)):
        return adata
    return adata if layer == "X" and "X" not in adata.layers else layer_of(adata, layer)


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
    """Put W into ``adata.obsm["X_" + key]``, H, transposed, into ``adata.varm[key]``, and settings into ``uns[key]``.

    What was there before is replaced.

    Parameters
    ----------
    model : estimator
        Fitted; to these variables, or to some of them by name: others have zeros in ``varm``. Of a model of
        ``adata.raw``, H of all its variables is in ``adata.raw.varm``.
    adata : AnnData
        Is changed.
    W : array or DataFrame of shape (n_obs, n_components), optional
        What `fit_transform` returned; if it is not given, ``model.transform`` is called. Of a DataFrame, rows with
        the names of the observations and columns with those of the parts may stand in any order.
    layer : str, optional
        The layer to transform; "X" is X, and "raw" is ``adata.raw``. If it is not given, the layer that the model
        was fitted to (see `layer_of`, and `--key` of the command line), else X.
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
    >>> cells.obsm["X_nmf"].shape, cells.varm["nmf"].shape, cells.uns["nmf"]["params"]["n_components"]
    ((3, 1), (2, 1), 1)
    """
    _require_factors(model)
    key = model.kind if key is None else key
    used = _layer_used(model) if layer is None else layer
    raw = adata.raw if used == RAW and RAW not in adata.layers else None
    Ht = _loadings(model, adata.var_names, raw is not None)
    if W is None:
        used = "X" if used is None else used
        chosen = _to_transform(model, adata, layer)
        places = _places(model, chosen.var_names)
        whole = np.array_equal(places, np.arange(len(chosen.var_names)))
        with warnings.catch_warnings():
            # Which layer is read was chosen above.
            warnings.simplefilter("ignore", OtherLayer)
            W = model.transform(chosen if whole else chosen[:, places])
    W = _usage(model, W, adata.obs_names)
    adata.obsm["X_" + key], adata.varm[key] = W, Ht
    if raw is not None:
        raw.varm[key] = _loadings(model, raw.var_names)
    adata.uns[key] = settings_of(model, used)


def store_file(
    model: Any,
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    W: Any,
    *,
    key: str | None = None,
    transposed: bool = False,
) -> list[str]:
    """Write a copy of an .h5ad file with the factors where `store` puts them.

    The file is copied as it is, and the factors are written into the copy: its matrices are never read.

    Parameters
    ----------
    model : estimator
        As in `store`.
    source : str or path-like
        The .h5ad file that the model was fitted to.
    target : str or path-like
        The copy; replaced, whole or not at all, if it is there.
    W : array of shape (n_obs, n_components)
        What `fit_transform` or `transform` returned, a row for each observation.
    key : str, optional
        By default the kind of the model.
    transposed : bool, default=False
        Whether the model was fitted to the transposed matrix, with variables as its rows: W then goes into ``varm``
        and H, transposed, into ``obsm``.

    Returns
    -------
    list of str
        What the file had in these places, which the copy has not: "obsm['X_nmf']" and the like.
    """
    import h5py

    try:
        from anndata.io import read_elem, write_elem
    except ImportError:
        from anndata.experimental import read_elem, write_elem
    _require_factors(model)
    key = model.kind if key is None else key
    target = Path(target)
    if target.exists() and target.samefile(source):
        raise DataError(f"{target} is the file that was read. Write the copy to another place.")
    with atomic_file(target) as stream:
        with open(source, "rb") as given:
            shutil.copyfileobj(given, stream, 1 << 20)
        stream.flush()
        with h5py.File(stream.name, "r+") as file:
            used = _layer_used(model)
            raw = file.get(RAW) if used == RAW and RAW not in file.get("layers", ()) else None
            names, rows = read_elem(file["var"]).index, read_elem(file["obs"]).index
            every = names if raw is None else read_elem(raw["var"]).index
            if transposed:
                W = _usage(model, W, every, "variables")
                by_row, by_variable = _loadings(model, rows), W
            else:
                by_row, by_variable = _usage(model, W, rows), _loadings(model, every)
            slots = [(file, "obsm", "X_" + key, by_row), (file, "uns", key, settings_of(model, used))]
            if raw is None:
                slots.insert(1, (file, "varm", key, by_variable))
            else:
                slots.insert(1, (raw, "varm", key, by_variable))
                slots.insert(1, (file, "varm", key, _by_name(by_variable, every, names)))
            return [place for slot in slots if (place := _put(*slot, write_elem))]


def _put(group: Any, home: str, name: str, value: Any, write_elem: Callable[..., None]) -> str | None:
    """Write an element of an .h5ad file; where it was, if there was one already."""
    if home not in group:
        write_elem(group, home, {})
    before = name in group[home]
    if before:
        del group[home][name]
    write_elem(group[home], name, value)
    return f"{'raw.' if group.name == '/raw' else ''}{home}['{name}']" if before else None


def _layer_used(model: Any) -> str | None:
    """The layer that a model was fitted to, "X" included; None where it does not say."""
    coding = Coding.of(model)
    return None if coding is None else str(coding.options.get("key") or "X")


def settings_of(model: Any, layer: str | None = None) -> dict[str, Any]:
    """What ``uns`` keeps of a model: its class, its parameters, and how its fit ended, as numbers and text.

    And the layer of the fit, if it is known, and the seed, which is 0 where no `random_state` was given.
    """
    parameters = model.get_params(deep=False)
    found: dict[str, Any] = {
        "model": type(model).__name__,
        "partwise_version": __version__,
        **({} if layer is None else {"layer": layer}),
        "params": {name: value for name, value in parameters.items() if value is not None},
    }
    if "random_state" in parameters:
        found["seed"] = 0 if parameters["random_state"] is None else parameters["random_state"]
    for name in ("n_iter_", "converged_", "objective_", "reconstruction_err_"):
        if hasattr(model, name):
            found[name.rstrip("_")] = getattr(model, name)
    return {
        name: {inner: _written(one) for inner, one in value.items()}
        if isinstance(value, dict)
        else _written(value)
        for name, value in found.items()
    }


def _written(value: Any) -> Any:
    """A value that an .h5ad file can hold: a number, or its text."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, bool | int | float | str) else repr(value)


def _usage(model: Any, W: Any, obs_names: Any, what: str = "observations") -> np.ndarray:
    """W with a row for each observation (or variable), in their order, and a column for each part."""
    index = getattr(W, "index", None)
    if index is not None and not index.equals(obs_names):
        if not (index.is_unique and obs_names.is_unique) or set(index) != set(obs_names):
            raise DataError(f"The rows of W are named, but not as the {what} of this AnnData are.")
        W = W.loc[obs_names]
    if hasattr(W, "columns"):
        W = in_order_of_parts(W, model.get_feature_names_out())
    W = np.asarray(W)
    expected = (len(obs_names), len(model.components_))
    if W.shape != expected:
        raise DataError(
            f"W has shape {W.shape}; {expected[0]} {what} and {expected[1]} parts need {expected}."
        )
    return W


def _require_factors(model: Any) -> None:
    if hasattr(model, "transform") and hasattr(model, "fit"):
        check_is_fitted(model)
    if not hasattr(model, "transform") or not hasattr(model, "components_"):
        raise ValueError(
            f"A {type(model).__name__} has no factors W and H; fit an NMF, BinaryNMF or BooleanMF."
        )


def _places(model: Any, var_names: Any) -> np.ndarray:
    """Where the variables of the fit stand among these."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or np.array_equal(np.asarray(var_names, dtype=object), np.asarray(names, dtype=object)):
        return np.arange(len(var_names))
    if not var_names.is_unique:
        raise DataError(
            "Several variables of this AnnData have the same name, so those of the fit cannot be told apart; call "
            "adata.var_names_make_unique()."
        )
    places = var_names.get_indexer(names)
    if (places < 0).any():
        lacking = names[places < 0].tolist()
        raise ValueError(f"This AnnData lacks {len(lacking)} variables of the fit: {lacking[:5]}.")
    return np.asarray(places)


def _loadings(model: Any, var_names: Any, some: bool = False) -> np.ndarray:
    """H, transposed, with zeros for variables that were not part of the fit; `some`: of it, some may not be here."""
    H = np.asarray(model.components_.T)
    if some:
        return _by_name(H, model.feature_names_in_, var_names)
    found = np.zeros((len(var_names), H.shape[1]), H.dtype)
    found[_places(model, var_names)] = H
    return found


def _by_name(values: np.ndarray, names: Any, wanted: Any) -> np.ndarray:
    """Rows with other names; zeros where there is no row of a name."""
    place = {name: i for i, name in enumerate(names)}
    found = np.zeros((len(wanted), values.shape[1]), values.dtype)
    for i, name in enumerate(wanted):
        if name in place:
            found[i] = values[place[name]]
    return found
