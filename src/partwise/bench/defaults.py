"""Whole default fits beside scikit-learn's: seconds, objective, iterations; nothing set but rank and loss."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from partwise.bench.cases import CASES, Case, find_case
from partwise.bench.datasets import DATASETS
from partwise.bench.objective import Objective
from partwise.messages import inform


def race_defaults(folder: Path, names: Sequence[str], rounds: int, double: bool = False) -> dict[str, Any]:
    """Fit every case by both libraries in turn, and write `defaults.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Names of cases; all that can be run if none is given.
    rounds : int
        Fits of each; the quickest counts.
    double : bool
        Whether the data are float64, as most people have them; the cases are float32.

    Returns
    -------
    dict
        The contents of `defaults.json`, and "lines".
    """
    from partwise.bench.run import default_cases, machine

    cases: Sequence[Case] = [find_case(name) for name in names] if names else default_cases() or CASES
    rows = []
    for case in cases:
        rows.append(measured(case, rounds, double))
        inform(lines_of(rows[-1:])[-1])
    summary = {"machine": machine(), "rounds": rounds, "double": double, "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "defaults.json").write_text(json.dumps(summary), encoding="utf-8")
    return {**summary, "lines": lines_of(rows)}


def measured(case: Case, rounds: int, double: bool = False) -> dict[str, Any]:
    """Both libraries on one case, in turn, the quickest of `rounds` whole calls each."""
    from sklearn.decomposition import NMF as TheirNMF

    from partwise import NMF

    X = DATASETS[case.dataset]()
    X = X.astype(np.float64) if double else X
    score = Objective(X, case.beta)
    k = case.n_components
    loss: dict[str, Any] = {} if case.beta == 2.0 else {"beta_loss": case.beta}
    # scikit-learn refuses losses other than the Frobenius one by its default solver.
    theirs = loss | ({"solver": "mu"} if loss else {})
    best: dict[str, float] = {"ours": np.inf, "theirs": np.inf}
    found: dict[str, Any] = {"case": case.name}
    ended: dict[str, list[float]] = {"ours": [], "theirs": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Compiles and imports what has to be.
        NMF(k, max_iter=2, **loss).fit(X)
        for _ in range(rounds):
            for name, make in (("ours", lambda: NMF(k, **loss)), ("theirs", lambda: TheirNMF(k, **theirs))):
                begin = perf_counter()
                model = make()
                W = model.fit_transform(X)
                best[name] = min(best[name], perf_counter() - begin)
                found[f"{name}_iterations"] = int(model.n_iter_)
                ended[name].append(score(W, model.components_))
        # scikit-learn starts at other singular vectors every time, and ends a percent higher or lower.
        found |= {f"{name}_objective": float(np.mean(values)) for name, values in ended.items()}
        # From one start, named: others may themselves take the longer, the more iterations there may be.
        start: dict[str, Any] = {"init": "nndsvda", "tol": 0}
        one, some = (
            quickest(lambda n=n: NMF(k, max_iter=n, **start, **loss).fit(X), rounds) for n in (1, 11)
        )
    return {
        **found,
        "ours_seconds": best["ours"],
        "theirs_seconds": best["theirs"],
        "ratio": best["theirs"] / best["ours"],
        "higher": found["ours_objective"] / found["theirs_objective"] - 1.0,
        "one_iteration": one / max((some - one) / 10, 1e-9),
    }


def quickest(call: Any, rounds: int) -> float:
    """Seconds of the quickest of some calls."""
    times = []
    for _ in range(rounds):
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return min(times)


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table as lines of text."""
    lines = [
        f"{'case':26s} {'ours':>8s} {'theirs':>8s} {'ratio':>7s}  {'objective':>10s}  iterations  "
        "fit of one iteration"
    ]
    for row in rows:
        lines.append(
            f"{row['case']:26s} {row['ours_seconds']:6.2f} s {row['theirs_seconds']:6.2f} s {row['ratio']:6.2f}×  "
            f"{100 * row['higher']:+8.2f} %  {row['ours_iterations']:4d}, {row['theirs_iterations']:4d}  "
            f"{row['one_iteration']:6.1f} iterations"
        )
    return lines
