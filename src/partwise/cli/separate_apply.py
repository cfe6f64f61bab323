"""partwise separate --model: another recording, by the spectra of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.common import emit, make_folder
from partwise.cli.paging import page_files
from partwise.cli.separate import audio_files, part_details, read
from partwise.interrupts import uninterrupted

if TYPE_CHECKING:
    from partwise.reporting.source import Source


def apply(model: Path, path: Path, output: Path, power: float | None, *, as_json: bool) -> int:
    """Separate a recording by the spectra of a model; write audio files, activations.csv and summary.json."""
    from partwise import SourceSeparation, load
    from partwise.cli.pipeline import about, files_before
    from partwise.core import open_session
    from partwise.io import write_csv, write_json
    from partwise.io.atomic import write_bytes_atomic

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
        names, files, kept, sounds = audio_files(fitted, sound, by, sound.data, power)
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

    def source() -> Source:
        return applied(fitted, mean, times, summary, part_details(fitted, names, by), sounds)

    with open_session() as session:
        pages = page_files(source, {}, session)
    summary["files"] |= {name: str(folder / name) for name in pages}
    before = files_before(folder)
    with uninterrupted():
        for name, write in files:
            write(folder / name)
        write_csv(folder / "activations.csv", mean, times, parts, corner="seconds")
        write_json(folder / "summary.json", summary)
        for name, page in pages.items():
            write_bytes_atomic(folder / name, page)
        for name in before - set(summary["files"]):
            (folder / name).unlink(missing_ok=True)
    lines = [f"{path}: {sound.seconds:.2f} s, by the {fitted.n_components_} spectra of {model}"]
    emit(summary, as_json, [*lines, f"Results in {folder}/: {', '.join(summary['files'])}"])
    return 0


def applied(
    model: Any,
    W: Any,
    times: list[str],
    summary: dict[str, Any],
    parts: list[dict[str, Any]],
    sounds: list[Any],
) -> Source:
    """What the page is made from: the spectra of the model, and when they sound in this recording."""
    from partwise.models.summary import summary_of
    from partwise.reporting.source import from_model

    said = {**summary_of(model), **summary, "n_samples": len(times), "converged": None, "history": None}
    said |= {"sentence": f"the spectra of {summary['model']}, which were held"}
    for part, more in zip(said["parts"], parts):
        part.update(more)
    source = from_model(model, W=W, row_names=times, summary=said)
    source.kept |= {"sounds": sounds}
    return source
