"""Recordings: audio files in, and files whose sum is the recording out.

soundfile reads and writes (.wav, .flac, .ogg and others). Where it is not installed, scipy does so for .wav.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from partwise.io.atomic import atomic_file
from partwise.io.budget import limited, spend
from partwise.io.errors import DataError

#: Endings of the files that a folder is searched for.
SUFFIXES = (".wav", ".flac", ".ogg", ".oga", ".aif", ".aiff")
#: Bits of a sample, for subtypes that keep whole numbers.
BITS = {"PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32}
#: So many samples in a row at the largest value are a clipped peak.
_CLIPPED = 4
#: Samples that are decoded at once.
_BLOCK = 1 << 14


@dataclass(frozen=True)
class Recording:
    """A recording: its samples, and how its file kept them.

    Parameters
    ----------
    data : array of shape (n_samples,) or (n_samples, n_channels)
        float64, between −1 and 1 where the file kept whole numbers.
    rate : int
        Samples per second.
    source : str
        The file, for messages.
    format : str
        As soundfile names it: "WAV", "FLAC", "OGG".
    subtype : str
        How a sample is kept, as soundfile names it: "PCM_16", "PCM_24", "FLOAT".
    notes : tuple of str
        What a listener should know: clipped peaks, a file that was cut short.
    """

    data: np.ndarray
    rate: int
    source: str = "the recording"
    format: str = "WAV"
    subtype: str = "FLOAT"
    notes: tuple[str, ...] = field(default=())

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.data) / self.rate


def read_audio(path: str | os.PathLike[str]) -> Recording:
    """Read an audio file.

    Parameters
    ----------
    path : str or path-like
        A .wav, .flac or .ogg file, or any other that soundfile reads; without soundfile, a .wav file.

    Returns
    -------
    Recording
        Mono as one axis, several channels as two.

    Raises
    ------
    DataError
        If the file is not there, no audio file, empty, silent, or has samples that are not numbers.
    """
    source = os.fspath(path)
    file = Path(source)
    if file.is_dir():
        raise DataError(f"{source} is a folder, not an audio file.")
    if not file.is_file():
        raise DataError(f"{source}: no such file. Check the path.")
    if file.stat().st_size == 0:
        raise DataError(f"{source} is empty (0 bytes). Record or export it again.")
    with limited(source):
        found = _read_soundfile(file, source) if _has_soundfile() else _read_scipy(file, source)
    _check_samples(found.data, source)
    return replace(found, notes=(*found.notes, *_clipped(found)))


def write_audio(path: str | os.PathLike[str], data: Any, like: Recording) -> None:
    """Write samples at the rate of a recording, in its format and subtype, whole or not at all.

    Parameters
    ----------
    path : str or path-like
        The file; its ending should be that of `suffix_for`.
    data : array of shape (n_samples,) or (n_samples, n_channels)
        Whole numbers as `in_steps` gives them, or fractional ones for a float subtype.
    like : Recording
        Its rate, format and subtype are used.
    """
    samples = np.asarray(data)
    bits = BITS.get(like.subtype)
    with atomic_file(path) as stream:
        if not _has_soundfile():
            _write_scipy(stream, samples, like, bits)
            return
        import soundfile

        if bits is not None:
            # From whole numbers libsndfile only shifts bits, whereas fractions it would scale by 2ⁿ − 1.
            wide = np.int32 if bits > 16 else np.int16
            samples = (samples.astype(np.int64) << (np.iinfo(wide).bits - bits)).astype(wide)
        soundfile.write(stream, samples, like.rate, format=like.format, subtype=like.subtype)


def exactly_kept(recording: Recording, peak: float) -> Recording:
    """How parts of a recording can be kept so that their files add up to it.

    Parameters
    ----------
    recording : Recording
        The whole.
    peak : float
        The largest absolute value in any of its parts.

    Returns
    -------
    Recording
        The same with another format where that is needed: 32-bit floats for lossy formats, and where the peak would
        be clipped.
    """
    bits = BITS.get(recording.subtype)
    room = (
        recording.format in ("WAV", "FLAC", "AIFF") and bits is not None and peak <= 1.0 - 2.0 ** (1 - bits)
    )
    if room and (_has_soundfile() or bits in (8, 16, 32)):
        return recording
    if recording.subtype in ("FLOAT", "DOUBLE") and recording.format == "WAV":
        return recording
    return replace(recording, format="WAV", subtype="FLOAT")


def suffix_for(recording: Recording) -> str:
    """The ending of a file that keeps a recording.

    Parameters
    ----------
    recording : Recording
        Its format is used.

    Returns
    -------
    str
        For instance ".wav".
    """
    return {"FLAC": ".flac", "AIFF": ".aiff"}.get(recording.format, ".wav")


def at_rate(data: np.ndarray, rate: int, wanted: int) -> np.ndarray:
    """Samples at another rate, by a polyphase filter.

    Parameters
    ----------
    data : array of shape (n_samples,) or (n_samples, n_channels)
        The signal.
    rate, wanted : int
        Samples per second that there are, and that there should be.

    Returns
    -------
    array
        The signal itself where the rates are the same.
    """
    from math import gcd

    from scipy.signal import resample_poly

    if rate == wanted:
        return data
    common = gcd(rate, wanted)
    return np.asarray(resample_poly(data, wanted // common, rate // common, axis=0))


def in_steps(parts: Iterable[np.ndarray], like: Recording) -> Iterator[np.ndarray]:
    """Parts of a recording in whole steps of its subtype, which add up to it exactly.

    The running sums are rounded, not the parts, so that rounding errors do not add up: each part is off by less than
    one step, and the last running sum is the recording itself.

    Parameters
    ----------
    parts : iterable of arrays
        They sum to the recording.
    like : Recording
        How it is kept; with a float subtype parts are passed on.

    Yields
    ------
    array
        int64, or float32 or float64 for a float subtype.
    """
    bits = BITS.get(like.subtype)
    total: Any = 0.0
    before: Any = 0
    for part in parts:
        if bits is None:
            yield part.astype(np.float32 if like.subtype == "FLOAT" else np.float64)
            continue
        total = total + part
        rounded = np.rint(total * 2.0 ** (bits - 1)).astype(np.int64)
        yield rounded - before
        before = rounded


def require_reader(suffix: str) -> None:
    """Raise ImportError, with what to install, where files of this ending cannot be read.

    Parameters
    ----------
    suffix : str
        For instance ".flac".
    """
    if suffix != ".wav" and not _has_soundfile():
        raise ImportError(f'Reading {suffix} files needs soundfile: pip install "partwise[sound]"')


def _has_soundfile() -> bool:
    try:
        import soundfile  # noqa: F401
    except (ImportError, OSError):
        # OSError: the package is there, its library is not.
        return False
    return True


def _read_soundfile(path: Path, source: str) -> Recording:
    import soundfile

    try:
        with soundfile.SoundFile(path) as file:
            if file.frames <= 0:
                raise DataError(f"{source} has no samples. Record or export it again.")
            data = np.concatenate(list(_blocks(file)))
            announced, form, subtype, rate = file.frames, file.format, file.subtype, file.samplerate
    except soundfile.SoundFileError as error:
        raise DataError(_not_audio(path, source, str(error))) from error
    notes = []
    missing = announced - len(data)
    if form in ("WAV", "WAVEX"):
        form, missing = "WAV", max(missing, _missing_frames(path, data))
    if missing > 0:
        notes.append(_cut_short(source, len(data), rate, missing))
    return Recording(data, int(rate), source, form, subtype, tuple(notes))


def _blocks(file: Any) -> Iterator[np.ndarray]:
    """The samples, as far as they can be decoded; counted as they come, for a header may announce any length."""
    import soundfile

    found = 0
    while True:
        try:
            block = file.read(_BLOCK, dtype="float64")
        except soundfile.SoundFileError:
            # What comes before the damage is of use.
            if found == 0:
                raise
            return
        if not len(block):
            return
        # Twice, for the blocks are put together at the end.
        spend(2 * block.nbytes)
        found += len(block)
        yield block


def _read_scipy(path: Path, source: str) -> Recording:
    import warnings

    from scipy.io import wavfile

    with path.open("rb") as stream:
        start = stream.read(12)
    if not (start[:4] in (b"RIFF", b"RIFX", b"RF64") and start[8:] == b"WAVE"):
        require_reader(path.suffix.lower() or "such")
        raise DataError(_not_audio(path, source, "no RIFF header"))
    spend(9 * path.stat().st_size)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rate, raw = wavfile.read(path)
    except Exception as error:
        raise DataError(_not_audio(path, source, str(error))) from error
    if not len(raw):
        raise DataError(f"{source} has no samples. Record or export it again.")
    if raw.dtype == np.uint8:
        data, subtype = (raw.astype(float) - 128.0) / 128.0, "PCM_U8"
    elif np.issubdtype(raw.dtype, np.integer):
        data = raw / -float(np.iinfo(raw.dtype).min)
        # scipy widens 24-bit samples to 32 bits, the lowest eight of which are then zero.
        wide = raw.dtype == np.int32
        subtype = ("PCM_24" if not (raw & 0xFF).any() else "PCM_32") if wide else "PCM_16"
    else:
        data, subtype = raw.astype(float), "FLOAT" if raw.dtype == np.float32 else "DOUBLE"
    missing = _missing_frames(path, data)
    notes = (_cut_short(source, len(data), rate, missing),) if missing > 0 else ()
    return Recording(data, int(rate), source, "WAV", subtype, notes)


def _write_scipy(stream: Any, samples: np.ndarray, like: Recording, bits: int | None) -> None:
    from scipy.io import wavfile

    if bits == 8:
        samples = (samples + 128).astype(np.uint8)
    elif bits is not None:
        samples = samples.astype(np.int16 if bits == 16 else np.int32)
    wavfile.write(stream, like.rate, samples)


def _missing_frames(path: Path, data: np.ndarray) -> int:
    """How many frames the header of a .wav file announces beyond those that it holds."""
    with path.open("rb") as stream:
        head = stream.read(1 << 16)
    place, block = 12, 0
    while place + 8 <= len(head) and head[:4] == b"RIFF":
        size = int.from_bytes(head[place + 4 : place + 8], "little")
        if head[place : place + 4] == b"fmt ":
            block = int.from_bytes(head[place + 20 : place + 22], "little")
        if head[place : place + 4] == b"data":
            # Programs that write to a pipe leave 0 or the largest number here, for they do not know the size.
            known = 0 < size < 0xFFFFFF00 and block > 0
            return max(0, size // block - len(data)) if known else 0
        place += 8 + size + size % 2
    return 0


def _cut_short(source: str, frames: int, rate: int, missing: int) -> str:
    return (
        f"{source} is cut short: {frames / rate:.2f} s are there, {missing / rate:.2f} s more were announced. "
        "What is there is used."
    )


def _not_audio(path: Path, source: str, reason: str) -> str:
    with path.open("rb") as stream:
        start = stream.read(4)
    if start in (b"RIFF", b"fLaC", b"OggS", b"FORM"):
        return f"{source} is damaged or cut short ({reason.rstrip('.')}). Record or export it again."
    return f"{source} is not an audio file that can be read. Give a .wav, .flac or .ogg file."


def _check_samples(data: np.ndarray, source: str) -> None:
    if not len(data):
        raise DataError(f"{source} has no samples. Record or export it again.")
    wrong = ~np.isfinite(data)
    if wrong.any():
        first = int(np.argmax(wrong.reshape(len(data), -1).any(axis=1)))
        raise DataError(
            f"{source} has {int(wrong.sum())} samples that are NaN or infinite, the first at sample {first}. "
            "Export it again, or set them to zero."
        )
    if not data.any():
        raise DataError(
            f"{source} is silent: all {len(data)} samples are zero. There is nothing to separate."
        )


def _clipped(recording: Recording) -> tuple[str, ...]:
    """A note on peaks that were cut off: several samples in a row at the largest value."""
    data = recording.data.reshape(len(recording.data), -1)
    top = float(np.abs(data).max())
    # Whole numbers reach one step further down than up. Below full scale a slow wave is level for a while, too.
    at_top = np.abs(data) >= top - 1.2 * 2.0 ** (1 - BITS.get(recording.subtype, 24))
    length = _CLIPPED if top > 0.98 else 4 * _CLIPPED
    if len(data) < length:
        return ()
    run = np.asarray(np.lib.stride_tricks.sliding_window_view(at_top, length, axis=0).all(axis=-1))
    begins = int(run[0].sum() + (run[1:] & ~run[:-1]).sum())
    if begins == 0:
        return ()
    return (
        f"{recording.source} is clipped: {begins} peak{'' if begins == 1 else 's'} cut off at {top:.3g}, which adds "
        "overtones that no source played.",
    )
