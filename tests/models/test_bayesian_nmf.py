"""BayesianNMF: planted truths are covered, the same draws whatever the form of the data, files, Ctrl-C, bad input."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from partwise import BayesianNMF, load, save
from partwise.core import Checkpoint, Interrupted
from partwise.parallel import thread_limit
from partwise.priors import Bounds, ElasticNet, Gamma

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHORT = {"n_draws": 60, "n_warmup": 40, "n_chains": 2}


def planted(n=30, m=20, k=3, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    clean = rng.exponential(1.0, (n, k)) @ rng.exponential(1.0, (k, m))
    return clean + noise * rng.standard_normal((n, m)), clean


def counts(seed=0):
    _, clean = planted(seed=seed)
    return np.random.default_rng(seed).poisson(3.0 * clean).astype(float), 3.0 * clean


@pytest.fixture(scope="module")
def gaussian():
    X, clean = planted()
    return BayesianNMF(3, n_draws=400, n_warmup=200, n_chains=2).fit(X), X, clean


@pytest.fixture(scope="module")
def poisson():
    X, clean = counts()
    return BayesianNMF(3, likelihood="poisson", n_draws=400, n_warmup=200, n_chains=2).fit(X), X, clean


@pytest.mark.parametrize("which", ["gaussian", "poisson"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(which, request):
    model, _, clean = request.getfixturevalue(which)
    low, high = model.predict_interval(level=0.9)
    assert 0.8 < np.mean((low <= clean) & (clean <= high)) < 0.97
    wider, higher = model.predict_interval(level=0.99)
    assert (wider <= low).all()
    assert (higher >= high).all()
    assert np.mean(high - low) < 0.5 * clean.std()
    mean = model.W_mean_ @ model.components_
    assert np.mean((low <= mean) & (mean <= high)) > 0.99


def test_the_noise_is_found_and_chains_agree(gaussian):
    model, _, _ = gaussian
    assert abs(model.noise_ - 0.04) < 4 * model.noise_std_
    assert model.converged_ == (max(model.rhat_.values()) <= 1.05 and min(model.ess_.values()) >= 100)
    assert max(model.rhat_.values()) < 1.1
    assert set(model.rhat_) == {"log-posterior", "noise variance", "reconstruction"}
    assert (model.n_draws_, model.n_iter_, model.ended_by_) == (800, 600, "max_iter")
    share = model.W_mean_.sum(axis=0) * model.components_.sum(axis=1)
    assert (np.diff(share) <= 0).all()
    assert len(model.history_["step"]) == len(model.history_["log_posterior"]) == 600
    assert (model.history_["lowest"] <= model.history_["highest"]).all()


def test_the_mean_of_the_kept_draws_is_the_mean(gaussian):
    model, _, _ = gaussian
    assert np.allclose(model._draws["W"].mean(axis=(0, 1)), model.W_mean_)
    assert np.allclose(model._draws["H"].std(axis=(0, 1), ddof=1).T, model.components_std_, rtol=0.02)


@pytest.mark.parametrize("which", ["gaussian", "poisson"])
def test_transform_finds_the_posterior_mean_of_the_rows(which, request):
    model, X, clean = request.getfixturevalue(which)
    W = model.transform(X)
    assert np.mean(np.abs(W - model.W_mean_) / model.W_std_) < 0.5
    order = np.random.default_rng(0).permutation(len(X))[:11]
    assert np.allclose(model.transform(X[order]), W[order], rtol=1e-6)
    assert np.allclose(model.transform(sp.csr_matrix(X)), W, rtol=1e-6)
    low, high = model.predict_interval(X[:8])
    assert 0.7 < np.mean((low <= clean[:8]) & (clean[:8] <= high)) <= 1.0


def test_intervals_of_new_rows_are_as_wide_as_those_of_the_fit(gaussian):
    """To a few percent: of the 400 draws of H that are kept, three draws of W each."""
    model, X, _ = gaussian
    for level in (0.5, 0.9, 0.98):
        own, new = model.predict_interval(level=level), model.predict_interval(X, level=level)
        assert np.mean(new[1] - new[0]) == pytest.approx(np.mean(own[1] - own[0]), rel=0.06)
    with pytest.warns(UserWarning, match="too narrow"):
        model.predict_interval(X[:2], level=0.999)


def test_swapped_components_between_chains_are_aligned():
    X, _ = planted(k=4, noise=0.1)
    model = BayesianNMF(
        4, init="random", anneal=True, n_draws=200, n_warmup=400, n_chains=4, random_state=3
    ).fit(X)
    assert model.rhat_["log-posterior"] < 1.1
    means = model._draws["H"].mean(axis=1)
    for other in means[1:]:
        cosines = (
            np.einsum("ij,ij->j", means[0], other)
            / np.linalg.norm(means[0], axis=0)
            / np.linalg.norm(other, axis=0)
        )
        assert cosines.min() > 0.9


def same(one, other):
    assert np.array_equal(one.components_, other.components_)
    assert np.array_equal(one.W_std_, other.W_std_)
    assert one.rhat_ == other.rhat_


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
def test_threads_and_repeated_calls_give_the_same_bits(likelihood):
    X, _ = counts()
    with thread_limit(1):
        one = BayesianNMF(2, likelihood=likelihood, **SHORT).fit(X)
    with thread_limit(3):
        same(one, BayesianNMF(2, likelihood=likelihood, **SHORT).fit(X))
    other = BayesianNMF(2, likelihood=likelihood, random_state=1, **SHORT).fit(X)
    assert not np.array_equal(one.components_, other.components_)


def test_missing_entries_are_filled_in_with_honest_intervals():
    X, clean = planted(40, 30, 2, noise=0.1)
    hidden = np.random.default_rng(1).random(X.shape) < 0.3
    broken = np.where(hidden, np.nan, X)
    model = BayesianNMF(2, n_draws=300, n_warmup=200, n_chains=2).fit(broken)
    low, high = model.predict_interval()
    assert 0.8 < np.mean(((low <= clean) & (clean <= high))[hidden]) < 0.98
    assert np.allclose(model.transform(broken), model.W_mean_, atol=0.3)


@pytest.mark.parametrize("likelihood", ["gaussian", "poisson"])
def test_float32_and_sparse_data_are_taken_as_they_are(likelihood):
    X, _ = counts()
    X[X < 4] = 0.0
    dense = BayesianNMF(2, likelihood=likelihood, **SHORT).fit(X)
    sparse = BayesianNMF(2, likelihood=likelihood, **SHORT).fit(sp.csr_matrix(X))
    assert np.allclose(dense.components_, sparse.components_, rtol=0.2)
    narrow = BayesianNMF(2, likelihood=likelihood, **SHORT).fit(X.astype(np.float32))
    assert narrow.components_.dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(dense.components_.sum(), narrow.components_.sum(), rtol=0.3)


def test_a_fit_out_of_time_goes_on_from_its_checkpoint_to_the_same_bits(tmp_path):
    X, _ = planted()
    whole = BayesianNMF(2, **SHORT).fit(X)
    for limit in (0.0, None):
        model = BayesianNMF(2, max_time=limit, **SHORT).fit(X, checkpoint=Checkpoint(tmp_path, interval=0.0))
        assert model.ended_by_ == ("max_time" if limit == 0.0 else "max_iter")
        assert np.isfinite(model.components_).all()
    same(model, whole)


def test_a_fit_that_was_interrupted_at_once_is_still_a_model(monkeypatch):
    from partwise.samplers.gaussian_gibbs import GaussianGibbs

    step, calls = GaussianGibbs.step, []

    def press(self, problem, state, rng):
        calls.append(1)
        if len(calls) == 5:
            import _thread

            _thread.interrupt_main()
        return step(self, problem, state, rng)

    monkeypatch.setattr(GaussianGibbs, "step", press)
    X, _ = planted()
    with pytest.warns(Interrupted):
        model = BayesianNMF(2, n_draws=10**6, n_warmup=10**6).fit(X)
    assert model.ended_by_ == "interrupted"
    assert not model.converged_
    assert model.transform(X).shape == (30, 2)
    assert np.isfinite(model.predict_interval()[1]).all()


def test_a_file_keeps_summaries_and_not_draws(gaussian, tmp_path):
    model, X, _ = gaussian
    file = save(model, tmp_path / "model")
    assert file.stat().st_size < 250_000
    for again in (load(file), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.transform(X), model.transform(X))
        assert np.array_equal(again.predict_interval(X[:4])[0], model.predict_interval(X[:4])[0])
        assert again.summary()["figures"] == model.summary()["figures"]
        with pytest.raises(ValueError, match="model files do not keep"):
            again.predict_interval()
        with pytest.raises(ValueError, match="to_arviz needs the draws"):
            again.to_arviz()


def test_draws_for_arviz(poisson, gaussian, tmp_path):
    az = pytest.importorskip("arviz")
    model, _, _ = gaussian
    data = model.to_arviz(log_likelihood=True, posterior_predictive=True)
    assert data.posterior["H"].dims == ("chain", "draw", "component", "feature")
    assert data.posterior["H"].shape == (2, 400, 3, 20)
    assert data.posterior["W"].dims == ("chain", "draw", "row", "component")
    total = data.log_likelihood["X"].sum(("row", "feature")).values
    levels = data.sample_stats["lp"].values
    assert np.corrcoef(total.ravel(), levels.ravel())[0, 1] > 0.5
    assert total.mean() == pytest.approx(model.log_likelihood_, rel=1e-6)
    spread = data.posterior_predictive["X"].values.std(axis=(0, 1))
    assert spread.mean() == pytest.approx(np.sqrt(model.noise_), rel=0.25)
    assert float(az.rhat(data)["noise"]) == pytest.approx(model.rhat_["noise variance"], rel=1e-9)
    counted = poisson[0].to_arviz(log_likelihood=True)
    assert counted.log_likelihood["X"].sum(("row", "feature")).mean() == pytest.approx(
        poisson[0].log_likelihood_, rel=1e-6
    )
    data.to_netcdf(str(tmp_path / "draws.nc"))
    assert (tmp_path / "draws.nc").stat().st_size > 0


def test_kept_draws_stay_within_memory_and_large_groups_are_refused(monkeypatch):
    X, _ = planted()
    model = BayesianNMF(2, memory=2 * 10 * 8 * 100, **SHORT).fit(X)
    assert sum(part.nbytes for part in model._draws.values()) <= 2 * 10 * 8 * 110
    assert model.n_draws_ == 120
    monkeypatch.setattr("partwise.models.bayesian_nmf._LARGEST_GROUP", 1e3)
    with pytest.raises(ValueError, match="so that fewer draws are kept"):
        model.to_arviz(log_likelihood=True)


@pytest.mark.parametrize(
    ("options", "broken", "words"),
    [
        ({"likelihood": "normal"}, None, "likelihood must be one of"),
        ({"n_draws": 0}, None, "n_draws must be an integer of at least 1"),
        ({"init": "nndsvd"}, None, "init must be one of"),
        ({"init": 3}, None, r"init must be 'nmf', 'random' or a pair"),
        ({"prior_W": "gamma"}, None, "prior_W must be one of"),
        ({"prior_W": Gamma(2.0, 1.0)}, None, "prior_W=.*cannot be sampled under likelihood='gaussian'"),
        ({"prior_H": ElasticNet(), "prior_W": ElasticNet()}, None, "flat prior of both factors"),
        ({"prior_W": ElasticNet()}, None, "flat prior of W"),
        (
            {"likelihood": "poisson", "prior_H": ElasticNet(l1=1.0)},
            None,
            "Gamma\\(shape, rate\\) with a rate above 0",
        ),
        ({"likelihood": "poisson"}, np.full((4, 3), 0.5), r"takes counts, whole numbers; X\[0, 0\] = 0.5"),
        ({"likelihood": "poisson"}, -np.ones((4, 3)), "Negative values"),
        ({"noise_prior": (0.0, 1.0)}, None, "noise_prior needs a shape and a scale above 0"),
        ({"n_components": 99}, None, "exceeds both sides"),
        ({}, np.zeros((4, 3)), "no observed entry other than zero"),
        ({}, np.full((4, 3), 1e200), "Divide X by a number of its size"),
        ({"missing_values": None}, np.full((4, 3), np.nan), "contains NaN"),
    ],
)
def test_bad_input_gets_a_sentence(options, broken, words):
    usual = counts()[0] if options.get("likelihood") == "poisson" else planted()[0]
    X = usual if broken is None else broken
    with pytest.raises(ValueError, match=words):
        BayesianNMF(**{"n_components": 2, **SHORT, **options}).fit(X)


def test_bad_levels_and_starts_get_a_sentence(gaussian):
    model, X, _ = gaussian
    with pytest.raises(ValueError, match="level must"):
        model.predict_interval(level=1.0)
    with pytest.raises(ValueError, match="wrong first dimension"):
        BayesianNMF(2, init=(np.ones((3, 2)), np.ones((2, 20)))).fit(X)


@pytest.mark.parametrize(
    "options",
    [
        {"prior_W": "half-normal", "prior_H": "half-normal"},
        {"prior_W": Bounds(0.0, 5.0), "prior_H": Gamma(1.0, 0.5)},
        {"prior_H": ElasticNet(l1=1.0, l2=0.5), "noise_prior": (2.0, 0.1)},
        {"init": (np.ones((30, 2)), np.arange(1.0, 41.0).reshape(2, 20))},
        {"anneal": True, "init": "random"},
        {"thin": 3, "n_chains": 1},
    ],
)
def test_priors_and_starts(options):
    X, _ = planted(k=2)
    model = BayesianNMF(2, **{**SHORT, **options}).fit(X)
    assert np.isfinite(model.log_posterior_)
    assert model.W_mean_.max() <= (5.0 if isinstance(options.get("prior_W"), Bounds) else np.inf)


def test_chains_too_short_to_judge_say_so():
    with pytest.warns(ConvergenceWarning, match="cannot be told from 4 draws"):
        BayesianNMF(2, n_draws=4, n_warmup=2).fit(planted()[0])
    with pytest.warns(
        ConvergenceWarning, match=r"The chains have not converged: R-hat of the .* Raise n_draws"
    ):
        BayesianNMF(6, n_draws=20, n_warmup=0, init="random").fit(planted()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        BayesianNMF(1, n_draws=300, n_warmup=100).fit(planted(k=1)[0])
