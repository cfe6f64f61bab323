"""Gibbs sampling of NMF with Gaussian noise (Schmidt, Winther & Hansen 2009).

    x_ij ~ N((W H)_ij, σ²),   priors of W ≥ 0 and H ≥ 0 with linear and quadratic terms,   σ² ~ inverse-Gamma

With everything else held, an entry of W is a normal truncated to its bounds. Its mean needs X Hᵀ and H Hᵀ, as a HALS
sweep does, so a Gibbs sweep costs what a HALS sweep costs, plus a random number for each entry of W and H. Rows are
independent given H; each draws from a stream of its own, so threads change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, inf, log1p, pi, sqrt
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from partwise.core import Info, Problem, RunState
from partwise.jit import leaf, njit
from partwise.losses import FROBENIUS
from partwise.matrix import Dense, InMemory
from partwise.parallel import over_rows, worthwhile
from partwise.priors import Gamma, Terms
from partwise.samplers.calibration import CalibrationCase
from partwise.samplers.scale_move import scale_move
from partwise.samplers.streams import BY_PLACE, STREAM_SIZE, begin_stream, draw_keys, uniform
from partwise.samplers.truncated_normal import draw_scaled, draw_truncated
from partwise.solvers.sweep import WIDTH, inner_product, residual

#: Operations that a draw is worth, when threads are shared out.
_DRAW = 100.0


@dataclass
class GaussianState(RunState):
    """Where the chain stands; steps write into the factors.

    Parameters
    ----------
    W : array of shape (n_samples, n_components)
        The first factor.
    Ht : array of shape (n_features, n_components)
        The transpose of the second.
    noise : float
        σ².
    iteration : int
        Steps made.
    objective : float
        Log-posterior, NaN when not known.
    """

    W: np.ndarray
    Ht: np.ndarray
    noise: float = 1.0


@dataclass(frozen=True)
class GaussianGibbs:
    """Gibbs steps for W, H and σ².

    The problem is a `partwise.core.Problem` with the Frobenius loss, data in memory (dense or sparse, with missing
    entries or without), and priors made of linear and quadratic terms and bounds.

    Parameters
    ----------
    noise_shape, noise_scale : float
        The inverse-Gamma prior of σ².
    hold_noise : bool
        Keep σ² as the state has it.
    sample_H : bool
        Draw H too; otherwise it stays as the state has it.
    temperatures : sequence of float
        Of the first steps: the likelihood is raised to one over this power.
    """

    noise_shape: float = 1.0
    noise_scale: float = 1.0
    hold_noise: bool = False
    sample_H: bool = True
    temperatures: Sequence[float] = ()
    name: ClassVar[str] = "gaussian_gibbs"
    remedy: ClassVar[str] = "Scale the data to ordinary numbers, or give proper priors."

    def init(self, problem: Problem, W: np.ndarray, Ht: np.ndarray, noise: float) -> GaussianState:
        """A state at the given factors.

        Parameters
        ----------
        problem : Problem
            Data and priors.
        W : array of shape (n_samples, n_components)
            The first factor.
        Ht : array of shape (n_features, n_components)
            The transpose of the second.
        noise : float
            σ².

        Returns
        -------
        GaussianState
            With copies of the factors.
        """
        dtype = problem.X.dtype
        return GaussianState(np.array(W, dtype, order="C"), np.array(Ht, dtype, order="C"), float(noise))

    def log_likelihood(self, problem: Problem, squares: float, noise: float) -> float:
        """Log-likelihood of the observed entries.

        Parameters
        ----------
        problem : Problem
            The data.
        squares : float
            Sum of squared residuals.
        noise : float
            σ².

        Returns
        -------
        float
            −½ squares / σ² − ½ N log 2πσ².
        """
        return -0.5 * squares / noise - 0.5 * problem.n_observed() * float(np.log(2.0 * pi * noise))

    def log_prior(self, problem: Problem, state: GaussianState) -> float:
        """Log-density of the priors.

        Parameters
        ----------
        problem : Problem
            The priors of the factors.
        state : GaussianState
            Where the chain stands.

        Returns
        -------
        float
            Up to the normalising constants of the priors of W and H.
        """
        value = self._log_noise(state.noise) - problem.terms_W.value(state.W)
        if self.sample_H:
            value -= problem.terms_H.value(state.Ht)
        return float(value)

    def _log_noise(self, noise: float) -> float:
        """Log-density of the prior of σ², 0 where it is held."""
        if self.hold_noise:
            return 0.0
        a, b = self.noise_shape, self.noise_scale
        return float(a * np.log(b) - gammaln(a) - (a + 1.0) * np.log(noise) - b / noise)

    def value(self, problem: Problem, state: GaussianState) -> float:
        """Log-posterior at a state, up to a constant."""
        squares = 2.0 * problem.data_loss(state.W, state.Ht)
        return self.log_likelihood(problem, squares, state.noise) + self.log_prior(problem, state)

    def step(
        self, problem: Problem, state: GaussianState, rng: np.random.Generator
    ) -> tuple[GaussianState, Info]:
        """One sweep: W, then H, then σ², then the share of every component's size between W and H."""
        X = problem.X
        assert isinstance(X, InMemory)
        cool = 1.0 / self.temperatures[state.iteration] if state.iteration < len(self.temperatures) else 1.0
        N, G = draw_factor(X, state.W, state.Ht, problem.terms_W, cool / state.noise, rng)
        last = state.W
        if self.sample_H:
            N, G = draw_factor(X.T, state.Ht, state.W, problem.terms_H, cool / state.noise, rng)
            last = state.Ht
        squares = self._squares(problem, state, last, N, G)
        if not self.hold_noise:
            shape = self.noise_shape + 0.5 * cool * problem.n_observed()
            state.noise = float((self.noise_scale + 0.5 * cool * squares) / rng.standard_gamma(shape))
        state.iteration += 1
        likelihood = self.log_likelihood(problem, squares, state.noise)
        prior = self._log_noise(state.noise) - self._share_sizes(problem, state, rng)
        state.objective = likelihood + prior
        notes = {"log_likelihood": likelihood, "noise": state.noise}
        return state, Info(state.iteration, state.objective, notes=notes)

    def draw(self, problem: Problem, state: GaussianState) -> dict[str, Any]:
        """The factors and σ²."""
        return {"W": state.W, "H": state.Ht, "noise": state.noise}

    def _share_sizes(self, problem: Problem, state: GaussianState, rng: np.random.Generator) -> float:
        """Draw the share of every component's size between W and H; what the priors of both take off the log-density.

        The sums over the priors' terms that the draw needs also say what the priors are worth after it.
        """
        terms = problem.terms_W, problem.terms_H
        LW, QW = _column_sums(terms[0], state.W)
        if not self.sample_H:
            return float(LW.sum() + 0.5 * QW.sum())
        LH, QH = _column_sums(terms[1], state.Ht)
        shares = np.ones(len(LW))
        if all(part.lower == 0.0 for part in terms):
            power = float(state.W.shape[0] - state.Ht.shape[0])
            upper = terms[0].upper, terms[1].upper
            shares = scale_move(state.W, state.Ht, power, (LW, QW), (LH, QH), upper, rng)
        linear, quadratic = LW * shares + LH / shares, QW * shares**2 + QH / shares**2
        return float(linear.sum() + 0.5 * quadratic.sum())

    def _squares(
        self, problem: Problem, state: GaussianState, A: np.ndarray, N: np.ndarray, G: np.ndarray
    ) -> float:
        """Sum of squared residuals: from the products at hand, or entry by entry where these would cancel."""
        if not problem.X.weighted:
            norm = problem.squared_norm()
            A64 = A.astype(float, copy=False)
            squares = norm - 2.0 * inner_product(N, A) + float(np.vdot(G, A64.T @ A64))
            if squares > norm * np.sqrt(np.finfo(problem.X.dtype).eps):
                return squares
        return 2.0 * problem.data_loss(state.W, state.Ht)


