"""Iterate averaging stochastic gradient (Mandt, Hoffman & Blei 2017) for relaxed Boolean factors.

Algorithms 2.3, 3.1 and 3.2 of Gonsior (2019): two interleaved chains, one for each factor, that climb the gradient
on a minibatch of rows of X (for H) and of columns (for W), drawn with replacement; the noise is that of the
minibatches. A sample is the mean of T = ⌈max(n/S_X, m/S_Y)⌉ states.

**Steps.** A chain θ ← θ + ε G, where G has variance v, adds the noise of a Langevin step if ε² v = 2 ε: ε = 2/v.
With the gradient of a minibatch left as it is, (S/N) G, that is 2S/N over the variance of a single row's gradient
(2.34). The thesis takes the variance at parameters drawn uniformly (3.1), where nothing is explained and gradients
are some hundred times as large as near a mode, so its steps are hundreds of times too small: ``adapt=False``. Here v
is that of the state where the chain stands, in closed form. Where the step that it asks for is larger than the
inverse of the curvature, the chain would oscillate, and the latter is taken: such chains spread less than the
posterior.

Printed slips that are corrected: algorithm 2.3 goes down the log-likelihood instead of up; its window has T + 1
states; (3.7) and (3.8) lack the step ε. A minibatch's gradient stands for that of all rows, so it is multiplied by
N/S here; the thesis does not, while the prior stays whole, so that small batches give the prior too much weight:
``paper=True``. Drawing with replacement is counting each row as often as it was drawn: one product with X.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from partwise.core import Info, State
from partwise.samplers.boundaries import check_boundary, moved, on_logits
from partwise.samplers.relaxed import RelaxedKernel, RelaxedPosterior

#: How much larger a step on the logit scale is that equals one of the values themselves at a = ½, where da/dz is ¼.
MIRROR = 16.0
#: How many times as large as the data ask for a random start is. From above fewer tiles are lost on the way: after
#: 40,000 published steps on three planted tables of 30 tiles no entry was wrong from 12 of 16 starts, against 6 of 11
#: at 1.
LARGER = 2.0
#: Below this share of different rows in a minibatch, rows are gathered; above it, rows not drawn are multiplied by 0.
GATHER = 0.4


@dataclass(frozen=True)
class IASG(RelaxedKernel):
    """Iterate averaging stochastic gradient.

    Parameters
    ----------
    batch_size : int or tuple of two int or None, default=None
        Rows (S_X) and columns (S_Y) of a minibatch; None for as many as there are.
    boundary : {"clamp", "reflect", "mirror"}, default="clamp"
        What happens to steps that leave [0, 1]; see `partwise.samplers.boundaries`.
    margin : float, default=0.001
        Distance δ from 0 and 1 that clamped entries keep. The thesis does not give its δ.
    paper : bool, default=False
        Whether a minibatch's gradient is left unscaled.
    replacement : bool, default=True
        Whether minibatches are drawn with replacement; without it, a full batch is the gradient itself.
    n_calibration : int, default=2500
        Parameters drawn for the steps, where these are not adapted.
    every : int, default=50
        Steps between two computations of the log-density, and of the gradients' variances where steps are adapted:
        each costs products with X of its own.
    adapt : bool, default=True
        Whether steps follow the noise of the gradients where the chain stands. Never with `paper`.
    """

    name = "iasg"
    remedy = 'Take a smaller batch_size, or sampler="relaxed-gibbs", which has no step.'

    batch_size: Any = None
    boundary: str = "clamp"
    margin: float = 1e-3
    paper: bool = False
    replacement: bool = True
    n_calibration: int = 2500
    every: int = 50
    adapt: bool = True

    def __post_init__(self) -> None:
        """Refuse boundaries that there are not."""
        check_boundary(self.boundary)

    def batches(self, problem: RelaxedPosterior) -> tuple[int, int]:
        """Rows and columns of a minibatch.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.

        Returns
        -------
        tuple of int
            S_X and S_Y.
        """
        size = self.batch_size
        sizes = size if isinstance(size, tuple) else (size, size)
        rows, columns = (n if s is None else int(s) for s, n in zip(sizes, problem.X.shape))
        if min(rows, columns) < 1 or (
            not self.replacement and (rows > len(problem.X) or columns > problem.X.shape[1])
        ):
            raise ValueError(
                f"batch_size must be at least 1, and at most the data without replacement; got {size!r}."
            )
        return rows, columns

    def window(self, problem: RelaxedPosterior) -> int:
        """Number T of states in a sample.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.

        Returns
        -------
        int
            ⌈max(n/S_X, m/S_Y)⌉.
        """
        return max(ceil(n / s) for n, s in zip(problem.X.shape, self.batches(problem)))

    def init(
        self, problem: RelaxedPosterior, rank: int, rng: np.random.Generator, start: State | None = None
    ) -> State:
        """A start, and the steps of every entry (algorithm 3.1).

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        rank : int
            Number of components.
        rng : Generator
            Where random numbers are drawn from.
        start : State, optional
            Where to begin; by default a scaled random start.

        Returns
        -------
        State
            Its `extra` has "step_W" and "step_Ht"; where they are adapted, also "wanted_W" and "wanted_Ht", the steps
            that the noise of the gradients asks for.
        """
        state = problem.start(rank, rng, LARGER) if start is None else start.copy()
        state.W, state.Ht = (np.clip(A, self.margin, 1.0 - self.margin) for A in (state.W, state.Ht))
        state.extra = dict(state.extra or {"noise": np.array(problem.noise)})
        if self._adapts:
            state.extra |= self.wanted(problem, state.W, state.Ht)
            state.extra |= stable(problem, state.W, state.Ht, state.extra)
        else:
            state.extra |= dict(zip(("step_W", "step_Ht"), self.noise_scale(problem, rank, rng)))
        state.extra |= {
            "sum_W": 0.0 * state.W,
            "sum_Ht": 0.0 * state.Ht,
            "mean_W": state.W,
            "mean_Ht": state.Ht,
        }
        return state

    def noise_scale(
        self, problem: RelaxedPosterior, rank: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The step ε of every entry of W and of H by the variance of its gradient (algorithm 3.1).

        2S/N over the variance where gradients of minibatches are left as they are (2.34), 2 over it where they are
        scaled by N/S.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        rank : int
            Number of components.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        tuple of arrays of shapes (n, k) and (m, k)
            The steps.
        """
        (n, m), sizes = problem.X.shape, self.batches(problem)
        mean = [np.zeros((n, rank)), np.zeros((m, rank))]
        squares = [np.zeros((n, rank)), np.zeros((m, rank))]
        for i in range(self.n_calibration):
            W, Ht = (np.clip(rng.random((side, rank)), self.margin, 1.0 - self.margin) for side in (n, m))
            gradients = (
                self.gradient(problem, W, Ht, sizes[1], rng),
                self.gradient(problem.T, Ht, W, sizes[0], rng),
            )
            for which, G in enumerate(gradients):
                away = G - mean[which]
                mean[which] += away / (i + 1)
                squares[which] += away * (G - mean[which])
        shares = (sizes[1] / m, sizes[0] / n) if self.paper else (1.0, 1.0)
        return tuple(
            2.0 * share * max(self.n_calibration - 1, 1) / np.maximum(S, 1e-12)
            for share, S in zip(shares, squares)
        )

    @property
    def _adapts(self) -> bool:
        """Whether steps follow the chain."""
        return self.adapt and not self.paper

    def wanted(self, problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray) -> dict[str, Any]:
        """The steps 2/v that the variance v of the gradients at a state asks for.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        W, Ht : arrays of shapes (n, k) and (m, k)
            The state.

        Returns
        -------
        dict
            "wanted_W" and "wanted_Ht"; infinite where the gradient has no noise.
        """
        rows, columns = self.batches(problem)
        out = {}
        for name, given, A, B, size in (
            ("wanted_W", problem, W, Ht, columns),
            ("wanted_Ht", problem.T, Ht, W, rows),
        ):
            variance = given.slope_variance(A, B) / size
            if not self.replacement:
                # Of a population of N, S drawn without replacement vary less.
                variance = variance * (len(B) - size) / max(len(B) - 1, 1)
            with np.errstate(divide="ignore"):
                out[name] = 2.0 / variance
        return out

    def gradient(
        self, problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray, size: int, rng: np.random.Generator
    ) -> np.ndarray:
        """The gradient by W on a minibatch of columns, the prior's included.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors; its transpose for the gradient by H.
        W, Ht : arrays of shapes (n, k) and (m, k)
            The factors.
        size : int
            Columns in the minibatch.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        array of shape (n, k)
            The gradient.
        """
        m = len(Ht)
        scale = 1.0 if self.paper else m / size
        if not self.replacement:
            times = np.zeros(m)
            times[rng.permutation(m)[:size] if size < m else slice(None)] = 1.0
        else:
            times = np.bincount(rng.integers(m, size=size), minlength=m).astype(float)
        if size < GATHER * m:
            drawn = np.flatnonzero(times)
            observed = None if problem.observed is None else problem.observed[:, drawn]
            part = RelaxedPosterior(problem.X[:, drawn], problem.prior, problem.noise, observed)
            slope = part.slope(W, Ht[drawn], times[drawn])
        else:
            slope = problem.slope(W, Ht, times)
        return np.asarray(scale * slope + problem.prior.gradient(W))

    def draw(self, problem: RelaxedPosterior, state: State) -> dict[str, Any]:
        """The last sample: the mean of the last complete window.

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            Where the chain stands.

        Returns
        -------
        dict
            "W", "Ht", "noise", and the last gradients "gradient_W" and "gradient_Ht".
        """
        extra = state.extra or {}
        out = {"W": extra["mean_W"], "Ht": extra["mean_Ht"], "noise": extra["noise"]}
        return out | {key: extra[key] for key in ("gradient_W", "gradient_Ht") if key in extra}

    def step(self, problem: RelaxedPosterior, state: State, rng: np.random.Generator) -> tuple[State, Info]:
        """One step of H on a minibatch of rows, then one of W on a minibatch of columns (algorithm 3.2).

        Parameters
        ----------
        problem : RelaxedPosterior
            Data and priors.
        state : State
            Where the chain stands; not changed.
        rng : Generator
            Where random numbers are drawn from.

        Returns
        -------
        state : State
            Where it stands next.
        info : Info
            Its log-density, or that of up to `every` steps before.
        """
        rows, columns = self.batches(problem)
        extra = dict(state.extra or {})
        G_H = self.gradient(problem.T, state.Ht, state.W, rows, rng)
        Ht = self._moved(state.Ht, G_H, extra["step_Ht"])
        G_W = self.gradient(problem, state.W, Ht, columns, rng)
        W = self._moved(state.W, G_W, extra["step_W"])
        extra |= {"gradient_W": G_W, "gradient_Ht": G_H}
        iteration, T = state.iteration + 1, self.window(problem)
        total_W, total_H = extra["sum_W"] + W, extra["sum_Ht"] + Ht
        if iteration % T == 0:
            extra |= {"mean_W": total_W / T, "mean_Ht": total_H / T}
            total_W, total_H = 0.0 * W, 0.0 * Ht
        extra |= {"sum_W": total_W, "sum_Ht": total_H}
        objective = state.objective
        if iteration % self.every == 0 or np.isnan(objective):
            objective = problem.log_density(W, Ht)
            if self._adapts:
                extra |= self.wanted(problem, W, Ht)
        if self._adapts:
            extra |= stable(problem, W, Ht, extra)
        after = State(W, Ht, extra, iteration=iteration, objective=objective)
        return after, Info(iteration, objective)

    def _moved(self, A: np.ndarray, G: np.ndarray, step: np.ndarray) -> np.ndarray:
        """A factor after its step."""
        if self.boundary == "mirror":
            return moved(A, MIRROR * step * on_logits(A, G), "mirror")
        return moved(A, step * G, self.boundary, self.margin)


def stable(problem: RelaxedPosterior, W: np.ndarray, Ht: np.ndarray, extra: dict[str, Any]) -> dict[str, Any]:
    """The wanted steps, at most the inverse of the curvature.

    Parameters
    ----------
    problem : RelaxedPosterior
        Data and priors.
    W, Ht : arrays of shapes (n, k) and (m, k)
        The state.
    extra : dict
        With "wanted_W" and "wanted_Ht".

    Returns
    -------
    dict
        "step_W" and "step_Ht".
    """
    # The prior's own curvature, or 1 where it has none: tiles that are not used would have infinite steps.
    prior = max(problem.prior.quadratic, 1.0)
    return {
        "step_W": np.minimum(extra["wanted_W"], 1.0 / (problem.curvature(Ht) + prior)),
        "step_Ht": np.minimum(extra["wanted_Ht"], 1.0 / (problem.curvature(W) + prior)),
    }
