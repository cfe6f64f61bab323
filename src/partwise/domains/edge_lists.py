"""Edge lists: text with one edge a line, two nodes and perhaps a weight. Read by blocks, no line by itself."""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import IO

import numpy as np

from partwise.io.budget import spend
from partwise.io.choice import names_rows
from partwise.io.decimals import REMEDY, Number, told_point, with_point
from partwise.io.errors import DataError
from partwise.io.text import SPACES, broken_gzip, not_utf8, open_text, sniff_delimiter
from partwise.io.words import listing, shorten

#: Characters read at a time.
_BLOCK = 1 << 20
#: Lines by which the layout is found.
_SAMPLE = 200
#: What headers call the two ends of an edge and its weight.
_FIRST = (
    "source",
    "from",
    "src",
    "fromnode",
    "fromnodeid",
    "node1",
    "node_1",
    "id1",
    "sender",
    "tail",
    "start",
    "u",
    "i",
    "a",
    "von",
    "de",
    "desde",
)
_SECOND = (
    "target",
    "to",
    "dst",
    "tonode",
    "tonodeid",
    "node2",
    "node_2",
    "id2",
    "receiver",
    "head",
    "end",
    "v",
    "j",
    "b",
    "nach",
    "vers",
    "hasta",
)
_WEIGHT = (
    "weight",
    "weights",
    "w",
    "value",
    "strength",
    "count",
    "counts",
    "n",
    "freq",
    "frequency",
    "similarity",
    "score",
    "gewicht",
    "poids",
    "peso",
)
#: A number with a comma before its decimals.
_WITH_COMMA = re.compile(r"^\s*[-+]?\d*,\d+(?:[eE][-+]?\d+)?\s*$")
_MISSING = ("", "na", "nan", "null", "none", "?")
#: A whole number, with a point and zeros or without.
_WHOLE = re.compile(r"\d{1,18}(\.0+)?", re.ASCII)
#: An edge as networkx writes it: two nodes and a dict.
_WITH_DICT = re.compile(
    r"^[ \t]*(\S+)[ \t]+(\S+)[ \t]*\{(?:[^}\n]*?['\"]weight['\"]:[ ]*([^,}\n]+))?[^}\n]*\}[ \t\r]*$",
    re.MULTILINE,
)


@dataclass
class EdgeList:
    """Edges by the numbers of their nodes, weights (None where there are none), names of nodes, and notes."""

    first: np.ndarray
    second: np.ndarray
    weight: np.ndarray | None
    names: list[str]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Layout:
    """Delimiter, width, the places of both ends and of the weight (None: no weights), whether line 1 is a header, and
    the mark before the decimals of weights.
    """

    delimiter: str
    width: int
    first: int
    second: int
    weight: int | None
    header: bool
    decimal: str = "."


def is_edge_list(path: Path, source: str, encoding: str | None, decimal: str = ".") -> bool:
    """Whether a text file is a list of edges rather than a square table: few columns, or a header that names ends."""
    lines = _head(path, source, encoding)
    rows = _cut(lines, _delimiter(path, lines, decimal))
    if any("{" in line for line in lines) or max(map(len, rows), default=0) <= 4:
        return True
    return bool(rows) and _names_ends([cell.strip().lower() for cell in rows[0]])


