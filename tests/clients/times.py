"""How long cNMF takes to factorize with partwise's function in place of scikit-learn's, both in turn.

    make clients && .venv-clients/bin/python tests/clients/times.py

1,500 cells and 2,000 genes, eight runs, `solver="mu"` as cNMF asks for it; whole calls, the quicker of two, after
everything is compiled.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import sklearn.decomposition

import partwise

CELLS, GENES, PARTS, RUNS, ROUNDS = 1500, 2000, 8, 8, 2


def factorized(function: Callable[..., Any], loss: str, runs: int) -> float:
    """Seconds of cNMF's runs."""
    import anndata
    import pandas as pd

    # (Beside this file, where a script finds it.)
    planted_counts = importlib.import_module("run").planted_counts
    module = importlib.import_module("cnmf.cnmf")
    module.non_negative_factorization = function
    counts, _ = planted_counts(CELLS, GENES, PARTS)
    names = [[f"{what}{i}" for i in range(n)] for what, n in (("cell", CELLS), ("gene", GENES))]
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        file = Path(folder) / "counts.h5ad"
        obs, var = (pd.DataFrame(index=index) for index in names)
        anndata.AnnData(counts.astype(float), obs=obs, var=var).write_h5ad(file)
        client = module.cNMF(output_dir=folder, name="run")
        client.prepare(
            str(file), components=[PARTS], n_iter=runs, seed=1, num_highvar_genes=GENES, beta_loss=loss
        )
        begin = perf_counter()
        client.factorize(worker_i=0, total_workers=1)
        return perf_counter() - begin


def main() -> None:
    """Print a line for each loss."""
    warnings.simplefilter("ignore")
    libraries = {"ours": partwise, "theirs": sklearn.decomposition}
    for loss in ("kullback-leibler", "frobenius"):
        for library in libraries.values():
            factorized(library.non_negative_factorization, loss, 1)
        seconds = dict.fromkeys(libraries, np.inf)
        for _ in range(ROUNDS):
            for name, library in libraries.items():
                seconds[name] = min(seconds[name], factorized(library.non_negative_factorization, loss, RUNS))
        print(
            f"cNMF, {CELLS} × {GENES}, {PARTS} programmes, {RUNS} runs, {loss}: "
            f"{seconds['theirs'] / seconds['ours']:.2f}× ({seconds['ours']:.2f} and {seconds['theirs']:.2f} s)",
            flush=True,
        )


if __name__ == "__main__":
    main()
