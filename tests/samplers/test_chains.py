"""Chains: the same draws whatever the threads, Ctrl-C, time limits, checkpoints, and chains that break."""

import signal
import threading
import warnings

import numpy as np
import pytest
from walks import NormalGibbs

from partwise.core import Checkpoint, Interrupted, open_session, whole_session
from partwise.parallel import thread_limit
from partwise.samplers import DivergedError, Draws, Moments, Trace, sample_chains

DATA = 1.5
RECORDERS = {
    "x": Moments("x"),
    "draws": Draws(["x", "chain"], limit=64),
    "trace": Trace(["log_posterior", "first"], limit=160),
}


def go(kernel=None, n_draws=200, n_warmup=20, thin=1, n_chains=3, seed=0, observe=None, **options):
    kernel = kernel or NormalGibbs()
    rngs = np.random.default_rng(seed).spawn(n_chains)
    starts = [kernel.init(DATA, (10.0 * i, 0.0)) for i in range(n_chains)]

    def shown(prepared, draw):
        return {**draw, "chain": float(prepared["mean"][0])} if observe is None else observe(prepared, draw)

    return sample_chains(
        kernel,
        DATA,
        starts,
        n_draws=n_draws,
        n_warmup=n_warmup,
        thin=thin,
        recorders=RECORDERS,
        rngs=rngs,
        prepare=lambda states: {"mean": np.mean([s.x for s in states], axis=0)},
        observe=shown,
        **options,
    )


def same(one, other):
    for a, b in zip(one.chains, other.chains, strict=True):
        packs = a.pack(), b.pack()
        assert packs[0].keys() == packs[1].keys()
        for key in packs[0]:
            assert np.array_equal(packs[0][key], packs[1][key]), key


def test_the_posterior_is_found():
    made = go(n_draws=4000)
    assert made.reason == "max_iter"
    moments = made.merged("x")
    assert moments.count == 12_000
    assert moments.mean == pytest.approx([0.5, 0.5], abs=0.05)  # the mean is DATA / 3, the variance 2/3
    assert moments.variance == pytest.approx([2 / 3, 2 / 3], abs=0.05)


def test_draws_are_counted_after_the_warmup_and_thinned():
    made = go(n_draws=50, n_warmup=7, thin=3)
    every = go(n_draws=150, n_warmup=7, thin=1)
    for chain in made.chains:
        assert (chain.iteration, chain.n_draws, chain.trace.count) == (157, 50, 157)
    assert np.array_equal(made.stacked("trace", "first"), every.stacked("trace", "first")[:, 2::3][:, :50])


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_the_number_of_workers_changes_nothing(workers):
    with thread_limit(workers):
        same(go(max_workers=workers), go(max_workers=3))
    assert not np.array_equal(go(seed=1).merged("x").mean, go().merged("x").mean)


def press_after(n_steps):
    """Ctrl-C on the main thread, once one chain has recorded so many draws."""
    seen, lock = [0], threading.Lock()

    def observe(prepared, draw):
        with lock:
            seen[0] += 1
            if seen[0] == n_steps:
                signal.raise_signal(signal.SIGINT)
        return {**draw, "chain": float(prepared["mean"][0])}

    return observe


def test_ctrl_c_keeps_the_draws_so_far():
    with pytest.warns(Interrupted, match="kept"):
        made = go(n_draws=1_000_000, observe=press_after(500))
    assert made.reason == "interrupted"
    assert 500 <= sum(chain.n_draws for chain in made.chains) < 3_000_000
    assert all(chain.n_draws >= 1 for chain in made.chains)
    for chain in made.chains:
        counts = {one.count for one in chain.recorders.values()}
        assert len(counts) == 1


def test_chains_that_were_stopped_before_their_first_step_have_a_draw_and_a_trace():
    def stopped_at_once():
        with open_session() as session:
            session.interrupt()
            return go(n_warmup=10)

    with pytest.warns(Interrupted):
        made = stopped_at_once()
    for chain in made.chains:
        assert chain.n_draws == 1
        assert len(chain.trace["log_posterior"]) >= 1


@pytest.mark.parametrize("n_pressed", [1, 350, 599])
def test_chains_go_on_from_a_checkpoint_to_the_same_bits(tmp_path, n_pressed):
    whole = go()
    for observe in (press_after(n_pressed), None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Interrupted)
            with open_session(checkpoint=Checkpoint(tmp_path, interval=0.0)):
                made = go(observe=observe)
    assert made.reason == "max_iter"
    same(made, whole)


def test_chains_stopped_in_the_warmup_go_on_to_the_same_bits(tmp_path):
    whole = go()
    for limit in (0.0, 0.0, None):
        with open_session(max_time=limit, checkpoint=Checkpoint(tmp_path, interval=0.0)):
            made = go()
        if limit == 0.0:
            assert made.reason == "max_time"
            assert all(chain.n_draws == 1 for chain in made.chains)
    same(made, whole)


def test_whole_work_passes_ctrl_c_on_and_leaves_no_thread_behind():
    with pytest.raises(KeyboardInterrupt), whole_session():
        go(n_draws=1_000_000, observe=press_after(100))
    assert not [one for one in threading.enumerate() if one.name.startswith("partwise-chain")]


def test_a_chain_that_breaks_says_where_and_what_to_do():
    with pytest.raises(
        DivergedError, match=r"'normal' has a log-posterior of nan after step 30\. Use a smaller"
    ):
        go(NormalGibbs(breaks_at=30), n_draws=1_000_000)


def test_history_is_short_over_many_draws():
    made = go(n_draws=20_000, n_chains=1)
    assert len(made.chains[0].trace) <= 4096
    assert made.chains[0].trace.stride == 8
    assert len(made.chains[0].recorders["draws"]) <= 64


def test_where_cores_are_few_no_chain_has_hardly_begun_when_time_is_up():
    with thread_limit(1), open_session(max_time=0.6):
        made = go(n_draws=10_000_000)
    assert made.reason == "max_time"
    counts = [chain.n_draws for chain in made.chains]
    assert min(counts) > 0.1 * max(counts)
