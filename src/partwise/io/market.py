"""Reading Matrix Market files, .mtx and .mtx.gz.

The text is checked line by line before scipy.io.mmread sees it: that reader is fast, but crashes the whole
process (a segmentation fault, seen with scipy 1.17) on lines such as a file that was cut short ends in.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path
from typing import IO

from partwise.io.budget import spend
from partwise.io.errors import DataError
from partwise.io.table import Table, numeric_matrix
from partwise.io.text import open_bytes
from partwise.io.words import shorten

_CHUNK = 1 << 23
_LONGEST = 1 << 16
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_INDEX = rb"[0-9]{1,18}+"
_WHOLE = rb"[-+]?[0-9]{1,18}+"
_REAL = rb"[-+]?(?:(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]{1,9}+)?|(?:nan|NaN|inf|Inf|INF))"
_VALUES = {"real": _REAL, "double": _REAL, "integer": _WHOLE, "unsigned-integer": _INDEX, "pattern": b""}


class _Trouble(Exception):
    """Why the file is no Matrix Market file, as a clause."""


def read_market(path: Path, source: str) -> Table:
    """Return the matrix of a Matrix Market file: CSR for coordinate files, an array for array files."""
    from scipy.io import mmread

    try:
        with open_bytes(path) as stream:
            line, entries, expected, number = _check_header(stream, source)
            found = _check_body(stream, line, expected, number)
            if found != entries:
                raise _Trouble(f"it announces {entries:,} entries but holds {found:,}")
        with open_bytes(path) as stream:
            matrix = numeric_matrix(mmread(_Guarded(stream)), source)
    except DataError:
        raise
    except (_Trouble, ValueError, OverflowError, MemoryError, OSError, EOFError, zlib.error) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise DataError(
            f"{source} is not a readable Matrix Market file: {reason}. Write it again with scipy.io.mmwrite."
        ) from error
    return Table(matrix, None, None, source)


class _Guarded:
    """The stream that mmread gets.

    It ends in a line break, because mmread looks for one behind the last number, past the end of the text
    if need be; and it has no seek, because mmread's error handling may seek before the start and abort.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._ended = stream, False

    def read(self, size: int = -1) -> bytes:
        block = self._stream.read(size)
        if not block and not self._ended:
            self._ended = True
            return b"\n"
        return block


def _check_header(stream: IO[bytes], source: str) -> tuple[re.Pattern[bytes], int, str, int]:
    """Return the pattern of the lines to come, how many there are, what they give, and the lines read."""
    words = stream.readline(1000).decode("latin-1").lower().split()
    if not words or words[0] != "%%matrixmarket":
        raise DataError(
            f"{source} is not a Matrix Market file: its first line does not begin with '%%MatrixMarket'. "
            "Write it with scipy.io.mmwrite, or name it by what it is."
        )
    if len(words) != 5 or words[1] != "matrix" or words[2] not in ("coordinate", "array"):
        raise _Trouble(f"its first line is '{shorten(' '.join(words))}'")
    coordinate, field, symmetry = words[2] == "coordinate", words[3], words[4]
    if field == "complex":
        raise DataError(
            f"{source} holds complex numbers; partwise factorizes real ones. Save its magnitude, "
            "or real and imaginary parts side by side."
        )
    if field not in _VALUES or symmetry not in _SYMMETRIES or (field == "pattern" and not coordinate):
        raise _Trouble(f"its first line announces '{shorten(f'{words[2]} {field} {symmetry}')}'")
    line, number = stream.readline(_LONGEST), 2
    while line and (line.startswith(b"%") or not line.strip()):
        line, number = stream.readline(_LONGEST), number + 1
    sizes = line.split()
    if len(sizes) != 2 + coordinate or not all(size.isdigit() and len(size) < 19 for size in sizes):
        expected = "rows, columns and entries" if coordinate else "rows and columns"
        raise _Trouble(f"line {number} should give {expected}, but is '{_show(line)}'")
    rows, columns = int(sizes[0]), int(sizes[1])
    if not rows or not columns:
        # mmread divides by them.
        raise DataError(
            f"{source} is empty: {rows} rows and {columns} columns. Give a table with numbers in it."
        )
    # mmread allocates what is announced: the matrix, or row, column and value of each entry and of its mirror.
    spend(32 * int(sizes[2]) + 8 * (rows + columns) if coordinate else 8 * rows * columns)
    if not coordinate:
        return _line(_VALUES[field]), _array_entries(rows, columns, symmetry), "a number", number
    parts = (_INDEX, _INDEX) if field == "pattern" else (_INDEX, _INDEX, _VALUES[field])
    expected = "row and column" if field == "pattern" else "row, column and value"
    return _line(*parts), int(sizes[2]), expected, number


def _array_entries(rows: int, columns: int, symmetry: str) -> int:
    """How many numbers a dense file has: all, or one triangle with or without the diagonal."""
    if symmetry == "general":
        return rows * columns
    if rows != columns:
        raise _Trouble(f"it announces a {symmetry} matrix of {rows} rows and {columns} columns")
    return rows * (rows - 1) // 2 if symmetry == "skew-symmetric" else rows * (rows + 1) // 2


def _line(*parts: bytes) -> re.Pattern[bytes]:
    """The pattern of one line, its end included, with only blanks around and between the parts."""
    return re.compile(rb"[ \t]*+" + rb"[ \t]++".join(parts) + rb"[ \t\r]*+(?:\n|\Z)")


def _check_body(stream: IO[bytes], line: re.Pattern[bytes], expected: str, above: int) -> int:
    """Return the number of lines with entries; raise _Trouble at the first that is none."""
    whole = re.compile(rb"(?:" + line.pattern + rb"|[ \t\r]*+\n)*+")
    entries, rest = 0, b""
    while block := stream.read(_CHUNK):
        if len(rest) > _LONGEST:
            raise _Trouble(f"line {above + 1} has more than {_LONGEST:,} characters")
        text, newline, rest = (rest + block).rpartition(b"\n")
        entries += _entries(text + newline, line, whole, expected, above)
        above += text.count(b"\n") + len(newline)
    return entries + (_entries(rest, line, whole, expected, above) if rest.strip() else 0)


def _entries(
    text: bytes, line: re.Pattern[bytes], whole: re.Pattern[bytes], expected: str, above: int
) -> int:
    if whole.fullmatch(text) is None:
        for number, candidate in enumerate(text.split(b"\n"), start=above + 1):
            if candidate.strip() and line.fullmatch(candidate) is None:
                raise _Trouble(f"line {number} should give {expected}, but is '{_show(candidate)}'")
        raise _Trouble(f"the lines after line {above} are not all numbers")
    blank = len(re.findall(rb"^[ \t\r]*$", text.removesuffix(b"\n"), re.MULTILINE)) if text else 0
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text)) - blank


def _show(line: bytes) -> str:
    return shorten(line.decode("latin-1"))
