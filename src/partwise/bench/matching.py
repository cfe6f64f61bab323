"""From curves to the figure: how much sooner we are where a peer ends up.

NMF has many local optima, so times to a common gap mean little. The peer is run long; t_peer is when it first
comes within 1e-3 of its own progress, (e − e_long) / (e₀ − e_long) ≤ 1e-3, and e* is where it then is; t_ours is
when we first reach e ≤ e*. A run of ours that ends above e* costs the time until it stood still (the objective falls
by less than 1e-5 of itself a step, averaged over ten), and the next start goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

GAP = 1e-3


def peer_target(curve: dict[str, Any], gap: float = GAP) -> tuple[float, float]:
    """(t_peer, e*)."""
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
    """Time of our run from start `first`, and of the next starts, until one reaches the target."""
    spent = 0.0
    for i in range(len(curves)):
        curve = curves[(first + i) % len(curves)]
        reached = time_to(curve, target)
        if reached is not None:
            return spent + reached
        stood = curve.get("stood")
        spent += float(curve["seconds"][-1] if stood is None else stood)
    return None


def own_gaps(curve: dict[str, Any]) -> dict[str, float | None]:
    """Time to come within 1e-2, 1e-3 and 1e-4 of one's own end."""
    return {f"{gap:g}": peer_target(curve, gap)[0] for gap in (1e-2, 1e-3, 1e-4)}
