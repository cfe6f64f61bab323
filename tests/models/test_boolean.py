"""BooleanMF as a user meets it."""

import itertools
import json
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp

import partwise
from partwise import BooleanMF
from partwise.core import Checkpoint, Interrupted, Session
from partwise.datasets import load_zoo, make_boolean


@pytest.fixture(scope="module")
def planted():
    return make_boolean(200, 150, 6, noise_add=0.02, noise_drop=0.08, random_state=1)


@pytest.fixture(scope="module")
def model(planted):
    return BooleanMF(6, random_state=0, max_time=60, patience=60).fit(planted.data)


def test_planted_tiles_come_back(model, planted):
    usage = model.transform(planted.data)
    assert usage.dtype == bool
    assert model.components_.dtype == bool
    assert (model.inverse_transform(usage) != planted.clean).sum() == 0
    assert model.reconstruction_err_ == (planted.data != planted.clean).sum()
    assert model.score(planted.data) == pytest.approx(1 - model.reconstruction_err_ / planted.data.size)
    assert set(model.tiles_) == {"rows", "columns", "density", "adds", "log10_chance"}
    assert (np.diff(model.tiles_["adds"]) <= 0).all()
    assert (model.tiles_["log10_chance"] < -20).all(), "planted tiles are no chance"


def test_the_rank_by_description_length(planted):
    model = BooleanMF(random_state=0, max_time=60, patience=20).fit(planted.data)
    assert model.n_components_ == 6
    assert model.ranks_["tiles"].tolist()[:7] == list(range(7))
    assert model.ranks_["tiles"][np.argmin(model.ranks_["bits"])] == 6
    assert model.ranks_["wrong"][0] == planted.data.sum()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    assert BooleanMF(random_state=0, max_time=60, patience=20).fit(noise).n_components_ == 0


def test_kinds_of_input_agree(model, planted):
    for X in (
        planted.data.astype(int),
        planted.data.astype(np.float32),
        sp.csr_array(planted.data.astype(float)),
    ):
        same = BooleanMF(6, random_state=0, max_time=60, patience=60).fit(X)
        assert np.array_equal(same.components_, model.components_)
        assert np.array_equal(same.transform(X), model.transform(planted.data))


def test_missing_entries_are_filled_in(planted):
    hidden = np.random.default_rng(0).random(planted.data.shape) < 0.2
    X = np.where(hidden, np.nan, planted.data.astype(float))
    model = BooleanMF(6, random_state=0, max_time=60, patience=60).fit(X)
    filled = model.inverse_transform(model.transform(X))
    assert (filled != planted.clean)[hidden].mean() < 0.01


def test_likelihood_is_nearer_the_truth_where_noise_is_strong():
    planted = make_boolean(300, 300, 8, noise_add=0.15, noise_drop=0.35, random_state=0)
    errors = {}
    for objective in ("error", "likelihood"):
        model = BooleanMF(8, objective=objective, random_state=0, max_time=60, patience=10).fit(planted.data)
        errors[objective] = int(
            (model.inverse_transform(model.transform(planted.data)) != planted.clean).sum()
        )
    assert errors["likelihood"] < errors["error"]


def test_panpal_alone(planted):
    model = BooleanMF(6, method="panpal", random_state=0).fit(planted.data)
    assert len(model.thresholds_) == 2
    assert model.reconstruction_err_ < planted.data.sum()


def test_primp_finds_a_rank_and_trustpal_drops_chance(planted):
    model = BooleanMF(method="primp", random_state=0).fit(planted.data)
    assert 4 <= model.n_components_ <= 10
    assert model.reconstruction_err_ < 0.5 * planted.data.sum()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    assert BooleanMF(4, method="trustpal", random_state=0).fit(noise).n_components_ == 0
    assert BooleanMF(method="trustpal", random_state=0).fit(planted.data).n_components_ == 6


