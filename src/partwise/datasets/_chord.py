"""Notes played together, in pairs and alone, synthesised, so that each is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from partwise.datasets._check import check_choice, check_number

if TYPE_CHECKING:
    from sklearn.utils import Bunch

#: Of each timbre: how overtones fall off, the even ones besides, how fast notes decay, how slowly they set in,
#: how stiff the string is, how deep the vibrato is, and how loud the noise of the attack.
_TIMBRES: dict[str, dict[str, float]] = {
    "pluck": {
        "slope": 1.2,
        "even": 1.0,
        "decay": 2.5,
        "attack": 0.004,
        "stiff": 2e-4,
        "vibrato": 0,
        "hit": 0.1,
    },
    "reed": {
        "slope": 0.9,
        "even": 0.08,
        "decay": 0.0,
        "attack": 0.04,
        "stiff": 0.0,
        "vibrato": 0,
        "hit": 0.0,
    },
    "bow": {
        "slope": 0.6,
        "even": 1.0,
        "decay": 0.0,
        "attack": 0.08,
        "stiff": 0.0,
        "vibrato": 0.003,
        "hit": 0.0,
    },
}
_MOST_OVERTONES = 24


def make_chord(
    notes: Sequence[str | float] = ("C4", "E4", "G4"),
    *,
    timbre: Literal["pluck", "reed", "bow"] = "pluck",
    events: Sequence[tuple[str | float, float, float]] | None = None,
    sampling_rate: int = 16000,
    noise: float = 0.0,
    reverberation: float = 0.0,
    random_state: Any = None,
) -> Bunch:
    """Synthesise notes with overtones, mixed from stems that are known.

    Parameters
    ----------
    notes : sequence of str or float, default ("C4", "E4", "G4")
        Names of notes, or frequencies in Hz.
    timbre : {"pluck", "reed", "bow"}, default "pluck"
        "pluck": slightly stiff strings that decay, with a noisy attack. "reed": sustained, odd overtones. "bow":
        sustained, many overtones, vibrato.
    events : sequence of (note, onset, duration), optional
        Which note sounds when, in seconds. By default all notes together, then every pair of them, then each
        alone, one second each.
    sampling_rate : int, default 16000
        Samples per second.
    noise : float, default 0.0
        Standard deviation of white noise against that of the notes.
    reverberation : float, default 0.0
        How loud the room answers against the direct sound.
    random_state : int, Generator or None
        Anything :func:`numpy.random.default_rng` takes; an int makes the draw repeatable.

    Returns
    -------
    Bunch
        ``data`` (the mix, one-dimensional, its peak at 0.9), ``sampling_rate``, ``notes``, ``stems`` (a dict from a
        note to its signal alone, as long as ``data``; without noise they sum to it) and ``events``.

    Examples
    --------
    >>> from partwise.datasets import make_chord
    >>> chord = make_chord(["A3", "C#4"], random_state=0)
    >>> chord.events
    [('A3', 0.0, 1.0), ('C#4', 0.0, 1.0), ('A3', 1.0, 1.0), ('C#4', 2.0, 1.0)]
    >>> bool(abs(sum(chord.stems.values()) - chord.data).max() < 1e-12)
    True
    """
    from sklearn.utils import Bunch

    names = list(notes)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"notes must be different notes, at least one; got {names!r}.")
    check_choice("timbre", timbre, _TIMBRES)
    rate = int(check_number("sampling_rate", sampling_rate, low=2000, high=1e6))
    noise = check_number("noise", noise, low=0.0, high=math.inf, closed="left")
    reverberation = check_number("reverberation", reverberation, low=0.0, high=math.inf, closed="left")
    score = _score(names) if events is None else [(a, float(b), float(c)) for a, b, c in events]
    if not score or any(note not in names or start < 0 or length <= 0 for note, start, length in score):
        raise ValueError(
            "events must be (note, onset, duration) with a note of `notes` and times in seconds above 0."
        )
    rng = np.random.default_rng(random_state)
    n = int(rate * max(start + length for _, start, length in score))
    stems = {note: np.zeros(n) for note in names}
    for note in names:
        loud = rng.uniform(0.6, 1.4, _MOST_OVERTONES)
        for which, start, length in score:
            if which == note:
                begin = int(start * rate)
                tone = _tone(_hertz(note), length, rate, _TIMBRES[timbre], loud, rng)[: n - begin]
                stems[note][begin : begin + len(tone)] += rng.uniform(0.7, 1.0) * tone
    if reverberation:
        room = _room(rate, reverberation, rng)
        stems = {note: np.convolve(stem, room)[:n] for note, stem in stems.items()}
    mix = np.sum(list(stems.values()), axis=0)
    mix_noise = noise * mix.std() * rng.standard_normal(n) if noise else np.zeros(n)
    scale = 0.9 / np.abs(mix + mix_noise).max()
    return Bunch(
        data=scale * (mix + mix_noise),
        sampling_rate=rate,
        notes=names,
        stems={note: scale * stem for note, stem in stems.items()},
        events=score,
    )


def _score(notes: list[Any]) -> list[tuple[Any, float, float]]:
    """All notes, then every pair, then each alone, one second each.

    Without the last, three notes could as well be their three pairs: W H would be the same.
    """
    groups = [tuple(notes)] if len(notes) > 1 else []
    groups += [*(combinations(notes, 2) if len(notes) > 2 else []), *((note,) for note in notes)]
    return [(note, float(i), 1.0) for i, group in enumerate(groups) for note in group]


def _hertz(note: str | float) -> float:
    if isinstance(note, str):
        from partwise.domains.pitch import note_frequency

        return note_frequency(note)
    return check_number("a note", note, low=20.0, high=20000.0)


def _tone(
    f0: float, length: float, rate: int, timbre: dict[str, float], loud: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """One note: sines at the overtones, and noise where it is hit."""
    t = np.arange(int(length * rate)) / rate
    h = np.arange(1, _MOST_OVERTONES + 1)
    frequency = f0 * h * np.sqrt(1.0 + timbre["stiff"] * h * h)
    height = loud * h ** -timbre["slope"] * np.where(h % 2, 1.0, timbre["even"])
    height = np.where(frequency < 0.47 * rate, height, 0.0)
    bend = t + timbre["vibrato"] * np.sin(2 * np.pi * 5.5 * t) / (2 * np.pi * 5.5) * 2
    envelope = np.minimum(1.0, t / timbre["attack"]) * np.minimum(1.0, (length - t) / 0.03)
    tone = np.zeros(len(t))
    for k in np.flatnonzero(height):
        fall = np.exp(-timbre["decay"] * (1.0 + 0.12 * k) * t) if timbre["decay"] else 1.0
        tone += height[k] * fall * np.sin(2 * np.pi * frequency[k] * bend + rng.uniform(0.0, 2 * np.pi))
    hit = timbre["hit"] * rng.standard_normal(len(t)) * np.exp(-60.0 * t)
    found: np.ndarray = envelope * tone + np.minimum(1.0, (length - t) / 0.03) * hit
    return found


def _room(rate: int, loud: float, rng: np.random.Generator) -> np.ndarray:
    """A direct sound, and an answer that decays by 60 dB in 0.6 s."""
    t = np.arange(int(0.4 * rate)) / rate
    room = rng.standard_normal(len(t)) * np.exp(-6.9 / 0.6 * t)
    room *= loud / np.linalg.norm(room)
    room[0] = 1.0
    return room
