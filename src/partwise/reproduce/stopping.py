"""What the default `tol` is worth: how far above a ten times longer run does a default fit end?"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from partwise.bench.datasets import DATASETS
from partwise.io import write_json
from partwise.models import NMF

#: Data set, β, number of components; the first four need no download.
CASES = (
    ("digits", 2.0, 16),
    ("digits", 1.0, 16),
    ("synthetic", 2.0, 20),
    ("synthetic", 1.0, 20),
    ("orl", 2.0, 49),
    ("mnist-unit", 2.0, 49),
    ("20news-tfidf", 2.0, 20),
    ("20news-counts", 1.0, 20),
    ("mnist10k", 1.0, 40),
    ("orl-unit", 1.0, 25),
    ("cbcl-unit", 2.0, 49),
    ("cbcl", 1.0, 49),
    ("all-aml", 2.0, 3),
    ("bbc-tfidf", 2.0, 20),
    ("20news-counts", 2.0, 20),
    ("bbc-counts", 1.0, 20),
    ("reuters-counts", 1.0, 20),
)


def reproduce_stopping(folder: Path) -> dict[str, Any]:
    """What the default tolerance is worth: a default fit against ten times its iterations."""
    cases = CASES if "PARTWISE_DATA" in os.environ else CASES[:4]
    table: list[dict[str, Any]] = []
    for name, beta, k in cases:
        X = DATASETS[name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            short = NMF(k, beta_loss=beta).fit(X)
        long = NMF(k, beta_loss=beta, tol=0, max_iter=10 * short.n_iter_).fit(X)
        above = short.history_["objective"][-1] / long.history_["objective"][-1] - 1
        table.append({"data": name, "beta": beta, "n_iter": short.n_iter_, "above": float(above)})
    lines = ["how far above ten times the iterations a default fit ends:"]
    lines += [
        f"  {row['data']:14s} β={row['beta']:g}  {row['n_iter']:4d} iterations  {100 * row['above']:7.3f} %"
        for row in table
    ]
    summary = {"table": table, "lines": lines}
    write_json(folder / "stopping.json", summary)
    return summary
