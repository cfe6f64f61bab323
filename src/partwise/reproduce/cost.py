"""What an iteration costs: against its own matrix products, and how it grows with the data and with threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import typer

from partwise.core import Problem, State
from partwise.io import write_json
from partwise.losses import BetaDivergence
from partwise.matrix import Dense, InMemory, Sparse
from partwise.parallel import matmul, own_threads, thread_limit
from partwise.priors import NO_TERMS
from partwise.solvers.hals import Hals, gram_sums
from partwise.solvers.scd import CoordinateDescent
from partwise.solvers.sweep import sweep

DOUBLINGS = 4


def reproduce_cost(
    folder: Path, repeats: Annotated[int, typer.Option(min=1, help="Times each task is timed.")] = 15
) -> dict[str, Any]:
    """What an iteration costs: against its matrix products, and how it grows with data and threads."""
    # Every ratio is of times taken in turn, in this run.
    with own_threads():
        iterations = [
            iteration_cost("dense 10304 × 400, k = 49", dense(10304, 400), 49, repeats),
            iteration_cost("dense 20000 × 784, k = 49", dense(20000, 784), 49, repeats),
            iteration_cost(
                "sparse 18846 × 10000, 1e6 stored, k = 20", sparse(18846, 10000, 10**6), 20, repeats
            ),
        ]
        growth = [
            slope("Frobenius, n", lambda f: (dense(8000 * f, 600), 2.0), repeats),
            slope("Frobenius, m", lambda f: (dense(4000, 1200 * f), 2.0), repeats),
            slope("Frobenius, stored", lambda f: (sparse(4000, 3000, 1_500_000 * f), 2.0), repeats),
            slope("Kullback-Leibler, n", lambda f: (dense(1000 * f, 600), 1.0), repeats),
            slope("Kullback-Leibler, m", lambda f: (dense(1000, 600 * f), 1.0), repeats),
            slope("Kullback-Leibler, stored", lambda f: (sparse(4000, 3000, 1_500_000 * f), 1.0), repeats),
        ]
        threads = [
            thread_gain(name, beta, repeats) for name, beta in (("Frobenius", 2.0), ("Kullback-Leibler", 1.0))
        ]
    summary: dict[str, Any] = {"iterations": iterations, "growth": growth, "threads": threads}
    summary["lines"] = lines(iterations, growth, threads)
    write_json(folder / "cost.json", summary)
    return summary


def dense(n: int, m: int) -> InMemory:
    """A dense matrix of uniform numbers; the cost does not depend on them."""
    return Dense.of(np.random.default_rng(0).random((n, m), dtype=np.float32))


def sparse(n: int, m: int, stored: int) -> InMemory:
    """A sparse matrix with equally many entries in each row, at random columns."""
    rng = np.random.default_rng(0)
    each = stored // n
    columns = np.sort(rng.integers(0, m, (n, each), dtype=np.int32), axis=1).ravel()
    values = rng.random(n * each, dtype=np.float32) + np.float32(0.1)
    return Sparse.of(sp.csr_matrix((values, columns, np.arange(n + 1, dtype=np.int32) * each), shape=(n, m)))


def start(X: InMemory, k: int) -> State:
    """Random factors of the data's scale."""
    rng = np.random.default_rng(1)
    scale = np.float32(np.sqrt(X.mean() / k))
    return State(
        scale * rng.random((X.shape[0], k), dtype=np.float32),
        scale * rng.random((X.shape[1], k), dtype=np.float32),
    )


