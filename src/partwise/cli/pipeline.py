"""What every verb that fits does: fit, print notes, write the files, print the summary, return an exit code.

A verb hands over a model and samples, and, if it has more to do after the fit, a function that returns `Extras`.
"""

from __future__ import annotations

import inspect
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from partwise.cli.columns import say_repeated
from partwise.cli.common import emit, make_folder, names_or_numbers, say
from partwise.cli.describe import lines_of_fit
from partwise.cli.paging import page_files, source_of
from partwise.interrupts import uninterrupted

if TYPE_CHECKING:
    from partwise.core import Session


#: Files that hold tables, also for a model that was fitted to pictures, unless they are stacks of them.
TABLES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".h5ad", ".xlsx", ".sav", ".mtx")
#: How warnings of scikit-learn begin, and what is said instead; "" is nothing.
OTHER_WORDS = {
    # Rows reach models as arrays; their columns were matched by name before.
    "X does not have valid feature names": "",
    "The number of unique classes is greater than 50%": (
        "there are more than half as many different labels as rows, so that a class has less than two rows on "
        "average. Do they name classes, or are they numbers to be predicted, which no classifier does?"
    ),
}
#: The name of each file, and the function that draws it.
Pictures = Sequence[tuple[str, Callable[[Path], None]]]


@dataclass(frozen=True)
class Samples:
    """Rows to learn from: X, names of rows and (where there are any) of columns, the file, labels, and the shape of a
    row where rows are pictures, with `white`, what those without a known white were divided by. `more` are further
    arguments of the model's fit, `coding` says how the file was read, `named` whether the names of the rows are those
    of the file.
    """

    X: Any
    rows: list[str]
    columns: list[str] | None
    source: str
    y: Any = None
    shape: tuple[int, ...] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    coding: Any = None
    named: bool = True
    white: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def read(cls, data: Path, model: Any, reading: dict[str, Any]) -> Samples:
        """What a file or folder holds, as the model reads it: a table (yes and no in words), texts, or pictures.

        Where the model is one of a file, as its data were read then, unless `reading` says otherwise.
        """
        from partwise.io import Coding, read

        coding = Coding.of(model)
        if reads_text(model):
            from partwise.cli.texts import text_samples

            return text_samples(data, reading, coding=coding)
        require_table(data)
        first = model.steps[0][1] if hasattr(model, "steps") else model
        shape = getattr(first, "picture_shape_", None)
        if shape is not None and (Path(data).is_dir() or Path(data).suffix.lower() not in TABLES):
            from partwise.domains import read_pictures

            size = (shape[0], shape[1])
            key = reading.get("key") or (coding.options.get("key") if coding else None)
            white = tuple(getattr(first, "picture_white_", None) or (0.0, 0.0))
            found = read_pictures(data, size=size, colour=len(shape) > 2, key=key, white=white)
            return cls.of_pictures(found)
        if coding is not None:
            say_coding(str(data), coding, reading)
        elif hasattr(first, "feature_names_in_"):
            coding = Coding(tuple(str(name) for name in first.feature_names_in_))
        how = {"yes_no": getattr(first, "yes_no", "answers"), **reading}
        table = read(data, coding=coding, **how)
        if coding is not None and coding.options.get("transpose") and "transpose" not in reading:
            table = right_way_round(data, table, coding, how)
        return cls.of(table)

    @classmethod
    def of(cls, table: Any) -> Samples:
        """Of a table that `partwise.io.read` read; what the reader noted is said."""
        for note in table.notes:
            say(f"Note: {note}")
        rows = names_or_numbers(table.row_names, table.shape[0], "row")
        named = table.row_names is not None
        return cls(table.data, rows, table.column_names, str(table.source), coding=table.coding, named=named)

    @classmethod
    def of_pictures(cls, pictures: Any, y: Any = None) -> Samples:
        """Of pictures that `partwise.domains.read_pictures` read; what it noted is said."""
        for note in pictures.notes:
            say(f"Note: {note}")
        return cls(
            pictures.data, pictures.names, None, pictures.source, y, pictures.shape, white=pictures.white
        )


