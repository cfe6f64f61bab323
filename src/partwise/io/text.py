"""The lines and cells of a text table: encoding, compression, delimiter and quotes, but no numbers yet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from partwise.io.budget import Lines, Unpacked
from partwise.io.errors import DataError

SPACES = " "  # any run of blanks, as np.savetxt and fixed-width tables have it
_HEAD = 1 << 16
_MOST_BLANK = 1_000_000
#: What text that is neither UTF-8 nor from Western Europe may be, in sentences.
ELSEWHERE = "cp1250 (Central Europe), cp1251 (Cyrillic), cp1253 (Greek) or cp1254 (Turkish)"
_WESTERN = ("iso8859-1", "iso8859-15", "cp1252")
#: Four accented letters in a row, or a word of three and nothing else, which Western languages have not.
_STRANGE = re.compile("[À-ÖØ-öø-ÿ]{4,}|(?<![^\\W\\d_])[À-ÖØ-öø-ÿ]{3}(?![^\\W\\d_])")
_ROWS = 50
_QUOTED = re.compile(r'"[^"]*("|$)')
MAGIC = {
    b"PK\x03\x04": "it is a zip archive; name it .xlsx if it is an Excel workbook",
    b"PAR1": "it is a parquet file; name it .parquet",
    b"\x93NUMPY": "it is a NumPy array; name it .npy",
    b"\x89HDF": "it is an HDF5 file; name it .h5ad if AnnData wrote it",
    b"\x1f\x8b": "it is gzip-compressed; add .gz to its name",
}


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file to read its bytes, decompressed where the name ends in .gz."""
    if path.name.lower().endswith(".gz"):
        return io.BufferedReader(Unpacked(gzip.open(path, "rb"), path.stat().st_size), 1 << 17)
    return path.open("rb")


def open_text(path: Path, source: str, encoding: str | None = None) -> IO[str]:
    """Open a text file, gz-compressed or not, whatever its byte order mark; raise DataError if binary."""
    if encoding is not None:
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise DataError(f"There is no encoding '{encoding}'; try utf-8, latin-1 or cp1252.") from None
    raw = open_bytes(path)
    try:
        head = raw.read(_HEAD)
        raw.seek(0)
    except (OSError, EOFError, zlib.error) as error:
        raw.close()
        raise DataError(
            f"{source} is not a readable gzip file: {error}. Compress it again, or drop .gz from its name."
        ) from error
    for magic, meaning in MAGIC.items():
        if head.startswith(magic):
            raw.close()
            raise DataError(f"{source} is not a text table: {meaning}.")
    wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if encoding is None and not wide and b"\0" in head:
        raw.close()
        raise DataError(
            f"{source} is not a text table: it holds binary data (a zero byte). "
            "Name the file by what it is, or export it as CSV."
        )
    return io.TextIOWrapper(raw, encoding=encoding or ("utf-16" if wide else "utf-8-sig"), newline="")


#: The first line by which a file tells Excel what stands between its cells.
_SEPARATOR = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
#: A line that holds one number with a decimal comma.
_ONE_NUMBER = re.compile(r'\s*"?[+-]?[\d.]+(,\d+)?"?\s*')


def find_delimiter(
    path: Path, source: str, encoding: str | None = None, decimal: str = ".", skip: int = 0
) -> str:
    """Return the character between cells: by the extension, by the first lines where that is not enough.

    A first line ``sep=;`` says what it is. Lines that are skipped, or that are a title above the table, do not count.
    """
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".tsv"):
        return "\t"
    with open_text(path, source, encoding) as stream:
        try:
            head = stream.read(_HEAD)
        except UnicodeDecodeError as error:
            raise not_utf8(source, error) from error
        except (OSError, EOFError, zlib.error) as error:
            raise broken_gzip(source, error) from error
    said = _SEPARATOR.fullmatch(_split(head)[0])
    if said:
        return said[1]
    head = "\n".join(_split(head)[skip:])
    lines = _lines(head)
    whole = lines[:-1] if len(head) >= _HEAD - 1 and len(lines) > 1 else lines
    if decimal == "," and len(whole) > 1 and all(_ONE_NUMBER.fullmatch(line) for line in whole[1:]):
        # One column of numbers: the caller has said what their commas are.
        return ";"
    if name.endswith(".csv"):
        # Where decimals have commas, spreadsheets export "CSV" with semicolons. Marks in quotes do not count.
        marks = ",;\t" if decimal == "." else ";\t,"
        plain = _lines(_QUOTED.sub("q", head))
        first = next(iter(plain), "")
        for count in range(1, min(6, len(plain) - 1)):
            # A title has none of the marks that cut the rows below it.
            second = plain[count]
            if any(mark in second for mark in marks) and not any(
                mark in first and mark in second for mark in marks
            ):
                first, whole = second, whole[count:]
                break
        found = [mark for mark in marks if mark in first]
        # A comma may also stand in a question, or in a number: then another mark cuts all rows alike.
        return found[0] if len(found) == 1 else sniff_delimiter(whole[:50], found) if found else ","
    return sniff_delimiter(whole[:50], "\t,;|" + SPACES if decimal == "." else "\t;|," + SPACES)


