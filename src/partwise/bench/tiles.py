"""Boolean factorization against other libraries: wrong entries and seconds, each run in a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

from partwise.datasets import fetch_boolean_records, make_boolean

#: Tables and numbers of tiles; those named after a file need PARTWISE_DATA.
TABLES: dict[str, tuple[str, tuple[int, ...]]] = {
    "planted": ("", (30,)),
    "planted-noisy": ("", (30,)),
    "zoo": ("small", (2, 5, 10)),
    "heart": ("small", (2, 5, 10)),
    "lymp": ("small", (2, 5, 10)),
    "apb": ("small", (2, 5, 10)),
    "tumor": ("large", (10,)),
    "paleo": ("large", (10,)),
    "breast": ("large", (23,)),
    "chess_krvskp": ("large", (10,)),
}
PARTWISE = "partwise"


def table_of(name: str) -> np.ndarray:
    """A table of bool; missing entries count as zeros here, since most peers cannot leave them out."""
    if name == "planted":
        return np.asarray(make_boolean(random_state=0).data, dtype=bool)
    if name == "planted-noisy":
        return np.asarray(make_boolean(noise_add=0.05, noise_drop=0.15, random_state=0).data, dtype=bool)
    which: Literal["small", "large"] = "small" if TABLES[name][0] == "small" else "large"
    return np.asarray(fetch_boolean_records(which).data[name]) == 1


def partwise_tiles(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """BooleanMF with its default search."""
    from partwise.models import BooleanMF

    model = BooleanMF(k, objective="error", random_state=0)
    usage = model.fit_transform(X)
    return usage, model.components_, {name: values.tolist() for name, values in model.history_.items()}


def nmf_threshold(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """scikit-learn's NMF, both factors scaled to a largest value of 1 and cut at the best threshold."""
    from sklearn.decomposition import NMF

    model = NMF(k, random_state=0, max_iter=500)
    W = model.fit_transform(X.astype(np.float32))
    H = model.components_
    scale = np.sqrt(W.max(axis=0) * H.max(axis=1))
    W = W / np.maximum(W.max(axis=0), 1e-12) * scale
    H = H / np.maximum(H.max(axis=1), 1e-12)[:, None] * scale[:, None]
    best: tuple[float, Any] = (np.inf, None)
    for tau in np.arange(0.05, 1.0, 0.05):
        U, V = tau < W, tau < H
        wrong = ((U.astype(np.float32) @ V.astype(np.float32) > 0) != X).sum()
        best = min(best, (float(wrong), (U, V)), key=lambda pair: pair[0])
    return (*best[1], {})


