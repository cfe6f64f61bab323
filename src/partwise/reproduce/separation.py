"""Recordings separated by their defaults: how well, beside what a mask could reach at best."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from partwise.datasets import fetch_audio, make_chord
from partwise.domains.likeness import recordings_alike
from partwise.domains.pitch import note_frequency
from partwise.domains.spectrogram import ShortTime, masked
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import SourceSeparation
from partwise.plot import likeness, save_figure, separation

#: Samples of the filter by which a stem may differ from what is compared with it.
_FILTER = 512


def reproduce_separation(
    folder: Path,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Notes and instruments separated with default settings: signal-to-distortion ratios, pitches and onsets."""
    rows: list[dict[str, Any]] = []
    models: dict[str, Any] = {}
    for name, mix, stems, rate in stem_mixes():
        rows.append(judged(name, mix, stems, rate, seed, models))
    sources = [grouped(i, seed) for i in range(3)]
    notes = [played(name, truth, seed) for name, truth in recordings()]
    summary: dict[str, Any] = {"mixes": rows, "instruments": sources, "recordings": notes}
    summary["lines"] = [*lines_of_mixes(rows), *lines_of_sources(sources), *lines_of_recordings(notes)]
    alike, _ = recordings_alike(
        [SourceSeparation(10, n_init=1).fit(*sound).components_ for sound in timbres()]
    )
    with uninterrupted():
        save_figure(separation(models[rows[0]["data"]]), folder / "separation.png")
        save_figure(
            likeness(alike, [f"{a} {b}" for a in _KINDS for b in ("low", "high")]), folder / "likeness.png"
        )
        write_json(folder / "separation.json", summary)
    return summary


# ------------------------------------------------------------------------ data

_KINDS: tuple[Literal["pluck", "reed", "bow"], ...] = ("pluck", "reed", "bow")


def stem_mixes() -> Any:
    """Mixes of notes that are known alone: (name, mix, stems, rate); the recording first, if it is there."""
    if "PARTWISE_DATA" in os.environ:
        piano = fetch_audio("salamander")
        yield "salamander", piano.data, list(piano.stems.values()), piano.sampling_rate
    for name, notes, more in (
        ("chord, plucked", ["C4", "E4", "G4"], {}),
        ("chord, plucked, in a room, noise", ["G3", "C4", "E4", "A4"], {"reverberation": 0.3, "noise": 0.01}),
        ("chord, reed", ["A3", "D4", "F#4", "B4"], {"timbre": "reed"}),
        ("chord, bowed, vibrato", ["G3", "D4", "B4"], {"timbre": "bow"}),
        ("detuned, plucked", [172.0, 214.5, 263.0, 331.0, 402.0], {}),
    ):
        chord = make_chord(notes, random_state=1, **more)
        yield name, chord.data, list(chord.stems.values()), chord.sampling_rate


def instruments(seed: int) -> tuple[np.ndarray, list[np.ndarray], int]:
    """Three instruments with three pitches each, at random times: the mix, its stems and the rate."""
    rng = np.random.default_rng(seed)
    pitches = [40 + int(step) for step in rng.permutation(36)[:9]]
    stems = []
    for i, kind in enumerate(_KINDS):
        notes = [440.0 * 2 ** ((p - 69 + 8) / 12) for p in pitches[3 * i : 3 * i + 3]]
        events = [(n, float(t), float(rng.uniform(0.4, 1.2))) for n in notes for t in rng.uniform(0, 10, 4)]
        events.append((notes[0], 11.0, 1.0))
        stem = make_chord(notes, timbre=kind, events=events, random_state=seed).data
        stems.append(0.05 * stem / stem.std())
    return np.sum(stems, axis=0), stems, 16000


def timbres() -> Any:
    """Two recordings of each timbre, of different notes, for the picture of how alike they are."""
    for kind in _KINDS:
        for notes in (["C3", "E3", "G3"], ["A4", "C5", "F5"]):
            chord = make_chord(notes, timbre=kind, random_state=2)
            yield chord.data, chord.sampling_rate


def recordings() -> Any:
    """Recordings whose notes and onsets are known: (name, recording)."""
    if "PARTWISE_DATA" in os.environ:
        for name in ("fevotte_piano", "mary_piano"):
            yield name, fetch_audio(name)
    yield "chord, plucked", make_chord(random_state=0)


# --------------------------------------------------------------------- figures


def sdr(stem: np.ndarray, sound: np.ndarray) -> float:
    """The signal-to-distortion ratio of Vincent, Gribonval and Févotte (2006), in dB.

    The target is what of the sound is the stem through a filter of 512 samples; all else is distortion.
    """
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.linalg import solve_toeplitz

    size = next_fast_len(len(stem) + _FILTER - 1, real=True)
    S, Y = rfft(stem, size), rfft(sound, size)
    own = irfft(np.abs(S) ** 2, size)[:_FILTER]
    own[0] *= 1.0 + 1e-10
    with_sound = irfft(S.conj() * Y, size)[:_FILTER]
    target = float(solve_toeplitz(own, with_sound) @ with_sound)
    return 10.0 * float(np.log10(target / max(float(sound @ sound) - target, 1e-300)))