def draw_factor(
    X: InMemory,
    A: np.ndarray,
    B: np.ndarray,
    terms: Terms,
    precision: float,
    rng: np.random.Generator,
    numbers: np.ndarray = BY_PLACE,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw every entry of A given B, one column after the other, in place.

    Parameters
    ----------
    X : InMemory
        Data with A's rows.
    A : array of shape (n, k)
        The factor that is drawn.
    B : array of shape (m, k)
        The other one.
    terms : Terms
        Prior of A: linear and quadratic terms, and bounds.
    precision : float
        1 / σ², over the temperature.
    rng : Generator
        Where two keys are drawn from.
    numbers : array of int64 of shape (n,), optional
        Number of each row's stream; by default its place.

    Returns
    -------
    N : array of shape (n, k)
        X B.
    G : array of shape (k, k)
        Bᵀ B, in double precision.
    """
    n, k = A.shape
    N = X.product(B)
    wide = B.astype(float, copy=False)
    G = wide.T @ wide
    held = terms.for_kernels(n, k)
    linear, quadratic = (np.ascontiguousarray(part, dtype=float) for part in (held.linear, held.quadratic))
    keys = draw_keys(rng)
    prior = (linear, quadratic, float(held.lower), float(held.upper))
    if not X.weighted:
        over_rows(
            lambda a, b: _draw_rows(A, N, G, precision, *prior, keys, numbers, a, b),
            n,
            worthwhile(k * (_DRAW + k), WIDTH),
        )
        return N, G
    Bt = np.ascontiguousarray(wide.T)
    background = X.background * G

    def task(a: int, b: int) -> None:
        for slab in X.packed(a, b):
            fit = np.empty(int(np.diff(slab.indptr).max(initial=0)))
            _draw_weighted_rows(
                slab.indptr,
                slab.indices,
                slab.v,
                A,
                N,
                Bt,
                background,
                precision,
                *prior,
                keys,
                numbers,
                slab.start,
                slab.stop,
                fit,
            )

    over_rows(task, n, worthwhile(k * (_DRAW + 4.0 * X.entries / max(1, n)), 4))
    return N, G


def _column_sums(terms: Terms, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Σ linear · a and Σ quadratic · a² over the rows of a factor, for each component."""
    A = A.astype(float, copy=False)
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    linear = terms.linear * (rows @ A) if np.ndim(terms.linear) == 0 else (terms.linear * A).sum(axis=0)
    if not np.any(terms.quadratic):
        return linear * columns, 0.0 * columns
    return linear * columns, (terms.quadratic * A * A).sum(axis=0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def _draw_rows(
    A: np.ndarray,
    N: np.ndarray,
    G: np.ndarray,
    precision: float,
    linear: np.ndarray,
    quadratic: np.ndarray,
    lower: float,
    upper: float,
    keys: np.ndarray,
    numbers: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Rows `start … stop`, which share G; a block of rows is laid out component by component, as in a HALS sweep."""
    k = A.shape[1]
    acc = np.zeros(WIDTH)
    # Not the constant itself: loops of a known small length are unrolled before they are vectorised.
    width = acc.shape[0]
    a, b = np.zeros((k, width)), np.zeros((k, width))
    # A stream for each row of the block; the one in use is copied, since a view of an array is counted.
    stream, streams = np.zeros(STREAM_SIZE, np.uint64), np.zeros((width, STREAM_SIZE), np.uint64)
    # Terms with a single row, or a single column, hold for all.
    lr, lc = int(linear.shape[0] > 1), int(linear.shape[1] > 1)
    qr, qc = int(quadratic.shape[0] > 1), int(quadratic.shape[1] > 1)
    for first in range(start, stop, width):
        height = min(width, stop - first)
        for c in range(height):
            i = first + c
            begin_stream(keys, numbers[i] if numbers.shape[0] else i, stream)
            streams[c, 0], streams[c, 1] = stream[0], stream[1]
            for t in range(k):
                a[t, c] = A[i, t]
                b[t, c] = np.float64(N[i, t])
        for t in range(k):
            residual(G[t], a, b[t], acc)
            own = G[t, t]
            bend = precision * own + quadratic[qr * first, qc * t]
            per_bend, root = 1.0 / bend, sqrt(bend)
            sd = 1.0 / root
            for c in range(height):
                slope = precision * (acc[c] + a[t, c] * own) - linear[lr * (first + c), lc * t]
                if qr:
                    bend = precision * own + quadratic[first + c, qc * t]
                    per_bend, root = 1.0 / bend, sqrt(bend)
                    sd = 1.0 / root
                stream[0], stream[1] = streams[c, 0], streams[c, 1]
                if bend > 0.0 and slope * slope <= 1e16 * bend:
                    mean = slope * per_bend
                    a[t, c] = draw_scaled(
                        (lower - mean) * root, (upper - mean) * root, mean, sd, lower, upper, stream
                    )
                else:
                    a[t, c] = draw_entry(slope, bend, a[t, c], lower, upper, stream)
                streams[c, 0] = stream[0]
        for c in range(height):
            for t in range(k):
                A[first + c, t] = a[t, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def _draw_weighted_rows(
    indptr: np.ndarray,
    indices: np.ndarray,
    v: np.ndarray,
    A: np.ndarray,
    N: np.ndarray,
    Bt: np.ndarray,
    background: np.ndarray,
    precision: float,
    linear: np.ndarray,
    quadratic: np.ndarray,
    lower: float,
    upper: float,
    keys: np.ndarray,
    numbers: np.ndarray,
    start: int,
    stop: int,
    fit: np.ndarray,
) -> None:
    """Rows of a slab, each with its own Gram matrix: background + Σ v b bᵀ, which is never formed."""
    k = A.shape[1]
    a = np.empty(k)
    stream = np.empty(STREAM_SIZE, np.uint64)
    dense = indices.shape[0] == 0
    lr, lc = int(linear.shape[0] > 1), int(linear.shape[1] > 1)
    qr, qc = int(quadratic.shape[0] > 1), int(quadratic.shape[1] > 1)
    for i in range(start, stop):
        begin_stream(keys, numbers[i] if numbers.shape[0] else i, stream)
        first = indptr[i - start]
        n_held = indptr[i - start + 1] - first
        if v.shape[0] == 0:
            n_held = 0
        for e in range(n_held):
            fit[e] = 0.0
        for t in range(k):
            a[t] = A[i, t]
            b = Bt[t]
            for e in range(n_held):
                fit[e] += a[t] * b[e if dense else np.int64(indices[first + e])]
        for t in range(k):
            b, g = Bt[t], background[t]
            rest, own = np.float64(N[i, t]), g[t]
            for r in range(k):
                rest -= a[r] * g[r]
            for e in range(n_held):
                weighted = v[first + e] * b[e if dense else np.int64(indices[first + e])]
                rest -= weighted * fit[e]
                own += weighted * b[e if dense else np.int64(indices[first + e])]
            slope = precision * (rest + own * a[t]) - linear[lr * i, lc * t]
            bend = precision * own + quadratic[qr * i, qc * t]
            new = draw_entry(slope, bend, a[t], lower, upper, stream)
            moved = new - a[t]
            a[t] = new
            for e in range(n_held):
                fit[e] += moved * b[e if dense else np.int64(indices[first + e])]
        for t in range(k):
            A[i, t] = a[t]


@leaf()
def draw_entry(
    slope: float, bend: float, old: float, lower: float, upper: float, stream: np.ndarray
) -> float:
    """A draw from the density ∝ exp(slope · z − ½ bend · z²) on [lower, upper].

    Where the curvature no longer matters it is an exponential, or a uniform; where none of these has a finite mass
    (a flat prior of an entry that the data say nothing of) the entry stays as it is.
    """
    if bend > 0.0 and slope * slope <= 1e16 * bend:
        return draw_truncated(slope / bend, 1.0 / sqrt(bend), lower, upper, stream)
    if slope < 0.0 and lower > -inf:
        return min(lower + _exponential(-slope, upper - lower, stream), upper)
    if slope > 0.0 and upper < inf:
        return max(upper - _exponential(slope, upper - lower, stream), lower)
    if slope > 0.0 and bend > 0.0:
        # The mean is more than 1e8 standard deviations above the lower bound, which is then out of reach.
        return draw_truncated(slope / bend, 1.0 / sqrt(bend), lower, upper, stream)
    if slope == 0.0 and upper < inf and lower > -inf:
        return lower + (upper - lower) * uniform(stream)
    return old


@leaf()
def _exponential(rate: float, width: float, stream: np.ndarray) -> float:
    """An exponential of this rate, truncated to [0, width]."""
    mass = 1.0 if width == inf else -expm1(-rate * width)
    return -log1p(-mass * uniform(stream)) / rate


def calibration_case() -> CalibrationCase:
    """A small problem with exponential priors, an entry missing, and unknown noise."""
    n, m, k = 6, 5, 2
    # Much noise: parameters and data then let go of each other within few steps of Geweke's chain.
    kernel = GaussianGibbs(noise_shape=6.0, noise_scale=12.0)
    observed = np.ones((n, m))
    observed[1, 2] = 0.0

    def made(state: GaussianState, rng: np.random.Generator) -> Problem:
        X = state.W @ state.Ht.T + np.sqrt(state.noise) * rng.standard_normal((n, m))
        return Problem(Dense.of(X, observed), FROBENIUS, Gamma(1.0, 1.0), Gamma(1.0, 0.5))

    def parameters(rng: np.random.Generator) -> GaussianState:
        W, Ht = rng.exponential(1.0, (n, k)), rng.exponential(2.0, (m, k))
        return GaussianState(W, Ht, float(12.0 / rng.standard_gamma(6.0)))

    def simulate(rng: np.random.Generator) -> tuple[Problem, GaussianState]:
        state = parameters(rng)
        return made(state, rng), state

    def quantities(problem: Problem, state: GaussianState) -> dict[str, float]:
        Y = state.W @ state.Ht.T
        return {
            "log noise": float(np.log(state.noise)),
            "WH[0, 0]": float(np.log(Y[0, 0])),
            "WH[1, 2]": float(np.log(Y[1, 2])),
            "WH[5, 4]": float(np.log(Y[5, 4])),
            "sum of W": float(state.W.sum()),
            "largest of H": float(np.log(state.Ht.max())),
            "log-likelihood": kernel.log_likelihood(
                problem, 2.0 * problem.data_loss(state.W, state.Ht), state.noise
            ),
        }

    return CalibrationCase(
        kernel,
        simulate,
        lambda problem, rng: parameters(rng),
        lambda problem, state, rng: (made(state, rng), state),
        quantities,
        n_warmup=300,
        thin=15,
    )
