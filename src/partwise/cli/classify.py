"""partwise classify: NMF features and a mixture classifier, from a table and its labels."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from partwise.cli.common import emit, make_folder, names_or_numbers, say


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
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")] = Path(
        "partwise-classify"
    ),
    components: Annotated[
        int, typer.Option("-k", "--components", min=0, help="NMF features; 0 uses the columns as they are.")
    ] = 40,
    mixtures: Annotated[int, typer.Option(min=1, help="Mixture components for each class.")] = 8,
    shape: Annotated[
        str | None, typer.Option(help="Rows are pictures of this size, as 28x28: draws them.")
    ] = None,
    deslant: Annotated[
        bool, typer.Option("--deslant", help="Set pictures upright and crop them to 20x20 first.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    key: Annotated[str | None, typer.Option(help="Which array of an .npz holds the samples.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON on stdout.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No progress bar.")] = False,
) -> None:
    """Learn to tell classes apart. Writes predictions, pictures, the model and a summary into a folder.

    Without --test a fifth of the rows is held out to measure the error.
    """
    import numpy as np

    from partwise import save
    from partwise.io import write_csv, write_json

    size = picture_size(shape, deslant)
    X, y, _ = labelled(train, labels, key)
    folder = make_folder(output)
    if test is not None:
        X_test, y_test, names = labelled(test, test_labels, key, labels)
        if X_test.shape[1] != X.shape[1]:
            raise ValueError(f"{test} has {X_test.shape[1]} columns, {train} has {X.shape[1]}.")
        check_known(y_test, y, test)
    else:
        held = np.zeros(len(X), bool)
        held[np.random.default_rng(seed).permutation(len(X))[: max(1, len(X) // 5)]] = True
        names = [f"row{i}" for i in np.flatnonzero(held)]
        X_test, y_test, X, y = X[held], y[held], X[~held], y[~held]
    model = pipeline(components, mixtures, size if deslant else None, seed, quiet or as_json)
    begin = perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model.fit(X, y)
    except ValueError as error:
        raise ValueError(f"{train}: {error}") from error
    for message in dict.fromkeys(str(w.message) for w in said):
        say(f"Note: {message}")
    seconds = perf_counter() - begin
    proba = model.predict_proba(X_test)
    classes = model.classes_
    predicted = classes[proba.argmax(axis=1)]
    mixture = model.steps[-1][1]
    write_csv(folder / "predictions.csv", proba, names, [str(c) for c in classes], corner="row")
    quieted(model)
    save(model, folder / "model.partwise")
    summary: dict[str, Any] = {
        "data": str(train),
        "n_train": len(y),
        "n_test": len(X_test),
        "classes": [str(c) for c in classes],
        "train_error": float((model.predict(X) != y).mean()),
        "test_error": None if y_test is None else float((predicted != y_test).mean()),
        "parameters": mixture.n_parameters_,
        "penalty": mixture.penalty_,
        "seconds": seconds,
    }
    if y_test is not None:
        summary["confusion"] = confusion(y_test, predicted, classes)
    write_json(folder / "summary.json", summary)
    draw(folder / "classes.png", model, summary, X_test, y_test, proba, size, deslant)
    emit(summary, as_json, describe(summary, folder))


def picture_size(shape: str | None, deslant: bool) -> tuple[int, int] | None:
    """28x28 as two numbers."""
    if shape is None:
        if deslant:
            raise ValueError("--deslant needs --shape, the height and width of the pictures, as 28x28.")
        return None
    parts = shape.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise ValueError(f"--shape must be height x width, as 28x28; got '{shape}'.")
    return int(parts[0]), int(parts[1])


def labelled(
    path: Path, labels: str | None, key: str | None, column: str | None = None
) -> tuple[Any, Any, list[str]]:
    """Read samples and their labels.

    Parameters
    ----------
    path : Path
        The table of samples.
    labels : str or None
        A column or array of the table, or a file of labels; None if they are not given.
    key : str or None
        Which array of an .npz holds the samples.
    column : str or None
        The column that held the labels of the training table. It is no feature here either, and gives the labels
        where ``labels`` does not.

    Returns
    -------
    X, y, names
        Samples, labels (None if there are none) and row names.
    """
    import numpy as np

    from partwise.io import DataError, label_names, read, read_labels, take_labels

    table = read(path, key=key, stack=True)
    y = None
    if column is not None and column in label_names(table):
        table, y = take_labels(table, column)
    if labels is not None and not (labels == column and y is not None):
        if Path(labels).is_file() and labels not in label_names(table):
            y = read_labels(labels)
        else:
            try:
                table, y = take_labels(table, labels)
            except DataError as error:
                if labels in label_names(table):
                    raise
                raise ValueError(f"{error} There is no file '{labels}' either.") from error
    for note in table.notes:
        say(f"Note: {note}")
    X = table.data.toarray() if hasattr(table.data, "tocsr") else table.data
    X = np.asarray(X, dtype=np.result_type(X.dtype, np.float32))
    if y is not None and len(y) != len(X):
        raise ValueError(f"{path} has {len(X)} rows, but there are {len(y)} labels in {labels}.")
    return X, y, names_or_numbers(table.row_names, len(X), "row")


def check_known(y_test: Any, y: Any, test: Path) -> None:
    """Labels that training never saw cannot be right."""
    import numpy as np

    if y_test is None:
        return
    unseen = sorted(set(np.unique(y_test).tolist()) - set(np.unique(y).tolist()))
    if unseen:
        raise ValueError(f"{test} has the label {unseen[0]!r}, which the training data have not.")


def pipeline(components: int, mixtures: int, slanted: tuple[int, int] | None, seed: int, quiet: bool) -> Any:
    """Upright pictures if asked for, NMF features if asked for, and the mixtures."""
    from sklearn.pipeline import Pipeline

    from partwise import NMF, MixtureClassifier
    from partwise.domains import DeslantCrop

    shown = 0 if quiet else 1
    steps: list[tuple[str, Any]] = []
    if slanted is not None:
        steps.append(("deslantcrop", DeslantCrop(slanted)))
    if components:
        nmf = NMF(components, beta_loss="kullback-leibler", random_state=seed, verbose=shown)
        steps.append(("nmf", nmf))
    steps.append(("mixtureclassifier", MixtureClassifier(mixtures, random_state=seed, verbose=shown)))
    return Pipeline(steps)


def quieted(model: Any) -> None:
    """A model that is loaded again should not draw bars."""
    for _, step in model.steps:
        if "verbose" in step.get_params(deep=False):
            step.set_params(verbose=0)


def confusion(y: Any, predicted: Any, classes: Any) -> list[list[int]]:
    """How many samples of each class were taken for each."""
    from sklearn.metrics import confusion_matrix

    return [[int(v) for v in row] for row in confusion_matrix(y, predicted, labels=classes)]


def describe(summary: dict[str, Any], folder: Path) -> list[str]:
    """The summary for a person."""
    lines = [
        f"{summary['data']}: {summary['n_train']} rows, {len(summary['classes'])} classes, "
        f"{summary['parameters']} numbers in the classifier",
        f"  wrong on the training rows: {100 * summary['train_error']:.2f} %",
    ]
    if summary["test_error"] is not None:
        lines.append(f"  wrong on the {summary['n_test']} test rows: {100 * summary['test_error']:.2f} %")
    return [*lines, f"Results in {folder}/: predictions.csv, classes.png, model.partwise, summary.json"]


def draw(
    path: Path,
    model: Any,
    summary: dict[str, Any],
    X: Any,
    y: Any,
    proba: Any,
    size: tuple[int, int] | None,
    deslant: bool,
) -> None:
    """What the classifier believes in, which classes it confuses, and the samples it is most wrong about."""
    import numpy as np

    from partwise.plot import draw_parts, figure, save_figure

    mixture = model.steps[-1][1]
    believed = mixture.means_
    for name, step in reversed(model.steps[:-1]):
        if name == "nmf":
            believed = step.inverse_transform(believed)
    panels = [*(["believes"] if size else []), *(["confusion"] if y is not None else [])]
    if y is not None and size:
        panels.append("worst")
    if not panels:
        panels = ["believes"]
    drawing, axes = figure([panels], size=(5.0 * len(panels), 5.0))
    classes = summary["classes"]
    if "believes" in axes and size is not None:
        each = int(np.bincount(mixture.component_class_).max())
        shown = (20, 20) if deslant else size
        draw_parts(
            axes["believes"], np.maximum(believed, 0.0), shown, "what each class looks like to it", each
        )
    elif "believes" in axes:
        axes["believes"].imshow(np.maximum(believed, 0.0), cmap="gray_r", aspect="auto")
        axes["believes"].set_title("mean features of each component", loc="left", fontsize=10)
    if "confusion" in axes:
        counts = np.array(summary["confusion"], dtype=float)
        off = counts - np.diag(np.diag(counts))
        axes["confusion"].imshow(off, cmap="Oranges", vmin=0, vmax=max(5.0, 1.5 * off.max()))
        for i, row in enumerate(counts.astype(int)):
            for j, value in enumerate(row):
                if value and len(classes) <= 20:
                    axes["confusion"].text(j, i, str(value), ha="center", va="center", fontsize=7)
        axes["confusion"].set_title("true class down, answer across", loc="left", fontsize=10)
        axes["confusion"].set_xticks(range(len(classes)), classes)
        axes["confusion"].set_yticks(range(len(classes)), classes)
        axes["confusion"].grid(False)
    if "worst" in axes and size is not None:
        place = np.searchsorted(model.classes_, y)
        loss = np.log(proba.max(axis=1) + 1e-300) - np.log(proba[np.arange(len(y)), place] + 1e-300)
        order = np.argsort(-loss)[:25]
        told = ", ".join(f"{y[i]}→{model.classes_[proba[i].argmax()]}" for i in order[:6])
        draw_parts(axes["worst"], X[order], size, f"most surprising: {told}, …", 5)
    save_figure(drawing, path)
