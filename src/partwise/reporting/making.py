"""`report`: one HTML page about a fitted model or a folder of results."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from partwise.io.atomic import write_bytes_atomic
from partwise.reporting.content import content
from partwise.reporting.page import page
from partwise.reporting.provenance import provenance
from partwise.reporting.requirements import require_report
from partwise.reporting.source import Source, from_folder, from_model


class Report:
    """A page about a result.

    Parameters
    ----------
    shown : dict
        What the page shows, as plain data.
    """

    def __init__(self, shown: dict[str, Any]) -> None:
        self.content = shown
        self.html = page(shown)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file, as a rule report.html.

        Returns
        -------
        Path
            The file.
        """
        path = Path(path)
        write_bytes_atomic(path, self.html.encode("utf-8", "replace"))
        return path

    def __repr__(self) -> str:
        """The title, and what to do with it."""
        return f"<Report: {self.content['title']}; .save('report.html') writes it>"


def report(
    model: Any,
    X: Any = None,
    *,
    W: Any = None,
    y: Any = None,
    row_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    shape: tuple[int, ...] | None = None,
    title: str | None = None,
    data: str | None = None,
    path: str | os.PathLike[str] | None = None,
    **results: Any,
) -> Report:
    """One HTML page about a fitted model: what was done, the parts, who uses them, their tree, how far to trust it.

    Parameters
    ----------
    model : estimator, or str or path-like
        A fitted model or pipeline; or a folder of results that the command line wrote, and then nothing else is
        needed.
    X : array, sparse matrix, DataFrame or sequence of texts, optional
        The samples. Without them the page shows the parts only.
    W : array of shape (n_samples, n_parts), optional
        What ``model.transform(X)`` gives, where it is known already.
    y : array of shape (n_samples,), optional
        Labels of the samples: the page has a sunburst for each.
    row_names : sequence of str, optional
        Names of the samples; by default the index of a DataFrame, else row0, row1, …
    feature_names : sequence of str, optional
        Names of the columns; by default those of the fit.
    texts : sequence of str, optional
        The samples as texts, to be shown beside the topics that they use most.
    shape : tuple of int, optional
        Height and width where samples are pictures: parts and samples are drawn as pictures.
    title : str, optional
        Of the page.
    data : str, optional
        What the data are called.
    path : str or path-like, optional
        The file to write the page to.
    **results : object
        What else was computed: ``comparison``, ``rank_curve``, ``stability`` or ``uncertainty``, as a list of
        dicts (a table), a dict of lists (curves over the first) or a dict of numbers.

    Returns
    -------
    Report
        ``report.save("report.html")`` writes the page, ``report.html`` is the page itself, ``report.content`` what it
        shows as plain data. The page is one file that loads nothing.
    """
    require_report()
    if isinstance(model, str | os.PathLike):
        source = from_folder(Path(model), shape)
    else:
        source = _in_memory(model, X, W, y, row_names, feature_names, texts, shape)
        source.summary |= {"data": data, **provenance(model, X)}
    source.summary |= results
    made = Report(content(source, title))
    if path is not None:
        made.save(path)
    return made


def _in_memory(
    model: Any, X: Any, W: Any, y: Any, rows: Any, features: Any, texts: Any, shape: Any
) -> Source:
    """The source of a model that must be fitted and have parts or steps."""
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(model, "get_params"):
        raise TypeError(f"report needs a fitted model or a folder of results; got a {type(model).__name__}.")
    check_is_fitted(model)
    source = from_model(model, X, W=W, y=y, row_names=rows, feature_names=features, texts=texts, shape=shape)
    if not source.stages:
        raise ValueError(
            f"{type(model).__name__} has no components to report on; fit a model that has, such as NMF."
        )
    if source.rows:
        source.summary["n_samples"] = len(source.rows)
    return source
