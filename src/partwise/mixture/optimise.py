"""Contrastive training: the paper's multiplicative updates (4, 5), and L-BFGS on the same objective."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled, penalised, sums

#: Told the step, the objective and the components; True ends the run.
Watch = Callable[[int, float, Components], bool]


def multiplicative(
    data: Labelled, start: Components, penalty: float, max_iter: int, tol: float, watch: Watch
) -> tuple[Components, bool]:
    """Equations 4 and 5, in turn; the objective never falls.

    W alone has the exponent 1 (the bound of L₋ is linear in W), θ alone 1/η with η the largest row sum of the
    features (Jensen: e^{δ·h} ≤ Σ_μ (h_μ/η) e^{ηδ_μ} + 1 − Σ_μ h_μ/η); both at once, as the paper may be read, would
    need a larger η. With a penalty, the step of θ is the root of A − B e^{ηδ} − λ(θ + δ), which is (5) at λ = 0.
    """
    now = start.copy()
    eta = max(float(data.X.sum(axis=1, dtype=float).max()), 1e-300)
    weight = penalty * data.total
    before = -np.inf
    for step in range(max_iter):
        value, (plus, minus) = sums(data, now, apart=True)
        objective = penalised(value, data.total, now, penalty)
        if watch(step, objective, now):
            return now, True
        if step > 0 and objective - before <= tol * max(1.0, abs(before)):
            return now, True
        before = objective
        now.log_weight = now.log_weight + _log_ratio(plus[:, -1], minus[:, -1])
        now.log_weight -= now.log_weight.max()
        _, (plus, minus) = sums(data, now, apart=True)
        now.exponents = now.exponents + theta_step(plus[:, :-1], minus[:, :-1], now.exponents, eta, weight)
    return now, False


def _log_ratio(plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).tiny
    return np.log(np.maximum(plus, tiny)) - np.log(np.maximum(minus, tiny))


def theta_step(
    plus: np.ndarray, minus: np.ndarray, theta: np.ndarray, eta: float, weight: float
) -> np.ndarray:
    """δ with A − B e^{ηδ} = λ(θ + δ); without a penalty log(A/B)/η, and 0 for a feature that never occurs."""
    free = _log_ratio(plus, minus) / eta
    dead = (plus <= 0) & (minus <= 0)
    if weight == 0:
        return np.where(dead, 0.0, free)
    # The left side falls and the right side rises with δ: one root, between the free step and −θ.
    low, high = np.minimum(free, -theta), np.maximum(free, -theta)
    low, high = np.where(dead, -theta, low), np.where(dead, -theta, high)
    delta = 0.5 * (low + high)
    for _ in range(60):
        push = minus * np.exp(np.minimum(eta * delta, 700.0))
        f = plus - push - weight * (theta + delta)
        low, high = np.where(f > 0, delta, low), np.where(f > 0, high, delta)
        newton = delta + f / (eta * push + weight)
        inside = (newton > low) & (newton < high)
        then = np.where(inside, newton, 0.5 * (low + high))
        if np.abs(then - delta).max() <= 1e-14 * (1.0 + np.abs(delta).max()):
            return then
        delta = then
    return delta


def lbfgs(
    data: Labelled, start: Components, penalty: float, max_iter: int, tol: float, watch: Watch
) -> tuple[Components, bool]:
    """Limited-memory BFGS on −L_C / Σw + λ/2 ‖θ‖²."""
    shape, starts = start.exponents.shape, start.starts
    size = start.exponents.size
    last: dict[str, float] = {}

    def unpacked(x: np.ndarray) -> Components:
        return Components(x[:size].reshape(shape), x[size:], starts)

    def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
        components = unpacked(x)
        value, (gradient,) = sums(data, components)
        gradient = gradient / data.total
        gradient[:, :-1] -= penalty * components.exponents
        last["objective"] = penalised(value, data.total, components, penalty)
        return -last["objective"], -np.concatenate([gradient[:, :-1].ravel(), gradient[:, -1]])

    steps = 0
    stopped = False

    def callback(intermediate_result: object) -> None:
        nonlocal steps, stopped
        steps += 1
        objective = -float(intermediate_result.fun)  # type: ignore[attr-defined]
        if watch(steps, objective, unpacked(intermediate_result.x)):  # type: ignore[attr-defined]
            stopped = True
            raise StopIteration

    begin = np.concatenate([start.exponents.ravel(), start.log_weight]).astype(float)
    found = minimize(
        cost,
        begin,
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        options={"maxiter": max_iter, "maxcor": 20, "ftol": tol, "gtol": 1e-9, "maxfun": 3 * max_iter},
    )
    done = unpacked(found.x.copy())
    done.log_weight = done.log_weight - done.log_weight.max()
    return done, stopped or steps < max_iter
