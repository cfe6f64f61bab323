"""Gibbs sampling of NMF for counts (Cemgil 2009), the Bayesian twin of NMF with Gamma priors.

    x_ij ~ Poisson((W H)_ij),   w_it ~ Gamma(shape, rate),   h_tj ~ Gamma(shape, rate)

Each count is the sum of one Poisson variable for each component. Given W and H these split the count as a
multinomial; given the split, entries of W and H are Gamma variables. Only nonzero counts are split, and of the split
only the sums over rows and columns are kept, so sparse data stay sparse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from partwise.core import Info, Problem, RunState
from partwise.jit import leaf, njit
from partwise.losses import KL
from partwise.matrix import Dense, InMemory
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Gamma
from partwise.samplers.binomial import split_count
from partwise.samplers.calibration import CalibrationCase
from partwise.samplers.scale_move import scale_move
from partwise.samplers.streams import BY_PLACE, STREAM_SIZE, begin_stream, draw_keys, uniform
from partwise.samplers.truncated_normal import normal_quantile

#: The least value of an entry: a Gamma variable of a tiny shape may be too small for a double.
_TINY = 1e-290


@dataclass
class PoissonState(RunState):
    """Where the chain stands.

    Parameters
    ----------
    W : array of shape (n_samples, n_components)
        The first factor, in double precision.
    Ht : array of shape (n_features, n_components)
        The transpose of the second.
    counts_W, counts_H : array, optional
        What each component has of every row, and of every column, in the split of the counts; None where the next
        step is to split them first.
    iteration : int
        Steps made.
    objective : float
        Log-posterior, NaN when not known.
    """

    W: np.ndarray
    Ht: np.ndarray
    counts_W: np.ndarray | None = None
    counts_H: np.ndarray | None = None


@dataclass(frozen=True)
class PoissonGibbs:
    """Gibbs steps for W, H and the split of the counts.

    The problem is a `partwise.core.Problem` with the Kullback-Leibler loss, data of whole numbers in memory, and
    `partwise.priors.Gamma` for both factors.

    Parameters
    ----------
    sample_H : bool
        Draw H too; otherwise it stays as the state has it.
    temperatures : sequence of float
        Of the first steps: the likelihood is raised to one over this power, as if each count, and each expectation,
        were so much smaller.
    """

    sample_H: bool = True
    temperatures: Sequence[float] = ()
    name: ClassVar[str] = "poisson_gibbs"
    remedy: ClassVar[str] = "Give Gamma priors with a rate above 0."

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray) -> PoissonState:
        """A state at the given factors.

        Parameters
        ----------
        problem : Problem
            Data and priors.
        W : array of shape (n_samples, n_components)
            The first factor; zeros become tiny, since a zero could never explain a count.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.

        Returns
        -------
        PoissonState
            With copies of the factors.
        """
        least = 1e-9 * max(float(np.mean(W)), float(np.mean(Ht)), 1e-100)
        return PoissonState(*(np.maximum(np.array(A, float, order="C"), least) for A in (W, Ht)))

    def value(self, problem: Problem, state: PoissonState) -> float:
        """Log-posterior at a state, up to the normalising constants of the priors."""
        likelihood = count_constant(problem) - problem.data_loss(
            *(A.astype(problem.X.dtype) for A in (state.W, state.Ht))
        )
        return likelihood + self.log_prior(problem, state)

    def log_prior(self, problem: Problem, state: PoissonState) -> float:
        """Log-density of the Gamma priors.

        Parameters
        ----------
        problem : Problem
            The priors of the factors.
        state : PoissonState
            Where the chain stands.

        Returns
        -------
        float
            Up to their normalising constants.
        """
        sides = [(problem.prior_W, state.W)] + ([(problem.prior_H, state.Ht)] if self.sample_H else [])
        total = 0.0
        for prior, A in sides:
            shape, rate = _gamma(prior)
            total -= float((rate * A.sum(axis=0)).sum())
            if np.any(shape != 1.0):
                total += float(((shape - 1.0) * np.log(A).sum(axis=0)).sum())
        return total

    def step(
        self, problem: Problem, state: PoissonState, rng: np.random.Generator
    ) -> tuple[PoissonState, Info]:
        """W and H given the split of the counts, the share of their sizes, and a new split."""
        X = problem.X
        assert isinstance(X, InMemory)
        cool = 1.0 / self.temperatures[state.iteration] if state.iteration < len(self.temperatures) else 1.0
        if state.counts_W is None or state.counts_H is None:
            self._split(problem, state, rng)
        assert state.counts_W is not None
        assert state.counts_H is not None
        draw_gamma_factor(state.W, problem.prior_W, cool, state.counts_W, exposure(X, state.Ht), rng)
        if self.sample_H:
            draw_gamma_factor(state.Ht, problem.prior_H, cool, state.counts_H, exposure(X.T, state.W), rng)
            (shape, rate), (shape_H, rate_H) = _gamma(problem.prior_W), _gamma(problem.prior_H)
            none = np.zeros(state.W.shape[1])
            sums = (rate * state.W.sum(axis=0), none), (rate_H * state.Ht.sum(axis=0), none)
            power = len(state.W) * shape - len(state.Ht) * shape_H
            scale_move(state.W, state.Ht, power, *sums, (np.inf, np.inf), rng)
        likelihood = self._split(problem, state, rng)
        state.iteration += 1
        state.objective = likelihood + self.log_prior(problem, state)
        return state, Info(state.iteration, state.objective, notes={"log_likelihood": likelihood})

    def draw(self, problem: Problem, state: PoissonState) -> dict[str, Any]:
        """The factors."""
        return {"W": state.W, "H": state.Ht}

    def _split(self, problem: Problem, state: PoissonState, rng: np.random.Generator) -> float:
        """Split the counts; the log-likelihood at the factors, which the split needs anyway."""
        X = problem.X
        assert isinstance(X, InMemory)
        state.counts_W, state.counts_H, logs = split_counts(X, state.W, state.Ht, draw_keys(rng))
        expected = float((state.W * exposure(X, state.Ht)).sum())
        return logs - expected - _log_factorials(problem)


def split_counts(
    X: InMemory, W: np.ndarray, Ht: np.ndarray, keys: np.ndarray, numbers: np.ndarray = BY_PLACE
) -> tuple[np.ndarray, np.ndarray, float]:
    """Split every nonzero count over the components.

    Parameters
    ----------
    X : InMemory
        Counts.
    W : array of shape (n, k)
        The first factor.
    Ht : array of shape (m, k)
        The transpose of the second.
    keys : array of uint64 of shape (2,)
        Keys of the streams, one for each row.
    numbers : array of int64 of shape (n,), optional
        Number of each row's stream; by default its place.

    Returns
    -------
    counts_W : array of shape (n, k)
        Sums of the split over the columns.
    counts_H : array of shape (m, k)
        Sums of the split over the rows.
    logs : float
        Σ x log (W H) over the nonzero counts.
    """
    counts_W, logs = np.zeros(W.shape), np.zeros(len(W))
    # Sums of whole numbers are exact, so it does not matter which thread adds to which of the arrays.
    spare: deque[np.ndarray] = deque()

    def task(a: int, b: int) -> None:
        try:
            counts_H = spare.pop()
        except IndexError:
            counts_H = np.zeros(Ht.shape)
        for slab in X.packed(a, b):
            _split_rows(
                slab.indptr,
                slab.indices,
                slab.u,
                W,
                Ht,
                keys,
                numbers,
                counts_W,
                counts_H,
                logs,
                slab.start,
                slab.stop,
            )
        spare.append(counts_H)

    entries = X.entries / max(1, len(W))
    over_rows(task, len(W), worthwhile(4.0 * entries * W.shape[1], 1))
    counts_H = spare.pop() if spare else np.zeros(Ht.shape)
    while spare:
        counts_H += spare.pop()
    return counts_W, counts_H, float(logs.sum())


@njit(cache=True, nogil=True, error_model="numpy")
def _split_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    W: np.ndarray,
    Ht: np.ndarray,
    keys: np.ndarray,
    numbers: np.ndarray,
    counts_W: np.ndarray,
    counts_H: np.ndarray,
    logs: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """The nonzero counts of rows `start … stop`."""
    k = W.shape[1]
    rates, parts = np.empty(k), np.empty(k)
    stream = np.empty(STREAM_SIZE, np.uint64)
    dense = indices.shape[0] == 0
    for i in range(start, stop):
        begin_stream(keys, numbers[i] if numbers.shape[0] else i, stream)
        w, own = W[i], counts_W[i]
        for e in range(indptr[i - start], indptr[i - start + 1]):
            x = np.int64(u[e])
            if x == 0:
                continue
            j = e - indptr[i - start] if dense else np.int64(indices[e])
            h = Ht[j]
            total = 0.0
            for t in range(k):
                rates[t] = w[t] * h[t]
                total += rates[t]
            if total <= 0.0:
                # The product underflows: what can be said is that no component is likelier than another.
                total = np.float64(k)
                for t in range(k):
                    rates[t] = 1.0
                logs[i] += x * -690.0
            else:
                logs[i] += x * log(total)
            split_count(x, rates, total, parts, stream)
            column = counts_H[j]
            for t in range(k):
                own[t] += parts[t]
                column[t] += parts[t]


def _gamma(prior: Any) -> tuple[np.ndarray, np.ndarray]:
    """Shape and rate of a Gamma prior."""
    return np.asarray(prior.shape, float), np.asarray(prior.rate, float)


def exposure(X: InMemory, B: np.ndarray) -> np.ndarray:
    """What the counts of a row expect of each component, for an entry of 1.

    Parameters
    ----------
    X : InMemory
        Counts.
    B : array of shape (m, k)
        The other factor.

    Returns
    -------
    array of shape (n, k) or (1, k)
        Σ_j ω_ij b_jt; one row where it is the same for all.
    """
    if not X.weighted:
        return B.sum(axis=0)[None]
    return X.weight_product(B.astype(X.dtype)).astype(float)


def draw_gamma_factor(
    A: np.ndarray,
    prior: Any,
    cool: float,
    counts: np.ndarray,
    exposure: np.ndarray,
    rng: np.random.Generator,
    numbers: np.ndarray = BY_PLACE,
) -> None:
    """Draw every entry of A from its Gamma conditional, in place.

    Parameters
    ----------
    A : array of shape (n, k)
        The factor.
    prior : Gamma
        Its prior.
    cool : float
        Inverse temperature of the likelihood.
    counts : array of shape (n, k)
        What each component has of every row.
    exposure : array of shape (n, k) or (1, k)
        What the counts of a row expect of each component, for an entry of 1.
    rng : Generator
        Where two keys are drawn from.
    numbers : array of int64 of shape (n,), optional
        Number of each row's stream; by default its place.
    """
    n, k = A.shape
    shape, rate = (np.broadcast_to(part, (k,)).astype(float) for part in _gamma(prior))
    exposure = np.ascontiguousarray(exposure)
    keys = draw_keys(rng)
    over_rows(
        lambda a, b: _gamma_rows(A, shape, rate, cool, counts, exposure, keys, numbers, a, b),
        n,
        worthwhile(100.0 * k, 4),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _gamma_rows(
    A: np.ndarray,
    shape: np.ndarray,
    rate: np.ndarray,
    cool: float,
    counts: np.ndarray,
    exposure: np.ndarray,
    keys: np.ndarray,
    numbers: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop`."""
    stream = np.empty(STREAM_SIZE, np.uint64)
    each = int(exposure.shape[0] > 1)
    for i in range(start, stop):
        begin_stream(keys, numbers[i] if numbers.shape[0] else i, stream)
        for t in range(A.shape[1]):
            drawn = draw_gamma(shape[t] + cool * counts[i, t], stream)
            A[i, t] = max(drawn / (rate[t] + cool * exposure[each * i, t]), _TINY)


