"""The labels of a model: read, set beside the data, and read out again."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from partwise.core import Problem
from partwise.io.caller import callers_level
from partwise.io.contents import Array, Flag, Number
from partwise.io.unknown import is_minus_one, is_missing_word, is_nothing
from partwise.matrix import Dense, InMemory, Joined
from partwise.models.summary import counted
from partwise.priors import NO_PRIOR
from partwise.solvers import pick_solver

#: What a model file holds of the labels.
LABEL_CONTENTS: dict[str, Any] = {
    "classes_": Array("biufUO", ("n_classes",)),
    "label_components_": Array("f", ("n_components", "n_classes"), low=0),
    "label_weight_": Number(low=0),
    "class_importance_": Array("f", ("n_components",), low=0),
    "class_information_": Array("f", ("n_components",)),
    "readout_coef_": Array("f", (3, "n_components", "n_classes")),
    "readout_typical_": Array("f", ("n_components",), low=0),
    "readout_intercept_": Array("f", ("n_classes",)),
    "multilabel_": Flag(),
    "labels_spread_": Flag(),
}


@dataclass(frozen=True)
class Labels:
    """Labels of some samples.

    Parameters
    ----------
    classes : array of shape (n_classes,)
        Their names.
    at : array of int
        The samples that have labels.
    Y : array of shape (len(at), n_classes)
        1 where a sample belongs to a class.
    seen : array of bool of shape (len(at), n_classes)
        Where that is known.
    multilabel : bool
        Whether a sample may belong to several classes, or to none.
    """

    classes: np.ndarray
    at: np.ndarray
    Y: np.ndarray
    seen: np.ndarray
    multilabel: bool

    def sized(self, sizes: np.ndarray) -> np.ndarray:
        """Y with the labels of each sample at its size."""
        return self.Y * sizes[self.at][:, None]


def read_labels(y: Any, n_samples: int, mask: Any = None) -> Labels:
    """Labels as a user gives them.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_classes)
        A class for each sample, or −1 (also as text), NaN, None, pandas.NA or "" where it is not known; text that
        reads NA, nan and the like is not known either, with a warning. Or 0 and 1 for each class, NaN where that is
        not known.
    n_samples : int
        Samples that there are.
    mask : array of bool of shape (n_samples, n_classes), optional
        False where an entry of a two-dimensional y is not known.

    Returns
    -------
    Labels
        Those that are known.
    """
    y = _as_array(y)
    if y.ndim not in (1, 2) or len(y) != n_samples:
        raise ValueError(
            f"y must have a label, or a row of labels, for each of the {n_samples} samples; got {y.shape}."
        )
    if y.ndim == 2:
        return _indicators(y, mask)
    if mask is not None:
        raise ValueError(
            "label_mask goes with a two-dimensional y; mark unknown labels with -1, NaN or None."
        )
    at, found = known_classes(y)
    if not len(at):
        raise ValueError("y has no label that is known; without labels use NMF or GraphNMF.")
    check_classification_targets(found)
    classes, number = np.unique(found, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes[0]}; there is nothing to tell apart. Use NMF.")
    Y = np.eye(len(classes))[number]
    return Labels(classes, at, Y, np.ones(Y.shape, dtype=bool), multilabel=False)


def judged_labels(y: Any, n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The samples that predictions can be held against.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_classes)
        Labels as in `read_labels`.
    n_samples : int
        Samples that there are.

    Returns
    -------
    at : array of int
        The samples whose class is known; of a two-dimensional y, those of which every label is.
    found : array of shape (len(at),) or (len(at), n_classes)
        Their labels.
    """
    y = _as_array(y)
    if y.ndim not in (1, 2) or len(y) != n_samples:
        raise ValueError(
            f"y must have a label, or a row of labels, for each of the {n_samples} samples; got {y.shape}."
        )
    if y.ndim == 1:
        at, found = known_classes(y)
    else:
        values = _numbers(y)
        at = np.flatnonzero(~np.isnan(values).any(axis=1))
        found = values[at].astype(int)
    if not len(at):
        raise ValueError("y has no sample whose label is known, so that no prediction can be judged.")
    return at, found


def require_labels(y: Any) -> None:
    """Refuse labels of which some are missing, for a model that learns from labelled samples alone."""
    if getattr(getattr(y, "dtype", None), "kind", "O") not in "OU":
        return
    labels = np.asarray(y, dtype=object)
    missing = [i for i, label in enumerate(labels.tolist()) if is_nothing(label)] if labels.ndim == 1 else []
    if missing:
        count = "1 sample has" if len(missing) == 1 else f"{len(missing)} samples have"
        raise ValueError(
            f"y contains NaN, None or nothing: {count} no label, the first is sample {missing[0]}. Leave them out of "
            "X and y, or use SemiSupervisedNMF, which learns from samples without a label too."
        )


