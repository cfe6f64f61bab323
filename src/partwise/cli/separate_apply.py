"""partwise separate --model: another recording, by the spectra of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.common import emit, make_folder
from partwise.cli.paging import page_files
from partwise.cli.separate import audio_files, component_table, part_details, read
from partwise.interrupts import uninterrupted

if TYPE_CHECKING:
    from partwise.reporting.source import Source

#: Below this share of the spectrogram, spectra that were learned elsewhere do not describe a recording.
_POOR = 0.5


def apply(model: Path, path: Path, output: Path, power: float | None, *, as_json: bool) -> int:
    """Separate a recording by the spectra of a model; write audio files, tables, a picture and a page."""
    from partwise import SourceSeparation, load
    from partwise.cli.pipeline import about, drawn, files_before, listed
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
        names, files, kept, sounds = audio_files(here, sound, by, power=power)
        pictures = drawn([("separation.png", lambda file: save_figure(draw(here), file))], session)
        W = here.activations_ if here.activations_.ndim == 2 else here.activations_.mean(axis=2)
        components = component_table(here, names if by == "components" else None)
        activations = ("activations.csv", W, [f"{t:.4f}" for t in here.times_])
        tables = (components.name, activations[0])
        summary: dict[str, Any] = {
            "data": str(path),
            "model": str(model),
            "n_components": here.n_components_,
            "explained": here.explained_,
            "components": here.summary()["parts"],
            "audio_subtype": kept.subtype,
            "files": {name: str(folder / name) for name in (*names, *tables, *pictures, "summary.json")},
        }

        def source() -> Source:
            return applied(here, W, activations[2], summary, part_details(here, names, by), sounds)

        pages = page_files(source, pictures, session)
    summary["files"] |= {name: str(folder / name) for name in pages}
    summary["interrupted"] = session.interrupted
    before = files_before(folder)
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
        parts = [str(name) for name in here.get_feature_names_out()]
        write_csv(folder / activations[0], W, activations[2], parts, corner="seconds")
        write_json(folder / "summary.json", summary)
        for name, data in (pictures | pages).items():
            write_bytes_atomic(folder / name, data)
        for name in before - set(summary["files"]):
            (folder / name).unlink(missing_ok=True)
    where = f"Results in {folder}/: {', '.join(listed(summary['files']))}"
    emit(summary, as_json, [*lines_of(summary, sound.seconds), where])
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
