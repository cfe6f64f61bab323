"""What a user of NMF is promised."""

import pkgutil
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import partwise
from partwise import NMF, non_negative_factorization
from partwise.cli.model_options import loss_from
from partwise.core import Interrupted
from partwise.datasets import load_digits, make_low_rank
from partwise.losses import ALIASES
from partwise.models.convention import conventional
from partwise.priors import Gamma
from partwise.solvers import scd
from partwise.solvers.mu import MultiplicativeUpdate

LOSSES = ["frobenius", "kullback-leibler", "itakura-saito", 1.5, 0.5, 3.0]


@pytest.fixture(scope="module")
def X():
    return make_low_rank(60, 40, 4, noise="poisson", random_state=0).data + 0.05


@pytest.mark.parametrize("loss", LOSSES)
def test_transform_agrees_with_fit_transform(X, loss):
    model = NMF(4, beta_loss=loss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W = model.fit_transform(X)
    assert np.abs(model.transform(X) - W).max() <= 1e-3 * W.max()
    assert np.allclose(model.transform(X[:7]), W[:7], rtol=1e-2, atol=1e-3 * W.max())


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_and_dense_give_the_same_answer(loss):
    A = make_low_rank(40, 30, 3, density=0.5, random_state=1).data
    A = A + 0.01 if loss == "itakura-saito" else A
    # To convergence where sparse and dense data take different paths: fewer sweeps pay where less is stored.
    iterations = 200 if loss == "frobenius" else 30
    dense = NMF(3, beta_loss=loss, max_iter=iterations, tol=0).fit(A)
    for form in (sp.csr_matrix, sp.csc_matrix, sp.csr_array):
        sparse = NMF(3, beta_loss=loss, max_iter=iterations, tol=0).fit(form(A))
        assert np.allclose(sparse.components_, dense.components_, atol=1e-7)


def test_missing_entries_of_a_planted_matrix_are_recovered():
    planted = make_low_rank(80, 60, 5, missing=0.3, random_state=3)
    model = NMF(5, tol=1e-6, max_iter=2000)
    filled = model.inverse_transform(model.fit_transform(planted.data))
    hidden = np.isnan(planted.data)
    error = np.linalg.norm((filled - planted.clean)[hidden]) / np.linalg.norm(planted.clean[hidden])
    assert error < 1e-3


def test_what_is_missing_is_not_looked_at(X):
    # By one solver, so that the paths are the same: "auto" fills in what dense data lack, and visits sparse entries.
    options = {"max_iter": 20, "tol": 0, "solver": "scd"}
    hidden = np.random.default_rng(0).random(X.shape) < 0.2
    by_nan = NMF(4, **options).fit(np.where(hidden, np.nan, X))
    by_weight = NMF(4, **options).fit(np.where(hidden, 1e6, X), weights=(~hidden).astype(float))
    rows, columns = np.nonzero(~hidden)
    stored = sp.csr_array((X[~hidden], (rows, columns)), shape=X.shape)
    by_storage = NMF(4, **options, missing_values=0).fit(stored)
    by_zero = NMF(4, **options, missing_values=0).fit(np.where(hidden, 0, X))
    for other in (by_weight, by_storage, by_zero):
        assert np.allclose(other.components_, by_nan.components_, rtol=1e-6, atol=1e-12)


def test_nan_stored_in_sparse_data_is_missing_and_unstored_is_zero():
    A = make_low_rank(30, 20, 3, density=0.4, random_state=2).data
    S = sp.csr_array(A)
    S.data[::7] = np.nan
    dense = A.copy()
    dense[np.isnan(S.toarray())] = np.nan
    for loss in ("frobenius", "kullback-leibler"):
        a = NMF(3, beta_loss=loss, max_iter=20, tol=0, solver="scd").fit(S)
        b = NMF(3, beta_loss=loss, max_iter=20, tol=0, solver="scd").fit(dense)
        assert np.allclose(a.components_, b.components_, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", 1.5])
def test_a_row_of_weight_two_is_a_row_twice(X, loss):
    r = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    repeated = np.repeat(X, r.astype(int), axis=0)
    options = {"beta_loss": loss, "alpha_W": 0.01, "l1_ratio": 0.5, "max_iter": 40, "tol": 0}
    weighted = NMF(4, **options).fit(X, sample_weight=r)
    twice = NMF(4, **options).fit(repeated)
    assert np.allclose(weighted.components_, twice.components_, rtol=1e-6, atol=1e-10)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-9)


def test_fixed_components_stay_and_the_rest_is_learned():
    planted = make_low_rank(80, 30, 3, random_state=4)
    known = planted.H[:2]
    model = NMF(3, fixed_components=known, tol=1e-9, max_iter=3000).fit(planted.data)
    assert np.array_equal(model.components_[:2], known)
    found, truth = model.components_[2], planted.H[2]
    assert found @ truth / np.linalg.norm(found) / np.linalg.norm(truth) > 0.95


def test_restarts_keep_the_best(X):
    options = {"init": "random", "random_state": 0, "tol": 1e-6, "max_iter": 2000}
    objectives = [NMF(6, n_init=n, **options).fit(X).objective_ for n in (1, 2, 10)]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] < objectives[0]


