"""Structured models beside those of other packages, where these are installed: how good, and how much work.

Communities of football and of Cora's largest component by the models of karateclub that factor a graph, and classes
of Cora's papers and of faces with a tenth of the labels by ssnmf, which takes dense data only. All at their defaults,
but for the number of parts and 200 iterations of ssnmf, whose default of 10 ends far from any optimum.
"""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from partwise import datasets
from partwise.messages import inform
from partwise.models import SemiSupervisedNMF, SymmetricNMF
from partwise.parallel import thread_limit

#: Models of karateclub that factor a graph into communities, with the parameters that say how many.
KARATECLUB: dict[str, Callable[[int], dict[str, Any]]] = {
    "SymmNMF": lambda k: {"dimensions": k},
    "NNSED": lambda k: {"dimensions": k},
    "MNMF": lambda k: {"clusters": k},
    "DANMF": lambda k: {"layers": [4 * k, k]},
}
#: The packages there are, by the names that `--peer` takes.
PEERS = ("karateclub", "ssnmf")
#: Share of the labels that is known, and iterations of ssnmf.
KNOWN, STEPS = 0.1, 200


def race_peers(folder: Path, names: Sequence[str], peers: Sequence[str], seeds: int) -> dict[str, Any]:
    """Measure the models of each package beside ours, and write `structure_peers.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Data sets; all if none is given.
    peers : sequence of str
        Packages, of `PEERS`; those that cannot be imported are left out with a sentence.
    seeds : int
        Starts, and draws of labels.

    Returns
    -------
    dict
        The contents of `structure_peers.json`.
    """
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings(), thread_limit(1), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for peer in peers:
            try:
                importlib.import_module(peer)
            except ImportError as error:
                rows.append({"peer": peer, "skipped": f"{peer} is left out, it cannot be imported: {error}"})
                continue
            for case, model, attempt in _attempts(peer, names):
                rows.append({"peer": f"{peer} {_version(peer)}", "case": case, "model": model})
                rows[-1] |= _measured(attempt, seeds)
                inform(lines_of_peers(rows[-1:])[-1])
    summary = {"rows": rows, "lines": lines_of_peers(rows)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "structure_peers.json").write_text(json.dumps(summary), encoding="utf-8")
    return summary


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


#: From a seed to the figure of merit and the processor seconds of a fit.
Attempt = Callable[[int], tuple[float, float]]


def _attempts(peer: str, names: Sequence[str]) -> Iterator[tuple[str, str, Attempt]]:
    loaders = GRAPHS if peer == "karateclub" else TABLES
    for case, load in loaders.items():
        if names and case not in names:
            continue
        try:
            found = load()
        except OSError as error:
            inform(f"{case} is left out. {error}")
            continue
        if peer == "karateclub":
            yield case, "SymmetricNMF", partial(communities, *found)
            for model in KARATECLUB:
                yield case, model, partial(peer_communities, model, *found)
        else:
            yield case, "SemiSupervisedNMF", partial(classes, *found)
            yield case, "SSNMF", partial(peer_classes, *found)


def communities(A: sp.csr_matrix, y: np.ndarray, seed: int) -> tuple[float, float]:
    """NMI of the communities of `SymmetricNMF`."""
    begin = process_time()
    model = SymmetricNMF(len(np.unique(y)), random_state=seed).fit(A)
    seconds = process_time() - begin
    return float(normalized_mutual_info_score(y, model.labels_)), seconds


def peer_communities(name: str, A: sp.csr_matrix, y: np.ndarray, seed: int) -> tuple[float, float]:
    """NMI of the communities of a model of karateclub; networkx's reading of the graph is not timed."""
    import karateclub  # type: ignore[import-not-found,import-untyped,unused-ignore]
    import networkx  # type: ignore[import-not-found,import-untyped,unused-ignore]

    graph = networkx.from_scipy_sparse_array(sp.csr_array(A))
    model = getattr(karateclub, name)(**KARATECLUB[name](len(np.unique(y))), seed=seed)
    begin = process_time()
    model.fit(graph)
    seconds = process_time() - begin
    members = model.get_memberships()
    return float(normalized_mutual_info_score(y, [np.ravel(members[i])[0] for i in range(len(y))])), seconds


