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


def file_uri(source: Source, name: str, most: int) -> str | None:
    """A file as a data URI.

    Parameters
    ----------
    source : Source
        The result; the file must lie in its folder, or be one that will.
    name : str
        Of the file.
    most : int
        Bytes, at most.

    Returns
    -------
    str or None
        None where there is no such file, it is of another kind, or too large.
    """
    kind = TYPES.get(Path(name).suffix.lower())
    if kind is None:
        return None
    contents = source.files.get(name)
    if contents is None and source.folder is not None:
        path = (source.folder / name).resolve()
        if path.is_relative_to(source.folder.resolve()) and path.is_file() and path.stat().st_size <= most:
            contents = path.read_bytes()
    if contents is None or len(contents) > most:
        return None
    return f"data:{kind};base64,{base64.b64encode(contents).decode()}"


def sound_uri(source: Source, detail: dict[str, Any]) -> str | None:
    """The sound of a part, where its entry in the summary names one: ``"audio": "part0.wav"``.

    That is an excerpt that report.json keeps, or the file itself where it is small.

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
    if not isinstance(name, str):
        return None
    kept = next((one for one in source.kept.get("sounds") or [] if one.get("file") == name), None)
    if kept is not None:
        return str(kept["uri"])
    return file_uri(source, name, SOUND_BYTES // max(len(source.summary.get("parts") or [1]), 1))


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
    room = PICTURE_BYTES
    for name in source.summary.get("files") or {}:
        if (
            not isinstance(name, str)
            or name in drawn
            or TYPES.get(Path(name).suffix.lower(), "")[:5] != "image"
        ):
            continue
        uri = file_uri(source, name, room)
        if uri is not None:
            room -= len(uri) * 3 // 4
            taken.append((name, uri))
        elif name in source.files or (source.folder is not None and (source.folder / name).is_file()):
            left.append(name)
    return taken, left