def median_seconds(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median seconds of each task, the tasks taken in turn so that a slow moment of the machine affects all."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for round_ in range(repeats + 1):
        for name, task in tasks.items():
            begin = perf_counter()
            task()
            if round_ > 0:
                times[name].append(perf_counter() - begin)
    return {name: float(np.median(taken)) for name, taken in times.items()}


def iteration_cost(name: str, X: InMemory, k: int, repeats: int) -> dict[str, Any]:
    """One plain HALS iteration against its two products with X; a further sweep against its arithmetic."""
    state, problem = start(X, k), Problem(X)
    once, accelerated = Hals(inner_sweeps=1, extrapolate=False), Hals()
    rng = np.random.default_rng(0)
    moving = start(X, k)
    moving.objective = accelerated.value(problem, moving)
    sums = gram_sums(X, state.W, state.Ht)
    everything = np.arange(k)

    def sweeps(count: int) -> None:
        sweep(state.W.copy(), sums, NO_TERMS, everything, count, 0.0)

    seconds = median_seconds(
        {
            "products": lambda: (X.product(state.Ht), X.T.product(state.W)),
            "iteration": lambda: once.step(problem, State(state.W.copy(), state.Ht.copy()), rng),
            "accelerated": lambda: accelerated.step(problem, moving, rng),
            "one sweep": lambda: sweeps(1),
            "three sweeps": lambda: sweeps(3),
            # As many multiplications and additions as a sweep over W has.
            "arithmetic": lambda: matmul(state.W, sums[1]),
        },
        repeats,
    )
    return {
        "data": name,
        "iteration_to_products": seconds["iteration"] / seconds["products"],
        "further_sweep_to_arithmetic": (seconds["three sweeps"] - seconds["one sweep"])
        / 2
        / seconds["arithmetic"],
        "share_of_products": seconds["products"] / seconds["accelerated"],
        "seconds": seconds,
    }


def slope(name: str, make: Callable[[int], tuple[InMemory, float]], repeats: int) -> dict[str, Any]:
    """Slope of log time against log size over four doublings, one iteration of the default solver."""
    tasks: dict[str, Callable[[], object]] = {}
    factors = [2**i for i in range(DOUBLINGS + 1)]
    for factor in factors:
        X, beta = make(factor)
        tasks[str(factor)] = stepper(X, beta)
    seconds = list(median_seconds(tasks, repeats).values())
    return {
        "what": name,
        "slope": float(np.polyfit(np.log(factors), np.log(seconds), 1)[0]),
        "seconds": seconds,
    }


def stepper(X: InMemory, beta: float, k: int = 20) -> Callable[[], object]:
    """A plain iteration (no extrapolation, so that all cost the same) from the same point every time."""
    loss = BetaDivergence(beta)
    problem = Problem(X, loss, shift=loss.shift(X.mean(), X.dtype))
    solver: Any = (
        Hals(extrapolate=False, inner_sweeps=1) if beta == 2.0 else CoordinateDescent(extrapolate=False)
    )
    state = start(X, k)
    rng = np.random.default_rng(0)

    def step() -> object:
        fresh = State(state.W.copy(), state.Ht.copy())
        fresh.objective = 0.0
        return solver.step(problem, fresh, rng)

    return step


def thread_gain(name: str, beta: float, repeats: int) -> dict[str, Any]:
    """Time of an iteration with one thread, divided by that with two."""
    step = stepper(dense(8000, 600), beta)

    def limited(count: int) -> Callable[[], object]:
        def task() -> object:
            with thread_limit(count):
                return step()

        return task

    seconds = median_seconds({"1": limited(1), "2": limited(2)}, repeats)
    return {"what": name, "gain": seconds["1"] / seconds["2"]}


def lines(
    iterations: Sequence[dict[str, Any]], growth: Sequence[dict[str, Any]], threads: Sequence[dict[str, Any]]
) -> list[str]:
    """The results as lines of text."""
    out = [
        "one HALS iteration with one sweep, its two products with X = 1; a further sweep, its arithmetic = 1:"
    ]
    out += [
        f"  {row['data']:42s} iteration {row['iteration_to_products']:.2f}  "
        f"further sweep {row['further_sweep_to_arithmetic']:.2f}  "
        f"products' share of an accelerated iteration {100 * row['share_of_products']:.0f} %"
        for row in iterations
    ]
    out.append(f"log-log slope of an iteration's time over {DOUBLINGS} doublings:")
    out += [f"  {row['what']:26s} {row['slope']:.2f}" for row in growth]
    out.append("two threads against one:")
    out += [f"  {row['what']:26s} {row['gain']:.2f}×" for row in threads]
    return out
