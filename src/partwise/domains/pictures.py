"""Folders and stacks of pictures, and the matrix with a picture in each row."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from partwise.domains.picture_file import (
    Header,
    PictureTrouble,
    Pixels,
    divisor,
    picture_suffixes,
    read_header,
    read_picture,
    require_pillow,
)
from partwise.io.budget import left, limited, spend
from partwise.io.errors import DataError
from partwise.io.reading import read, require_file
from partwise.io.words import listing

#: The longer side of pictures whose sizes differ, at most.
_LONGEST = 256
#: Pictures that are decoded at a time, each on a thread of its own.
_AT_ONCE, _THREADS = 64, 4
_STACKS = (".npy", ".npz")

Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures as rows of a matrix.

    Parameters
    ----------
    data : array of float32 of shape (n, height × width [× 3])
        From 0, black, to 1, white. Where nothing says which number is white, as in pictures of 32 bits and stacks of
        numbers other than unsigned bytes, all are divided by one number: 1, 255 or 65,535 if they fit, else the
        largest.
    names : list of str
        Their files, below the folder.
    shape : tuple of int
        Of one picture: height and width, and 3 where they have colours.
    source : str
        The folder or file, as it was given.
    labels : array of str of shape (n,), or None
        The subfolder of each, if that was asked for; or what a stack says of each.
    skipped : tuple of (str, str)
        Files that could not be read, and why.
    notes : tuple of str
        Sentences for the user: what was resized or left out.
    white : tuple of float
        What pixels of floating-point numbers, and of whole numbers of 32 bits, were divided by; 0 where there are
        none.
    """

    data: np.ndarray
    names: list[str]
    shape: tuple[int, ...]
    source: str
    labels: np.ndarray | None = None
    skipped: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    white: tuple[float, float] = (0.0, 0.0)


#: The types of numbers whose white is not known, in the order of `Pictures.white`.
_DEEP = ("F", "I")


@dataclass(frozen=True)
class _Wanted:
    """What the caller asks for."""

    size: tuple[int, int] | None
    colour: bool | None
    strict: bool
    progress: Progress | None
    white: tuple[float, float]


def read_pictures(
    path: str | os.PathLike[str],
    *,
    size: tuple[int, int] | None = None,
    colour: bool | None = None,
    recursive: bool = True,
    labels: bool = False,
    strict: bool = False,
    key: str | None = None,
    white: tuple[float, float] = (0.0, 0.0),
    progress: Progress | None = None,
) -> Pictures:
    """Return the pictures of a folder, or of a stack, one in each row.

    Parameters
    ----------
    path : str or path-like
        A folder of pictures in any format that pillow reads, chosen by the ends of names; an .npy or .npz array of
        shape (n, height, width) or (n, height, width, 3 or 4), or of two dimensions if `size` says what a row is; or
        a file with several frames, as .tiff and .gif may be.
    size : tuple of int, optional
        Height and width to resize to. If it is not given, pictures keep their size where it is one, and are resized
        to the median where sizes differ.
    colour : bool, optional
        Whether rows hold red, green and blue of each pixel, or its brightness; None keeps colours if there are any.
    recursive : bool, default=True
        Whether pictures in folders of the folder count.
    labels : bool, default=False
        Whether the folders in the folder are labels of the pictures in them.
    strict : bool, default=False
        Whether a file that cannot be read is an error; otherwise it is left out and listed in `skipped`.
    key : str, optional
        The array of an .npz.
    white : tuple of float, optional
        What pixels without a known white are divided by, as `Pictures.white` of others; 0 finds it here.
    progress : callable, optional
        Called as ``progress(done, of, skipped)`` while pictures are read.

    Returns
    -------
    Pictures
        The matrix, the names of its rows, and the shape of a picture.

    Raises
    ------
    DataError
        With a sentence to act on, where there are no pictures, or more than memory for them.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from PIL import Image
    >>> from partwise.domains import read_pictures
    >>> folder = tempfile.mkdtemp()
    >>> for i in range(3):
    ...     Image.fromarray(np.full((4, 5), 100 * i, np.uint8)).save(os.path.join(folder, f"{i}.png"))
    >>> found = read_pictures(folder)
    >>> found.data.shape, found.names, found.shape
    ((3, 20), ['0.png', '1.png', '2.png'], (4, 5))
    """
    source = os.fspath(path)
    place = Path(source)
    Image = require_pillow()
    if size is not None and min(size) < 1:
        raise DataError(f"A picture has at least one pixel; got a size of {size[0]} × {size[1]}.")
    wanted = _Wanted(size, colour, strict, progress, white)
    with limited(source), _hushed(Image):
        if place.is_dir():
            return _of_folder(place, source, wanted, recursive, labels)
        require_file(place, source)
        if place.name.lower().endswith(_STACKS):
            return _of_stack(place, source, wanted, key)
        if place.suffix.lower() in picture_suffixes():
            return _of_frames(place, source, wanted)
    ends = ", ".join(picture_suffixes())
    raise DataError(
        f"{source} is neither a folder of pictures nor a stack of them (.npy, .npz, .tiff). Known: {ends}."
    )