def matched(stems: list[np.ndarray], sounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ratio of each stem with the sound that is matched to it, so that their sum is largest; and which it is."""
    from scipy.optimize import linear_sum_assignment

    table = np.array([[sdr(stem, sound) for sound in sounds] for stem in stems])
    of, which = linear_sum_assignment(-table)
    return table[of, which], which


def oracle(stems: list[np.ndarray], mix: np.ndarray, rate: int, window: float = 0.093) -> np.ndarray:
    """Sounds by Wiener masks that are made from the stems themselves: what masks could reach at best."""
    transform = ShortTime.of(rate, window)
    Z = transform.forward(mix[:, None])
    power = np.array([np.abs(transform.forward(stem[:, None]))[0] ** 2 for stem in stems])
    masks = power / np.maximum(power.sum(axis=0), 1e-300)
    return np.array([transform.backward(Z * mask, len(mix))[:, 0] for mask in masks])


def judged(
    name: str, mix: np.ndarray, stems: list[np.ndarray], rate: int, seed: int, models: dict[str, Any]
) -> dict[str, Any]:
    """One mix by the defaults, and with the number of notes given."""
    row: dict[str, Any] = {"data": name, "notes": len(stems)}
    for label, count in (("found", "auto"), ("given", len(stems))):
        model = SourceSeparation(count, random_state=seed).fit(mix, rate)
        parts = model.separate()
        # A stem that no component is left for is compared with silence's neighbour, the quietest noise there is.
        spare = [1e-6 * np.ones(len(mix))] * max(0, len(stems) - len(parts))
        ratios, _ = matched(stems, [*parts, *spare])
        row[label] = {
            "n_components": model.n_components_,
            "notes": model.note_names_,
            "sdr": ratios.tolist(),
            "mean_sdr": float(ratios.mean()),
            "sum_error": float(np.abs(parts.sum(axis=0) - mix).max()),
        }
        if label == "found":
            models[name] = model
    row["oracle"] = float(matched(stems, oracle(stems, mix, rate))[0].mean())
    return row


def grouped(number: int, seed: int) -> dict[str, Any]:
    """Three instruments by `n_sources=3`, and with components put to the stem they are nearest to."""
    mix, stems, rate = instruments(number)
    model = SourceSeparation(n_sources=3, random_state=seed).fit(mix, rate)
    found, _ = matched(stems, model.separate(by="sources"))
    parts = model.separate()
    nearest = np.argmax(np.abs(parts @ np.array(stems).T), axis=1)
    W = model.activations_[None]
    transform = ShortTime(rate, model.window_length_)
    Z = transform.forward(mix[:, None])
    labels = np.unique(nearest, return_inverse=True)[1]
    best = [
        transform.backward(z, len(mix))[:, 0] for z in masked(Z, model.components_, W, labels, model.power)
    ]
    best += [1e-6 * np.ones(len(mix))] * (3 - len(best))
    return {
        "mix": number,
        "n_components": model.n_components_,
        "sdr": found.tolist(),
        "mean_sdr": float(found.mean()),
        "mean_sdr_best_groups": float(matched(stems, best)[0].mean()),
        "oracle": float(matched(stems, oracle(stems, mix, rate))[0].mean()),
    }


def played(name: str, truth: Any, seed: int) -> dict[str, Any]:
    """Which notes of a recording are found, how far off they are, and when they begin."""
    model = SourceSeparation(random_state=seed).fit(truth.data, truth.sampling_rate)
    wanted = {str(note): note_frequency(str(note)) for note in truth.notes}
    found: list[dict[str, Any]] = []
    for note, hz in wanted.items():
        off = np.abs(model.fundamental_ / hz - 1.0)
        if np.isnan(off).all():
            found.append({"note": note, "found": None})
            continue
        nearest = int(np.nanargmin(off))
        found.append(
            {
                "note": note,
                "found": model.note_names_[nearest],
                "hz": float(model.fundamental_[nearest]),
                "off": float(off[nearest]),
                "onsets": [round(float(t), 2) for t in model.onsets_[nearest]],
            }
        )
    return {"data": name, "n_components": model.n_components_, "names": model.note_names_, "notes": found}


# ----------------------------------------------------------------------- lines


def lines_of_mixes(rows: list[dict[str, Any]]) -> list[str]:
    """Mean ratios of every mix."""
    lines = ["mean SDR over the stems, in dB (components: found by the default; given; oracle mask)"]
    for row in rows:
        a, b = row["found"], row["given"]
        lines.append(
            f"  {row['data']:34s} {row['notes']} notes: {a['mean_sdr']:5.1f} with {a['n_components']} found, "
            f"{b['mean_sdr']:5.1f} with {b['n_components']} given, oracle {row['oracle']:4.1f}; "
            f"sum off by {max(a['sum_error'], b['sum_error']):.0e}"
        )
    return lines


def lines_of_sources(rows: list[dict[str, Any]]) -> list[str]:
    """Mean ratios of every mix of instruments."""
    lines = ["three instruments, three pitches each: mean SDR over the instruments, in dB"]
    for row in rows:
        lines.append(
            f"  mix {row['mix']}: {row['mean_sdr']:5.1f} with n_sources=3, {row['mean_sdr_best_groups']:5.1f} "
            f"with the best grouping of its {row['n_components']} components, oracle {row['oracle']:4.1f}"
        )
    return lines


def lines_of_recordings(rows: list[dict[str, Any]]) -> list[str]:
    """Notes and onsets of every recording."""
    lines = ["notes found in recordings, with default settings"]
    for row in rows:
        lines.append(f"  {row['data']}: {row['n_components']} components")
        for note in row["notes"]:
            if note["found"] is None:
                lines.append(f"    {note['note']:4s} not found")
                continue
            times = ", ".join(f"{t:.2f}" for t in note["onsets"])
            lines.append(
                f"    {note['note']:4s} {note['found']:4s} {note['hz']:6.1f} Hz, off by {100 * note['off']:.2f} %, "
                f"onsets at {times} s"
            )
    return lines