def known_classes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the labels in an array of one dimension are known, and these, of the type that they were meant in."""
    labels = y.tolist()
    known = np.array([not (is_nothing(label) or is_minus_one(label)) for label in labels], dtype=bool)
    words = np.array([is_missing_word(label) for label in labels], dtype=bool) & known
    if words.any():
        _say_missing_words(sorted({labels[i].strip() for i in np.flatnonzero(words)}), int(words.sum()))
    at = np.flatnonzero(known & ~words)
    found = y[at]
    if y.dtype == object and any(isinstance(label, str) for label in found):
        found = found.astype(str)
    elif y.dtype == object and all(isinstance(label, bool | np.bool_) for label in found):
        found = found.astype(bool)
    elif (
        y.dtype.kind in "fO"
        and len(at) < len(y)
        and (found.astype(float) == found.astype(float).round()).all()
    ):
        # NaN or None made floats or objects of whole numbers.
        found = found.astype(int)
    return at, found


def _as_array(y: Any) -> np.ndarray:
    """Labels as an array; what marks unknown ones in a list or a mask is kept as it is."""
    if hasattr(y, "toarray"):
        y = y.toarray()
    given, y = y, np.asarray(y)
    if np.ma.is_masked(given):
        y = y.astype(object)
        y[np.ma.getmaskarray(given)] = None
    if y.dtype.kind == "U" and y.ndim == 1 and not hasattr(given, "dtype"):
        # numpy makes text of NaN and −1 beside text.
        y = np.array(list(given), dtype=object)
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    return y


def _indicators(y: np.ndarray, mask: Any) -> Labels:
    values = _numbers(y)
    seen = ~np.isnan(values)
    if mask is not None:
        mask = np.asarray(mask, dtype=bool)
        if mask.shape != y.shape:
            raise ValueError(f"label_mask must have the shape of y, {y.shape}; got {mask.shape}.")
        seen &= mask
    if not np.isin(values[seen], (0.0, 1.0)).all():
        raise ValueError("A two-dimensional y must hold 0 and 1, and NaN where a label is not known.")
    at = np.flatnonzero(seen.any(axis=1))
    if not len(at):
        raise ValueError("y has no label that is known; without labels use NMF or GraphNMF.")
    Y = np.where(seen, values, 0.0)[at]
    return Labels(np.arange(y.shape[1]), at, Y, seen[at], multilabel=True)


def _numbers(y: np.ndarray) -> np.ndarray:
    """Indicators as floats, NaN for whatever marks an unknown one."""
    if y.dtype == object:
        y = np.array([[np.nan if is_nothing(entry) else entry for entry in row] for row in y.tolist()])
    return y.astype(float)


def _say_missing_words(words: list[str], count: int) -> None:
    """Say that 'nan' and the like are no classes: they are what ``astype(str)`` makes of unknown labels."""
    warnings.warn(
        f"y holds the text {', '.join(map(repr, words))} for {counted(count, 'sample')}, which is read as a label "
        "that is not known, as it is in files. If it is a class of its own, give it another name; if not, None, NaN "
        "or '' says so without this warning (a pandas column before .astype(str)).",
        UserWarning,
        stacklevel=callers_level(),
    )


def row_sizes(X: InMemory, norm: bool) -> np.ndarray:
    """The size of each row: its Euclidean norm, or its sum, over the entries observed; the mean for empty rows."""
    if norm:
        zero = np.zeros((X.shape[0], 1), X.dtype), np.zeros((X.shape[1], 1), X.dtype)
        from partwise.losses import FROBENIUS

        sizes = np.sqrt(2.0 * X.row_divergence(*zero, FROBENIUS, 0.0))
    else:
        sizes = X.product(np.ones((X.shape[1], 1), X.dtype))[:, 0].astype(float)
    typical = sizes[sizes > 0].mean() if (sizes > 0).any() else 1.0
    return np.where(sizes > 0, sizes, typical)


def with_labels(problem: Problem, labels: Labels, sizes: np.ndarray, weight: float) -> Problem:
    """The problem of the data with labels beside them (Epstein 2017, equation 6.3); itself for weight 0."""
    if weight == 0:
        return problem
    assert isinstance(problem.X, InMemory)
    return replace(problem, X=Joined(problem.X, labels.at, labels.sized(sizes), labels.seen, weight))


def label_factor(
    problem: Problem, W: np.ndarray, labels: Labels, sizes: np.ndarray, max_iter: int
) -> np.ndarray:
    """The best label factor for a given W, of shape (n_classes, n_components)."""
    Y = Dense.of(np.ascontiguousarray(labels.sized(sizes).T, dtype=W.dtype), labels.seen.T.astype(W.dtype))
    held = Problem(Y, problem.loss, NO_PRIOR, NO_PRIOR, update_H=False, shift=problem.shift)
    return pick_solver("auto", held).solve_rows(held, np.ascontiguousarray(W[labels.at]), max_iter, 1e-4)


def information(usage: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """What each part adds to the mutual information of part and class, in nats.

    Parameters
    ----------
    usage : array of shape (n_components,)
        How much each part is used by labelled samples.
    factor : array of shape (n_components, n_classes)
        The label factor.

    Returns
    -------
    array of shape (n_components,)
        Σ_c p(k, c) log p(c | k) / p(c) with p(k, c) in proportion to usage times factor: 0 for a part that favours
        no class, whatever its scale.
    """
    joint = np.maximum(usage, 0.0)[:, None] * np.maximum(factor, 0.0)
    joint = joint / max(joint.sum(), 1e-300)
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0, joint * np.log(joint / independent), 0.0)
    return np.asarray(terms.sum(axis=1))
