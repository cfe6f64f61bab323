"""The bundled digits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from partwise.datasets import load_digits


def test_digits_are_flattened_images() -> None:
    digits = load_digits()
    assert digits.data.shape == (1797, 64)
    assert digits.data.dtype == np.float64
    np.testing.assert_array_equal(digits.images.reshape(1797, 64), digits.data)
    assert set(digits.target) == set(range(10))
    assert len(digits.feature_names) == 64
    assert digits.DESCR


def test_digits_as_frame() -> None:
    pandas = pytest.importorskip("pandas")
    digits = load_digits(as_frame=True)
    assert isinstance(digits.data, pandas.DataFrame)
    np.testing.assert_array_equal(digits.data.to_numpy(), load_digits().data)


def test_importing_datasets_stays_cheap() -> None:
    code = (
        "import sys, partwise; before = set(sys.modules); import partwise.datasets; "
        "print([m for m in ('sklearn', 'pooch', 'pandas') if m in set(sys.modules) - before])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
