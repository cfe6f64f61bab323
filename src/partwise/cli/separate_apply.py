"""partwise separate --model: another recording, by the spectra of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from partwise.cli.common import emit, make_folder
from partwise.cli.separate import audio_files, read
from partwise.interrupts import uninterrupted


def apply(model: Path, path: Path, output: Path, power: float | None, *, as_json: bool) -> int:
    """Separate a recording by the spectra of a model; write audio files, activations.csv and summary.json."""
    from partwise import SourceSeparation, load
    from partwise.cli.pipeline import about
    from partwise.io import write_csv, write_json

    fitted = load(model)
    if not isinstance(fitted, SourceSeparation):
        raise ValueError(
            f"{model} holds a {type(fitted).__name__}; give a model that `partwise separate` wrote."
        )
    sound = read(path)
    folder = make_folder(output)
    by = "sources" if fitted.n_sources_ < fitted.n_components_ else "components"
    with about(str(path)):
        activations = fitted.transform(sound.data, sound.rate)
        names, files, kept = audio_files(fitted, sound, by, sound.data, power)
    mean = activations if activations.ndim == 2 else activations.mean(axis=2)
    parts = [str(name) for name in fitted.get_feature_names_out()]
    times = [f"{t:.4f}" for t in fitted._short_time().times(len(sound.data))]
    summary: dict[str, Any] = {
        "data": str(path),
        "model": str(model),
        "n_components": fitted.n_components_,
        "audio_subtype": kept.subtype,
        "files": {name: str(folder / name) for name in (*names, "activations.csv", "summary.json")},
    }
    with uninterrupted():
        for name, write in files:
            write(folder / name)
        write_csv(folder / "activations.csv", mean, times, parts, corner="seconds")
        write_json(folder / "summary.json", summary)
    lines = [f"{path}: {sound.seconds:.2f} s, by the {fitted.n_components_} spectra of {model}"]
    emit(summary, as_json, [*lines, f"Results in {folder}/: {', '.join(summary['files'])}"])
    return 0
