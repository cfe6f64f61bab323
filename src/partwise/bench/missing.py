"""What missing entries cost: seconds of an iteration against complete data, and what as many seconds reach."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partwise.bench.cases import find_case
from partwise.bench.datasets import DATASETS
from partwise.messages import inform

#: Dense cases that entries are taken from, and iterations of a measured fit.
CASES = ("orl-frobenius", "mnist-frobenius", "cbcl-frobenius")
STEPS = 15


def race_missing(folder: Path, names: Sequence[str], shares: Sequence[float], rounds: int) -> dict[str, Any]:
    """Time iterations with some entries missing, and write `missing.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Names of cases with dense data.
    shares : sequence of float
        Shares of the entries that are missing.
    rounds : int
        Fits of each; the quickest counts.

    Returns
    -------
    dict
        The contents of `missing.json`, and "lines".
    """
    from partwise.bench.run import machine

    rows: list[dict[str, Any]] = []
    for name in names or CASES:
        case = find_case(name)
        X = DATASETS[case.dataset]()
        if hasattr(X, "tocsr"):
            raise ValueError(f"{name} has sparse data; --missing takes dense ones, as {CASES[0]}.")
        loss: dict[str, Any] = {} if case.beta == 2.0 else {"beta_loss": case.beta}
        whole = iteration(X, case.n_components, loss, rounds)[0]
        for share in shares:
            hidden = np.random.default_rng(0).random(X.shape) < share
            seconds, solver = iteration(np.where(hidden, np.nan, X), case.n_components, loss, rounds)
            rows.append(
                {"case": name, "share": share, "solver": solver, "seconds": seconds, "ratio": seconds / whole}
            )
            inform(lines_of(rows[-1:])[-1])
    summary = {"machine": machine(), "rounds": rounds, "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "missing.json").write_text(json.dumps(summary), encoding="utf-8")
    return {**summary, "lines": lines_of(rows)}


def iteration(X: np.ndarray, k: int, loss: dict[str, Any], rounds: int) -> tuple[float, str]:
    """Seconds of an iteration, the least of some fits, and the solver that was chosen."""
    from partwise import NMF

    best = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NMF(k, max_iter=2, tol=0, **loss).fit(X)
        for _ in range(rounds):
            model = NMF(k, max_iter=STEPS, tol=0, **loss).fit(X)
            seconds = model.history_["seconds"]
            best = min(best, float(seconds[-1] - seconds[1]) / (STEPS - 1))
    return best, str(model.solver_)


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table as lines of text."""
    lines = [f"{'case':20s} {'missing':>8s}  solver    an iteration against complete data"]
    return lines + [
        f"{row['case']:20s} {100 * row['share']:6.1f} %  {row['solver']:8s} {row['ratio']:6.2f}×"
        for row in rows
    ]