def test_save_and_load(model, planted, tmp_path):
    partwise.save(model, tmp_path / "tiles.partwise")
    again = partwise.load(tmp_path / "tiles.partwise")
    assert np.array_equal(again.transform(planted.data), model.transform(planted.data))


def test_bad_and_trivial_input(planted):
    with pytest.raises(ValueError, match=r"X\[1, 2\] = 3"):
        BooleanMF(2).fit(np.where(np.arange(20).reshape(4, 5) == 7, 3, 1))
    with pytest.raises(ValueError, match=r"Negative values in data passed to BooleanMF.*X\[0, 1\] = -1"):
        BooleanMF(2).fit(np.array([[2, -1], [0, 1]]))
    with pytest.raises(ValueError, match="exceeds the smaller side"):
        BooleanMF(9).fit(np.eye(8))
    with pytest.raises(ValueError, match="needs a number of tiles"):
        BooleanMF(method="panpal").fit(np.eye(8))
    with pytest.raises(ValueError, match="NaN"):
        BooleanMF(2, missing_values=None).fit(np.array([[1, np.nan], [0, 1.0]]))
    with pytest.raises(ValueError, match="features"):
        BooleanMF(2, random_state=0, max_time=1, patience=1).fit(np.eye(6)).transform(np.eye(5))
    with pytest.warns(UserWarning, match="no tile"):
        empty = BooleanMF().fit(np.zeros((4, 3)))
    assert empty.transform(np.zeros((2, 3))).shape == (2, 0)
    assert empty.inverse_transform(np.zeros((2, 0))).sum() == 0
    with pytest.warns(UserWarning, match="one tile"):
        full = BooleanMF(3).fit(np.ones((4, 3)))
    assert full.inverse_transform(full.transform(np.ones((4, 3)))).all()


def test_a_table_of_which_nothing_was_observed_is_refused():
    X = np.ones((6, 4))
    for table, weights in ((np.full((6, 4), np.nan), None), (X, np.zeros((6, 4)))):
        with pytest.raises(ValueError, match=r"X \(6 × 4\) has no observed entry"):
            BooleanMF(2).fit(table, weights=weights)


def test_a_row_of_weight_two_is_the_row_twice_and_weight_zero_is_missing(planted):
    X = planted.data[:60, :40]
    rng = np.random.default_rng(0)
    twice = rng.integers(1, 3, size=len(X))
    settings = {"random_state": 0, "max_time": 60, "patience": 60}
    weighed = BooleanMF(4, **settings).fit(X, sample_weight=twice)
    usage = weighed.transform(X)
    wrong = (weighed.inverse_transform(usage) != X).sum(axis=1)
    assert weighed.reconstruction_err_ == pytest.approx(float(twice @ wrong))
    repeated = BooleanMF(4, **settings).fit(np.repeat(X, twice, axis=0))
    assert weighed.reconstruction_err_ <= 1.1 * repeated.reconstruction_err_ + 2
    hidden = rng.random(X.shape) < 0.2
    missing = BooleanMF(4, **settings).fit(np.where(hidden, np.nan, X.astype(float)))
    zero = BooleanMF(4, **settings).fit(X, weights=(~hidden).astype(float))
    assert zero.reconstruction_err_ == missing.reconstruction_err_
    assert np.array_equal(zero.components_, missing.components_)
    assert BooleanMF(4, **settings).fit(
        sp.csr_array(X.astype(float)), weights=sp.csr_array(2.0 * ~hidden)
    ).score(X, weights=~hidden) == pytest.approx(zero.score(X, weights=~hidden), abs=0.03)


def test_heavy_entries_are_got_right():
    X = np.random.default_rng(0).random((30, 20)) < 0.4
    weights = np.ones(X.shape)
    weights[:5] = 50.0
    model = BooleanMF(5, random_state=0, max_time=60, patience=200).fit(X, weights=weights)
    plain = BooleanMF(5, random_state=0, max_time=60, patience=200).fit(X)
    wrong = [(m.inverse_transform(m.transform(X)) != X)[:5].sum() for m in (model, plain)]
    assert wrong[0] < wrong[1]
    assert wrong[0] <= 2


