"""A sparse matrix whose parts do not fit together is refused by a sentence before any compiled loop follows them."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import NMF, BinaryNMF, BooleanMF
from partwise.matrix import Sparse
from partwise.priors import Graph

A = (np.arange(48).reshape(8, 6) % 3 == 0).astype(float)


def forged(kind, **parts):
    """A sparse matrix of the format, with some of its parts replaced or changed."""
    X = kind(A)
    for name, change in parts.items():
        value = change(getattr(X, name).copy()) if callable(change) else change
        object.__setattr__(X, name, value)
    return X


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def lil(**parts):
    X = sp.lil_array(A)
    for name, (row, values) in parts.items():
        getattr(X, name)[row] = values
    return X


def dok():
    X = sp.dok_array(A)
    X._dict[(10**9, 0)] = 1.0
    return X


FORGED = {
    "csr index too high": (
        forged(sp.csr_array, indices=put(0, 10**9)),
        "indices holds 1000000000, outside of 0 … 5",
    ),
    "csr index negative": (forged(sp.csr_matrix, indices=put(3, -7)), "indices holds -7"),
    "csc index too high": (forged(sp.csc_array, indices=put(-1, 10**8)), "outside of 0 … 7"),
    "indptr too high": (forged(sp.csr_array, indptr=put(-1, 10**9)), "beyond the 16 stored"),
    "indptr falls": (forged(sp.csr_array, indptr=put(3, 0)), "indptr falls at place 3"),
    "indptr negative": (forged(sp.csc_matrix, indptr=put(0, -5)), "begins with -5"),
    "indptr too short": (
        forged(sp.csr_array, indptr=lambda p: p[:4]),
        "4 numbers, where the shape asks for 9",
    ),
    "too few values": (forged(sp.csr_array, data=lambda d: d[:3]), "16 indices and values of shape"),
    "indices of floats": (forged(sp.csr_array, indices=lambda i: i * 1.0), "float64, not int32"),
    "no indices": (forged(sp.csr_array, indices=None), "not an array"),
    "more rows than pointers": (forged(sp.csr_array, _shape=(10**6, 6)), "asks for 1,000,001"),
    "fewer columns": (forged(sp.csr_array, _shape=(8, 2)), "outside of 0 … 1"),
    "bsr index": (
        forged(lambda a: sp.bsr_array(a, blocksize=(2, 2)), indices=put(0, 10**8)),
        "outside of 0 … 2",
    ),
    "bsr block of size zero": (
        forged(sp.bsr_array, data=np.zeros((48, 0, 1))),
        r"blocks have shape \(0, 1\)",
    ),
    "coo row": (forged(sp.coo_matrix, row=put(0, 10**8)), r"coords\[0\] holds 100000000"),
    "coo column": (forged(sp.coo_array, col=put(2, -1)), r"coords\[1\] holds -1"),
    "coo too few": (forged(sp.coo_array, data=lambda d: d[:3]), "16 numbers for 3 values"),
    "dia offsets": (forged(sp.dia_array, offsets=put(0, -(2**31) + 1)), "an offset lies outside"),
    "dia too few": (forged(sp.dia_array, data=lambda d: d[:1]), "offsets and values of shape"),
    "lil column": (lil(rows=(0, [10**8]), data=(0, [1.0])), "rows holds 100000000"),
    "lil lengths": (lil(rows=(0, [0, 1, 2])), "more columns than values"),
    "dok key": (dok(), "axis 0 holds 1000000000"),
}


@pytest.mark.parametrize("name", FORGED)
@pytest.mark.parametrize("model", [NMF(2, max_iter=2), BooleanMF(2), BinaryNMF(2, max_iter=2)])
def test_a_forged_matrix_is_refused_by_every_model(model, name):
    X, words = FORGED[name]
    with pytest.raises(ValueError, match=f"damaged sparse matrix.*{words}"):
        model.fit(X)


@pytest.mark.parametrize("name", FORGED)
def test_so_are_forged_weights_graphs_row_blocks_and_matrices(name):
    X, words = FORGED[name]
    refused = pytest.raises(ValueError, match=f"damaged sparse matrix.*{words}")
    with refused:
        NMF(2).fit(A, weights=X)
    with refused:
        BooleanMF(2).fit(A, weights=X)
    with refused:
        NMF(2).fit(lambda: iter([A, X]))
    with refused:
        Graph(X)
    with refused:
        Sparse.of(X)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_matrices_as_scipy_makes_them_are_taken(kind, make):
    X = getattr(sp, f"{kind}_{make}")(A)
    found = NMF(2, max_iter=5, tol=0).fit_transform(X)
    assert np.array_equal(found, NMF(2, max_iter=5, tol=0).fit_transform(sp.csr_array(A)))


def test_diagonals_outside_of_the_matrix_hold_nothing():
    X = sp.dia_array((np.ones((2, 4)), [0, 9]), shape=(4, 4))
    assert NMF(2, max_iter=2).fit(X).n_features_in_ == 4
