"""What is no table of numbers is refused in a sentence that says what it is."""

import io

import numpy as np
import pandas as pd
import pytest

from partwise import NMF, BooleanMF, load
from partwise.io import ModelFileError


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (lambda: iter([np.ones((3, 2))]), "X is a function"),
        ({"a": [1.0, 2.0]}, "X is a dict"),
        (pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-02"]), "a": [1.0, 0.0]}), "dates"),
    ],
)
def test_kinds_of_x(X, words):
    with pytest.raises(ValueError, match=words):
        BooleanMF(1).fit(X)


def test_dates_in_a_table_for_nmf():
    X = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-02"]), "a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="dates beside numbers"):
        NMF(1).fit(X)


@pytest.mark.parametrize(("given", "kind"), [(b"abc", "bytes"), (io.StringIO("abc"), "StringIO")])
def test_what_no_model_can_be_loaded_from_is_named(given, kind):
    with pytest.raises(ModelFileError, match=f"type {kind} cannot be loaded from"):
        load(given)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"callbacks": print}, "callbacks must be a list of callables"),
        ({"callbacks": 1}, "callbacks must be a list of callables"),
        ({"verbose": "x"}, "verbose must be a whole number"),
        ({"tol": np.inf}, "tol must be a finite number"),
    ],
)
def test_settings_of_another_kind(settings, words):
    with pytest.raises(ValueError, match=words):
        NMF(1, **settings).fit(np.ones((3, 2)))


def test_a_function_that_returns_no_blocks():
    with pytest.raises(
        ValueError, match="must return row blocks, as a list or a generator; it returned nothing"
    ):
        NMF(1).fit(lambda: None)


def test_blocks_without_rows_are_passed_over():
    X = np.random.default_rng(0).random((12, 4))
    whole = NMF(2, random_state=0).fit(lambda: iter([X[:5], X[5:]]))
    gaps = NMF(2, random_state=0).fit(lambda: iter([X[:0], X[:5], X[:0], X[5:], X[:0]]))
    np.testing.assert_array_equal(whole.components_, gaps.components_)


def test_probabilities_are_no_usage():
    model = BooleanMF(1).fit(np.eye(4, dtype=bool).repeat(3, axis=0).repeat(3, axis=1))
    usage = np.ones((1, len(model.components_)))
    assert model.inverse_transform(usage).dtype == bool
    with pytest.raises(ValueError, match="choose from which"):
        model.inverse_transform(0.5 * usage)
