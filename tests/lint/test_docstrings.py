"""The docstring check of `make lint` finds what it is there to find."""

import pytest
from lint import docstrings

CHECKS = docstrings.configured_checks()


def complete(first, second=1):
    """Add two numbers.

    Parameters
    ----------
    first, second : float
        The numbers.

    Returns
    -------
    float
        Their sum.
    """
    return first + second


def lacks_a_parameter(first, second=1):
    """Add two numbers.

    Parameters
    ----------
    first : float
        The first number.

    Returns
    -------
    float
        Their sum.
    """
    return first + second


def has_an_unknown_parameter(first):
    """Print a number.

    Parameters
    ----------
    first, third : float
        The numbers.
    """


def lacks_returns(first):
    """Give a number back.

    Parameters
    ----------
    first : float
        The number.
    """
    return first


def only_annotated() -> float:
    """Give a number back, in a subclass."""
    raise NotImplementedError


def undocumented():
    pass


class Base:
    """A class with one method."""

    def method(self, value: float) -> float:
        """Double a number.

        Parameters
        ----------
        value : float
            The number.

        Returns
        -------
        float
            Twice the number.
        """
        return 2 * value

    def _hidden(self, value):
        pass

    @property
    def size(self):
        """Number of things."""
        return 0


class Same(Base):
    """Leaves the parameters to the base."""

    def method(self, value: float) -> float:
        """Double a number by adding it to itself."""
        return value + value


class Other(Base):
    """Takes a parameter that the base does not have."""

    def method(self, value: float, times: int = 2) -> float:
        """Multiply a number."""
        return value * times


class Estimator(Same):
    """Looks like a scikit-learn estimator."""

    def get_params(self):
        """Nothing to set."""


def codes(value):
    return {line.split(": ")[1][:4] for line in docstrings.all_faults(value, CHECKS)}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (complete, set()),
        (lacks_a_parameter, {"PR01"}),
        (has_an_unknown_parameter, {"PR02"}),
        (lacks_returns, {"RT01"}),
        (only_annotated, {"RT01"}),
        (undocumented, {"GL08"}),
        (Base, set()),
        (Same, set()),
        (Other, {"PR01", "RT01"}),
        (Estimator, {"PR01", "RT01"}),
    ],
)
def test_each_fault_is_found(value, found):
    assert codes(value) == found


def test_every_exported_name_and_its_methods_are_documented():
    names = {value.__qualname__ for value in docstrings.exported()}
    assert {"NMF", "BinaryNMF", "BooleanMF", "MixtureClassifier", "load_digits", "Problem", "read"} <= names
    assert docstrings.main() == 0
