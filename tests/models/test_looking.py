"""Features that lead a part, and parts as tables, of every model."""

import builtins

import numpy as np
import pandas as pd
import pytest

from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier
from partwise.datasets import load_digits, make_bars, make_boolean, make_low_rank
from partwise.models.looking import specificity
from partwise.models.summary import parts_of

DIGITS = load_digits()
MODELS = [
    (NMF(3, max_iter=1000), (make_low_rank(30, 8, 3, random_state=0).data,)),
    (BinaryNMF(8), (make_bars(200, random_state=0).data,)),
    (BooleanMF(3, max_time=1.0), (make_boolean(80, 60, 3, random_state=0).data,)),
    (MixtureClassifier(1, penalty=1e-3), (DIGITS.data[:200], DIGITS.target[:200])),
]


@pytest.mark.parametrize(("model", "data"), MODELS, ids=lambda one: type(one).__name__)
def test_every_model_lists_its_leading_features_and_its_parts(model, data):
    model.fit(*data)
    parts = parts_of(model)
    frame = model.components_frame()
    assert np.array_equal(frame.to_numpy(), parts)
    top = model.top_features(3)
    assert list(top.columns) == ["part", "rank", "feature", "weight"]
    for i, (name, rows) in enumerate(top.groupby("part", sort=False)):
        assert name == frame.index[i]
        assert rows["weight"].tolist() == frame.loc[name, rows["feature"]].tolist()
        assert rows["weight"].iloc[0] == parts[i].max()
        assert rows["rank"].tolist() == list(range(1, len(rows) + 1))
    apart = model.top_features(3, specific=True)
    assert (apart["score"] > 0).all()
    assert apart.groupby("part")["score"].apply(lambda s: s.is_monotonic_decreasing).all()


@pytest.fixture
def counts():
    """Two topics, and one word that leads both."""
    words = ["the", "cat", "dog", "bond", "stock", "never"]
    topics = np.array([[10.0, 4, 3, 0, 0, 0], [10, 0, 0, 5, 4, 0]])
    W = np.random.default_rng(0).dirichlet([0.2, 0.2], 60)
    return pd.DataFrame(W @ topics, columns=words)


def test_specific_features_set_a_part_apart(counts):
    model = NMF(2, max_iter=2000, tol=1e-9, beta_loss="kullback-leibler").fit(counts)
    top = model.top_features(2).groupby("part")["feature"].apply(list)
    assert all(words[0] == "the" for words in top)
    apart = model.top_features(2, specific=True).groupby("part")["feature"].apply(list)
    assert sorted(apart) == [["bond", "stock"], ["cat", "dog"]]
    assert "never" not in set(model.top_features(6)["feature"])


def test_specificity_follows_its_formula_and_no_scale(counts):
    parts = np.random.default_rng(1).gamma(0.5, 1.0, (4, 7))
    p = parts / parts.sum(axis=1, keepdims=True)
    q = np.array([np.delete(p, k, axis=0).mean(axis=0) for k in range(4)])
    assert np.allclose(specificity(parts), p * np.log((p + 1 / 7) / (q + 1 / 7)))
    assert np.allclose(specificity(parts * np.array([[1.0], [5.0], [0.1], [1e6]])), specificity(parts))
    assert np.argmax(specificity(parts[:1])) == np.argmax(parts[0])
    assert not specificity(np.zeros((2, 3))).any()


def test_names_are_those_given_or_of_the_fit(counts):
    model = NMF(2).fit(counts.to_numpy())
    assert model.components_frame().columns[0] == "column0"
    assert model.components_frame(counts.columns).columns[0] == "the"
    assert model.top_features(1, feature_names=counts.columns)["feature"].tolist() == ["the", "the"]
    with pytest.raises(ValueError, match="2 feature_names were given for 6 columns"):
        model.top_features(feature_names=["a", "b"])
    with pytest.raises(ValueError, match="n must be an integer"):
        model.top_features(0)


def test_without_pandas_there_are_lists(counts, monkeypatch):
    model = NMF(2).fit(counts)
    expected = model.top_features(2, specific=True)
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name.split(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    listed = model.top_features(2, specific=True)
    with pytest.raises(ImportError, match=r"pip install \"partwise\[tables\]\""):
        model.components_frame()
    monkeypatch.undo()
    assert listed == expected.to_dict("records")