def test_trust_tells_planted_tiles_from_noise(model, planted):
    found = model.trust(planted.data, n_restarts=3, n_resamples=3)
    assert (found["restarts"] == 1).all()
    assert (found["resamples"] == 1).all()
    assert found is model.trust_
    sparse = model.trust(
        sp.csr_array(planted.data.astype(float)), n_restarts=0, n_resamples=1, sample_weight=np.ones(200)
    )
    assert (sparse["resamples"] == 1).all()
    noise = np.random.default_rng(0).random((60, 40)) < 0.3
    shaky = BooleanMF(4, random_state=0, max_time=2, patience=20).fit(noise)
    assert shaky.trust(noise, n_restarts=3, n_resamples=3)["resamples"].mean() < 0.5
    # Two columns that always go together can stand in for each other.
    X = np.zeros((20, 6), bool)
    X[:10, :3] = X[10:, 3:] = True
    X[:, 0] = True
    pair = BooleanMF(2, random_state=0, max_time=5, patience=20).fit(X)
    assert pair.reconstruction_err_ == 0
    again = pair.trust(X, n_restarts=2, n_resamples=0)
    for t, others in enumerate(again["alternatives"]):
        for other in others:
            assert other["change"] <= 0
            assert not np.array_equal(other["columns"], pair.components_[t])


def test_the_objective_follows_the_noise(planted):
    strong = make_boolean(400, 300, 8, noise_add=0.1, noise_drop=0.25, random_state=0)
    model = BooleanMF(8, random_state=0, max_time=60).fit(strong.data)
    assert model.criterion_ == "likelihood"
    assert (model.inverse_transform(model.transform(strong.data)) != strong.clean).sum() < 40
    lumpy = np.random.default_rng(0).random((300, 40)) < np.linspace(0.02, 0.9, 40)
    assert BooleanMF(3, random_state=0, max_time=2, patience=5).fit(lumpy).criterion_ == "error"


def test_thresholds_one_and_each(planted):
    one = BooleanMF(6, method="panpal", random_state=0).fit(planted.data)
    each = BooleanMF(6, method="panpal", thresholds="each", random_state=0).fit(planted.data)
    assert one.thresholds_[0] == one.thresholds_[1]
    assert len(each.thresholds_) == 2


@pytest.mark.parametrize("method", ["panpal", "primp"])
def test_relaxed_methods_take_weights_and_missing_entries(planted, method):
    X = planted.data.astype(float)
    hidden = np.random.default_rng(0).random(X.shape) < 0.1
    spoiled = np.where(hidden, 1.0 - X, X)
    by_weight = BooleanMF(6, method=method, random_state=0).fit(spoiled, weights=np.where(hidden, 0.0, 2.0))
    by_nan = BooleanMF(6, method=method, random_state=0).fit(np.where(hidden, np.nan, X))
    assert np.array_equal(by_weight.components_, by_nan.components_)
    wrong = (by_nan.inverse_transform(by_nan.transform(X)) != planted.clean).mean()
    trusting = BooleanMF(6, method=method, random_state=0).fit(spoiled)
    assert wrong <= (trusting.inverse_transform(trusting.transform(spoiled)) != planted.clean).mean()


def test_bad_weights(planted):
    X = planted.data[:10, :8]
    with pytest.raises(ValueError, match="weights must have the shape of X"):
        BooleanMF(2).fit(X, weights=np.ones((3, 3)))
    with pytest.raises(ValueError, match=r"finite and nonnegative; weights\[0, 0\] = -1"):
        BooleanMF(2).fit(X, weights=np.where(np.arange(80).reshape(10, 8) == 0, -1.0, 1.0))
    with pytest.raises(ValueError, match="one number for each of the 10 rows"):
        BooleanMF(2).fit(X, sample_weight=[1.0])


