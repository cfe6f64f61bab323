"""Notes that are on or off in a spectrogram: binary parts under Poisson and under Gaussian noise.

Spectrograms are what Yus López (2015, chapter 2) has in mind for binary nonnegative parts. Rows are frames, columns
frequencies; a note that sounds adds its spectrum. Magnitudes are compressed by a power (loudness, roughly), so that a
decaying note stays nearer to one level. For Poisson noise they are scaled to a largest value of 100 and rounded to
counts; Gaussian noise takes them as they are.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import fetch_audio, make_chord
from partwise.domains.spectrogram import ShortTime, magnitudes
from partwise.interrupts import uninterrupted
from partwise.io import write_json
from partwise.models import NMF, BinaryNMF
from partwise.plot import figure, save_figure

#: Counts of the loudest entry, for Poisson noise.
LOUDEST = 100.0
METHODS = ("poisson", "gaussian", "NMF, cut")


def reproduce_notes(
    folder: Path,
    power: Annotated[float, typer.Option(min=0.1, max=2.0, help="Power that magnitudes are taken to.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
) -> dict[str, Any]:
    """Notes on or off in spectrograms, Poisson and Gaussian noise: frame-wise F against the notes played."""
    rows, shown = [], None
    for name, piece in pieces():
        frames, times = spectrogram(piece, power)
        truth = played(piece, times)
        found = {method: on_or_off(method, frames, truth.shape[1], seed) for method in METHODS}
        bits = {method: matched(one, truth) for method, one in found.items()}
        rows.append(
            {
                "piece": name,
                "notes": truth.shape[1],
                "frames": len(truth),
                **{method: agreement(one, truth) for method, one in bits.items()},
            }
        )
        shown = shown or (name, piece, frames, times, truth, bits)
    assert shown is not None
    summary: dict[str, Any] = {"power": power, "pieces": rows, "lines": lines(rows, power)}
    summary["tables"] = {"notes": table(rows)}
    with uninterrupted():
        save_figure(picture(*shown), folder / "notes.png")
        write_json(folder / "notes.json", summary)
    return summary


def pieces() -> Iterator[tuple[str, Any]]:
    """Recordings and synthesised notes whose times are known; the recording first, if it is there."""
    if "PARTWISE_DATA" in os.environ:
        yield "salamander piano", fetch_audio("salamander")
    yield "chord, reed", make_chord(["A3", "D4", "F#4", "B4"], timbre="reed", random_state=1)
    yield "chord, bowed, vibrato", make_chord(["G3", "D4", "B4"], timbre="bow", random_state=1)
    yield "chord, plucked", make_chord(["C4", "E4", "G4"], random_state=1)
    yield (
        "chord, plucked, in a room, noise",
        make_chord(["G3", "C4", "E4", "A4"], random_state=1, reverberation=0.3, noise=0.01),
    )


def spectrogram(piece: Any, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Compressed magnitudes, frames × frequencies, of a largest value of 1; and the middle of each frame."""
    transform = ShortTime.of(piece.sampling_rate, 0.093)
    signal = np.asarray(piece.data, dtype=float)[:, None]
    frames = magnitudes(transform.forward(signal)).astype(float) ** power
    times = transform.times(len(signal))
    inside = (times >= 0) & (times < len(signal) / piece.sampling_rate)
    return frames[inside] / frames.max(), times[inside]


def played(piece: Any, times: np.ndarray) -> np.ndarray:
    """Which note is on in which frame."""
    names = [str(note) for note in piece.notes]
    on = np.zeros((len(times), len(names)), dtype=bool)
    for note, onset, duration in piece.events:
        on[(times >= onset) & (times < onset + duration), names.index(str(note))] = True
    return on