def pybmf(make: Callable[[Any, int], Any]) -> Callable[[np.ndarray, int], Any]:
    """A racer for one of PyBMF's models."""

    def run(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        import matplotlib
        import scipy.sparse as sp

        matplotlib.use("Agg")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            from PyBMF import models

            model = make(models, k)
            # It draws even with show_result=False.
            type(model).show_matrix = lambda *_, **__: None
            model.fit(
                sp.csr_matrix(X.astype(float)),
                task="reconstruction",
                verbose=False,
                display=False,
                show_logs=False,
                save_model=False,
                show_result=False,
            )
        U, V = (np.asarray(A.todense() if sp.issparse(A) else A) > 0.5 for A in (model.U, model.V))
        return U[:, :k], V[:, :k].T, {}

    return run


def elbmf(_: Any, k: int) -> Any:
    """ELBMF, which PyBMF does not export and which needs torch."""
    from PyBMF.models.ELBMF import ELBMF

    return ELBMF(k=k, init_method="uniform", rounding=True, seed=0)


RACERS: dict[str, Callable[[np.ndarray, int], Any]] = {
    PARTWISE: partwise_tiles,
    "sklearn-nmf-threshold": nmf_threshold,
    "pybmf-asso": pybmf(lambda models, k: models.Asso(tau=0.5, k=k)),
    "pybmf-grecond": pybmf(lambda models, k: models.GreConD(k=k)),
    "pybmf-panda": pybmf(lambda models, k: models.Panda(k=k)),
    "pybmf-mebf": pybmf(lambda models, k: models.MEBF(k=k, t=0.5)),
    "pybmf-elbmf": pybmf(elbmf),
}


def timed_run(name: str, k: int, racer: str) -> dict[str, Any]:
    """Wrong entries and seconds of one racer on one table.

    An unmeasured run comes first, on a corner of the table or cut short, so that compiling and importing are off the
    clock.
    """
    X = table_of(name)
    if racer != PARTWISE:
        with contextlib.suppress(Exception):
            RACERS[racer](X[:40, :12], 2)
    else:
        from partwise.models import BooleanMF

        BooleanMF(min(k, 13), max_time=0.5, patience=10, random_state=0).fit(X)
    begin = perf_counter()
    U, V, history = RACERS[racer](X, k)
    seconds = perf_counter() - begin
    wrong = int(((U.astype(np.float32) @ V.astype(np.float32) > 0) != X).sum())
    return {"wrong": wrong, "seconds": seconds, "history": history}


def race_tiles(folder: Path, names: Sequence[str], racers: Sequence[str], limit: float) -> dict[str, Any]:
    """Race every racer on every table, and write `tiles.json`.

    Parameters
    ----------
    folder : Path
        Where the file goes.
    names : sequence of str
        Names of tables; all that can be had if none is given.
    racers : sequence of str
        Names of the other racers.
    limit : float
        Seconds after which a run is ended.

    Returns
    -------
    dict
        The contents of `tiles.json`.
    """
    from rich.console import Console
    from rich.progress import Progress

    tables = names or [
        name for name, (source, _) in TABLES.items() if not source or "PARTWISE_DATA" in os.environ
    ]
    runs = [(name, k, racer) for name in tables for k in TABLES[name][1] for racer in (PARTWISE, *racers)]
    results = []
    with Progress(console=Console(file=sys.stderr)) as bar:
        task = bar.add_task("compiling, if that was not done before", total=len(runs))
        # Compiled once for all runs, and kept on disk: no run's limit should be spent on it.
        run_in_process(tables[0], TABLES[tables[0]][1][0], PARTWISE, limit + 600.0)
        for name, k, racer in runs:
            bar.update(task, description=f"{name} · {k} tiles · {racer}")
            results.append({"table": name, "k": k, "racer": racer, **run_in_process(name, k, racer, limit)})
            bar.advance(task)
    summary: dict[str, Any] = {"limit": limit, "runs": results}
    summary["lines"] = table_lines(results)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiles.json").write_text(json.dumps(summary), encoding="utf-8")
    return summary


def run_in_process(name: str, k: int, racer: str, limit: float) -> dict[str, Any]:
    """The result of `timed_run` in its own process, ended after `limit` seconds."""
    command = [sys.executable, "-m", "partwise.bench.tiles", name, str(k), racer]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"skipped": f"not done after {limit:g} s"}
    if done.returncode != 0:
        return {"skipped": "failed: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table_lines(results: Sequence[dict[str, Any]]) -> list[str]:
    """The results as lines of text: partwise, then each peer with the time at which partwise was no worse."""
    out = ["table            k  racer                    wrong    seconds   ours no worse after"]
    own: dict[str, Any] = {}
    for run in results:
        if run["racer"] == PARTWISE:
            own = run
        place = f"{run['table']:15s} {run['k']:2d}  {run['racer']:22s}"
        if "skipped" in run:
            out.append(f"{place}  {run['skipped']}")
            continue
        after = time_to_match(own, run["wrong"])
        when = "" if run is own else "   never" if after is None else f"   {after:9.3f} s"
        out.append(f"{place} {run['wrong']:7d}  {run['seconds']:9.3f} {when}")
    return out


def time_to_match(own: dict[str, Any], wrong: float) -> float | None:
    """Seconds until the run of partwise had no more than `wrong` wrong entries; None if it never had."""
    history = own.get("history") or {"seconds": [], "error": []}
    for seconds, error in zip(history["seconds"], history["error"]):
        if error <= wrong:
            return float(seconds)
    return float(own["seconds"]) if own.get("wrong", np.inf) <= wrong else None


if __name__ == "__main__":
    print(json.dumps(timed_run(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