def test_every_path_says_how_it_ended(planted, model):
    few = {"random_state": 0, "max_time": 60, "patience": 20}
    coins = np.random.default_rng(0).random((60, 40)) < 0.35
    strong = make_boolean(400, 300, 8, noise_add=0.1, noise_drop=0.25, random_state=0).data
    with pytest.warns(UserWarning, match="one tile"):
        full = BooleanMF().fit(np.ones((4, 3)))
    for fitted, data, ended_by in (
        (model, planted.data, "patience"),
        (BooleanMF(4, **few).fit(coins), coins, "patience"),
        (BooleanMF(2, **few).fit(np.eye(6)[:2]), np.eye(6)[:2], "converged"),
        (BooleanMF(8, **few).fit(strong), strong, "noise"),
        (BooleanMF(**few).fit(coins[:, :20]), coins[:, :20], "noise"),
        (BooleanMF(4, max_time=0.0).fit(coins), coins, "max_time"),
        (BooleanMF(max_time=0.0).fit(planted.data), planted.data, "max_time"),
        (BooleanMF(4, method="panpal").fit(coins), coins, "converged"),
        (BooleanMF(method="primp").fit(coins), coins, "converged"),
        (BooleanMF(4, method="panpal", max_time=0.0).fit(coins), coins, "max_time"),
        (full, np.ones((4, 3)), "converged"),
    ):
        assert fitted.ended_by_ == ended_by
        assert fitted.converged_ == (ended_by != "max_time")
        wrong = (fitted.inverse_transform(fitted.transform(data)) != data).sum()
        assert fitted.reconstruction_err_ == wrong
        assert (fitted.objective_ == wrong) == (fitted.criterion_ == "error")
        assert isinstance(fitted.objective_, float)
        assert fitted.n_iter_ >= 0
        assert len(fitted.history_["seconds"]) == len(fitted.history_["error"])
        assert (np.diff(fitted.history_["seconds"]) >= 0).all()
        assert (np.diff(fitted.history_["error"]) <= 0).all()
    assert model.n_iter_ > 60


def test_bars_count_seconds_or_trials_of_a_search_steps_of_palm_and_the_searches_of_trust(caplog):
    # Where a program handles the records, as pytest does, and stderr is no terminal, they stand for the bar.
    caplog.set_level("INFO", "partwise")

    def shown():
        text = caplog.text
        caplog.clear()
        return text

    coins = np.random.default_rng(0).random((60, 40)) < 0.35
    model = BooleanMF(4, method="panpal", verbose=1).fit(coins)
    assert f": {model.n_iter_}/" in shown()
    model = BooleanMF(4, max_time=60, patience=20, verbose=1).fit(coins)
    assert f"wrong {model.history_['error'][-1]:.6g}" in shown()
    model.trust(coins, n_restarts=2, n_resamples=1)
    said = shown()
    assert "trust: searches" in said
    assert "3/3" in said
    model = BooleanMF(4, patience=20, verbose=1).fit(coins)
    assert f": {model.n_iter_}/" in shown(), "without a time limit it counts trials"


def small_table(name):
    """A table on which every number of tiles can be tried."""
    if name == "zoo":
        return load_zoo().data
    if name == "coins":
        return np.random.default_rng(0).random((30, 12)) < 0.35
    noise = {"planted": (0.05, 0.1), "noisy": (0.1, 0.25)}[name]
    return make_boolean(60, 30, 4, noise_add=noise[0], noise_drop=noise[1], random_state=0).data[:, :14]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["zoo", "coins", "planted", "noisy"])
def test_no_number_of_tiles_asked_for_has_fewer_bits_than_the_one_chosen(name, seed):
    X = small_table(name)
    few = {"patience": 40, "random_state": seed}
    chosen = BooleanMF(**few).fit(X)
    asked = [BooleanMF(k, **few).fit(X) for k in range(1, min(X.shape) + 1)]
    assert chosen.description_length_ <= min(model.description_length_ for model in asked)
    ranks = chosen.ranks_
    assert ranks["bits"].min() == chosen.description_length_
    assert ranks["tiles"][ranks["bits"].argmin()] == chosen.n_components_
    assert (np.diff(ranks["wrong"]) <= 0).all()
    assert ranks["wrong"][ranks["tiles"] == chosen.n_components_] <= chosen.reconstruction_err_


