"""Coding: how the cells of one table were read, so that further tables are read in the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partwise.io.answer_cells import Meaning
from partwise.io.answer_words import PAIRS, TICKS, is_number
from partwise.io.errors import DataError

#: Options of `read` that a coding keeps, with what they are called on the command line.
OPTIONS = {
    "key": "--key",
    "encoding": "--encoding",
    "decimal": "--decimal",
    "id": "--id",
    "drop": "--drop",
    "column": "--columns",
    "transpose": "--transpose",
    "header": "--header",
}


@dataclass(frozen=True)
class Coding:
    """What the cells of each column of a table mean, and the options with which it was read.

    Parameters
    ----------
    columns : tuple of str or None
        The names of the columns, None where the table had none.
    meanings : tuple
        For each column what its cells mean: a dict, cell without case and accents → "1" (yes), "0" (no) or ""
        (missing); None where cells are numbers and nothing else. One entry alone is that of every column. Empty where
        it is not known, so that the columns are judged anew.
    options : dict
        Those of `partwise.io.read` that another table like this one needs: "key", "encoding", "decimal", "id",
        "drop" (a list), "transpose" and "header"; "column", of texts.
    """

    columns: tuple[str, ...] | None = None
    meanings: tuple[Meaning | None, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any) -> Coding | None:
        """The coding that a model file keeps of the data of the fit.

        Parameters
        ----------
        model : estimator
            As `partwise.load` returns it; of a pipeline, its first step counts.

        Returns
        -------
        Coding or None
            None where the model was not fitted by the command line to a file.
        """
        first = model.steps[0][1] if hasattr(model, "steps") else model
        kept = getattr(first, "reading_", None)
        if kept is None:
            return None
        names = getattr(first, "feature_names_in_", None)
        columns = None if names is None else tuple(str(name) for name in names)
        known = [dict(meaning) or None for meaning in kept["meanings"]]
        which = kept.get("meaning_of")
        meanings = tuple(known) if which is None else tuple(known[i] for i in which.tolist())
        return cls(columns, meanings, dict(kept["options"]))

    def kept(self) -> dict[str, Any]:
        """The same as an attribute ``reading_`` of a model, of plain values.

        Returns
        -------
        dict
            "options"; "meanings", each once; and "meaning_of", for each column which of them, unless all have one.
        """
        known: dict[tuple[Any, ...], int] = {}
        which = [known.setdefault(tuple((meaning or {}).items()), len(known)) for meaning in self.meanings]
        found: dict[str, Any] = {"options": dict(self.options), "meanings": [dict(items) for items in known]}
        if len(known) > 1:
            found["meaning_of"] = np.array(which, dtype=np.int64)
        return found

    @property
    def answers(self) -> bool:
        """Whether some column holds yes and no."""
        return any(is_answer(meaning) for meaning in self.meanings)

    def by_column(self) -> dict[str, Meaning | None]:
        """The meanings by the names of the columns.

        Returns
        -------
        dict
            Empty where columns have no names.
        """
        if self.columns is None:
            return {}
        return dict(zip(self.columns, spread(self.meanings or (None,), len(self.columns))))

    def without(self, place: int) -> Coding:
        """The coding of the table without one column.

        Parameters
        ----------
        place : int
            Which one, counted from 0.

        Returns
        -------
        Coding
            Of the others.
        """

        def left(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return values[:place] + values[place + 1 :]

        columns = None if self.columns is None else left(self.columns)
        meanings = left(self.meanings) if len(self.meanings) > 1 else self.meanings
        return replace(self, columns=columns, meanings=meanings)

    def in_order(self, order: Sequence[int]) -> Coding:
        """The coding of the table with its columns in another order.

        Parameters
        ----------
        order : sequence of int
            The columns of the new table, by their places in the old one.

        Returns
        -------
        Coding
            Of the new table.
        """

        def put(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(values[place] for place in order)

        columns = None if self.columns is None else put(self.columns)
        meanings = put(self.meanings) if len(self.meanings) > 1 else self.meanings
        return replace(self, columns=columns, meanings=meanings)

    def merged(self) -> Coding:
        """The coding of the transposed table: one meaning for every cell.

        Returns
        -------
        Coding
            Without names of columns.
        """
        every: Meaning = {}
        for meaning in self.meanings:
            for word, side in (meaning or {}).items():
                if every.setdefault(word, side) != side:
                    raise DataError(
                        f"'{word or 'an empty cell'}' has two meanings in the columns of the file, so that it cannot "
                        "be transposed. Say what it means: --yes, --no or --missing (in Python: yes=, no=, missing=)."
                    )
        return replace(self, columns=None, meanings=(every or None,))

    def described(self, *, names: bool = True) -> str:
        """What differs from reading plain numbers, as a clause; "" where nothing does.

        Parameters
        ----------
        names : bool
            Whether to tell which column names the rows.

        Returns
        -------
        str
            As "yes is 'ja', no is 'nein', 99 is missing; --encoding latin-1".
        """
        said = []
        distinct = {tuple(meaning.items()): meaning for meaning in self.meanings if meaning}
        answers = [meaning for meaning in distinct.values() if is_answer(meaning) and not is_plain(meaning)]
        for side, word in (("1", "yes"), ("0", "no")):
            firsts = [next((key for key in meaning if meaning[key] == side), None) for meaning in answers]
            shown = list(dict.fromkeys(_spelt(key) for key in firsts if key is not None))
            if shown:
                said.append(f"{word} is {' or '.join(shown[:4])}{', …' if len(shown) > 4 else ''}")
        gone = {key for meaning in distinct.values() for key, side in meaning.items() if side == "" and key}
        if gone:
            shown = [_spelt(key) for key in sorted(gone)]
            said.append(f"{' and '.join(shown)} {'is' if len(gone) == 1 else 'are'} missing")
        kept = {
            name: value for name, value in self.options.items() if name in OPTIONS and (names or name != "id")
        }
        options = [
            as_option(OPTIONS[name], one)
            for name, value in kept.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        return "; ".join(part for part in (", ".join(said), " ".join(options)) if part)


def as_option(option: str, value: Any) -> str:
    """An option as it is typed: ``--transpose``, ``--no-header`` or ``--decimal ,``."""
    if isinstance(value, bool):
        return option if value else f"--no-{option.removeprefix('--')}"
    return f"{option} {value}"


def _spelt(key: str) -> str:
    return "an empty cell" if not key else key if is_number(key) else f"'{key}'"


def is_answer(meaning: Meaning | None) -> bool:
    """Whether a column of this meaning holds yes and no; others may still have cells that are missing."""
    return meaning is not None and any(meaning.values())


def is_plain(meaning: Meaning | None) -> bool:
    """Whether cells are the numbers that they stand for, but for those that are missing."""
    return all(word == side for word, side in (meaning or {}).items() if side)


def spread(meanings: Sequence[Meaning | None], width: int) -> list[Meaning | None]:
    """A meaning for each column, also where one is that of all."""
    return list(meanings) * width if len(meanings) == 1 else list(meanings)


def vocabulary(meaning: Meaning, given: Mapping[str, str]) -> Meaning:
    """The meaning of a column with further words that it may have in another table.

    Parameters
    ----------
    meaning : dict
        Of the cells that occur.
    given : mapping
        Cells whose meaning the caller named.

    Returns
    -------
    dict
        Those that occur come first; then other words of their pair, or other ticks.
    """
    words = {word for word, side in meaning.items() if word and side and not is_number(word)}
    more: Meaning = dict(given)
    if words <= TICKS and (words or meaning.get("") == "0"):
        more |= dict.fromkeys(sorted(TICKS), "1")
    for yes, no in PAIRS:
        if (
            words
            and words <= yes | no
            and all(meaning[word] == ("1" if word in yes else "0") for word in words)
        ):
            for pair, side in ((yes, "1"), (no, "0")):
                for word in sorted(pair, key=len, reverse=True):
                    more.setdefault(word, side)
    return meaning | {word: side for word, side in more.items() if word not in meaning}
