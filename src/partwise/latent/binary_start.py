"""Where BinaryNMF starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from partwise.core import Problem, Session, run
from partwise.initial import start_factors
from partwise.latent.counts import Counts
from partwise.solvers import best_solver


def random_start(
    counts: Counts, n_components: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Uniform components of the data's scale, a random π."""
    pi = rng.uniform(0.1, 0.5)
    scale = 2.0 * counts.mean / (pi * n_components)
    return scale * rng.random((n_components, counts.n_features)), np.full(n_components, pi)


def data_start(counts: Counts, n_components: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Samples as components, a little noise added where they are zero."""
    chosen = rng.choice(counts.n_rows, n_components, replace=counts.n_rows < n_components)
    rows = []
    for i in chosen:
        y, omega = counts.rows(int(i), int(i) + 1)
        rows.append((y / np.maximum(omega, 1e-12) if omega is not None else y)[0])
    W = np.array(rows) + 0.1 * counts.mean * rng.random((n_components, counts.n_features))
    return W, np.full(n_components, min(0.5, 1.5 / n_components))


def nmf_start(
    session: Session,
    counts: Counts,
    n_components: int,
    rng: np.random.Generator,
    value: Callable[[np.ndarray, np.ndarray], float],
    starts: int = 4,
) -> tuple[np.ndarray, np.ndarray]:
    """The best of a few `cut_nmf`, judged by `value`, the log-likelihood of (components, π).

    Most of them find all parts, some merge two; the binary likelihood separates these clearly, the NMF's own
    error hardly. Ctrl-C or the time limit ends the choice: the first NMF as it stands is a start.
    """

    def choices() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        best, highest = None, -np.inf
        for child in rng.spawn(starts):
            W, on = cut_nmf(counts, n_components, child)
            start = W, np.full(n_components, on.mean())
            best = best or start
            yield best
            if session.stopped:
                return
            judged = value(*start)
            if judged > highest:
                best, highest = start, judged
        if best is not None:
            yield best

    return session.latest(choices())


def cut_nmf(
    counts: Counts, n_components: int, rng: np.random.Generator, iterations: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    """A Frobenius NMF from a random start, its usage cut into on and off.

    A component that is on or off has usages near 0 and near one level c; Σu² / Σu is that level. The component
    takes c over, and its π is the share of samples above c / 2.
    """
    problem = Problem(counts.X)
    solver = best_solver(problem)
    # Components at random, usage by solving for it: the start then does not depend on how often a row occurs.
    _, Ht = start_factors(counts.X, n_components, "random", rng)
    W = solver.solve_rows(Problem(counts.X, update_H=False), Ht, 10, 1e-2)
    state = run(
        problem,
        solver,
        solver.init(problem, W, Ht),
        stopping=solver.stopping(1e-5),
        max_iter=iterations,
        rng=rng,
    ).state
    usage = state.W.astype(float)
    components = np.ascontiguousarray(state.Ht.T, dtype=float)
    seen = observed_share(counts, components)
    total = (seen * usage).sum(axis=0)
    level = np.divide((seen * usage**2).sum(axis=0), total, out=np.ones_like(total), where=total > 0)
    components *= level[:, None]
    on = (seen * (usage > 0.5 * level)).sum(axis=0) / np.maximum(seen.sum(axis=0), 1e-300)
    # Zeros stay zero under the EM rule; what looks like zero here may be wanted later.
    components += 1e-3 * counts.mean
    return components, np.clip(on, 1e-3, 0.9)


def observed_share(counts: Counts, components: np.ndarray) -> np.ndarray:
    """How much each row says of each component: its weight, times the share of the component observed there.

    Where little of a component is observed its usage is hardly known, and may be any number.
    """
    r = counts.row_weight[:, None]
    if not counts.weighted:
        return r
    squares = components**2
    return np.asarray(r * counts.totals(squares) / np.maximum(squares.sum(axis=1), 1e-300))
