"""SemiSupervisedNMF: parts that also explain the labels that are known, and a classifier on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from partwise.core import Callback, Problem
from partwise.io.registry import register_model
from partwise.matrix import InMemory, Joined
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.inputs import Given, over_largest
from partwise.models.label_part import (
    LABEL_CONTENTS,
    information,
    judged_labels,
    label_factor,
    read_labels,
    row_sizes,
    with_labels,
)
from partwise.models.label_readout import (
    VIEWS,
    Teaching,
    best_teaching,
    class_probabilities,
    labels_alone,
    readout_features,
    trained_readout,
    typical_amounts,
)
from partwise.models.names import aligned_weights, warn_other_order
from partwise.models.parameters import choice, real
from partwise.models.units import Units, outside
from partwise.models.variant import NMFVariant


class WithLabels(ClassifierMixin, NMFVariant):
    """What labels add to the fit of an `NMF`, and classification by its parts."""

    #: The command line may hand over samples without a label.
    unknown_labels = True
    label_weight: float | str
    label_size: str

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        weights: Any = None,
        label_mask: Any = None,
        checkpoint: Any = None,
    ) -> Any:
        """Learn the components, and to tell the classes apart.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data.
        y : array of shape (n_samples,) or (n_samples, n_classes)
            The class of each sample; −1 (also as text), NaN, None, pandas.NA or "" where it is not known. Or, for
            samples that may belong to several classes, 0 and 1 for each class, and NaN where that is not known.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts, over the largest of them; 0 is the same as missing.
        label_mask : array of bool of shape (n_samples, n_classes), optional
            False where an entry of a two-dimensional y is not known.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on.

        Returns
        -------
        estimator
            The model itself.
        """
        self._fit_with_labels(X, y, sample_weight, weights, label_mask, checkpoint)
        return self

    def fit_transform(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        weights: Any = None,
        label_mask: Any = None,
        checkpoint: Any = None,
    ) -> Any:
        """Learn the components and return W, in which labels (and a graph) have their say.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data.
        y : array of shape (n_samples,) or (n_samples, n_classes)
            As in `fit`.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts, over the largest of them; 0 is the same as missing.
        label_mask : array of bool of shape (n_samples, n_classes), optional
            False where an entry of a two-dimensional y is not known.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on.

        Returns
        -------
        array of shape (n_samples, n_components)
            W.
        """
        W, row_names = self._fit_with_labels(X, y, sample_weight, weights, label_mask, checkpoint)
        return self._named(W, row_names)

    def _fit_with_labels(
        self, X: Any, y: Any, sample_weight: Any, weights: Any, mask: Any, checkpoint: Any
    ) -> Any:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. "
                "Mark samples without a label with -1, NaN or None."
            )
        warn_other_order(y, X, "y")
        self._y, self._mask = y, mask
        try:
            # Labels count beside entries of the largest weight, whatever the units of the weights.
            return self._fit(
                X, None, None, sample_weight, over_largest(aligned_weights(weights, X)), checkpoint
            )
        finally:
            for name in ("_y", "_mask", "_labels", "_sizes"):
                self.__dict__.pop(name, None)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample; for labels in several columns, 0 or 1 for each.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data with the columns of the fit.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Classes.
        """
        probable = self.predict_proba(X)
        return (probable > 0.5).astype(int) if self.multilabel_ else self.classes_[probable.argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """How probable each class is for each sample.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Probabilities. Rows sum to one, unless samples may belong to several classes.
        """
        check_is_fitted(self)
        W = self.transform(X)
        W = W.to_numpy() if hasattr(W, "to_numpy") else np.asarray(W)
        features = readout_features(W, self.components_, self.readout_typical_)
        coef = self.readout_coef_.reshape(features.shape[1], -1)
        return class_probabilities(features, coef, self.readout_intercept_, self.multilabel_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # type: ignore[override]
        """The share of samples that are classified rightly, of those whose class is known.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data with the columns of the fit.
        y : array of shape (n_samples,) or (n_samples, n_classes)
            Their classes. Samples without one, marked as in `fit`, are left out; of a y with several columns, those
            of which some label is not known.
        sample_weight : array of shape (n_samples,), optional
            How much each sample counts.

        Returns
        -------
        float
            The accuracy.
        """
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        at, known = judged_labels(y, len(predicted))
        weights = None if sample_weight is None else np.asarray(sample_weight)[at]
        return float(accuracy_score(known, predicted[at], sample_weight=weights))

    # ----------------------------------------------------------------- fitting

    def _fit_problem(self, data: Given, units: Units, free: np.ndarray | None) -> Problem:
        problem = super()._fit_problem(data, units, free)
        if not isinstance(problem.X, InMemory):
            raise ValueError("A model with labels needs X in memory, not by row blocks.")
        self._labels = read_labels(self._y, problem.X.shape[0], self._mask)
        self._sizes = row_sizes(problem.X, problem.loss.gram)
        self.label_weight_ = 1.0 if self.label_weight == "auto" else float(self.label_weight)
        if self.label_size == "unit":
            typical = float(np.mean(self._sizes))
            self._sizes = np.ones(len(self._sizes))
            if self.label_weight == "auto":
                self.label_weight_ = typical**2 if problem.loss.gram else typical
        return with_labels(problem, self._labels, self._sizes, self.label_weight_)

    def _keep(self, problem: Problem, units: Units, outcomes: Any, best: Any, solver: Any) -> None:
        super()._keep(problem, units, outcomes, best, solver)
        m, labels = self.n_features_in_, self._labels
        data = replace(problem, X=problem.X.X) if isinstance(problem.X, Joined) else problem
        Ht = np.ascontiguousarray(best.Ht[:m])
        root = float(np.sqrt(2.0 * max(data.data_loss(best.W, Ht), 0.0)))
        self.reconstruction_err_ = float(units.loss(root, 0.5))
        factor = best.Ht[m:]
        if not len(factor):
            factor = label_factor(data, best.W, labels, self._sizes, self.max_iter)
        self.components_ = np.ascontiguousarray(self.components_[:, :m])
        self.label_components_ = np.ascontiguousarray(factor.T, dtype=float)
        self.classes_, self.multilabel_ = labels.classes, labels.multilabel
        total = max(float(self.label_components_.sum()), 1e-300)
        self.class_importance_ = self.label_components_.sum(axis=1) / total
        often = 1.0 if problem.X.row_weight is None else np.asarray(problem.X.row_weight)[labels.at][:, None]
        usage = (best.W[labels.at] * often).sum(axis=0, dtype=float)
        self.class_information_ = information(usage, self.label_components_)
        self._learn_readout(data, units, best.W, Ht)

    def _learn_readout(self, data: Problem, units: Units, W: np.ndarray, Ht: np.ndarray) -> None:
        """The classifier, trained on what it will see of new samples: W found from their data alone."""
        labels, n = self._labels, data.X.shape[0]
        weights = np.ones(n) if data.X.row_weight is None else np.asarray(data.X.row_weight, dtype=float)
        rows = np.arange(n) if self._spreads() else labels.at
        alone = replace(data, X=data.X.rows(rows), prior_W=data.prior_W.rows(rows), pairings=())
        # Amounts are judged by all samples: a few labelled ones do not tell what is usual.
        self.readout_typical_ = typical_amounts(outside(W, units.W), weights)
        found = outside(self._solve_rows(alone, Ht), units.W)
        features = np.zeros((n, VIEWS * W.shape[1]))
        features[rows] = readout_features(found, self.components_, self.readout_typical_)
        teachings = self._teachings(features, weights)
        chosen = best_teaching(teachings, labels, features, weights)
        taught = teachings[chosen](labels)
        coef, self.readout_intercept_ = trained_readout(
            features[taught.rows],
            taught.Y,
            taught.seen,
            taught.weights * weights[taught.rows],
            labels.multilabel,
        )
        self.readout_coef_ = coef.reshape(VIEWS, -1, coef.shape[1])
        self.labels_spread_ = teachings[chosen] is not labels_alone

    def _spreads(self) -> bool:
        """Whether the read-out may learn from other samples than those with labels."""
        return False

    def _teachings(self, features: np.ndarray, weights: np.ndarray) -> list[Teaching]:
        """What the read-out may learn from, the first where there is no evidence against it."""
        return [labels_alone]

    def _validate_params(self) -> None:
        super()._validate_params()
        choice("label_size", self.label_size, ("rows", "unit"))
        if isinstance(self.label_weight, str):
            choice("label_weight", self.label_weight, ("auto",))
        else:
            real("label_weight", self.label_weight)

    def _chosen(self) -> dict[str, str]:
        return {**super()._chosen(), "label_weight": f"{self.label_weight_:.4g}"}

    def __sklearn_tags__(self) -> Any:
        """A classifier that needs y, in one column or in several."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.classifier_tags.multi_label = True
        return tags


@register_model
class SemiSupervisedNMF(WithLabels):
    r"""Nonnegative matrix factorization that also explains the labels that are known, and classifies by its parts.

    Minimises, over W, H, B ≥ 0, equation 6.3 of Epstein (2017), after Lee, Yoo & Choi (2010),

    .. math::

        D(X | WH) + \lambda\, D(L \circ Y | L \circ (WB))

    where Y has the labels and L is 1 where they are known. The labels of a sample are set at its own size (the sum of
    its entries, or their Euclidean norm for the Frobenius loss), so that long documents count no more than short ones
    for what a part says of the classes; with λ = 1 labels then count as much as the data of their samples.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components.
    label_weight : float or "auto", default="auto"
        λ. "auto" is 1; with ``label_size="unit"`` it is what makes labels count as much as the data of their samples.
    label_size : {"rows", "unit"}, default="rows"
        Labels at the size of their samples, or 1 as printed in equation 6.3.
    beta_loss : float, str or Loss, default="frobenius"
        As in `NMF`, for data and labels.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        As in `NMF`.
    solver : str, default="auto"
        As in `NMF`; "hals" for the Frobenius loss, "emu" or "mu" for the others.
    tol : float, default=1e-4
        As in `NMF`.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry of X.
    n_init : int, default=1
        Number of starts; the best one is kept.
    max_time : float, optional
        Seconds that the fit may take.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.
    scale : {"samples", "components"} or None, default="samples"
        As in `NMF`.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H.
    label_components_ : array of shape (n_components, n_classes)
        B, transposed as it is printed: how much of each class goes with each part.
    classes_ : array of shape (n_classes,)
        The classes.
    label_weight_ : float
        λ used.
    class_importance_ : array of shape (n_components,)
        Sums of the rows of `label_components_`, as a share of all (the colour of Epstein 2017, section 7.2). It
        depends on the scale of the parts, and is high for parts that favour no class.
    class_information_ : array of shape (n_components,)
        What each part adds to the mutual information of part and class, in nats: 0 for parts that favour no class.
    readout_coef_ : array of shape (3, n_components, n_classes)
        Of the logistic regression by which `predict` decides: for the parts of a sample at length one, for their
        shares, and for their amounts.
    readout_intercept_, readout_typical_ : arrays of shape (n_classes,) and (n_components,)
        Its intercepts, and what amounts are divided by.
    multilabel_ : bool
        Whether y had a column for each class.
    labels_spread_ : bool
        Whether `predict` learned from labels spread along a graph, which only `ManifoldNMF` has.
    reconstruction_err_, objective_, history_, n_iter_, converged_, ended_by_, restarts_, solver_
        As in `NMF`; the objective includes the labels, the error does not.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import SemiSupervisedNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(np.repeat([[4, 4, 1, 1], [1, 1, 4, 4]], 20, axis=0)).astype(float)
    >>> y = np.repeat([0, 1], 20)
    >>> known = np.where(np.arange(40) % 5 == 0, y, -1)  # eight labels, -1 for the others
    >>> model = SemiSupervisedNMF(2, beta_loss="kl").fit(X, known)
    >>> float((model.predict(X) == y).mean()) > 0.9
    True
    """

    kind = "semisupervised"
    file_contents = NMF_CONTENTS | LABEL_CONTENTS

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        label_weight: float | str = "auto",
        label_size: str = "rows",
        beta_loss: float | str = "frobenius",
        init: str | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
        missing_values: float | None = np.nan,
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
        scale: str | None = "samples",
    ) -> None:
        self.n_components = n_components
        self.label_weight = label_weight
        self.label_size = label_size
        self.beta_loss = beta_loss
        self.init = init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks
        self.scale = scale
