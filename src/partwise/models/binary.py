"""BinaryNMF: parts that are on or off, learned by EM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from partwise.core import Session, open_session
from partwise.io.registry import register_model
from partwise.latent.binary_start import data_start, nmf_start, random_start
from partwise.latent.counts import Counts
from partwise.latent.em import ExpectationMaximization, Outcome, learn, log_likelihood, untried
from partwise.latent.inference import Inference
from partwise.latent.m_step import limits
from partwise.latent.noise import POISSON, GaussianNoise, Noise, least_variance, starting_noise
from partwise.latent.rescue import rescue
from partwise.latent.statistics import Statistics
from partwise.models.base import FactorModel, as_generator, fit_session
from partwise.models.file_contents import BINARY_CONTENTS
from partwise.models.inputs import given
from partwise.models.parameters import choice, missing_mark, real, whole
from partwise.models.summary import ending, summarise
from partwise.models.unseen import unseen_columns
from partwise.parallel import own_threads

#: Exact inference up to here; beyond, the states are too many.
MOST_EXACT = 16
#: Up to here "auto" is exact.
AUTO_EXACT = 10


@register_model
class BinaryNMF(FactorModel):
    """Data as sums of parts that are on or off, plus Poisson or Gaussian noise.

    Each sample switches each component on with probability π, independently; the counts are Poisson with mean
    s · components_ (or, with Gaussian noise, nonnegative numbers around that mean). Learned by expectation
    maximization. Use it instead of `NMF` when a cause is present or absent and has no strength: a bar, a stroke, a
    firing cell, an event.

    Parameters
    ----------
    n_components : int
        Number of parts H.
    noise : {"poisson", "gaussian"}, default="poisson"
        "poisson" is for counts. "gaussian" is for measurements: binary sparse coding (Henniges et al. 2010) with
        nonnegative components, one variance σ² in all entries, learned.
    inference : {"auto", "exact", "truncated"}, default="auto"
        "exact" sums over all 2^H states (H up to 16). "truncated" visits, for each sample, the states with at most
        `max_active` of `n_candidates` components chosen for it. "auto" is exact up to H = 10.
    max_active : int, optional
        γ, the most components that are on at once; by default it follows π.
    n_candidates : int or "all", optional
        H′, how many components each sample chooses from; γ + 3 by default. "all" visits the same states for every
        sample and has one more active component in the denominator (Yus López 2015, 3.2.3).
    anneal : bool or sequence of float, default=True
        Temperatures (at least 1) of the first steps, which blur the likelihood. True: 15 steps from 10 down where
        the start is "random" or "data", none otherwise.
    init : {"nmf", "random", "data"} or array of shape (n_components, n_features), default="nmf"
        "nmf" cuts the best of a few NMFs into on and off.
    perturb : float or sequence of float, default=0.0
        Mean of Poisson noise that is added to the components after each step; a single number holds for the first
        half of `max_iter`.
    update : {"em", "least-squares"}, default="em"
        The monotone EM rule, or least squares with negative values cut off (Yus López 2015, equation 3.8).
    per_component : bool, default=False
        One π for each component.
    correct_activation : bool, default=True
        Under truncation, correct π for the states that were left out.
    widen : int, default=0
        How many of the last steps use all 2^H states, as Yus López (2015) does instead of the correction. The fit
        then makes all `max_iter` steps.
    rescue : bool, default=True
        Replant components that died or merged, where that raises the likelihood.
    n_init : int, default=1
        Number of starts; the most likely outcome is kept.
    max_iter : int, default=200
        Steps of EM, at most.
    max_time : float, optional
        Seconds that the fit may take, compiling not counted; the best found by then is kept.
    tol : float, default=1e-6
        Stop when three steps in a row raise the log-likelihood by less than `tol` of itself.
    missing_values : nan, 0 or None, default=nan
        What marks an entry that was not observed; its term drops from the sum over features.
    record_components : bool, default=False
        Keep the components of every step in `history_`.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Mean counts of each component while it is on.
    activation_ : float, or array of shape (n_components,) with `per_component`
        π.
    noise_variance_ : float or None
        σ² of Gaussian noise; None for Poisson noise.
    log_likelihood_ : float
        Of the training data, constant terms included; under truncation, over the states visited. NaN if Ctrl-C was
        pressed before it was first computed.
    history_ : dict of arrays
        "log_likelihood", "activation", "seconds", with Gaussian noise "noise_variance" and, on request,
        "components": the start and every step. The parameters kept are the best ones met, which need not be the last.
    n_iter_ : int
        Steps made; those of moves that did not pay (`rescue`) are not counted.
    converged_ : bool
        Whether `tol` was met.
    ended_by_ : {"converged", "max_iter", "max_time", "interrupted"}
        Why the search from the kept start ended.
    restarts_ : list of dict
        "log_likelihood", "n_iter" and "ended_by" of every start.
    inference_ : {"exact", "truncated"}
        The E-step used.
    max_active_ : int
        γ at the end.

    Examples
    --------
    >>> from partwise import BinaryNMF
    >>> from partwise.datasets import make_bars
    >>> bars = make_bars(500, random_state=0)
    >>> model = BinaryNMF(8).fit(bars.data)
    >>> bool(abs(model.activation_ - bars.latent.mean()) < 0.01)
    True
    >>> model.predict(bars.data[:2]).shape
    (2, 8)
    """

    kind = "binary"
    file_contents = BINARY_CONTENTS

    def __init__(
        self,
        n_components: int = 8,
        *,
        noise: str = "poisson",
        inference: str = "auto",
        max_active: int | None = None,
        n_candidates: int | str | None = None,
        anneal: Any = True,
        init: Any = "nmf",
        perturb: Any = 0.0,
        update: str = "em",
        per_component: bool = False,
        correct_activation: bool = True,
        widen: int = 0,
        rescue: bool = True,
        n_init: int = 1,
        max_iter: int = 200,
        max_time: float | None = None,
        tol: float = 1e-6,
        missing_values: float | None = np.nan,
        record_components: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.noise = noise
        self.inference = inference
        self.max_active = max_active
        self.n_candidates = n_candidates
        self.anneal = anneal
        self.init = init
        self.perturb = perturb
        self.update = update
        self.per_component = per_component
        self.correct_activation = correct_activation
        self.widen = widen
        self.rescue = rescue
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.missing_values = missing_values
        self.record_components = record_components
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> BinaryNMF:
        """Learn components and π.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts; with Poisson noise other nonnegative numbers are taken with a warning.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts: 2 is the same as the row occurring twice.
        checkpoint : path, optional
            Folder in which the fit saves its state every ten seconds. A later call with the same data and parameters
            goes on from there, and ends with the same bits as if it had never been stopped.

        Returns
        -------
        BinaryNMF
            The model itself. Ctrl-C ends the fit early with what was found, and the warning `Interrupted`.
        """
        self._fit(X, sample_weight, checkpoint)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> Any:
        """Learn, and return the posterior means of the same rows.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts; with Poisson noise other nonnegative numbers are taken with a warning.
        y : None
            Ignored.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts: 2 is the same as the row occurring twice.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on; see `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
            As from `transform`.
        """
        with open_session() as session:
            self._fit(X, sample_weight, checkpoint)
            return session.completed(lambda: self.transform(X))

    def transform(self, X: Any) -> Any:
        """How probably each component is on in each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_components)
            Posterior means ⟨s⟩. A row's do not depend on the other rows.
        """
        data, stats, _ = self._posterior(X)
        return self._named(stats.means.astype(data.X.dtype, copy=False), data.row_names)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The same as `transform`, always a plain array.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_components)
            Posterior means ⟨s⟩.
        """
        data, stats, _ = self._posterior(X)
        return stats.means.astype(data.X.dtype, copy=False)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable bit vector of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts, with the columns of the fit.

        Returns
        -------
        array of int of shape (n_samples, n_components)
            0 and 1.
        """
        return self._posterior(X)[1].best.astype(np.int64)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of each sample, constant terms included.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples,)
            Natural logarithms; under truncation, over the states visited.
        """
        _, stats, counts = self._posterior(X)
        return np.asarray(stats.evidence - self._noise().constant(counts))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood per sample, constant terms included.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Counts, with the columns of the fit.
        y : None
            Ignored.

        Returns
        -------
        float
            The mean of `score_samples`.
        """
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw counts and the bits behind them from the model (Yus López 2015, equations 2.1 and 2.2).

        Parameters
        ----------
        n_samples : int
            Number of samples.
        random_state : int, Generator, RandomState or None
            None takes that of the model.

        Returns
        -------
        counts : array of shape (n_samples, n_features)
            Poisson counts with mean bits · `components_`; with Gaussian noise numbers around it, some below 0.
        bits : array of int of shape (n_samples, n_components)
            Which components are on.
        """
        check_is_fitted(self)
        rng = as_generator(self.random_state if random_state is None else random_state)
        H = len(self.components_)
        bits = rng.random((whole("n_samples", n_samples), H)) < np.broadcast_to(self.activation_, H)
        mean = bits @ self.components_
        if self.noise_variance_ is not None:
            spread = np.sqrt(self.noise_variance_)
            return mean + spread * rng.standard_normal(mean.shape), bits.astype(np.int64)
        return rng.poisson(mean).astype(float), bits.astype(np.int64)

    # ----------------------------------------------------------------- fitting

    def _fit(self, X: Any, sample_weight: Any, checkpoint: Any) -> None:
        self._validate_params()
        data = given(self, X, reset=True, missing_values=self.missing_values, sample_weight=sample_weight)
        if data.X.mean() == 0:
            raise ValueError(
                f"X ({data.X.shape[0]} × {data.X.shape[1]}) has no observed count above zero: there are no parts "
                "to learn. Check that the right data were loaded."
            )
        counts = Counts(data.X)
        if self.noise == "poisson":
            _warn_of_fractions(counts)
        elif counts.variance == 0:
            raise ValueError(
                f"X ({counts.n_rows} × {counts.n_features}) has the same value, {counts.mean:g}, in every observed "
                "entry: with noise='gaussian' there is no variance to learn and nothing for parts to tell apart. "
                "Check that the right data were loaded."
            )
        unseen = unseen_columns(self, data.X.column_observed(), "the parts are zero there")
        method = self._method(starting_noise(self.noise, counts))
        with (
            fit_session(
                self,
                total=self.max_iter,
                quantity="log-likelihood",
                max_time=self.max_time,
                checkpoint=checkpoint,
                data=lambda: {"shape": data.X.shape, "contents": data.X.digest()},
            ) as session,
            own_threads(),
        ):
            generators = as_generator(self.random_state).spawn(self.n_init)

            def attempt(i: int) -> Outcome:
                outcome = session.latest(self._outcomes(session, counts, method, generators[i], f"run{i}"))
                outcome.state.statistics = None  # As large as the data, and of no more use.
                return replace(outcome, reason="interrupted") if session.interrupted else outcome

            outcomes = session.restarts(self.n_init, attempt)
            session.keep(lambda: self._keep(counts, outcomes, unseen))
            self._warn(counts)

    def _outcomes(
        self,
        session: Session,
        counts: Counts,
        method: ExpectationMaximization,
        rng: np.random.Generator,
        name: str,
    ) -> Iterator[Outcome]:
        """What is found from one start, ever better: the start itself, EM from there, and each rescue that pays."""
        start = session.stage(f"{name}-start", lambda: self._start(session, counts, method, rng), rng)
        state = method.init(start["W"], start["activation"], 0, float(start["variance"]))
        yield untried(method, state)
        # If the start was cut short, no checkpoint may keep a run that begins there.
        found = learn(counts, method, state, rng, name="" if session.stopped else name)
        if method.widened(found.state.iteration):
            # Found over all states; what is kept is judged as `score` judges it.
            yield replace(found, log_likelihood=float("nan"))
            noise = method.noise.at(found.variance)
            stats = method.inference(counts, found.W, found.activation, noise=noise)
            value = log_likelihood(counts, stats, noise)
            yield replace(found, log_likelihood=value)
            return
        yield found
        if self.rescue:
            yield from rescue(session, counts, found, method, rng, name)

    def _start(
        self, session: Session, counts: Counts, method: ExpectationMaximization, rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Components, π and σ² to start from."""
        W, activation = self._choose_start(session, counts, method, rng)
        if not self.per_component:
            activation = np.full(len(W), activation.mean())
        activation = np.clip(activation, *limits(counts, len(W)))
        # After Ctrl-C or the time limit nothing that takes long may begin.
        variance = noise_of(counts, method, W, activation, 0 if session.stopped else 5).variance
        return {"W": W, "activation": activation, "variance": np.array(variance)}

    def _choose_start(
        self, session: Session, counts: Counts, method: ExpectationMaximization, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        H = self.n_components
        if not isinstance(self.init, str):
            W = check_array(self.init, dtype=np.float64, input_name="init")
            if W.shape != (H, counts.n_features) or W.min() < 0:
                raise ValueError(
                    f"init must be nonnegative and of shape ({H}, {counts.n_features}); got {W.shape}"
                    + (f" with a smallest value of {W.min():g}." if W.min() < 0 else ".")
                )
            return W, np.full(H, min(0.5, max(1.5 / H, 0.1)))
        if self.init == "random":
            return random_start(counts, H, rng)
        if self.init == "data":
            return data_start(counts, H, rng)

        def value(W: np.ndarray, activation: np.ndarray) -> float:
            activation = np.clip(activation, *limits(counts, H))
            noise = noise_of(counts, method, W, activation)
            return log_likelihood(counts, method.inference(counts, W, activation, noise=noise), noise)

        return nmf_start(session, counts, H, rng, value)

    def _validate_params(self) -> None:
        H = whole("n_components", self.n_components)
        choice("noise", self.noise, ("poisson", "gaussian"))
        choice("inference", self.inference, ("auto", "exact", "truncated"))
        choice("update", self.update, ("em", "least-squares"))
        if isinstance(self.init, str):
            choice("init", self.init, ("nmf", "random", "data"))
        if self.inference == "exact" and H > MOST_EXACT:
            raise ValueError(
                f"inference='exact' would sum over 2^{H} = {2**H:,} states for each sample; "
                f"use inference='truncated', or at most {MOST_EXACT} components."
            )
        if self.max_active is not None and whole("max_active", self.max_active) > H:
            raise ValueError(
                f"max_active={self.max_active} exceeds n_components={H}; no more components can be on than there are."
            )
        candidates = self.n_candidates
        if candidates is not None and candidates != "all" and whole("n_candidates", candidates) > min(H, 62):
            raise ValueError(
                f"n_candidates={candidates} must be at most {min(H, 62)}, or 'all' for no preselection."
            )
        if whole("widen", self.widen, 0) and H > MOST_EXACT:
            raise ValueError(
                f"widen sums over all 2^{H} states in the last steps; use at most {MOST_EXACT} components."
            )
        for name in ("n_init", "max_iter"):
            whole(name, getattr(self, name))
        real("tol", self.tol)
        missing_mark(self.missing_values)
        if self.max_time is not None:
            real("max_time", self.max_time)

    def _check_contents(self) -> None:
        """What `file_contents` cannot say: the E-step is chosen by the number of components."""
        if self.n_components != self.n_components_:
            raise ValueError(
                f"its n_components is {self.n_components}, and it was fitted with {self.n_components_}"
            )
        if (self.noise == "gaussian") != (self.noise_variance_ is not None):
            raise ValueError(f"its noise is '{self.noise}', and its noise_variance_ {self.noise_variance_}")

    def _method(self, noise: Noise) -> ExpectationMaximization:
        return ExpectationMaximization(
            self._inference(),
            self.update,
            self.per_component,
            self.correct_activation,
            self._temperatures(),
            schedule("perturb", self.perturb, self.max_iter // 2, 0.0),
            self.widen,
            self.max_iter,
            self.tol,
            self.record_components,
            noise,
        )

    def _inference(self) -> Inference:
        exact = self.inference == "exact" or (self.inference == "auto" and self.n_components <= AUTO_EXACT)
        return Inference(exact, self.max_active, self.n_candidates)

    def _temperatures(self) -> Sequence[float]:
        if self.anneal is False or self.anneal is None:
            return ()
        if self.anneal is True:
            rough = isinstance(self.init, str) and self.init in ("random", "data")
            return tuple(np.geomspace(10.0, 1.1, 15)) if rough else ()
        return schedule("anneal", self.anneal, 1, 1.0)

    def _keep(self, counts: Counts, outcomes: list[Outcome], unseen: np.ndarray) -> None:
        self.restarts_ = [
            {"log_likelihood": one.log_likelihood, "n_iter": one.n_iter, "ended_by": one.reason}
            for one in outcomes
        ]
        found = max(outcomes, key=lambda one: np.nan_to_num(one.log_likelihood, nan=-np.inf))
        W = found.W.copy()
        W[:, unseen] = 0.0
        order = np.argsort(-found.activation * W.sum(axis=1), kind="stable")
        if not isinstance(self.init, str):
            order = np.arange(len(order))
        self.components_ = W[order]
        pi = found.activation[order]
        self.activation_ = pi if self.per_component else float(pi[0])
        self.n_components_ = len(pi)
        self.n_samples_fit_ = counts.n_rows
        self.log_likelihood_ = found.log_likelihood
        gaussian = self.noise == "gaussian"
        self.background_ = 0.0 if gaussian else counts.background
        self.noise_variance_: float | None = float(found.variance) if gaussian else None
        self.n_iter_ = found.n_iter
        self.converged_ = found.reason == "converged"
        self.ended_by_ = found.reason
        inference = self._inference()
        self.inference_ = "exact" if inference.exact else "truncated"
        self.max_active_ = self.n_components_ if inference.exact else inference.gamma(pi)
        self.history_ = {name: np.array(values) for name, values in found.history.items()}
        self.history_["activation"] = self.history_["activation"][:, order if self.per_component else 0]
        if self.record_components:
            self.history_["components"] = self.history_["components"][:, order]

    def _warn(self, counts: Counts) -> None:
        low, high = limits(counts, self.n_components_)
        pi = np.atleast_1d(self.activation_)
        if (pi <= low).any() or (pi >= high).any():
            which = "never" if (pi <= low).any() else "always"
            warnings.warn(
                f"π has reached its edge: some component is {which} on. Use fewer components, or another start.",
                UserWarning,
                stacklevel=4,
            )
        if self.noise_variance_ is not None and self.noise_variance_ <= 1.001 * least_variance(counts):
            warnings.warn(
                f"σ² has reached its floor, {self.noise_variance_:.3g}, a millionth of the variance of X: the parts "
                "reproduce X, and probabilities say little. Use fewer components.",
                UserWarning,
                stacklevel=4,
            )
        if self.ended_by_ == "max_iter" and self.tol > 0 and not self.widen:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached; the log-likelihood was still rising. "
                f"Raise max_iter, for instance to {5 * self.max_iter}, or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _noise(self) -> Noise:
        """The noise that was learned."""
        return POISSON if self.noise_variance_ is None else GaussianNoise(self.noise_variance_)

    def _posterior(self, X: Any) -> tuple[Any, Statistics, Counts]:
        check_is_fitted(self)
        data = given(self, X, reset=False, missing_values=self.missing_values)
        # The background rate is that of the fit: rows must not depend on each other.
        counts = Counts(data.X, self.background_)
        pi = np.broadcast_to(self.activation_, len(self.components_)).astype(float)
        with own_threads():
            W = np.ascontiguousarray(self.components_, dtype=float)
            stats = self._inference()(counts, W, pi, noise=self._noise())
        # Rounding may lift a sum of posteriors above 1.
        np.minimum(stats.means, 1.0, out=stats.means)
        return data, stats, counts

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Names of the columns; by default those of the fit, else column0, column1, …

        Returns
        -------
        dict
            Dicts, lists, text and numbers; `partwise.models.summary.summarise` lists the entries.
        """
        check_is_fitted(self)
        pi = np.broadcast_to(self.activation_, len(self.components_))
        on = f"{pi.min():.4g}" if not self.per_component else f"{pi.min():.4g} to {pi.max():.4g}"
        sigma = self.noise_variance_
        spread = {} if sigma is None else {"noise_variance": sigma}
        return summarise(
            self,
            feature_names,
            sentence=f"{self.inference_} EM {ending(self)}, log-likelihood {self.log_likelihood_:.6g}; "
            f"π, the probability of a part being on: {on}"
            + ("" if sigma is None else f"; σ of the Gaussian noise: {np.sqrt(sigma):.4g}"),
            figures={
                "log_likelihood": self.log_likelihood_,
                "activation": float(pi.mean()),
                "max_active": self.max_active_,
                **spread,
            },
            chosen={"inference": self.inference_, "noise": self.noise},
            part_details=[{"activation": float(p)} for p in pi],
        )

    def __sklearn_tags__(self) -> Any:
        """NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        return tags


def noise_of(
    counts: Counts, method: ExpectationMaximization, W: np.ndarray, activation: np.ndarray, rounds: int = 5
) -> Noise:
    """The noise that goes with (W, π): a few EM steps for σ² alone, where there is one."""
    noise = method.noise
    for _ in range(rounds if noise.squared else 0):
        noise = noise.learned(counts, W, W, method.inference(counts, W, activation, noise=noise))
    return noise


def schedule(name: str, value: Any, length: int, low: float) -> tuple[float, ...]:
    """A number for each of the first `length` steps, or the given sequence of numbers."""
    if np.ndim(value) == 0:
        number = real(name, value, low)
        return (number,) * length if number > low else ()
    return tuple(real(name, number, low) for number in value)


def _warn_of_fractions(counts: Counts) -> None:
    values = counts.X.packed(0, min(counts.n_rows, 1000))
    if any((slab.u != np.round(slab.u)).any() for slab in values) and not counts.weighted:
        warnings.warn(
            "X is not made of whole numbers. BinaryNMF is a model of counts: the fit goes on, but its likelihood is "
            "then only a quasi-likelihood. noise='gaussian' is for measurements.",
            UserWarning,
            stacklevel=4,
        )
