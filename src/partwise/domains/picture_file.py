"""One picture in a file: its size without its pixels, and its pixels as numbers.

Eight and sixteen bits say what white is. What is white in numbers of 32 bits depends on whoever wrote them, so such
pixels are left as they are, and `divisor` tells what all pictures of a folder or stack are divided by.

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


class Pixels(NamedTuple):
    """The pixels of a picture; `deep` is None where they are from 0, black, to 1, white.

    Else `deep` is the type of numbers, "I" (whole) or "F", and `top` the largest of the file.
    """

    values: np.ndarray
    deep: str | None
    top: float


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


def divisor(deep: str, top: float) -> float:
    """What pixels without a known white are divided by, given the largest: 1, 255 or 65,535 if they fit, else that.

    Whole numbers ("I") of at most 65,535 are taken for sixteen bits, as camera software writes them.
    """
    bounds = (65535.0,) if deep == "I" else (1.0, 255.0, 65535.0)
    return next((bound for bound in bounds if top <= bound), top)


def read_picture(path: Path, size: tuple[int, int] | None, colour: bool, frame: int = 0) -> Pixels:
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
    Pixels
        Float32, of shape (height, width) or (height, width, 3). Turned as the camera was held; what is transparent
        is white.
    """
    with _opened(path) as image:
        if frame:
            image.seek(frame)
        elif size is not None and image.format == "JPEG":
            # Decoded at a half, a quarter or an eighth of its size where that is enough.
            image.draft(None, (max(size), max(size)))
        return pixels(image, size, colour)


def pixels(image: Any, size: tuple[int, int] | None, colour: bool) -> Pixels:
    """The pixels of a pillow image as `read_picture` returns them."""
    from PIL import Image, ImageOps

    image = ImageOps.exif_transpose(image)
    deep, top = None, 1.0
    if image.mode in _DEEP:
        deep = image.mode if image.mode in ("I", "F") else None
        values = np.asarray(image, dtype=np.float32)
        if not np.isfinite(values).all() or values.min(initial=0.0) < 0:
            raise PictureTrouble("it has pixels that are negative or no numbers")
        top = float(values.max(initial=0.0))
        image = Image.fromarray(values if deep else values / np.float32(65535.0))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    if image.mode != "F":
        image = image.convert("RGB" if colour else "L")
    if size is not None and image.size != (size[1], size[0]):
        image = image.resize((size[1], size[0]), Image.Resampling.LANCZOS, reducing_gap=3.0)
    found = np.asarray(image, dtype=np.float32)
    found = found.clip(0.0, top) if image.mode == "F" else found / np.float32(255.0)
    found = np.repeat(found[:, :, None], 3, axis=2) if colour and found.ndim == 2 else found
    return Pixels(found, deep, top)


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