@leaf()
def draw_gamma(shape: float, stream: np.ndarray) -> float:
    """A Gamma variable of rate 1 (Marsaglia & Tsang 2000)."""
    if shape < 1.0:
        # Of shape + 1, times a power of a uniform.
        boost, shape = exp(log(uniform(stream)) / shape), shape + 1.0
    else:
        boost = 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / sqrt(9.0 * d)
    while True:
        x = normal_quantile(uniform(stream))
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(stream)
        if u < 1.0 - 0.0331 * (x * x) * (x * x) or log(u) < 0.5 * x * x + d * (1.0 - v + log(v)):
            return boost * d * v


def _log_factorials(problem: Problem) -> float:
    """Σ log x! over the observed counts."""

    def sums() -> float:
        return sum(
            float(gammaln(slab.u.astype(float) + 1.0).sum())
            for _, block in problem.X.blocks()
            for slab in block.packed(0, block.shape[0])
        )

    return float(problem._once("_log_factorials", sums))


def count_constant(problem: Problem) -> float:
    """What the Poisson log-likelihood has beside minus the Kullback-Leibler divergence: Σ x log x − x − log x!.

    Parameters
    ----------
    problem : Problem
        The counts.

    Returns
    -------
    float
        The constant.
    """
    return problem.entropy_terms() - _log_factorials(problem)


