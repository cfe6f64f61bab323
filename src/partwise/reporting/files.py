"""Pictures and sounds that a verb wrote beside its results, taken into the page as far as there is room."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from partwise.reporting.limits import PICTURE_BYTES, SOUND_BYTES
from partwise.reporting.source import Source

TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".wav": "audio/wav", ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg", ".flac": "audio/flac",
}  # fmt: skip


def file_uri(folder: Path, name: str, most: int) -> str | None:
    """A file as a data URI.

    Parameters
    ----------
    folder : Path
        Of the results; the file must lie in it.
    name : str
        Of the file.
    most : int
        Bytes, at most.

    Returns
    -------
    str or None
        None where there is no such file, it is of another kind, or too large.
    """
    path = (folder / name).resolve()
    kind = TYPES.get(path.suffix.lower())
    if kind is None or not path.is_relative_to(folder.resolve()) or not path.is_file():
        return None
    if path.stat().st_size > most:
        return None
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def sound_uri(source: Source, detail: dict[str, Any]) -> str | None:
    """The sound of a part, where its entry in the summary names one: ``"audio": "part0.wav"``.

    Parameters
    ----------
    source : Source
        The result.
    detail : dict
        What the summary says of the part.

    Returns
    -------
    str or None
        A data URI.
    """
    name = detail.get("audio")
    if source.folder is None or not isinstance(name, str):
        return None
    return file_uri(source.folder, name, SOUND_BYTES // max(len(source.summary.get("parts") or [1]), 1))


def other_pictures(source: Source, drawn: tuple[str, ...]) -> tuple[list[tuple[str, str]], list[str]]:
    """Pictures of the folder that the page does not draw itself.

    Parameters
    ----------
    source : Source
        The result.
    drawn : tuple of str
        Names that are left out.

    Returns
    -------
    taken : list of (str, str)
        Name and data URI.
    left : list of str
        Names of those for which there was no room.
    """
    taken: list[tuple[str, str]] = []
    left: list[str] = []
    if source.folder is None:
        return taken, left
    room = PICTURE_BYTES
    for name in source.summary.get("files") or {}:
        if not isinstance(name, str) or name in drawn or TYPES.get(Path(name).suffix.lower(), "")[:5] != "image":
            continue
        uri = file_uri(source.folder, name, room)
        if uri is not None:
            room -= len(uri) * 3 // 4
            taken.append((name, uri))
        elif (source.folder / name).is_file():
            left.append(name)
    return taken, left
