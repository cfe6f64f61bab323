"""One racer's run on one case, in its own process: prints its curve and its peak memory as JSON."""

from __future__ import annotations

import json
import resource
import sys
from time import perf_counter

from partwise.bench.cases import find_case
from partwise.bench.datasets import DATASETS
from partwise.bench.objective import Objective, starting_point
from partwise.bench.solvers import SOLVERS


def peak_bytes() -> int:
    """Largest resident size so far (the kernel counts in kilobytes; macOS in bytes)."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size if sys.platform == "darwin" else 1024 * size


def race(case_name: str, solver: str, seed: int, seconds: float) -> dict[str, object]:
    """Advance one racer until the seconds are used up, scoring off the clock whenever 2 % more time has passed.

    Parameters
    ----------
    case_name, solver : str
        Names of the case and of the racer.
    seed : int
        Seed of the factors to start from.
    seconds : float
        Time that the racer may take.

    Returns
    -------
    dict
        "seconds" and "objective", the curve; "iterations"; "converged_after", when the racer's stopping rule was
        met; "extra_bytes", memory beyond what was used before; "data_bytes". Only "skipped", the reason, for a
        racer that cannot run.
    """
    case = find_case(case_name)
    X = DATASETS[case.dataset]()
    Racer = SOLVERS[solver]
    reason = Racer.why_not(X, case.beta)
    if reason is not None:
        return {"solver": solver, "skipped": reason}
    W, H = starting_point(X, case.n_components, seed)
    score = Objective(X, case.beta)
    # Compile, import and touch everything once, on a copy of the start.
    Racer(X, W, H, case.beta).advance(1)
    before = peak_bytes()
    racer = Racer(X, W, H, case.beta)
    times, values = [0.0], [score(W, H)]
    clock, iterations, count, due = 0.0, 1, 0, 0.0
    converged_after: float | None = None
    while clock < seconds:
        begin = perf_counter()
        racer.advance(iterations)
        elapsed = perf_counter() - begin
        clock += elapsed
        count += iterations
        if converged_after is None and racer.converged:
            converged_after = clock
        if clock >= due:
            times.append(clock)
            values.append(score(*racer.factors()))
            due = 1.02 * clock
        if not racer.single_steps:
            # Enough iterations for the cost of a call not to count, few enough to place a time within a few percent.
            iterations = max(1, int(iterations * max(0.05, 0.04 * clock) / max(elapsed, 1e-6)))
    return {
        "solver": solver,
        "seconds": times,
        "objective": values,
        "iterations": count,
        "converged_after": converged_after,
        "extra_bytes": max(0, peak_bytes() - before),
        "data_bytes": int(X.data.nbytes if hasattr(X, "tocsr") else X.nbytes),
    }


if __name__ == "__main__":
    name, solver, seed, seconds = sys.argv[1:5]
    print(json.dumps(race(name, solver, int(seed), float(seconds))))
