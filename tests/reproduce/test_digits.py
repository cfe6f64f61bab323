"""The readings of Lee, Seung & Saul: each switch does something, and steps are chosen without the test errors."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from partwise.datasets import load_digits
from partwise.mixture.components import Components
from partwise.reproduce import digits, digits_features
from partwise.reproduce.digits import COVARIANCES, curve_table, reproduce_digits
from partwise.reproduce.digits_claims import change, dressings
from partwise.reproduce.digits_classwise import ClasswiseGaussians
from partwise.reproduce.digits_reading import PUBLISHED, Reading, chosen_steps, training_curve


@pytest.fixture(scope="module")
def data():
    """What `prepare` returns, of few images; the first digit is rarer than the others."""
    bundled = load_digits()
    kept = np.flatnonzero((bundled.target > 0) | (np.arange(len(bundled.target)) % 4 == 0))
    X = bundled.data[kept].astype(np.float32).reshape(-1, 8, 4, 2).sum(axis=3).reshape(-1, 32)
    y = bundled.target[kept]
    return {"nmf_train": X[:500], "y_train": y[:500], "nmf_test": X[500:700], "y_test": y[500:700]}


@pytest.mark.parametrize(
    "change", [{}, {"scale": "none"}, {"init": "random"}, {"init_width": 1.0}, {"at_once": True}]
)
def test_a_curve_is_the_classifier_after_each_number_of_steps(data, change):
    reading = Reading(**change)
    for row in training_curve(data, 2, reading, grid=(3, 12)):
        model = reading.classifier(2, int(row["steps"])).fit(data["nmf_train"], data["y_train"])
        wrong = 100 * (1 - model.score(data["nmf_test"], data["y_test"]))
        assert row["test_error"] == pytest.approx(wrong, abs=0.51)
        assert row["objective"] == pytest.approx(model.objective_, rel=1e-4)


def test_balanced_digits_count_the_same(data):
    weight = Reading(balanced=True).weights(data["y_train"])
    assert np.bincount(data["y_train"], weights=weight) == pytest.approx(np.full(10, 50.0))
    assert Reading().weights(data["y_train"]) == pytest.approx(1.0)


def curves(train_at, test):
    """Made-up curves: the training errors are off by `train_at` of the steps, test errors are `test`."""
    return {
        K: [
            {"steps": steps, "train_error": errors[0] + off, "test_error": test}
            for steps, off in train_at.items()
        ]
        for K, errors in PUBLISHED["CL-NMF80"].items()
    }


@pytest.mark.parametrize("test", [0.0, 3.3, 50.0])
def test_steps_are_chosen_by_training_errors_alone(test):
    best = chosen_steps(curves({100: 0.9, 200: -0.1, 300: -0.4}, test))
    assert best["steps"] == 200
    assert best["train"] == pytest.approx(0.1)
    table = curve_table(curves({100: 0.9, 200: -0.1, 300: -0.4}, test), 200)
    assert [row[3] for row in table["rows"]] == ["200"] * 5


def test_the_command_keeps_its_curves_and_goes_on_from_them(tmp_path, monkeypatch):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    settings = {"quick": True, "choose_steps": True, "most_steps": 50}
    found = reproduce_digits(tmp_path, largest=1, **settings)
    assert found["chosen"]["steps"] in (25, 50)
    assert (tmp_path / "digits-steps.json").exists()
    calls = []
    monkeypatch.setattr(
        digits, "training_curve", lambda data, K, *rest: calls.append(K) or found["curves"]["1"]
    )
    again = reproduce_digits(tmp_path, largest=2, **settings)
    assert calls == [2], "that of K = 1 was kept"
    assert again["curves"]["1"] == found["curves"]["1"]
    reproduce_digits(tmp_path, largest=1, init="random", **settings)
    assert calls == [2, 1], "another reading has curves of its own"


def strokes():
    """Images of 28 × 28 pixels like those of MNIST."""
    bundled = load_digits()
    images = np.kron(bundled.images[:240], np.ones((1, 3, 3)))
    pictures = np.zeros((240, 28, 28), np.float32)
    pictures[:, 2:26, 2:26] = images
    return SimpleNamespace(
        data=pictures.reshape(240, -1), is_train=np.arange(240) < 200, target=bundled.target[:240]
    )


@pytest.mark.parametrize("switch", [{"center": "box"}, {"tol": 0.5}])
def test_switches_of_the_features_change_them_and_are_kept_apart(switch, tmp_path, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    monkeypatch.setattr(digits_features, "fetch_mnist", strokes)
    one = digits_features.prepare(tmp_path, False, 0)
    other = digits_features.prepare(tmp_path, False, 0, **switch)
    assert not np.allclose(one["nmf_train"], other["nmf_train"], rtol=1e-2)
    again = digits_features.prepare(tmp_path, False, 0, **switch)
    assert np.array_equal(again["nmf_train"], other["nmf_train"])


def test_the_covariances_of_the_command_differ_and_a_wrong_one_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    found = reproduce_digits(tmp_path, quick=True, paper=True, steps=2)
    errors = [
        tuple(row["test_error"] for row in found["table"] if (row["model"], row["covariance"]) == kind)
        for kind in (("EM-NMF80", name) for name in COVARIANCES)
    ]
    assert len(set(errors)) == len(COVARIANCES)
    assert found["tables"]["errors"]["columns"][:2] == ["K", "CL-NMF80"]
    with pytest.raises(ValueError, match="--covariance must be all or one of spherical"):
        reproduce_digits(tmp_path, covariance="full")


def test_one_full_covariance_for_each_class_is_quadratic_discriminant_analysis(data):
    rng = np.random.default_rng(0)
    X = data["nmf_train"][:, 8:16] + 0.5 * rng.standard_normal((500, 8))
    y = data["y_train"]
    theirs = QuadraticDiscriminantAnalysis().fit(X, y).predict(X)
    ours = ClasswiseGaussians(1, "tied").fit(X, y).predict(X)
    assert np.mean(theirs == ours) > 0.99


def test_dressed_features_have_the_scores_of_the_plain_ones(data):
    rng = np.random.default_rng(0)
    X = data["nmf_train"][:, 6:14].astype(float)
    start = Components.of(rng.normal(size=(6, 8)), rng.normal(size=6), np.array([2, 4]))
    for way in dressings(X):
        Z = way.features(X)
        assert Z.min() >= -1e-9, way.name
        assert np.allclose(way.components(start).class_scores(Z), start.class_scores(X)), way.name
        if way.mixing is not None and "mean" in way.name:
            assert np.allclose(Z.sum(axis=1), X.sum(axis=1)), "mixing keeps η"


def test_the_change_of_the_test_error_has_the_standard_error_of_its_images():
    row = {"test_error": [3.0, 3.2], "only_8": 60, "only_16": 40, "n_test": 10_000}
    assert change(row) == "+0.20 ± 0.10"
    assert change({**row, "test_error": [3.0, 3.0]}) == "+0.00 ± 0.10"
