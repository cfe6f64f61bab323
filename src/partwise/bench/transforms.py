"""`transform` in production: one row, a hundred, many, beside scikit-learn's for the same components."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from partwise.bench.cases import find_case
from partwise.bench.datasets import DATASETS
from partwise.bench.defaults import quickest
from partwise.messages import inform

#: Cases, and numbers of rows; where data have fewer they are repeated.
CASES = ("digits-frobenius", "digits-kl", "synthetic-frobenius")
SIZES = (1, 100, 100_000)


def race_transforms(folder: Path, names: Sequence[str], rounds: int) -> dict[str, Any]:
    """Time `transform` at every size, and write `transforms.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Names of cases.
    rounds : int
        Calls at each size; the quickest counts.

    Returns
    -------
    dict
        The contents of `transforms.json`, and "lines".
    """
    from partwise.bench.run import machine

    rows: list[dict[str, Any]] = []
    for name in names or CASES:
        rows += measured(name, rounds)
        inform(lines_of(rows[-len(SIZES) :])[-1])
    summary = {"machine": machine(), "rounds": rounds, "rows": rows}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "transforms.json").write_text(json.dumps(summary), encoding="utf-8")
    return {**summary, "lines": lines_of(rows)}


def measured(name: str, rounds: int) -> list[dict[str, Any]]:
    """One case: both libraries transform the same rows by the same components."""
    import scipy.sparse as sp
    from sklearn.decomposition import NMF as TheirNMF

    from partwise import NMF

    case = find_case(name)
    X = DATASETS[case.dataset]()
    loss: dict[str, Any] = {} if case.beta == 2.0 else {"beta_loss": case.beta}
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = NMF(case.n_components, max_iter=50, **loss).fit(X)
        theirs = TheirNMF(case.n_components, max_iter=2, **loss, **({"solver": "mu"} if loss else {})).fit(X)
        theirs.components_, theirs.max_iter = np.ascontiguousarray(ours.components_), 200
        for size in SIZES:
            index = np.arange(size) % X.shape[0]
            rows = sp.csr_matrix(X[index]) if hasattr(X, "tocsr") else np.ascontiguousarray(X[index])
            ours.transform(rows)
            calls = rounds * (20 if size == 1 else 1)
            mine = quickest(lambda rows=rows: ours.transform(rows), calls)
            other = quickest(lambda rows=rows: theirs.transform(rows), calls if size < SIZES[-1] else 1)
            found.append({"case": name, "rows": size, "ours": mine, "theirs": other, "ratio": other / mine})
    return found


def lines_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The table as lines of text."""
    lines = [f"{'case':22s} {'rows':>8s} {'ours':>11s} {'theirs':>11s} {'ratio':>7s}"]
    return lines + [
        f"{row['case']:22s} {row['rows']:8,d} {1e3 * row['ours']:8.2f} ms {1e3 * row['theirs']:8.2f} ms "
        f"{row['ratio']:6.2f}×"
        for row in rows
    ]