def right_way_round(data: Path, table: Any, coding: Any, how: dict[str, Any]) -> Any:
    """The table of a file by which a transposed fit is applied; read the other way where the names are those of rows.

    The file of the fit was transposed; another one need not be, and an .h5ad is obs × var in any case.
    """
    from partwise.io import read

    wanted = set(coding.columns or ())
    if not wanted or wanted <= set(table.column_names or ()) or not wanted <= set(table.row_names or ()):
        return table
    if not table.coding.options.get("transpose"):
        return read(data, coding=coding, **how, transpose=True)
    options = {name: value for name, value in coding.options.items() if name != "transpose"}
    say(f"Note: {data}: not transposed as the data of the fit were: its columns have the names of the fit.")
    return read(data, coding=replace(coding, options=options), **how)


def say_coding(source: str, coding: Any, reading: dict[str, Any]) -> None:
    """Say that a file is read as that of the fit was, if that is not plain numbers, and what was given besides."""
    from partwise.io.coding import as_option
    from partwise.io.reading import applicable

    name = f".{reading['format'].lstrip('.').lower()}" if reading.get("format") else source
    described = replace(coding, options=applicable(coding.options, name)).described(names=False)
    besides = [
        as_option(f"--{name}", one)
        for name, value in reading.items()
        for one in (value if isinstance(value, list) else [value])
    ]
    but = f", but for what is given now: {' '.join(besides)}" if besides else ""
    if described:
        say(f"Note: {source}: read as the data of the fit were: {described}{but}.")


def require_table(data: Path) -> None:
    """Refuse a recording, which only `separate` reads."""
    from partwise.domains.audio import SUFFIXES

    if Path(data).suffix.lower() in SUFFIXES:
        raise ValueError(
            f"{data} is a recording, and this verb reads tables. A model of `partwise separate` takes it apart: "
            f"partwise separate {data} --model MODEL."
        )


def reads_text(model: Any) -> bool:
    """Whether samples are strings, as scikit-learn's tags say of the model or of its first step."""
    from sklearn.utils import get_tags

    first = model.steps[0][1] if hasattr(model, "steps") else model
    taken = get_tags(first).input_tags
    return bool(taken.string and not taken.two_d_array)


class Csv(NamedTuple):
    """A table to write."""

    name: str
    array: Any
    rows: Sequence[str]
    columns: Sequence[str]
    corner: str = "row"


@dataclass(frozen=True)
class Extras:
    """What a verb adds to the results of a fit.

    Attributes
    ----------
    summary : dict
        Further entries of the summary. "meta" says of what kind the data are: {"image_shape": [28, 28]}.
    parts : sequence of dict
        Further entries for each part of the summary.
    tables : list of Csv, optional
        Instead of the model's own two.
    pictures : list of (name, function of a path)
    files : list of (name, function of a path)
        Further files, written by these functions with the tables.
    lines : list of str
        For a person.
    kept : dict
        Further entries of report.json: what the page needs besides.
    usage : array of shape (n_samples, n_parts), optional
        What the page shows in place of W: the shares in a table of the folder, which "meta" names as "shares".
    labels : array of shape (n_samples,), optional
        Known groups of the samples that the model did not see, for the page.
    """

    summary: dict[str, Any] = field(default_factory=dict)
    parts: Sequence[dict[str, Any]] = ()
    tables: list[Csv] | None = None
    pictures: Pictures = ()
    files: Pictures = ()
    lines: list[str] = field(default_factory=list)
    kept: dict[str, Any] = field(default_factory=dict)
    usage: Any = None
    labels: Any = None