def clock_that_runs(monkeypatch, seconds):
    """From now on, each look at the clock takes this many seconds."""
    now = itertools.count()
    monkeypatch.setattr("partwise.core.session.clock", lambda: seconds * next(now))


@pytest.mark.parametrize("k", [3, "auto"])
def test_how_fast_the_machine_is_makes_no_difference_to_a_small_table(k, monkeypatch):
    X, settings = small_table("coins" if k == 3 else "planted"), {"random_state": 0}
    if k == "auto":
        settings["patience"] = 50
    one = BooleanMF(k, **settings).fit(X)
    clock_that_runs(monkeypatch, 100.0)
    other = BooleanMF(k, **settings).fit(X)
    assert one.ended_by_ == other.ended_by_ == "patience"
    assert np.array_equal(one.components_, other.components_)
    assert one.n_iter_ == other.n_iter_


def test_a_budget_in_perturbations_is_kept_and_gives_the_same_tiles_on_a_slower_machine(monkeypatch):
    X = np.random.default_rng(0).random((150, 80)) < 0.35
    settings = {"max_iter": 700, "max_time": None, "random_state": 0}
    one = BooleanMF(25, **settings).fit(X)
    assert (one.ended_by_, one.converged_) == ("max_iter", False)
    assert 600 < one.n_iter_ <= 700
    assert one.history_["trials"][-1] <= 700
    clock_that_runs(monkeypatch, 1.0)
    assert np.array_equal(BooleanMF(25, **settings).fit(X).components_, one.components_)
    assert BooleanMF("auto", max_iter=20, random_state=0).fit(small_table("zoo")).ended_by_ == "max_iter"
    assert BooleanMF(4, method="panpal", max_iter=3).fit(X).n_iter_ == 3


def test_what_the_clock_cut_short_says_so(monkeypatch):
    X = np.random.default_rng(0).random((150, 80)) < 0.35
    clock_that_runs(monkeypatch, 0.01)
    # The starts have half of the time; the climbs then end by patience, but from another start.
    model = BooleanMF(5, max_time=0.2, patience=1, random_state=0).fit(X)
    assert (model.ended_by_, model.converged_) == ("max_time", False)
    assert "the clock" in model.summary()["sentence"]
    clock_that_runs(monkeypatch, 2.0)
    assert BooleanMF(25, random_state=0).fit(X).ended_by_ == "max_time", "the default of a larger table"


# ------------------------------------------------------------------------------------------------------------- Ctrl-C

