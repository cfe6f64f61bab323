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
