"""Random numbers inside compiled kernels: a stream of its own for every row.

A kernel that splits its rows over threads must draw the same numbers whatever the number of threads. So a step draws
two 64-bit keys from its `numpy.random.Generator`, and every row (or entry) begins a stream at a place that follows
from the keys and its own number. A stream is SplitMix64 (Steele, Lea & Flood 2014) with an increment of its own.
"""

from __future__ import annotations

import numpy as np

from partwise.jit import leaf, njit
from partwise.matrix import InMemory

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_MIX_3 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_4 = np.uint64(0xC4CEB9FE1A85EC53)
_ONE = np.uint64(1)
_S11, _S27, _S30, _S31, _S33 = (np.uint64(bits) for bits in (11, 27, 30, 31, 33))
_UNIT = 2.0**-53

#: Size of the array that holds where a stream stands: its state and its increment.
STREAM_SIZE = 2


def draw_keys(rng: np.random.Generator) -> np.ndarray:
    """Two keys for the streams of one call of a kernel.

    Parameters
    ----------
    rng : Generator
        Where they are drawn from.

    Returns
    -------
    array of uint64 of shape (2,)
        The keys.
    """
    return rng.integers(0, 2**64, size=2, dtype=np.uint64)


#: Rows that are numbered by their place.
BY_PLACE = np.empty(0, np.int64)


@leaf(forceinline=True)
def mixed(z: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the result depends on every bit of z."""
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return z ^ (z >> _S31)


@leaf(forceinline=True)
def begin_stream(keys: np.ndarray, number: int, stream: np.ndarray) -> None:
    """Set `stream` (an array of uint64 of shape (2,)) to the beginning of the stream of this number."""
    place = mixed(np.uint64(number) * _GOLDEN + keys[0])
    z = place + keys[1]
    z = (z ^ (z >> _S33)) * _MIX_3
    z = (z ^ (z >> _S33)) * _MIX_4
    stream[0] = place
    stream[1] = (z ^ (z >> _S33)) | _ONE


@leaf(forceinline=True)
def bits(stream: np.ndarray) -> np.uint64:
    """The next number of a stream: 64 bits."""
    stream[0] += stream[1]
    return mixed(stream[0])


@leaf(forceinline=True)
def uniform(stream: np.ndarray) -> float:
    """The next number of a stream, uniform on (0, 1); neither 0 nor 1 occurs."""
    return (np.float64(bits(stream) >> _S11) + 0.5) * _UNIT


def row_numbers(X: InMemory) -> np.ndarray:
    """A number for each row that depends on its entries alone, not on its place among the rows.

    Streams of these numbers give a row the same draws whichever rows are transformed with it.

    Parameters
    ----------
    X : InMemory
        The rows.

    Returns
    -------
    array of int64 of shape (n_rows,)
        A hash of the nonzero entries and their columns.
    """
    numbers = np.zeros(X.shape[0], np.uint64)
    for slab in X.packed(0, X.shape[0]):
        bits = slab.u.astype(np.float64).view(np.uint64)
        _hash_rows(slab.indptr, slab.indices, bits, numbers[slab.start : slab.stop])
    return numbers.view(np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def _hash_rows(indptr: np.ndarray, indices: np.ndarray, bits: np.ndarray, numbers: np.ndarray) -> None:
    """Sums of hashed entries, so that the order of a row's entries does not matter."""
    dense = indices.shape[0] == 0
    for i in range(numbers.shape[0]):
        total = np.uint64(0)
        for e in range(indptr[i], indptr[i + 1]):
            if bits[e] << _ONE != np.uint64(0):  # neither 0 nor −0
                j = e - indptr[i] if dense else np.int64(indices[e])
                total += mixed(bits[e] + mixed(np.uint64(j) * _GOLDEN + _GOLDEN))
        numbers[i] = mixed(total)
