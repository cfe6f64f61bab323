"""The contrastive objective of Lee, Seung & Saul (equations 2 and 3) and its gradient, threaded and in row blocks.

L_C = Σ_k w_k (log Σ_{j of y_k} W_j e^{θ_j·h_k} − log Σ_j W_j e^{θ_j·h_k}). With r⁺ the responsibilities within
the sample's own class and r⁻ those among all components, ∂L_C/∂θ_j = Σ_k w_k (r⁺_kj − r⁻_kj) h_k, and the same
without h_k for log W_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partwise.jit import njit
from partwise.mixture.components import CHUNK, Components, log_posterior
from partwise.parallel import over_rows, worthwhile

#: Strips of rows with sums of their own, added in order: the answer does not depend on the number of threads.
STRIPS = 16


@dataclass(frozen=True)
class Labelled:
    """Samples with their classes.

    Attributes
    ----------
    X : array of shape (n_samples, d)
        Features.
    y : array of int of shape (n_samples,)
        Number of each sample's class.
    weight : array of shape (n_samples,)
        How much each sample counts.
    """

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weight.sum())

    def rows(self, chosen: np.ndarray) -> Labelled:
        """The samples at these places (indices or a mask)."""
        return Labelled(np.ascontiguousarray(self.X[chosen]), self.y[chosen], self.weight[chosen])


@njit(cache=True, nogil=True)
def own_share(
    scores: np.ndarray, y: np.ndarray, starts: np.ndarray, share: np.ndarray, own: np.ndarray
) -> None:
    """r⁺ into `share`; log-sum-exp of the own class, less the row's maximum, into `own`; that is taken off scores."""
    n, J = scores.shape
    for i in range(n):
        first, last = starts[y[i]], starts[y[i] + 1]
        best = scores[i, first]
        for j in range(first + 1, last):
            best = max(best, scores[i, j])
        total = 0.0
        for j in range(first, last):
            e = np.exp(scores[i, j] - best)
            share[i, j - first] = e
            total += e
        for j in range(last - first):
            share[i, j] /= total
        top = scores[i, 0]
        for j in range(1, J):
            top = max(top, scores[i, j])
        for j in range(J):
            scores[i, j] -= top
        own[i] = best - top + np.log(total)


@njit(cache=True, nogil=True)
def balance(
    shares: np.ndarray,
    y: np.ndarray,
    starts: np.ndarray,
    share: np.ndarray,
    own: np.ndarray,
    weight: np.ndarray,
    plus: np.ndarray,
) -> float:
    """From exponentials to w r⁻ in place (w r⁺ in `plus`, if it has rows), else w (r⁺ − r⁻); the sum of w log p."""
    n, J = shares.shape
    apart = plus.shape[0] > 0
    value = 0.0
    for i in range(n):
        total = 0.0
        for j in range(J):
            total += shares[i, j]
        value += weight[i] * (own[i] - np.log(total))
        factor = weight[i] / total
        if not apart:
            factor = -factor
        for j in range(J):
            shares[i, j] *= factor
        first, last = starts[y[i]], starts[y[i] + 1]
        if apart:
            for j in range(J):
                plus[i, j] = 0.0
            for j in range(first, last):
                plus[i, j] = weight[i] * share[i, j - first]
        else:
            for j in range(first, last):
                shares[i, j] += weight[i] * share[i, j - first]
    return value


