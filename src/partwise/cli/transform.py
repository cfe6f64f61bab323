"""partwise transform: what a saved model makes of new rows."""

from __future__ import annotations

from typing import Any

from partwise.cli.apply import CsvFile, NewRows, check_output, deliver, read_both
from partwise.cli.options import Json, ModelFile, Quiet, reads_data


@reads_data
def transform(
    model: ModelFile,
    data: NewRows,
    output: CsvFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> None:
    """Write W, how much of each part is in each row of DATA; for a classifier, how probable each class is."""
    from partwise.cli.pipeline import Csv, about, noted, outputs

    del quiet  # Taken as by the verbs that fit; nothing here takes so long that it has a bar.
    check_output(output, as_json)
    fitted, samples = read_both(model, data, reading)
    with noted(), about(samples.source):
        made, names = outputs(fitted, samples.X)
    what = "W" if hasattr(fitted, "transform") else "The table of class probabilities"
    deliver(Csv(what, made, samples.rows, names), output, as_json, {"model": str(model), "data": str(data)})
