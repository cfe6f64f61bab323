"""The registry: which classes model files may name."""

from dataclasses import dataclass

import pytest
from sklearn.base import BaseEstimator

from partwise.io import register_model, register_value, registry


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Leave the registry as it was."""
    monkeypatch.setattr(registry, "_models", dict(registry._models))
    monkeypatch.setattr(registry, "_values", dict(registry._values))
    monkeypatch.setattr(registry, "_providers", list(registry._providers))


def test_decorators_return_the_class_and_register_it():
    @register_model
    class Registered(BaseEstimator):
        pass

    @register_value
    @dataclass
    class Value:
        a: int = 0

    assert registry.find_model("Registered") is Registered
    assert registry.find_value("Value") is Value
    assert "Registered" in registry.known_models()
    assert "Value" in registry.known_values()
    assert registry.find_model("Value") is None
    assert register_model(Registered) is Registered


def test_two_classes_of_one_name():
    first = register_model(type("Twin", (BaseEstimator,), {"__module__": "one"}))
    with pytest.raises(
        ValueError, match=r"The name Twin is already registered for one\.Twin; rename two\.Twin"
    ):
        register_model(type("Twin", (BaseEstimator,), {"__module__": "two"}))
    assert registry.find_model("Twin") is first
    again = register_model(type("Twin", (BaseEstimator,), {"__module__": "one"}))
    assert registry.find_model("Twin") is again


def test_only_estimators_and_dataclasses():
    with pytest.raises(TypeError, match="int has no get_params"):
        register_model(int)
    with pytest.raises(TypeError, match=r"int is not a dataclass .*above @dataclass"):
        register_value(int)


def test_providers_are_called_once_before_look_up():
    calls = []
    registry.provide_models(lambda: calls.append(1))
    assert calls == []
    registry.find_model("Nothing")
    registry.known_values()
    assert calls == [1]
