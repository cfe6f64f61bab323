"""MixtureClassifier: the contrastive mixture model of Lee, Seung & Saul, and mixtures of Gaussians by EM."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from partwise.core import Session, digest, run
from partwise.io.registry import register_model
from partwise.mixture.components import Components, log_posterior
from partwise.mixture.contrastive import Contrastive, Labelled, sums
from partwise.mixture.generative import (
    COVARIANCES,
    GaussianEM,
    Gaussians,
    bounded,
    posterior_components,
    start_gaussians,
)
from partwise.mixture.lbfgs import Lbfgs
from partwise.mixture.multiplicative import AtOnce, Multiplicative
from partwise.mixture.penalty import choose_penalty, held_out
from partwise.mixture.start import WIDTHS, Clusters, class_counts, clustered, start_from_clusters
from partwise.mixture.training import Trained, TrainingMethod, TrainingProgress, history_of, train
from partwise.models.base import as_generator, fit_session
from partwise.models.file_contents import MIXTURE_CONTENTS
from partwise.models.inputs import place_of, validated
from partwise.models.label_part import require_labels
from partwise.models.looking import PartsMixin
from partwise.models.masks import without_mask
from partwise.models.names import warn_other_order
from partwise.models.parameters import choice, real, whole
from partwise.models.summary import ending, summarise
from partwise.models.units import exponent_of, inside, outside
from partwise.parallel import own_threads

#: Features are scaled to one spread, and then so that their absolute values add up to this, in the mean over samples.
ROW_SUM = 20.0
#: Samples below which a component is said not to be in use.
UNUSED = 0.01
OPTIMIZERS: dict[str, Callable[[], TrainingMethod]] = {
    "auto": Lbfgs,
    "lbfgs": Lbfgs,
    "multiplicative": Multiplicative,
    "multiplicative-at-once": AtOnce,
}


@register_model
class MixtureClassifier(PartsMixin, ClassifierMixin, BaseEstimator):
    """Each class a mixture of exponentials of the features, trained to tell the classes apart.

    The posterior of class i is Σ_j W_j exp(θ_j · h) over the components j of class i, divided by the same sum over
    all components: a compact classifier, made for the nonnegative features of NMF. A single component for each
    class is multinomial logistic regression.

    Parameters
    ----------
    n_mixtures : int, default=8
        Components for each class; where a class has fewer distinct samples, one for each of these.
    training : {"contrastive", "em"}, default="contrastive"
        "contrastive" maximises the conditional likelihood of the labels. "em" fits mixtures of Gaussians
        to each class, with a covariance that all share, so that the posterior has the same form.
    optimizer : {"auto", "lbfgs", "multiplicative", "multiplicative-at-once"}, default="auto"
        For contrastive training. "multiplicative" is the updates (4) and (5) of Lee, Seung & Saul in turn: monotone,
        nothing to tune, nonnegative features only. "multiplicative-at-once" makes both from the same sums, as they
        may also be read; the objective may fall then, which ends training. "lbfgs", which "auto" takes, finds the
        same optimum in far fewer steps.
    init : {"kmeans", "random"}, default="kmeans"
        Components begin at clusters of their class, or at samples drawn from it.
    init_width : float or "auto", default="auto"
        For contrastive training. Components begin as Gaussians with this multiple of the variance within clusters;
        a narrow start is a sure one. "auto" takes the one of 1, 2, 4, 8, 16 and 32 that fits the labels best.
    scale : {"auto", "spread", "none"}, default="auto"
        "spread" divides each feature by its standard deviation while training, "none" takes the features as they
        are, up to one factor for all. "auto" is "spread" for contrastive training and "none" for "em".
    penalty : float or "auto", default="auto"
        λ in the penalty λ/2 Σ θ² on the mean log-likelihood, in features scaled to one spread and a mean
        row sum of 20. "auto" tries a few on held-out samples and then trains on all (0.3 where fewer than two classes
        have a sample to spare); with "multiplicative" and "em", "auto" is 0.
    early_stopping : bool, default=False
        For contrastive training. Hold out samples, end when their loss has not reached a new minimum for 20 steps,
        and keep the components that had the smallest.
    validation_fraction : float, default=0.1
        Share of the samples held out to choose the penalty and to stop early.
    covariance : {"spherical", "diagonal", "tied"}, default="tied"
        For "em": of the covariance that all components share.
    max_iter : int, default=500
        Steps, at most.
    tol : float, default=1e-6
        Stop when a step raises the objective by at most `tol` times itself (or `tol`, if that is more). 0 goes on
        until a step gains nothing.
    max_time : float, optional
        Seconds that the fit may take, compiling not counted; the best found by then is kept.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted.
    exponents_ : array of shape (n_all, n_features)
        θ, the components of the first class first.
    log_weights_ : array of shape (n_all,)
        log W.
    component_class_ : array of int of shape (n_all,)
        The number of the class each component belongs to.
    means_ : array of shape (n_all, n_features)
        Means of the samples of its class that each component is responsible for; for "em", once it has converged,
        the means of the Gaussians.
    component_samples_ : array of shape (n_all,)
        How many of the samples of its class each component is responsible for; weights are taken over their mean.
        Where the classes are simple most
        components are responsible for none: their means are of nothing that occurs.
    penalty_ : float
        λ as used.
    objective_ : float
        Of the components kept. For "contrastive", the mean log-posterior of the labels less the penalty; for "em",
        the mean log-likelihood. Both in scaled features. NaN if Ctrl-C came before it was known.
    converged_ : bool
        Whether `tol` was met, or early stopping ended the training.
    ended_by_ : {"converged", "max_iter", "max_time", "interrupted"}
        Why training ended. If Ctrl-C or `max_time` came while the penalty was being chosen, the components with the
        smallest loss on held-out samples so far are kept; they have not seen these samples.
    history_ : dict of arrays
        "objective" and "seconds" of the kept run, the start and every step; "validation", the loss on the samples
        held out for early stopping, empty where there are none.
    penalties_ : dict of lists
        With penalty="auto": each "penalty" with its mean "error" and "loss" on the held-out samples. Where these are
        fewer than 1,000, the loss counts the chance that the next one is of another class.
    n_iter_ : int
        Steps of the kept run.
    n_parameters_ : int
        Number of exponents and weights.

    Examples
    --------
    >>> from partwise import NMF, MixtureClassifier
    >>> from partwise.datasets import load_digits
    >>> digits = load_digits()
    >>> features = NMF(24, beta_loss="kullback-leibler", random_state=0).fit_transform(digits.data)
    >>> model = MixtureClassifier(2, penalty=1e-4, random_state=0).fit(features[:1200], digits.target[:1200])
    >>> model.score(features[1200:], digits.target[1200:]) > 0.9
    True
    """

    kind = "mixture"
    file_contents = MIXTURE_CONTENTS
    part_word = "component"
    parts_attribute = "means_"
    result_files = ("predictions.csv", "components.csv")

    def __init__(
        self,
        n_mixtures: int = 8,
        *,
        training: str = "contrastive",
        optimizer: str = "auto",
        init: str = "kmeans",
        init_width: Any = "auto",
        scale: str = "auto",
        penalty: Any = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        covariance: str = "tied",
        max_iter: int = 500,
        tol: float = 1e-6,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_mixtures = n_mixtures
        self.training = training
        self.optimizer = optimizer
        self.init = init
        self.init_width = init_width
        self.scale = scale
        self.penalty = penalty
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.covariance = covariance
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any, sample_weight: Any = None, checkpoint: Any = None) -> MixtureClassifier:
        """Train on features and class labels.

        Parameters
        ----------
        X : array-like, DataFrame or AnnData of shape (n_samples, n_features)
            Features, nonnegative for the multiplicative updates.
        y : array-like of shape (n_samples,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts.
        checkpoint : path, optional
            Folder in which the fit saves its state every ten seconds. A later call with the same data and parameters
            goes on from there, and ends with the same bits as if it had never been stopped.

        Returns
        -------
        MixtureClassifier
            Itself. Ctrl-C ends training early, keeps the best found so far and issues the warning `Interrupted`.
        """
        self._fit(X, y, sample_weight, checkpoint)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The log of Σ_j W_j exp(θ_j · h) of each class.

        Parameters
        ----------
        X : array-like, DataFrame or AnnData of shape (n_samples, n_features)
            Features h, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_classes)
            With two classes, of shape (n_samples,): the second less the first.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like, DataFrame or AnnData of shape (n_samples, n_features)
            Features, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Log-posteriors, in the order of `classes_`.
        """
        return log_posterior(self._scores(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The posterior of the classes (Lee, Seung & Saul, equation 1).

        Parameters
        ----------
        X : array-like, DataFrame or AnnData of shape (n_samples, n_features)
            Features, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample.

        Parameters
        ----------
        X : array-like, DataFrame or AnnData of shape (n_samples, n_features)
            Features, with the columns of the fit.

        Returns
        -------
        array of shape (n_samples,)
            Labels from `classes_`.
        """
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    # ---------------------------------------------------------------- training

    def _fit(self, X: Any, y: Any, sample_weight: Any, checkpoint: Any) -> None:
        self._validate_params()
        warn_other_order(y, X, "y")
        warn_other_order(sample_weight, X, "sample_weight")
        data = self._given(X, y, sample_weight)
        rng = as_generator(self.random_state)
        counts = self._counts(data)
        with (
            fit_session(
                self,
                total=self.max_iter,
                max_time=self.max_time,
                checkpoint=checkpoint,
                data=lambda: {
                    "shape": data.X.shape,
                    "contents": digest(data.X),
                    "labels": digest(data.y),
                    "sample_weight": digest(data.weight),
                },
            ) as session,
            own_threads(),
        ):
            learn = self._generative if self.training == "em" else self._contrastive
            trained = learn(session, data, counts, rng)
            session.keep(lambda: self._keep(data, trained))
            self._warn_unconverged()

    def _given(self, X: Any, y: Any, sample_weight: Any) -> Labelled:
        """The samples that count, with features scaled and classes numbered."""
        if np.ma.is_masked(y):
            raise ValueError("y has masked labels; leave these samples out of X and y.")
        require_labels(y)
        X, y = validated(
            self, X, y, reset=True, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2
        )
        check_classification_targets(y)
        weight = _check_sample_weight(
            without_mask(sample_weight), X, dtype=np.float64, ensure_non_negative=True
        )
        if (weight == 0).any():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            held = (
                f"one class only ({self.classes_.tolist()[0]!r})"
                if len(self.classes_)
                else "no class of any weight"
            )
            raise ValueError(f"y has {held}; a classifier needs samples of at least two.")
        if self.training == "contrastive" and self._multiplicative and X.min() < 0:
            raise ValueError(
                f"optimizer={self.optimizer!r} needs nonnegative features; {place_of(X, lambda v: v < 0)}. "
                "Take features from NMF, add a constant to each, or use optimizer='lbfgs'."
            )
        # A spherical covariance means the features as they are; contrastive training does better with one spread.
        exponent = exponent_of(float(np.abs(X).max()))
        X = inside(X, exponent)
        even = self.training == "contrastive" if self.scale == "auto" else self.scale == "spread"
        scale = feature_scale(X, weight, even)
        self._scale = outside(scale.astype(float), -exponent) if exponent else scale
        if not np.isfinite(self._scale).all():
            raise ValueError(
                f"X has no entry above {np.ldexp(1.0, exponent):.1g}, too small to compute with: multiply X by 1e300."
            )
        return Labelled(X * scale, number.astype(np.int64), weight)

    def _contrastive(
        self, session: Session, data: Labelled, counts: np.ndarray, rng: np.random.Generator
    ) -> Trained:
        """Start, choice of the penalty, training; what there is when Ctrl-C or the time limit comes."""
        split = held_out(data, self.validation_fraction, rng) if self.early_stopping else []
        data, held = split[0] if split else (data, None)
        if split:
            counts = np.minimum(counts, class_counts(data, len(counts), self.n_mixtures))
        trained = Trained(self._start(session, data, counts, rng))
        self.penalties_: dict[str, list[float]] = {"penalty": [], "error": [], "loss": []}
        with session.interruptible():
            if self.penalty != "auto":
                trained = replace(trained, penalty=float(self.penalty))
            elif not self._multiplicative:
                trained, finished = self._choose_penalty(session, data, trained.components, rng)
                if not finished:
                    return trained
            return train(
                Contrastive(data, trained.components.starts, trained.penalty, held),
                OPTIMIZERS[self.optimizer](),
                trained.components,
                max_iter=self.max_iter,
                tol=self.tol,
                name=f"penalty_{trained.penalty:g}",
            )
        return replace(trained, reason="interrupted")

    @property
    def _multiplicative(self) -> bool:
        """Whether the updates are those of Lee, Seung & Saul."""
        return self.optimizer.startswith("multiplicative")

    @property
    def _widths(self) -> Sequence[float]:
        return WIDTHS if self.init_width == "auto" else (float(self.init_width),)

    def _start(
        self, session: Session, data: Labelled, counts: np.ndarray, rng: np.random.Generator
    ) -> Components:
        def compute() -> dict[str, Any]:
            start = start_from_clusters(data, counts, self.init, rng, widths=self._widths)
            return {"exponents": start.exponents, "log_weight": start.log_weight}

        found = session.stage("start", compute, rng)
        return Components.of(found["exponents"], found["log_weight"], counts)

    def _choose_penalty(
        self, session: Session, data: Labelled, start: Components, rng: np.random.Generator
    ) -> tuple[Trained, bool]:
        """Where training with the chosen penalty ended on the last fold, True; or the best so far, False."""
        found = choose_penalty(
            data,
            start,
            fraction=self.validation_fraction,
            max_iter=max(20, self.max_iter // 4),
            tol=self.tol,
            rng=rng,
        )
        self.penalties_ = found.table()
        if found.chosen is None:
            return replace(found.best, reason="interrupted" if session.interrupted else "max_time"), False
        return found.chosen, True

    def _generative(
        self, session: Session, data: Labelled, counts: np.ndarray, rng: np.random.Generator
    ) -> Trained:
        """EM for Gaussians from clusters."""
        self.penalties_ = {"penalty": [], "error": [], "loss": []}
        found = session.stage("clusters", lambda: clustered(data, counts, self.init, rng)._asdict(), rng)
        state = start_gaussians(data, Clusters(**found))
        trained = Trained(posterior_components(state, counts))
        with session.interruptible():
            problem = Gaussians(data, counts, self.covariance)
            result = run(
                problem,
                GaussianEM(),
                bounded(problem, state),
                max_iter=self.max_iter,
                stopping=TrainingProgress(self.tol),
                name="em",
            )
            return Trained(
                posterior_components(result.state, counts),
                result.state.objective,
                n_iter=result.state.iteration,
                reason=result.reason,
                history=history_of(result.history),
            )
        return trained

    def _counts(self, data: Labelled) -> np.ndarray:
        """Number of components of each class, with a warning where a class has too few samples."""
        counts = class_counts(data, len(self.classes_), self.n_mixtures)
        few = np.flatnonzero(counts < self.n_mixtures)
        if len(few):
            one = self.classes_.tolist()[few[0]]
            warnings.warn(
                f"{len(few)} of {len(counts)} classes (for instance {one!r}) have fewer distinct "
                f"samples than n_mixtures={self.n_mixtures}; they get one component for each.",
                UserWarning,
                stacklevel=4,
            )
        return counts

    def _keep(self, data: Labelled, trained: Trained) -> None:
        components = trained.components
        _, (plus, _) = sums(data, components, apart=True)
        # The mean of the samples of its class that each component is responsible for: what it looks like.
        means = plus[:, :-1] / np.maximum(plus[:, -1:], 1e-300)
        self.means_ = means / np.where(self._scale > 0, self._scale, 1.0)
        self.component_samples_ = plus[:, -1] * (len(data.y) / max(float(data.weight.sum()), 1e-300))
        self.exponents_ = components.exponents.astype(float) * self._scale
        self.log_weights_ = components.log_weight.astype(float)
        self.component_class_ = components.owner
        self.n_samples_fit_ = len(data.y)
        self.n_parameters_ = self.exponents_.size + self.log_weights_.size
        self.penalty_ = trained.penalty
        self.objective_ = trained.objective
        self.n_iter_ = trained.n_iter
        self.ended_by_ = trained.reason
        self.converged_ = trained.reason == "converged"
        self.history_ = trained.history

    def _warn_unconverged(self) -> None:
        if self.ended_by_ == "max_iter" and self.tol > 0:
            warnings.warn(
                f"Training did not converge in {self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _components(self) -> Components:
        counts = np.bincount(self.component_class_, minlength=len(self.classes_))
        return Components.of(self.exponents_, self.log_weights_, counts)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validated(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._components().class_scores(X)

    def _check_contents(self) -> None:
        """What `file_contents` cannot say: components stand by class, and each class has some."""
        if not np.array_equal(np.unique(self.component_class_), np.arange(len(self.classes_))):
            raise ValueError("its component_class_ leaves classes without components")
        if (np.diff(self.component_class_) < 0).any():
            raise ValueError("its component_class_ is not sorted")

    def _validate_params(self) -> None:
        whole("n_mixtures", self.n_mixtures)
        choice("training", self.training, ("contrastive", "em"))
        choice("optimizer", self.optimizer, tuple(OPTIMIZERS))
        choice("init", self.init, ("kmeans", "random"))
        if self.init_width != "auto":
            real("init_width", self.init_width, 1e-3)
        choice("scale", self.scale, ("auto", "spread", "none"))
        if self.penalty != "auto":
            real("penalty", self.penalty, 0.0)
        choice("covariance", self.covariance, COVARIANCES)
        real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        whole("max_iter", self.max_iter)
        real("tol", self.tol, 0.0)
        if self.max_time is not None:
            real("max_time", self.max_time)

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
        owners, samples = self.classes_[self.component_class_], self.component_samples_
        details = [
            {"class": owner, "samples": float(n), "sentence": f"of class {owner}, {samples_in_words(n)}"}
            for owner, n in zip(owners, samples)
        ]
        return summarise(
            self,
            feature_names,
            sentence=f"{self.training} training {ending(self, 'steps')}; {len(self.classes_)} classes, "
            f"{self.n_parameters_} numbers, penalty {self.penalty_:g}",
            figures={
                "objective": self.objective_,
                "penalty": self.penalty_,
                "n_parameters": self.n_parameters_,
            },
            part_details=details,
            classes=self.classes_,
            penalties=self.penalties_,
        )


def samples_in_words(n: float) -> str:
    """How many samples a component is responsible for."""
    if n < UNUSED:
        return "not in use"
    return f"{n:.0f} sample{'' if round(n) == 1 else 's'}" if n >= 1 else "less than one sample"


def feature_scale(X: np.ndarray, weight: np.ndarray, even: bool = True) -> np.ndarray:
    """Factors for the features: one spread for all if `even`, then a mean row sum of 20. Zero stays zero."""
    share = (weight / max(weight.sum(), 1e-300)).astype(X.dtype)
    mean = share @ X
    spread = np.sqrt(np.maximum(share @ (X - mean) ** 2, 0.0))
    scale = np.where(spread > 1e-6 * max(float(spread.max()), 1e-30), 1.0 / np.maximum(spread, 1e-30), 0.0)
    if not even or not scale.any():
        scale = np.ones_like(scale)
    total = float(share @ np.abs(X * scale).sum(axis=1))
    return (scale * (ROW_SUM / total if total > 0 else 1.0)).astype(X.dtype)
