"""partwise bench: the race."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from partwise.cli.common import emit
from partwise.cli.options import Folder, Json


def bench(
    cases: Annotated[
        list[str] | None, typer.Argument(help="Cases; all that can be run if none is given.")
    ] = None,
    output: Folder = Path("partwise-bench-results"),
    seeds: Annotated[int, typer.Option(help="Starts for each case.")] = 5,
    seconds: Annotated[
        float, typer.Option("--horizon", "--seconds", help="How many seconds each peer runs.")
    ] = 60.0,
    peer: Annotated[list[str] | None, typer.Option(help="Race only this peer; may be repeated.")] = None,
    tiles: Annotated[
        bool, typer.Option("--tiles", help="Race Boolean factorization instead; CASES are tables.")
    ] = False,
    structure: Annotated[
        bool,
        typer.Option(
            "--structure",
            help="Cost of models with a graph, labels, layers; CASES: dense, sparse. With --peer karateclub or "
            "ssnmf: theirs beside ours; CASES: football, Cora, ORL.",
        ),
    ] = False,
    sampling: Annotated[
        bool,
        typer.Option(
            "--sampling", help="Cost of a step of the posterior samplers; CASES: 512, 2000, sparse."
        ),
    ] = False,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Whole default fits instead, ours and scikit-learn's.")
    ] = False,
    double: Annotated[
        bool, typer.Option("--double", help="With --defaults: data in float64 instead of float32.")
    ] = False,
    missing: Annotated[
        str | None,
        typer.Option(metavar="SHARES", help="Cost of missing entries instead, for shares as 0.01,0.3,0.9."),
    ] = None,
    transform: Annotated[
        bool, typer.Option("--transform", help="transform of 1, 100 and 100,000 rows instead.")
    ] = False,
    roofline: Annotated[
        bool,
        typer.Option(
            "--roofline", help="An iteration beside its arithmetic and memory traffic alone instead."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Race against other libraries: how soon partwise reaches what they end at. Data from PARTWISE_DATA where set."""
    if tiles:
        bench_tiles(output, cases or (), peer or (), seconds, as_json)
        return
    if structure:
        (bench_structure_peers if peer else bench_structure)(output, cases or (), peer or (), seeds, as_json)
        return
    if sampling:
        bench_sampling(output, cases or (), seeds, as_json)
        return
    if roofline:
        bench_roofline(output, cases or (), seeds, as_json)
        return
    if defaults or missing is not None or transform:
        bench_calls(output, cases or (), seeds, missing, transform, double, as_json)
        return
    from partwise.bench.run import run_bench, table_lines
    from partwise.bench.solvers import SOLVERS
    from partwise.plot import require_matplotlib

    require_matplotlib()
    for name in peer or ():
        if name not in SOLVERS:
            raise ValueError(f"no racer is called '{name}'; there are {', '.join(SOLVERS)}.")
    summary = run_bench(output, cases or (), seeds, seconds, peer or ())
    lines = [*table_lines(summary), f"Results are in {output}/: bench.json, bench.png"]
    emit({"machine": summary["machine"], "table": summary["table"]}, as_json, lines)


def bench_calls(
    output: Path,
    names: Sequence[str],
    rounds: int,
    missing: str | None,
    transform: bool,
    double: bool,
    as_json: bool,
) -> None:
    """Calls as people make them; see `partwise.bench.defaults`, `partwise.bench.missing` and `transforms`."""
    if missing is not None:
        from partwise.bench.missing import race_missing

        summary = race_missing(output, names, shares_from(missing), rounds)
        file = "missing.json"
    elif transform:
        from partwise.bench.transforms import race_transforms

        summary, file = race_transforms(output, names, rounds), "transforms.json"
    else:
        from partwise.bench.defaults import race_defaults

        summary, file = race_defaults(output, names, rounds, double), "defaults.json"
    emit(summary, as_json, [*summary.pop("lines"), f"Results are in {output}/: {file}"])


def shares_from(text: str) -> list[float]:
    """Shares of missing entries from a text such as 0.01,0.3."""
    try:
        shares = [float(part) for part in text.split(",")]
    except ValueError:
        shares = []
    if not shares or not all(0.0 < share < 1.0 for share in shares):
        raise ValueError(f"--missing takes shares between 0 and 1, as 0.01,0.3,0.9; got '{text}'.")
    return shares


def bench_tiles(
    output: Path, names: Sequence[str], peers: Sequence[str], limit: float, as_json: bool
) -> None:
    """Race Boolean factorization; see `partwise.bench.tiles`."""
    from partwise.bench.tiles import PARTWISE, RACERS, TABLES, race_tiles

    for name in peers:
        if name not in RACERS or name == PARTWISE:
            raise ValueError(
                f"no racer is called '{name}'; there are {', '.join(r for r in RACERS if r != PARTWISE)}."
            )
    for name in names:
        if name not in TABLES:
            raise ValueError(f"no table is called '{name}'; there are {', '.join(TABLES)}.")
    summary = race_tiles(output, names, peers or [name for name in RACERS if name != PARTWISE], limit)
    lines = [*summary.pop("lines"), f"Results are in {output}/: tiles.json"]
    emit(summary, as_json, lines)


def bench_structure(
    output: Path, names: Sequence[str], peers: Sequence[str], rounds: int, as_json: bool
) -> None:
    """What iterations of structured models cost; see `partwise.bench.structure`."""
    from partwise.bench.structure import CASES, race_structure

    for name in names:
        if name not in CASES:
            raise ValueError(f"no case is called '{name}'; with --structure there are {', '.join(CASES)}.")
    summary = race_structure(output, names, rounds)
    lines = [*summary.pop("lines"), f"Results are in {output}/: structure.json"]
    emit(summary, as_json, lines)


def bench_sampling(output: Path, names: Sequence[str], rounds: int, as_json: bool) -> None:
    """What steps of samplers cost; see `partwise.bench.sampling`."""
    from partwise.bench.sampling import CASES, race_sampling

    for name in names:
        if name not in CASES:
            raise ValueError(f"no case is called '{name}'; with --sampling there are {', '.join(CASES)}.")
    summary = race_sampling(output, names, rounds)
    lines = [*summary.pop("lines"), f"Results are in {output}/: sampling.json"]
    emit(summary, as_json, lines)


def bench_roofline(output: Path, names: Sequence[str], rounds: int, as_json: bool) -> None:
    """Iterations beside what they cannot do without; see `partwise.bench.roofline`."""
    from partwise.bench.roofline import race_roofline

    summary = race_roofline(output, names, rounds)
    emit(summary, as_json, [*summary.pop("lines"), f"Results are in {output}/: roofline.json"])


def bench_structure_peers(
    output: Path, names: Sequence[str], peers: Sequence[str], seeds: int, as_json: bool
) -> None:
    """Structured models of other packages beside ours; see `partwise.bench.structure_peers`."""
    from partwise.bench.structure_peers import GRAPHS, PEERS, TABLES, race_peers

    for given, there in ((names, {**GRAPHS, **TABLES}), (peers, PEERS)):
        for name in given:
            if name not in there:
                raise ValueError(
                    f"nothing is called '{name}'; with --structure --peer there are {', '.join(there)}."
                )
    summary = race_peers(output, names, peers, seeds)
    lines = [*summary.pop("lines"), f"Results are in {output}/: structure_peers.json"]
    emit(summary, as_json, lines)
