"""Rows of any size have the parts of the same row in other units."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize(
    ("loss", "kind", "dtype"),
    [
        ("kl", "dense", np.float64),
        ("kl", "dense", np.float32),
        ("kl", "fortran", np.float32),
        ("kl", "sparse", np.float32),
        ("kl", "missing", np.float64),
        (1.5, "dense", np.float32),
        ("itakura-saito", "dense", np.float64),
    ],
)
def test_rows_of_any_size_are_transformed_as_those_of_the_fit(loss, kind, dtype):
    """A constant that keeps logarithms finite explained small rows by itself, and W was zero without a word."""
    rng = np.random.default_rng(0)
    X = (rng.random((40, 3)) @ rng.random((3, 12)) + 0.01).astype(dtype)
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    model = NMF(3, beta_loss=loss, random_state=0, max_iter=100).fit(X)

    def transformed(rows):
        form = {"fortran": np.asfortranarray, "sparse": sp.csr_matrix}.get(kind, np.asarray)
        return model.transform(form(rows))

    expected = transformed(X[:6])
    # (Powers of two, so that rows have the same digits.)
    for exponent in (-12, -40, -100):
        found = np.ldexp(transformed(np.ldexp(X[:6], exponent)), -exponent)
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=1e-3 * expected.max())
    mixed = transformed(np.concatenate([X[:3], np.ldexp(X[3:6], -60)]))
    if loss == "kl":
        assert np.array_equal(mixed[:3], expected[:3])
    np.testing.assert_allclose(np.ldexp(mixed[3:], 60), expected[3:], rtol=2e-3, atol=1e-3 * expected.max())


def test_a_fit_of_rows_of_all_sizes_has_their_parts():
    rng = np.random.default_rng(1)
    W = rng.random((60, 2)) * 10.0 ** rng.uniform(-12, 0, (60, 1))
    X = (W @ rng.random((2, 15))).astype(np.float32)
    model = NMF(2, beta_loss="kl", random_state=0, max_iter=500)
    found = model.fit_transform(X)
    assert np.array_equal(found, model.transform(X))
    rebuilt = found @ model.components_
    assert np.median(np.abs(rebuilt - X).sum(axis=1) / X.sum(axis=1)) < 0.05
    assert (found.sum(axis=1) > 0).all()
