"""Other classifiers on the features of `partwise reproduce digits`: those that Lee, Seung & Saul name, and more."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from partwise.models import MixtureClassifier


def compare(data: dict[str, Any], seed: int) -> list[dict[str, Any]]:
    """Other classifiers on the same features: error, parameters, seconds to fit and to predict."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC

    X, y, X_test, y_test = (data[key] for key in ("nmf_train", "y_train", "nmf_test", "y_test"))
    linear = (X.shape[1] + 1) * len(np.unique(y))
    rivals: dict[str, tuple[Any, Any]] = {
        "MixtureClassifier(8)": (MixtureClassifier(8, random_state=seed), lambda m: m.n_parameters_),
        "logistic regression": (
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            lambda m: linear,
        ),
        "linear SVM": (
            make_pipeline(StandardScaler(), LinearSVC(dual=False, random_state=seed)),
            lambda m: linear,
        ),
        # The classifiers that the paper names beside its own, on the features instead of the pixels.
        "SVM, RBF kernel": (
            make_pipeline(StandardScaler(), SVC(C=10.0)),
            lambda m: m[-1].support_vectors_.size + m[-1].dual_coef_.size,
        ),
        "MLP, 128 units": (
            make_pipeline(StandardScaler(), MLPClassifier(128, early_stopping=True, random_state=seed)),
            lambda m: sum(part.size for part in (*m[-1].coefs_, *m[-1].intercepts_)),
        ),
        "k nearest neighbours": (KNeighborsClassifier(5), lambda m: X.size),
        "gradient boosting": (
            HistGradientBoostingClassifier(random_state=seed),
            lambda m: sum(2 * len(tree.nodes) for stage in m._predictors for tree in stage),
        ),
    }
    out = []
    for name in rivals:
        model, size = rivals[name]
        begin = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        fitted = perf_counter()
        error = 100.0 * (1.0 - model.score(X_test, y_test))
        out.append(
            {
                "model": name,
                "test_error": error,
                "parameters": int(size(model)),
                "fit_seconds": fitted - begin,
                "predict_seconds": perf_counter() - fitted,
            }
        )
    return out