@dataclass
class Fitted:
    """A fitted model with what it was fitted to; `given` is W if the fit itself returned it."""

    model: Any
    samples: Samples
    given: Any
    seconds: float
    session: Session

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, so that nothing that takes long should follow."""
        return self.session.interrupted

    @cached_property
    def outputs(self) -> tuple[Any, list[str]]:
        """W (or class probabilities) of the samples, and the names of its columns."""
        if self.given is None:
            return outputs(self.model, self.samples.X)
        from partwise.models.summary import part_names

        return self.given, part_names(self.model)

    @cached_property
    def usage(self) -> Any:
        """How much of each part is in each sample, also where a classifier follows; None where no step has parts."""
        from partwise.reporting.source import transformed

        if not hasattr(self.model, "transform"):
            return transformed(self.model, self.samples.X)
        W = self.outputs[0]
        # Of a recording with several channels, how loud its parts are in the mean of them.
        return W.mean(axis=2) if getattr(W, "ndim", 2) == 3 else W


def run(
    model: Any,
    samples: Samples,
    output: Path,
    *,
    as_json: bool,
    checkpoint: Path | None = None,
    after: Callable[[Fitted], Extras] | None = None,
) -> int:
    """Fit and write everything; the exit code is 130 where Ctrl-C ended the fit early.

    One session is around the steps of a pipeline and what follows the fit: after Ctrl-C in one of them the others do
    only what the results cannot do without.
    """
    from partwise.core import open_session

    say_repeated(samples)
    folder = make_folder(output)
    with noted(), about(samples.source), open_session() as session:
        fitted = fit(model, samples, checkpoint, session)
        extras, tables = session.completed(lambda: results(fitted, after))
        prepare_to_keep(model, samples)
        pictures = drawn(extras.pictures, session)
        summary = session.completed(lambda: summarised(fitted, extras))
        names = [*(table.name for table in tables), *(name for name, _ in extras.files), *pictures]
        summary["files"] = {name: str(folder / name) for name in (*names, "model.partwise", "summary.json")}
        reports = page_files(lambda: source_of(fitted, summary, extras), pictures, session)
    summary["interrupted"] = fitted.interrupted
    summary["files"] |= {name: str(folder / name) for name in reports}
    write(folder, model, summary, tables, pictures | reports, extras.files)
    where = f"Results in {folder}/: {', '.join(listed(summary['files']))}"
    emit(summary, as_json, [*lines_of_fit(summary, extras.lines), where])
    return 130 if fitted.interrupted else 0


def summarised(fitted: Fitted, extras: Extras) -> dict[str, Any]:
    """What summary.json holds, but for the names of the files."""
    from partwise.models.summary import summary_of
    from partwise.reporting.provenance import provenance

    samples = fitted.samples
    layer = {}
    if samples.source.lower().endswith(".h5ad") and samples.coding is not None:
        layer["layer"] = samples.coding.options.get("key") or "X"
    summary = {
        "data": samples.source,
        **layer,
        **summary_of(fitted.model),
        "n_samples": len(fitted.samples.rows),
        **provenance(fitted.model, fitted.samples.X),
        **extras.summary,
        "seconds": fitted.seconds,
        "interrupted": fitted.interrupted,
    }
    for part, more in zip(summary["parts"], extras.parts):
        part.update(more)
    return summary


def fit(model: Any, samples: Samples, checkpoint: Path | None, session: Session) -> Fitted:
    """Fit the model."""
    more = samples.more | ({} if checkpoint is None else {"checkpoint": checkpoint})
    labels = () if samples.y is None else (samples.y,)
    direct = hasattr(model, "fit_transform") and all(takes(model.fit_transform, name) for name in more)
    W = None
    begin = perf_counter()
    if direct:
        W = model.fit_transform(samples.X, *labels, **more)
    else:
        model.fit(samples.X, *labels, **more)
    return Fitted(model, samples, W, perf_counter() - begin, session)


def results(fitted: Fitted, after: Callable[[Fitted], Extras] | None) -> tuple[Extras, list[Csv]]:
    """What the verb adds to the fit, and the tables to write."""
    extras = Extras() if after is None else after(fitted)
    return extras, result_tables(fitted) if extras.tables is None else extras.tables


def takes(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of this name."""
    return name in inspect.signature(function).parameters


def outputs(model: Any, X: Any) -> tuple[Any, list[str]]:
    """What a model makes of rows, with names: W; for one that ends in a classifier, class probabilities."""
    from partwise.models.summary import part_names

    if hasattr(model, "transform"):
        return model.transform(X), part_names(model)
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X), [str(name) for name in model.classes_]
    raise ValueError(f"a {type(model).__name__} has neither transform nor predict_proba.")


def result_tables(fitted: Fitted) -> list[Csv]:
    """The two files of every model: what it makes of the rows, and its parts."""
    from partwise.models.summary import feature_names_of, part_names, parts_of

    model, samples = fitted.model, fitted.samples
    by_row, by_part = getattr(model, "result_files", ("W.csv", "H.csv"))
    made, names = fitted.outputs
    tables = [Csv(by_row, made, samples.rows, names)]
    parts = parts_of(model)
    if parts is not None:
        columns = feature_names_of(model, samples.columns)
        tables.append(
            Csv(by_part, parts, part_names(model), columns, corner=getattr(model, "part_word", "part"))
        )
    return tables


