"""What is given beside X: by its names, with a word where it goes by position, and refused in a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from partwise import NMF, DeepNMF, MixtureClassifier, SemiSupervisedNMF, TopicModel, priors
from partwise.io import read

RNG = np.random.default_rng(0)
NAMES = [f"s{i}" for i in range(20)]
X = pd.DataFrame(RNG.gamma(1, 1, (20, 8)), index=NAMES, columns=list("abcdefgh"))


def test_rows_of_a_given_start_go_by_name():
    W, H = pd.DataFrame(RNG.random((20, 3)), index=NAMES), RNG.random((3, 8))
    model = NMF(3, init="custom", tol=0, max_iter=1)
    whole = model.fit(X, W=W, H=H).components_
    np.testing.assert_array_equal(model.fit(X, W=W.iloc[::-1], H=H).components_, whole)
    np.testing.assert_array_equal(model.fit(X, W=W.to_numpy(), H=H).components_, whole)
    with pytest.raises(ValueError, match="The rows of W are not those of X"):
        model.fit(X, W=W.rename(index={"s3": "other"}), H=H)


def test_a_graph_with_names_is_refused():
    S = pd.DataFrame(np.ones((20, 20)), index=NAMES, columns=NAMES)
    with pytest.raises(ValueError, match=r"graph\.loc\[X\.index, X\.index\]"):
        priors.Graph(S)


@pytest.mark.parametrize("what", ["y", "sample_weight"])
@pytest.mark.parametrize(
    "model",
    [MixtureClassifier(1, penalty=0.1), SemiSupervisedNMF(3, max_iter=5, tol=0), DeepNMF((3, 2), max_iter=3)],
)
def test_a_series_in_another_order_is_told(model, what):
    y = pd.Series(np.arange(20) % 2, index=NAMES)
    weight = pd.Series(np.linspace(1, 2, 20), index=NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", category=UserWarning, message="Maximum number")
        model.fit(X, y, sample_weight=weight)
        model.fit(X, y.to_numpy()[::-1], sample_weight=weight.to_numpy()[::-1])
        model.fit(X, y.reset_index(drop=True), sample_weight=weight)
    given = {"y": y, "sample_weight": weight}
    given[what] = given[what].iloc[::-1]
    with pytest.warns(UserWarning, match=f"^{what} has the names of the rows of X in another order"):
        model.fit(X, given["y"], sample_weight=given["sample_weight"])


def test_shuffled_numbers_of_rows_are_told_too():
    plain = X.reset_index(drop=True)
    with pytest.warns(UserWarning, match="^y has the names"):
        MixtureClassifier(1, penalty=0.1).fit(plain.iloc[::-1], pd.Series(np.arange(20) % 2))


def test_kinds_of_data_that_are_refused_say_what_to_give(tmp_path):
    X.to_csv(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"X is a Table .*X\.data"):
        NMF(3).fit(read(tmp_path / "x.csv"))
    with pytest.raises(ValueError, match="X is an array of records"):
        NMF(3).fit(X.to_records(index=False))
    with pytest.raises(ValueError, match=r"X\.sparse\.to_dense\(\)"):
        NMF(3).fit(X.astype(pd.SparseDtype(float, np.nan)))
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        NMF(3, random_state="a").fit(X)


def test_weights_may_be_an_annotated_table():
    anndata = pytest.importorskip("anndata")
    weights = pd.DataFrame(RNG.random((20, 8)), index=NAMES, columns=X.columns)
    given = anndata.AnnData(weights.iloc[::-1])
    expected = NMF(3).fit(X, weights=weights).components_
    np.testing.assert_allclose(NMF(3).fit(X, weights=given).components_, expected)


def test_seed_words_may_name_a_topic_as_another_is_numbered():
    texts = ["goal match team", "vote law party", "song band album"] * 12
    model = TopicModel(3, seed_words={"topic1": ["goal", "match"]}).fit(texts)
    names = list(model.get_feature_names_out())
    assert names == ["topic1", "topic2", "topic3"]
    assert list(model.topics()) == names
