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
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from partwise.core import Info, Problem, State
from partwise.jit import njit
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Terms


class Attempted(NamedTuple):
    """One iteration from a state, whose factors it replaced: violation met, objective, and W before it was pushed."""

    violation: float
    objective: float
    W_plain: np.ndarray


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


def pushed(A: np.ndarray, before: np.ndarray, beta: float, floor: float, terms: Terms) -> np.ndarray:
    """A + β (A − before), within the bounds, and nonnegative entries no lower than `floor` times their value."""
    out = np.empty_like(A)
    kind = A.dtype.type
    low, high, share = kind(terms.lower), kind(terms.upper), kind(floor)
    over_rows(
        lambda a, b: push_rows(A[a:b], before[a:b], kind(beta), share, low, high, out[a:b]),
        len(A),
        grain=worthwhile(A.shape[1], 256),
    )
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def push_rows(
    A: np.ndarray, before: np.ndarray, beta: float, floor: float, low: float, high: float, out: np.ndarray
) -> None:
    """One pass over a range of rows."""
    for i in range(A.shape[0]):
        for t in range(A.shape[1]):
            least = max(low, floor * A[i, t]) if low >= 0.0 else low
            out[i, t] = min(max(A[i, t] + beta * (A[i, t] - before[i, t]), least), high)


def lowest(problem: Problem, terms: Terms) -> float:
    """How far down an entry may be pushed, as a share of its value.

    To zero, unless zero is a pole: of the prior, or of the loss, where an entry pushed to zero leaves
    data unexplained at an enormous price.
    """
    return 0.3 if terms.has_log or problem.loss.pole else 0.0


def rounding(problem: Problem) -> float:
    """How much an objective may change by rounding, where it is found as a difference of large sums."""
    return 2.0 * float(np.finfo(problem.X.dtype).eps) * abs(problem.constant())


def balance(problem: Problem, state: State) -> None:
    """Give each component's two halves the same largest entry, where nothing settles how they share its size.

    Pushing on lets one half grow and the other shrink without end; the product does not notice, rounding does.
    """
    terms = problem.terms_W, problem.terms_H
    free = all(one.scale_free or (one.empty and one.lower == 0.0) for one in terms)
    tied = bool(problem.prior_W.couplings() or problem.prior_H.couplings())
    tied = tied or not all(one.scale_free for one in problem.pairings)
    if not free or tied or problem.free_H is not None or problem.free_W is not None:
        return
    top_W, top_H = np.abs(state.W).max(axis=0, initial=0.0), np.abs(state.Ht).max(axis=0, initial=0.0)
    alive = (top_W > 0) & (top_H > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.sqrt(top_H.astype(float) / top_W)
        # As far as bounds let them.
        scale = np.clip(scale, top_H / terms[1].upper, terms[0].upper / top_W)
        scale = np.where(alive, scale, 1.0)
    if scale.max() < 30 and scale.min() > 1 / 30:
        return
    grown, shrunk = scale.astype(state.W.dtype), (1 / scale).astype(state.W.dtype)
    # New arrays: the factors and what is remembered of them may share memory.
    state.W, state.Ht = state.W * grown, state.Ht * shrunk
    if state.extra is not None:
        # (Sums that were found with the old factors no longer hold.)
        state.extra = {key: part for key, part in state.extra.items() if key not in KNOWN}
        state.extra |= {"W": state.extra["W"] * grown, "Ht": state.extra["Ht"] * shrunk}


@dataclass(frozen=True)
class Push:
    """How a step moves W on before H is updated from it, and where the next step will begin.

    Parameters
    ----------
    problem : Problem
        What is solved.
    momentum : Momentum
        β of this step.
    W_last : array of shape (n_samples, n_components), optional
        W of the step before, before it was moved on; None in a first step, which moves nothing.
    Ht : array of shape (n_features, n_components)
        The transpose of H at the beginning of this step.
    """

    problem: Problem
    momentum: Momentum
    W_last: np.ndarray | None
    Ht: np.ndarray

    def __call__(self, rows: slice, A: np.ndarray) -> np.ndarray:
        """Rows of W moved on, after their update and before H is updated from them."""
        if self.W_last is None:
            return A
        terms = self.problem.terms_W
        return pushed(A, self.W_last[rows], self.momentum.beta, lowest(self.problem, terms), terms)

    def ahead(self, Ht: np.ndarray) -> np.ndarray:
        """What the next step holds when it updates W, if this one ends at `Ht` and its objective falls."""
        if self.W_last is None:
            return Ht
        later = replace(self.momentum)
        later.worked()
        terms = self.problem.terms_H
        return pushed(Ht, self.Ht, later.beta, lowest(self.problem, terms), terms)


#: (state, push) → what one iteration did.
Attempt = Callable[[State, Push | None], Attempted]

#: What a step may leave in its state for the first half of the next: sums over the data at what that will hold.
KNOWN = ("N", "G")


def extrapolated_step(problem: Problem, state: State, attempt: Attempt, slack: float) -> tuple[State, Info]:
    """One step as described above; rises of up to `slack` are taken for rounding."""
    if state.iteration % 10 == 9:
        balance(problem, state)
    extra = state.extra or {}
    momentum = Momentum(*extra.get("momentum", (0.5, 1.0, 0.5)))
    W_last, Ht_last = extra.get("W"), extra.get("Ht", state.Ht)
    floor_H = lowest(problem, problem.terms_H)
    trial = State(
        state.W,
        pushed(state.Ht, Ht_last, momentum.beta, floor_H, problem.terms_H),
        {key: extra[key] for key in KNOWN if key in extra},
    )
    made = attempt(trial, Push(problem, replace(momentum), W_last, state.Ht))
    before = state.Ht
    if made.objective <= state.objective + slack:
        momentum.worked()
    else:
        momentum.failed()
        trial = State(state.W, state.Ht)
        made = attempt(trial, None)
        trial.extra = None
    # The move from an arbitrary start says nothing of where to go on: H is not pushed along it.
    kept = {"momentum": momentum.array(), "W": made.W_plain, "Ht": before if W_last is not None else trial.Ht}
    state.W, state.Ht, state.extra, state.objective = trial.W, trial.Ht, kept, made.objective
    state.extra |= {key: part for key, part in (trial.extra or {}).items() if key in KNOWN}
    state.iteration += 1
    return state, Info(state.iteration, state.objective, made.violation)
