"""The penalty of `MixtureClassifier` is chosen on few samples too, and its answers are then not sure and wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from partwise import MixtureClassifier
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Labelled, held_out_loss
from partwise.mixture.penalty import FEW, RISING, UNCHOSEN, held_out


def answers(n, rng):
    """Two kinds of people and six questions, of which two tell nothing."""
    kind = rng.integers(0, 2, n)
    yes = np.where(kind[:, None] == 0, [0.9, 0.9, 0.1, 0.1, 0.5, 0.5], [0.1, 0.1, 0.9, 0.9, 0.5, 0.5])
    return (rng.random((n, 6)) < yes).astype(float), kind


def log_loss(model, X, y):
    return -np.log(np.maximum(model.predict_proba(X)[np.arange(len(y)), y], 1e-300)).mean()


@pytest.mark.parametrize("n", [30, 100, 199])
def test_answers_from_few_samples_are_as_sure_as_those_of_logistic_regression(n):
    ours, theirs = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = answers(n, rng)
        new, truth = answers(1000, rng)
        model = MixtureClassifier(1, random_state=0).fit(X, y)
        assert model.penalty_ in model.penalties_["penalty"]
        tried = model.penalties_["penalty"]
        assert tried == list(FEW[: len(tried)])
        assert tried == list(FEW) or min(model.penalties_["loss"][-RISING:]) > min(model.penalties_["loss"])
        assert model.predict_proba(new).min() > 1e-6
        ours.append(log_loss(model, new, truth))
        theirs.append(log_loss(LogisticRegression().fit(X, y), new, truth))
    assert np.mean(ours) < 1.05 * np.mean(theirs)


def test_labels_that_features_say_nothing_of_get_the_strongest_penalties():
    rng = np.random.default_rng(0)
    X, y = rng.random((150, 5)), rng.integers(0, 2, 150)
    model = MixtureClassifier(1, random_state=0).fit(X, y)
    assert model.penalty_ >= 0.1
    assert model.predict_proba(X).min() > 0.3


def test_where_one_class_has_no_sample_to_spare_the_penalty_is_strong():
    rng = np.random.default_rng(0)
    X, y = rng.random((12, 3)), np.array([0] * 11 + [1])
    model = MixtureClassifier(1, random_state=0).fit(X, y)
    assert (model.penalty_, model.penalties_["penalty"]) == (UNCHOSEN, [])


def test_two_samples_of_each_class_suffice_for_a_choice():
    rng = np.random.default_rng(0)
    X, y = np.vstack([rng.random((2, 4)), rng.random((2, 4)) + 1.0]), np.array([0, 0, 1, 1])
    model = MixtureClassifier(1, random_state=0).fit(X, y)
    assert model.penalty_ in model.penalties_["penalty"]


def test_folds_hold_out_every_sample_once_and_never_a_whole_class():
    y = np.repeat([0, 1, 2], [2, 7, 41])
    data = Labelled(np.arange(50.0)[:, None], y, np.ones(50))
    splits = held_out(data, 0.1, np.random.default_rng(0), folds=10, least=1)
    assert sorted(np.concatenate([held.X[:, 0] for _, held in splits])) == list(range(50))
    for part, held in splits:
        assert set(part.y) == {0, 1, 2}
        assert len(held.y) >= 4


def test_doubt_counts_what_the_posterior_leaves_to_other_classes():
    held = Labelled(np.ones((4, 1)), np.zeros(4, np.int64), np.ones(4))
    sure = Components.of(np.array([[10.0], [0.0]]), np.zeros(2), np.array([1, 1]))
    p = 1 / (1 + np.exp(-10.0))
    assert held_out_loss(held, sure)[1] == pytest.approx(-np.log(p))
    assert held_out_loss(held, sure, 0.25)[1] == pytest.approx(-0.75 * np.log(p) - 0.25 * np.log(1 - p))
