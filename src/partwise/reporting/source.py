"""What a report is made from: a fitted model, what it makes of the samples, and what is kept of the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from partwise.models.summary import feature_names_of, names_out, part_names, parts_of, summary_of
from partwise.reporting.kept import KEPT, keep


@dataclass(frozen=True)
class Stage:
    """One step of a model that has parts.

    Parameters
    ----------
    name : str
        Of the step in its pipeline; empty for a model alone.
    model : estimator
        The fitted step.
    summary : dict
        What it found.
    H : array of shape (n_parts, n_features)
        Its parts.
    parts : list of str
        Their names.
    features : list of str
        Names of the columns of H.
    pixels : array or None
        The parts in the space of the data, as far as the steps before can be undone.
    """

    name: str
    model: Any
    summary: dict[str, Any]
    H: np.ndarray
    parts: list[str]
    features: list[str]
    pixels: np.ndarray | None


@dataclass
class Source:
    """A result to report on; made by `from_model` or `from_folder`.

    Parameters
    ----------
    model : estimator or None
        The fitted model or pipeline; None where a folder holds results of another kind.
    summary : dict
        What is in summary.json.
    W : array of shape (n_samples, n_parts) or None
        How much of each part is in each sample.
    rows : list of str
        Names of the samples.
    kept : dict
        What is kept of the data; see `partwise.reporting.kept.keep`.
    folder : Path or None
        Where the results are.
    files : dict of bytes
        Files that will be in that folder.
    """

    model: Any
    summary: dict[str, Any]
    W: np.ndarray | None = None
    rows: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    @cached_property
    def stages(self) -> list[Stage]:
        """The steps that have parts; one for a model alone."""
        if self.model is None:
            return []
        steps = list(getattr(self.model, "steps", [("", self.model)]))
        summaries = {step["name"]: step for step in self.summary.get("steps", [])} or {"": self.summary}
        found: list[Stage] = []
        before: list[Any] = []
        names: list[str] | None = None
        for name, step in steps:
            H = parts_of(step) if hasattr(step, "get_params") else None
            if H is not None and H.ndim == 2 and len(H):
                features = names if names is not None and len(names) == H.shape[1] else feature_titles(step)
                pixels = undone(H, before)
                summary = summaries.get(name) or summary_of(step)
                found.append(Stage(name, step, summary, H, shown_names(step), features, pixels))
            names = names_out(step)
            before.append(step)
        return found

    @property
    def last(self) -> Stage | None:
        """The last step that has parts."""
        return self.stages[-1] if self.stages else None

    @property
    def used(self) -> Stage | None:
        """The step whose parts the columns of W are; None without W."""
        if self.W is None:
            return None
        able = [stage for stage in self.stages if hasattr(stage.model, "transform")]
        return next((stage for stage in reversed(able) if len(stage.H) == self.W.shape[1]), None)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Height and width where samples are pictures."""
        given = self.kept.get("shape") or self.summary.get("meta", {}).get("image_shape")
        return tuple(int(n) for n in given) if given else None

    @property
    def other(self) -> bool:
        """Whether this is a result of another kind than a model's: a comparison of methods, or of recordings."""
        return self.model is None and any(self.summary.get(name) for name in ("methods", "recordings"))

    @property
    def word(self) -> str:
        """What a part is called."""
        stage = self.used or self.last
        return str(stage.summary.get("part_word") or "part") if stage is not None else "part"


def shown_names(model: Any) -> list[str]:
    """Names of a model's parts for people: its own, but part 3 where its own is the name of its class with a 3.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    list of str
        One for each part.
    """
    word, prefix = getattr(model, "part_word", "part"), type(model).__name__.lower()
    return [
        f"{word} {i}" if name in (f"{prefix}{i}", f"{word}{i}") else name
        for i, name in enumerate(part_names(model))
    ]


def feature_titles(model: Any) -> list[str]:
    """Names of a model's features for people: frequencies where they are such, else the names of the fit.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    list of str
        One for each feature.
    """
    names = feature_names_of(model)
    hz = getattr(model, "frequencies_", None)
    return names if hz is None or len(hz) != len(names) else [f"{one:.0f} Hz" for one in hz]


def undone(H: np.ndarray, before: list[Any]) -> np.ndarray | None:
    """Rows in the space of the data: the steps before undone, from the last to the first that can be.

    Parameters
    ----------
    H : array of shape (n_parts, n_features)
        Rows in the space of a step's input.
    before : list of estimator
        The steps before it.

    Returns
    -------
    array or None
        None where a step cannot be undone at all.
    """
    rows, steps = np.asarray(H, dtype=float), list(before)
    while steps and hasattr(steps[-1], "inverse_transform"):
        try:
            rows = np.asarray(steps.pop().inverse_transform(rows), dtype=float)
        except (ValueError, TypeError):
            return None
    return rows


def window(model: Any) -> tuple[int, int] | None:
    """The size of the pictures that a pipeline's first step crops to, where it does."""
    steps = getattr(model, "steps", [])
    size = getattr(steps[0][1], "size", None) if steps else None
    return (int(size), int(size)) if isinstance(size, int | np.integer) else None


