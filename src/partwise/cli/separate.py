"""partwise separate: a recording as components that add up to it; the recordings of a folder by their spectra."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from partwise.cli.common import say
from partwise.cli.options import Json, Output, Quiet, Seed

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted
    from partwise.domains.audio import Recording


def separate(
    recording: Annotated[
        Path, Argument(help="A .wav, .flac or .ogg file, or a folder of them.", show_default=False)
    ],
    components: Annotated[
        str, Option("-k", "--components", help="Number of components, or auto; in a folder 10 each.")
    ] = "auto",
    output: Output = Path("partwise-separate"),
    sources: Annotated[
        int | None, Option(min=1, help="Group the components into so many sources, by timbre.")
    ] = None,
    learn: Annotated[
        list[str] | None,
        Option(metavar="NAME=FILE", help="A recording of one source alone, as voice=voice.wav; repeatable."),
    ] = None,
    model: Annotated[
        Path | None, Option(help="Use the spectra of this model file instead of learning some.")
    ] = None,
    loss: Annotated[str | None, Option(help="kl, is (Itakura-Saito), frobenius, or a number β.")] = None,
    window: Annotated[float | None, Option(help="Length of a window in seconds.")] = None,
    power: Annotated[float | None, Option(help="Exponent of the masks: 1 by magnitude, 2 by energy.")] = None,
    n_init: Annotated[int | None, Option(help="Number of starts; the best is kept.")] = None,
    max_time: Annotated[float | None, Option(help="Most seconds.")] = None,
    strict: Annotated[
        bool, Option("--strict", help="Stop at a file of a folder that cannot be read.")
    ] = False,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Separate RECORDING into components. Writes one audio file each, components.csv, separation.png and the model.

    The files sum to the recording. With --sources or --learn there is one file for each source instead. For a folder,
    spectra are learned from every recording, and compared across recordings.

    Ctrl-C stops early: the best components so far are written.
    """
    given = {"beta_loss": as_loss_name(loss), "window": window, "power": power, "n_sources": sources}
    given |= {"n_init": n_init, "max_time": max_time, "random_state": seed}
    given["verbose"] = -1 if quiet else 1
    settings = {name: value for name, value in given.items() if value is not None}
    if recording.is_dir():
        refuse(
            "a folder",
            {
                "--sources": sources,
                "--learn": learn,
                "--model": model,
                "--power": power,
                "--max-time": max_time,
            },
        )
        from partwise.cli.separate_folder import compare

        return compare(recording, output, as_count(components, 10), settings, strict=strict, as_json=as_json)
    if model is not None:
        refuse(
            "--model",
            {
                "--sources": sources,
                "--learn": learn,
                "--loss": loss,
                "--window": window,
                "--n-init": n_init,
                "-k": None if components == "auto" else components,
            },
        )
        from partwise.cli.separate_apply import apply

        return apply(model, recording, output, power, as_json=as_json)
    return learned(recording, output, as_count(components, "auto"), learn or [], settings, as_json=as_json)


def learned(
    path: Path, output: Path, components: Any, learn: list[str], settings: dict[str, Any], *, as_json: bool
) -> int:
    """Fit a model to a recording and write everything."""
    from partwise import SourceSeparation
    from partwise.cli.pipeline import Samples, run
    from partwise.domains.spectrogram import ShortTime

    sound = read(path)
    examples = {name: example(file, sound.rate) for name, file in map(named_file, learn)}
    if len(examples) < len(learn):
        raise ValueError("--learn was given the same name twice; name each source once.")
    model = SourceSeparation(components, **settings)
    model._validate_params()
    frames = [f"{t:.4f}" for t in ShortTime.of(sound.rate, model.window).times(len(sound.data))]
    more: dict[str, Any] = {"rate": sound.rate, "examples": examples}
    samples = Samples(sound.data, frames, None, str(path), more=more)
    by = "sources" if learn or model.n_sources is not None else "components"
    return run(model, samples, output, as_json=as_json, after=partial(heard, sound=sound, by=by))


def heard(fitted: Fitted, sound: Recording, by: str) -> Extras:
    """The audio files, tables and the picture."""
    from partwise.cli.pipeline import Csv, Extras
    from partwise.plot import save_figure
    from partwise.plot import separation as draw

    model = fitted.model
    # The fit found them; transform would look for them again.
    fitted.given = model.activations_
    names, files, kept, sounds = audio_files(model, sound, by)
    parts = [str(name) for name in model.get_feature_names_out()]
    activations = model.activations_ if sound.data.ndim == 1 else model.activations_.mean(axis=2)
    tables = [
        component_table(model, names if by == "components" else None),
        Csv("activations.csv", activations, fitted.samples.rows, parts, corner="seconds"),
        Csv(
            "spectra.csv",
            model.components_,
            parts,
            [f"{hz:.2f} Hz" for hz in model.frequencies_],
            "component",
        ),
    ]

    def picture(path: Path) -> None:
        save_figure(draw(model), path)

    channels = {1: "mono", 2: "stereo"}.get(model.n_channels_, f"{model.n_channels_} channels")
    size = f"{sound.seconds:.2f} s, {sound.rate} Hz, {channels}, {sound.subtype}"
    lines = []
    if by == "sources":
        lines = [f"  {name}: components {members(model, i)}" for i, name in enumerate(model.source_names_)]
    summary = {"size": size, "audio_files": names, "audio_subtype": kept.subtype, "notes": list(sound.notes)}
    return Extras(
        summary,
        parts=part_details(model, names, by),
        tables=tables,
        pictures=[("separation.png", picture)],
        files=files,
        lines=lines,
        kept={"sounds": sounds},
    )


