"""One picture in a file: its size without its pixels, and its pixels as numbers from 0 to 1.

Pillow is optional (the extra "report") and is imported when the first picture is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from partwise.io.budget import left
from partwise.io.errors import DataError
from partwise.io.words import shorten

#: Formats that are no pictures, run other programs, or hold only a description of a picture.
_LEFT_OUT = {"EPS", "WMF", "HDF5", "BUFR", "GRIB", "MPEG", "FITS", "FPX", "MIC", "PDF"}
#: Of these modes pixels have more than 8 bits.
_DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")
_GREY = ("1", "L", "LA", "La", *_DEEP)
_ORIENTATION = 0x0112


class PictureTrouble(Exception):
    """Why a file is no picture that can be read, as a clause."""


class Header(NamedTuple):
    """Height and width as the picture is shown, whether it has colours, and the number of frames."""

    size: tuple[int, int]
    colour: bool
    frames: int


def require_pillow() -> Any:
    """The module PIL.Image; raises ImportError, with what to install, where it is not there."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError('Reading pictures needs pillow: pip install "partwise[report]"') from error
    return Image


@cache
def picture_suffixes() -> dict[str, str]:
    """How the names of pictures end, in lower case, and the format of each."""
    Image = require_pillow()
    known = Image.registered_extensions()
    return {end: kind for end, kind in known.items() if kind in Image.OPEN and kind not in _LEFT_OUT}


def read_header(path: Path) -> Header:
    """Size, colours and frames of a picture, without decoding it; raises PictureTrouble."""
    with _opened(path) as image:
        width, height = image.size
        if image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8):
            width, height = height, width
        colour = image.mode not in _GREY
        if image.mode in ("P", "PA") and image.palette is not None:
            colours = np.frombuffer(image.palette.getdata()[1], dtype=np.uint8)
            step = len(image.palette.mode)
            colours = colours[: len(colours) // step * step].reshape(-1, step)[:, :3]
            colour = bool((colours != colours[:, :1]).any())
        return Header((height, width), colour, int(getattr(image, "n_frames", 1)))


def read_picture(path: Path, size: tuple[int, int] | None, colour: bool, frame: int = 0) -> np.ndarray:
    """The pixels of a picture; raises PictureTrouble.

    Parameters
    ----------
    path : Path
        The file.
    size : tuple of int, optional
        Height and width that it is resized to.
    colour : bool
        Whether red, green and blue are wanted, or brightness alone.
    frame : int
        Which picture of a file that has several.

    Returns
    -------
    array of float32 of shape (height, width) or (height, width, 3)
        From 0, black, to 1, white. Turned as the camera was held; what is transparent is white.
    """
    with _opened(path) as image:
        if frame:
            image.seek(frame)
        elif size is not None and image.format == "JPEG":
            # Decoded at a half, a quarter or an eighth of its size where that is enough.
            image.draft(None, (max(size), max(size)))
        return pixels(image, size, colour)


def pixels(image: Any, size: tuple[int, int] | None, colour: bool) -> np.ndarray:
    """The pixels of a pillow image as `read_picture` returns them."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode in _DEEP:
        image = Image.fromarray(_unit(np.asarray(image, dtype=np.float32), image.mode))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    if image.mode != "F":
        image = image.convert("RGB" if colour else "L")
    if size is not None and image.size != (size[1], size[0]):
        image = image.resize((size[1], size[0]), Image.Resampling.LANCZOS, reducing_gap=3.0)
    found = np.asarray(image, dtype=np.float32)
    found = found.clip(0.0, 1.0) if image.mode == "F" else found / np.float32(255.0)
    return np.repeat(found[:, :, None], 3, axis=2) if colour and found.ndim == 2 else found


def _unit(values: np.ndarray, mode: str) -> np.ndarray:
    """Deep greys from 0 to 1: 16 bits by 65,535; others too if they fit, else by their own largest value."""
    values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
    top = float(values.max(initial=0.0))
    scale = 65535.0
    if mode == "F":
        scale = next((bound for bound in (1.0, 255.0, 65535.0) if top <= bound), top)
    elif top > scale:
        scale = top
    return np.asarray(values / np.float32(scale), dtype=np.float32).clip(0.0, 1.0)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """An image of pillow, its pixels not yet read; whatever goes wrong is a PictureTrouble."""
    Image = require_pillow()
    formats = sorted(set(picture_suffixes().values()))
    try:
        with Image.open(path, formats=formats) as image:
            width, height = image.size
            if 4 * width * height > left():
                raise PictureTrouble(
                    f"its {width:,} × {height:,} pixels need more memory than reading may take"
                )
            yield image
    except (PictureTrouble, DataError, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        most = Image.MAX_IMAGE_PIXELS or 0
        raise PictureTrouble(
            f"it has more than the {most:,} pixels that pillow opens; shrink it first"
        ) from error
    except Image.UnidentifiedImageError as error:
        raise PictureTrouble("it is no picture, whatever its name says") from error
    except Exception as error:  # pillow raises many kinds on damaged files
        raise PictureTrouble(shorten(str(error), 80).rstrip(".") or type(error).__name__) from error
