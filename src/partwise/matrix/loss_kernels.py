"""Loops over entries that call a loss's scalar functions; `kernels_for` compiles them for one loss.

In the templates, `divergence`, `pull`, `push` and `drag` stand for the functions of the loss, and `DRAG` says whether
it has a `drag`. Each works on a range of rows and touches no other.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from partwise.losses import Loss, ScalarFunctions
from partwise.specialise import specialised

# Sums may be reassociated (that is what lets them use vector instructions); infinities and NaN stay honest.
_FAST = {"reassoc", "contract", "nsz", "arcp"}

#: Stand-ins for the names that `specialised` replaces.
divergence: Any = None
pull: Any = None
push: Any = None
drag: Any = None
DRAG = False


class LossKernels(NamedTuple):
    """The templates below, compiled for one loss."""

    dense_ratios: Any
    dense_divergence: Any
    sparse_ratios: Any
    sparse_divergence: Any
    zero_push: Any
    zero_divergence: Any


def kernels_for(loss: Loss) -> LossKernels:
    """The compiled loops of a loss; the same object for losses that share their scalar functions."""
    return _compiled(loss.functions)


@functools.cache
def _compiled(functions: ScalarFunctions) -> LossKernels:
    names: dict[str, Any] = {
        "divergence": functions.divergence,
        "pull": functions.pull,
        "push": functions.push,
        "drag": functions.drag or functions.pull,
        "DRAG": functions.drag is not None,
    }
    make = functools.partial(specialised, tag=functions.name, functions=names)
    return LossKernels(
        make(dense_ratios, fastmath=_FAST),
        # (The flag is for the sum alone: the functions of a loss keep the arithmetic they were compiled with.)
        make(dense_divergence, fastmath={"reassoc"}),
        make(sparse_ratios, fastmath=_FAST),
        make(sparse_divergence),
        make(zero_push, fastmath=_FAST),
        make(zero_divergence),
    )


def dense_ratios(u: np.ndarray, v: np.ndarray, Y: np.ndarray, P: np.ndarray, p: float, shift: float) -> None:
    """Overwrite Y by ω pull(x, y) and P by ω (push(y) + drag(x, y)), with y = Y + shift.

    An empty v is all ones; an empty P is left alone, for losses whose denominator needs no data.
    """
    n, m = Y.shape
    kind = Y.dtype.type
    one, delta, q = kind(1.0), kind(shift), kind(p)
    weighted = v.shape[0] > 0
    both = P.shape[0] > 0
    for i in range(n):
        if not both:
            for j in range(m):
                Y[i, j] = pull(u[i, j], Y[i, j] + delta, q)
        elif weighted:
            for j in range(m):
                y = Y[i, j] + delta
                P[i, j] = v[i, j] * push(one, y, q) + (drag(u[i, j], y, q) if DRAG else kind(0.0))
                Y[i, j] = pull(u[i, j], y, q)
        else:
            for j in range(m):
                y = Y[i, j] + delta
                P[i, j] = push(one, y, q) + (drag(u[i, j], y, q) if DRAG else kind(0.0))
                Y[i, j] = pull(u[i, j], y, q)


def dense_divergence(
    u: np.ndarray, v: np.ndarray, Y: np.ndarray, p: float, shift: float, sums: np.ndarray
) -> None:
    """Overwrite Y by ω d(x | Y + shift); add each row's total to `sums` unless that is empty."""
    n, m = Y.shape
    weighted = v.shape[0] > 0
    for i in range(n):
        total = 0.0
        for j in range(m):
            y = np.float64(Y[i, j]) + shift
            if weighted:
                w = np.float64(v[i, j])
                d = w * divergence(np.float64(u[i, j]) / w, y, p) if w > 0.0 else 0.0
            else:
                d = divergence(np.float64(u[i, j]), y, p)
            Y[i, j] = d
            total += d
        if sums.shape[0] > 0:
            sums[i] += total


def sparse_ratios(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    flat_v: float,
    A: np.ndarray,
    B: np.ndarray,
    Bc: np.ndarray,
    p: float,
    shift: float,
    num: np.ndarray,
    den: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add the stored entries' ω pull Bc to `num` and v push Bc + ω drag Bc to `den`; an empty v is `flat_v`."""
    k = A.shape[1]
    kind = A.dtype.type
    one, q = kind(1.0), kind(p)
    weighted = v.shape[0] > 0
    for i in range(start, stop):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            y = kind(shift)
            for t in range(k):
                y += A[i, t] * B[j, t]
            ratio = pull(u[e], y, q)
            for t in range(k):
                num[i, t] += ratio * Bc[j, t]
            vv = v[e] if weighted else kind(flat_v)
            if DRAG:
                power = vv * push(one, y, q) + drag(u[e], y, q)
            else:
                power = vv * push(one, y, q) if vv != 0.0 else vv
            if power != 0.0:
                for t in range(k):
                    den[i, t] += power * Bc[j, t]


def sparse_divergence(
    indptr: np.ndarray,
    indices: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    flat_v: float,
    background: float,
    A: np.ndarray,
    B: np.ndarray,
    p: float,
    shift: float,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Add Σ_stored ω d(x | y) − ω₀ d(0 | y) to each row's loss."""
    k = A.shape[1]
    weighted = v.shape[0] > 0
    for i in range(start, stop):
        total = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            y = shift
            for t in range(k):
                y += np.float64(A[i, t]) * np.float64(B[j, t])
            w = (np.float64(v[e]) if weighted else flat_v) + background
            if w > 0.0:
                total += w * divergence(np.float64(u[e]) / w, y, p)
            if background > 0.0:
                total -= background * divergence(0.0, y, p)
        out[i] += total


def zero_push(Y: np.ndarray, p: float, shift: float) -> None:
    """Overwrite Y by push(Y + shift): what entries that are zero add to the denominator."""
    n, m = Y.shape
    kind = Y.dtype.type
    one, delta, q = kind(1.0), kind(shift), kind(p)
    for i in range(n):
        for j in range(m):
            Y[i, j] = push(one, Y[i, j] + delta, q)


def zero_divergence(Y: np.ndarray, p: float, shift: float, sums: np.ndarray) -> None:
    """Write Σ_j d(0 | y) of each row to `sums`."""
    n, m = Y.shape
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += divergence(0.0, np.float64(Y[i, j]) + shift, p)
        sums[i] = total
