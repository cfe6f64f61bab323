"""Pipelines in model files: which estimators of scikit-learn may be steps, and what is kept of them.

Of these classes a file keeps the parameters and the plain attributes listed here, and nothing else: no pickle.
Files know them by name; a class is imported when a file names it. `DeslantCrop` and the models of partwise may be
steps too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.domains.image import DeslantCrop
from partwise.io.contents import (
    FEATURES,
    Array,
    Either,
    Flag,
    Instance,
    ListOf,
    Matrix,
    Maybe,
    Number,
    Record,
    Text,
    Vocabulary,
)
from partwise.io.registry import Step, register_function, register_step, suggest

__all__ = ["DeslantCrop"]

_COLUMN = Array("f", ("n_features",))
_COUNT = Number("i", 0)
_SEEN = Either((Number(low=0), Array("if", ("n_features",), low=0)))
_CLASSES = Array("biufUO", ("n_classes",))
# Two classes have one row of coefficients, more have one each.
_LINEAR: dict[str, Any] = {
    **FEATURES,
    "classes_": Maybe(_CLASSES),
    # RidgeClassifier has a bare row for two classes and sparse data.
    "coef_": Either((Array("f", ("n_features",)), Array("f", ("n_rows", "n_features")))),
    "intercept_": Either((Number(), Array("f", ("n_rows",)))),
    "n_iter_": Maybe(Either((_COUNT, Array("i", (None,), low=0)))),
}
_VECTORIZER: dict[str, Any] = {"vocabulary_": Vocabulary("n_features"), "fixed_vocabulary_": Flag()}
_TEXT_ONLY = {"input": "content", "tokenizer": None, "preprocessor": None}
_TEXT_INSTEAD = (
    "Split and clean the texts beforehand, or set token_pattern, ngram_range, lowercase and strip_accents, "
    "which are kept."
)
_DECOMPOSITION: dict[str, Any] = {
    **FEATURES,
    "components_": Array("f", ("n_components", "n_features")),
    "explained_variance_": Array("f", ("n_components",), nan=True),
    "explained_variance_ratio_": Array("f", ("n_components",), nan=True),
    "singular_values_": Array("f", ("n_components",), nan=True),
}


def check_linear(model: Any) -> None:
    """Classes and rows of coefficients belong together."""
    classes, rows = len(model.classes_), len(np.atleast_2d(model.coef_))
    if rows != (1 if classes == 2 else classes):
        raise ValueError(f"its coef_ has {rows} rows for {classes} classes")


def check_vectorizer(model: Any) -> None:
    """The weights are those of the words, and the pattern and the stop words are understood."""
    transformer = getattr(model, "_tfidf", None)
    if transformer is not None and transformer.n_features_in_ != len(model.vocabulary_):
        raise ValueError(
            f"its weights are for {transformer.n_features_in_} words, not {len(model.vocabulary_)}"
        )
    check_dtype(model)
    model.build_analyzer()


def check_dtype(model: Any) -> None:
    """The type of the answer is one of numbers; scikit-learn leaves this parameter unchecked."""
    if not isinstance(model.dtype, type | np.dtype) or np.dtype(model.dtype).kind not in "biuf":
        raise ValueError(f"its dtype is {model.dtype!r}; give a type such as numpy.float64")


def check_one_hot(model: Any) -> None:
    """As many columns as categories, none of them grouped."""
    if model._infrequent_enabled or model._n_features_outs != [len(found) for found in model.categories_]:
        raise ValueError("its columns are not its categories")
    check_dtype(model)


def check_pipeline(model: Any) -> None:
    """Steps have names and can be called in turn; each takes as many columns as the one before it gives."""
    model._validate_steps()
    given: int | None = None
    before = ""
    for name, step in model.steps:
        if step is None or step == "passthrough":
            continue
        taken = getattr(step, "n_features_in_", None)
        if given is not None and taken is not None and given != taken:
            raise ValueError(f"its step '{before}' gives {given} columns, and '{name}' takes {taken}")
        fitted = taken is not None or hasattr(step, "vocabulary_")
        can_name = fitted and hasattr(step, "get_feature_names_out")
        given, before = len(step.get_feature_names_out()) if can_name else None, name


STEPS = {
    "sklearn.pipeline.Pipeline": Step({}, {"memory": None}, check=check_pipeline),
    "sklearn.feature_extraction.text.CountVectorizer": Step(
        _VECTORIZER, _TEXT_ONLY, _TEXT_INSTEAD, check_vectorizer
    ),
    "sklearn.feature_extraction.text.TfidfVectorizer": Step(
        {**_VECTORIZER, "_tfidf": Instance("TfidfTransformer")}, _TEXT_ONLY, _TEXT_INSTEAD, check_vectorizer
    ),
    "sklearn.feature_extraction.text.TfidfTransformer": Step(
        {**FEATURES, "idf_": Maybe(_COLUMN, unless="use_idf")}
    ),
    "sklearn.preprocessing.StandardScaler": Step(
        {
            **FEATURES,
            "mean_": Maybe(_COLUMN, unless="with_mean"),
            "var_": Maybe(Array("f", ("n_features",), low=0), unless="with_std"),
            "scale_": Maybe(_COLUMN, unless="with_std"),
            "n_samples_seen_": _SEEN,
        }
    ),
    "sklearn.preprocessing.MinMaxScaler": Step(
        {**FEATURES, "n_samples_seen_": _SEEN}
        | dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), _COLUMN)
    ),
    "sklearn.preprocessing.MaxAbsScaler": Step(
        {**FEATURES, "n_samples_seen_": _SEEN, "max_abs_": _COLUMN, "scale_": _COLUMN}
    ),
    "sklearn.preprocessing.RobustScaler": Step(
        {
            **FEATURES,
            "center_": Maybe(_COLUMN, unless="with_centering"),
            "scale_": Maybe(_COLUMN, unless="with_scaling"),
        }
    ),
    "sklearn.preprocessing.Normalizer": Step(FEATURES),
    "sklearn.preprocessing.LabelBinarizer": Step(
        {"y_type_": Text(("binary", "multiclass")), "sparse_input_": Flag(), "classes_": _CLASSES}
    ),
    "sklearn.preprocessing.OneHotEncoder": Step(
        {
            **FEATURES,
            "categories_": ListOf(Array("biufUO", (None,), nan=True), size="n_features"),
            "_infrequent_enabled": Flag(),
            "drop_idx_": Maybe(Array("i", ())),
            "_drop_idx_after_grouping": Maybe(Array("i", ())),
            "_n_features_outs": ListOf(Number("i", 0), size="n_features"),
        },
        {"drop": None, "min_frequency": None, "max_categories": None},
        "Use OneHotEncoder without them: group rare categories beforehand.",
        check_one_hot,
    ),
    "sklearn.impute.SimpleImputer": Step(
        {
            **FEATURES,
            "statistics_": Array("ifO", ("n_features",), nan=True),
            "indicator_": Maybe(Flag()),
            "_fit_dtype": Instance("dtype"),
            "_fill_dtype": Maybe(Instance("dtype")),
        },
        {"add_indicator": False},
        "Make the columns that say where values are missing beforehand.",
    ),
    "sklearn.feature_selection.SelectKBest": Step(
        {
            **FEATURES,
            "scores_": Array("f", ("n_features",), nan=True),
            "pvalues_": Maybe(Array("f", ("n_features",), nan=True)),
        }
    ),
    "sklearn.feature_selection.VarianceThreshold": Step(
        {**FEATURES, "variances_": Array("f", ("n_features",), nan=True)}
    ),
    "sklearn.decomposition.TruncatedSVD": Step(_DECOMPOSITION),
    "sklearn.decomposition.PCA": Step(
        {
            **_DECOMPOSITION,
            "mean_": _COLUMN,
            "n_components_": Number("i", 0, size="n_components"),
            "n_samples_": _COUNT,
            "noise_variance_": Number(nan=True),
        }
    ),
    "sklearn.cluster.KMeans": Step(
        {
            **FEATURES,
            "cluster_centers_": Array("f", ("n_clusters", "n_features")),
            "labels_": Array("i", (None,), low=0, below="n_clusters"),
            "inertia_": Number(low=0),
            "n_iter_": _COUNT,
            "_n_threads": Number("i", 1, 1024),
            "_n_features_out": Number("i", 1, size="n_clusters"),
        }
    ),
    "sklearn.linear_model.LogisticRegression": Step(_LINEAR, check=check_linear),
    "sklearn.linear_model.RidgeClassifier": Step(
        {**_LINEAR, "_label_binarizer": Instance("LabelBinarizer"), "solver_": Maybe(Text())},
        check=check_linear,
    ),
    "sklearn.svm.LinearSVC": Step(_LINEAR, check=check_linear),
    "sklearn.naive_bayes.MultinomialNB": Step(
        {
            **FEATURES,
            "classes_": _CLASSES,
            "class_count_": Array("f", ("n_classes",), low=0),
            "feature_count_": Array("f", ("n_classes", "n_features"), low=0),
            "class_log_prior_": Array("f", ("n_classes",), nan=True),
            "feature_log_prob_": Array("f", ("n_classes", "n_features"), nan=True),
        }
    ),
    "sklearn.neighbors.KNeighborsClassifier": Step(
        {
            **FEATURES,
            "_fit_X": Matrix("if", ("n_samples", "n_features")),
            "classes_": _CLASSES,
            "_y": Array("i", ("n_samples",), low=0, below="n_classes"),
            "outputs_2d_": Flag(),
            "effective_metric_": Text(),
            "n_samples_fit_": Number("i", 1, size="n_samples"),
            "effective_metric_params_": Record(),
            "_fit_method": Text(("brute",)),
        },
        {"metric_params": None},
        "Search trees are not kept: use KNeighborsClassifier(algorithm='brute').",
    ),
}

_CLASSIFIER = "LogisticRegression, LinearSVC and partwise.MixtureClassifier can be saved."
_INSTEAD = {
    "SVC NuSVC SGDClassifier Perceptron PassiveAggressiveClassifier LogisticRegressionCV RidgeClassifierCV "
    "DecisionTreeClassifier RandomForestClassifier ExtraTreesClassifier GradientBoostingClassifier "
    "HistGradientBoostingClassifier MLPClassifier LinearDiscriminantAnalysis GaussianProcessClassifier": _CLASSIFIER,
    "ComplementNB BernoulliNB GaussianNB CategoricalNB": "MultinomialNB and LogisticRegression can be saved.",
    "HashingVectorizer DictVectorizer": "TfidfVectorizer and CountVectorizer can be saved.",
    "PowerTransformer QuantileTransformer": "StandardScaler, MinMaxScaler and RobustScaler can be saved.",
    "FunctionTransformer": "It holds code. Call the function before the pipeline.",
    "ColumnTransformer FeatureUnion": "Prepare the columns before the pipeline, or save a pipeline for each group.",
    "OrdinalEncoder LabelEncoder KBinsDiscretizer": "OneHotEncoder can be saved.",
    "IterativeImputer KNNImputer MissingIndicator": "SimpleImputer can be saved.",
    "SelectPercentile SelectFpr SelectFdr SelectFwe GenericUnivariateSelect SelectFromModel RFE RFECV": (
        "SelectKBest and VarianceThreshold can be saved."
    ),
    "FastICA IncrementalPCA KernelPCA SparsePCA FactorAnalysis": "PCA and TruncatedSVD can be saved.",
    "NMF MiniBatchNMF LatentDirichletAllocation DictionaryLearning": (
        "partwise.NMF takes the parameters of scikit-learn's NMF and can be saved."
    ),
    "MiniBatchKMeans BisectingKMeans SpectralClustering AgglomerativeClustering GaussianMixture DBSCAN": (
        "KMeans can be saved."
    ),
    "GridSearchCV RandomizedSearchCV": "Save its best_estimator_.",
    "TopicTree": "A tree is written with tree.export(path), as .json, .csv, .graphml or .nwk; save its topic model.",
}

for _path, _step in STEPS.items():
    register_step(_path, _step)
for _names, _sentence in _INSTEAD.items():
    suggest(_names, _sentence)
for _name in (
    "chi2",
    "f_classif",
    "f_regression",
    "mutual_info_classif",
    "mutual_info_regression",
    "r_regression",
):
    register_function(f"sklearn.feature_selection.{_name}")