def from_model(
    model: Any,
    X: Any = None,
    *,
    W: Any = None,
    y: Any = None,
    row_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    shape: tuple[int, ...] | None = None,
    summary: dict[str, Any] | None = None,
) -> Source:
    """The source of a report on a model in memory.

    Parameters
    ----------
    model : estimator
        A fitted model or pipeline.
    X : array, sparse matrix, DataFrame or sequence of texts, optional
        Samples.
    W : array of shape (n_samples, n_parts), optional
        What `transform` makes of them, where it is known already.
    y : array of shape (n_samples,) or (n_samples, n_classes), optional
        Their labels.
    row_names : sequence of str, optional
        Names of the samples; by default the index of a DataFrame, else their numbers.
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit.
    texts : sequence of str, optional
        The samples as texts.
    shape : tuple of int, optional
        Height and width where samples are pictures.
    summary : dict, optional
        What is known besides the model's own summary.

    Returns
    -------
    Source
        With W where the model has `transform` and samples were given.
    """
    said = summary_of(model, feature_names) if summary is None else summary
    if W is None and X is not None:
        W = transformed(model, X)
    if W is not None:
        W = as_written(np.asarray(W.toarray() if hasattr(W, "toarray") else W))
        if W.ndim != 2:
            raise ValueError(f"W must be a table of samples × parts; got shape {W.shape}.")
    n = len(W) if W is not None else 0 if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    rows = names_of_rows(X, row_names, n)
    kept = keep(model, X, W, y, texts, shape)
    source = Source(model, said, W, rows, kept)
    if feature_names is not None and source.stages:
        # Names given for this report, which the model itself does not know.
        first = source.stages[0]
        source.stages[0] = Stage(
            first.name,
            first.model,
            first.summary,
            first.H,
            first.parts,
            feature_names_of(first.model, feature_names),
            first.pixels,
        )
    return source


def as_written(W: np.ndarray) -> np.ndarray:
    """W in double precision, as it is read back from a table of results.

    Single precision is written with the digits that it has; the doubles that stand for these digits are other numbers
    than the singles themselves, and may be rounded the other way.
    """
    if W.dtype != np.float32:
        return W.astype(float, copy=False)
    return np.array([float(str(value)) for value in W.ravel()]).reshape(W.shape)


def transformed(model: Any, X: Any) -> Any:
    """W of a model, or of the steps before a classifier at the end of a pipeline.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : object
        Samples.

    Returns
    -------
    array or None
        None where no step has parts that samples use.
    """
    if not gives_usage(model):
        return None
    return model.transform(X) if hasattr(model, "transform") else model[:-1].transform(X)


def gives_usage(model: Any) -> bool:
    """Whether a model, or what stands before the classifier at its end, says how much of each part is in a sample.

    Parameters
    ----------
    model : estimator
        Fitted.

    Returns
    -------
    bool
        True for models with `transform`, and for pipelines whose last step but one has parts.
    """
    if hasattr(model, "transform"):
        return True
    steps = getattr(model, "steps", [])
    return len(steps) > 1 and parts_of(steps[-2][1]) is not None


def names_of_rows(X: Any, given: Sequence[str] | None, n: int) -> list[str]:
    """Names of samples: those given, the index of a DataFrame that names them, else row 0, row 1, …

    Parameters
    ----------
    X : object
        The samples.
    given : sequence of str or None
        Their names.
    n : int
        How many there are.

    Returns
    -------
    list of str
        One for each sample.
    """
    if given is None:
        index = getattr(X, "index", None)
        if index is None or callable(index) or getattr(index.dtype, "kind", "i") in "iuf":
            return [f"row{i}" for i in range(n)]
        given = list(index)
    if len(given) != n:
        raise ValueError(f"{len(given)} row_names were given for {n} samples.")
    return [str(name) for name in given]


def from_folder(folder: Path, shape: tuple[int, ...] | None = None) -> Source:
    """The source of a report on a folder that a verb of the command line wrote.

    Parameters
    ----------
    folder : Path
        Holds summary.json, and as a rule model.partwise, the table of W, and report.json.
    shape : tuple of int, optional
        Height and width where samples are pictures.

    Returns
    -------
    Source
        With whatever there is.
    """
    from partwise.io import load, read

    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of results; give the one that partwise fit -o wrote.")
    summary = _json(folder / "summary.json")
    if summary is None:
        raise ValueError(
            f"{folder} holds no summary.json, so it is no folder of results; give the one that partwise fit -o wrote."
        )
    stored = folder / "model.partwise"
    model = load(stored) if stored.is_file() else None
    kept = _json(folder / KEPT) or {}
    if shape is not None:
        kept["shape"] = list(shape)
    W, rows = None, []
    # "usage" names a table of W, "shares" one of how it is shared out in each sample.
    meta = summary.get("meta") or {}
    name = str(meta.get("usage") or meta.get("shares") or getattr(model, "result_files", ("W.csv",))[0])
    if model is not None and gives_usage(model) and (folder / name).is_file():
        table = read(folder / name, header=True, row_names=True)
        W = np.asarray(table.data.toarray() if hasattr(table.data, "toarray") else table.data, dtype=float)
        rows = [str(one) for one in table.row_names] if table.row_names is not None else []
        rows = rows or [f"row{i}" for i in range(len(W))]
        W = usage_of_shares(model, W) if "shares" in meta else W
    return Source(model, summary, W, rows, kept, folder)


def usage_of_shares(model: Any, shares: np.ndarray) -> np.ndarray:
    """W whose products with the parts add up, sample by sample, to these shares.

    Parameters
    ----------
    model : estimator
        The fitted model.
    shares : array of shape (n_samples, n_columns)
        The share of each part in each sample is in the last columns.

    Returns
    -------
    array of shape (n_samples, n_parts)
        Zero for parts that are empty.
    """
    sizes = np.abs(np.asarray(parts_of(model), dtype=float)).sum(axis=1)
    return np.asarray(shares, dtype=float)[:, -len(sizes) :] / np.where(sizes > 0, sizes, np.inf)


def _json(path: Path) -> dict[str, Any] | None:
    """The dict in a JSON file; None where there is no such file."""
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no JSON that partwise wrote: {error}.") from error
    if not isinstance(found, dict):
        raise ValueError(f"{path} is no JSON that partwise wrote: it holds no table of entries.")
    return found
