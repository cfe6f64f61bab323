"""Codes for missing answers among the numbers of a scale."""

import numpy as np
import pytest

from partwise.io import read

RNG = np.random.default_rng(0)


def scale(low, high, columns, codes=(), rows=60):
    """Answers of a scale, every fifteenth replaced by one of the codes."""
    X = RNG.integers(low, high + 1, size=(rows, columns)).astype(float)
    X[: high - low + 1] = np.arange(low, high + 1)[:rows, None]
    for i, code in enumerate(codes):
        X[20 + i :: 15] = code
    return X


@pytest.fixture
def notes(tmp_path):
    def write(*blocks, **options):
        X = np.hstack(blocks)
        names = ",".join(f"q{i}" for i in range(X.shape[1]))
        np.savetxt(tmp_path / "a.csv", X, delimiter=",", header=names, comments="", fmt="%g")
        return " ".join(read(tmp_path / "a.csv", **{"yes_no": "answers", **options}).notes)

    return write


@pytest.mark.parametrize(("low", "high"), [(1, 5), (1, 7), (0, 4), (1, 4)])
@pytest.mark.parametrize("code", [9, 99, 999, -9, -99, 97, 98])
def test_codes_beside_a_scale_are_told(notes, low, high, code):
    said = notes(scale(low, high, 4, [code]))
    assert f"beside answers from {low} to {high} there is {code} in 4 columns (12 cells), as in 'q0'" in said
    assert f"If it marks missing answers, add --missing {code} (in Python: missing=)" in said
    assert notes(scale(low, high, 4, [code]), missing=str(code)) == ""


def test_several_codes_and_scales(notes):
    said = notes(scale(1, 5, 3, [9, 8]), scale(0, 10, 2, [99]), RNG.normal(40, 9, size=(60, 1)))
    assert (
        "8 in 3 columns (9 cells), as in 'q0', 9 in 3 columns (9 cells), as in 'q0', 99 in 2 columns" in said
    )
    assert "add --missing 8 --missing 9 --missing 99" in said


def test_a_code_among_one_and_two_is_told_once(notes):
    said = notes(scale(1, 2, 4, [9]))
    assert said.count("missing answers") == 1


@pytest.mark.parametrize(
    "blocks",
    [
        [scale(0, 10, 4)],
        [scale(1, 9, 4)],
        [scale(1, 5, 4)],
        [scale(1, 5, 3), scale(1, 5, 1, [9])],  # one column alone
        [scale(18, 99, 4)],
        [RNG.poisson(1.0, size=(60, 8)).astype(float)],
        [scale(0, 3, 2, [9]), RNG.poisson(3.0, size=(60, 8)).astype(float)],  # counts with a large one
        [scale(0, 99, 6), scale(1, 5, 2, [99])],  # a table of other numbers
        [np.array([[1, 3, 5, 9], [10, 2, 6, 8], [9, 9, 9, 1], [3, 1, 1, 5], [9, 5, 5, 3]], dtype=float)],
    ],
)
def test_other_numbers_are_not_doubted(notes, blocks):
    assert "missing answers" not in notes(*blocks)


def test_only_where_answers_are_looked_for(notes):
    assert notes(scale(1, 5, 4, [9]), yes_no=False) == ""
