"""Short excerpts of sounds as data URIs, for a page that loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import numpy as np

from partwise.reporting.limits import CARDS, SOUND_BYTES

#: Bytes of one excerpt, samples a second where there is room for LONG seconds of them, and where there is not.
EACH, RATE, LOW_RATE, LONG = 256_000, 16_000, 8_000, 3.0


def excerpts(sounds: Iterable[np.ndarray], rate: int, names: list[str]) -> list[dict[str, Any]]:
    """An excerpt of each sound, where it is loudest: one channel of 16 bits.

    Parameters
    ----------
    sounds : iterable of arrays of shape (n,) or (n, n_channels)
        Taken one after the other.
    rate : int
        Samples a second.
    names : list of str
        What each is called.

    Returns
    -------
    list of dict
        "name", "uri", "begin" and "end" in seconds, "seconds" of the whole. All together they take at most
        `SOUND_BYTES`; of more than `CARDS` sounds only the first have one.
    """
    count = max(1, min(len(names), CARDS))
    # Base64 writes three bytes as four letters.
    room = min(EACH, SOUND_BYTES // count * 3 // 4)
    cut = [_excerpt(one, rate, room) for one in _first(sounds, count)]
    # One factor for all: how loud they are against each other can be heard.
    loudest = max((float(np.abs(data).max(initial=0.0)) for data, *_ in cut), default=0.0)
    factor = 1.0 if loudest <= 1.0 else 1.0 / loudest
    return [
        {"name": name, "uri": wav_uri(factor * data, slow), "begin": begin, "end": end, "seconds": all_of}
        for (data, slow, begin, end, all_of), name in zip(cut, names)
    ]  # fmt: skip


def _first(sounds: Iterable[np.ndarray], count: int) -> Iterator[np.ndarray]:
    """The first of them; the others are taken too, for whoever counts on it."""
    for i, one in enumerate(sounds):
        if i < count:
            yield one


def _excerpt(sound: np.ndarray, rate: int, room: int) -> tuple[np.ndarray, int, float, float, float]:
    """The loudest seconds of a sound that fit, at a rate at which they do; with where they begin and end."""
    from partwise.domains.audio import at_rate

    mono = np.asarray(sound, dtype=float)
    mono = mono if mono.ndim == 1 else mono.mean(axis=1)
    seconds = len(mono) / rate
    slow = min(rate, RATE)
    if min(LONG, seconds) > room / (2 * slow):
        slow = min(rate, LOW_RATE)
    span = min(len(mono), int(room / (2 * slow) * rate))
    begin = loudest_window(mono, span)
    data = at_rate(mono[begin : begin + span], rate, slow)
    return data[: room // 2], slow, begin / rate, (begin + span) / rate, seconds


def loudest_window(sound: np.ndarray, span: int) -> int:
    """Where the `span` samples of most energy begin.

    Parameters
    ----------
    sound : array of shape (n,)
        The sound.
    span : int
        Samples, at most n.

    Returns
    -------
    int
        The first of them; a little before they begin, so that an onset is not cut, where there is room.
    """
    if span >= len(sound):
        return 0
    energy = np.concatenate([[0.0], np.cumsum(sound**2)])
    begin = int(np.argmax(energy[span:] - energy[:-span]))
    return max(0, begin - span // 20)


def wav_uri(data: np.ndarray, rate: int) -> str:
    """A sound as a data URI.

    Parameters
    ----------
    data : array of shape (n,)
        Between −1 and 1.
    rate : int
        Samples a second.

    Returns
    -------
    str
        ``data:audio/wav;base64,…``
    """
    from scipy.io import wavfile

    stream = BytesIO()
    wavfile.write(stream, int(rate), np.round(np.clip(data, -1.0, 1.0) * 32767).astype(np.int16))
    return f"data:audio/wav;base64,{base64.b64encode(stream.getvalue()).decode()}"