def sums(data: Labelled, components: Components, apart: bool = False) -> tuple[float, list[np.ndarray]]:
    """L_C, and what its gradient is made of.

    Parameters
    ----------
    data : Labelled
    components : Components
    apart : bool
        Whether r⁺ and r⁻ are summed apart.

    Returns
    -------
    value : float
        L_C.
    sums : list of arrays of shape (J, d + 1)
        Σ_k w_k r_kj (h_k, 1): one array, for r = r⁺ − r⁻ (the gradient), or two, for r⁺ and for r⁻.
    """
    n, d = data.X.shape
    J = len(components.log_weight)
    kinds = 2 if apart else 1
    bounds = np.linspace(0, n, min(STRIPS, max(1, n // 64)) + 1).astype(int)
    values = np.zeros(len(bounds) - 1)
    slots = np.zeros((len(bounds) - 1, kinds, J, d + 1))
    exponents = components.exponents.astype(data.X.dtype, copy=False)
    log_weight = components.log_weight.astype(data.X.dtype, copy=False)
    widest = int(np.diff(components.starts).max())

    def strip(first: int, last: int) -> None:
        for s in range(first, last):
            for a in range(bounds[s], bounds[s + 1], CHUNK):
                rows = slice(a, min(a + CHUNK, bounds[s + 1]))
                X, y, weight = data.X[rows], data.y[rows], data.weight[rows]
                R = X @ exponents.T
                R += log_weight
                share, own = np.empty((len(X), widest), R.dtype), np.empty(len(X))
                plus = np.empty(R.shape if apart else (0, J), R.dtype)
                own_share(R, y, components.starts, share, own)
                np.exp(R, out=R)
                values[s] += balance(R, y, components.starts, share, own, weight, plus)
                for kind, responsibilities in enumerate((plus, R) if apart else (R,)):
                    slots[s, kind, :, :d] += responsibilities.T @ X
                    slots[s, kind, :, d] += responsibilities.sum(axis=0, dtype=float)

    # (The work of a few rows is done before another thread has woken up.)
    strips = len(bounds) - 1
    over_rows(strip, strips, grain=worthwhile(3.0 * J * d * n / strips))
    return float(values.sum()), list(slots.sum(axis=0))


def held_out_loss(held: Labelled, components: Components, doubt: float = 0.0) -> tuple[float, float]:
    """How wrong the posterior is about held-out samples.

    Parameters
    ----------
    held : Labelled
    components : Components
    doubt : float
        Probability that each sample is of some class other than its own.

    Returns
    -------
    error : float
        Share of wrong labels.
    loss : float
        Mean of −log p, where p is the posterior of a sample's class, or, with the probability `doubt`, of all others.
    """
    scores = components.class_scores(held.X)
    weight = held.weight / held.total
    error = float(weight @ (scores.argmax(axis=1) != held.y))
    log_p = log_posterior(scores)
    own = np.arange(len(held.y)), held.y
    loss = -float(weight @ log_p[own])
    if doubt:
        log_p[own] = -np.inf
        loss = (1.0 - doubt) * loss - doubt * float(weight @ np.logaddexp.reduce(log_p, axis=1))
    return error, loss


@dataclass(frozen=True)
class Contrastive:
    """What contrastive training maximises: L_C / Σ w − penalty/2 ‖θ‖², as a function of one vector.

    The vector x holds the rows of θ one after another, then log W.

    Attributes
    ----------
    data : Labelled
        The samples to train on.
    starts : array of int
        The first component of each class, and their number.
    penalty : float
    held : Labelled, optional
        Samples that training does not see, to decide when to stop.
    """

    data: Labelled
    starts: np.ndarray
    penalty: float = 0.0
    held: Labelled | None = None

    @staticmethod
    def vector(components: Components) -> np.ndarray:
        """The components as one vector."""
        return np.concatenate([components.exponents.ravel(), components.log_weight]).astype(float)

    def components(self, x: np.ndarray) -> Components:
        """The components that a vector holds; their arrays are views of it."""
        size = int(self.starts[-1]) * self.data.X.shape[1]
        return Components(x[:size].reshape(-1, self.data.X.shape[1]), x[size:], self.starts)

    def penalised(self, value: float, exponents: np.ndarray) -> float:
        """The objective, from L_C and θ."""
        return value / self.data.total - 0.5 * self.penalty * float((exponents.astype(float) ** 2).sum())

    def value_and_gradient(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient, from one pass over the data."""
        components = self.components(x)
        value, (slopes,) = sums(self.data, components)
        slopes = slopes / self.data.total
        slopes[:, :-1] -= self.penalty * components.exponents
        gradient = np.concatenate([slopes[:, :-1].ravel(), slopes[:, -1]])
        return self.penalised(value, components.exponents), gradient

    @cached_property
    def eta(self) -> float:
        """The largest row sum of the features, which bounds the multiplicative step of θ."""
        return max(float(self.data.X.sum(axis=1, dtype=float).max()), 1e-300)

    def validation(self, x: np.ndarray) -> float:
        """The loss on the held-out samples; NaN where there are none."""
        return float("nan") if self.held is None else held_out_loss(self.held, self.components(x))[1]
