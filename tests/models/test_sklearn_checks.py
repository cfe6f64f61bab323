"""scikit-learn's own checks of an estimator."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_array
from sweeps import OTHER_MODELS

from partwise import (
    NMF,
    BayesianBooleanMF,
    BayesianNMF,
    BinaryNMF,
    BooleanMF,
    DeepNMF,
    GraphNMF,
    ManifoldNMF,
    MixtureClassifier,
    SemiNMF,
    SemiSupervisedNMF,
    SymmetricNMF,
    TopicModel,
)
from partwise.mixture import penalty
from partwise.models.yes_no import to_bit_table

REPEATED = (
    "the check fits 30 components (the default: one for each feature) to 15 rows, and then to the same rows "
    "repeated. NNDSVD starts exist only up to min(n_samples, n_features) components, so one fit starts from "
    "singular vectors and the other at random. With two components every solver passes."
)


BITS = "the check wants one number for each sample from predict; here it is a bit vector for each sample"


DRAWN = (
    "with several mixtures the objective has many optima, and k-means, which draws its first centres from the rows, "
    "begins elsewhere when rows are repeated; with one mixture the check passes"
)
SQUARE = "the check brings a table of signed features, whatever the tags say of square or nonnegative input"
FIRST_STEP = (
    "with an activation the length of the first gradient step comes from the mean of W over its rows, which repeated "
    "rows change and weights do not: the fits end 1 % apart, at the same objective to 1 %"
)
OPTIMA = (
    "with an activation the problem of a row has several optima: fit_transform returns the one that the fit ended "
    "in, which transform need not find"
)
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data",)


TIED = "fit_transform gives W with the pull of labels or a graph; transform knows new samples by their data alone"
UNLABELLED = "the check has a class called -1, which is no class here: it marks samples without a label"
NEIGHBOURS = (
    "the graph is over the rows, so rows of weight 2 and rows that are there twice are different graphs"
)


def expected_failures_with_structure(estimator):
    found = {}
    if not isinstance(estimator, NMF):
        return found
    tied = ("check_transformer_general", "check_transformer_data_not_an_array", "check_fit2d_predict1d")
    if isinstance(estimator, SemiSupervisedNMF | ManifoldNMF):
        found |= dict.fromkeys(tied[:2], TIED) | {"check_classifiers_classes": UNLABELLED}
    if isinstance(estimator, GraphNMF):
        found |= dict.fromkeys(tied[:2], TIED)
    if isinstance(estimator, GraphNMF | ManifoldNMF):
        found |= {
            "check_sample_weight_equivalence_on_dense_data": NEIGHBOURS,
            "check_sample_weight_equivalence_on_sparse_data": NEIGHBOURS,
        }
    return found


def expected_failures(estimator):
    if isinstance(estimator, GraphNMF | SemiSupervisedNMF | ManifoldNMF):
        return expected_failures_with_structure(estimator)
    if isinstance(estimator, BinaryNMF):
        return {"check_estimator_sparse_array": BITS, "check_estimator_sparse_matrix": BITS}
    if isinstance(estimator, MixtureClassifier):
        several = estimator.n_mixtures > 1
        return dict.fromkeys(WEIGHTS, DRAWN) if several else {}
    if isinstance(estimator, SymmetricNMF):
        return {"check_clustering": SQUARE}
    if getattr(estimator, "activation", None) is not None:
        checks = ("check_transformer_data_not_an_array", "check_transformer_general")
        weights = (
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        )
        return dict.fromkeys(checks, OPTIMA) | dict.fromkeys(weights, FIRST_STEP)
    if getattr(estimator, "n_components", None) != "auto":
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": REPEATED,
        "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    }


@pytest.mark.filterwarnings("ignore:X is not made of whole numbers")
@pytest.mark.filterwarnings("ignore:π has reached its edge")
@pytest.mark.filterwarnings("ignore:σ² has reached its floor")
@pytest.mark.filterwarnings("ignore:.*fewer distinct samples than n_mixtures")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        NMF(),
        NMF(2),
        NMF(2, solver="cd"),
        NMF(2, solver="mu"),
        NMF(2, solver="scd"),
        NMF(2, beta_loss="kullback-leibler"),
        NMF(2, beta_loss="kullback-leibler", solver="mu"),
        NMF(2, beta_loss=1.5),
        NMF(2, alpha_W=0.01, l1_ratio=0.5),
        GraphNMF(2, graph_weight=0.3),
        GraphNMF(2, graph_weight=0.1, beta_loss="kullback-leibler"),
        SemiSupervisedNMF(2),
        SemiSupervisedNMF(2, beta_loss="kullback-leibler"),
        # (Weights that are chosen take dozens of fits.)
        ManifoldNMF(2, graph_weight=0.3),
        SemiNMF(2),
        DeepNMF((2, 1)),
        DeepNMF((2, 1), semi=False),
        DeepNMF((2, 1), activation="softplus"),
        BayesianNMF(2, n_chains=2, n_draws=20, n_warmup=20),
        BinaryNMF(2),
        BinaryNMF(2, inference="truncated"),
        BinaryNMF(2, noise="gaussian"),
        MixtureClassifier(),
        MixtureClassifier(1, penalty=0.01, tol=1e-12),
        MixtureClassifier(2, training="em"),
        SymmetricNMF(),
        SymmetricNMF(normalize=None, init="random", tol=1e-10, max_iter=3000),
        TopicModel(2),
        *OTHER_MODELS,
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check, monkeypatch):
    # A penalty is chosen among two: each takes ten fits.
    monkeypatch.setattr(penalty, "FEW", (1e-3, 0.1))
    check(estimator)


ROWS_PENALISED = (
    "the penalties of the relaxed factors, and their random start, have one term for each row, so that rows of "
    "weight 2 and rows that are there twice are different problems"
)
ROWS_WRITTEN = (
    "the number of tiles is chosen by description length, which writes down which rows have a tile: a row of "
    "weight 2 once, a repeated row twice. With a given number of tiles the check passes"
)
ROWS_COUNTED = (
    "the likelihood learns from the rows how often bits are set, and there a row of weight 2, or 0, counts as "
    "one. With objective='error' the check passes"
)


def expected_failures_of_tiles(estimator):
    if estimator.method in ("panpal", "primp", "trustpal"):
        why = ROWS_PENALISED
    elif estimator.n_components == "auto":
        why = ROWS_WRITTEN
    elif estimator.objective == "likelihood":
        why = ROWS_COUNTED
    else:
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": why,
        "check_sample_weight_equivalence_on_sparse_data": why,
    }


def rounded_to_yes_and_no(array, *rest, **options):
    """What `to_bit_table` makes of the same array with 0 for numbers up to ½ and 1 for larger ones.

    Negative, infinite and missing numbers stay, for BooleanMF to refuse or to read as missing.
    """
    if array.dtype == object:
        array = check_array(array, dtype=np.float64, ensure_all_finite=False)
    array = array.copy()
    values = array.data if sp.issparse(array) else array
    plain = np.isfinite(values) & (values >= 0)
    values[plain] = values[plain] > 0.5
    return to_bit_table(array, *rest, **options)


@pytest.mark.filterwarnings("ignore:Every observed entry of X is")
@parametrize_with_checks(
    [
        BooleanMF(2, patience=5, max_time=60.0),
        BooleanMF(2, patience=5, max_time=60.0, objective="likelihood"),
        BooleanMF(2, patience=5, max_time=60.0, method="trustpal", fdr=1.0),
        BooleanMF(patience=5, max_time=60.0),
        BooleanMF(2, method="panpal"),
        BooleanMF(method="primp"),
    ],
    expected_failed_checks=expected_failures_of_tiles,
)
def test_scikit_learn_checks_of_tiles(estimator, check, monkeypatch):
    """scikit-learn's checks bring real numbers: these are cut just before packing, all else is the real estimator."""
    monkeypatch.setattr("partwise.models.boolean.to_bit_table", rounded_to_yes_and_no)
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        BayesianBooleanMF(2, n_chains=2, n_draws=6, n_warmup=4),
        BayesianBooleanMF(2, n_chains=2, n_draws=6, n_warmup=4, sampler="relaxed-gibbs"),
    ]
)
def test_scikit_learn_checks_of_posteriors(estimator, check, monkeypatch):
    monkeypatch.setattr("partwise.models.bayesian_boolean.to_bit_table", rounded_to_yes_and_no)
    check(estimator)