#: For each kind of fit, functions that it calls, and the call at which Ctrl-C comes; 0 for the last one.
MOMENTS = {
    "search": {
        "partwise.boolean.starts.concept_cover": (1,),
        "partwise.boolean.starts.relaxed_factors": (1, 2),
        "partwise.boolean.starts.grow_tile": (1, 9, 0),
        "partwise.boolean.starts.cost_of": (1, 5),
        "partwise.boolean.tiles.best_usage": (1, 2, 17, 0),
        "partwise.boolean.search.looks_like_flips": (1, 2, 0),
        "partwise.boolean.climb.Chain.segment": (1, 2, 3, 40, 0),
        "partwise.boolean.climb.Chain.follow": (1, 2, 0),
        "partwise.boolean.log.SearchLog.report": (1, 2, 30, 0),
        "partwise.boolean.refine.looks_like_flips": (1,),
        "partwise.boolean.measures.tile_values": (1, 2, 0),
        "partwise.boolean.measures.usage_of": (1, 0),
        "partwise.boolean.measures.prune_path": (1,),
        "partwise.models.boolean.BooleanMF._keep": (1,),
    },
    "auto": {
        "partwise.boolean.starts.relaxed_factors": (1, 2, 0),
        "partwise.boolean.starts.grow_tile": (1, 9, 0),
        "partwise.boolean.rank.best_drop": (1, 2, 0),
        "partwise.boolean.rank.alternate": (1, 0),
        "partwise.boolean.rank.rank_point": (1, 2, 3, 0),
        "partwise.boolean.climb.Chain.segment": (1, 0),
    },
    "likelihood": {
        "partwise.boolean.refine.likely_prices": (1, 2, 0),
        "partwise.boolean.refine.alternate": (1, 0),
        "partwise.boolean.starts.cost_of": (0,),
        "partwise.boolean.refine.error_of": (1,),
    },
    "trustpal": {
        "partwise.boolean.palm.half_step": (1, 2, 50, 0),
        "partwise.boolean.pal_tiling.error_of": (1, 50, 0),
        "partwise.boolean.refine.settled": (1,),
    },
    "sparse": {
        "partwise.boolean.refine.climb": (1,),
        "partwise.boolean.refine.alternate": (1, 0),
        "partwise.boolean.methods.settled": (1,),
    },
    "tested": {"partwise.boolean.refine.settled": (1,), "partwise.boolean.climb.Chain.segment": (5, 0)},
    "panpal": {
        "partwise.boolean.palm.half_step": (1, 2, 50, 0),
        "partwise.boolean.threshold.cut_at": (1, 50, 0),
        "partwise.boolean.methods.error_of": (1,),
        "partwise.boolean.measures.densities": (1,),
    },
    "primp": {
        "partwise.boolean.palm.half_step": (1, 2, 50, 0),
        "partwise.boolean.primp.length_of": (1, 50, 0),
        "partwise.boolean.primp.descend": (1, 2),
    },
}


def of_kind(kind):
    """A model of each kind, and data that make it do what it can."""
    few = {"random_state": 0, "max_time": 60, "patience": 40}
    coins = np.random.default_rng(0).random((60, 40)) < 0.35
    if kind == "search":
        return BooleanMF(5, **few), coins
    if kind == "auto":
        return BooleanMF(n_init=1, **few), make_boolean(90, 80, 12, random_state=0).data
    if kind == "likelihood":
        noisy = make_boolean(100, 90, 4, noise_add=0.1, noise_drop=0.25, random_state=0)
        return BooleanMF(4, objective="likelihood", **few), noisy.data
    if kind == "sparse":
        return BooleanMF(5, objective="sparse", **few), coins
    if kind == "tested":
        return BooleanMF(5, fdr=1.0, **few), coins
    if kind == "trustpal":
        return BooleanMF(5, method="trustpal", fdr=1.0, random_state=0), coins
    return BooleanMF(5 if kind == "panpal" else "auto", method=kind, random_state=0), coins


def press_at(monkeypatch, path, number):
    """Have the given call of a function raise KeyboardInterrupt; returns a list that gets an entry for each call."""
    *where, name = path.split(".")
    module = next(".".join(where[:i]) for i in range(len(where), 0, -1) if ".".join(where[:i]) in sys.modules)
    owner = sys.modules[module]
    for part in where[len(module.split(".")) :]:
        owner = getattr(owner, part)
    original, calls = getattr(owner, name), []

    def pressed(*arguments, **options):
        calls.append(True)
        if len(calls) == number:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, pressed)
    return calls


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in MOMENTS.items() for path in paths]
)
def test_ctrl_c_at_any_moment_keeps_the_best_tiles_so_far(kind, path, monkeypatch):
    _, X = of_kind(kind)
    for moment in MOMENTS[kind][path]:
        with monkeypatch.context() as patch:
            number = moment
            if moment == 0:
                with monkeypatch.context() as counting:
                    calls = press_at(counting, path, -1)
                    of_kind(kind)[0].fit(X)
                number = len(calls)
                assert number > 0, "a function that is never called"
            press_at(patch, path, number)
            model = of_kind(kind)[0]
            try:
                with pytest.warns(Interrupted, match="the best found so far is kept"):
                    model.fit(X)
            except KeyboardInterrupt:
                assert not hasattr(model, "components_")
                assert moment == 1, "there was something to keep"
                continue
        assert (model.ended_by_, model.converged_) == ("interrupted", False)
        wrong = (model.inverse_transform(model.transform(X)) != X).sum()
        assert model.reconstruction_err_ == wrong <= X.sum()


