"""partwise predict: the classes that a saved classifier gives to new rows."""

from __future__ import annotations

from typing import Any

from partwise.cli.apply import CsvFile, NewRows, check_output, deliver, read_both
from partwise.cli.options import Json, ModelFile, reads_data


@reads_data
def predict(
    model: ModelFile, data: NewRows, output: CsvFile = None, as_json: Json = False, *, reading: dict[str, Any]
) -> None:
    """Write the class of each row of DATA and how probable it is; for BinaryNMF, which parts are on."""
    from partwise.cli.pipeline import Csv, about

    check_output(output, as_json)
    fitted, samples = read_both(model, data, reading)
    with about(samples.source):
        made, names = predictions(fitted, samples.X)
    table = Csv("The table of predictions", made, samples.rows, names)
    deliver(table, output, as_json, {"model": str(model), "data": str(data)})


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
