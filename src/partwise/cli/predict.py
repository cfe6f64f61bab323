"""partwise predict: the classes that a saved classifier gives to new rows."""

from __future__ import annotations

from typing import Any

from partwise.cli.apply import CsvFile, NewRows, check_output, deliver, read_both
from partwise.cli.common import say
from partwise.cli.options import Json, ModelFile, Quiet, reads_data


@reads_data
def predict(
    model: ModelFile,
    data: NewRows,
    output: CsvFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Write the class of each row of DATA and how probable it is; for BinaryNMF, which parts are on."""
    from partwise.cli.pipeline import Csv, about, noted

    del quiet  # Taken as by the verbs that fit; nothing here takes so long that it has a bar.
    check_output(output, as_json)
    fitted, samples = read_both(model, data, reading)
    with noted(), about(samples.source):
        made, names = predictions(fitted, samples.X)
    say_missing(samples.X)
    table = Csv("The table of predictions", made, samples.rows, names)
    deliver(table, output, as_json, {"model": str(model), "data": str(data)})


def say_missing(X: Any) -> None:
    """Say how many rows have missing cells: a class may then rest on little, or on nothing but how common it is."""
    import numpy as np

    values = np.asarray(X) if getattr(X, "ndim", 0) == 2 and not hasattr(X, "tocsr") else None
    if values is None or values.dtype.kind != "f":
        return
    gaps = np.isnan(values)
    some, empty = int((gaps.any(axis=1) & ~gaps.all(axis=1)).sum()), int(gaps.all(axis=1).sum())
    if some:
        which, whom = ("1 row has", "it") if some == 1 else (f"{some} rows have", "them")
        say(f"Note: {which} missing cells; what is predicted for {whom} rests on the others.")
    if empty:
        which, whom = ("1 row has", "it") if empty == 1 else (f"{empty} rows have", "them")
        say(f"Note: {which} no cells at all; what is predicted for {whom} says nothing about {whom}.")


def predictions(model: Any, X: Any) -> tuple[Any, list[str]]:
    """What a model predicts for rows, as a table: classes with their probabilities, or a column for each part."""
    import numpy as np

    from partwise.models.summary import part_names

    if not hasattr(model, "predict"):
        raise ValueError(
            f"a {type(model).__name__} predicts nothing; what it makes of the rows is given by `partwise transform`."
        )
    if not hasattr(model, "classes_"):
        made = np.asarray(model.predict(X))
        return (made, part_names(model)) if made.ndim == 2 else (made[:, None], ["predicted"])
    if not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(X)).astype(str)[:, None], ["predicted"]
    proba = model.predict_proba(X)
    best = proba.argmax(axis=1)
    sure = [repr(float(p)) for p in proba.max(axis=1)]
    return np.column_stack([model.classes_[best].astype(str), sure]), ["predicted", "probability"]
