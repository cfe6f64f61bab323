"""What BinaryNMF costs: its exact E-step beside its own matrix products, and a fit with many components."""

from __future__ import annotations

import resource
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from partwise.io import write_json
from partwise.latent.counts import Counts
from partwise.latent.enumerated import enumerated
from partwise.latent.states import all_states
from partwise.latent.statistics import log_prior
from partwise.matrix import Dense
from partwise.models import BinaryNMF
from partwise.parallel import matmul, own_threads
from partwise.reproduce.bars import parts_found
from partwise.reproduce.cost import median_seconds


def reproduce_binary_scale(
    folder: Path,
    large: Annotated[bool, typer.Option(help="Also fit 200 components to 10,000 × 2,500 counts.")] = True,
    repeats: int = 3,
    seed: int = 0,
) -> dict[str, Any]:
    """What BinaryNMF costs: the exact E-step beside its matrix products, and a fit with many components."""
    summary: dict[str, Any] = {"e_step": e_step_cost(repeats=repeats)}
    step = summary["e_step"]
    summary["lines"] = [
        f"exact E-step, H = {step['H']}, N = {step['n']}, D = {step['d']}: {step['to_products']:.2f} × its two "
        f"matrix products; plain NumPy, broadcast over samples, states and features, takes {step['numpy']:.0f} × "
        "as long",
    ]
    if large:
        summary["large"] = many_components(seed=seed)
        fit = summary["large"]
        summary["lines"].append(
            f"H = {fit['H']}, N = {fit['n']}, D = {fit['d']}: {fit['found']} parts found of {fit['H']}, "
            f"π = {fit['activation']:.5f} (drawn {fit['drawn']:.5f}), {fit['n_iter']} steps, "
            f"{fit['seconds']:.0f} s, peak {fit['peak_bytes'] / 1e9:.2f} GB"
        )
    write_json(folder / "binary-scale.json", summary)
    return summary


def e_step_cost(H: int = 12, n: int = 10_000, d: int = 256, repeats: int = 3) -> dict[str, Any]:
    """One exact E-step; the products it is made of; the same sums in plain NumPy on a part of the rows."""
    rng = np.random.default_rng(0)
    W = rng.gamma(1.0, 5.0, (H, d))
    pi = np.full(H, 0.25)
    X = rng.poisson((rng.random((n, H)) < pi) @ W).astype(float)
    counts, states = Counts(Dense.of(X)), all_states(H)
    log_A = np.log(states @ W + counts.background)
    part = n // 20

    def products() -> None:
        # The same block heights as the E-step has.
        for _, y, _ in counts.blocks(len(states)):
            L = matmul(y, log_A.T)
            matmul(L.T, y)

    with own_threads():
        enumerated(counts, W, pi, states)
        seconds = median_seconds(
            {
                "e_step": lambda: enumerated(counts, W, pi, states),
                "products": products,
                "numpy": lambda: plain_e_step(X[:part], W, pi, states),
            },
            repeats,
        )
    return {
        "H": H,
        "n": n,
        "d": d,
        "to_products": seconds["e_step"] / seconds["products"],
        "rows_of_numpy": part,
        "numpy": seconds["numpy"] * n / part / seconds["e_step"],
    }


def plain_e_step(X: np.ndarray, W: np.ndarray, pi: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, ...]:
    """As one writes it down first: samples × states × features by broadcasting, a few rows at a time."""
    A = states @ W + 1e-12
    prior = log_prior(pi, states)
    total, pairs, cross = np.zeros(len(states)), 0.0, 0.0
    for row in np.array_split(X, max(1, len(X) // 10)):
        L = (row[:, None, :] * np.log(A)[None] - A[None]).sum(axis=2) + prior
        q = np.exp(L - L.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        total = total + q.sum(axis=0)
        cross = cross + q.T @ row
        pairs = pairs + np.einsum("ns,sh,sk->hk", q, states, states, optimize=True)
    return total, np.asarray(pairs), np.asarray(cross)


def many_components(
    H: int = 200, n: int = 10_000, d: int = 2500, active: float = 3.0, seed: int = 0
) -> dict[str, Any]:
    """Planted patches of 5 × 5 pixels on a square, three of two hundred on in an average sample."""
    rng = np.random.default_rng(seed)
    side = int(np.sqrt(d))
    squares = np.zeros((H, side, side))
    for h in range(H):
        y, x = rng.integers(0, side - 5, 2)
        squares[h, y : y + 5, x : x + 5] = 10.0 * rng.uniform(0.6, 1.4, (5, 5))
    truth = squares.reshape(H, d)
    bits = rng.random((n, H)) < active / H
    X = rng.poisson(bits @ truth).astype(np.float32)
    begin = perf_counter()
    model = BinaryNMF(H, random_state=seed, max_iter=60, verbose=1).fit(X)
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "H": H,
        "n": n,
        "d": d,
        "found": parts_found(model.components_, truth),
        "activation": model.activation_,
        "drawn": float(bits.mean()),
        "n_iter": model.n_iter_,
        "seconds": perf_counter() - begin,
        "peak_bytes": size if sys.platform == "darwin" else 1024 * size,
    }