CHILD = """
import json, os, signal, sys, threading, time, warnings
import numpy as np
from partwise import BooleanMF
from partwise.core import Interrupted

X = np.random.default_rng(0).random((150, 80)) < 0.35
rng = np.random.default_rng(int(sys.argv[1]))
for k, method in ((5, "auto"), ("auto", "auto"), (5, "panpal"), ("auto", "primp"), (5, "trustpal"), (20, "auto")):
    settings = {"method": method, "random_state": 0}
    BooleanMF(k, patience=2, **settings).fit(X)
    for _ in range(3):
        model = BooleanMF(k, max_time=30, patience=10**6, **settings)
        outcome = {"case": [k, method]}
        sent = []
        def press():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        timer = threading.Timer(rng.random() * rng.choice([0.02, 0.2, 0.6]), press)
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                timer.start()
                model.fit(X)
                outcome["fitted"] = time.perf_counter()
                timer.join()
                time.sleep(0.1)
        except KeyboardInterrupt:
            outcome["raised"] = time.perf_counter()
        warned = any(issubclass(one.category, Interrupted) for one in said)
        if sent:
            outcome["seconds"] = max(outcome.get("fitted", outcome.get("raised", 0)) - sent[0], 0)
        outcome["agrees"] = "fitted" not in outcome or warned == (model.ended_by_ == "interrupted")
        outcome["keeps"] = "fitted" in outcome or not hasattr(model, "components_")
        if "fitted" in outcome:
            model.transform(X)
        print(json.dumps(outcome), flush=True)
"""


def test_a_real_ctrl_c_ends_a_fit_within_two_seconds_and_keeps_it():
    run = subprocess.run(
        [sys.executable, "-c", CHILD, "0"], capture_output=True, text=True, timeout=300, check=False
    )
    outcomes = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, run.stderr
    assert len(outcomes) == 18
    for outcome in outcomes:
        assert outcome["seconds"] < 2.0, outcome
        assert outcome["agrees"], outcome
        assert outcome["keeps"], outcome
    assert any("fitted" in outcome for outcome in outcomes)


def test_ctrl_c_in_trust_keeps_the_searches_that_are_done(model, planted, monkeypatch):
    components = model.components_
    press_at(monkeypatch, "partwise.models.boolean.quick_search", 3)
    with pytest.warns(Interrupted):
        found = model.trust(planted.data, n_restarts=4, n_resamples=2)
    assert found is model.trust_
    assert (found["restarts"] == 1).all(), "of two"
    assert np.isnan(found["resamples"]).all()
    assert found["alternatives"] == [[]] * 6
    assert model.components_ is components


# -------------------------------------------------------------------------------------------------------- checkpoints


def same_fit(a, b, X):
    """Whether two models are the same to the bit, but for their times."""
    assert np.array_equal(a.components_, b.components_)
    assert np.array_equal(a.transform(X), b.transform(X))
    for name in ("reconstruction_err_", "objective_", "ended_by_", "n_iter_", "prices_", "thresholds_"):
        assert getattr(a, name) == getattr(b, name), name
    assert np.array_equal(a.history_["error"], b.history_["error"])
    assert (np.diff(a.history_["seconds"]) >= 0).all()
    for name in a.ranks_:
        assert np.array_equal(a.ranks_[name], b.ranks_[name])


