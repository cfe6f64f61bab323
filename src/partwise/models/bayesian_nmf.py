"""BayesianNMF: the posterior of a nonnegative factorization, by Gibbs sampling."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partwise.core import Problem, whole_session
from partwise.io.registry import register_model
from partwise.matrix import InMemory
from partwise.models.base import FactorModel, fit_session
from partwise.models.bayesian_fit import Fitted, sample_posterior, start_rows
from partwise.models.file_contents import BAYESIAN_NMF_CONTENTS
from partwise.models.inputs import Given, given, place_of
from partwise.models.nmf import _VALUES as _PRIORS  # noqa: F401 (registers the priors that a file may name)
from partwise.models.parameters import choice, missing_mark, real, whole
from partwise.models.summary import ending, summarise
from partwise.models.unseen import PRIOR_ALONE, unseen_columns
from partwise.parallel import own_threads
from partwise.priors import Prior
from partwise.samplers.as_arviz import as_arviz
from partwise.samplers.nmf_posterior import LIKELIHOODS, Likelihood, check_proper
from partwise.samplers.streams import row_numbers

#: Draws of H by which `transform` explains new rows. A fitted model keeps more of them, in memory and in its file,
#: for intervals: as many as are so many numbers, and no more than that.
MEAN_DRAWS, KEPT_NUMBERS, MOST_KEPT = 32, 1 << 20, 400
#: Draws that intervals are read from, at most; draws beyond an end of an interval below which that is said.
INTERVAL_DRAWS, FEW_BEYOND = 2000, 4
#: Draws for new rows that are left out, since they still know where they began.
_BURN_IN = 10
#: Numbers of draws × rows × columns that are held at once.
_AT_ONCE = 1 << 24
#: Bytes above which `to_arviz` refuses a group that has one number for each draw and entry of X.
_LARGEST_GROUP = 4e9


def spread_out(count: int, most: int) -> np.ndarray:
    """Up to `most` of the numbers 0 … count − 1, evenly spread."""
    return np.unique(np.linspace(0, count - 1, most).round().astype(int))


@register_model
class BayesianNMF(FactorModel):
    r"""The posterior of X ≈ W H, W ≥ 0, H ≥ 0: not one answer, but how sure we are of each entry.

    With ``likelihood="gaussian"`` the data are W H plus normal noise of unknown variance σ², with exponential or
    half-normal priors on W and H and an inverse-Gamma prior on σ² (Schmidt, Winther & Hansen 2009). With "poisson"
    they are counts with mean W H and Gamma priors (Cemgil 2009), the Bayesian twin of NMF with Gamma priors. Several
    chains of Gibbs sampling run in parallel. Before draws are averaged, their components are brought into one order,
    and to one ratio of the sizes of W and H, which the data do not tell.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    likelihood : {"gaussian", "poisson"}, default="gaussian"
        How data come from W H. "gaussian" takes data of any sign, "poisson" whole numbers.
    prior_W, prior_H : {"exponential", "half-normal"} or Prior, default="exponential"
        What is believed of each entry. By name, the scale is chosen so that W H has the mean of the data; as a prior,
        for instance ``partwise.priors.Gamma(shape=1, rate=2)``, it is as given. "half-normal", `Bounds` and
        `ElasticNet` only with "gaussian"; Gamma with any shape only with "poisson".
    noise_prior : tuple of two floats, optional
        Shape and scale of the inverse-Gamma prior of σ²; by default 1, and 1 % of the mean square of the data.
    n_chains : int, default=4
        Number of chains; R-hat compares them.
    n_draws : int, default=1000
        Draws of each chain.
    n_warmup : int, default=500
        Steps of each chain before its first draw.
    thin : int, default=1
        Steps from one draw to the next.
    init : {"nmf", "random"} or tuple (W, H), default="nmf"
        Where chains start. "nmf": near one fit of NMF, each with its own random change, so that they explore one
        mode; "random": each from its own draw from the priors; or near the factors given.
    anneal : bool, default=False
        Begin the warm-up with a likelihood of little weight, a tenth at first, so that chains from different starts
        meet in the same mode.
    memory : float, default=256e6
        Bytes that kept draws of W and H may take; beyond, they are thinned. Means and standard deviations are of all
        draws, kept or not.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed: the same data give the same answer.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry. With sparse X unstored entries are zeros, unless this is 0, which makes
        them unobserved. None refuses NaN.
    max_time : float, optional
        Seconds that the fit may take, compiling not counted; the draws so far are kept.

    Attributes
    ----------
    components_, components_std_ : array of shape (n_components, n_features)
        Posterior mean and standard deviation of H, parts by falling share of the reconstruction.
    W_mean_, W_std_ : array of shape (n_samples, n_components)
        Posterior mean and standard deviation of W.
    noise_, noise_std_ : float or None
        Posterior mean and standard deviation of σ²; None for counts.
    components_draws_ : array of shape (n_kept, n_components, n_features)
        Draws of H, by which `transform` and `predict_interval` explain new rows: 32, or up to 400 where they are no
        more than a million numbers.
    noise_draws_ : array of shape (n_kept,)
        Of σ²; ones for counts.
    rhat_, ess_ : dict of str to float
        Of quantities that do not depend on the order of components ("log-posterior", "noise variance",
        "reconstruction"): the largest R-hat, and the smallest effective sample size (Vehtari et al. 2021). Of the
        reconstruction up to 200 entries are watched, drawn at random.
    converged_ : bool
        Whether all of these R-hat are at most 1.05, and all effective sample sizes at least 100.
    log_posterior_, log_likelihood_ : float
        Means over the draws; the log-posterior up to a constant.
    prior_W_, prior_H_ : Prior
        The priors used.
    n_draws_, n_iter_, n_components_, n_samples_fit_, n_features_in_ : int
        Draws of all chains, steps of the shortest chain, components, rows and columns.
    ended_by_ : {"max_iter", "max_time", "interrupted"}
        Why the chains ended; "max_iter" is that all draws were made.
    history_ : dict of arrays
        "step", and at these steps the mean, "lowest" and "highest" "log_posterior" of the chains, warm-up included.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import BayesianNMF
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.exponential(size=(30, 2)) @ rng.exponential(size=(2, 12))
    >>> model = BayesianNMF(2, n_draws=300, n_warmup=200).fit(clean + 0.1 * rng.standard_normal((30, 12)))
    >>> low, high = model.predict_interval(level=0.9)
    >>> bool(0.75 < np.mean((low <= clean) & (clean <= high)))
    True
    """

    kind = "bayesian-nmf"
    file_contents = BAYESIAN_NMF_CONTENTS

    def __init__(
        self,
        n_components: int = 2,
        *,
        likelihood: str = "gaussian",
        prior_W: Any = "exponential",
        prior_H: Any = "exponential",
        noise_prior: tuple[float, float] | None = None,
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        init: Any = "nmf",
        anneal: bool = False,
        memory: float = 256e6,
        random_state: Any = None,
        verbose: int = 0,
        missing_values: float | None = np.nan,
        max_time: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.likelihood = likelihood
        self.prior_W = prior_W
        self.prior_H = prior_H
        self.noise_prior = noise_prior
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.init = init
        self.anneal = anneal
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.max_time = max_time

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, checkpoint: Any = None) -> BayesianNMF:
        """Sample the posterior.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            The data; NaN marks entries that were not observed.
        y : None
            Ignored.
        checkpoint : path, optional
            Folder in which the chains save their state every ten seconds. A later call with the same data and
            parameters goes on from there, and ends with the same bits.

        Returns
        -------
        BayesianNMF
            The model itself. Ctrl-C ends the chains early with the draws so far, and the warning `Interrupted`.
        """
        self._validate_params()
        data = self._given(X, reset=True)
        unseen_columns(self, data.X.column_observed(), PRIOR_ALONE)
        problem = self._problem(data.X)
        steps = self.n_chains * (self.n_warmup + self.n_draws * self.thin)
        self._forget()
        with fit_session(
            self,
            total=steps,
            quantity="log-posterior",
            max_time=self.max_time,
            checkpoint=checkpoint,
            data=lambda: {"shape": data.X.shape, "contents": data.X.digest()},
        ) as session:
            found = sample_posterior(self, problem, self._likelihood, session)
            session.keep(lambda: self._keep(problem, found))
        self._draws, self._data = found.draws, data.array
        if not self.converged_:
            made = found.n_draws // self.n_chains
            said = found.convergence.sentence(self.n_draws, self.n_warmup, made)
            warnings.warn(said, ConvergenceWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> Any:
        """Posterior mean of W for rows, given what the fit knows of H.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_components)
            The mean over draws of W, a few for each of 32 of `components_draws_`. A row's draws do not depend on the
            rows around it.
        """
        data, W, draws = self._new_rows(X, MEAN_DRAWS)
        total, count = np.zeros(W.shape), 0
        for _, drawn in draws:
            total += drawn
            count += 1
        return self._named((total / count).astype(data.X.dtype), data.row_names)

    def predict_interval(self, X: Any = None, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Intervals for the noise-free reconstruction (W H)_ij.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            New rows; by default those of the fit.
        level : float, default=0.9
            Posterior probability of each interval, which leaves out as much below as above.

        Returns
        -------
        low : array of shape (n_samples, n_features)
            Lower ends.
        high : array of shape (n_samples, n_features)
            Upper ends. Both are dense; what is held at once beside them is bounded, whatever the number of draws.
        """
        check_is_fitted(self)
        if not 0.0 < real("level", level, 0.0, 1.0) < 1.0:
            raise ValueError(f"level must lie between 0 and 1; got {level}.")
        if X is None:
            W, H, _ = self._kept("predict_interval for the rows of the fit")
            stride = -(-len(W) // INTERVAL_DRAWS)
            W, H = W[::stride], H[::stride]
            dtype = self.components_.dtype
        else:
            data, _, drawn = self._new_rows(X, MOST_KEPT)
            pairs = [(d, A.copy()) for d, A in drawn]
            beyond = 0.5 * (1.0 - level) * len(pairs)
            if beyond < FEW_BEYOND:
                warnings.warn(
                    f"Intervals of level {level:g} for new rows rest on {len(pairs)} draws, of which about "
                    f"{beyond:.1g} lie beyond each end: they are too narrow. Lower the level.",
                    UserWarning,
                    stacklevel=2,
                )
            W = np.stack([A for _, A in pairs])
            H = self.components_draws_[[d for d, _ in pairs]].transpose(0, 2, 1)
            dtype = data.X.dtype
        n, m = W.shape[1], H.shape[1]
        low, high = np.empty((n, m), dtype), np.empty((n, m), dtype)
        height = max(1, _AT_ONCE // max(1, len(W) * m))
        for start in range(0, n, height):
            rows = slice(start, min(start + height, n))
            Y = np.matmul(W[:, rows].astype(float), H.transpose(0, 2, 1).astype(float))
            low[rows], high[rows] = np.quantile(Y, (0.5 - level / 2, 0.5 + level / 2), axis=0)
        return low, high

    def to_arviz(self, log_likelihood: bool = False, posterior_predictive: bool = False) -> Any:
        """The kept draws for ArviZ: plots, diagnostics, comparison of models, netCDF and Zarr files.

        Parameters
        ----------
        log_likelihood : bool, default=False
            Add a group with the log-likelihood of every entry of X under every kept draw; 8 bytes each (512 × 512
            entries × 4,000 draws are 8.4 GB). Above 4 GB it is refused: lower `memory`, or raise `thin`.
        posterior_predictive : bool, default=False
            Add a group with new data drawn for every kept draw; as large.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The first with ArviZ 0.x, the second with 1.x. Group "posterior": W (chain, draw, row, component), H
            (chain, draw, component, feature) and noise; "sample_stats": "lp", the log-posterior as the chain had it,
            before parts were brought to one share of W and H; "observed_data": X.
        """
        check_is_fitted(self)
        W, H, noise = self._kept("to_arviz", chains=True)
        n_chains, n_kept, n, k = W.shape
        m = H.shape[2]
        extra = 8.0 * n_chains * n_kept * n * m
        if (log_likelihood or posterior_predictive) and extra > _LARGEST_GROUP:
            raise ValueError(
                f"A group with a number for each of {n_chains} × {n_kept} draws and {n} × {m} entries takes "
                f"{extra / 1e9:.1f} GB. Fit with a smaller `memory` or a larger `thin`, so that fewer draws are kept."
            )
        X = self._data.toarray() if sp.issparse(self._data) else np.asarray(self._data)
        X = np.asarray(X, float)
        groups: dict[str, dict[str, Any]] = {
            "posterior": {"W": W, "H": H.transpose(0, 1, 3, 2)},
            "sample_stats": {"lp": self._draws["log_posterior"]},
            "observed_data": {"X": X},
        }
        likelihood, rng = self._likelihood, np.random.default_rng(self.seed_)
        if likelihood.has_noise:
            groups["posterior"]["noise"] = noise

        def each(function: Any) -> np.ndarray:
            out = np.empty((n_chains, n_kept, n, m))
            for c, d in np.ndindex(n_chains, n_kept):
                Y = W[c, d].astype(float) @ H[c, d].T.astype(float)
                out[c, d] = function(Y, float(noise[c, d]))
            return out

        if log_likelihood:
            groups["log_likelihood"] = {"X": each(lambda Y, s: likelihood.log_density(X, Y, s))}
        if posterior_predictive:
            groups["posterior_predictive"] = {"X": each(lambda Y, s: likelihood.predictive(Y, s, rng))}
        features = getattr(self, "feature_names_in_", np.arange(m))
        dims = {"W": ("row", "component"), "H": ("component", "feature"), "X": ("row", "feature")}
        coords = {"row": np.arange(n), "component": np.arange(k), "feature": np.asarray(features)}
        return as_arviz(groups, dims, coords)

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
        worst = max(self.rhat_.values(), default=float("nan"))
        least = min(self.ess_.values(), default=float("nan"))
        agree = f"R-hat up to {worst:.3f}, effective sample size from {least:.0f}"
        if np.isnan(worst) or np.isnan(least):
            agree = "too few draws to tell whether chains agree"
        said = f"{self.n_draws_} draws of {self.n_chains} chains; {ending(self, 'steps')}: {agree}"
        figures = {"log_posterior": self.log_posterior_, "rhat": worst, "ess": least}
        if self.noise_ is not None:
            figures["noise"] = self.noise_
        doubt = self.components_std_.mean(axis=1) / np.maximum(self.components_.mean(axis=1), 1e-300)
        details = [
            {"sentence": f"± {100 * one:.1f} %", "relative_std": float(one)} for one in doubt.astype(float)
        ]
        return summarise(self, feature_names, sentence=said, figures=figures, part_details=details)

    @property
    def draws_(self) -> dict[str, np.ndarray]:
        """Kept draws of the fit, not part of model files; as many as fit into `memory`.

        "W" (chain, draw, sample, component), "H" (chain, draw, component, feature), "log_posterior" and, with
        Gaussian noise, "noise_variance" (chain, draw).
        """
        check_is_fitted(self)
        if "_draws" not in vars(self):
            raise AttributeError(
                "This model has no draws: model files keep means and standard deviations. Fit it again."
            )
        held = self._draws
        found = {"W": held["W"], "H": np.swapaxes(held["H"], 2, 3), "log_posterior": held["log_posterior"]}
        return found | ({"noise_variance": held["noise"]} if self._likelihood.has_noise else {})

    # ------------------------------------------------------------------ inside

    @property
    def _likelihood(self) -> Likelihood:
        return LIKELIHOODS[self.likelihood]

    def _forget(self) -> None:
        """Drop what only an earlier fit had."""
        for name in ("_draws", "_data"):
            self.__dict__.pop(name, None)

    def _given(self, X: Any, *, reset: bool) -> Given:
        data = given(self, X, reset=reset, missing_values=self.missing_values, signed=self._likelihood.signed)
        array = data.array
        values = array.data if sp.issparse(array) else array
        if values.size and not self._likelihood.signed:
            broken = (values != np.floor(values)) & ~np.isnan(values)
            if broken.any():
                place = place_of(array, lambda v: (v != np.floor(v)) & ~np.isnan(v))
                raise ValueError(
                    f"likelihood='poisson' takes counts, whole numbers; {place}. Use likelihood='gaussian', or "
                    "round the data if they are counts."
                )
        largest = float(np.fmax.reduce(np.abs(values), axis=None)) if values.size else 0.0
        limit = float(np.finfo(values.dtype).max) ** 0.25
        if reset and not largest > 0.0:
            raise ValueError("X has no observed entry other than zero, so there is nothing to explain.")
        if not largest < limit or (reset and largest < 1.0 / limit):
            raise ValueError(
                f"The largest entry of X is {largest:g}, which cannot be squared safely; divide X by a constant."
            )
        return data

    def _problem(self, X: Any) -> Problem:
        k = whole("n_components", self.n_components)
        if k > max(X.shape):
            raise ValueError(
                f"n_components={k} exceeds both sides of X ({X.shape[0]} × {X.shape[1]}). Choose fewer."
            )
        likelihood = self._likelihood
        mean = X.mean()
        if not mean > 0.0:
            # Data around zero: their size stands for their mean.
            ones = np.zeros((X.shape[0], 1), X.dtype), np.zeros((X.shape[1], 1), X.dtype)
            squares = 2.0 * float(X.row_divergence(*ones, LIKELIHOODS["gaussian"].loss, 0.0).sum())
            mean = float(np.sqrt(squares / max(float(X.row_observed().sum()), 1.0)))
        size = float(np.sqrt(mean / k))
        priors = [likelihood.prior(chosen, size) for chosen in (self.prior_W, self.prior_H)]
        for prior, word in zip(priors, ("prior_W", "prior_H")):
            likelihood.check_prior(prior, word)
        problem = Problem(X, likelihood.loss, prior_W=priors[0], prior_H=priors[1])
        if likelihood.has_noise:
            check_proper(problem)
        return problem

    def _keep(self, problem: Problem, found: Fitted) -> None:
        dtype = problem.X.dtype
        self.prior_W_, self.prior_H_ = problem.prior_W, problem.prior_H
        self.W_mean_, self.W_std_ = found.W.mean.astype(dtype), found.W.std.astype(dtype)
        self.components_ = np.ascontiguousarray(found.H.mean.T, dtype)
        self.components_std_ = np.ascontiguousarray(found.H.std.T, dtype)
        self.n_components_ = len(self.components_)
        draws = found.draws
        H = draws["H"].reshape(-1, *draws["H"].shape[2:])
        most = max(MEAN_DRAWS, min(MOST_KEPT, KEPT_NUMBERS // max(1, H[0].size)))
        chosen = spread_out(len(H), most)
        self.components_draws_ = np.ascontiguousarray(H[chosen].transpose(0, 2, 1), dtype)
        self.noise_draws_ = draws["noise"].reshape(-1)[chosen].astype(float)
        self.noise_ = float(found.noise.mean) if found.noise is not None else None
        self.noise_std_ = float(found.noise.std) if found.noise is not None else None
        self.rhat_, self.ess_ = found.convergence.rhat, found.convergence.ess
        self.ended_by_ = found.reason
        self.converged_ = found.convergence.converged
        self.log_posterior_, self.log_likelihood_ = found.log_posterior, found.log_likelihood
        self.n_draws_, self.n_iter_ = found.n_draws, found.n_iter
        self.n_samples_fit_ = problem.X.shape[0]
        self.history_ = found.history
        self.seed_ = found.seed

    def _kept(self, word: str, chains: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kept draws of W, Hᵀ and σ², of all chains one after the other or chain by chain."""
        check_is_fitted(self)
        if not hasattr(self, "_draws"):
            raise ValueError(
                f"{word} needs the draws of the fit, which model files do not keep. Fit the model again; "
                "predict_interval(X) for given rows works with what the file has."
            )
        found = self._draws["W"], self._draws["H"], self._draws["noise"]
        if chains:
            return found
        W, H, noise = (part.reshape(-1, *part.shape[2:]) for part in found)
        return W, H, noise

    def _new_rows(self, X: Any, most: int) -> tuple[Given, np.ndarray, Iterator[tuple[int, np.ndarray]]]:
        """The data, W that is drawn into, and the draws of it given `most` draws of H, but the first few."""
        check_is_fitted(self)
        data = self._given(X, reset=False)
        matrix = data.X
        assert isinstance(matrix, InMemory)

        def draws() -> Iterator[tuple[int, np.ndarray]]:
            rng, numbers = np.random.default_rng(self.seed_), row_numbers(matrix)
            chosen = spread_out(len(self.components_draws_), most)
            H, noise = self.components_draws_[chosen], self.noise_draws_[chosen]
            kept = self._likelihood.new_rows(matrix, W, H, noise, self.prior_W_, numbers, rng)
            for i, (d, drawn) in enumerate(kept):
                if i >= min(_BURN_IN, len(H)):
                    yield int(chosen[d]), drawn

        with whole_session(), own_threads():
            problem = Problem(matrix, self._likelihood.loss, self.prior_W_, update_H=False)
            W = start_rows(problem, np.ascontiguousarray(self.components_.T, matrix.dtype))
            if not self._likelihood.has_noise:
                W = W.astype(float)
        return data, W, draws()

    def _validate_params(self) -> None:
        whole("n_components", self.n_components)
        choice("likelihood", self.likelihood, tuple(LIKELIHOODS))
        for name, low in (("n_chains", 1), ("n_draws", 1), ("n_warmup", 0), ("thin", 1)):
            whole(name, getattr(self, name), low)
        for name in ("prior_W", "prior_H"):
            prior = getattr(self, name)
            if not isinstance(prior, Prior):
                choice(name, prior, self._likelihood.prior_names)
        if self.noise_prior is not None:
            if not isinstance(self.noise_prior, tuple | list) or len(self.noise_prior) != 2:
                raise ValueError(f"noise_prior must be (shape, scale); got {self.noise_prior!r}.")
            for value in self.noise_prior:
                if not real("noise_prior", value) > 0:
                    raise ValueError(
                        f"noise_prior needs a shape and a scale above 0; got {self.noise_prior!r}."
                    )
        if isinstance(self.init, str):
            choice("init", self.init, ("nmf", "random"))
        elif not (isinstance(self.init, tuple | list) and len(self.init) == 2):
            raise ValueError(f"init must be 'nmf', 'random' or a pair (W, H); got {self.init!r}.")
        real("memory", self.memory)
        if self.max_time is not None:
            real("max_time", self.max_time)
        missing_mark(self.missing_values)

    def __getstate__(self) -> dict[str, Any]:
        """Without the draws and the data, as in a model file."""
        state = dict(super().__getstate__())
        for name in ("_draws", "_data"):
            state.pop(name, None)
        return state

    def __sklearn_tags__(self) -> Any:
        """NaN is welcome where it marks missing entries; signed data where noise may have made them so."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.input_tags.positive_only = self.likelihood != "gaussian"
        return tags
