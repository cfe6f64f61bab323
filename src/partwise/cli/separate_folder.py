"""partwise separate FOLDER: spectra of every recording, and how alike they are across recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from partwise.cli.common import emit, make_folder, say
from partwise.interrupts import uninterrupted

if TYPE_CHECKING:
    from partwise.domains.audio import Recording


def compare(
    folder: Path, output: Path, count: int, settings: dict[str, Any], *, strict: bool, as_json: bool
) -> int:
    """Learn spectra from every recording of a folder; write tables, a picture and a summary."""
    import numpy as np

    from partwise.cli.paging import page_files
    from partwise.cli.pipeline import drawn, files_before, noted
    from partwise.core import open_session
    from partwise.domains.likeness import recordings_alike
    from partwise.io import write_csv, write_json
    from partwise.io.atomic import write_bytes_atomic
    from partwise.plot import likeness, save_figure
    from partwise.reporting.provenance import versions
    from partwise.reporting.source import Source

    sounds, skipped = read_all(folder, strict)
    target = make_folder(output)
    rate = min(sound.rate for sound in sounds.values())
    if any(sound.rate != rate for sound in sounds.values()):
        say(f"Note: recordings have several rates; spectra are compared at {rate} Hz, the lowest.")
    with noted(), open_session() as session:
        models = learn(sounds, rate, count, settings, session)
        alike, spectra_alike = recordings_alike([model.components_ for model in models.values()])
        names = list(models)

        def picture(path: Path) -> None:
            save_figure(likeness(alike, names), path)

        pictures = drawn([("likeness.png", picture)], session)
        details = [
            {"recording": name, **part} for name, model in models.items() for part in model.summary()["parts"]
        ]
        files = ("likeness.csv", "spectra_likeness.csv", "spectra.csv", *pictures, "summary.json")
        summary: dict[str, Any] = {
            "data": str(folder),
            "recordings": names,
            "skipped": skipped,
            "n_components": count,
            "rate": rate,
            "likeness": alike.tolist(),
            "components": details,
            "versions": versions(),
            "files": {name: str(target / name) for name in files},
        }
        pages = page_files(lambda: Source(None, summary), pictures, session)
    summary["interrupted"] = session.interrupted
    summary["files"] |= {name: str(target / name) for name in pages}
    labels = [f"{name} {i}" for name, model in models.items() for i in range(model.n_components_)]
    frequencies = [f"{hz:.2f} Hz" for hz in next(iter(models.values())).frequencies_]
    before = files_before(target)
    with uninterrupted():
        write_csv(target / "likeness.csv", alike, names, names, corner="recording")
        write_csv(target / "spectra_likeness.csv", spectra_alike, labels, labels, corner="spectrum")
        stacked = np.vstack([model.components_ for model in models.values()])
        write_csv(target / "spectra.csv", stacked, labels, frequencies, corner="spectrum")
        write_json(target / "summary.json", summary)
        for name, data in (pictures | pages).items():
            write_bytes_atomic(target / name, data)
        for name in before - set(summary["files"]):
            (target / name).unlink(missing_ok=True)
    emit(summary, as_json, lines_of(summary, alike))
    return 130 if session.interrupted else 0


def learn(
    sounds: dict[str, Recording], rate: int, count: int, settings: dict[str, Any], session: Any
) -> dict[str, Any]:
    """A model of each recording; after Ctrl-C, of those that were begun by then."""
    from partwise import SourceSeparation
    from partwise.domains.audio import at_rate

    models: dict[str, Any] = {}
    for i, (name, sound) in enumerate(sounds.items()):
        if models and session.stopped:
            say(f"Note: stopped after {i} of {len(sounds)} recordings; these are compared.")
            break
        model = SourceSeparation(count, **{"n_init": 1} | settings)
        models[name] = model.fit(at_rate(sound.data, sound.rate, rate), rate)
        del model.signal_
    return models


def read_all(folder: Path, strict: bool) -> tuple[dict[str, Recording], list[dict[str, str]]]:
    """The recordings of a folder by name; those that cannot be read are listed, or refused if `strict`."""
    from partwise.domains.audio import SUFFIXES, read_audio
    from partwise.io import DataError

    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise ValueError(f"{folder} has no audio files; they end in {', '.join(SUFFIXES)}.")
    sounds: dict[str, Recording] = {}
    skipped = []
    for file in files:
        try:
            sound = read_audio(file)
        except (DataError, ImportError) as error:
            if strict:
                raise
            skipped.append({"file": file.name, "reason": str(error)})
            say(f"Note: skipped. {error}")
            continue
        for note in sound.notes:
            say(f"Note: {note}")
        # Two files may differ in their endings only.
        sounds[file.name if file.stem in sounds else file.stem] = sound
    if len(sounds) < 2:
        raise ValueError(
            f"{folder} has {len(sounds)} recording{'' if len(sounds) == 1 else 's'} that can be read; two are needed "
            "to compare. Give the file itself to separate it."
        )
    return sounds, skipped


def lines_of(summary: dict[str, Any], alike: Any) -> list[str]:
    """The outcome for a person: the most alike pairs."""
    names = summary["recordings"]
    pairs = [(alike[i][j], names[i], names[j]) for i in range(len(names)) for j in range(i)]
    lines = [
        f"{summary['data']}: {len(names)} recordings, {summary['n_components']} spectra each, {summary['rate']} Hz",
        "most alike, by the cosine of their spectra:",
        *(f"  {value:.3f}  {a}, {b}" for value, b, a in sorted(pairs, reverse=True)[:10]),
    ]
    if summary["skipped"]:
        lines.append(f"{len(summary['skipped'])} files were skipped; summary.json says why")
    folder = Path(summary["files"]["summary.json"]).parent
    return [*lines, f"Results in {folder}/: {', '.join(summary['files'])}"]