def part_details(model: Any, files: list[str], by: str) -> list[dict[str, Any]]:
    """For each component its own audio file, or the source that it belongs to."""
    if by == "components":
        return [{"audio": name} for name in files]
    return [{"source": model.source_names_[source]} for source in model.sources_]


def members(model: Any, source: int) -> str:
    """The numbers of the components of a source."""
    return ", ".join(str(i) for i, other in enumerate(model.sources_) if other == source) or "none"


def component_table(model: Any, files: list[str] | None) -> Any:
    """components.csv: what is known of each component."""
    import numpy as np

    from partwise.cli.pipeline import Csv

    rows = [
        [
            "" if np.isnan(hz) else f"{hz:.3f}",
            note,
            " ".join(f"{t:.3f}" for t in begins),
            f"{share:.5f}",
            model.source_names_[source],
            *([files[i]] if files else []),
        ]
        for i, (hz, note, begins, share, source) in enumerate(
            zip(model.fundamental_, model.note_names_, model.onsets_, model.shares_, model.sources_)
        )
    ]
    columns = ["fundamental_hz", "note", "onsets_s", "share", "source", *(["file"] if files else [])]
    parts = [str(i) for i in range(len(rows))]
    return Csv("components.csv", np.array(rows, dtype=str), parts, columns, "component")


def audio_files(
    model: Any, sound: Recording, by: str, given: Any = None, power: float | None = None
) -> tuple[list[str], list[tuple[str, Any]], Recording, list[dict[str, Any]]]:
    """Names of the audio files, functions that write them, how they are kept, and excerpts for the report.

    Sounds are computed twice, first to see how loud they get: kept, they would take as much memory as the recording
    for each of them.
    """
    import numpy as np

    from partwise.domains.audio import exactly_kept, in_steps, suffix_for, write_audio
    from partwise.reporting.excerpts import excerpts

    peaks: list[float] = []

    def sounds() -> Any:
        return model.iter_separated(given, None if given is None else sound.rate, by=by, power=power)

    def measured() -> Any:
        for part in sounds():
            peaks.append(float(np.abs(part).max()))
            yield part

    if by == "sources":
        titles = [str(name) for name in model.source_names_]
        stems = unlike(safe(name) for name in titles)
    else:
        titles = [f"component {i}" for i in range(model.n_components_)]
        stems = [f"{i:02d}_{safe(note) or 'unpitched'}" for i, note in enumerate(model.note_names_)]
    short = excerpts(measured(), sound.rate, titles)
    peak = max(peaks)
    kept = exactly_kept(sound, peak)
    if kept.subtype != sound.subtype or kept.format != sound.format:
        why = "a component is louder than the recording" if peak > 1 else "their sum is then exact"
        say(f"Note: audio files are written as .wav with 32-bit floats rather than {sound.subtype}: {why}.")
    names = [stem + suffix_for(kept) for stem in stems]
    for one, name in zip(short, names):
        one["file"] = name
    parts = in_steps(sounds(), kept)
    # The files are written in this order, each as its part comes.
    return names, [(name, lambda path: write_audio(path, next(parts), kept)) for name in names], kept, short


def safe(name: str) -> str:
    """A name that can be part of a file's."""
    return re.sub(r"[^\w#.-]+", "_", name).replace("#", "s")


def unlike(stems: Iterable[str]) -> list[str]:
    """Names of files, those numbered that another has already, or has but for capitals."""
    found: dict[str, str] = {}
    for stem in stems:
        name, number = stem, 1
        while name.casefold() in found:
            number += 1
            name = f"{stem}_{number}"
        found[name.casefold()] = name
    return list(found.values())


def read(path: Path) -> Recording:
    """The recording, once its notes were said."""
    from partwise.domains.audio import read_audio

    sound = read_audio(path)
    for note in sound.notes:
        say(f"Note: {note}")
    return sound


def example(path: Path, rate: int) -> Any:
    """The samples of an example at the rate of the recording, its channels mixed."""
    from partwise.domains.audio import at_rate

    sound = read(path)
    data = sound.data if sound.data.ndim == 1 else sound.data.mean(axis=1)
    return at_rate(data, sound.rate, rate)


def named_file(text: str) -> tuple[str, Path]:
    """NAME=FILE."""
    name, equals, file = text.partition("=")
    if not equals or not name.strip() or not file:
        raise ValueError(f"--learn takes NAME=FILE, as voice=voice.wav; got '{text}'.")
    if not safe(name.strip()).strip("._-"):
        raise ValueError(f"--learn: '{name}' cannot name a file; use letters and digits.")
    return name.strip(), Path(file)


def as_count(text: str, auto: Any) -> Any:
    """A number of components, or what "auto" means here."""
    if text == "auto":
        return auto
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"-k must be a whole number of at least 1, or auto; got '{text}'.")
    return int(text)


def as_loss_name(text: str | None) -> Any:
    """A loss by name or by number."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def refuse(where: str, options: dict[str, Any]) -> None:
    """Refuse options that mean nothing here."""
    for name, value in options.items():
        if value:
            raise ValueError(f"{name} does not apply to {where}.")
