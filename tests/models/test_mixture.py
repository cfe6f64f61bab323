"""MixtureClassifier as a user meets it."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import partwise
from partwise import NMF, MixtureClassifier
from partwise.datasets import load_digits


@pytest.fixture(scope="module")
def digits():
    return load_digits()


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.gamma(4.0, 1.0, (60, 2)) + m for m in ((0, 0), (9, 9), (0, 9), (9, 0))])
    return X, np.repeat(["even", "even", "odd", "odd"], 60)


def test_mixtures_tell_apart_what_no_line_can(blobs):
    X, y = blobs
    assert MixtureClassifier(1, penalty=1e-4).fit(X, y).score(X, y) < 0.8
    model = MixtureClassifier(2, penalty=1e-4, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.97
    assert list(model.classes_) == ["even", "odd"]
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == "odd")
    assert model.n_parameters_ == 4 * 3
    assert model.means_.shape == (4, 2)
    assert MixtureClassifier(2, training="em", random_state=0).fit(X, y).score(X, y) > 0.97


def test_the_pipeline_on_bundled_digits(digits, tmp_path):
    model = make_pipeline(
        NMF(40, beta_loss="kullback-leibler", random_state=0), MixtureClassifier(4, random_state=0)
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(digits.data, digits.target)
    assert cross_val_score(model, digits.data, digits.target, cv=list(folds)[:2]).mean() >= 0.97
    model.fit(digits.data[:1000], digits.target[:1000])
    partwise.save(model, tmp_path / "digits.partwise")
    again = partwise.load(tmp_path / "digits.partwise")
    assert np.array_equal(again.predict(digits.data[1000:]), model.predict(digits.data[1000:]))
    assert np.allclose(again.predict_proba(digits.data[:5]), model.predict_proba(digits.data[:5]))


def test_grid_search(blobs):
    X, y = blobs
    search = GridSearchCV(MixtureClassifier(penalty=1e-4, random_state=0), {"n_mixtures": [1, 2]}, cv=3).fit(
        X, y
    )
    assert search.best_params_ == {"n_mixtures": 2}


def test_a_weight_of_two_is_the_sample_twice(blobs):
    X, y = blobs
    weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
    settings = {"n_mixtures": 1, "penalty": 1e-3, "tol": 1e-12}
    a = MixtureClassifier(**settings).fit(X, y, sample_weight=weight)
    b = MixtureClassifier(**settings).fit(
        np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int))
    )
    assert np.allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-4)


def test_the_penalty_is_chosen_on_held_out_samples(digits):
    X = NMF(20, random_state=0).fit_transform(digits.data)
    model = MixtureClassifier(2, random_state=0).fit(X, digits.target)
    assert model.penalty_ in model.penalties_["penalty"]
    assert (
        min(model.penalties_["loss"])
        == model.penalties_["loss"][model.penalties_["penalty"].index(model.penalty_)]
    )
    stopped = MixtureClassifier(2, penalty=0.0, early_stopping=True, random_state=0).fit(X, digits.target)
    assert len(stopped.history_["validation"]) == len(stopped.history_["objective"])


def test_float32_and_float64_agree(blobs):
    X, y = blobs
    a, b = (
        MixtureClassifier(2, penalty=1e-3, random_state=0).fit(X.astype(t), y)
        for t in (np.float32, np.float64)
    )
    assert (a.predict(X.astype(np.float32)) == b.predict(X)).mean() > 0.98


def test_bad_input(blobs):
    X, y = blobs
    with pytest.raises(ValueError, match=r"nonnegative features; X\[0, 0\] = -1.*lbfgs"):
        MixtureClassifier(2, optimizer="multiplicative").fit(
            np.where(np.arange(480).reshape(240, 2) == 0, -1.0, X), y
        )
    with pytest.raises(ValueError, match="one class only"):
        MixtureClassifier(2).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        MixtureClassifier(2).fit(np.where(X > 5, np.nan, X), y)
    with pytest.raises(ValueError, match="training"):
        MixtureClassifier(2, training="magic").fit(X, y)
    with pytest.warns(
        UserWarning, match=r"for instance 'odd'\) have fewer distinct samples than n_mixtures=8"
    ):
        few = MixtureClassifier(8, penalty=1e-3).fit(X[58:124], y[58:124])
    assert np.bincount(few.component_class_).tolist() == [8, 4]
    with pytest.warns(ConvergenceWarning):
        MixtureClassifier(2, optimizer="multiplicative", max_iter=2).fit(X, y)


@pytest.mark.parametrize("value", [0.0, 1e-5, 1.0, 1e5])
@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "tied"])
def test_em_of_features_that_never_change_knows_only_the_shares_of_the_classes(value, covariance):
    X, y = np.full((30, 6), value), np.repeat([0, 1, 1], 10)
    model = MixtureClassifier(1, training="em", covariance=covariance, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[1 / 3, 2 / 3]], rtol=1e-3)


@pytest.fixture(scope="module")
def some_features(digits):
    nmf = NMF(12, beta_loss="kullback-leibler", random_state=0, max_iter=30, tol=0)
    features = nmf.fit_transform(digits.data[:400])
    return features * np.linspace(0.2, 5.0, 12), digits.target[:400]


@pytest.mark.parametrize(
    "change",
    [
        {"scale": "none"},
        {"init_width": 1.0},
        {"init": "random"},
        {"optimizer": "multiplicative-at-once"},
        {"max_iter": 20},
    ],
)
def test_every_reading_of_the_updates_is_another_classifier(some_features, change):
    settings = {"optimizer": "multiplicative", "penalty": 0.0, "max_iter": 10, "tol": 0.0, "random_state": 0}
    models = [MixtureClassifier(2, **{**settings, **more}).fit(*some_features) for more in ({}, change)]
    one, other = (model.predict_proba(some_features[0]) for model in models)
    assert np.abs(one - other).max() > 1e-3
    assert models[1].objective_ > models[1].history_["objective"][0]


@pytest.mark.parametrize("training", ["contrastive", "em"])
def test_one_spread_takes_no_notice_of_units_and_none_only_of_different_ones(some_features, training):
    X, y = some_features
    settings = {"training": training, "penalty": 1e-3, "max_iter": 15, "covariance": "spherical", "tol": 0.0}

    def posterior(scale, unit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MixtureClassifier(2, scale=scale, random_state=0, **settings).fit(X * unit, y)
        return model.predict_proba(X * unit)

    units = np.linspace(1.0, 3.0, X.shape[1])
    assert np.allclose(posterior("spread", 1.0), posterior("spread", units), atol=1e-4)
    assert np.allclose(posterior("none", 1.0), posterior("none", 7.0), atol=1e-4)
    assert np.abs(posterior("none", 1.0) - posterior("none", units)).max() > 1e-2
    auto = "spread" if training == "contrastive" else "none"
    assert np.array_equal(posterior("auto", 1.0), posterior(auto, 1.0))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scale": "even"}, "scale must be one of"),
        ({"init_width": 0.0}, "init_width must be a number of at least 0.001"),
        ({"optimizer": "at-once"}, "optimizer must be one of"),
    ],
)
def test_wrong_readings_get_a_sentence(blobs, wrong, words):
    with pytest.raises(ValueError, match=words):
        MixtureClassifier(2, **wrong).fit(*blobs)


def answers(flips, seed=0, n=80):
    """Answers of three groups to eight questions, some of them turned round."""
    groups = np.array([[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1, 1]])
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (groups[y] ^ (rng.random((n, 8)) < flips)).astype(float), y


@pytest.mark.parametrize("parts", [None, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"optimizer": "multiplicative"}, {"training": "em"}, {"training": "em", "covariance": "diagonal"}],
)
def test_questionnaires_with_few_distinct_rows(parts, settings):
    (X, y), (Z, z) = answers(0.03), answers(0.2, seed=1)
    if parts:
        nmf = NMF(parts, random_state=0).fit(X)
        X, Z = nmf.transform(X), nmf.transform(Z)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = MixtureClassifier(random_state=0, **settings).fit(X, y)
    assert [str(one.message) for one in said if "distinct" in str(one.message)] == [
        "3 of 3 classes (for instance 0) have fewer distinct samples than n_mixtures=8; "
        "they get one component for each."
    ]
    assert model.score(X, y) > 0.97
    assert model.score(Z, z) > 0.7
    assert abs(model.history_["objective"][0]) < 50
    sure = model.predict_proba(Z)
    assert ((sure == 0) | (sure == 1)).mean() < 0.5
    if not settings:
        assert abs(sure.max(axis=1).mean() - model.score(Z, z)) < 0.2
        assert 0 < sure.min() < sure.max() < 1
        assert model.converged_
        assert model.n_iter_ > 2


def small_table(seed):
    """A few samples of one of five kinds, one in three with a constant feature, in one of three units."""
    rng = np.random.default_rng(seed)
    d, c = rng.integers(1, 7), rng.integers(2, 5)
    n = c if seed % 5 == 0 else rng.integers(c, 60)
    y = np.concatenate([np.arange(c), rng.integers(c, size=n - c)])
    X = [
        lambda: rng.gamma(1.0, 1.0, (n, d)),
        lambda: (rng.random((n, d)) < rng.random((c, d))[y]).astype(float),
        lambda: rng.gamma(1.0, 1.0, (2 * c, d))[2 * y + rng.integers(2, size=n)],
        lambda: rng.gamma(1.0, 1.0, (n, d)) + 2 * rng.random((c, d))[y],
        lambda: rng.poisson(3 * rng.random((c, d))[y]).astype(float),
    ][seed % 5]()
    if seed % 3 == 0:
        X[:, 0] = 3.0
    return X * (1.0, 1e-6, 1e6)[seed % 7 % 3], y


@pytest.mark.parametrize(
    "settings",
    [
        # (One penalty for both: chosen ones differ, and with them what is learned of so few samples.)
        {"penalty": 1e-4},
        {"init": "random", "penalty": 1e-4},
        {"scale": "none", "penalty": 1e-4},
        {"optimizer": "multiplicative"},
        {"training": "em"},
        {"training": "em", "covariance": "spherical"},
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_more_mixtures_are_no_worse_on_the_samples_they_learn_from(settings):
    settings = {"max_iter": 100, "random_state": 0, **settings}
    for seed in range(15):
        X, y = small_table(seed)
        many, one = (MixtureClassifier(k, **settings).fit(X, y) for k in (8, 1))
        assert many.score(X, y) > one.score(X, y) - 0.02, seed
        losses = [-m.predict_log_proba(X)[np.arange(len(y)), y].mean() for m in (many, one)]
        assert losses[0] < losses[1] + 0.05, seed
        # An exponent times the spread of its feature: how much a component's log-odds vary.
        vary = (many.exponents_ - many.exponents_.mean(axis=0)) * X.std(axis=0)
        assert np.abs(vary).max() < 5e3, seed
        assert (np.diff(many.history_["objective"]) > -1e-7).all(), seed


def test_components_say_how_many_samples_they_stand_for(tmp_path):
    """Simple classes need one component each: the others are in no sample, and must not pass for kinds of it."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    X = (0.1 + 0.9 * np.eye(3))[y] * rng.lognormal(0, 0.3, (150, 3))
    model = MixtureClassifier(4, random_state=0).fit(X, y)
    by_class = np.bincount(model.component_class_, model.component_samples_)
    np.testing.assert_allclose(by_class, 50, rtol=1e-6)
    idle = model.component_samples_ < 0.01
    assert idle.any()
    said = [part["sentence"] for part in model.summary()["parts"]]
    assert [one.endswith("not in use") for one in said] == idle.tolist()
    again = partwise.load(partwise.save(model, tmp_path / "model.partwise"))
    np.testing.assert_array_equal(again.component_samples_, model.component_samples_)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None, "b"] * 4, dtype="string"),
        pd.Series(["a", pd.NA, "b"] * 4, dtype=object),
        ["a", None, "b"] * 4,
        pd.Series(["a", "", "b"] * 4),
    ],
)
def test_samples_without_a_label_are_refused_in_a_sentence(y):
    with pytest.raises(ValueError, match=r"4 samples have no label, the first is sample 1\. Leave them out"):
        MixtureClassifier(1).fit(np.random.default_rng(0).random((12, 3)), y)
