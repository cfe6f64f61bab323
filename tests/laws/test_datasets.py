"""Laws of data sets: every registered one."""

import inspect

import numpy as np
import pytest

from partwise.datasets import dataset_names, fetch, register_dataset
from partwise.datasets._catalogue import _functions

#: What the generators must be told.
SIZES = {"low_rank": (30, 8, 3), "boolean": (30, 20, 3)}
#: A signal has one axis, and both signs.
SIGNALS = ("chord",)


def named(verb):
    return [name for name in dataset_names() if _functions[name].__name__.startswith(verb)]


@pytest.mark.parametrize("name", named("make_"))
def test_a_generator_repeats_itself_for_a_seed_and_is_not_negative(name):
    known = inspect.signature(_functions[name]).parameters
    sizes = dict(zip(known, SIZES.get(name, ())))
    first, again = (fetch(name, **sizes, random_state=0).data for _ in range(2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, fetch(name, **sizes, random_state=1).data)
    assert first.ndim == (1 if name in SIGNALS else 2)
    assert first.min() >= 0 or name in SIGNALS


@pytest.mark.parametrize("name", named("load_"))
def test_data_that_come_along_need_no_file(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    data = fetch(name).data
    if isinstance(data, list):
        assert data
        assert all(isinstance(text, str) for text in data)
        return
    assert data.ndim == 2
    assert data.min() >= 0


@pytest.mark.parametrize("name", named("fetch_"))
def test_a_file_that_is_not_there_is_named(name, tmp_path, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"there is no file \S+ in it\. Put the file there \(see http"
    ):
        fetch(name)


def test_names_that_are_not_there_and_names_that_cannot_be():
    with pytest.raises(ValueError, match=r"no data set is called 'digit'; there are .*Did you mean digits\?"):
        fetch("digit")
    with pytest.raises(ValueError, match="make_NAME, load_NAME or fetch_NAME; got named"):
        register_dataset(named)

    def load_digits():
        return None

    with pytest.raises(ValueError, match=r"'digits' is already registered, by partwise\.datasets\._digits"):
        register_dataset(load_digits)