def read_edge_list(
    path: Path,
    source: str,
    *,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    weights: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> EdgeList:
    """Return the edges in a text file.

    Parameters
    ----------
    path : Path
        The file, gz-compressed if its name ends in .gz. Lines that begin with # or % are comments.
    source : str
        What errors call it.
    header : bool, optional
        Whether the first line names the columns; None finds out.
    columns : sequence of str, optional
        Names, or numbers from 1, of the columns with the two ends of each edge.
    weights : str, optional
        Name or number of the column of weights, "none" for none; by default one that is called so, or the third if it
        holds numbers and columns have no names.
    encoding : str, optional
        UTF-8 or UTF-16 with a byte order mark if it is not given.
    decimal : "." or ","
        The mark before the decimals of weights.

    Returns
    -------
    EdgeList
        Every edge of the file; none is left out but those with an empty end.
    """
    if decimal not in (".", ","):
        raise DataError(f"{source}: the mark before decimals is . or , and not '{shorten(decimal)}'.")
    sample = _head(path, source, encoding)
    if not sample:
        raise DataError(f"{source} is empty. Give an edge a line: two nodes, and a weight if there are any.")
    with_dicts = all(_WITH_DICT.match(line) for line in sample)
    notes: list[str] = []
    layout = (
        _Layout(SPACES, 3, 0, 1, 2, False)
        if with_dicts
        else _layout(path, source, sample, header, columns, weights, notes, decimal)
    )
    index: dict[str, int] = {}
    codes: list[tuple[np.ndarray, np.ndarray]] = []
    values: list[np.ndarray] = []
    empty = 0
    for number, rows in _blocks(path, source, encoding, layout, with_dicts):
        ends = [list(map(str.strip, map(itemgetter(place), rows))) for place in (layout.first, layout.second)]
        fresh = [name for name in dict.fromkeys(chain.from_iterable(zip(*ends))) if name not in index]
        spend(32 * len(rows) + sum(map(len, fresh)) + 200 * len(fresh))
        index.update(zip(fresh, range(len(index), len(index) + len(fresh))))
        both = [np.fromiter(map(index.__getitem__, end), np.int64, len(end)) for end in ends]
        weight = None if layout.weight is None else _weights(rows, layout, source, number, with_dicts)
        if "" in index:
            kept = (both[0] != index[""]) & (both[1] != index[""])
            empty += int((~kept).sum())
            both, weight = [end[kept] for end in both], None if weight is None else weight[kept]
        codes.append((both[0], both[1]))
        values += [] if weight is None else [weight]
    if empty:
        lines, were = ("1 line", "was") if empty == 1 else (f"{empty} lines", "were")
        notes.append(f"{source}: {lines} without one of the two nodes {were} left out.")
    first, second = (
        np.concatenate([pair[end] for pair in codes] or [np.zeros(0, np.int64)]) for end in (0, 1)
    )
    weight = np.concatenate(values) if values else None
    if with_dicts and weight is not None and (weight == 1.0).all():
        weight = None
    return _ordered(first, second, weight, list(index), notes)


def _ordered(
    first: np.ndarray, second: np.ndarray, weight: np.ndarray | None, names: list[str], notes: list[str]
) -> EdgeList:
    """The edges with nodes in the order of their names if these are numbers, else as they came."""
    if "" in names:
        gap = names.index("")
        names = names[:gap] + names[gap + 1 :]
        first, second = first - (first > gap), second - (second > gap)
    if any("." in name for name in names) and all(map(_WHOLE.fullmatch, names)):
        # pandas writes 7 as 7.0 where a column has an empty cell: one node all the same.
        known = {name: i for i, name in enumerate(dict.fromkeys(name.partition(".")[0] for name in names))}
        same = np.array([known[name.partition(".")[0]] for name in names], dtype=np.int64)
        names, first, second = list(known), same[first], same[second]
    if names and all(name.isascii() and name.isdigit() and len(name) < 19 for name in names):
        order = np.argsort(np.array(names, dtype=np.int64), kind="stable")
        place = np.empty(len(names), dtype=np.int64)
        place[order] = np.arange(len(names))
        names, first, second = [names[i] for i in order.tolist()], place[first], place[second]
    return EdgeList(first, second, weight, names, notes)


def _layout(
    path: Path,
    source: str,
    sample: list[str],
    header: bool | None,
    columns: Sequence[str] | None,
    weights: str | None,
    notes: list[str],
    decimal: str,
) -> _Layout:
    """What the columns are, from the first lines and from what the caller says."""
    delimiter = _delimiter(path, sample, decimal)
    rows = [[_pointed(cell, decimal) for cell in row] for row in _cut(sample, delimiter)]
    width = len(rows[-1])
    if width < 2:
        raise DataError(
            f"{source} has one column, e.g. '{shorten(rows[-1][0])}': a list of nodes, without edges. Give an edge a "
            "line: two nodes with a comma, a tab or a blank between them."
        )
    top = [cell.strip() for cell in rows[0]]
    if header is None and columns is not None and any(name in top and not name.isdigit() for name in columns):
        # Columns can be named only where the first line names them.
        header = True
    if header is None:
        header = _has_header(rows)
        lone = [cell.strip() for cell in rows[0][:2]]
        others = set(chain.from_iterable(row[:2] for row in rows[1:]))
        if not header and width == 2 and len(rows) > 2 and not others & set(lone) and not lone[0].isdigit():
            notes.append(
                f"{source}: its first line, {listing(lone)}, is taken as an edge; if it names columns, add --header."
            )
    names = [cell.strip() for cell in rows[0]] if header else []
    if columns is not None and len(columns) != 2:
        raise DataError(f"{source}: an edge has two ends, so give two columns; got {len(columns)}.")
    if columns is not None:
        first, second = (_place(name, names, width, source) for name in columns)
    else:
        first, second = _ends([name.lower() for name in names])
    place = _weight_place(weights, names, rows[int(header) :], width, (first, second), source)
    if place is not None and weights is None and not names:
        notes.append(
            f"{source}: its third column is read as weights; add --weights none if it holds something else."
        )
    if not names and width > 2 and place is None and columns is None:
        notes.append(
            f"{source}: its first two columns are read, line 1 too ({listing(top[:2])}), and the others left out; if "
            "line 1 names columns, say which two are the ends, as --columns A,B."
        )
    left = [j for j in range(len(names)) if j not in (first, second, place)]
    if left:
        numbers = [
            names[j]
            for j in left
            if all(_number(_pointed(row[j], ",")) is not None for row in rows[1:] if len(row) > j)
        ]
        hint = (
            f" If {listing(numbers)} holds weights of edges, add --weights {numbers[0]}."
            if weights is None and place is None and len(numbers) == 1 and not names_rows(numbers[0])
            else ""
        )
        said = listing([names[j] for j in left])
        notes.append(f"{source}: column{'s' * (len(left) > 1)} {said} left out.{hint}")
    return _Layout(delimiter, width, first, second, place, header, decimal)


def _ends(names: list[str]) -> tuple[int, int]:
    """Places of the columns whose names are those of the ends of an edge; the first two where there are none."""
    for one, other in zip(_FIRST, _SECOND):
        if one in names and other in names:
            return names.index(one), names.index(other)
    return 0, 1


def _weight_place(
    weights: str | None,
    names: list[str],
    rows: list[list[str]],
    width: int,
    ends: tuple[int, int],
    source: str,
) -> int | None:
    if weights is not None:
        return None if weights.lower() == "none" else _place(weights, names, width, source)
    if names:
        return next((j for j, name in enumerate(names) if name.lower() in _WEIGHT and j not in ends), None)
    if width > 2 and ends == (0, 1) and all(_number(row[2]) is not None for row in rows if len(row) > 2):
        return 2
    return None


def _place(name: str, names: list[str], width: int, source: str) -> int:
    """The place of a column by its name, or by its number from 1."""
    if name in names:
        return names.index(name)
    if name.isdigit() and 1 <= int(name) <= width:
        return int(name) - 1
    raise DataError(
        f"{source} has no column '{shorten(name)}'. It has {listing(names) if names else f'columns 1 to {width}'}."
    )


def _has_header(rows: list[list[str]]) -> bool:
    """Whether the first row names columns: in known words, or in text above columns of numbers."""
    top = [cell.strip().lower() for cell in rows[0]]
    if _names_ends(top):
        return True
    if len(rows) < 2:
        return False
    below = rows[1:]
    for j, cell in enumerate(top[:3]):
        if _number(cell) is None and all(len(row) > j and _number(row[j]) is not None for row in below):
            return True
    return False


def _names_ends(names: list[str]) -> bool:
    """Whether names of columns, in lower case, are those of the ends of edges; single letters may be nodes."""
    return any(one in names and other in names for one, other in zip(_FIRST, _SECOND) if len(one) > 1)


def _pointed(cell: str, decimal: str) -> str:
    """A number with a point before its decimals; any other text as it is."""
    return with_point(cell) if decimal == "," else cell


def _number(cell: str) -> float | None:
    text = cell.strip()
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return None


def _weights(
    rows: list[list[str]], layout: _Layout, source: str, number: int, with_dicts: bool
) -> np.ndarray:
    """Weights of some rows, NaN where they are missing; `number` is the line of the first."""
    assert layout.weight is not None
    cells = list(map(itemgetter(layout.weight), rows))
    if layout.decimal == ",":
        cells = [_pointed(cell, ",") for cell in cells]
        for line, cell in enumerate(cells, start=number):
            if isinstance(cell, Number) and cell.doubtful:
                raise DataError(f"{source} holds the weight {told_point(cell)} (near line {line}). {REMEDY}")
    try:
        return np.fromiter(map(float, cells), float, len(cells))
    except ValueError:
        values = [1.0 if with_dicts and not cell else _number(cell) for cell in cells]
    if None in values:
        wrong = values.index(None)
        way = (
            "Add --decimal , for numbers with commas"
            if _WITH_COMMA.match(cells[wrong])
            else "Give numbers, or add --weights none to read the edges without"
        )
        raise DataError(
            f"{source}: '{shorten(cells[wrong])}' is no weight of an edge (near line {number + wrong}). {way}."
        )
    return np.array(values, dtype=float)


def _blocks(
    path: Path, source: str, encoding: str | None, layout: _Layout, with_dicts: bool
) -> Iterator[tuple[int, list[list[str]]]]:
    """The cells of many lines at a time, and the number of the first line."""
    above, awaits_header = 0, layout.header
    with open_text(path, source, encoding) as stream:
        rest = ""
        while True:
            text = _read(stream, source)
            whole, _, rest = (rest + text).rpartition("\n") if text else (rest, "", "")
            if len(rest) > _BLOCK:
                raise DataError(
                    f"{source}: line {above + 1} has more than {_BLOCK:,} characters; it is no edge."
                )
            lines, skipped = whole.split("\n"), 0
            if with_dicts:
                found = _WITH_DICT.findall(whole)
                if len(found) < sum(1 for line in lines if line.strip() and line.lstrip()[0] not in "#%"):
                    wrong = next(
                        l
                        for l in lines
                        if l.strip() and not _WITH_DICT.match(l) and l.lstrip()[0] not in "#%"
                    )
                    raise DataError(
                        f"{source}: '{shorten(wrong)}' is not two nodes and a dict, as the lines above it are."
                    )
                rows = [list(one) for one in found]
            else:
                rows = _cut(
                    [line for line in lines if line.strip() and line.lstrip()[0] not in "#%"],
                    layout.delimiter,
                )
                if awaits_header and rows:
                    rows, awaits_header, skipped = rows[1:], False, 1
                _require_width(rows, layout.width, source)
            if rows:
                yield above + skipped + 1, rows
            above += len(lines)
            if not text:
                return


def _require_width(rows: list[list[str]], width: int, source: str) -> None:
    if set(map(len, rows)) <= {width}:
        return
    wrong = next(row for row in rows if len(row) != width)
    cells = f"{len(wrong)} cell{'s' * (len(wrong) != 1)}"
    raise DataError(
        f"{source}: the line '{shorten(' '.join(wrong))}' has {cells} where others have {width}. Give every edge "
        "as many cells, and quote names with the delimiter in them."
    )


def _read(stream: IO[str], source: str) -> str:
    try:
        return stream.read(_BLOCK).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise not_utf8(source, error) from error
    except (EOFError, zlib.error, OSError) as error:
        raise broken_gzip(source, error) from error


def _head(path: Path, source: str, encoding: str | None) -> list[str]:
    """The first lines that are neither blank nor comments."""
    with open_text(path, source, encoding) as stream:
        text = _read(stream, source)
    lines = text.replace("\r", "\n").split("\n", 50 * _SAMPLE)[: 50 * _SAMPLE]
    return [line for line in lines if line.strip() and line.lstrip()[0] not in "#%"][:_SAMPLE]


def _delimiter(path: Path, lines: list[str], decimal: str = ".") -> str:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".tsv"):
        return "\t"
    if decimal == ",":
        return sniff_delimiter(lines[:50], ";\t|" + SPACES)
    # Commas may stand before decimals; semicolons in every line, header included, stand between cells.
    semicolons = {line.count(";") for line in lines[:50]}
    if len(semicolons) == 1 and semicolons != {0}:
        return ";"
    return sniff_delimiter(lines[:50], ",;\t|" + SPACES if name.endswith(".csv") else "\t,;|" + SPACES)


def _cut(lines: list[str], delimiter: str) -> list[list[str]]:
    if any('"' in line for line in lines):
        mark = " " if delimiter == SPACES else delimiter
        try:
            return list(csv.reader(map(str.strip, lines), delimiter=mark, skipinitialspace=True))
        except csv.Error:
            pass
    if delimiter == SPACES:
        return [line.split() for line in lines]
    return [line.split(delimiter) for line in lines]