def prepare_to_keep(model: Any, samples: Samples) -> None:
    """A model in a file knows the names of its columns or the shape of its pictures, and draws no bars again."""
    import numpy as np

    steps = [step for _, step in getattr(model, "steps", [("", model)])]
    for step in steps:
        if "verbose" in step.get_params(deep=False):
            step.set_params(verbose=0)
    if samples.columns is not None:
        # A table read from a file reaches the model as an array, so that it saw no names.
        steps[0].feature_names_in_ = np.array(samples.columns, dtype=object)
    if samples.shape is not None:
        steps[0].picture_shape_ = [int(side) for side in samples.shape]
    if any(samples.white):
        steps[0].picture_white_ = [float(white) for white in samples.white]
    if samples.coding is not None:
        steps[0].reading_ = samples.coding.kept()


def drawn(pictures: Pictures, session: Session) -> dict[str, bytes]:
    """The files of the pictures; without matplotlib, without room for them and after Ctrl-C none, and a note of it.

    They take seconds to draw, so they are drawn before the files are written, for during that Ctrl-C is held back.
    """
    from partwise.io.errors import DataError
    from partwise.plot import require_matplotlib

    found: dict[str, bytes] = {}
    why = "The fit was interrupted."
    try:
        with session.interruptible(), tempfile.TemporaryDirectory() as folder:
            if pictures and not session.interrupted:
                require_matplotlib()
                for name, draw in pictures:
                    (Path(folder) / name).parent.mkdir(exist_ok=True)
                    draw(Path(folder) / name)
                    found[name] = (Path(folder) / name).read_bytes()
    except ImportError as error:
        why = str(error)
    except (OSError, DataError) as error:
        trouble = error.__cause__ if isinstance(error, DataError) else error
        if not isinstance(trouble, OSError):
            raise
        # No room for temporary files costs the pictures, not what was fitted.
        why = f"The folder for temporary files cannot be written to: {trouble.strerror or trouble}."
    if len(found) < len(pictures):
        say(f"Note: {' and '.join(listed([name for name, _ in pictures]))} not drawn. {why}")
        return {}
    return found


def write(
    folder: Path,
    model: Any,
    summary: dict[str, Any],
    tables: Sequence[Csv],
    pictures: dict[str, bytes],
    files: Pictures = (),
) -> None:
    """All files, whenever Ctrl-C comes."""
    from partwise import save
    from partwise.io import write_csv, write_json
    from partwise.io.atomic import write_bytes_atomic

    before = files_before(folder)
    with uninterrupted():
        # These may be refused, so they come first: nothing of this fit then stands beside the model of another.
        for name, write_file in files:
            write_file(folder / name)
        for table in tables:
            write_csv(folder / table.name, table.array, table.rows, table.columns, corner=table.corner)
        save(model, folder / "model.partwise")
        write_json(folder / "summary.json", summary)
        for name, picture in pictures.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_bytes_atomic(folder / name, picture)
        for name in before - set(summary["files"]):
            (folder / name).unlink(missing_ok=True)


def files_before(folder: Path) -> set[str]:
    """What an earlier run wrote into this folder, by its summary: beside new results it would belong to nothing."""
    import json

    try:
        found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))["files"]
        inside = {str(name) for name in found if (folder / name).resolve().is_relative_to(folder.resolve())}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {name for name in inside if (folder / name).is_file()}


def listed(names: Iterable[str]) -> list[str]:
    """Names of files; of several in a folder, the folder."""
    return list(dict.fromkeys(f"{name.split('/')[0]}/" if "/" in name else name for name in names))


@contextmanager
def noted() -> Iterator[None]:
    """Warnings as notes on stderr, each once."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(warning.message) for warning in said):
        begin = next((begin for begin in OTHER_WORDS if message.startswith(begin)), None)
        message = message if begin is None else OTHER_WORDS[begin]
        if message:
            say(f"Note: {message}")


@contextmanager
def about(source: str) -> Iterator[None]:
    """Put the file's name before errors: the estimator names X, the user gave a file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
