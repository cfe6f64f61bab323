"""Saving and loading models without pickle: a zip of one JSON manifest and .npy arrays.

Nothing in a model file is run when it is loaded: classes are looked up by name among those registered,
arrays are read without pickle, and every array must have the checksum the manifest gives it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import IO, Any, overload

import numpy as np

from partwise._version import __version__
from partwise.io.atomic import atomic_file
from partwise.io.decode import Decoder
from partwise.io.encode import Encoder
from partwise.io.errors import ModelFileError
from partwise.io.npy import ZIP_TROUBLE, NpyTrouble, read_npy

FORMAT = "partwise-model"
FORMAT_VERSION = 1
SUFFIX = ".partwise"
_MANIFEST = "manifest.json"
# Arrays are kept apart, so a manifest of a large model has some thousand values, nested a few levels deep.
_MAX_MANIFEST = 16 * 2**20
_MAX_VALUES = 200_000
_MAX_DEPTH = 60
_CHUNK = 1 << 20


@overload
def save(model: Any, path: str | os.PathLike[str]) -> Path: ...
@overload
def save(model: Any, path: IO[bytes]) -> IO[bytes]: ...
def save(model: Any, path: str | os.PathLike[str] | IO[bytes]) -> Path | IO[bytes]:
    """Write a model to a file, whole or not at all.

    Kept are the parameters, every fitted attribute (those ending in "_"), and what `set_output` asked for.

    Parameters
    ----------
    model : estimator
        An estimator of a registered class, or a scikit-learn pipeline of such.
    path : str, path-like or binary file object
        The file; ``.partwise`` is added to a path without a suffix. A file object is written to where it stands,
        and left open.

    Returns
    -------
    pathlib.Path or file object
        The path written, or the file object.

    Raises
    ------
    ModelFileError
        If the model has a value that a model file cannot hold, or the file cannot be written.
    """
    encoder = Encoder()
    try:
        state = encoder.model(model)
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "partwise_version": __version__,
            **state,
            "sha256": {entry: _digest_of_array(array) for entry, array in encoder.arrays.items()},
        }
        text = json.dumps(manifest, allow_nan=False, indent=1)
    except RecursionError as error:
        raise ModelFileError(
            f"The {type(model).__name__} cannot be saved: it holds itself, or is nested too deeply."
        ) from error
    trouble = _manifest_trouble(text.encode("ascii"))
    if trouble:
        raise ModelFileError(
            f"The {type(model).__name__} cannot be saved: its arrays apart, it holds {trouble}. "
            "Keep long lists of numbers as arrays."
        )
    if not isinstance(path, str | os.PathLike):
        _write(path, text, encoder)
        return path
    target = Path(path)
    if not target.name:
        raise ModelFileError(
            f"{os.fspath(path)!r} is no name for a model file. Give one such as model{SUFFIX}."
        )
    if not target.suffix:
        target = target.with_name(target.name + SUFFIX)
    with atomic_file(target, ModelFileError) as raw:
        _write(raw, text, encoder)
    return target


def _write(raw: IO[bytes], text: str, encoder: Encoder) -> None:
    """Write the archive; the same model gives the same bytes."""
    if isinstance(raw, io.TextIOBase) or not hasattr(raw, "write"):
        raise ModelFileError(
            f"A model cannot be written to {raw!r}: give a path, or a file that was opened in the mode 'wb'."
        )
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(_entry(_MANIFEST, zipfile.ZIP_DEFLATED), text.encode("ascii"))
        for name, array in encoder.arrays.items():
            # Stored, not deflated: factors hardly shrink, and zeros would look like a zip bomb.
            large = array.nbytes > 2**30
            with archive.open(_entry(name, zipfile.ZIP_STORED), "w", force_zip64=large) as stream:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)


def load(path: str | os.PathLike[str] | IO[bytes]) -> Any:
    """Return the model in a file that ``save`` wrote; nothing in the file is executed.

    Parameters
    ----------
    path : str, path-like or binary file object
        The file. A file object must be able to seek, as `io.BytesIO` can; it is left open.

    Returns
    -------
    estimator
        The model, fitted if it was fitted when it was saved.

    Raises
    ------
    ModelFileError
        If the file is not such a file, is damaged, or holds a model of a class not known here.
    """
    file: Path | IO[bytes]
    if isinstance(path, str | os.PathLike):
        source = os.fspath(path)
        file = _find(Path(source), source)
    else:
        file = _seekable(path, str(getattr(path, "name", f"An object of type {type(path).__name__}")))
        source = str(getattr(path, "name", "The file"))
    try:
        with zipfile.ZipFile(file) as archive:
            return _load(archive, source)
    except ModelFileError:
        raise
    except RecursionError as error:
        raise ModelFileError(
            f"{source} is not a valid model file: its manifest is nested too deeply."
        ) from error
    except MemoryError as error:
        raise ModelFileError(f"{source} needs more memory than there is.") from error
    except ZIP_TROUBLE as error:
        raise ModelFileError(_unreadable(file, source, error)) from error


def _manifest_trouble(text: bytes) -> str | None:
    """Why a manifest is too large to be read, or None; judged before it becomes Python objects."""
    if len(text) > _MAX_MANIFEST:
        return f"{len(text):,} bytes, over the limit of {_MAX_MANIFEST:,}"
    # Every value has a comma or a bracket, and a string two quotes; those inside of texts are few.
    values = max(text.count(b",") + text.count(b"[") + text.count(b"{"), text.count(b'"') // 4)
    if values > _MAX_VALUES:
        return f"about {values:,} values, over the limit of {_MAX_VALUES:,}"
    plain = np.frombuffer(re.sub(rb'"(?:[^"\\]++|\\.)*+"', b"", text), dtype=np.uint8)
    opened, closed = (np.isin(plain, list(pair)) for pair in (b"[{", b"]}"))
    depth = int(np.cumsum(opened.astype(np.int64) - closed).max(initial=0))
    return f"values nested {depth} deep, over the limit of {_MAX_DEPTH}" if depth > _MAX_DEPTH else None


def _seekable(file: Any, source: str) -> IO[bytes]:
    """The file object, once it is known to be one that a zip archive can be read from."""
    binary = hasattr(file, "read") and not isinstance(file, io.TextIOBase)
    if not binary or not hasattr(file, "seekable") or not file.seekable():
        raise ModelFileError(
            f"{source} cannot be loaded from: give a path, or a file opened in the mode 'rb' that can seek "
            "(io.BytesIO(stream.read()) for one that cannot)."
        )
    opened: IO[bytes] = file
    return opened


def _find(file: Path, source: str) -> Path:
    if file.is_dir():
        raise ModelFileError(f"{source} is a folder, not a model file.")
    if file.is_file():
        return file
    if file.exists():
        raise ModelFileError(
            f"{source} is a pipe or a device, not a model file. Copy what it holds to a file."
        )
    longer = file.with_name(file.name + SUFFIX) if file.name else file
    if not file.suffix and longer.exists():
        return longer
    raise ModelFileError(f"{source}: no such file. Check the path; partwise.save names files {SUFFIX}.")


def _load(archive: zipfile.ZipFile, source: str) -> Any:
    entries = _checked_entries(archive, source)
    manifest = _manifest(archive, entries, source)
    digests = manifest.get("sha256")
    if not isinstance(digests, dict):
        raise ModelFileError(f"{source} is not a valid model file: its manifest lists no checksums.")
    for name in entries:
        if name != _MANIFEST and name not in digests:
            raise ModelFileError(
                f"{source} holds {name[:60]!r}, which its manifest does not list: "
                "it was changed after it was written."
            )
    for name, digest in digests.items():
        if name not in entries or name == _MANIFEST:
            raise ModelFileError(f"{source} lacks {name[:60]!r}, which its manifest lists: it is damaged.")
        with archive.open(entries[name]) as stream:
            if _digest_of_stream(stream) != digest:
                raise ModelFileError(
                    f"{source}: {name[:60]!r} does not have the checksum in the manifest; "
                    "the file was changed after it was written. Save the model again."
                )

    def fetch(name: str) -> np.ndarray[Any, Any]:
        if name not in digests:
            raise ModelFileError(
                f"{source} is not a valid model file: it lists no checksum for {name[:60]!r}."
            )
        with archive.open(entries[name]) as stream:
            try:
                array = read_npy(stream, entries[name].file_size)
            except NpyTrouble as trouble:
                raise ModelFileError(f"{source}: {name[:60]!r} {trouble}. Save the model again.") from trouble
        if array.dtype.kind not in "biufU":
            raise ModelFileError(
                f"{source}: {name[:60]!r} holds values of type {array.dtype}, which no model keeps."
            )
        return array

    return Decoder(source, fetch).model(manifest)


def _checked_entries(archive: zipfile.ZipFile, source: str) -> dict[str, zipfile.ZipInfo]:
    """The entries by name, once their declared sizes are known to be sane."""
    infos = archive.infolist()
    entries = {info.filename: info for info in infos}
    if len(entries) != len(infos):
        raise ModelFileError(f"{source} is not a valid model file: it holds two entries of the same name.")
    for info in infos:
        # Stored as they are, arrays cannot be larger than the file that holds them.
        if info.filename != _MANIFEST and (info.compress_type or info.file_size != info.compress_size):
            raise ModelFileError(
                f"{source}: {info.filename[:60]!r} is compressed, as partwise.save leaves no array; "
                "it is not loaded. Save the model again."
            )
    archive.fp.seek(0, os.SEEK_END)  # type: ignore[union-attr]
    if sum(info.compress_size for info in infos) > archive.fp.tell():  # type: ignore[union-attr]
        raise ModelFileError(f"{source} is damaged: its arrays are larger than the file.")
    return entries


def _manifest(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], source: str) -> dict[str, Any]:
    info = entries.get(_MANIFEST)
    if info is None:
        raise ModelFileError(
            f"{source} is a zip file but not a partwise model: it has no {_MANIFEST}. "
            "Give a file that partwise.save wrote."
        )
    if info.file_size > _MAX_MANIFEST:
        raise ModelFileError(
            f"{source}: its manifest has {info.file_size:,} bytes, over the limit; it is not loaded."
        )
    data = archive.read(info)
    trouble = _manifest_trouble(data)
    if trouble:
        raise ModelFileError(f"{source} is not loaded: its manifest has {trouble}.")
    try:
        manifest = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ModelFileError(
            f"{source} is not a valid model file: its manifest is no JSON ({error})."
        ) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(
            f"{source} is a zip file but not a partwise model: its manifest is of another format."
        )
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"{source} is not a valid model file: its format version is {version!r}.")
    if version > FORMAT_VERSION:
        writer = str(manifest.get("partwise_version"))[:20]
        raise ModelFileError(
            f"{source} was written by partwise {writer} in format {version}; "
            f"this is partwise {__version__}, which reads up to format {FORMAT_VERSION}. "
            "Upgrade: pip install -U partwise"
        )
    return manifest


def _unreadable(file: Path | IO[bytes], source: str, error: Exception) -> str:
    try:
        if isinstance(file, Path):
            with file.open("rb") as opened:
                start = opened.read(4)
        else:
            file.seek(0)
            start = file.read(4)
    except OSError:
        return f"{source} cannot be read: {error}."
    if start.startswith(b"PK"):
        reason = str(error) or type(error).__name__
        return f"{source} is damaged or cut short ({reason}). Copy it again, or save the model again."
    return (
        f"{source} is not a partwise model file. Give a file that partwise.save wrote; "
        "pickle and joblib files are not loaded."
    )


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    """A zip entry without the time of day, so that the same model gives the same bytes."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.compress_type = compression
    info.external_attr = 0o644 << 16
    return info


class _HashStream:
    """A file to write to that keeps only the checksum."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.hash.update(data)
        return len(data)


def _digest_of_array(array: np.ndarray[Any, Any]) -> str:
    stream = _HashStream()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
    return stream.hash.hexdigest()


def _digest_of_stream(stream: IO[bytes]) -> str:
    found = hashlib.sha256()
    while block := stream.read(_CHUNK):
        found.update(block)
    return found.hexdigest()
