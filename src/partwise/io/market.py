"""Reading Matrix Market files, .mtx and .mtx.gz."""

from __future__ import annotations

import zlib
from pathlib import Path

from partwise.io.errors import DataError
from partwise.io.table import Table, numeric_matrix
from partwise.io.text import open_bytes

_BANNER = b"%%matrixmarket"


def read_market(path: Path, source: str) -> Table:
    """Return the matrix of a Matrix Market file: CSR for coordinate files, an array for array files."""
    from scipy.io import mmread

    try:
        with open_bytes(path) as stream:
            if not stream.read(len(_BANNER)).lower().startswith(_BANNER):
                raise DataError(
                    f"{source} is not a Matrix Market file: its first line does not begin with "
                    "'%%MatrixMarket'. Write it with scipy.io.mmwrite, or name it by what it is."
                )
            stream.seek(0)
            matrix = mmread(stream)
    except DataError:
        raise
    except (ValueError, OverflowError, TypeError, MemoryError, OSError, EOFError, zlib.error) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise DataError(
            f"{source} is not a readable Matrix Market file: {reason}. Write it again with scipy.io.mmwrite."
        ) from error
    return Table(numeric_matrix(matrix, source), None, None, source)
