"""One fit of the bars test: with the defaults, with the settings of Yus López (2015), and from the truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, Outcome, learn, log_likelihood
from partwise.latent.inference import Inference
from partwise.matrix import Dense
from partwise.models import BinaryNMF

STEPS = 60
QUIET = 10


@dataclass(frozen=True)
class Published:
    """What Yus López (2015) leaves open, as `--paper` takes it.

    Parameters
    ----------
    noise : float
        Mean of the Poisson noise on every entry of W after every step but the last ten.
    gamma : int or None
        γ; πH = 2.4 is rounded up. None: ⌈πH⌉ with the π of each step.
    widen : int
        How many of the last steps have the truncation limit raised.
    widen_to : int or None
        To how many active components; None is all of them.
    """

    noise: float = 0.02
    gamma: int | None = 3
    widen: int = 5
    widen_to: int | None = None


@dataclass(frozen=True)
class Run:
    """What one fit found, and every step on the way.

    Attributes
    ----------
    W : array of shape (H, n_features)
        The components.
    activation : float
        π.
    n_iter : int
        Steps made.
    history : dict
        "log_likelihood", "activation" and "components" of the start and of every step.
    """

    W: np.ndarray
    activation: float
    n_iter: int
    history: dict[str, Any]


def parts_found(components: np.ndarray, truth: np.ndarray, cosine: float = 0.95) -> int:
    """How many true parts have a learned component of their own that points the same way."""
    size = np.linalg.norm(components, axis=1)[:, None] * np.linalg.norm(truth, axis=1)
    alike = components @ truth.T / np.maximum(size, 1e-300)
    mine, theirs = linear_sum_assignment(-alike)
    return int((alike[mine, theirs] > cosine).sum())


def with_progress(total: int, description: str) -> Iterator[int]:
    """0 … total − 1, with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import track

    yield from track(range(total), description, console=Console(stderr=True), transient=True)


def default_run(bars: Any, inference: str, seed: int) -> Run:
    """BinaryNMF with its default settings."""
    model = BinaryNMF(
        len(bars.components), inference=inference, random_state=seed, record_components=True
    ).fit(bars.data)
    return Run(model.components_, float(model.activation_), model.n_iter_, model.history_)


def published_run(bars: Any, inference: str, seed: int, open_choices: Published | None = None) -> Run:
    """Uniform start, random π, least squares, perturbation, 60 steps; π plain, so that it needs the widening."""
    taken = open_choices or Published()
    rng = np.random.default_rng(seed)
    H, D = bars.components.shape
    exact = inference == "exact"
    method = ExpectationMaximization(
        Inference() if exact else Inference(False, taken.gamma, "all", mean_active=True),
        update="least-squares",
        correct=False,
        perturb=(taken.noise,) * (STEPS - QUIET),
        widen=0 if exact else taken.widen,
        max_iter=STEPS,
        tol=0.0,
        record_components=True,
        widen_to=taken.widen_to,
    )
    found = from_start(bars, method, rng.random((H, D)), rng.random(), rng)
    return Run(found.W, float(found.activation.mean()), found.n_iter, found.history)


def true_likelihood(bars: Any) -> float:
    """The log-likelihood of the parameters that the data were drawn with."""
    H = len(bars.components)
    counts = Counts(Dense.of(bars.data))
    inference = Inference(exact=H <= 12)
    return log_likelihood(counts, inference(counts, bars.components, np.full(H, bars.latent.mean())))


def from_start(
    bars: Any, method: ExpectationMaximization, W: np.ndarray, activation: float, rng: np.random.Generator
) -> Outcome:
    """EM from these components, and one π for all."""
    state = method.init(W, np.full(len(W), activation))
    return learn(Counts(Dense.of(bars.data)), method, state, rng)


def from_truth(bars: Any, rule: str, steps: int = 20) -> np.ndarray:
    """The log-likelihood from a start at the true parameters (Yus López 2015, figure 4.4)."""
    H = len(bars.components)
    inference = Inference()
    if H > 12:
        # γ is held: log-likelihoods over different sets of states cannot be compared.
        gamma = Inference(exact=False).gamma(np.full(H, bars.latent.mean()))
        inference = Inference(exact=False, max_active=gamma)
    method = ExpectationMaximization(inference, update=rule, max_iter=steps, tol=0.0)
    found = from_start(bars, method, bars.components, bars.latent.mean(), np.random.default_rng(0))
    return np.array(found.history["log_likelihood"])


def least_squares_fall(bars: Any) -> dict[str, float]:
    """Where the log-likelihood falls in a least-squares step from the truth, with the bits as they were drawn.

    The step averages counts without dividing by their variance, so that the noise of bright pixels moves the rates
    of dark ones, and clipping at zero keeps what moved up: pixels that are never lit get a small rate, which every
    count of zero there pays for.
    """
    method = ExpectationMaximization(
        Inference(exact=len(bars.components) <= 12),
        update="least-squares",
        max_iter=1,
        tol=0.0,
        record_components=True,
    )
    found = from_start(bars, method, bars.components, bars.latent.mean(), np.random.default_rng(0))
    W = np.asarray(found.history["components"][1])
    before, after = (bars.latent @ one for one in (bars.components, W))
    y = bars.data
    # Where the true rate is zero the count is zero too, and the term is the rate alone.
    seen = (y > 0) & (before > 0) & (after > 0)
    ratio = np.divide(after, before, out=np.ones_like(before, dtype=float), where=seen)
    change = y * np.log(ratio) - (after - before)
    return {
        "zero_counts": float(change[y == 0].sum()),
        "positive_counts": float(change[y > 0].sum()),
        "dark_rate": float(W[bars.components == 0].mean()),
    }


def rates(outcomes: Sequence[tuple[Any, Run]], activation: float) -> dict[str, Any]:
    """Share of runs that found all parts, and the mean of π."""
    found = np.array([parts_found(run.W, bars.components) for bars, run in outcomes])
    pi = np.array([run.activation for _, run in outcomes])
    drawn = np.array([bars.latent.mean() for bars, _ in outcomes])
    H = len(outcomes[0][0].components)
    success = float((found == H).mean())
    return {
        "success": success,
        "error": float(np.sqrt(success * (1 - success) / len(found))),
        "found": found.tolist(),
        "activation": float(pi.mean()),
        "activation_bias": float((pi - drawn).mean()),
        "activation_spread": float((pi - drawn).std()),
        "truth": activation,
        "n_iter": float(np.mean([run.n_iter for _, run in outcomes])),
    }