def test_same_seed_same_bits(X):
    for options in ({}, {"init": "random"}, {"shuffle": True}, {"beta_loss": 1, "init": "nndsvdar"}):
        a, b = (NMF(4, random_state=5, max_iter=30, **options).fit(X) for _ in range(2))
        assert np.array_equal(a.components_, b.components_)
    a, b = (NMF(4, init="random", max_iter=30).fit(X) for _ in range(2))
    assert np.array_equal(a.components_, b.components_), "no seed given: still the same answer"


def test_history_convergence_and_the_warning(X):
    model = NMF(4, tol=1e-5, max_iter=5000).fit(X)
    assert model.converged_
    assert len(model.history_["objective"]) == model.n_iter_ + 1
    assert np.all(np.diff(model.history_["objective"]) <= 1e-9 * model.history_["objective"][0])
    with pytest.warns(ConvergenceWarning, match=r"reached. Increase it.*raise max_iter, for instance to 15"):
        short = NMF(4, max_iter=3).fit(X)
    assert not short.converged_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NMF(4, max_iter=3, tol=0).fit(X)


def test_time_limit_and_callbacks(X):
    seen = []
    model = NMF(4, max_time=0.0, callbacks=[lambda info, state: seen.append(info.objective)]).fit(X)
    assert model.n_iter_ == 1
    assert seen == list(model.history_["objective"])


def test_ctrl_c_leaves_a_fitted_model(X):
    def press(info, state):
        if info.iteration == 3:
            raise KeyboardInterrupt

    model = NMF(4, callbacks=[press])
    with pytest.warns(Interrupted, match="best found so far"):
        W = model.fit_transform(X)
    assert W.shape == (60, 4)
    assert model.n_iter_ == 3
    assert not model.converged_
    assert model.transform(X).shape == W.shape


@pytest.mark.parametrize(
    ("name", "tol"),
    [("conventional", 0), ("last_loss", 0), ("Problem.data_loss", 1e-9), ("Problem.prior_value", 0)],
)
def test_ctrl_c_after_the_last_step_loses_nothing(X, monkeypatch, name, tol):
    """The convention, the objective and the error are found after the run."""
    owner, _, attribute = f"partwise.models.nmf.{name}".rpartition(".")
    owner = pkgutil.resolve_name(owner)
    whole, calls = getattr(owner, attribute), []

    def pressed(*args):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(*args)

    model = NMF(4, max_iter=5, tol=tol, n_init=2)
    stepped = []
    model.callbacks = [
        lambda info, state: (
            stepped.append(1) or (len(stepped) == 6 and monkeypatch.setattr(owner, attribute, pressed))
        )
    ]
    with pytest.warns(Interrupted):
        W = model.fit_transform(X)
    assert calls
    assert (model.ended_by_, W.shape, model.components_.shape) == ("interrupted", (60, 4), (4, 40))


def test_an_interrupted_fit_is_whole_where_warnings_are_errors(X):
    def press(info, state):
        raise KeyboardInterrupt

    model = NMF(4, callbacks=[press])
    with warnings.catch_warnings():
        warnings.simplefilter("error", Interrupted)
        with pytest.raises(Interrupted):
            model.fit(X)
    assert [one["ended_by"] for one in model.restarts_] == ["interrupted"]


