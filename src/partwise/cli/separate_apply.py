"""partwise separate --model: another recording, by the spectra of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from partwise.cli.common import emit, make_folder
from partwise.cli.separate import audio_files, component_table, read
from partwise.interrupts import uninterrupted

#: Below this share of the spectrogram, spectra that were learned elsewhere do not describe a recording.
_POOR = 0.5


def apply(model: Path, path: Path, output: Path, power: float | None, *, as_json: bool) -> int:
    """Separate a recording by the spectra of a model; write audio files, tables, a picture and summary.json."""
    from partwise import SourceSeparation, load
    from partwise.cli.pipeline import about, drawn, listed
    from partwise.core import open_session
    from partwise.io import write_csv, write_json
    from partwise.io.atomic import write_bytes_atomic
    from partwise.plot import save_figure
    from partwise.plot import separation as draw

    fitted = load(model)
    if not isinstance(fitted, SourceSeparation):
        raise ValueError(
            f"{model} holds a {type(fitted).__name__}; give a model that `partwise separate` wrote."
        )
    sound = read(path)
    folder = make_folder(output)
    by = "sources" if fitted.n_sources_ < fitted.n_components_ else "components"
    with about(str(path)), open_session() as session:
        here = fitted.applied_to(sound.data, sound.rate)
        names, files, kept = audio_files(here, sound, by, power=power)
        pictures = drawn([("separation.png", lambda file: save_figure(draw(here), file))], session)
    activations = here.activations_
    parts = [str(name) for name in here.get_feature_names_out()]
    components = component_table(here, names if by == "components" else None)
    tables = ("components.csv", "activations.csv")
    summary: dict[str, Any] = {
        "data": str(path),
        "model": str(model),
        "n_components": here.n_components_,
        "explained": here.explained_,
        "components": here.summary()["parts"],
        "audio_subtype": kept.subtype,
        "interrupted": session.interrupted,
        "files": {name: str(folder / name) for name in (*names, *tables, *pictures, "summary.json")},
    }
    with uninterrupted():
        for name, write in files:
            write(folder / name)
        write_csv(
            folder / components.name,
            components.array,
            components.rows,
            components.columns,
            corner="component",
        )
        write_csv(
            folder / "activations.csv",
            activations if activations.ndim == 2 else activations.mean(axis=2),
            [f"{t:.4f}" for t in here.times_],
            parts,
            corner="seconds",
        )
        write_json(folder / "summary.json", summary)
        for name, picture in pictures.items():
            write_bytes_atomic(folder / name, picture)
    emit(
        summary,
        as_json,
        [*lines_of(summary, sound.seconds), f"Results in {folder}/: {', '.join(listed(summary['files']))}"],
    )
    return 130 if session.interrupted else 0


def lines_of(summary: dict[str, Any], seconds: float) -> list[str]:
    """The outcome for a person: how much of the recording the spectra explain, and what each does in it."""
    share = summary["explained"]
    doubt = " Fit a model to this recording, or learn from one that is like it." if share < _POOR else ""
    return [
        f"{summary['data']}: {seconds:.2f} s, by the {summary['n_components']} spectra of {summary['model']}",
        f"they make up {100 * share:.1f} % of its spectrogram.{doubt}",
        *(f"  component {i}, {part['sentence']}" for i, part in enumerate(summary["components"])),
    ]
