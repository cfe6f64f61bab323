"""Several chains at the same time, in one session.

Every chain runs in the loop of `partwise.core.run` on a thread of its own: kernels are compiled and release the
interpreter lock. A chain has its own generator and its own recorders, so neither the number of threads nor their
timing changes a draw. Ctrl-C reaches the main thread only, which asks the chains to end: no draw is recorded in part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from partwise.core import Info, RunState, Session, branch_session, current_session, joined_session, run
from partwise.interrupts import uninterrupted
from partwise.parallel import get_threads, thread_limit
from partwise.samplers.recording import Draw, Recorder, Trace

StateT = TypeVar("StateT", bound=RunState)
#: Seconds of steps between two looks at the bar and the checkpoint.
_BLOCK_SECONDS = 0.25
#: Chains that run at the same time, at most.
MOST_AT_ONCE = 64
#: Points of the trace of the log-posterior over all steps, warm-up included.
TRACE_POINTS = 4096


class Kernel(Protocol):
    """A sampler: what `partwise.core.run` asks of a method, and what recorders are shown.

    A kernel also has `init(problem, …)`, which makes a state; what it is given beside the problem differs.
    """

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def remedy(self) -> str:
        """What to do when a chain leaves the finite numbers, as a sentence."""
        ...

    def value(self, problem: Any, state: Any) -> float:
        """Log-posterior at a state, up to a constant.

        Parameters
        ----------
        problem : object
            Data and priors.
        state : RunState
            Where the chain stands.

        Returns
        -------
        float
            The logarithm.
        """
        ...

    def step(self, problem: Any, state: Any, rng: np.random.Generator) -> tuple[Any, Info]:
        """One draw from the kernel.

        Parameters
        ----------
        problem : object
            Data and priors.
        state : RunState
            Where the chain stands; may be changed in place.
        rng : Generator
            Where random numbers come from.

        Returns
        -------
        state : RunState
            Where the chain stands now; its `iteration` is one higher.
        info : Info
            Its `objective` is the log-posterior; numbers among the `notes` are recorded under their names.
        """
        ...

    def draw(self, problem: Any, state: Any) -> dict[str, Any]:
        """What recorders may ask for.

        Parameters
        ----------
        problem : object
            Data and priors.
        state : RunState
            Where the chain stands.

        Returns
        -------
        dict
            Parameters by name; the arrays may be those of the state.
        """
        ...


class DivergedError(ValueError):
    """A chain left the finite numbers."""


@dataclass
class Chain(RunState, Generic[StateT]):
    """One chain: the state of its kernel, and its recorders.

    Parameters
    ----------
    state : RunState
        Where the kernel stands.
    recorders : dict
        What is recorded of the draws after warm-up.
    trace : Trace
        The log-posterior of all steps, those of the warm-up included.
    iteration, objective
        Steps made and the log-posterior.
    """

    state: StateT
    recorders: dict[str, Recorder] = field(default_factory=dict)
    trace: Trace = field(default_factory=lambda: Trace(["log_posterior"], TRACE_POINTS))

    def pack(self) -> dict[str, Any]:
        """The state and every recorder, each under its own prefix."""
        packed: dict[str, Any] = {"iteration": self.iteration, "objective": self.objective}
        parts: dict[str, Any] = {"state": self.state, "trace": self.trace}
        parts |= {f"recorder.{name}": one for name, one in self.recorders.items()}
        for prefix, part in parts.items():
            packed |= {f"{prefix}/{key}": value for key, value in part.pack().items()}
        return packed

    def restore(self, packed: dict[str, Any]) -> None:
        """Set the state and every recorder."""
        self.iteration, self.objective = int(packed["iteration"]), float(packed["objective"])
        parts: dict[str, Any] = {"state": self.state, "trace": self.trace}
        parts |= {f"recorder.{name}": one for name, one in self.recorders.items()}
        for prefix, part in parts.items():
            begin = f"{prefix}/"
            part.restore({key[len(begin) :]: value for key, value in packed.items() if key.startswith(begin)})

    @property
    def n_draws(self) -> int:
        """Draws recorded after the warm-up."""
        return max((one.count for one in self.recorders.values()), default=0)


@dataclass(frozen=True)
class Chains:
    """What came of all chains.

    Parameters
    ----------
    chains : list of Chain
        Each chain where it ended.
    reason : {"max_iter", "max_time", "interrupted"}
        Why the chains ended; "max_iter" is that all draws were made.
    n_warmup, thin : int
        Steps before the first draw, and from one draw to the next.
    """

    chains: list[Chain[Any]]
    reason: str
    n_warmup: int
    thin: int

    def merged(self, name: str) -> Any:
        """One recorder of all chains.

        Parameters
        ----------
        name : str
            Which recorder.

        Returns
        -------
        Recorder
            Those of the chains, merged.
        """
        first, *others = (chain.recorders[name] for chain in self.chains)
        return first.merged(others)

    def stacked(self, recorder: str, name: str) -> np.ndarray:
        """The draws that a `Trace` or `Draws` kept, chain by chain.

        Parameters
        ----------
        recorder : str
            Which recorder.
        name : str
            Which quantity.

        Returns
        -------
        array of shape (n_chains, n_kept, …)
            Chains that were stopped earlier than others shorten all to their length; those of another stride are
            thinned to the coarsest.
        """
        held: list[Any] = [chain.recorders[recorder] for chain in self.chains]
        coarsest = max(one.stride for one in held)
        thinned = [one[name][:: coarsest // one.stride] for one in held]
        shortest = min(len(one) for one in thinned)
        return np.stack([one[:shortest] for one in thinned])


@dataclass(frozen=True)
class _Stepper:
    """The method that `run` calls: steps of a kernel for a fraction of a second, each draw recorded.

    A block of steps counts as one step of the run, so that its history stays short over millions of draws.
    """

    kernel: Kernel
    number: int
    n_warmup: int
    thin: int
    last: int
    observe: Callable[[Draw], Draw]

    def value(self, problem: Any, chain: Chain[Any]) -> float:
        """The log-posterior at the start."""
        value = self.kernel.value(problem, chain.state)
        self._check(value, chain)
        return value

    def step(self, problem: Any, chain: Chain[Any], rng: np.random.Generator) -> tuple[Chain[Any], Info]:
        """Steps until a quarter of a second has passed, all are made, or the session ends."""
        session, begin = current_session(), monotonic()
        while True:
            chain.state, info = self.kernel.step(problem, chain.state, rng)
            chain.iteration, chain.objective = chain.iteration + 1, info.objective
            self._check(info.objective, chain)
            chain.trace.record({"log_posterior": info.objective})
            after = chain.iteration - self.n_warmup
            if after > 0 and after % self.thin == 0:
                self.record(problem, chain, info)
            stopped = session is not None and session.stopped
            if stopped or chain.iteration >= self.last or monotonic() - begin > _BLOCK_SECONDS:
                return chain, Info(chain.iteration, chain.objective)

    def one_draw(self, problem: Any, chain: Chain[Any], rng: np.random.Generator) -> None:
        """A step whose outcome is recorded, wherever the chain stands."""
        chain.state, info = self.kernel.step(problem, chain.state, rng)
        self._check(info.objective, chain)
        chain.trace.record({"log_posterior": info.objective})
        self.record(problem, chain, info)

    def record(self, problem: Any, chain: Chain[Any], info: Info) -> None:
        """Show the present draw to the recorders."""
        draw = {"log_posterior": info.objective, **info.notes, **self.kernel.draw(problem, chain.state)}
        seen = self.observe(draw)
        for recorder in chain.recorders.values():
            recorder.record(seen)

    def _check(self, log_posterior: float, chain: Chain[Any]) -> None:
        if not np.isfinite(log_posterior):
            raise DivergedError(
                f"Chain {self.number} of the sampler {self.kernel.name!r} has a log-posterior of {log_posterior} "
                f"after step {chain.iteration}. {self.kernel.remedy}"
            )


def sample_chains(
    kernel: Kernel,
    problem: Any,
    starts: Sequence[RunState],
    *,
    n_draws: int,
    n_warmup: int = 0,
    thin: int = 1,
    recorders: Mapping[str, Recorder],
    rngs: Sequence[np.random.Generator],
    prepare: Callable[[Sequence[Any]], dict[str, Any]] | None = None,
    observe: Callable[[dict[str, Any], Draw], Draw] | None = None,
    max_workers: int | None = None,
    name: str = "chain",
) -> Chains:
    """Warm up and draw from several chains in parallel.

    Parameters
    ----------
    kernel : Kernel
        The sampler.
    problem : object
        What it samples: data and priors.
    starts : sequence of RunState
        Where each chain begins, from the kernel's `init`; changed in place.
    n_draws : int
        Draws of each chain that are recorded.
    n_warmup : int
        Steps that come before, and are not recorded.
    thin : int
        Steps from one recorded draw to the next.
    recorders : mapping of str to Recorder
        Empty recorders; each chain gets copies of its own.
    rngs : sequence of Generator
        One for each chain; spawn them from one generator.
    prepare : callable, optional
        Given the kernel states of all chains after the warm-up, it returns arrays and numbers, such as the reference
        that components are aligned to.
    observe : callable, optional
        ``observe(prepared, draw)`` returns what recorders are shown of a draw, such as the draw with its components
        in the order of the reference. By default the draw itself.
    max_workers : int, optional
        Chains that run at the same time; all by default, also where there are fewer cores, so that none has hardly
        begun when time is up. It changes no draw.
    name : str
        Under which a checkpoint keeps the chains; chains without a name are not kept.

    Returns
    -------
    Chains
        On Ctrl-C, or when the time of the session is up, the draws so far. A chain that was stopped in its warm-up
        makes one more step, which is its only draw.
    """
    chains: list[Chain[Any]] = [
        Chain(start, {key: one.empty() for key, one in recorders.items()}) for start in starts
    ]
    last = n_warmup + n_draws * thin
    with joined_session() as session:
        crew = _Crew(session, len(chains), max_workers)

        def stepper(number: int, until: int, prepared: dict[str, Any]) -> _Stepper:
            def shown(draw: Draw) -> Draw:
                return draw if observe is None else observe(prepared, draw)

            return _Stepper(kernel, number, n_warmup, thin, until, shown)

        def go(until: int, prepared: dict[str, Any]) -> list[str]:
            def task(i: int) -> str:
                method, own = stepper(i, until, prepared), f"{name}{i}" if name else ""
                return run(problem, method, chains[i], max_iter=until, rng=rngs[i], name=own).reason

            try:
                return crew.each(task)
            except KeyboardInterrupt:
                session.interrupt()
                return ["interrupted"]

        def prepared_now() -> dict[str, Any]:
            def compute() -> dict[str, Any]:
                return {} if prepare is None else prepare([chain.state for chain in chains])

            return session.stage(f"{name}-prepared", compute) if name and prepare is not None else compute()

        go(n_warmup, {})
        prepared = session.completed(prepared_now)
        reasons = go(last, prepared)

        def only_draw() -> None:
            for i, chain in enumerate(chains):
                if chain.n_draws == 0:
                    stepper(i, last, prepared).one_draw(problem, chain, rngs[i])

        session.completed(only_draw)
        reason = next((why for why in ("interrupted", "max_time") if why in reasons), "max_iter")
        return Chains(chains, "interrupted" if session.interrupted else reason, n_warmup, thin)


class _Crew:
    """Threads that each run a chain; the main thread waits, moves the bar, and hears Ctrl-C."""

    def __init__(self, session: Session, n_chains: int, max_workers: int | None) -> None:
        self.session, self.n_chains = session, n_chains
        threads = get_threads()
        self.workers = max(1, min(n_chains, MOST_AT_ONCE if max_workers is None else max_workers))
        self.inner_threads = max(1, threads // self.workers)
        self.ended = Event()
        self._lock = Lock()
        self._places = np.zeros(n_chains)
        self._values = np.full(n_chains, np.nan)

    def each(self, task: Callable[[int], Any]) -> list[Any]:
        """``task(i)`` for every chain, on its own thread and in its own session."""

        def work(i: int) -> Any:
            branch = branch_session(self.session, self.ended, lambda p, v: self._report(i, p, v))
            with branch, thread_limit(self.inner_threads):
                return task(i)

        pool = ThreadPoolExecutor(self.workers, "partwise-chain")
        futures: list[Any] = []
        try:
            # A thread that Ctrl-C hits while it starts is unknown to its pool.
            with self.session.interruptible(), uninterrupted():
                futures += [pool.submit(copy_context().run, work, i) for i in range(self.n_chains)]
            self._wait(futures)
        except BaseException:
            self.ended.set()
            raise
        finally:
            # Nobody may still write when the caller goes on.
            with self.session.interruptible(), uninterrupted():
                pool.shutdown(wait=True, cancel_futures=False)
        return [future.result() for future in futures]

    def _wait(self, futures: list[Any]) -> None:
        left = set(futures)
        while left:
            try:
                # A limit, since without one some systems do not hear Ctrl-C while they wait.
                done, left = wait(left, timeout=0.2)
            except KeyboardInterrupt:
                self.session.interrupt()
                continue
            if any(future.exception() is not None for future in done):
                self.ended.set()

    def _report(self, i: int, place: float, value: float) -> None:
        with self._lock:
            self._places[i], self._values[i] = place, value
            self.session.show(float(self._places.sum()), float(np.nanmean(self._values)))
