"""A made-up estimator and a made-up prior, registered so that model files may name them."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from partwise.io import register_model, register_value


@register_value
@dataclass(frozen=True)
class FakePrior:
    shape: Any = 1.0
    rate: Any = 1.0
    doubled: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        if isinstance(self.rate, str):
            raise ValueError("rate must be a number")


@dataclass
class StrangerPrior:
    shape: float = 1.0


@register_model
class FakeFactorizer(BaseEstimator):
    _saved_attributes = ("state",)
    _unsaved_attributes = ("scratch_",)
    _unsaved_params = ("progress",)

    def __init__(
        self, n_components=2, prior=None, inner=None, callbacks=None, progress=None, random_state=None
    ):
        self.n_components = n_components
        self.prior = prior
        self.inner = inner
        self.callbacks = callbacks
        self.progress = progress
        self.random_state = random_state


class StrangerFactorizer(BaseEstimator):
    def __init__(self, n_components=2):
        self.n_components = n_components


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal in type and content, NaN equal to NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        if left.dtype != right.dtype or left.shape != right.shape:
            return False
        return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    if sp.issparse(left):
        return left.shape == right.shape and same(left.toarray(), right.toarray())
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (float, np.floating)):
        return bool(left == right or (left != left and right != right))
    if isinstance(left, (FakeFactorizer, FakePrior)):
        return same(vars(left), vars(right))
    return bool(left == right)


@pytest.fixture(scope="session")
def fake() -> SimpleNamespace:
    """The classes above, and ``same``."""
    return SimpleNamespace(
        Factorizer=FakeFactorizer,
        Prior=FakePrior,
        StrangerPrior=StrangerPrior,
        StrangerFactorizer=StrangerFactorizer,
        same=same,
    )


@pytest.fixture
def fitted() -> FakeFactorizer:
    """A model with one attribute of every kind that a model file keeps."""
    model = FakeFactorizer(
        n_components=3, prior=FakePrior(2.0, np.inf), inner=FakeFactorizer(1), random_state=7
    )
    model.inner.layers_ = [FakeFactorizer(9)]
    model.components_ = np.arange(6.0).reshape(2, 3)
    model.single_ = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    model.mask_ = np.array([True, False])
    model.counts_ = np.arange(3, dtype=np.uint8)
    model.labels_ = np.array(["a", "bé"])
    model.feature_names_in_ = np.array(["x", "y, z", ""], dtype=object)
    model.loss_ = np.float32(0.1)
    model.n_iter_ = 4
    model.history_ = [1.0, float("nan"), (2, None, float("-inf")), {"$array": "not one", "b": True}]
    model.weights_ = sp.csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0]]))
    model.weights2_ = sp.csr_array(np.eye(2))
    model.state = "warm"
    return model
