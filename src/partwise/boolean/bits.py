"""Bit matrices packed into 64-bit words, row by row; bits beyond the last column are zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from partwise.jit import njit
from partwise.parallel import over_rows


def words(n_columns: int) -> int:
    """Number of 64-bit words in a packed row of `n_columns` bits."""
    return -(-n_columns // 64)


def pack(A: Any) -> np.ndarray:
    """Pack a dense or sparse 0/1 matrix (n × m); returns an array of uint64 of shape (n, words(m))."""
    if hasattr(A, "tocsr"):
        A = A.tocsr()
        out = np.zeros((A.shape[0], words(A.shape[1])), np.uint64)
        on = A.data != 0
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[on]
        columns = A.indices[on].astype(np.int64)
        np.bitwise_or.at(out, (rows, columns // 64), np.uint64(1) << (columns % 64).astype(np.uint64))
        return out
    A = np.asarray(A, dtype=bool)
    padded = np.zeros((A.shape[0], 64 * words(A.shape[1])), dtype=bool)
    padded[:, : A.shape[1]] = A
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(P: np.ndarray, n_columns: int) -> np.ndarray:
    """Unpack a packed matrix; returns an array of bool with `n_columns` columns."""
    bytes_ = np.ascontiguousarray(P).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(bytes_, axis=1, bitorder="little")[:, :n_columns].astype(bool)


def _count_bits(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


#: Number of set bits of a word: one machine instruction, callable from compiled code only.
popcount: Any = intrinsic(_count_bits)


@njit(cache=True, nogil=True)
def count_rows(P: np.ndarray, out: np.ndarray) -> None:
    """Write the number of set bits of each row of `P` into `out`."""
    for i in range(P.shape[0]):
        total = 0
        for w in range(P.shape[1]):
            total += popcount(P[i, w])
        out[i] = total


def count(P: np.ndarray) -> np.ndarray:
    """Number of set bits in each row, as an array of int64."""
    out = np.empty(len(P), np.int64)
    over_rows(lambda a, b: count_rows(P[a:b], out[a:b]), len(P), grain=1024)
    return out


@njit(cache=True, nogil=True)
def product_rows(usage: np.ndarray, tiles: np.ndarray, out: np.ndarray) -> None:
    """Rows of the Boolean product: the OR of the tiles that a row uses (Gonsior 2019, equation 2.1)."""
    n, k = usage.shape
    for i in range(n):
        for w in range(tiles.shape[1]):
            out[i, w] = 0
        for t in range(k):
            if usage[i, t]:
                for w in range(tiles.shape[1]):
                    out[i, w] |= tiles[t, w]


def product(usage: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """Boolean product of a usage (n × k, bool) and packed tiles (k × words); returns it packed, n × words."""
    out = np.empty((len(usage), tiles.shape[1]), np.uint64)
    over_rows(lambda a, b: product_rows(usage[a:b], tiles, out[a:b]), len(usage), grain=256)
    return out


def wrong(P: np.ndarray, Q: np.ndarray, observed: np.ndarray | None = None) -> int:
    """Number of bits in which two packed matrices differ, among the `observed` ones where these are given."""
    difference = P ^ Q
    return int(count(difference if observed is None else difference & observed).sum())


@njit(cache=True, nogil=True)
def weigh_rows(P: np.ndarray, weight: np.ndarray, out: np.ndarray) -> None:
    """Write the total weight of the set bits of each row into `out`.

    `weight` has the weight of a bit in each plane; the planes of a row stand side by side (see `bit_table.Side`).
    """
    width = P.shape[1] // weight.shape[0]
    for i in range(P.shape[0]):
        total = 0.0
        for p in range(weight.shape[0]):
            count = 0
            for w in range(p * width, (p + 1) * width):
                count += popcount(P[i, w])
            total += weight[p] * count
        out[i] = total


def weigh(P: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Total weight of the set bits in each row; `weight` has the weight of a bit in each plane."""
    out = np.empty(len(P))
    over_rows(lambda a, b: weigh_rows(P[a:b], weight, out[a:b]), len(P), grain=1024)
    return out
