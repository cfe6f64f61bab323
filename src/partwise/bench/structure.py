"""What an iteration of the structured models costs beside one of plain NMF, and beside other libraries."""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from partwise.graphs import neighbour_graph
from partwise.messages import inform
from partwise.models import NMF, DeepNMF, GraphNMF, ManifoldNMF, SemiNMF, SemiSupervisedNMF, SymmetricNMF
from partwise.parallel import thread_limit

#: Iterations that are measured, and those before them, which may compile kernels and have no moves to extrapolate.
STEPS, FIRST = 20, 3


@dataclass(frozen=True)
class Table:
    """Data of a case: a matrix with a graph over its rows and classes of some of them, and a number of parts."""

    X: Any
    graph: sp.csr_matrix
    y: np.ndarray
    k: int


def dense_table() -> Table:
    """Gamma-distributed parts, 4000 × 500, 30 parts."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 10, 4000)
    X = (rng.gamma(0.3, 1.0, (10, 30))[group] * rng.gamma(2.0, 0.5, (4000, 30))) @ rng.gamma(
        0.3, 1.0, (30, 500)
    )
    return _with_known(X + 0.1 * rng.random(X.shape), group, 30)


def sparse_table() -> Table:
    """Counts of 8000 × 4000, about 80 in each row, 20 parts."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 10, 8000)
    # Each group has words of its own, beside those that all use.
    words = np.where(
        rng.random((8000, 80)) < 0.5,
        rng.integers(0, 4000, (8000, 80)),
        group[:, None] * 400 + rng.integers(0, 400, (8000, 80)),
    )
    rows = np.repeat(np.arange(8000), 80)
    X = sp.csr_matrix((np.ones(rows.size), (rows, words.ravel())), (8000, 4000))
    X.sum_duplicates()
    return _with_known(X, group, 20)


def _with_known(X: Any, group: np.ndarray, k: int) -> Table:
    known = np.where(np.arange(len(group)) % 10 == 0, group, -1)
    return Table(X, neighbour_graph(X, 5), known, k)


CASES: dict[str, Callable[[], Table]] = {"dense": dense_table, "sparse": sparse_table}


@dataclass(frozen=True)
class Racer:
    """A model, and what its iterations are compared with.

    Parameters
    ----------
    name : str
        What the table calls it.
    fit : callable
        From a table and a number of iterations to the seconds of one of them.
    plain : callable
        The same for plain NMF of the same size.
    graph : bool
        Whether its iterations also need a product of the graph with W.
    package : str, optional
        What must be installed for it.
    beside : str
        What the table calls the plain one.
    """

    name: str
    fit: Callable[[Table, int], float]
    plain: Callable[[Table, int], float]
    graph: bool = False
    package: str | None = None
    beside: str = "NMF"


def stepping(
    make: Callable[[Table, dict[str, Any]], Any], on: str = "X", y: bool = False
) -> Callable[[Table, int], float]:
    """Processor seconds of one iteration of a model of partwise."""

    def measured(table: Table, steps: int) -> float:
        times: list[float] = []

        def noted(info: Any, state: Any) -> None:
            times.append(process_time())

        options = {"max_iter": FIRST + steps, "tol": 0.0, "random_state": 0}
        X = table.graph if on == "graph" else table.X
        data = (X, table.y) if y else (X,)
        model = make(table, options)
        if "callbacks" in model.get_params():
            model.set_params(callbacks=[noted]).fit(*data)
            return (times[-1] - times[FIRST]) / steps
        # Without callbacks: what a fit of more iterations takes longer than one of fewer.
        for count in (FIRST, FIRST + steps):
            begin = process_time()
            make(table, {**options, "max_iter": count}).fit(*data)
            times.append(process_time() - begin)
        return (times[1] - times[0]) / steps

    return measured


def nmf(
    width: Callable[[Table], int] = lambda table: table.k, loss: str = "frobenius", on: str = "X"
) -> Callable[[Table, int], float]:
    """Plain NMF of a table, or of its graph."""
    return stepping(lambda t, o: NMF(width(t), init="random", beta_loss=loss, **o), on)


def peer_symmetric(table: Table, steps: int) -> float:
    """SymmNMF of karateclub, of the graph."""
    import networkx  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from karateclub import SymmNMF  # type: ignore[import-not-found,import-untyped,unused-ignore]

    graph = networkx.from_scipy_sparse_array(sp.csr_array(table.graph))
    networkx.set_edge_attributes(graph, 1.0, "weight")
    seconds = []
    # It begins with eigenvectors, which take longer than many of its iterations.
    for count in (2, 2 + 20 * steps):
        model = SymmNMF(dimensions=table.k, iterations=count)
        begin = process_time()
        model.fit(graph)
        seconds.append(process_time() - begin)
    return (seconds[1] - seconds[0]) / (20 * steps)


def peer_labels(table: Table, steps: int) -> float:
    """SSNMF of ssnmf with two Frobenius norms; it takes dense data only."""
    from ssnmf import SSNMF  # type: ignore[import-not-found,import-untyped,unused-ignore]

    X = table.X.toarray() if sp.issparse(table.X) else table.X
    classes = np.unique(table.y[table.y >= 0])
    Y = (table.y == classes[:, None]).astype(float)
    seen = np.tile(table.y >= 0, (len(classes), 1)).astype(float)
    seconds = []
    for count in (1, 1 + steps):
        model = SSNMF(X.T, table.k, Y=Y, L=seen, lam=1.0, modelNum=3)
        begin = process_time()
        model.mult(numiters=count)
        seconds.append(process_time() - begin)
    return (seconds[1] - seconds[0]) / steps