@contextmanager
def _hushed(Image: Any) -> Iterator[None]:
    """Warnings of pillow are kept back; what it only warns of, that a picture is suspiciously large, is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def picture_image(row: Any, shape: tuple[int, ...], top: float | None = None) -> Any:
    """A row as a picture again.

    Parameters
    ----------
    row : array of shape (height × width [× 3],)
        Numbers from 0, black, to `top`, white.
    shape : tuple of int
        As in `Pictures.shape`.
    top : float, optional
        By default the largest number of the row.

    Returns
    -------
    PIL.Image.Image
        With a method `save`.
    """
    Image = require_pillow()
    values = np.asarray(row, dtype=float).reshape(shape)
    top = float(values.max(initial=0.0)) if top is None else top
    values = (values / top if top > 0 else values).clip(0.0, 1.0)
    return Image.fromarray(np.round(255.0 * values).astype(np.uint8))


def _of_folder(folder: Path, source: str, wanted: _Wanted, recursive: bool, labelled: bool) -> Pictures:
    files, others = _listed(folder, recursive)
    if not files:
        held = f"; it has {others} other files" if others else ""
        raise DataError(
            f"{source} has no pictures{held}. They are known by the ends of their names, as .png, .jpg, .tiff, .bmp."
        )
    names = [file.relative_to(folder).as_posix() for file in files]
    skipped: dict[str, str] = {}
    headers: dict[str, Header] = {}
    for file, name in zip(files, names):
        try:
            headers[name] = read_header(file)
        except PictureTrouble as trouble:
            _skip(skipped, name, trouble, source, wanted)
    notes = [f"{source}: {others} of its files are no pictures, and were left out."] if others else []
    if not headers:
        raise DataError(f"{source} has no picture that can be read: {_why(skipped)}.")
    frames = sum(header.frames > 1 for header in headers.values())
    if frames:
        notes.append(f"{source}: {frames} files have several frames; the first of each is taken.")
    size, colour, said = _common(list(headers.values()), source, wanted)
    kept = [(folder / name, name, 0) for name in headers]
    data, there, white, scaled = _filled(kept, size, colour, source, wanted, skipped)
    said += scaled
    found = [name for name, ok in zip(headers, there) if ok]
    if not found:
        raise DataError(f"{source} has no picture that can be read: {_why(skipped)}.")
    if skipped:
        notes.append(
            f"{source}: {len(skipped)} of {len(files)} pictures cannot be read and were left out: {_why(skipped)}."
        )
    shape = (*size, 3) if colour else size
    labels = None
    if labelled:
        labels = np.array([name.split("/")[0] if "/" in name else "." for name in found])
        if len(set(labels.tolist())) < 2:
            raise DataError(
                f"{source} has no folders to take labels from; put the pictures of each label in one."
            )
    return Pictures(data, found, shape, source, labels, tuple(skipped.items()), (*notes, *said), white)


def _listed(folder: Path, recursive: bool) -> tuple[list[Path], int]:
    """Files that are pictures by their names, those with numbers in the order of these; and how many are none."""
    known = picture_suffixes()
    files: list[Path] = []
    others = 0
    for place, folders, held in os.walk(folder):
        folders[:] = sorted(name for name in folders if recursive and not name.startswith("."))
        shown = [name for name in held if not name.startswith(".")]
        pictures = [name for name in shown if Path(name).suffix.lower() in known]
        others += len(shown) - len(pictures)
        files += [Path(place) / name for name in pictures]

    def order(file: Path) -> list[Any]:
        parts = re.split(r"(\d+)", file.relative_to(folder).as_posix())
        return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]

    return sorted(files, key=order), others


def _common(headers: list[Header], source: str, wanted: _Wanted) -> tuple[tuple[int, int], bool, list[str]]:
    """The size and the colours that all pictures get, and what is to be said of it."""
    colour = any(header.colour for header in headers) if wanted.colour is None else wanted.colour
    sizes = np.array([header.size for header in headers])
    notes: list[str] = []
    differ = bool((sizes != sizes[0]).any())
    size = wanted.size
    if size is None:
        high, wide = np.median(sizes, axis=0) if differ else sizes[0]
        shrink = min(1.0, _LONGEST / max(high, wide)) if differ else 1.0
        size = (max(1, round(float(high * shrink))), max(1, round(float(wide * shrink))))
    need = 4 * len(headers) * (3 if colour else 1)
    if wanted.size is None and need * size[0] * size[1] > 0.8 * left():
        shrink = float(np.sqrt(0.8 * left() / (need * size[0] * size[1])))
        size = (max(1, int(size[0] * shrink)), max(1, int(size[1] * shrink)))
        notes.append(f"{source}: pictures were shrunk to {size[0]} × {size[1]}, as there is memory for.")
    if wanted.size is not None and len(sizes) == 1 and tuple(sizes[0]) != tuple(size):
        notes.append(
            f"{source}: the picture has {sizes[0][0]} × {sizes[0][1]} pixels, and was resized to "
            f"{size[0]} × {size[1]} (height × width)."
        )
    if differ and wanted.size is None:
        low, high = sizes.prod(axis=1).argmin(), sizes.prod(axis=1).argmax()
        notes.append(
            f"{source}: sizes differ, from {sizes[low][0]} × {sizes[low][1]} to {sizes[high][0]} × {sizes[high][1]}; "
            f"all were resized to {size[0]} × {size[1]} (height × width). Choose another with --size."
        )
    return size, colour, notes


def _filled(
    files: list[tuple[Path, str, int]],
    size: tuple[int, int],
    colour: bool,
    source: str,
    wanted: _Wanted,
    skipped: dict[str, str],
) -> tuple[np.ndarray, list[bool], tuple[float, float], list[str]]:
    """The matrix, allocated once and filled a few pictures at a time; which of the files are in it.

    Also what pixels without a known white were divided by, and notes.
    """
    width = size[0] * size[1] * (3 if colour else 1)
    spend(4 * len(files) * width)
    data = np.empty((len(files), width), dtype=np.float32)
    there: list[bool] = []
    row = 0
    # Rows whose white is not known, by the type of their numbers, and the largest of these.
    deep: dict[str, list[int]] = {}
    tops: dict[str, float] = {}

    def decoded(one: tuple[Path, str, int]) -> Pixels | PictureTrouble:
        try:
            return read_picture(one[0], size, colour, one[2])
        except PictureTrouble as trouble:
            return trouble

    with ThreadPoolExecutor(_THREADS) as pool:
        for some in _batches(files):
            for (_, name, _), found in zip(some, pool.map(decoded, some)):
                there.append(isinstance(found, Pixels))
                if isinstance(found, PictureTrouble):
                    _skip(skipped, name, found, source, wanted)
                else:
                    data[row] = found.values.reshape(-1)
                    if found.deep is not None:
                        deep.setdefault(found.deep, []).append(row)
                        tops[found.deep] = max(tops.get(found.deep, 0.0), found.top)
                    row += 1
            if wanted.progress is not None:
                wanted.progress(len(there), len(files), len(skipped))
    notes = []
    white = dict(zip(_DEEP, wanted.white))
    for kind, rows in sorted(deep.items()):
        by = white[kind] = white[kind] or divisor(kind, tops[kind])
        if by != 1.0:
            # Row by row: a selection of rows would be a copy of all of them.
            for i in rows:
                data[i] /= np.float32(by)
        if by != 1.0 or wanted.white[_DEEP.index(kind)]:
            notes.append(_scaled_note(source, len(rows), tops[kind], by, wanted.white[_DEEP.index(kind)] > 0))
    used = (white["F"], white["I"]) if deep else wanted.white
    return data[:row], there, used, notes


def _scaled_note(source: str, count: int, top: float, by: float, given: bool) -> str:
    """That pixels without a known white were divided by one number."""
    as_before = ", as those of the fit" if given else ""
    return (
        f"{source}: nothing says which number is white in {count} of the pictures; all of these were divided by "
        f"{by:,.6g}{as_before} (the largest is {top:,.6g})."
    )


def _batches(files: list[tuple[Path, str, int]]) -> Iterator[list[tuple[Path, str, int]]]:
    rest = iter(files)
    while some := list(islice(rest, _AT_ONCE)):
        yield some


def _of_frames(file: Path, source: str, wanted: _Wanted) -> Pictures:
    """The frames of one file."""
    try:
        header = read_header(file)
    except PictureTrouble as trouble:
        raise DataError(f"{source} cannot be read: {trouble}.") from trouble
    if header.frames < 2 and wanted.size is None:
        raise DataError(
            f"{source} is one picture. Give a folder of pictures: parts are what many have in common."
        )
    size, colour, notes = _common([header] * header.frames, source, wanted)
    skipped: dict[str, str] = {}
    files = [(file, f"frame{i}" if header.frames > 1 else file.name, i) for i in range(header.frames)]
    data, there, white, scaled = _filled(files, size, colour, source, wanted, skipped)
    notes += scaled
    names = [name for (_, name, _), ok in zip(files, there) if ok]
    if not names:
        raise DataError(f"{source} has no frame that can be read: {_why(skipped)}.")
    shape = (*size, 3) if colour else size
    return Pictures(data, names, shape, source, None, tuple(skipped.items()), tuple(notes), white)


def _of_stack(file: Path, source: str, wanted: _Wanted, key: str | None) -> Pictures:
    """The pictures of an array."""
    table = read(file, key=key, stack=True)
    shape = tuple(int(side) for side in table.meta.get("shape", ()))
    shape = shape[:2] if len(shape) == 3 and shape[2] == 1 else shape
    values, size = table.data, wanted.size
    if hasattr(values, "toarray"):
        spend(values.dtype.itemsize * values.shape[0] * values.shape[1])
        values = values.toarray()
    if not shape and size is not None and values.shape[1] in (size[0] * size[1], 3 * size[0] * size[1]):
        shape = size if values.shape[1] == size[0] * size[1] else (*size, 3)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise DataError(
            f"{source} holds rows of {values.shape[1]} numbers{f', of shape {shape}' if shape else ''}, which are no "
            "pictures. Give an array of shape (n, height, width) or (n, height, width, 3), or say the size of a row, "
            "as --size 28x28."
        )
    spend(4 * values.size)
    data = values.astype(np.float32)
    if not np.isfinite(data).all() or data.min(initial=0.0) < 0:
        raise DataError(f"{source} has pixels that are negative or not finite. Shift or clip them first.")
    images, notes, white = data.reshape(-1, *shape), [], wanted.white
    by = {"u1": 255.0, "u2": 65535.0, "b1": 1.0}.get(values.dtype.str[1:])
    if by is None:
        # Eight bits are often kept in longer numbers.
        top = float(data.max(initial=0.0))
        by = wanted.white[0] or divisor("F", top)
        white = (by, wanted.white[1])
        if by != 1.0 or wanted.white[0]:
            notes = [_scaled_note(source, len(images), top, by, wanted.white[0] > 0)]
    images /= np.float32(by)
    if len(shape) == 3 and shape[2] == 4:
        # What is transparent is white, as in files.
        images = images[..., :3] * images[..., 3:] + (1.0 - images[..., 3:])
    colour = len(shape) == 3 if wanted.colour is None else wanted.colour
    if not colour and images.ndim == 4:
        # As pillow turns colours into greys (ITU-R 601).
        images = images @ np.array([0.299, 0.587, 0.114], dtype=np.float32)
    elif colour and images.ndim == 3:
        images = np.repeat(images[..., None], 3, axis=3)
    if size is not None and images.shape[1:3] != tuple(size):
        images = np.stack([_resized(image, size) for image in images])
    labels = next(iter(table.text.values()), None)
    names = table.row_names or [f"row{i}" for i in range(len(images))]
    flat = np.ascontiguousarray(images.reshape(len(images), -1))
    found = None if labels is None else np.array(labels)
    return Pictures(flat, names, images.shape[1:], source, found, notes=tuple(notes), white=white)


def _resized(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    Image = require_pillow()
    channels = [image] if image.ndim == 2 else [image[..., c] for c in range(image.shape[2])]
    done = [
        np.asarray(
            Image.fromarray(np.ascontiguousarray(one)).resize((size[1], size[0]), Image.Resampling.LANCZOS)
        )
        for one in channels
    ]
    return np.maximum(done[0] if image.ndim == 2 else np.stack(done, axis=2), 0.0)


def _skip(skipped: dict[str, str], name: str, trouble: PictureTrouble, source: str, wanted: _Wanted) -> None:
    if wanted.strict:
        raise DataError(f"{source}: {name} cannot be read: {trouble}. Without --strict it is left out.")
    skipped[name] = str(trouble)


def _why(skipped: dict[str, str]) -> str:
    """Files that were left out, and why the first was."""
    name = next(iter(skipped))
    others = list(skipped)[1:]
    return f"{name} ({skipped[name]})" + (f", {listing(others)}" if others else "")