def test_ctrl_c_in_transform_is_raised(X):
    """Half-solved rows are of no use, and nobody would know them."""
    model = NMF(4, solver="mu", beta_loss="kullback-leibler", max_iter=10, tol=0, alpha_W=0.01).fit(X)
    step, calls = MultiplicativeUpdate.step, []

    def pressed(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return step(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MultiplicativeUpdate, "step", pressed)
        with pytest.raises(KeyboardInterrupt):
            model.transform(X)


def test_convention_of_order_and_scale(X):
    model = NMF(4, scale="components")
    W = model.fit_transform(X)
    assert np.allclose(model.components_.sum(axis=1), 1)
    share = W.sum(axis=0) * model.components_.sum(axis=1)
    assert np.all(np.diff(share) <= 1e-3 * share[0])
    kl = NMF(4, beta_loss="kullback-leibler", tol=1e-9, max_iter=3000, scale="components")
    assert np.allclose(kl.fit_transform(X).sum(axis=1), X.sum(axis=1), rtol=1e-2)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_scale_changes_neither_product_nor_objective(X, loss, dtype):
    X = X.astype(dtype)
    weight = np.arange(len(X)) % 3
    settings = {"beta_loss": loss, "tol": 1e-9 if dtype == "float64" else 1e-6, "max_iter": 2000}
    fits = {scale: NMF(4, scale=scale, **settings) for scale in ("samples", "components", None)}
    products = {}
    for scale, model in fits.items():
        W = model.fit_transform(X, sample_weight=weight)
        assert np.array_equal(model.transform(X), W)
        products[scale] = W @ model.components_
        assert model.objective_ == pytest.approx(fits["samples"].objective_, rel=1e-5)
    close = 1e-3 * X.max()
    assert np.allclose(products["samples"], products["components"], atol=close)
    assert np.allclose(products["samples"], products[None], atol=close)
    W = fits["samples"].transform(X)
    assert np.allclose(np.sqrt(weight @ W**2 / weight.sum()), 0.5, rtol=1e-2)
    assert np.allclose(fits["components"].components_.sum(axis=1), 1)


def test_scale_of_samples_has_no_units():
    rng = np.random.default_rng(0)
    W, Ht, weight = rng.random((30, 3)), rng.random((20, 3)), rng.random(30)
    expected, parts = conventional(W, Ht, weight, "samples")
    assert np.allclose(np.sqrt(weight @ expected**2 / weight.sum()), 0.5)
    for unit, split in ((1e3, 1.0), (1e-250, 1e250), (1e250, 1e-200), (1e-250, 1e-50)):
        scaled, at_scale = conventional(W * unit, Ht * split, weight, "samples")
        assert np.allclose(scaled, expected)
        assert np.allclose(at_scale / (unit * split), parts, rtol=1e-6)
    unused, rest = conventional(W * [1.0, 0.0, 1.0], Ht, None, "samples")
    assert np.isfinite(unused).all()
    assert np.array_equal(rest[:, 2], Ht[:, 1])


def test_scale_is_left_alone_where_a_prior_or_the_user_settles_it(X):
    penalised = [NMF(3, alpha_W=0.01, scale=scale).fit(X).components_ for scale in ("samples", None)]
    assert np.array_equal(*penalised)
    fixed = NMF(3, fixed_components=X[:1]).fit(X)
    assert np.array_equal(fixed.components_[0], X[0])
    with pytest.raises(ValueError, match="scale must be one of"):
        NMF(3, scale="rows").fit(X)


def topics_with_labels(n=600, m=400, k=12, seed=0):
    """Word counts of documents of very different length, with a label each, as a newsgroup gives one."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(m, 0.05), k)
    y = rng.integers(k, size=n)
    share = rng.dirichlet(np.full(k, 0.2), n) + 1.5 * np.eye(k)[y]
    length = rng.lognormal(4.5, 1.0, n)[:, None]
    return rng.poisson(length * (share / share.sum(axis=1, keepdims=True)) @ topics).astype(float), y


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("data", ["digits", "iris", "topics"])
def test_a_default_logistic_regression_converges_on_W(data, loss):
    from sklearn.datasets import load_digits, load_iris
    from sklearn.linear_model import LogisticRegression

    load, k = {
        "digits": (lambda: load_digits(return_X_y=True), 40),
        "iris": (lambda: load_iris(return_X_y=True), 3),
        "topics": (topics_with_labels, 30),
    }[data]
    X, y = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W = NMF(k, beta_loss=loss).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert LogisticRegression().fit(W, y).score(W, y) > 0.8


def test_custom_start_keeps_its_place(X):
    rng = np.random.default_rng(0)
    W, H = rng.random((60, 4)), rng.random((4, 40))
    model = NMF(4, init="custom", solver="cd", max_iter=1, tol=0)
    got = model.fit_transform(X, W=W, H=H)
    again = NMF(4, init="custom", solver="cd", max_iter=2, tol=0).fit(X, W=W, H=H)
    onward = NMF(4, init="custom", solver="cd", max_iter=1, tol=0).fit(X, W=got, H=model.components_)
    assert np.allclose(onward.components_, again.components_)


def test_score_is_minus_loss_per_observed_entry(X):
    model = NMF(4).fit(X)
    W = model.transform(X)
    assert model.score(X) == pytest.approx(-0.5 * np.mean((X - W @ model.components_) ** 2), rel=1e-6)
    holes = X.copy()
    holes[::3, ::2] = np.nan
    W = model.transform(holes)
    seen = ~np.isnan(holes)
    expected = -0.5 * np.mean((X - W @ model.components_)[seen] ** 2)
    assert model.score(holes) == pytest.approx(expected, rel=1e-6)


def test_priors_shape_the_factors(X):
    plain = NMF(4, beta_loss="kullback-leibler", max_iter=300)
    W0 = plain.fit_transform(X)
    pulled = NMF(
        4, beta_loss="kullback-leibler", prior_W=Gamma(50.0, 50.0), prior_H=Gamma(1.0, 1.0), max_iter=300
    )
    W1 = pulled.fit_transform(X)
    assert W1.std() / W1.mean() < W0.std() / W0.mean()
    sparse = NMF(4, prior_W=Gamma(0.1, 1.0), prior_H=Gamma(0.1, 1.0), max_iter=300)
    W2 = sparse.fit_transform(X)
    assert (W2 == 0).mean() > (W0 == 0).mean()
    assert np.isfinite(W2).all()


def test_frames_and_annotated_data_keep_their_names():
    pd = pytest.importorskip("pandas")
    anndata = pytest.importorskip("anndata")
    A = make_low_rank(12, 6, 2, random_state=0).data
    frame = pd.DataFrame(A, columns=[f"gene{j}" for j in range(6)], index=[f"cell{i}" for i in range(12)])
    model = NMF(2).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.index) == list(frame.index)
    assert list(out.columns) == ["nmf0", "nmf1"]
    assert list(model.feature_names_in_) == list(frame.columns)
    annotated = anndata.AnnData(sp.csr_matrix(A))
    annotated.obs_names, annotated.var_names = frame.index, frame.columns
    other = NMF(2).set_output(transform="pandas")
    out = other.fit_transform(annotated)
    assert list(out.index) == list(frame.index)
    assert list(other.feature_names_in_) == list(frame.columns)
    assert list(other.transform(annotated).index) == list(frame.index)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        other.transform(annotated[:, ::-1])


def test_saved_models_transform_identically(X, tmp_path):
    model = NMF(4, beta_loss=1, prior_W=Gamma(2.0, 1.0), alpha_H=0.01, missing_values=np.nan).fit(X)
    path = partwise.save(model, tmp_path / "model.partwise")
    loaded = partwise.load(path)
    assert np.array_equal(loaded.transform(X), model.transform(X))
    assert loaded.get_params()["prior_W"] == Gamma(2.0, 1.0)
    assert loaded.history_["objective"].tolist() == model.history_["objective"].tolist()


def test_zero_rows_and_columns_are_fine():
    A = make_low_rank(20, 15, 3, random_state=1).data
    A[3], A[:, 5] = 0, 0
    for loss in ("frobenius", "kullback-leibler", 1.5):
        model = NMF(3, beta_loss=loss)
        W = model.fit_transform(A)
        assert np.allclose(W[3], 0, atol=1e-8)
        assert np.isfinite(model.components_).all()
        assert np.allclose(model.components_[:, 5], 0, atol=1e-8)


def test_sparse_data_are_never_made_dense():
    n, m = 20_000, 10_000
    rng = np.random.default_rng(0)
    places = rng.integers(0, n, n * m // 100), rng.integers(0, m, n * m // 100)
    S = sp.csr_array((rng.random(n * m // 100), places), shape=(n, m))
    own = S.data.nbytes + S.indices.nbytes + S.indptr.nbytes
    for loss in ("frobenius", "kullback-leibler"):
        NMF(5, beta_loss=loss, max_iter=1).set_params(tol=0.0).fit(S[:100])
        tracemalloc.start()
        NMF(10, beta_loss=loss, max_iter=3, tol=0).fit(S)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        factors = (n + m) * 10 * 8
        assert peak <= 3 * own + factors


def test_digits_reach_what_scikit_learn_reaches():
    from sklearn.decomposition import NMF as Theirs

    A = load_digits().data
    ours = NMF(10).fit(A)
    theirs = Theirs(10).fit(A)
    assert ours.reconstruction_err_ <= 1.01 * theirs.reconstruction_err_


def test_function_and_estimator_agree(X):
    W, H, n_iter = non_negative_factorization(X, n_components=4, random_state=0)
    model = NMF(4, random_state=0)
    assert np.array_equal(model.fit_transform(X), W)
    assert np.array_equal(model.components_, H)
    assert model.n_iter_ == n_iter
    held, same, none = non_negative_factorization(X, H=H, update_H=False)
    assert np.array_equal(held, model.transform(X))
    assert same is H or np.array_equal(same, H)
    assert none == 0


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_what_transform_gives_for_a_row_does_not_depend_on_the_others(X, loss):
    data = X.astype(np.float32)
    model = NMF(3, beta_loss=loss, max_iter=500, tol=1e-6).fit(data)
    # Where the batch's mean is larger by orders of magnitude, so would be what is tiny against it.
    alone, together = model.transform(data[3:4]), model.transform(np.vstack([data[:9], 1e8 * data[:20]]))
    assert np.allclose(alone[0], together[3], rtol=1e-5)


@pytest.mark.parametrize("name", [*ALIASES, "KL", "Frobenius"])
def test_short_names_of_losses_are_those_of_the_command_line(name):
    A = make_low_rank(12, 6, 2, random_state=0).data + 0.1
    full = ALIASES.get(name.lower(), name.lower())
    W, H, _ = non_negative_factorization(A, n_components=2, beta_loss=name, max_iter=50, tol=1e-2)
    model = NMF(2, beta_loss=full, max_iter=50, tol=1e-2)
    assert np.array_equal(W, model.fit_transform(A))
    assert np.array_equal(H, model.components_)
    assert loss_from(name) == full


def test_an_unknown_loss_is_answered_with_those_there_are():
    with pytest.raises(ValueError, match=r"'kl', 'kullback-leibler', .* got 'kullback'"):
        NMF(2, beta_loss="kullback").fit(np.eye(3))


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_columns_without_data_are_named_and_zero(missing, loss):
    rng = np.random.default_rng(0)
    X = rng.random((30, 2)) @ rng.random((2, 9))
    X[rng.random(X.shape) < missing] = np.nan
    X[:, [2, 5]] = np.nan
    with pytest.warns(UserWarning, match="Columns 2, 5 have no observed entry"):
        model = NMF(2, beta_loss=loss, max_iter=500).fit(X)
    assert (model.components_[:, [2, 5]] == 0).all()
    with pytest.warns(UserWarning, match="no observed entry"):
        np.testing.assert_array_equal(model.fit_transform(X), model.transform(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NMF(2, beta_loss=loss, max_iter=5, tol=0).fit(np.delete(X, [2, 5], axis=1))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler", "itakura-saito"])
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("init", [None, "random"])
def test_weights_in_other_units_give_the_same_fit(loss, as_sparse, init):
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, 1.0, (40, 3)) @ rng.gamma(1.0, 1.0, (3, 12)) + 0.05 * rng.random((40, 12))
    weights = rng.random(X.shape) + 0.1
    found = []
    for unit in (1.0, 2.0**-40, 2.0**40):
        data = sp.csr_array(X) if as_sparse else X
        given = sp.csr_array(weights * unit) if as_sparse else weights * unit
        missing = {"missing_values": 0} if as_sparse else {}
        model = NMF(3, beta_loss=loss, max_iter=200, init=init, **missing).fit(data, weights=given)
        found.append(model)
    for other in found[1:]:
        np.testing.assert_allclose(other.components_, found[0].components_, rtol=1e-6, atol=1e-9)
    assert found[2].objective_ == pytest.approx(2.0**40 * found[0].objective_)
    assert found[0].objective_ < 0.1 * NMF(1, beta_loss=loss).fit(X, weights=weights).objective_


def test_weights_that_do_not_fit_the_numbers_of_the_data_are_refused():
    with pytest.raises(
        ValueError, match=r"largest of weights is 1e\+60, and X of float32 .* Divide all weights"
    ):
        NMF(1).fit(np.ones((3, 2), np.float32), weights=np.full((3, 2), 1e60))


def test_row_weights_beyond_the_digits_of_sums_are_refused():
    for weight in (1e30, 1e-30):
        with pytest.raises(ValueError, match=r"largest sample_weight is .* Divide all of them by one number"):
            NMF(1).fit(np.ones((3, 2)), sample_weight=np.full(3, weight))


def test_parts_that_missing_data_do_not_bound_stay_finite_and_are_told():
    """Columns with one datum in a row that hardly has a part: on film ratings factors grew to NaN."""
    rng = np.random.default_rng(0)
    X = rng.integers(1, 6, (150, 300)).astype(np.float32)
    hidden = rng.random(X.shape) < 0.97
    hidden[rng.integers(0, 150, 300), np.arange(300)] = False
    X[hidden] = np.nan
    with pytest.warns(UserWarning, match="do not bound the parts"):
        model = NMF(10, max_iter=600, tol=0).fit(X)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.history_["objective"]).all()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*do not bound the parts")
        NMF(10, alpha_W=0.05, max_iter=300).fit(X)


@pytest.mark.filterwarnings("ignore:So many entries are missing")
def test_entries_of_factors_that_missing_data_do_not_bound_have_a_bound(monkeypatch):
    """Squares of 2e19 do not fit into float32: ratings of films ended in NaN after two hundred iterations."""
    rng, most = np.random.default_rng(0), []
    X = rng.integers(1, 6, (60, 120)).astype(np.float32)
    hidden = rng.random(X.shape) < 0.95
    hidden[rng.integers(0, 60, 120), np.arange(120)] = False
    X[hidden] = np.nan
    watch = [lambda info, state: most.append(max(state.W.max(), state.Ht.max()))]
    model = NMF(6, init="random", max_iter=200, tol=0, callbacks=watch)
    model.fit(X)
    free = max(most)
    most.clear()
    monkeypatch.setitem(scd.BOTH, np.dtype(np.float32), 20.0)
    model.fit(X)
    # (Factors are pushed on along their last moves, past the bound, by less than as much again.)
    assert max(most) <= 40.0 < free


@pytest.mark.parametrize("sparse", [False, True])
def test_starts_of_data_with_gaps_count_rows_by_their_weights(sparse):
    """A row of weight 2 is that row twice, and rows of weight 0 are not there, from the start on."""
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(1, 2, (40, 3)) @ rng.gamma(1, 2, (3, 12)) + 0.3).astype(float)
    times = np.arange(40) % 3
    loud = X.copy()
    loud[times == 0] *= 1000
    gaps = rng.random(X.shape) < 0.15

    def first(values, holes, **more):
        values = np.where(holes, np.nan, values)
        data = sp.csr_matrix(values) if sparse else values
        return NMF(3, beta_loss="kl", max_iter=5).fit(data, **more).history_["objective"][0]

    repeated = first(np.repeat(X, times, axis=0), np.repeat(gaps, times, axis=0))
    assert first(X, gaps, sample_weight=times) == pytest.approx(repeated, rel=1e-6)
    assert first(loud, gaps, sample_weight=times) == pytest.approx(repeated, rel=1e-6)
