"""Row-parallel work on a pool of plain threads, and the number of threads.

Compiled kernels release the interpreter lock and work on a range of rows; `over_rows` hands out the ranges. The pool
is our own, not that of a compiler's threading layer: several Python threads may use it at once, it works after
``fork``, and it cannot change a result, since rows are independent and the ranges do not depend on the threads.
"""

from __future__ import annotations

import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from numbers import Integral
from typing import Any

import numpy as np

from partwise.interrupts import uninterrupted

#: Operations that take about as long as waking a thread.
_WORTHWHILE = 60_000
#: Number of ranges that rows are split into, if there are enough rows.
_RANGES = 16

#: The process-wide setting of `set_threads`, and that of the innermost `thread_limit` block of this context.
_process_limit: int | None = None
_block_limit: ContextVar[int | None] = ContextVar("partwise_thread_limit", default=None)


def _default_threads() -> int:
    """Number of cores this process may use; process pools (joblib, Dask) announce their share by these variables."""
    for name in ("PARTWISE_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return int(value)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def get_threads() -> int:
    """Number of threads that partwise's own kernels use when called from here.

    Returns
    -------
    int
        The limit of the innermost `thread_limit` block, else that of `set_threads`, else what the environment says.
    """
    for limit in (_block_limit.get(), _process_limit):
        if limit is not None:
            return limit
    return _default_threads()


def set_threads(n_threads: int | None) -> None:
    """Set the number of threads of partwise's own kernels for the whole process.

    Parameters
    ----------
    n_threads : int or None
        At least 1; None returns to what the environment says. A `thread_limit` block goes before this setting.
    """
    global _process_limit
    _process_limit = _checked(n_threads)


@contextmanager
def thread_limit(n_threads: int | None) -> Iterator[None]:
    """Use `n_threads` threads inside the block.

    The limit belongs to the block's context (see `contextvars`): other Python threads do not see it, nor do threads
    that are started inside the block, which need a block of their own.

    Parameters
    ----------
    n_threads : int or None
        At least 1; None is the process-wide setting of `set_threads`.

    Yields
    ------
    None
        Nothing; the limit holds until the block ends.
    """
    token = _block_limit.set(_checked(n_threads))
    try:
        yield
    finally:
        _block_limit.reset(token)


def _checked(n_threads: int | None) -> int | None:
    if n_threads is None:
        return None
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(
            f"n_threads must be a whole number of at least 1, or None for the default; got {n_threads!r}."
        )
    return int(n_threads)


#: Guards all of the pool's state below.
_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
#: Jobs that more helpers may join, oldest first, and the number of helpers that look for such jobs.
_jobs: deque[_Job] = deque()
_helpers = 0
#: True inside a task whose rows are split over several threads.
_in_task: ContextVar[bool] = ContextVar("partwise_in_task", default=False)


class _Job:
    """One call of `over_rows`: ranges that its caller and helpers from the pool take one by one.

    The caller alone can finish the job, so it never waits for a helper that has not begun.
    """

    def __init__(self, task: Callable[[int, int], None], n_rows: int, size: int, helpers: int) -> None:
        self.wanted = helpers
        self.running = 0
        self.error: BaseException | None = None
        self.left = threading.Condition(_lock)
        self._task, self._n_rows, self._size = task, n_rows, size
        # Taking from it is atomic; Ctrl-C could leave a lock locked.
        self._starts = deque(range(0, n_rows, size))
        # Tasks see the caller's context variables: its `thread_limit`, and NumPy's `errstate`. Each thread works in a
        # copy, so that what is set for tasks does not have to be undone, which Ctrl-C could prevent.
        self._context = copy_context()

    def work(self) -> None:
        """Take ranges until none is left, or a task has failed; in a copy of the context."""
        self._context.copy().run(self._work)

    def _work(self) -> None:
        _in_task.set(True)
        try:
            while (start := self._next()) is not None:
                self._task(start, min(start + self._size, self._n_rows))
        except BaseException:
            self.close()
            raise

    def _next(self) -> int | None:
        try:
            return self._starts.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """Hand out no more ranges."""
        self._starts.clear()

    def help(self) -> None:
        """`work`, on a thread of the pool; the caller raises what went wrong."""
        try:
            self.work()
        except BaseException as error:
            self.error = error


def _call_helpers(job: _Job) -> None:
    """Offer a job to the pool, which grows to as many threads as the job wants."""
    global _pool, _pool_size, _helpers
    # A thread that Ctrl-C hits while it starts is unknown to its pool, and would be waited for forever at exit.
    with uninterrupted(), _lock:
        if _pool is None or _pool_size < job.wanted:
            # Looked for here, since a helper that starts while the program ends could not ask another thread.
            with _blas_lock:
                _blas_libraries()
            # The old pool, if any, finishes what it has begun; its threads end when it is collected.
            _pool = ThreadPoolExecutor(job.wanted, "partwise", initializer=_hold_on_helper)
            _pool_size = job.wanted
        _jobs.append(job)
        # Helpers that are still busy with other jobs come here afterwards. No more than the pool has threads are
        # ever submitted, so that nothing piles up in its queue beside a long job.
        for _ in range(min(job.wanted, _pool_size - _helpers)):
            _pool.submit(_help)
            _helpers += 1


def _help() -> None:
    """Runs on a thread of the pool: join jobs, the oldest first, until none wants help."""
    global _helpers
    while True:
        with _lock:
            if not _jobs:
                _helpers -= 1
                return
            job = _jobs[0]
            job.wanted -= 1
            if job.wanted == 0:
                _jobs.popleft()
            job.running += 1
        job.help()
        with _lock:
            job.running -= 1
            job.left.notify_all()


def worthwhile(operations_per_row: float, unit: int = 1) -> int:
    """The number of rows, a multiple of `unit`, whose work is worth the price of waking another thread."""
    return unit * max(1, int(_WORTHWHILE / max(1.0, operations_per_row * unit)))


def over_rows(task: Callable[[int, int], None], n_rows: int, grain: int = 64) -> None:
    """Call ``task(start, stop)`` over ranges that cover ``0 … n_rows``, on up to `get_threads` threads.

    A call from inside a task runs on the thread of that task alone: the cores are taken already.

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
    threads = 1 if _in_task.get() else min(get_threads(), -(-n_rows // size))
    if threads == 1:
        for start in range(0, n_rows, size):
            task(start, min(start + size, n_rows))
        return
    job = _Job(task, n_rows, size, helpers=threads - 1)
    try:
        _call_helpers(job)
        job.work()
        _settle(job)
    except BaseException:
        # Ctrl-C may come anywhere above, and nobody may still write when the caller goes on.
        job.close()
        _settle(job)
        raise
    if job.error is not None:
        raise job.error


def _settle(job: _Job) -> None:
    """Let no further helper join the job, and wait for those at work; for a settled job this does nothing."""
    with uninterrupted(), _lock:
        if job in _jobs:
            _jobs.remove(job)
        while job.running:
            job.left.wait()


#: Guards the state of BLAS below.
_blas_lock = threading.Lock()
#: BLAS libraries that are held to one thread in the whole process, each with its number of threads before.
_held: list[tuple[Any, int]] | None = None
#: Number of open `own_threads` blocks: of all threads, and of this context.
_blas_users = 0
_blocks: ContextVar[int] = ContextVar("partwise_own_threads", default=0)


@contextmanager
def own_threads() -> Iterator[None]:
    """Inside the block BLAS runs on the caller's thread alone, and `matmul` is split over our pool instead.

    Two pools that spin on the same cores slow each other down. Where the number of BLAS threads is a setting of the
    process, the first block to be entered, on any thread, makes the limit, and the last one to be left undoes it.
    """
    global _blas_users, _held
    held_here = None
    try:
        # Limits are set and undone whole, whenever Ctrl-C comes.
        with uninterrupted(), _blas_lock:
            shared, of_each_thread = _blas_libraries()
            if _held is None:
                _held = _hold(shared)
            held_here = _hold(of_each_thread) if _blocks.get() == 0 else []
            _blas_users += 1
            _blocks.set(_blocks.get() + 1)
        yield
    finally:
        if held_here is not None:
            with uninterrupted(), _blas_lock:
                _blocks.set(max(0, _blocks.get() - 1))
                _blas_users -= 1
                _release(held_here)
                if _blas_users == 0 and _held is not None:
                    _release(_held)
                    _held = None


@functools.cache
def _blas_libraries() -> tuple[list[Any], list[Any]]:
    """The loaded BLAS libraries: those with one number of threads for the process, those with one for each thread.

    Which is which depends on the library, on how it was built, and on threadpoolctl, so it is tried out. Libraries
    are looked for once, since that takes a while.
    """
    from threadpoolctl import ThreadpoolController

    kinds: tuple[list[Any], list[Any]] = [], []
    for library in ThreadpoolController().lib_controllers:
        if library.user_api == "blas":
            held = _hold([library])
            with ThreadPoolExecutor(max_workers=1) as other_thread:
                seen = other_thread.submit(library.get_num_threads).result()
            _release(held)
            kinds[seen != 1].append(library)
    return kinds


def _hold(libraries: list[Any]) -> list[tuple[Any, int]]:
    """Hold libraries to one thread; returns what `_release` needs to undo that."""
    before = [(library, library.get_num_threads()) for library in libraries]
    _release([(library, 1) for library in libraries])
    return before


def _release(held: list[tuple[Any, int]]) -> None:
    for library, n_threads in held:
        # Newer threadpoolctl lets only the thread that set a limit first set one again, and ignores all others;
        # our blocks may be entered and left on different threads, one after the other under a lock.
        forget_first = getattr(library, "clear_controlling_thread", lambda force: None)
        forget_first(force=True)
        library.set_num_threads(n_threads)
        forget_first(force=True)


def _hold_on_helper() -> None:
    """Threads of the pool use BLAS only in tasks, of which there is one for each core."""
    with _blas_lock:
        _hold(_blas_libraries()[1])


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A @ B, split over our pool where BLAS has been limited to one thread."""
    if not (_held or _blocks.get()) or A.shape[0] * A.shape[1] * B.shape[1] < 1 << 20:
        return A @ B
    out = np.empty((A.shape[0], B.shape[1]), np.result_type(A, B))
    over_rows(lambda a, b: np.matmul(A[a:b], B, out=out[a:b]), A.shape[0], grain=32)  # type: ignore[arg-type]
    return out


def _after_fork() -> None:
    """Make a forked child consistent: only the thread that forked lives on in it, and locks may be held by nobody.

    Its copy of the pool has no threads. Of the `own_threads` blocks those of the forking thread are still open. The
    limit on BLAS stays as it is: the last block that the child leaves, of those or of later ones, undoes it.
    """
    global _lock, _pool, _pool_size, _helpers, _blas_lock, _blas_users
    _lock, _pool, _pool_size, _helpers = threading.Lock(), None, 0, 0
    _jobs.clear()
    _blas_lock, _blas_users = threading.Lock(), _blocks.get()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
