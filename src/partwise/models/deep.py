"""DeepNMF: parts of parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from partwise.core import Callback, Problem, Session
from partwise.io.contents import Array, Flag, ListOf, Matrix, Number, OrNone, Record, Text
from partwise.io.registry import register_model
from partwise.losses import FROBENIUS
from partwise.models.base import FactorModel, fit_session
from partwise.models.convention import SCALES, order_and_size
from partwise.models.deep_activation import ACTIVATIONS
from partwise.models.deep_fit import Fitted, Start, at_random, joint_fit, layer_by_layer
from partwise.models.deep_known import check_known, layers_named, structure_of
from partwise.models.deep_steps import ActivatedSteps, chained, filled_product
from partwise.models.deep_structure import Structure
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.inputs import Given, given
from partwise.models.label_part import Labels
from partwise.models.label_readout import (
    class_probabilities,
    readout_features,
    trained_readout,
    typical_amounts,
)
from partwise.models.names import warn_other_order
from partwise.models.parameters import check_callbacks, choice, missing_mark, real, whole
from partwise.models.run_end import warn_unconverged
from partwise.models.summary import ending, summarise
from partwise.models.units import Units, inside, outside
from partwise.models.unseen import unseen_columns
from partwise.solvers import pick_solver

_KEPT = (
    "n_features_in_",
    "feature_names_in_",
    "n_samples_fit_",
    "n_iter_",
    "converged_",
    "ended_by_",
    "components_",
    "n_components_",
    "data_exponent_",
    "objective_",
    "reconstruction_err_",
    "history_",
)
#: How often missing entries of new rows are filled in, where there is an activation.
REFILLED = 20
_LAYER = Record({"objective": Number(nan=True), "n_iter": Number("i", 0), "ended_by": Text()})


def _knows_classes(model: Any) -> bool:
    return model.label_layer is not None


@register_model
class DeepNMF(FactorModel):
    r"""Layers of parts: X ≈ W H_l ⋯ H_1 with W ≥ 0, the parts of each layer made of those of the layer before.

    Minimises :math:`\frac12 \|X - W H_l \cdots H_1\|^2`, or with a function g between the layers
    :math:`\frac12 \|X - g(\cdots g(W H_l) \cdots H_2)\, H_1\|^2` (Trigeorgis, Bousmalis, Zafeiriou & Schuller 2014,
    transposed: rows of X are samples). Layers are first fitted one by one, each to the features of the one before,
    then all together.

    Parameters
    ----------
    layers : sequence of int, default=(100, 50, 10)
        Number of parts of each layer, the first next to the data. No layer may be larger than the one before, nor the
        first than X.
    semi : bool, default=True
        Whether the bases H, and X, may have negative entries. If not, all factors are nonnegative.
    activation : {"softplus", "sigmoid", "tanh"} or None, default=None
        g.
    pretrain : bool, default=True
        Start layer by layer, with `SemiNMF` (or `NMF`, where all is nonnegative). If not, start at random.
    finetune : bool, default=True
        Fit all layers together.
    tol : float, default=1e-4
        As in `NMF`, for each layer of the start and for the joint fit.
    max_iter : int, default=200
        Iterations, at most, of each layer of the start and of the joint fit.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry.
    scale : {"samples", "components"} or None, default="samples"
        As in `SemiNMF`, for W and the last layer.
    max_time : float, optional
        Seconds that the fit may take.
    label_layer : int, sequence of int or None, default=None
        The layers whose features also explain the labels y of the samples: 1 is the one next to the data, −1 the
        last. None: y is ignored.
    label_weight : float, default=1.0
        λ_y; at 1 labels count as much as the data of their samples.
    graph : {"knn", "similarity"}, array, sparse matrix or None, default=None
        A graph over the samples, as in `GraphNMF`; neighbours get similar features.
    graph_layer : int or sequence of int, default=-1
        The layers whose features it ties together.
    graph_weight : float, default=0.1
        λ_g.
    n_neighbors : int, default=5
        For "knn".
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration of the joint fit; what
        they are shown is of the data over 2^`data_exponent_`.

    Attributes
    ----------
    components_ : array of shape (layers[-1], n_features)
        The parts of the last layer projected to the data, H_l ⋯ H_1.
    bases_ : list of arrays
        H_1 … H_l: the parts of each layer in those of the one before.
    feature_means_ : list of arrays
        Means of the features of every layer (of the last only, without an activation).
    pretraining_ : list of dict
        "objective", "n_iter" and "ended_by" of every layer of the start.
    reconstruction_err_ : float
        Norm of the residual over the observed entries.
    objective_ : float
        Half its square.
    history_ : dict of arrays
        "objective" and "seconds" of the joint fit, from the end of the pretraining on; of the one layer, where there
        is only one.
    n_iter_, converged_, ended_by_
        Of the same.
    n_components_, n_features_in_ : int
        Size of the last layer, number of columns.
    data_exponent_ : int
        As in `NMF`.
    classes_ : array of shape (n_classes,), or None
        The classes, where labels had a say.
    label_components_ : list of arrays, or None
        Their factors C, of shape (layers[i − 1], n_classes), for each of the layers with labels.
    graph_ : csr_matrix or None
        The graph, where it had a say.

    Notes
    -----
    With labels y and a graph with Laplacian L, what is minimised is the above plus

    .. math::

        \frac{\lambda_y}{2} \sum_i \|y - F_i C_i\|^2
        + \frac{\lambda_g}{2} \sum_i \sum_k \|p_{ik}\|^2\, f_{ik}^\top L f_{ik}

    over the layers i that `label_layer` and `graph_layer` name. :math:`F_i` has the features of layer i, with columns
    :math:`f_{ik}`, and :math:`p_{ik}` are its parts over the data. Labels are those of labelled samples, at the size
    of the samples. They act in the joint fit, whose factors then move along their gradients. Without an activation
    labels at one layer do what they do at any other: a label factor of one is, in another basis, one of all.
    `predict` is the read-out of `SemiSupervisedNMF`, from the features of the last layer with labels.

    Without an activation the cost knows the bases only by their product: the model is that of one layer,
    ``SemiNMF(layers[-1])``, with a factored basis. Layers matter for where the fit starts, and as a description of
    the parts. With signed bases the joint fit therefore moves W and the product, and puts the change into H_1, which
    then fits as well as under the published pseudo-inverse updates.

    Examples
    --------
    >>> from partwise import DeepNMF
    >>> from partwise.datasets import load_digits
    >>> X = load_digits().data[:300]
    >>> model = DeepNMF(layers=(30, 10)).fit(X)
    >>> [H.shape for H in model.bases_]
    [(30, 64), (10, 30)]
    >>> model.transform(X).shape, model.layer_features(X, 1).shape
    ((300, 10), (300, 30))
    """

    kind = "deep"
    file_contents: ClassVar[dict[str, Any]] = {
        **{name: NMF_CONTENTS[name] for name in _KEPT},
        "bases_": ListOf(Array("f", (None, None))),
        "feature_means_": ListOf(Array("f", (None,), low=0)),
        "pretraining_": ListOf(_LAYER),
        "classes_": OrNone(Array("biufUO", ("n_classes",))),
        "label_components_": OrNone(ListOf(Array("f", (None, "n_classes")))),
        "readout_": OrNone(
            Record(
                {
                    "coef": Array("f", (None, "n_classes")),
                    "intercept": Array("f", ("n_classes",)),
                    "typical": Array("f", (None,), low=0),
                    "multilabel": Flag(),
                }
            )
        ),
        "graph_": OrNone(Matrix("f", (None, None), low=0)),
    }
    #: The command line may hand over samples without a label.
    unknown_labels = True
    #: How "knn" makes its graph; as in `GraphNMF`.
    graph_on, edge_weights, metric = "samples", "binary", "cosine"

    def __init__(
        self,
        layers: Sequence[int] = (100, 50, 10),
        *,
        semi: bool = True,
        activation: str | None = None,
        pretrain: bool = True,
        finetune: bool = True,
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
        missing_values: float | None = np.nan,
        scale: str | None = "samples",
        max_time: float | None = None,
        label_layer: int | Sequence[int] | None = None,
        label_weight: float = 1.0,
        graph: Any = None,
        graph_layer: int | Sequence[int] = -1,
        graph_weight: float = 0.1,
        n_neighbors: int = 5,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.layers = layers
        self.semi = semi
        self.activation = activation
        self.pretrain = pretrain
        self.finetune = finetune
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.scale = scale
        self.max_time = max_time
        self.label_layer = label_layer
        self.label_weight = label_weight
        self.graph = graph
        self.graph_layer = graph_layer
        self.graph_weight = graph_weight
        self.n_neighbors = n_neighbors
        self.callbacks = callbacks

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> DeepNMF:
        """Learn the parts of every layer.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data, nonnegative unless `semi`.
        y : array of shape (n_samples,) or (n_samples, n_classes), optional
            Classes, with −1, NaN, None or "" where they are not known, or 0, 1 and NaN for each class. Ignored unless
            `label_layer` names a layer.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; 2 is the row twice.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on.

        Returns
        -------
        DeepNMF
            The model itself.
        """
        self._fit(X, y, sample_weight, checkpoint)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None) -> Any:
        """Learn the parts of every layer, and return W.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data, nonnegative unless `semi`.
        y : array of shape (n_samples,) or (n_samples, n_classes), optional
            Classes, with −1, NaN, None or "" where they are not known, or 0, 1 and NaN for each class. Ignored unless
            `label_layer` names a layer.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts; 2 is the row twice.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on.

        Returns
        -------
        array of shape (n_samples, layers[-1])
            W. Without an activation it agrees with `transform`; with one, the problem of a row has several optima,
            and `transform` may find another. With labels or a graph W has their pull; `transform` knows data alone.
        """
        W, row_names = self._fit(X, y, sample_weight, checkpoint)
        return self._named(W, row_names)

    def transform(self, X: Any) -> Any:
        """The features of the last layer, W, for new rows.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data with the columns of the fit.

        Returns
        -------
        array of shape (n_samples, layers[-1])
            How much of each deep part is in each sample.
        """
        check_is_fitted(self)
        data = self._given(X, reset=False)
        return self._named(self._rows(data, len(self.bases_)), data.row_names)

    def layer_features(self, X: Any, layer: int) -> np.ndarray:
        """The features of one layer: the best nonnegative amounts of its parts.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Data with the columns of the fit.
        layer : int
            1 is the layer next to the data, ``len(layers)`` the last.

        Returns
        -------
        array of shape (n_samples, layers[layer − 1])
            How much of each part of this layer is in each sample.
        """
        check_is_fitted(self)
        if whole("layer", layer) > len(self.bases_):
            raise ValueError(f"layer must be at most {len(self.bases_)}, the number of layers; got {layer}.")
        return self._rows(self._given(X, reset=False), int(layer))

    @available_if(_knows_classes)
    def predict_proba(self, X: Any) -> np.ndarray:
        """How probable each class is for each sample; only with `label_layer`.

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
        layer = layers_named("label_layer", self.label_layer, len(self.bases_))[-1] + 1
        F = self.layer_features(X, layer)
        features = readout_features(F, self.layer_components_[layer - 1], self.readout_["typical"])
        return class_probabilities(features, **{k: v for k, v in self.readout_.items() if k != "typical"})

    @available_if(_knows_classes)
    def predict(self, X: Any) -> np.ndarray:
        """The class of each sample, only with `label_layer`; for labels in several columns, 0 or 1 for each.

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
        if self.readout_["multilabel"]:
            return (probable > 0.5).astype(int)
        return np.asarray(self.classes_[probable.argmax(axis=1)])

    @property
    def layer_components_(self) -> list[np.ndarray]:
        """The parts of every layer projected to the data, H_i ⋯ H_1, each of shape (layers[i − 1], n_features)."""
        check_is_fitted(self)
        return [chained(self.bases_[: i + 1]) for i in range(len(self.bases_))]

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Back to the space of the data.

        Parameters
        ----------
        X : array-like of shape (n_samples, layers[-1])
            What `transform` returned.

        Returns
        -------
        array of shape (n_samples, n_features)
            The reconstruction of each sample.
        """
        check_is_fitted(self)
        X = self._by_parts(X)
        linear = super().inverse_transform(X)
        if self.activation is None:
            return linear
        W = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        return self._steps().features(W, self.bases_)[0] @ self.bases_[0]

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
        sizes = " → ".join(str(len(H)) for H in self.bases_)
        return summarise(
            self,
            feature_names,
            sentence=f"layers {sizes}: {ending(self)}, reconstruction error {self.reconstruction_err_:.6g}",
            figures={"objective": self.objective_, "reconstruction_err": self.reconstruction_err_},
        )

    # ----------------------------------------------------------------- fitting

    def _fit(self, X: Any, y: Any, sample_weight: Any, checkpoint: Any) -> tuple[np.ndarray, Any]:
        self._check_parameters()
        warn_other_order(y, X, "y")
        data = self._given(X, reset=True, sample_weight=sample_weight)
        self._check_sizes(data)
        unseen = unseen_columns(self, data.X.column_observed(), "the parts are zero there")
        problem, structure = Problem(data.X), structure_of(self, data, y)

        def identity() -> dict[str, Any]:
            found = {"shape": data.X.shape, "contents": data.X.digest(), "exponent": data.exponent}
            if structure is not None and structure.labels is not None:
                found["labels"] = [structure.labels.at, structure.labels.Y, structure.labels.seen]
            return found

        with fit_session(
            self, total=self.max_iter, max_time=self.max_time, checkpoint=checkpoint, data=identity
        ) as session:
            start = layer_by_layer(self, session, data) if self.pretrain else at_random(self, problem)
            done = self._joint(session, problem, start, structure)
            if unseen.size:
                first = done.H[0].copy()
                first[:, unseen] = 0.0
                done = done._replace(H=[first, *done.H[1:]])
            W, done = self._finish(session, problem, structure, done)
            session.keep(lambda: self._keep(problem, data, start, done, W, structure))
            if self.finetune or len(done.H) == 1:
                warn_unconverged(self, done.objective)
        return W, data.row_names

    def _joint(self, session: Session, problem: Problem, start: Start, structure: Structure | None) -> Fitted:
        if len(start.H) > 1 or not start.layers or structure is not None:
            return joint_fit(self, session, problem, start, structure)
        # One layer is fitted as a whole already.
        (layer,) = start.layers
        objective, seconds = (list(map(float, layer[name])) for name in ("objective_history", "seconds"))
        return Fitted(start.W, start.H, layer["ended_by"], layer["n_iter"], objective, seconds, {})

    def _finish(
        self, session: Session, problem: Problem, structure: Structure | None, done: Fitted
    ) -> tuple[np.ndarray, Fitted]:
        """W and the fit in the house convention, W as `transform` gives it where that is the best there is."""
        W, H, C = done.W, list(done.H), dict(done.C)
        if len(H) == 1 and self.pretrain and structure is None:
            return W, done
        order, size = order_and_size(W, chained(H).T, problem.X.row_weight, self.scale, signed=True)
        W = np.ascontiguousarray(W[:, order] * size, dtype=W.dtype)
        H[-1] = np.ascontiguousarray(H[-1][order] / size[:, None], dtype=W.dtype)
        last = str(len(H) - 1)
        if last in C:
            C[last] = C[last][order] / size[:, None]
        alone = self.activation is None and structure is None
        if alone and self.tol > 0 and done.reason in ("converged", "max_iter"):
            with session.interruptible():
                W = self._solved(problem, chained(H))
        return W, done._replace(W=W, H=H, C=C)

    def _keep(
        self,
        problem: Problem,
        data: Given,
        start: Start,
        done: Fitted,
        W: np.ndarray,
        structure: Structure | None,
    ) -> None:
        H = done.H
        units = Units(data.exponent, data.exponent, 2.0) if data.exponent else Units()
        features = [W] if self.activation is None else self._steps().features(W, H)
        basis = chained(H) if self.activation is None else H[0]
        loss = problem.data_loss(features[0], np.ascontiguousarray(basis.T))
        self.feature_means_ = [
            np.maximum(np.average(F, axis=0, weights=problem.X.row_weight).astype(F.dtype), 0)
            for F in features
        ]
        self.pretraining_ = [
            {**layer, "objective": float(units.objective(layer["objective"]))}
            for layer in map(_told, start.layers)
        ]
        self.data_exponent_ = data.exponent
        self.bases_ = [outside(H[0], units.H), *H[1:]]
        self.components_ = np.ascontiguousarray(outside(chained(H), units.H))
        self.n_components_ = len(self.components_)
        self.n_samples_fit_ = problem.X.shape[0]
        self.n_iter_, self.ended_by_ = done.n_iter, done.reason
        self.converged_ = done.reason == "converged"
        self.objective_ = float(units.objective(loss if structure is None else done.objective[-1]))
        self.reconstruction_err_ = float(units.loss(float(np.sqrt(2.0 * loss)), 0.5))
        self.history_ = {
            "objective": units.objective(np.array(done.objective)),
            "seconds": np.array(done.seconds),
        }
        self.classes_: Any = None
        self.label_components_: list[np.ndarray] | None = None
        self.readout_: Any = None
        self.graph_ = None if structure is None or structure.graph is None else structure.graph.adjacency
        if structure is not None and structure.labels is not None:
            # The features of the last layer with labels, from the data alone: what `predict` will see.
            last = structure.label_layers[-1] + 1
            found = self._rows(data, last)
            self.classes_ = structure.labels.classes
            self.label_components_ = [done.C[str(i)] for i in structure.label_layers]
            self.readout_ = self._learned_readout(found, last, structure.labels, problem.X.row_weight)

    def _learned_readout(
        self, F: np.ndarray, layer: int, labels: Labels, row_weight: np.ndarray | None
    ) -> dict[str, Any]:
        r = np.ones(len(F)) if row_weight is None else np.asarray(row_weight, dtype=float)
        typical = typical_amounts(F, r)
        features = readout_features(F[labels.at], self.layer_components_[layer - 1], typical)
        Y = (labels.Y > 0).astype(float)
        coef, intercept = trained_readout(features, Y, labels.seen, r[labels.at], labels.multilabel)
        return {
            "coef": coef,
            "intercept": intercept,
            "typical": typical,
            "multilabel": labels.multilabel,
        }

    # ---------------------------------------------------------------- new rows

    def _rows(self, data: Given, n_layers: int) -> np.ndarray:
        """The features of the last of so many layers."""
        H = [one.astype(data.X.dtype, copy=False) for one in self.bases_[:n_layers]]
        H[0] = inside(H[0], self.data_exponent_)
        problem = Problem(data.X)
        if self.activation is None:
            return self._solved(problem, chained(H))
        if n_layers == 1:
            return self._solved(problem, H[0])
        # A row's problem has several optima: the better one from two starts is taken.
        mean = self.feature_means_[n_layers - 1].astype(data.X.dtype)
        found = [
            self._descended(data.X, H, np.tile(start, (data.X.shape[0], 1))) for start in (mean, 0.02 * mean)
        ]
        return np.where(found[0][1] <= found[1][1], found[0][0], found[1][0])

    def _descended(self, X: Any, H: list[np.ndarray], W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features of rows from a start on, and their loss but for a constant, one number for each row."""
        steps, Ht = self._steps(), np.ascontiguousarray(H[0].T)
        G, length = H[0] @ Ht, None
        # What was not observed is filled in anew from time to time.
        rounds = REFILLED if X.weighted else 1
        for _ in range(rounds):
            P = filled_product(X, steps.features(W, H)[0], Ht)
            W, length = steps.rows(W, H, P, G, steps=-(-self.max_iter // rounds), length=length)
        F = steps.features(W, H)[0]
        return W, X.row_divergence(F, Ht, FROBENIUS, 0.0)[:, None]

    def _solved(self, problem: Problem, H: np.ndarray) -> np.ndarray:
        held = Problem(problem.X, FROBENIUS, update_H=False)
        Ht = np.ascontiguousarray(H.T, dtype=problem.X.dtype)
        return pick_solver("auto", held).solve_rows(held, Ht, self.max_iter, self.tol)

    def _steps(self) -> ActivatedSteps:
        return ActivatedSteps(ACTIVATIONS[str(self.activation)], self.semi)

    # ------------------------------------------------------------------ checks

    def _given(self, X: Any, *, reset: bool, sample_weight: Any = None) -> Given:
        return given(
            self,
            X,
            reset=reset,
            sample_weight=sample_weight,
            missing_values=self.missing_values,
            exponent=None if reset else self.data_exponent_,
            signed=self.semi,
        )

    def _check_parameters(self) -> None:
        sizes = self.layers
        good = isinstance(sizes, Sequence | np.ndarray) and not isinstance(sizes, str) and len(sizes) > 0
        if not good or not all(isinstance(k, Integral) and not isinstance(k, bool) and k > 0 for k in sizes):
            raise ValueError(
                f"layers must be a sequence of numbers of parts, such as (100, 50); got {sizes!r}."
            )
        for i, (wide, narrow) in enumerate(pairwise(sizes)):
            if narrow > wide:
                raise ValueError(
                    f"layers={tuple(sizes)} grow: layer {i + 2} would have {narrow} parts made of the {wide} of the "
                    "layer before. Give sizes that do not grow."
                )
        choice("activation", self.activation, (None, *ACTIVATIONS))
        for name in ("semi", "pretrain", "finetune"):
            choice(name, getattr(self, name), (True, False))
        choice("scale", self.scale, SCALES)
        real("tol", self.tol)
        whole("max_iter", self.max_iter)
        missing_mark(self.missing_values)
        if self.max_time is not None:
            real("max_time", self.max_time)
        check_callbacks(self)
        check_known(self)

    def _check_sizes(self, data: Given) -> None:
        n, m = data.X.shape
        if self.layers[0] > min(n, m):
            raise ValueError(
                f"the first of layers={tuple(self.layers)} exceeds X, which has n_samples = {n} and "
                f"n_features = {m}; {min(n, m)} parts already reproduce it. Give smaller layers."
            )
        if data.X.squared_norm() == 0:
            raise ValueError(
                f"X ({n} × {m}) has no observed entry other than zero: there are no parts to learn. "
                "Check that the right data were loaded."
            )

    def _check_contents(self) -> None:
        """What `file_contents` cannot say: the bases fit on each other and on the data."""
        sizes = [H.shape for H in self.bases_]
        chain = [self.n_features_in_, *(rows for rows, _ in sizes)]
        means = [len(mean) for mean in self.feature_means_]
        fit = [columns for _, columns in sizes] == chain[:-1] and chain[-1] == self.n_components_
        expected = chain[1:] if self.activation is not None else chain[-1:]
        if not sizes or not fit or means != expected:
            raise ValueError(f"its bases_ have shapes {sizes}, which do not fit on each other")

    def __sklearn_tags__(self) -> Any:
        """NaN is welcome where it marks missing entries, negative entries with signed bases."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.input_tags.positive_only = not self.semi
        return tags


def _told(layer: dict[str, Any]) -> dict[str, Any]:
    return {name: layer[name] for name in ("objective", "n_iter", "ended_by")}