@pytest.mark.parametrize("kind", ["search", "auto", "likelihood"])
def test_a_resumed_search_ends_with_the_same_bits(kind, tmp_path, monkeypatch):
    whole, X = of_kind(kind)
    stages = []

    def staged(self, name, *rest):
        stages.append(name)
        return stage(self, name, *rest)

    stage = Session.stage
    with monkeypatch.context() as patch:
        patch.setattr(Session, "stage", staged)
        whole.fit(X)
    assert {"search": "relaxed3", "auto": "rank16", "likelihood": "likelihood"}[kind] in stages
    assert kind != "search" or "climb5" in stages
    for done in sorted({*range(0, len(stages), 1 + len(stages) // 12), len(stages)}):
        folder = tmp_path / str(done)
        with monkeypatch.context() as patch:
            press_at(patch, "partwise.core.session.Session.stage", done + 1)
            model = of_kind(kind)[0]
            try:
                with pytest.warns(Interrupted) if done < len(stages) else nullcontext():
                    model.fit(X, checkpoint=folder)
            except KeyboardInterrupt:
                assert done == 0
        assert len(list(folder.glob("*.npz"))) == done
        same_fit(of_kind(kind)[0].fit(X, checkpoint=folder), whole, X)
        assert len(list(folder.glob("*.npz"))) == len(stages)


@pytest.mark.parametrize("kind", ["panpal", "primp", "trustpal"])
def test_a_resumed_run_of_palm_ends_with_the_same_bits(kind, tmp_path, monkeypatch):
    whole, X = of_kind(kind)
    whole.fit(X)
    for moment in (2, 9, 31):
        folder = tmp_path / str(moment)
        model, _ = of_kind(kind)
        with monkeypatch.context() as patch:
            press_at(patch, "partwise.boolean.palm.half_step", moment)
            with pytest.warns(Interrupted):
                model.fit(X, checkpoint=Checkpoint(folder, interval=0.0))
        same_fit(of_kind(kind)[0].fit(X, checkpoint=folder), whole, X)


def test_a_checkpoint_is_of_one_table(tmp_path, planted):
    X = planted.data[:40, :30]
    model = BooleanMF(2, random_state=0, max_time=60, patience=5)
    model.fit(X, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="data's contents"):
        model.fit(~X, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="n_components was 2 and is now 3"):
        BooleanMF(3, random_state=0, max_time=60, patience=5).fit(X, checkpoint=tmp_path)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_error_counts_weights_as_they_were_given(form):
    rng = np.random.default_rng(0)
    X = rng.random((60, 12)) < 0.4
    weights, rows = np.where(rng.random(X.shape) < 0.9, 1.0, 1e6), rng.choice([1.0, 2.0], 60)
    model = BooleanMF(2, max_time=1, patience=3, random_state=0)
    with pytest.warns(UserWarning, match="rounds weights to 1/255 of the largest"):
        W = model.fit_transform(X, weights=form(weights), sample_weight=rows)
    wrong = (W.astype(int) @ model.components_.astype(int) > 0) != X
    assert model.reconstruction_err_ == pytest.approx((weights * rows[:, None])[wrong].sum())


@pytest.mark.parametrize("kind", ["sample_weight", "weights"])
@pytest.mark.parametrize("size", [1e-3, 2.0, 1000.0])
def test_the_number_of_tiles_does_not_depend_on_the_units_of_weights(kind, size):
    """Weights that add up to a population made a tile of every column, in noise too."""
    rng = np.random.default_rng(0)
    X = make_boolean(100, 12, 3, noise_add=0.03, noise_drop=0.07, random_state=0).data
    noise = rng.random((100, 12)) < 0.35
    weights = rng.uniform(0.5, 2.0, 100 if kind == "sample_weight" else X.shape)
    for table in (X, noise):
        one, other = (
            BooleanMF(random_state=0, max_time=None).fit(table, **{kind: unit * weights})
            for unit in (1.0, size)
        )
        assert np.array_equal(one.components_, other.components_)
        assert other.description_length_ == pytest.approx(one.description_length_)
    assert one.n_components_ == 0
