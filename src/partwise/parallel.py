"""Row-parallel work on a pool of plain threads.

Compiled kernels release the interpreter lock and work on a range of rows; this module hands out the ranges.
A pool of our own (instead of a compiler's threading layer) may be entered by several Python threads at once,
survives ``fork``, and cannot change an answer: rows are independent, so the split is invisible in the result.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np

#: Into how many ranges rows are split, if there are enough.
_RANGES = 16

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_limit: int | None = None


def _default_threads() -> int:
    """How many cores we may use; process pools (joblib, Dask) announce their share by these variables."""
    for name in ("PARTWISE_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_threads() -> int:
    """Number of threads that partwise's own kernels use."""
    return _limit if _limit is not None else _default_threads()


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads of partwise's own kernels; None returns to the default."""
    global _limit
    if n_threads is not None and n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, or None for the default; got {n_threads}.")
    _limit = n_threads


@contextmanager
def thread_limit(n_threads: int | None) -> Iterator[None]:
    """Use at most `n_threads` threads inside the block."""
    previous = _limit
    set_threads(n_threads)
    try:
        yield
    finally:
        set_threads(previous)


def _executor(size: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            # The old pool, if any, is left to finish what other threads gave it.
            _pool = ThreadPoolExecutor(max_workers=size, thread_name_prefix="partwise")
            _pool_size = size
        return _pool


def _forget_pool() -> None:
    """Run in a forked child: its copy of the pool has no threads and its lock may be held by nobody."""
    global _pool, _pool_size, _lock, _blas_lock, _blas_users
    _pool, _pool_size, _lock = None, 0, threading.Lock()
    _blas_lock, _blas_users = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limits: Any = None


@contextmanager
def own_threads() -> Iterator[None]:
    """Inside the block BLAS runs on the caller's thread alone, and products are split over our pool instead.

    Two pools that spin on the same cores slow each other down. The limit is a setting of the whole process, so
    whoever enters first makes it and whoever leaves last undoes it.
    """
    global _blas_users, _blas_limits
    with _blas_lock:
        if _blas_users == 0:
            _blas_limits = _controller().limit(limits=1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limits.restore_original_limits()
                _blas_limits = None


@functools.cache
def _controller() -> Any:
    """Finding the loaded libraries takes a while; they are found once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B, split over our pool where BLAS has been limited to one thread."""
    if _blas_users == 0 or A.shape[0] * A.shape[1] * B.shape[1] < 1 << 20:
        return A @ B
    out = np.empty((A.shape[0], B.shape[1]), np.result_type(A, B))
    over_rows(lambda a, b: np.matmul(A[a:b], B, out=out[a:b]), A.shape[0], grain=32)  # type: ignore[arg-type]
    return out


def over_rows(task: Callable[[int, int], None], n_rows: int, grain: int = 64) -> None:
    """Call ``task(start, stop)`` over ranges that cover ``0 … n_rows``, on several threads.

    Parameters
    ----------
    task : callable
        Works on rows ``start … stop`` and writes only to what belongs to those rows.
    n_rows : int
        Number of rows to cover.
    grain : int
        Smallest range worth handing to another thread.
    """
    if n_rows <= 0:
        return
    # Ranges do not depend on the number of threads, so neither does any rounding inside them; there are more
    # of them than threads, since sparse rows differ in length.
    size = grain * max(1, -(-n_rows // (_RANGES * grain)))
    starts = iter(range(0, n_rows, size))
    threads = min(get_threads(), -(-n_rows // size))
    if threads == 1:
        for start in starts:
            task(start, min(start + size, n_rows))
        return

    def work() -> None:
        while True:
            with handing_out:
                start = next(starts, None)
            if start is None:
                return
            task(start, min(start + size, n_rows))

    handing_out = threading.Lock()
    pool = _executor(threads - 1)
    futures: list[Future[None]] = [pool.submit(work) for _ in range(threads - 1)]
    try:
        work()
    finally:
        # Also after Ctrl-C: nobody may still write when the caller goes on.
        wait(futures)
    for future in futures:
        future.result()
