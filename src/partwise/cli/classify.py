"""partwise classify: NMF features and a mixture classifier, from a table and its labels."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.common import names_or_numbers, say
from partwise.cli.options import Json, Output, Quiet, reads_data

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted, Samples


@reads_data
def classify(
    train: Annotated[
        Path, typer.Argument(help="Rows are samples, columns nonnegative features.", show_default=False)
    ],
    labels: Annotated[
        str,
        typer.Option(
            help="A column of TRAIN, an array of an .npz, a column of obs of an .h5ad; or a file, one label a line.",
            show_default=False,
        ),
    ],
    test: Annotated[Path | None, typer.Option(help="Samples to classify.", show_default=False)] = None,
    test_labels: Annotated[
        str | None, typer.Option(help="Their labels, if known; given as --labels.", show_default=False)
    ] = None,
    output: Output = Path("partwise-classify"),
    components: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--components",
            min=0,
            help="NMF features; 0 uses the columns as they are. 40 if not given, or as many as there are columns.",
            show_default=False,
        ),
    ] = None,
    mixtures: Annotated[int, typer.Option(min=1, help="Mixture components for each class.")] = 8,
    shape: Annotated[
        str | None, typer.Option(help="Rows are pictures of this size, as 28x28: draws them.")
    ] = None,
    deslant: Annotated[
        bool, typer.Option("--deslant", help="Set pictures upright and crop them to 20x20 first.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> int:
    """Learn to tell classes apart. Writes predictions, pictures, the model and a summary into a folder.

    Without --test a fifth of the rows is held out to measure the error.
    """
    from partwise.cli.columns import match_columns, without_blank
    from partwise.cli.pipeline import run

    size = picture_size(shape, deslant)
    known = labelled(train, labels, reading)
    if size is None:
        known = without_blank(known)
    if test is None:
        known, new = held_out(known, seed)
    else:
        # What is dropped is kept by the coding, and need not be there again.
        how = {name: value for name, value in reading.items() if name != "drop"}
        read_new = labelled(test, test_labels, how, labels, coding=known.coding)
        new = match_columns(read_new, known.columns, known.X.shape[1])
        new = with_labels_like(known, new)
        check_labels(known, new)
    if components is None:
        # More parts than columns could not be told apart, least of all where cells are missing.
        components = 40 if deslant else min(40, known.X.shape[1])
    model = pipeline(components, mixtures, size if deslant else None, seed, quiet)
    after = partial(judged, new=new, size=size)
    return run(model, known, output, as_json=as_json, after=after)


def judged(fitted: Fitted, new: Samples, size: tuple[int, int] | None) -> Extras:
    """Predictions for the samples that were not trained on, and how often they are wrong."""
    from partwise.cli.pipeline import Csv, Extras
    from partwise.plot import classes as draw
    from partwise.plot import save_figure
    from partwise.plot.classes_picture import confusion_counts

    model, known = fitted.model, fitted.samples
    proba = model.predict_proba(new.X)
    classes = [str(name) for name in model.classes_]
    predicted = model.classes_[proba.argmax(axis=1)]
    train_error = float((model.predict(known.X) != known.y).mean())
    summary: dict[str, Any] = {
        "n_train": len(known.y),
        "n_test": len(new.X),
        "classes": classes,
        "train_error": train_error,
        "test_error": None,
    }
    if size is not None:
        summary["meta"] = {"image_shape": list(size)}
    lines = [f"  wrong on the training rows: {100 * train_error:.2f} %"]
    if new.y is not None:
        summary["test_error"] = float((predicted != new.y).mean())
        summary["confusion"] = confusion_counts(new.y, predicted, model.classes_).tolist()
        lines.append(f"  wrong on the {len(new.X)} test rows: {100 * summary['test_error']:.2f} %")

    def picture(path: Path) -> None:
        save_figure(draw(model, new.X, new.y, proba=proba, shape=size, row_names=new.rows), path)

    tables = [Csv("predictions.csv", proba, new.rows, classes)]
    if fitted.usage is not None:
        parts = [f"part{t}" for t in range(fitted.usage.shape[1])]
        tables.append(Csv("W.csv", fitted.usage, known.rows, parts))
    return Extras(summary, tables=tables, pictures=[("classes.png", picture)], lines=lines)


def held_out(samples: Samples, seed: int) -> tuple[Samples, Samples]:
    """Four fifths of the rows, and the others."""
    import numpy as np

    count = len(samples.X)
    classes, sizes = np.unique(samples.y, return_counts=True)
    if sizes.max() < 2:
        raise ValueError(
            f"{samples.source} has {count} rows and {len(classes)} different labels, so that no row can be held out "
            "of whose class others are left. Do they name classes, or are they names, or numbers to be predicted, "
            "which no classifier does? Give --labels classes with several rows each, or --test."
        )
    held = np.zeros(count, bool)
    held[np.random.default_rng(seed).permutation(count)[: max(1, count // 5)]] = True

    def only(which: Any) -> Samples:
        rows = [samples.rows[i] for i in np.flatnonzero(which)]
        return replace(samples, X=samples.X[which], rows=rows, y=samples.y[which])

    return only(~held), only(held)


def picture_size(shape: str | None, deslant: bool) -> tuple[int, int] | None:
    """Height and width from a text such as 28x28."""
    if shape is None:
        if deslant:
            raise ValueError("--deslant needs --shape, the height and width of the pictures, as 28x28.")
        return None
    parts = shape.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"--shape must be height x width, as 28x28; got '{shape}'.")
    return int(parts[0]), int(parts[1])


def labelled(
    path: Path,
    labels: str | None,
    reading: dict[str, Any],
    column: str | None = None,
    *,
    dense: bool = True,
    unknown: bool = False,
    yes_no: bool | str = "answers",
    coding: Any = None,
) -> Samples:
    """Read samples and their labels.

    Parameters
    ----------
    path : Path
        The table of samples.
    labels : str or None
        A column or array of the table, or a file of labels; None if they are not given.
    reading : dict
        Options of `partwise.io.read`. Labels need not be among the columns that it names.
    column : str or None
        The column that held the labels of the training table. It is no feature here either, and gives the labels
        where ``labels`` does not.
    dense : bool
        Whether sparse rows are made dense, for models that take no others.
    unknown : bool
        Whether rows may have no label.
    yes_no : bool or str
        Whether the table is one of yes and no, as in `partwise.io.read`.
    coding : Coding, optional
        How the training table was read.

    Returns
    -------
    Samples
        With their labels, None if there are none.
    """
    import numpy as np

    from partwise.cli.pipeline import Samples
    from partwise.io import DataError, label_names, read, row_labels, take_labels
    from partwise.io.budget import limited, spend
    from partwise.io.label_sheets import miscounted

    name = column if labels is None else labels
    aside = [each for each in (column, labels) if each is not None]
    how: dict[str, Any] = {"stack": True, "yes_no": yes_no, "aside": aside, "coding": coding, **reading}
    if "columns" not in reading or name is None or Path(name).is_file():
        table = read(path, **how)
    else:
        try:
            table = read(path, **how | {"columns": [*reading["columns"], name]})
        except DataError:
            if labels is not None:
                raise
            table = read(path, **how)  # New rows may have no labels.
    y = None
    if column is not None and column in label_names(table):
        table, y = take_labels(table, column, unknown=unknown)
    if labels is not None and not (labels == column and y is not None):
        if Path(labels).is_file() and labels not in label_names(table):
            names = names_or_numbers(table.row_names, table.shape[0], "row")
            y, told = row_labels(labels, names, named=table.row_names is not None, unknown=unknown)
            for note in told:
                say(f"Note: {note}")
        else:
            try:
                table, y = take_labels(table, labels, unknown=unknown)
            except DataError as error:
                if labels in label_names(table):
                    raise
                raise ValueError(f"{error} There is no file '{labels}' either.") from error
    for note in table.notes:
        say(f"Note: {note}")
    X = table.data
    if dense and hasattr(X, "tocsr"):
        with limited(str(path)):
            spend(X.dtype.itemsize * X.shape[0] * X.shape[1])
            X = X.toarray()
    X = X.astype(np.result_type(X.dtype, np.float32), copy=False)
    n = X.shape[0]
    if y is not None and len(y) != n:
        raise ValueError(miscounted(str(labels), len(y), str(path), n))
    rows = names_or_numbers(table.row_names, n, "row")
    named = table.row_names is not None
    return Samples(X, rows, table.column_names, str(path), y, coding=table.coding, named=named)


def with_labels_like(known: Samples, new: Samples) -> Samples:
    """New samples whose labels are text if those of the training are, though here all of them are numbers."""
    if new.y is None or known.y.dtype.kind != "U" or new.y.dtype.kind != "i":
        return new
    return replace(new, y=new.y.astype(str))


def check_labels(known: Samples, new: Samples) -> None:
    """Labels that training never saw cannot be right."""
    import numpy as np

    if new.y is None:
        return
    unseen = sorted(set(np.unique(new.y).tolist()) - set(np.unique(known.y).tolist()))
    if unseen:
        raise ValueError(f"{new.source} has the label {unseen[0]!r}, which the training data have not.")


def pipeline(components: int, mixtures: int, slanted: tuple[int, int] | None, seed: int, quiet: bool) -> Any:
    """Upright pictures if asked for, NMF features if asked for, and the mixtures."""
    from sklearn.pipeline import Pipeline

    from partwise import NMF, MixtureClassifier
    from partwise.domains import DeslantCrop

    shown = -1 if quiet else 1
    steps: list[tuple[str, Any]] = []
    if slanted is not None:
        steps.append(("deslantcrop", DeslantCrop(slanted)))
    if components:
        nmf = NMF(components, beta_loss="kullback-leibler", random_state=seed, verbose=shown)
        steps.append(("nmf", nmf))
    steps.append(("mixtureclassifier", MixtureClassifier(mixtures, random_state=seed, verbose=shown)))
    return Pipeline(steps)