def deep(known: bool, **options: Any) -> Callable[[Table, int], float]:
    """`DeepNMF` of 2 k and k parts, with labels and a graph at its last layer where they are known."""

    def make(t: Table, o: dict[str, Any]) -> DeepNMF:
        more = {"label_layer": -1, "graph": t.graph} if known else {}
        return DeepNMF((2 * t.k, t.k), pretrain=False, **options, **more, **o)

    return stepping(make, y=known)


#: Kinds of `DeepNMF`.
DEEP: dict[str, dict[str, Any]] = {
    "": {},
    ", nonnegative": {"semi": False},
    ", softplus": {"activation": "softplus"},
}


RACERS = (
    Racer(
        "GraphNMF",
        stepping(lambda t, o: GraphNMF(t.k, graph=t.graph, graph_weight=0.1, init="random", **o)),
        nmf(),
        True,
    ),
    Racer(
        "GraphNMF, KL",
        stepping(
            lambda t, o: GraphNMF(t.k, graph=t.graph, graph_weight=0.1, init="random", beta_loss="kl", **o)
        ),
        nmf(loss="kl"),
        True,
    ),
    Racer(
        "SemiSupervisedNMF", stepping(lambda t, o: SemiSupervisedNMF(t.k, init="random", **o), y=True), nmf()
    ),
    Racer(
        "SemiSupervisedNMF, KL",
        stepping(lambda t, o: SemiSupervisedNMF(t.k, init="random", beta_loss="kl", **o), y=True),
        nmf(loss="kl"),
    ),
    Racer(
        "ManifoldNMF",
        stepping(lambda t, o: ManifoldNMF(t.k, graph=t.graph, graph_weight=0.1, init="random", **o), y=True),
        nmf(),
        True,
    ),
    Racer(
        "SymmetricNMF",
        stepping(lambda t, o: SymmetricNMF(t.k, init="random", **o), "graph"),
        nmf(on="graph"),
        beside="NMF of the graph",
    ),
    Racer("SemiNMF", stepping(lambda t, o: SemiNMF(t.k, init="random", **o)), nmf()),
    *(
        Racer(
            f"DeepNMF{name}{', labels, graph' if known else ''}",
            deep(known, **options),
            nmf(lambda t: 2 * t.k),
            known,
            beside="NMF(2k)",
        )
        for known in (False, True)
        for name, options in DEEP.items()
    ),
    Racer("karateclub SymmNMF", peer_symmetric, nmf(on="graph"), False, "karateclub", "NMF of the graph"),
    Racer("ssnmf SSNMF", peer_labels, nmf(), package="ssnmf"),
)


def race_structure(folder: Path, names: Sequence[str], rounds: int) -> dict[str, Any]:
    """Measure every racer on every case, its plain NMF in turn with it, and write `structure.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Cases; all if none is given.
    rounds : int
        How often each pair is measured; the least times count, for other work on the machine only adds.

    Returns
    -------
    dict
        The contents of `structure.json`.
    """
    rows = []
    # On one thread, threads that wait for each other do not count as work.
    with warnings.catch_warnings(), thread_limit(1), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name in names or CASES:
            table = CASES[name]()
            for racer in RACERS:
                rows.append({"case": name, **measured(racer, table, rounds)})
                inform(lines_of(rows[-1:])[-1])
    summary: dict[str, Any] = {"rows": rows, "lines": lines_of(rows)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "structure.json").write_text(json.dumps(summary), encoding="utf-8")
    return summary


def measured(racer: Racer, table: Table, rounds: int) -> dict[str, Any]:
    """Seconds of an iteration of a racer and of plain NMF, of the product with the graph, and the ratio."""
    if racer.package is not None:
        try:
            importlib.import_module(racer.package)
        except ImportError as error:
            return {"racer": racer.name, "skipped": f"{racer.package} cannot be imported: {error}"}
    W = np.random.default_rng(0).random((table.graph.shape[0], table.k))
    times: dict[str, list[float]] = {"seconds": [], "plain": [], "product": []}
    for _ in range(rounds):
        times["plain"].append(racer.plain(table, STEPS))
        times["seconds"].append(racer.fit(table, STEPS))
        begin = process_time()
        table.graph @ W
        times["product"].append(process_time() - begin)
    least = {name: min(found) for name, found in times.items()}
    allowed = least["plain"] + (least["product"] if racer.graph else 0.0)
    return {
        "racer": racer.name,
        **least,
        "ratio": least["seconds"] / allowed,
        "beside": racer.beside + (" + S W" if racer.graph else ""),
    }


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results as lines of text."""
    out = [
        "Processor milliseconds of an iteration on one thread, beside one of plain NMF with as many parts (k; for "
        "DeepNMF of 2 k and k parts, the 2 k of its first layer) and, where there is a graph S, a product S W:"
    ]
    for row in rows:
        place = f"{row['case']:7s} {row['racer']:36s}"
        if "skipped" in row:
            out.append(f"{place} {row['skipped']}")
            continue
        allowed = row["seconds"] / row["ratio"]
        beside = f"{row['beside']:22s} {1e3 * allowed:9.2f}"
        out.append(f"{place} {1e3 * row['seconds']:9.2f}   {beside}   ratio {row['ratio']:6.2f}")
    return out
