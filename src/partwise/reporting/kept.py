"""What a result folder keeps of the data for its report, in report.json: little, whatever the size of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.io.unknown import is_missing_word, is_nothing
from partwise.reporting.limits import (
    CARDS,
    EXCERPT,
    SAMPLES,
    TABLE_TOP,
    TEXT,
    TILE_COLUMNS,
    TILE_ROWS,
    TOP_SAMPLES,
    excerpt,
    short,
)

#: The file.
KEPT = "report.json"


def keep(
    model: Any,
    X: Any,
    W: np.ndarray | None,
    y: Any = None,
    texts: Sequence[str] | None = None,
    shape: tuple[int, ...] | None = None,
) -> dict[str, Any]:
    """What the report needs of the data, bounded in size.

    Parameters
    ----------
    model : estimator
        The fitted model or pipeline.
    X : object
        The samples; None where there are none.
    W : array of shape (n_samples, n_parts) or None
        What `transform` makes of them.
    y : array, optional
        Their labels.
    texts : sequence of str, optional
        The samples as texts; by default X, where it is texts.
    shape : tuple of int, optional
        Height and width where samples are pictures.

    Returns
    -------
    dict
        Plain data: "shape"; "texts" and "pictures" of the samples shown, by number; "classes", "labels" and
        "class_usage" (sums of W over the samples of each class); "tiles", a part of the table in their order.
    """
    found: dict[str, Any] = {}
    if shape is not None and X is not None:
        check_shape(shape, X)
    if shape is not None:
        found["shape"] = [int(n) for n in shape]
    if texts is None and is_texts(X):
        texts = X
    if W is not None and texts is not None:
        found["texts"] = kept_texts(W, texts)
    if W is not None and shape is not None and X is not None:
        found["pictures"] = kept_pictures(W, X, shape)
    if y is not None:
        found |= kept_labels(W, y, getattr(model, "classes_", None))
    parts = getattr(model, "components_", None)
    if W is not None and X is not None and parts is not None and parts.dtype == bool:
        found["tiles"] = kept_tiles(X, W, parts)
    return found


def is_texts(X: Any) -> bool:
    """Whether samples are texts.

    Parameters
    ----------
    X : object
        Samples.

    Returns
    -------
    bool
        True for a sequence of str.
    """
    if X is None or hasattr(X, "tocsr") or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        return False
    return len(X) > 0 and isinstance(next(iter(X)), str)


def check_shape(shape: tuple[int, ...], X: Any) -> None:
    """Refuse a shape that samples do not have.

    Parameters
    ----------
    shape : tuple of int
        Height and width.
    X : array of shape (n_samples, n_pixels)
        The samples.
    """
    size = getattr(X, "shape", (0, 0))[-1]
    if int(np.prod(shape)) != size:
        raise ValueError(
            f"shape {'x'.join(map(str, shape))} has {int(np.prod(shape))} pixels; samples have {size}."
        )


def top_samples(W: np.ndarray, n: int = TOP_SAMPLES) -> list[list[int]]:
    """The samples that use each part most, those that do not use it left out.

    Parameters
    ----------
    W : array of shape (n_samples, n_parts)
        How much of each part is in each sample.
    n : int
        Samples for each part, at most.

    Returns
    -------
    list of list of int
        Numbers of samples, the one of most use first. Of equals the one whose use is least shared with other parts.
    """
    A = np.abs(W)
    share = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-300)
    out: list[list[int]] = []
    for column, alone in zip(A.T, share.T):
        n_here = min(n, int((column > 0).sum()))
        if not n_here:
            out.append([])
            continue
        least = np.partition(column, len(column) - n_here)[len(column) - n_here]
        near = np.flatnonzero(column >= least)
        order = near[np.lexsort((-alone[near], -column[near]))][:n_here]
        out.append([int(i) for i in order])
    return out


def table_rows(W: np.ndarray) -> np.ndarray:
    """The samples of the table: all, or where they are too many those of most use for each part and others evenly.

    Parameters
    ----------
    W : array of shape (n_samples, n_parts)
        How much of each part is in each sample.

    Returns
    -------
    array of int
        In the order of the data.
    """
    n = len(W)
    if n <= SAMPLES:
        return np.arange(n)
    each = max(1, min(TABLE_TOP, SAMPLES // (2 * max(W.shape[1], 1))))
    first = np.unique(np.concatenate([np.array(one, int) for one in top_samples(W, each)])[:SAMPLES])
    others = np.setdiff1d(np.arange(n), first)
    spaced = others[np.linspace(0, len(others) - 1, SAMPLES - len(first)).astype(int)]
    return np.union1d(first, spaced)


def kept_texts(W: np.ndarray, texts: Sequence[str]) -> dict[str, str]:
    """The beginnings of the texts that the page shows: longer ones for the samples shown beside the parts."""
    if len(texts) != len(W):
        raise ValueError(f"{len(texts)} texts were given for {len(W)} samples.")
    get = texts.iloc.__getitem__ if hasattr(texts, "iloc") else texts.__getitem__
    found = {str(i): excerpt(get(int(i)), EXCERPT) for i in table_rows(W)}
    chosen = {i for one in top_samples(W)[:CARDS] for i in one}
    return found | {str(i): excerpt(get(i), TEXT) for i in chosen}


def kept_pictures(W: np.ndarray, X: Any, shape: tuple[int, ...]) -> dict[str, str]:
    """Pictures of the samples shown beside the parts."""
    from partwise.reporting.thumbnails import picture_uri

    chosen = sorted({i for one in top_samples(W)[:CARDS] for i in one})
    return {str(i): picture_uri(dense_rows(X, [i])[0], shape) for i in chosen}


def kept_labels(W: np.ndarray | None, y: Any, known: Any = None) -> dict[str, Any]:
    """The classes, the label of each sample in the table, and how much each class uses each part.

    `known` are the classes of the model, where it has some: other labels mean that there is none.
    """
    y = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    if W is not None and len(y) != len(W):
        raise ValueError(f"{len(y)} labels were given for {len(W)} samples.")
    if y.ndim == 2:
        names = [f"class {c}" for c in range(y.shape[1])]
        member = (y == 1).astype(float)
        sizes = member.sum(axis=0)
        usage = None if W is None else member.T @ np.abs(W)

        def label(i: int) -> str:
            return "; ".join(names[c] for c in np.flatnonzero(member[i]))
    else:
        texts = ["" if _unknown(value) else str(value) for value in y.tolist()]
        names = sorted(set(texts) - {""}, key=_natural)
        if known is not None and np.ndim(known) == 1:
            names = [name for name in names if name in {str(one) for one in known}]
        place = {name: c for c, name in enumerate(names)}
        codes = np.array([place.get(one, -1) for one in texts], dtype=int)
        sizes = np.bincount(codes[codes >= 0], minlength=len(names))
        usage = None
        if W is not None:
            usage = np.zeros((len(names), W.shape[1]))
            np.add.at(usage, codes[codes >= 0], np.abs(W[codes >= 0]))

        def label(i: int) -> str:
            return short(texts[i])

    found: dict[str, Any] = {"classes": [short(name) for name in names], "class_sizes": sizes.tolist()}
    if W is not None and usage is not None:
        found["labels"] = {str(i): label(int(i)) for i in table_rows(W)}
        found["class_usage"] = usage.tolist()
    return found


def _unknown(value: Any) -> bool:
    """Whether a label says that there is none: None, NaN, or text that is empty or reads NA and the like."""
    return is_nothing(value) or is_missing_word(value)


def _natural(name: str) -> tuple[int, float, str]:
    """Numbers by size, then texts."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def kept_tiles(X: Any, W: np.ndarray, columns: np.ndarray) -> dict[str, Any]:
    """A table in the order of its tiles: rows and columns drawn, and a code for each entry.

    Codes: 0 no, in no tile; 1 yes, in no tile; 2 no, though in a tile; 3 missing; 4 yes, in several tiles; 5 + t yes,
    in tile t alone.
    """
    from partwise.plot.tiles_picture import by_tiles

    usage, columns = np.asarray(W, dtype=bool), np.asarray(columns, dtype=bool)
    rows, cols = thinned(by_tiles(usage), TILE_ROWS), thinned(by_tiles(columns.T), TILE_COLUMNS)
    table = dense_rows(X, rows)[:, cols]
    covers = usage[rows].astype(np.float32) @ columns[:, cols].astype(np.float32)
    which = (usage[rows][:, :, None] & columns[:, cols][None]).argmax(axis=1) if len(columns) else covers
    codes = np.where(covers > 1, 4, 5 + which)
    codes = np.where(covers > 0, np.where(table == 1, codes, 2), np.where(table == 1, 1, 0))
    codes = np.where(np.isnan(table), 3, codes)
    return {"rows": rows.tolist(), "columns": cols.tolist(), "codes": codes.astype(int).tolist()}


def thinned(order: np.ndarray, most: int) -> np.ndarray:
    """Evenly spaced ones of these, `most` at most.

    Parameters
    ----------
    order : array of int
        Numbers.
    most : int
        How many stay.

    Returns
    -------
    array of int
        In the same order.
    """
    return order if len(order) <= most else order[np.linspace(0, len(order) - 1, most).astype(int)]


def dense_rows(X: Any, rows: Any) -> np.ndarray:
    """Some rows of a table as numbers.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame
        The table.
    rows : sequence of int
        Which rows.

    Returns
    -------
    array of shape (len(rows), n_features)
        NaN where missing.
    """
    if hasattr(X, "tocsr"):
        return np.asarray(X.tocsr()[rows].toarray(), dtype=float)
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[rows].to_numpy(dtype=float, na_value=np.nan))
    return np.asarray(np.asarray(X)[rows], dtype=float)