def _lines(text: str) -> list[str]:
    """The lines that are not blank. Not splitlines, which also cuts at marks that may stand in names."""
    return [line for line in _split(text) if line.strip()]


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def sniff_delimiter(lines: list[str], marks: Iterable[str]) -> str:
    """The first mark that cuts every line into equally many cells; a header may be one cell short."""
    cut: list[str] = []
    for mark in marks:
        try:
            widths = [len(cells) for _, cells in _cells(lines, mark)]
        except csv.Error:
            continue
        if max(widths, default=1) > 1:
            cut.append(mark)
            if len(set(widths[1:])) <= 1 and widths[0] - widths[-1] in (0, -1):
                return mark
    return cut[0] if cut else ","


def records(stream: IO[str], delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank: its number in the file, counted from 1, and its cells.

    A first row that only says what stands between cells, ``sep=;``, is none.
    """
    lines = Lines(stream)
    reader = _cells(lines, delimiter)
    number = blank = 0
    try:
        for number, cells in reader:
            lines.pending = 0
            if number == 1 and _SEPARATOR.fullmatch(delimiter.join(cells)):
                continue
            if len(cells) < 2 and not (cells and cells[0].strip()):
                blank += 1
                if blank > _MOST_BLANK:
                    raise DataError(f"{source} has more than {_MOST_BLANK:,} blank lines. Remove them.")
            if cells:
                yield number, cells
    except csv.Error as error:
        raise DataError(
            f"{source}: row {number + 1} cannot be cut into cells: {error}. Look for a quote that is not "
            'closed; a quote inside a quoted cell is written twice, "".'
        ) from error
    except UnicodeDecodeError as error:
        raise not_utf8(source, error, number + 1) from error
    except (OSError, EOFError, zlib.error) as error:
        raise broken_gzip(source, error) from error


def _cells(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    if delimiter != SPACES:
        return enumerate(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True), start=1)
    return enumerate((_blanks(line) for line in lines), start=1)


def _blanks(line: str) -> list[str]:
    if '"' not in line:
        return line.split()
    cleaned = " ".join(line.split())
    return next(csv.reader([cleaned], delimiter=" ", skipinitialspace=True, strict=True), [])


def misread(rows: Callable[[], Iterable[tuple[int, list[str]]]], encoding: str | None) -> str:
    """A sentence on text that was hardly written in this encoding: words of accented letters alone; "" for others.

    Every file can be read as latin-1, so that no error tells of a wrong one.
    """
    if encoding is None or codecs.lookup(encoding).name not in _WESTERN:
        return ""
    for _, cells in islice(rows(), _ROWS):
        for cell in cells:
            found = _STRANGE.search(cell)
            if found:
                return f"Words such as '{found[0][:20]}' are hardly {encoding}: try --encoding {ELSEWHERE}."
    return ""


def not_utf8(source: str, error: UnicodeDecodeError, row: int | None = None) -> DataError:
    """The error of a file whose bytes are not UTF-8."""
    byte = error.object[error.start] if error.start < len(error.object) else 0
    place = "" if row is None else f" near row {row}"
    return DataError(
        f"{source} is not UTF-8 text: byte 0x{byte:02x}{place}. "
        f"Say how it is encoded, as --encoding latin-1 (Western Europe), {ELSEWHERE} (in Python: "
        "encoding='latin-1'), or save it as 'CSV UTF-8'."
    )


def broken_gzip(source: str, error: Exception) -> DataError:
    """The error of a compressed file that ends too soon."""
    return DataError(f"{source} is damaged or cut short: {error}. Copy or compress it again.")