def _drawn(y: np.ndarray, seed: int) -> np.ndarray:
    """The labels of a share of each class, at least one; −1 for the others."""
    rng, known = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        known[rng.choice(members, max(1, round(KNOWN * len(members))), replace=False)] = label
    return known


def classes(X: Any, y: np.ndarray, seed: int) -> tuple[float, float]:
    """Accuracy of `SemiSupervisedNMF` at samples without a label."""
    known = _drawn(y, seed)
    begin = process_time()
    model = SemiSupervisedNMF(2 * len(np.unique(y)), random_state=seed).fit(X, known)
    seconds = process_time() - begin
    hidden = known < 0
    return float((model.predict(X[hidden]) == y[hidden]).mean()), seconds


def peer_classes(X: Any, y: np.ndarray, seed: int) -> tuple[float, float]:
    """Accuracy of ssnmf's SSNMF with two Frobenius norms, which is fitted to samples without a label as well."""
    from ssnmf import SSNMF  # type: ignore[import-not-found,import-untyped,unused-ignore]

    known = _drawn(y, seed)
    names = np.unique(y)
    Y = (known == names[:, None]).astype(float)
    seen = np.tile(known >= 0, (len(names), 1)).astype(float)
    rng = np.random.default_rng(seed)
    dense = np.ascontiguousarray((X.toarray() if sp.issparse(X) else X).T, dtype=float)
    k = 2 * len(names)
    start = {"A": rng.random((len(dense), k)), "S": rng.random((k, len(y))), "B": rng.random((len(names), k))}
    model = SSNMF(dense, k, Y=Y, L=seen, modelNum=3, **start)
    begin = process_time()
    model.mult(numiters=STEPS)
    seconds = process_time() - begin
    hidden = known < 0
    found = names[(model.B @ model.S).argmax(axis=0)]
    return float((found[hidden] == y[hidden]).mean()), seconds


def _graph_of(data: Any) -> tuple[sp.csr_matrix, np.ndarray]:
    """The largest component: karateclub divides by degrees."""
    A = sp.csr_matrix(data.adjacency)
    _, part = connected_components(A)
    kept = part == np.bincount(part).argmax()
    return sp.csr_matrix(A[kept][:, kept]), data.target[kept]


def _papers() -> tuple[Any, np.ndarray]:
    data = datasets.fetch_cora()
    return sp.csr_matrix(data.data), data.target


def _faces() -> tuple[Any, np.ndarray]:
    data = datasets.fetch_orl()
    return np.asarray(data.data / data.data.max(), dtype=float), data.target


GRAPHS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "football": lambda: _graph_of(datasets.fetch_football()),
    "Cora": lambda: _graph_of(datasets.fetch_cora()),
}
TABLES: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {"Cora": _papers, "ORL": _faces}


def _measured(attempt: Attempt, seeds: int) -> dict[str, Any]:
    try:
        found = np.array([attempt(seed) for seed in range(seeds)])
    # What other packages raise is theirs to choose.
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    return {
        "merit": float(found[:, 0].mean()),
        "sd": float(found[:, 0].std()),
        "seconds": float(found[:, 1].min()),
    }


def lines_of_peers(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results as lines of text."""
    out = [
        "NMI of communities (karateclub), accuracy with a tenth of the labels (ssnmf), and processor seconds of a fit"
    ]
    for row in rows:
        if "skipped" in row:
            out.append(row["skipped"])
            continue
        told = row.get("failed") or f"{row['merit']:.3f} ± {row['sd']:.3f}   {row['seconds']:8.2f} s"
        out.append(f"{row['peer']:18s} {row['case']:9s} {row['model']:18s} {told}")
    return out
