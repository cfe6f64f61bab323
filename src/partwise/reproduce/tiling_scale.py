"""What BooleanMF costs on a large sparse table."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from partwise.io import write_json
from partwise.models import BooleanMF


def reproduce_tiling_scale(
    folder: Path,
    n: Annotated[int, typer.Option("--rows", min=1000, help="Rows of the table.")] = 100_000,
    m: Annotated[int, typer.Option("--columns", min=100, help="Columns of the table.")] = 1000,
    rank: Annotated[int, typer.Option(min=1, help="Planted tiles.")] = 20,
    auto: Annotated[bool, typer.Option("--auto", help="Their number is to be found, too.")] = False,
    seed: int = 0,
) -> dict[str, Any]:
    """Boolean tiles in a large sparse table: time, memory, and entries wrong against the noise-free table."""
    data, clean = planted(n, m, rank, seed)
    # Compiled beforehand, on a corner.
    BooleanMF(2, random_state=0, max_time=0.1).fit(data[:200, :50])
    begin = perf_counter()
    model = BooleanMF("auto" if auto else rank, random_state=seed, verbose=1)
    usage = model.fit_transform(data)
    seconds = perf_counter() - begin
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rebuilt = boolean_product(usage, model.components_)
    summary: dict[str, Any] = {
        "n": n,
        "m": m,
        "planted": rank,
        "auto": auto,
        "found": model.n_components_,
        "density": data.nnz / (n * m),
        "wrong": int((rebuilt != clean).nnz),
        "seconds": seconds,
        "peak_bytes": size if sys.platform == "darwin" else 1024 * size,
    }
    summary["lines"] = [
        f"{n:,} × {m:,}, {100 * summary['density']:.2f} % set, {rank} tiles planted, "
        f"{'their number to be found' if auto else 'their number given'}: {model.n_components_} found, "
        f"{summary['wrong']} entries wrong against the noise-free table, {seconds:.1f} s, peak memory "
        f"{summary['peak_bytes'] / 1e9:.2f} GB"
    ]
    write_json(folder / "tiling-scale.json", summary)
    return summary


def planted(n: int, m: int, rank: int, seed: int, density: float = 0.01) -> tuple[Any, Any]:
    """A sparse table with planted tiles, with and without noise.

    Each tile has one column in fifty and as many rows as the density asks for. Noise drops a twentieth of the ones
    and sets as many zeros. No dense array of the table's size is made.
    """
    rng = np.random.default_rng(seed)
    columns = np.zeros((rank, m), bool)
    for tile in columns:
        tile[rng.choice(m, max(2, m // 50), replace=False)] = True
    usage = rng.random((n, rank)) < density * m / columns.sum()
    clean = boolean_product(usage, columns)
    kept = sp.coo_array(clean)
    keep = rng.random(kept.nnz) >= 0.05
    added = kept.nnz // 20
    rows = np.concatenate([kept.coords[0][keep], rng.integers(n, size=added)])
    places = np.concatenate([kept.coords[1][keep], rng.integers(m, size=added)])
    data = sp.csr_array((np.ones(len(rows), np.int8), (rows, places)), shape=(n, m))
    return data.astype(bool), clean


def boolean_product(usage: np.ndarray, columns: np.ndarray) -> Any:
    """The Boolean product of two factors, as a sparse matrix."""
    product = sp.csr_array(usage.astype(np.int16)) @ sp.csr_array(columns.astype(np.int16))
    return sp.csr_array(product.astype(bool))
