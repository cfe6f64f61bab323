"""What an iteration takes beside what its arithmetic and its memory traffic alone would take on this machine.

- Gram methods (Frobenius): the two products X·Hᵀ and Xᵀ·W, by the same routines.
- Coordinate descent on entries (Kullback-Leibler): the sums of one coordinate, for as many entries and coordinates as
  an iteration visits in two rounds over each factor, on rows that stay in the nearest cache, by all threads.
- Memory: X read once for each factor, at the rate at which this machine adds up a large array.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.bench.cases import find_case
from partwise.bench.datasets import DATASETS
from partwise.bench.defaults import quickest
from partwise.bench.missing import iteration
from partwise.messages import inform

CASES = (
    "orl-frobenius",
    "mnist-frobenius",
    "20news-tfidf-frobenius",
    "orl-kl",
    "mnist-kl",
    "20news-counts-kl",
)
#: Rounds over the coordinates of a factor in each iteration of coordinate descent.
ROUNDS = 2


def race_roofline(folder: Path, names: Sequence[str], rounds: int) -> dict[str, Any]:
    """Time iterations and what they cannot do without, and write `roofline.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Names of cases.
    rounds : int
        Measurements of each; the quickest counts.

    Returns
    -------
    dict
        The contents of `roofline.json`, and "lines".
    """
    from partwise.bench.run import machine

    rows: list[dict[str, Any]] = []
    for name in names or CASES:
        case = find_case(name)
        X = DATASETS[case.dataset]()
        loss: dict[str, Any] = {} if case.beta == 2.0 else {"beta_loss": case.beta}
        seconds, solver = iteration(X, case.n_components, loss, rounds)
        bound = products if case.beta == 2.0 else coordinates
        arithmetic = bound(X, case.n_components, rounds)
        memory = traffic(X, rounds)
        rows.append(
            {
                "case": name,
                "solver": solver,
                "seconds": seconds,
                "arithmetic": arithmetic,
                "memory": memory,
                "ratio": seconds / max(arithmetic, memory),
            }
        )
        inform(lines_of(rows[-1:])[-1])
    summary = {"machine": machine(), "rounds": rounds, "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "roofline.json").write_text(json.dumps(summary), encoding="utf-8")
    return {**summary, "lines": lines_of(rows)}


def settled(call: Callable[[], Any], rounds: int) -> float:
    """Seconds of the quickest of some calls, after one that warms up."""
    call()
    return quickest(call, max(3, rounds))


def products(X: Any, k: int, rounds: int) -> float:
    """Seconds of X·Hᵀ and Xᵀ·W."""
    from partwise.matrix import Dense, Sparse

    matrix = Sparse.of(X) if sp.issparse(X) else Dense.of(X)
    rng = np.random.default_rng(0)
    B, A = (rng.random((size, k)).astype(X.dtype) for size in X.shape[::-1])
    return settled(lambda: (matrix.product(B), matrix.transposed_product(A)), rounds)


def coordinates(X: Any, k: int, rounds: int) -> float:
    """Seconds of the sums over entries that two rounds over both factors take, at the pace of short rows in cache."""
    from partwise.parallel import get_threads

    held = X.nnz if sp.issparse(X) else X.size
    length = max(16, min(1024, held // X.shape[0]))
    times = max(1, 20_000_000 // (k * length))
    rng = np.random.default_rng(0)
    y, u, v = ((rng.random(length) + 1.0).astype(np.float32) for _ in range(3))
    b = rng.random((k, length)).astype(np.float32)
    z = y.copy()
    pace = settled(lambda: repeated_sums(u, v, b, y, z, times), rounds) / (2.0 * times * k * length)
    return pace * held * k * ROUNDS * 2 / get_threads()


def repeated_sums(
    u: np.ndarray, v: np.ndarray, b: np.ndarray, y: np.ndarray, z: np.ndarray, times: int
) -> float:
    """The sums of every coordinate of a pair of rows, over and over."""
    return float(_compiled()(u, v, b, y, z, times))


@functools.cache
def _compiled() -> Any:
    """The loop, compiled when it is first asked for."""
    import numba

    from partwise.solvers.descend_pairs import pair_sums

    @numba.njit(nogil=True)
    def loop(u: Any, v: Any, b: Any, y: Any, z: Any, times: int) -> float:
        total = 0.0
        for _ in range(times):
            for t in range(b.shape[0]):
                pull, curve, other, bend = pair_sums(u, v, b[t], y, z, y.shape[0], b[t - 1], 0.0, 0.0)
                total += pull + curve + other + bend
        return total

    return loop


def traffic(X: Any, rounds: int) -> float:
    """Seconds of reading X twice, by the rate at which a large array is added up by every thread."""
    from partwise.parallel import over_rows

    held = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    large = np.ones(1 << 26, np.float32)
    sums = np.zeros(64)

    def add_up(start: int, stop: int) -> None:
        for i in range(start, stop):
            sums[i] = large[i << 20 : (i + 1) << 20].sum()

    return 2.0 * held / large.nbytes * settled(lambda: over_rows(add_up, 64, grain=1), rounds)


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table as lines of text."""
    lines = [
        f"{'case':24s} solver    {'iteration':>10s} {'arithmetic':>11s} {'memory':>10s}  against the larger"
    ]
    return lines + [
        f"{row['case']:24s} {row['solver']:8s} {1e3 * row['seconds']:7.1f} ms {1e3 * row['arithmetic']:8.1f} ms "
        f"{1e3 * row['memory']:7.1f} ms  {row['ratio']:6.2f}×"
        for row in rows
    ]
