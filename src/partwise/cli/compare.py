"""partwise compare: NMF beside SVD, PCA, vector quantization and LDA on one table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.common import emit, make_folder, say
from partwise.cli.options import DataFile, Json, Labels, Output, Quiet, reads_data

if TYPE_CHECKING:
    from partwise.cli.pipeline import Samples
    from partwise.comparison import Comparison

Option = typer.Option


@reads_data
def compare(
    data: DataFile,
    components: Annotated[int, Option("-k", "--components", min=1, help="Number of basis vectors of each.")],
    labels: Labels = None,
    methods: Annotated[
        str | None,
        Option(
            help="Names with commas between them: nmf, nmf-kl, semi, svd (UΣ·Vᵀ), svd-u (U·ΣVᵀ), pca, vq, lda; "
            "nmf, svd, svd-u, pca, vq if not given, and lda with --text.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[int, Option(min=1, help="Random starts of each method that has them.")] = 5,
    text: Annotated[
        bool,
        Option(
            "--text", help="Columns are words and entries their counts: tf-idf for all but LDA; coherence."
        ),
    ] = False,
    tfidf: Annotated[bool, Option(help="With --text: weight the counts for all but LDA.")] = True,
    shape: Annotated[
        str | None, Option(help="Rows are pictures of this size, as 28x28: draws them.", show_default=False)
    ] = None,
    example: Annotated[int, Option(min=0, help="With --shape: the row whose code is drawn.")] = 0,
    output: Output = Path("partwise-compare"),
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> int:
    """Compare factorizations of DATA at one rank. Writes compare.csv, compare.png and summary.json into a folder.

    Ctrl-C stops early: the methods that were done are written.
    """
    import partwise
    from partwise.cli.classify import labelled, picture_size
    from partwise.cli.columns import without_blank
    from partwise.cli.paging import page_files
    from partwise.cli.pipeline import about, drawn, noted
    from partwise.core import open_session
    from partwise.reporting.provenance import data_hash, versions
    from partwise.reporting.source import Source

    size = picture_size(shape, False)
    samples = labelled(data, labels, reading, dense=False)
    if size is None:
        samples = without_blank(samples)
    check_picture(samples, size, example)
    folder = make_folder(output)
    with noted(), about(samples.source), open_session() as session:
        found = partwise.compare(
            samples.X,
            components,
            samples.y,
            methods=methods,
            seeds=seeds,
            text=text,
            tfidf=tfidf,
            feature_names=samples.columns,
            verbose=0 if quiet else 1,
        )
        session.kept = True
        picture = partial(draw, found, samples.X, size, example)
        pictures = drawn([("compare.png", picture)], session)
        summary = {
            "data": samples.source,
            **found.summary(),
            "top_features": listed(found),
            "versions": versions(),
            "data_hash": data_hash(samples.X),
            "files": {name: str(folder / name) for name in ("compare.csv", *pictures, "summary.json")},
        }
        if size is not None:
            summary["meta"] = {"image_shape": list(size)}
        pages = page_files(lambda: Source(None, summary), pictures, session)
    for note in found.notes:
        say(f"Note: {note}")
    summary["interrupted"] = session.interrupted
    summary["files"] |= {name: str(folder / name) for name in pages}
    write(folder, found, summary, pictures | pages)
    where = f"Results in {folder}/: {', '.join(summary['files'])}"
    emit(summary, as_json, [*lines_of(found, samples.source), where])
    return 130 if session.interrupted else 0


def check_picture(samples: Samples, size: tuple[int, int] | None, example: int) -> None:
    """Before the work rather than after it."""
    n, m = samples.X.shape
    if size is not None and size[0] * size[1] != m:
        raise ValueError(
            f"--shape {size[0]}x{size[1]} has {size[0] * size[1]} pixels, but {samples.source} has {m} columns."
        )
    if example >= n:
        raise ValueError(f"--example {example} is no row of {samples.source}, whose last is {n - 1}.")


def draw(found: Comparison, X: Any, size: tuple[int, int] | None, example: int, path: Path) -> None:
    """The picture."""
    from partwise.plot import comparison, save_figure

    save_figure(comparison(found, X, shape=size, example=example), path)


def lines_of(found: Comparison, source: str) -> list[str]:
    """The table for a person, as wide as it needs to be."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table

    from partwise.comparison import MEASURES

    n, m = found.shape
    starts = f"{len(found.seeds)} random starts" if len(found.seeds) > 1 else "one random start"
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    data = any(row["fitted_to"] != "data" for row in found.rows)
    table.add_column("method", no_wrap=True, vertical="bottom")
    if data:
        table.add_column("fitted\nto", no_wrap=True)
    for name in found.measures:
        table.add_column(MEASURES[name].heading, justify="right", no_wrap=True)
    for row in found.rows:
        cells = [row["title"], *([row["fitted_to"]] if data else [])]
        cells += [number(row[name], MEASURES[name].digits) for name in found.measures]
        table.add_row(*cells)
    page = StringIO()
    Console(file=page, width=400, color_system=None).print(table)
    meanings = [f"  {name.replace('_', ' ')}: {MEASURES[name].meaning}" for name in found.measures]
    if data:
        meanings.insert(
            0, "  fitted to: what the relative error is against; compare it within one such matrix only"
        )
    lines = [line.rstrip() for line in page.getvalue().splitlines()]
    vectors = f"{found.n_components} basis vector{'s' if found.n_components > 1 else ''} each"
    return [f"{source}: {n} × {m}, {vectors}, {starts}", *lines, *meanings]


def number(value: float, digits: int) -> str:
    """A cell; a dash where a measure does not apply."""
    return f"{value:.{digits}f}" if value == value else "–"


def listed(found: Comparison, n: int = 10) -> dict[str, Any]:
    """The leading features of each basis vector of each method, with their signed weights."""
    return {
        name: [
            [{"name": word, "weight": weight} for word, weight in part]
            for part in found.top_features(name, n)
        ]
        for name in found.factors
    }


def write(folder: Path, found: Comparison, summary: dict[str, Any], pictures: dict[str, bytes]) -> None:
    """All files, whenever Ctrl-C comes."""
    import numpy as np

    from partwise.cli.pipeline import files_before
    from partwise.interrupts import uninterrupted
    from partwise.io import write_csv, write_json
    from partwise.io.atomic import write_bytes_atomic

    columns, body = [], []
    for name in found.measures:
        columns += [name, f"{name}_sd"]
        body += [
            [row[name] for row in found.rows],
            [found.spread(row["method"], name) if row[name] == row[name] else np.nan for row in found.rows],
        ]
    before = files_before(folder)
    with uninterrupted():
        rows = [row["method"] for row in found.rows]
        write_csv(folder / "compare.csv", np.array(body, dtype=float).T, rows, columns, corner="method")
        write_json(folder / "summary.json", summary)
        for name, picture in pictures.items():
            write_bytes_atomic(folder / name, picture)
        for name in before - set(summary["files"]):
            (folder / name).unlink(missing_ok=True)
