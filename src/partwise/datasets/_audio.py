"""Short piano recordings whose notes are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from partwise.datasets._check import check_choice
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_TITLES = {
    "fevotte_piano": "Piano: four notes together, then in all pairs",
    "mary_piano": "Piano: Mary had a little lamb, three notes",
    "salamander": "Salamander piano: four notes mixed from known stems",
}


def fetch_audio(name: Literal["fevotte_piano", "mary_piano", "salamander"] = "fevotte_piano") -> Bunch:
    """Fetch a piano recording for source separation.

    Parameters
    ----------
    name : {"fevotte_piano", "mary_piano", "salamander"}, default "fevotte_piano"
        "fevotte_piano": a chord of four notes, then all their pairs. "mary_piano": a melody of three
        notes. "salamander": four notes, together, in pairs and alone, mixed from separate recordings.

    Returns
    -------
    Bunch
        ``data`` (the signal, one-dimensional, float64 between -1 and 1), ``sampling_rate`` (in Hz),
        ``notes`` (their names) and ``DESCR``. For "salamander" also ``stems`` (a dict from a note to its
        signal alone, as long as ``data``) and ``events`` (triples of note, onset and duration in seconds).

    Notes
    -----
    The recordings are 16-bit mono files in ``audio/``: ``fevotte_piano.wav``, ``mary_piano_16k.wav``, and
    ``salamander_mix.wav`` with one ``salamander_stem_*.wav`` per note and ``salamander_events.json``.
    """
    from sklearn.utils import Bunch

    check_choice("name", name, _TITLES)
    if name == "salamander":
        return _fetch_salamander()
    entry = f"audio_{name}"
    rate, signal = _read_wav(locate(entry).path)
    notes = ["C#4", "F4", "G#4", "C5"] if name == "fevotte_piano" else ["C4", "D4", "E4"]
    return Bunch(data=signal, sampling_rate=rate, notes=notes, DESCR=describe(entry, _TITLES[name]))


def _fetch_salamander() -> Bunch:
    """Return the mix with its ground truth."""
    from sklearn.utils import Bunch

    rate, signal = _read_wav(locate("audio_salamander_mix").path)
    score = json.loads(locate("audio_salamander_events").path.read_text(encoding="utf-8"))
    notes = [str(note) for note in score["notes"]]
    return Bunch(
        data=signal,
        sampling_rate=rate,
        notes=notes,
        stems={note: _read_wav(locate(f"audio_salamander_{note}").path)[1] for note in notes},
        events=[(str(note), float(onset), float(duration)) for note, onset, duration in score["events"]],
        DESCR=describe("audio_salamander_mix", _TITLES["salamander"]),
    )


def _read_wav(path: Path) -> tuple[int, NDArray[Any]]:
    """Return the sampling rate and the signal scaled to lie between -1 and 1."""
    from scipy.io import wavfile

    rate, samples = wavfile.read(path)
    if np.issubdtype(samples.dtype, np.integer):
        samples = samples / -float(np.iinfo(samples.dtype).min)
    return int(rate), np.asarray(samples, dtype=np.float64)
