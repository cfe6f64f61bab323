"""One .npy array out of a stream: never pickled, never larger than the bytes that are there."""

from __future__ import annotations

import io
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from partwise.io.budget import spend

# What zipfile is known to raise on damaged archives: besides its own error, a flipped flag bit asks for a
# password (RuntimeError) or an unknown compression (NotImplementedError), a wrong offset seeks before the
# start (ValueError, OSError), an entry without a name fails as a folder name (IndexError), and damaged
# deflate data fail in zlib.
ZIP_TROUBLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    LookupError,
    struct.error,
)

_CHUNK = 1 << 24
_LONGEST_HEADER = 10_000  # the limit that numpy sets itself, but only after having read the whole
_HEADERS: dict[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class NpyTrouble(ValueError):
    """Why a stream is not a usable .npy array, as a clause to follow the name of the file."""


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, whether in Fortran order, and dtype; leave the stream at the first byte of data."""
    try:
        version = np.lib.format.read_magic(stream)
        read = _HEADERS[version]
    except (ValueError, KeyError) as error:
        raise NpyTrouble("is not a .npy array as numpy.save writes them") from error
    size = stream.read(2 if version == (1, 0) else 4)
    head = stream.read(min(_LONGEST_HEADER, int.from_bytes(size, "little")))
    try:
        shape, fortran, dtype = read(io.BytesIO(size + head))
    except Exception as error:  # numpy parses the header as Python text: garbage fails in many ways
        raise NpyTrouble("is not a .npy array as numpy.save writes them: its header is damaged") from error
    return tuple(shape), bool(fortran), dtype


def read_npy(stream: IO[bytes], size: int) -> np.ndarray[Any, Any]:
    """Return the array in ``stream``, which holds ``size`` bytes in all; raise NpyTrouble otherwise."""
    shape, fortran, dtype = read_header(stream)
    if dtype.hasobject:
        raise NpyTrouble("holds Python objects, which partwise does not unpickle")
    needed = math.prod(shape) * dtype.itemsize
    held = size - stream.tell()
    if needed > held or min(shape, default=0) < 0:
        raise NpyTrouble(
            f"is cut short: it declares an array of shape {shape}, {needed:,} bytes, but holds {held:,} bytes"
        )
    if needed == 0:
        return np.zeros(shape, dtype=dtype)
    spend(needed)
    data = np.empty(needed, dtype=np.uint8)
    filled = 0
    while filled < needed:
        # In pieces, because zipfile makes a second copy of whatever is asked for at once.
        block = stream.read(min(_CHUNK, needed - filled))
        if not block:
            raise NpyTrouble(f"is cut short after {filled:,} of {needed:,} bytes")
        data[filled : filled + len(block)] = np.frombuffer(block, dtype=np.uint8)
        filled += len(block)
    # numpy keeps whatever number stands for a character; Python fails with a SystemError when it is none.
    if dtype.kind == "U" and (data.view(np.dtype(np.uint32).newbyteorder(dtype.byteorder)) > 0x10FFFF).any():
        raise NpyTrouble("is damaged: it holds text with characters that do not exist")
    flat = data.view(dtype)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
