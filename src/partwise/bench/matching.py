"""From curves to one number: how much sooner partwise reaches the objective that a peer ends at.

NMF has many local optima, so times to a common gap mean little. The peer is run long; t_peer is when it first
comes within 1e-3 of its own progress, (e − e_long) / (e₀ − e_long) ≤ 1e-3, and e* is where it then is; t_ours is
when partwise first reaches e ≤ e*. A run of partwise that ends above e* costs the time until it converged (the
objective falls by less than 1e-5 of itself a step, averaged over ten), and the next start goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GAP = 1e-3


def peer_target(curve: dict[str, Any], gap: float = GAP) -> tuple[float, float]:
    """The time t_peer, and the objective e* that the peer then has."""
    e = np.minimum.accumulate(np.array(curve["objective"]))
    progress = (e - e[-1]) / max(e[0] - e[-1], 1e-300)
    first = int(np.argmax(progress <= gap))
    return float(curve["seconds"][first]), float(e[first])


def time_to(curve: dict[str, Any], target: float) -> float | None:
    """When the curve first reaches the target."""
    e = np.array(curve["objective"])
    below = np.flatnonzero(e <= target)
    return float(curve["seconds"][below[0]]) if len(below) else None


def time_with_restarts(curves: list[dict[str, Any]], first: int, target: float) -> float | None:
    """Time of the run from start `first`, and of the next starts, until one reaches the target."""
    spent = 0.0
    for i in range(len(curves)):
        curve = curves[(first + i) % len(curves)]
        reached = time_to(curve, target)
        if reached is not None:
            return spent + reached
        converged_after = curve.get("converged_after")
        spent += float(curve["seconds"][-1] if converged_after is None else converged_after)
    return None


def own_gaps(curve: dict[str, Any]) -> dict[str, float | None]:
    """Time until a curve is within 1e-2, 1e-3 and 1e-4 of its own end."""
    return {f"{gap:g}": peer_target(curve, gap)[0] for gap in (1e-2, 1e-3, 1e-4)}