def calibration_case() -> CalibrationCase:
    """A small problem with Gamma priors of different shapes, and an entry missing."""
    n, m, k = 6, 5, 2
    kernel = PoissonGibbs()
    observed = np.ones((n, m))
    observed[1, 2] = 0.0
    prior_W, prior_H = Gamma(0.7, 0.5), Gamma(2.0, 0.4)

    def made(state: PoissonState, rng: np.random.Generator) -> Problem:
        X = rng.poisson(state.W @ state.Ht.T).astype(float)
        return Problem(Dense.of(X, observed), KL, prior_W, prior_H)

    def parameters(rng: np.random.Generator) -> PoissonState:
        return PoissonState(rng.gamma(0.7, 2.0, (n, k)), rng.gamma(2.0, 2.5, (m, k)))

    def simulate(rng: np.random.Generator) -> tuple[Problem, PoissonState]:
        state = parameters(rng)
        return made(state, rng), state

    def resimulate(
        problem: Problem, state: PoissonState, rng: np.random.Generator
    ) -> tuple[Problem, PoissonState]:
        # The split of the old counts says nothing of the new ones.
        return made(state, rng), PoissonState(state.W, state.Ht, iteration=state.iteration)

    def quantities(problem: Problem, state: PoissonState) -> dict[str, float]:
        Y = state.W @ state.Ht.T
        return {
            "WH[0, 0]": float(np.log(Y[0, 0])),
            "WH[1, 2]": float(np.log(Y[1, 2])),
            "WH[5, 4]": float(np.log(Y[5, 4])),
            "sum of W": float(state.W.sum()),
            "largest of H": float(np.log(state.Ht.max())),
            "sum of WH": float(Y.sum() ** 0.5),
        }

    return CalibrationCase(
        kernel,
        simulate,
        lambda problem, rng: parameters(rng),
        resimulate,
        quantities,
        n_warmup=300,
        thin=30,
    )
