"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partwise import NMF, BinaryNMF, MixtureClassifier

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
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data",)


def expected_failures(estimator):
    if isinstance(estimator, BinaryNMF):
        return {"check_estimator_sparse_array": BITS, "check_estimator_sparse_matrix": BITS}
    if isinstance(estimator, MixtureClassifier):
        several = estimator.n_mixtures > 1
        return dict.fromkeys(WEIGHTS, DRAWN) if several else {}
    if estimator.n_components != "auto":
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": REPEATED,
        "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    }


@pytest.mark.filterwarnings("ignore:X is not made of whole numbers")
@pytest.mark.filterwarnings("ignore:π has reached its edge")
@pytest.mark.filterwarnings("ignore:.*fewer samples than n_mixtures")
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
        BinaryNMF(2),
        BinaryNMF(2, inference="truncated"),
        MixtureClassifier(),
        MixtureClassifier(1, penalty=0.01, tol=1e-12),
        MixtureClassifier(2, training="em"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
