"""Extrapolation with restart (Ang & Gillis 2019), for solvers that update each factor with the other held.

A step from the current point (W, H), with β in [0, 1]:

1. H is pushed on along its last move: Ĥ = max(c H, H + β (H − H₋)), with c = 0 unless zero is a pole.
2. W is updated with Ĥ held, then pushed on: W⁺ = max(c W′, W′ + β (W′ − W′₋)), W′ being the update itself.
3. H is updated with W⁺ held, from Ĥ: H⁺.
4. The new point is (W⁺, H⁺). Its objective falls out of the sums that the H-update used.

If the objective fell, β grows; if it rose, the step is undone, β shrinks, and a plain step is made instead,
which cannot raise it. So the objective of the points handed out never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from partwise.core import Info, Problem, State
from partwise.jit import njit
from partwise.parallel import over_rows
from partwise.priors import Terms

#: Moves a block of rows of W on, after their update and before H is told of them.
Push = Callable[[slice, np.ndarray], None]
#: (state, push) → (violation, objective): one iteration, in place.
Attempt = Callable[[State, Push | None], tuple[float, float]]


@dataclass
class Momentum:
    """β, its cap, and the last β that worked.

    The schedule is that of Ang & Gillis: β starts at 0.5 and grows by 1 % a step up to the cap, which itself
    grows by half a percent up to 1; when the objective rises the cap becomes the last β that worked, and β is
    divided by 1.5.
    """

    beta: float = 0.5
    cap: float = 1.0
    last: float = 0.5

    def worked(self) -> None:
        """The objective fell."""
        self.last = self.beta
        self.beta = min(self.cap, 1.01 * self.beta)
        self.cap = min(1.0, 1.005 * self.cap)

    def failed(self) -> None:
        """The objective rose."""
        self.cap = self.last
        self.beta /= 1.5

    def array(self) -> np.ndarray:
        """As an array, for the state."""
        return np.array([self.beta, self.cap, self.last])


def pushed(A: np.ndarray, before: np.ndarray, beta: float, floor: float) -> np.ndarray:
    """A + β (A − before), but no entry below `floor` times its value in A."""
    out = np.empty_like(A)
    kind = A.dtype.type
    over_rows(
        lambda a, b: push_rows(A[a:b], before[a:b], kind(beta), kind(floor), out[a:b]), len(A), grain=256
    )
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def push_rows(A: np.ndarray, before: np.ndarray, beta: float, floor: float, out: np.ndarray) -> None:
    """One pass over a range of rows."""
    for i in range(A.shape[0]):
        for t in range(A.shape[1]):
            out[i, t] = max(A[i, t] + beta * (A[i, t] - before[i, t]), floor * A[i, t])


def lowest(problem: Problem, terms: Terms) -> float:
    """How far down an entry may be pushed, as a share of its value.

    To zero, unless zero is a pole: of the prior, or of the loss, where an entry pushed to zero leaves
    data unexplained at an enormous price.
    """
    return 0.3 if terms.log > 0 or problem.loss.beta < 2.0 else 0.0


def rounding(problem: Problem) -> float:
    """How much of an objective that is found as a difference of large sums may be rounding."""
    return float(np.finfo(problem.X.dtype).eps) * abs(problem.constant())


def balance(problem: Problem, state: State) -> None:
    """Give each component's two halves the same largest entry, where nothing settles how they share its size.

    Pushing on lets one half grow and the other shrink without end; the product does not notice, rounding does.
    """
    if not (problem.prior_W.empty and problem.prior_H.empty and problem.free_H is None):
        return
    top_W, top_H = state.W.max(axis=0, initial=0.0), state.Ht.max(axis=0, initial=0.0)
    alive = (top_W > 0) & (top_H > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(alive, np.sqrt(top_H.astype(float) / top_W), 1.0)
    if scale.max() < 30 and scale.min() > 1 / 30:
        return
    extra = state.extra or {}
    for A, factor in (
        (state.W, scale),
        (extra.get("W"), scale),
        (state.Ht, 1 / scale),
        (extra.get("Ht"), 1 / scale),
    ):
        if A is not None:
            A *= factor.astype(A.dtype)


def extrapolated_step(problem: Problem, state: State, attempt: Attempt, slack: float) -> tuple[State, Info]:
    """One step as described above; rises of up to `slack` are taken for rounding."""
    if state.iteration % 10 == 9:
        balance(problem, state)
    extra = state.extra or {}
    momentum = Momentum(*extra.get("momentum", (0.5, 1.0, 0.5)))
    W_last, Ht_last = extra.get("W"), extra.get("Ht", state.Ht)
    floor_W, floor_H = lowest(problem, problem.prior_W), lowest(problem, problem.prior_H)
    trial = State(state.W.copy(), pushed(state.Ht, Ht_last, momentum.beta, floor_H))
    W_plain = np.empty_like(state.W)

    def push(rows: slice, A: np.ndarray) -> None:
        W_plain[rows] = A
        if W_last is not None:
            A[:] = pushed(W_plain[rows], W_last[rows], momentum.beta, floor_W)

    violation, objective = attempt(trial, push)
    before = state.Ht
    if objective <= state.objective + slack:
        momentum.worked()
        state.W, state.Ht = trial.W, trial.Ht
    else:
        momentum.failed()
        before = state.Ht.copy()
        violation, objective = attempt(state, None)
        W_plain[:] = state.W
    state.objective = objective
    # The move from an arbitrary start says nothing of where to go on: H is not pushed along it.
    state.extra = {
        "momentum": momentum.array(),
        "W": W_plain,
        "Ht": before if W_last is not None else state.Ht,
    }
    state.iteration += 1
    return state, Info(state.iteration, state.objective, violation)