def on_or_off(method: str, frames: np.ndarray, n_notes: int, seed: int) -> np.ndarray:
    """Bits of each frame, as many parts as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == "NMF, cut":
            model = NMF(n_notes, beta_loss="kullback-leibler", random_state=seed)
            usage = np.asarray(model.fit_transform(frames))
            # Usage of a part that is on or off lies near 0 and near one level, Σu² / Σu.
            return usage > 0.5 * (usage**2).sum(axis=0) / np.maximum(usage.sum(axis=0), 1e-300)
        data = np.round(LOUDEST * frames) if method == "poisson" else frames
        binary = BinaryNMF(n_notes, noise=method, per_component=True, random_state=seed)
        return binary.fit(data).predict(data) > 0


def matched(bits: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The parts in the order of the notes, one for each, so that the sum of their F is largest."""
    alike = np.array(
        [[f_measure(bits[:, k], truth[:, n]) for k in range(bits.shape[1])] for n in range(truth.shape[1])]
    )
    return bits[:, linear_sum_assignment(-alike)[1]]


def f_measure(found: np.ndarray, truth: np.ndarray) -> float:
    """Harmonic mean of precision and recall over all given bits."""
    both = int((found & truth).sum())
    return 2.0 * both / max(int(found.sum()) + int(truth.sum()), 1)


def agreement(bits: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Precision, recall and F over frames and notes."""
    both = float((bits & truth).sum())
    return {
        "precision": both / max(float(bits.sum()), 1.0),
        "recall": both / max(float(truth.sum()), 1.0),
        "F": f_measure(bits, truth),
    }


def table(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """F of each piece as cells of text."""
    cells = [[row["piece"], *(f"{row[method]['F']:.2f}" for method in METHODS)] for row in rows]
    return {
        "columns": ["piece", "Poisson noise", "Gaussian noise", "NMF, usage cut at half its level"],
        "rows": cells,
    }


def lines(rows: list[dict[str, Any]], power: float) -> list[str]:
    """Precision, recall and F as lines of text."""
    out = [
        f"notes on or off, magnitudes to the power {power:g}, as many parts as notes; precision, recall, F:"
    ]
    for row in rows:
        figures = "; ".join(
            f"{method} {row[method]['precision']:.2f}, {row[method]['recall']:.2f}, {row[method]['F']:.2f}"
            for method in METHODS
        )
        out.append(f"  {row['piece']}: {figures}")
    return out


def picture(
    name: str,
    piece: Any,
    frames: np.ndarray,
    times: np.ndarray,
    truth: np.ndarray,
    bits: dict[str, np.ndarray],
) -> Any:
    """The spectrogram, the notes played, and those found under either noise, one below the other."""
    from partwise.plot import style

    rows = ["spectrogram", "played", "poisson", "gaussian"]
    drawing, axes = figure([[row] for row in rows], size=(9.0, 8.0))
    top = int(0.25 * frames.shape[1])
    limit = piece.sampling_rate / 8000.0
    extent = (float(times[0]), float(times[-1]), 0.0, limit)
    axes["spectrogram"].imshow(
        frames[:, :top].T, origin="lower", aspect="auto", extent=extent, cmap="Greys", vmax=frames.max()
    )
    axes["spectrogram"].set_ylabel("kHz")
    style.title(axes["spectrogram"], f"{name}, compressed magnitudes")
    titles = {"played": "notes played"}
    for method in ("poisson", "gaussian"):
        titles[method] = f"on, {method.capitalize()} noise: F = {f_measure(bits[method], truth):.2f}"
    names = [str(note) for note in piece.notes]
    for row, title in titles.items():
        on = truth if row == "played" else bits[row]
        axes[row].imshow(
            on.T,
            aspect="auto",
            origin="lower",
            interpolation="nearest",
            cmap="Greys",
            extent=(float(times[0]), float(times[-1]), -0.5, len(names) - 0.5),
        )
        axes[row].set_yticks(range(len(names)), names)
        style.title(axes[row], title)
    axes["gaussian"].set_xlabel("seconds")
    return drawing
