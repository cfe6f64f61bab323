"""What a model says of itself: plain data, the same for every model, and still there after a file."""

import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sweeps import OTHER_MODELS

from partwise import (
    NMF,
    BayesianNMF,
    BinaryNMF,
    BooleanMF,
    MixtureClassifier,
    SymmetricNMF,
    TopicModel,
    load,
    save,
)
from partwise.datasets import load_digits, make_bars, make_boolean, make_low_rank
from partwise.models.summary import summary_of

KEYS = {
    "kind", "class", "n_samples", "n_features", "n_components", "part_word", "parameters", "chosen", "converged",
    "n_iter", "figures", "sentence", "parts", "history",
}  # fmt: skip


def nmf():
    return NMF(3, max_iter=1000).fit(make_low_rank(30, 8, 3, random_state=0).data)


def binary():
    return BinaryNMF(8, per_component=True, record_components=True).fit(make_bars(200, random_state=0).data)


def boolean():
    return BooleanMF(3, max_time=1.0).fit(make_boolean(80, 60, 3, random_state=0).data)


def mixture():
    digits = load_digits()
    labels = np.array([f"digit {v}" for v in digits.target[:200]])
    return MixtureClassifier(1, penalty=1e-3, random_state=np.random.default_rng(0)).fit(
        digits.data[:200], labels
    )


def pipeline():
    digits = load_digits()
    steps = [("nmf", NMF(5, max_iter=20, tol=0)), ("mixture", MixtureClassifier(1, penalty=1e-3))]
    return Pipeline(steps).fit(digits.data[:200], digits.target[:200])


def symmetric():
    return SymmetricNMF(3, tol=1e-3).fit(np.kron(np.eye(3), np.ones((10, 10))))


def topics():
    texts = ["sun and sea", "sea and sand", "butter"] * 10
    return TopicModel(2, seed_words={"sea": ["sand"]}).fit(texts)


def bayesian():
    return BayesianNMF(3, n_chains=2, n_draws=30, n_warmup=20, verbose=-1).fit(
        make_low_rank(30, 8, 3, random_state=0).data
    )


bayesian.__name__ = BayesianNMF.kind

MODELS = [nmf, bayesian, binary, boolean, mixture, symmetric, topics, pipeline]


def other(model):
    """The function that fits a model of another package."""

    def fitted():
        return model.fit(make_low_rank(30, 8, 3, random_state=0).data)

    fitted.__name__ = model.kind
    return fitted


OTHERS = [other(model) for model in OTHER_MODELS]


def is_plain(value):
    if isinstance(value, dict):
        return all(type(name) is str and is_plain(inner) for name, inner in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    return value is None or type(value) in (str, int, float, bool)


@pytest.mark.parametrize("make", MODELS + OTHERS)
def test_a_summary_is_plain_has_the_same_keys_and_outlives_a_file(make, tmp_path):
    model = make()
    found = summary_of(model)
    assert set(found) >= KEYS
    assert is_plain(found)
    assert found["sentence"]
    assert "\n" not in found["sentence"]
    assert found["n_features"] == model.n_features_in_
    assert all(type(value) in (int, float) for value in found["figures"].values())
    if make is not mixture:
        assert json.dumps(summary_of(load(save(model, tmp_path / "m")))) == json.dumps(found)


@pytest.mark.parametrize("make", MODELS[:-1] + OTHERS)
def test_parts_are_counted_and_named(make):
    model = make()
    found = model.summary()
    assert (found["kind"], found["class"]) == (make.__name__, type(model).__name__)
    assert found["n_components"] == len(found["parts"]) > 0
    assert found["n_samples"] in (30, 80, 200)
    assert len({part["name"] for part in found["parts"]}) == found["n_components"]
    weights = getattr(model, getattr(model, "parts_attribute", "components_"))
    for part, row in zip(found["parts"], weights):
        first = part["top_features"][0]
        names = getattr(model, "feature_names_in_", None)
        name = f"column{row.argmax()}" if names is None else names[row.argmax()]
        assert first == {"name": name, "weight": float(row.max())}
    named = model.summary([f"f{j}" for j in range(found["n_features"])])
    assert named["parts"][0]["top_features"][0]["name"].startswith("f")
    assert all(type(x) in (int, float) for values in found["history"].values() for x in values)


def test_only_changed_parameters_are_told():
    model = NMF(2, fixed_components=np.ones((1, 8)), tol=1e-4, max_iter=5)
    with pytest.raises(NotFittedError):
        model.summary()
    found = model.set_params(tol=0).fit(make_low_rank(30, 8, 2, random_state=0).data).summary()
    assert found["parameters"] == {
        "n_components": 2,
        "tol": 0,
        "max_iter": 5,
        "fixed_components": [[1.0] * 8],
    }
    assert found["n_iter"] == 5
    assert found["chosen"] == {"solver": "hals"}


def test_what_was_measured_of_tiles_is_told_and_forgotten_with_the_next_fit():
    X = make_boolean(40, 30, 2, random_state=0).data
    model = BooleanMF(2, max_time=0.5).fit(X)
    assert "restarts" not in model.summary()["parts"][0]
    model.trust(X, n_restarts=1, n_resamples=1)
    part = model.summary()["parts"][0]
    assert 0 <= part["restarts"] <= 1
    assert len(part["column_names"]) == part["columns"] == model.components_[0].sum()
    assert "of restarts" in part["sentence"]
    assert "restarts" not in model.fit(X).summary()["parts"][0]


def test_the_steps_of_a_pipeline_are_told_one_by_one():
    found = summary_of(pipeline())
    first, last = found["steps"]
    assert (first["kind"], last["kind"], found["n_features"], last["n_features"]) == ("nmf", "mixture", 64, 5)
    names = {feature["name"] for part in last["parts"] for feature in part["top_features"]}
    assert names <= {f"nmf{i}" for i in range(5)}


def test_a_model_without_a_summary_of_its_own_is_told_by_what_it_has():
    class Stranger(BaseEstimator):
        kind = "stranger"

        def __init__(self, size):
            self.size = size

        def fit(self, X):
            self.components_, self.n_features_in_ = np.asarray(X[: self.size]), X.shape[1]
            return self

    found = summary_of(Stranger(2).fit(np.eye(3)))
    assert (found["kind"], found["n_components"], found["parameters"]) == ("stranger", 2, {"size": 2})
    assert found["parts"][1] == {"name": "part1", "top_features": [{"name": "column1", "weight": 1.0}]}


def test_one_of_a_thing_is_singular():
    from types import SimpleNamespace

    from partwise.models.summary import counted, ending

    assert ending(SimpleNamespace(converged_=True, n_iter_=1), "steps") == "converged after 1 step"
    assert ending(SimpleNamespace(converged_=None, n_iter_=2)) == "took 2 iterations"
    assert (counted(1, "column"), counted(20, "row")) == ("1 column", "20 rows")
