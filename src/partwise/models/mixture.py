"""MixtureClassifier: the contrastive mixture model of Lee, Seung & Saul, and its generative sibling."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from partwise.compiling import listen_for_compiling
from partwise.core import ProgressBar
from partwise.io.registry import register_model
from partwise.mixture.components import Components, log_posterior
from partwise.mixture.contrastive import Labelled, sums
from partwise.mixture.generative import COVARIANCES, run_em
from partwise.mixture.optimise import lbfgs, multiplicative
from partwise.mixture.start import class_counts, start_from_clusters
from partwise.models.base import as_generator
from partwise.models.inputs import place_of
from partwise.models.parameters import choice, real, whole
from partwise.models.summary import ending, summarise
from partwise.parallel import own_threads

listen_for_compiling()

#: Features are scaled to one spread, and then so that their absolute values add up to this, in the mean over samples.
ROW_SUM = 20.0
#: Penalties that "auto" tries, weakest first: a strong one makes a class's components alike, and alike they stay.
PENALTIES = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
#: Samples that a choice of the penalty should rest on.
ENOUGH = 1000
#: Steps without gain on the validation samples after which training ends.
WAIT = 20


@register_model
class MixtureClassifier(ClassifierMixin, BaseEstimator):
    """Each class a mixture of exponentials of the features, trained to tell the classes apart.

    The posterior of class i is Σ_j W_j exp(θ_j · h) over the components j of class i, divided by the same sum over
    all components: a compact classifier, made for the nonnegative features of NMF. A single component for each
    class is multinomial logistic regression.

    Parameters
    ----------
    n_mixtures : int, default=8
        Components for each class.
    training : {"contrastive", "em"}, default="contrastive"
        "contrastive" maximises the conditional likelihood of the labels. "em" fits mixtures of Gaussians
        to each class, with a covariance that all share, so that the posterior has the same form.
    optimizer : {"auto", "lbfgs", "multiplicative"}, default="auto"
        For contrastive training. "multiplicative" is the paper's updates: monotone, nothing to tune, nonnegative
        features only. "lbfgs", which "auto" takes, finds the same optimum in far fewer steps.
    init : {"kmeans", "random"}, default="kmeans"
        Components begin at clusters of their class, or at samples drawn from it.
    penalty : float or "auto", default="auto"
        λ in the penalty λ/2 Σ θ² on the mean log-likelihood, in features scaled to one spread and a mean
        row sum of 20. "auto" tries a few on held-out samples and then trains on all; with "multiplicative" and "em",
        "auto" is 0.
    early_stopping : bool, default=False
        Hold out samples, and end when their likelihood has not risen for 20 steps.
    validation_fraction : float, default=0.1
        Share of the samples held out to choose the penalty and to stop early.
    covariance : {"spherical", "diagonal", "tied"}, default="tied"
        For "em": of the covariance that all components share.
    max_iter : int, default=500
        Steps, at most.
    tol : float, default=1e-6
        A step that gains less than this share of the objective is the last.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows on stderr how training goes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    exponents_ : array of shape (n_all, n_features)
        θ, the components of the first class first.
    log_weights_ : array of shape (n_all,)
        log W.
    component_class_ : array of int of shape (n_all,)
        The number of the class each component belongs to.
    means_ : array of shape (n_all, n_features)
        For "em", the means of the Gaussians; otherwise of the samples each component is responsible for.
    penalty_ : float
        λ as used.
    objective_ : float
        Mean log-likelihood less the penalty.
    history_ : dict of lists
        "objective" and "seconds" of every step, and "validation" where samples were held out.
    penalties_ : dict of lists
        With penalty="auto": each "penalty" with its "error" and "loss" on the held-out samples.
    n_iter_ : int
    n_parameters_ : int
        Exponents and weights.

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
        penalty: Any = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        covariance: str = "tied",
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_mixtures = n_mixtures
        self.training = training
        self.optimizer = optimizer
        self.init = init
        self.penalty = penalty
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.covariance = covariance
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MixtureClassifier:
        """Train on features X (n_samples × n_features) with any class labels y."""
        self._check()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if (weight == 0).any():
            # A sample of no weight is as good as none.
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            held = (
                f"one class only ({self.classes_[0]!r})" if len(self.classes_) else "no class of any weight"
            )
            raise ValueError(f"y has {held}; a classifier needs samples of at least two.")
        if self.training == "contrastive" and self.optimizer == "multiplicative" and X.min() < 0:
            raise ValueError(
                f"optimizer='multiplicative' needs nonnegative features; {place_of(X, lambda v: v < 0)}. "
                "Take features from NMF, add a constant to each, or use optimizer='lbfgs'."
            )
        rng = as_generator(self.random_state)
        # A spherical covariance means the features as they are; contrastive training does better with one spread.
        self._scale = feature_scale(X, weight, even=self.training == "contrastive")
        data = Labelled(X * self._scale, number.astype(np.int64), weight)
        counts = self._counts(data)
        self.history_: dict[str, list[float]] = {"objective": [], "seconds": [], "validation": []}
        self.penalties_: dict[str, list[float]] = {"penalty": [], "error": [], "loss": []}
        with own_threads(), shown(self) as bar:
            if self.training == "em":
                components, converged = self._generative(data, counts, rng, Watcher(self.history_, bar))
            else:
                components, converged = self._contrastive(data, counts, rng, Watcher(self.history_, bar))
        self._keep(data, components)
        if not converged:
            warnings.warn(
                f"Training did not converge in {self.max_iter} steps; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The log of Σ_j W_j exp(θ_j · h) of each class; with two classes, the second less the first."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return log_posterior(self._scores(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The posterior of the classes, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each sample."""
        best = np.argmax(self._scores(X), axis=1)
        return self.classes_[best]

    # ---------------------------------------------------------------- training

    def _contrastive(
        self, data: Labelled, counts: np.ndarray, rng: np.random.Generator, watch: Watcher
    ) -> tuple[Components, bool]:
        steps = multiplicative if self.optimizer == "multiplicative" else lbfgs
        penalty: Any = self.penalty
        train, held = self._held_out(data, rng)[0] if self.early_stopping else (data, None)
        start = start_from_clusters(train, counts, self.init, rng)
        if penalty == "auto":
            penalty = 0.0
            if steps is lbfgs:
                penalty, start = self._choose_penalty(data, start, rng)
        self.penalty_ = float(penalty)
        watch.held = held
        components, converged = steps(train, start, self.penalty_, self.max_iter, self.tol, watch)
        return (watch.best if held is not None else components), converged

    def _held_out(
        self, data: Labelled, rng: np.random.Generator, folds: int = 1
    ) -> list[tuple[Labelled, Labelled | None]]:
        """Samples to train on and to look at, split within each class, so many times; None where they are too few."""
        place = np.empty(len(data.y))
        for c in np.unique(data.y):
            rows = rng.permutation(np.flatnonzero(data.y == c))
            place[rows] = np.arange(len(rows)) / len(rows)
        out: list[tuple[Labelled, Labelled | None]] = []
        for fold in range(folds):
            begin = fold * self.validation_fraction
            held = (place >= begin) & (place < begin + self.validation_fraction)
            if held.sum() < 20 or data.weight[held].sum() == 0:
                return [(data, None)]
            out.append((data.rows(~held), data.rows(held)))
        return out

    def _choose_penalty(
        self, data: Labelled, start: Components, rng: np.random.Generator
    ) -> tuple[float, Components]:
        """The penalty with the smallest loss on held-out samples, and where it ended; each begins at the last.

        Where a fraction of the samples is few, several such fractions are held out in turn.
        """
        room = max(1, int(1.0 / max(self.validation_fraction, 1e-9)))
        folds = int(
            np.clip(np.ceil(ENOUGH / max(1.0, self.validation_fraction * len(data.y))), 1, min(5, room))
        )
        losses, errors = np.zeros(len(PENALTIES)), np.zeros(len(PENALTIES))
        ends: list[Components] = []
        for train, held in self._held_out(data, rng, folds):
            if held is None:
                return PENALTIES[len(PENALTIES) // 2], start
            now, ends, best = start, [], np.inf
            for i, penalty in enumerate(PENALTIES):
                if not np.isfinite(losses[i]):
                    break
                now, _ = lbfgs(train, now, penalty, max(20, self.max_iter // 4), self.tol, lambda *_: False)
                error, loss = held_out_loss(held, now)
                ends.append(now)
                losses[i] += loss / folds
                errors[i] += error / folds
                best = min(best, loss)
                if loss > 1.1 * best:
                    # Stronger ones will do no better.
                    losses[i + 1 :] = np.inf
                    break
        tried = np.isfinite(losses)
        self.penalties_ = {
            "penalty": [p for p, t in zip(PENALTIES, tried) if t],
            "error": errors[tried].tolist(),
            "loss": losses[tried].tolist(),
        }
        chosen = int(np.argmin(losses))
        return PENALTIES[chosen], ends[min(chosen, len(ends) - 1)]

    def _generative(
        self, data: Labelled, counts: np.ndarray, rng: np.random.Generator, watch: Watcher
    ) -> tuple[Components, bool]:
        self.penalty_ = 0.0
        components, _, converged = run_em(
            data,
            counts,
            self.init,
            self.covariance,
            self.max_iter,
            self.tol,
            rng,
            lambda step, value: watch(step, value, None),
        )
        return components, converged

    def _counts(self, data: Labelled) -> np.ndarray:
        """Components of each class; said once where a class has too few samples."""
        counts = class_counts(data, len(self.classes_), self.n_mixtures)
        few = np.flatnonzero(counts < self.n_mixtures)
        if len(few):
            warnings.warn(
                f"{len(few)} of {len(counts)} classes (for instance {self.classes_[few[0]]!r}) have fewer samples "
                f"than n_mixtures={self.n_mixtures}; they get one component for each sample.",
                UserWarning,
                stacklevel=3,
            )
        return counts

    def _keep(self, data: Labelled, components: Components) -> None:
        self.exponents_ = components.exponents.astype(float) * self._scale
        self.log_weights_ = components.log_weight.astype(float)
        self.component_class_ = components.owner
        self.n_samples_fit_ = len(data.y)
        self.n_parameters_ = self.exponents_.size + self.log_weights_.size
        self.n_iter_ = max(1, len(self.history_["objective"]))
        self.objective_ = float(self.history_["objective"][-1]) if self.history_["objective"] else np.nan
        self.means_ = responsible_means(data, components) / np.where(self._scale > 0, self._scale, 1.0)

    def _components(self) -> Components:
        counts = np.bincount(self.component_class_, minlength=len(self.classes_))
        return Components.of(self.exponents_, self.log_weights_, counts)

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._components().class_scores(X)

    def _check(self) -> None:
        whole("n_mixtures", self.n_mixtures)
        choice("training", self.training, ("contrastive", "em"))
        choice("optimizer", self.optimizer, ("auto", "lbfgs", "multiplicative"))
        choice("init", self.init, ("kmeans", "random"))
        if self.penalty != "auto":
            real("penalty", self.penalty, 0.0)
        choice("covariance", self.covariance, COVARIANCES)
        real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        whole("max_iter", self.max_iter)
        real("tol", self.tol, 0.0)

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data; see `partwise.models.summary.summarise`."""
        check_is_fitted(self)
        owners = self.classes_[self.component_class_]
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
            part_details=[{"class": owner, "sentence": f"of class {owner}"} for owner in owners],
            classes=self.classes_,
            penalties=self.penalties_,
        )


@contextmanager
def shown(model: MixtureClassifier) -> Iterator[ProgressBar | None]:
    """A bar on stderr, if the model is to be seen."""
    bar = ProgressBar(float(model.max_iter), type(model).__name__) if model.verbose else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


class Watcher:
    """Writes the steps down, shows them, and looks at the held-out samples."""

    def __init__(self, history: dict[str, list[float]], bar: Any) -> None:
        self.history, self.bar = history, bar
        self.held: Labelled | None = None
        self.begin = perf_counter()
        self.best: Any = None
        self.least, self.since = np.inf, 0

    def __call__(self, step: int, objective: float, components: Components | None) -> bool:
        """One step; True if it should be the last."""
        self.history["objective"].append(float(objective))
        self.history["seconds"].append(perf_counter() - self.begin)
        if self.bar is not None:
            self.bar.update(step, objective)
        if self.held is None or components is None:
            return False
        _, loss = held_out_loss(self.held, components)
        self.history["validation"].append(loss)
        self.since += 1
        if loss < self.least:
            self.least, self.since, self.best = loss, 0, components.copy()
        return self.since >= WAIT


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


def held_out_loss(held: Labelled, components: Components) -> tuple[float, float]:
    """Share of wrong labels, and mean of −log p."""
    scores = components.class_scores(held.X)
    weight = held.weight / held.total
    error = float(weight @ (scores.argmax(axis=1) != held.y))
    loss = -float(weight @ log_posterior(scores)[np.arange(len(held.y)), held.y])
    return error, loss


def responsible_means(data: Labelled, components: Components) -> np.ndarray:
    """The mean of the samples of its class that each component is responsible for: what it believes in."""
    _, (plus, _) = sums(data, components, apart=True)
    return plus[:, :-1] / np.maximum(plus[:, -1:], 1e-300)
