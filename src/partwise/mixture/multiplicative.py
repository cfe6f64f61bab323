"""The multiplicative updates of Lee, Seung & Saul (equations 4 and 5), extended to the penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from partwise.core import Info
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive, sums
from partwise.mixture.training import TrainingState, note_validation, start_validation


@dataclass
class MultiplicativeState(TrainingState):
    """A `TrainingState` with Σ_k w_k r⁺_kj (h_k, 1) and the same for r⁻, which the next step needs."""

    plus: np.ndarray | None = None
    minus: np.ndarray | None = None


class Multiplicative:
    """Equations 4 and 5 of Lee, Seung & Saul, in turn; the objective never falls.

    W alone has the exponent 1 (the bound of L₋ is linear in W), θ alone 1/η with η the largest row sum of the
    features (Jensen: e^{δ·h} ≤ Σ_μ (h_μ/η) e^{ηδ_μ} + 1 − Σ_μ h_μ/η); both at once, as (4) and (5) may also be
    read, would need a larger η. With a penalty, the step of θ is the root of A − B e^{ηδ} − λ(θ + δ), which is (5)
    at λ = 0.
    """

    def init(self, problem: Contrastive, start: Components) -> MultiplicativeState:
        """The state at a start."""
        return start_validation(problem, MultiplicativeState(problem.vector(start)))

    def value(self, problem: Contrastive, state: MultiplicativeState) -> float:
        """The objective; the sums that come with it are kept in the state."""
        components = problem.components(state.x)
        value, (plus, minus) = sums(problem.data, components, apart=True)
        state.plus, state.minus = plus, minus
        state.objective = problem.penalised(value, components.exponents)
        if state.iteration == 0:
            state.best_objective = state.objective
        return state.objective

    def sums_for_theta(
        self, problem: Contrastive, state: MultiplicativeState, now: Components
    ) -> list[np.ndarray]:
        """The sums that the step of θ is made from: those at the new W."""
        return sums(problem.data, now, apart=True)[1]

    def step(
        self, problem: Contrastive, state: MultiplicativeState, rng: np.random.Generator
    ) -> tuple[MultiplicativeState, Info]:
        """W, then θ."""
        if state.plus is None or state.minus is None:
            self.value(problem, state)
        assert state.plus is not None
        assert state.minus is not None
        data = problem.data
        now = problem.components(state.x).copy()
        now.log_weight += _log_ratio(state.plus[:, -1], state.minus[:, -1])
        now.log_weight -= now.log_weight.max()
        plus, minus = self.sums_for_theta(problem, state, now)
        weight = problem.penalty * data.total
        now.exponents += theta_step(plus[:, :-1], minus[:, :-1], now.exponents, problem.eta, weight)
        after = replace(state, x=problem.vector(now), iteration=state.iteration + 1)
        self.value(problem, after)
        return after, Info(after.iteration, after.objective, notes=note_validation(problem, after))


class AtOnce(Multiplicative):
    """Equations 4 and 5 from the same sums, with the exponents as printed; a step needs one pass instead of two.

    With log W as the exponent of a feature that is always 1, row sums are at most η + 1, so Jensen's bound of both
    steps together needs the exponent 1/(η + 1) for both. With 1 for W and 1/η for θ nothing bounds the objective from
    below: near the optimum it rises all the same, far from it a step may lower it.
    """

    def sums_for_theta(
        self, problem: Contrastive, state: MultiplicativeState, now: Components
    ) -> list[np.ndarray]:
        """The sums at the old W."""
        assert state.plus is not None
        assert state.minus is not None
        return [state.plus, state.minus]


def _log_ratio(plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).tiny
    return np.log(np.maximum(plus, tiny)) - np.log(np.maximum(minus, tiny))


def theta_step(
    plus: np.ndarray, minus: np.ndarray, theta: np.ndarray, eta: float, weight: float
) -> np.ndarray:
    """δ with A − B e^{ηδ} = λ(θ + δ); without a penalty log(A/B)/η, and 0 for a feature that never occurs.

    Parameters
    ----------
    plus, minus : arrays of shape (J, d)
        A and B: Σ_k w_k r⁺_kj h_k and Σ_k w_k r⁻_kj h_k.
    theta : array of shape (J, d)
    eta : float
        The largest row sum of the features.
    weight : float
        λ, the penalty times the sum of the samples' weights.

    Returns
    -------
    array of shape (J, d)
    """
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
