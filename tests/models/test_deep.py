"""DeepNMF: layers of parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.special import expit

from partwise import NMF, DeepNMF, SemiNMF, load, save
from partwise.core import Checkpoint, Session
from partwise.models.deep_activation import ACTIVATIONS
from partwise.models.deep_steps import ActivatedSteps, chained

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
POSITIVE = rng.gamma(0.5, 1.0, (60, 5)) @ rng.gamma(0.5, 1.0, (5, 24)) + 0.1 * rng.random((60, 24))
SIGNED = POSITIVE - POSITIVE.mean(axis=0)
KINDS = {
    "semi": {},
    "nonnegative": {"semi": False},
    **{name: {"activation": name} for name in ACTIVATIONS},
    "softplus, nonnegative": {"activation": "softplus", "semi": False},
}


def data_for(options):
    return POSITIVE if options.get("semi") is False else SIGNED


def with_gaps(X):
    return np.where(np.random.default_rng(1).random(X.shape) < 0.15, np.nan, X)


@pytest.mark.parametrize("pretrain", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_never_rises_after_pretraining(kind, pretrain):
    for X in (data_for(KINDS[kind]), with_gaps(data_for(KINDS[kind]))):
        model = DeepNMF((10, 6, 3), pretrain=pretrain, max_iter=40, **KINDS[kind])
        W = model.fit_transform(X)
        course = model.history_["objective"]
        assert (np.diff(course) <= 1e-12 * np.nansum(X**2)).all()
        assert course[-1] < course[0]
        assert (W >= 0).all()
        if KINDS[kind].get("semi") is False:
            assert all((H >= 0).all() for H in model.bases_)
        loss = 0.5 * np.nansum((X - model.inverse_transform(W)) ** 2)
        assert model.objective_ == pytest.approx(loss)
        assert model.objective_ <= course[-1] * (1 + 1e-6)


@pytest.mark.parametrize("pretrain", [True, False])
def test_one_layer_is_nmf_or_semi_nmf(pretrain):
    init = None if pretrain else "random"
    one = DeepNMF((4,), pretrain=pretrain).fit(SIGNED)
    other = SemiNMF(4, init=init).fit(SIGNED)
    if pretrain:
        np.testing.assert_allclose(one.components_, other.components_, atol=1e-8)
        np.testing.assert_allclose(one.transform(SIGNED), other.transform(SIGNED), atol=1e-8)
        nonnegative = DeepNMF((4,), semi=False).fit(POSITIVE)
        np.testing.assert_allclose(nonnegative.components_, NMF(4).fit(POSITIVE).components_, atol=1e-8)
    assert one.objective_ == pytest.approx(other.objective_, rel=0.05)


def test_without_activation_the_layers_are_a_factored_basis():
    """The joint fit is that of SemiNMF from the pretrained start, to the bit."""
    start = DeepNMF((10, 4), finetune=False, tol=0.0, max_iter=50).fit(SIGNED)
    W = start.fit_transform(SIGNED)
    deep = DeepNMF((10, 4), tol=0.0, max_iter=50).fit(SIGNED)
    flat = SemiNMF(4, init="custom", tol=0.0, max_iter=50).fit(SIGNED, W=W, H=start.components_)
    np.testing.assert_allclose(deep.history_["objective"], flat.history_["objective"], rtol=1e-8)
    assert deep.objective_ == pytest.approx(flat.objective_, rel=1e-8)
    # The first basis keeps what its product with the others does not ask for.
    assert np.linalg.matrix_rank(deep.bases_[0]) == 10


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_by_finite_differences(activation):
    draw = np.random.default_rng(3)
    steps = ActivatedSteps(ACTIVATIONS[activation], semi=True)
    shapes = [(6, 9), (4, 6), (3, 4)]
    H = [draw.standard_normal(shape) for shape in shapes]
    W, X = draw.random((7, 3)), draw.standard_normal((7, 9))
    P, G = X @ H[0].T, H[0] @ H[0].T
    for place, A in enumerate([W, H[1], H[2]]):

        def parts(a, place=place):
            new = [W, H[1], H[2]]
            new[place] = a.reshape(new[place].shape)
            return steps.gradient(new[0], [H[0], *new[1:]], P, G)

        wrong = check_grad(
            lambda a, parts=parts: parts(a)[0].sum(),
            lambda a, parts=parts, place=place: parts(a)[1][place].ravel(),
            A.ravel(),
        )
        assert wrong < 1e-5 * max(1.0, np.abs(parts(A.ravel())[1][place]).max())
    rebuilt = steps.features(W, H)[0] @ H[0]
    loss = 0.5 * ((X - rebuilt) ** 2).sum() - 0.5 * (X**2).sum()
    assert steps.gradient(W, H, P, G)[0].sum() == pytest.approx(loss)


@pytest.mark.parametrize("only", [None, 0, 1, 2])
def test_gradients_of_a_few_rows_at_a_time_are_those_of_all(only):
    draw = np.random.default_rng(3)
    steps = ActivatedSteps(ACTIVATIONS["softplus"], semi=True)
    H = [draw.standard_normal(shape) for shape in [(6, 9), (4, 6), (3, 4)]]
    W, P, r = draw.random((50, 3)), draw.standard_normal((50, 6)), draw.random(50)
    G = H[0] @ H[0].T
    whole, every = (steps.gradient(W, H, P, G, r, one) for one in (only, None))
    parted = steps.gradient(W, H, P, G, r, only, together=7)
    np.testing.assert_allclose(parted[0], whole[0], rtol=1e-12)
    for one, other in zip(parted[1], whole[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    for one, other in zip(whole[1], every[1] if only is None else [every[1][only]], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_have_their_slopes_and_inverses(activation):
    g = ACTIVATIONS[activation]
    z = np.linspace(-2, 2, 9)
    value, slope = g.both(z)
    np.testing.assert_allclose((g.both(z + 1e-6)[0] - g.both(z - 1e-6)[0]) / 2e-6, slope, atol=1e-8)
    np.testing.assert_allclose(g.inverse(value), z)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_and_sigmoid_keep_their_digits_everywhere(dtype):
    z = np.concatenate([np.linspace(-80, 80, 3001), np.linspace(-1, 1, 3001)]).astype(dtype)
    expected = {"softplus": (np.logaddexp(0, z), expit(z)), "sigmoid": (expit(z), expit(z) * expit(-z))}
    for name, pair in expected.items():
        for found, truth in zip(ACTIVATIONS[name].both(z), pair):
            assert found.dtype == dtype
            np.testing.assert_allclose(found, truth, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_is_sparse(kind):
    X = np.where(np.random.default_rng(2).random(POSITIVE.shape) < 0.5, 0.0, data_for(KINDS[kind]))
    dense, sparse = (
        DeepNMF((8, 4), pretrain=False, tol=0.0, max_iter=3, **KINDS[kind]).fit(data)
        for data in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.history_["objective"][0], dense.history_["objective"][0], rtol=1e-8)
    # (The sweeps of one iteration are as many as a product is worth, and so fewer for sparse data.)
    np.testing.assert_allclose(sparse.history_["objective"], dense.history_["objective"], rtol=0.05)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), sparse.transform(X), atol=1e-4)


@pytest.mark.parametrize("kind", ["semi", "nonnegative"])
def test_transform_agrees_with_fit_transform(kind):
    X = data_for(KINDS[kind])
    model = DeepNMF((8, 4), **KINDS[kind])
    W = model.fit_transform(X)
    np.testing.assert_array_equal(W, model.transform(X))
    np.testing.assert_allclose(model.transform(X[:7]), W[:7], atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_new_rows_are_fitted_about_as_well_as_those_of_the_fit(kind):
    X = data_for(KINDS[kind])
    for data in (X, with_gaps(X)):
        model = DeepNMF((10, 5), **KINDS[kind]).fit(data)
        loss = 0.5 * np.nansum((data - model.inverse_transform(model.transform(data))) ** 2)
        assert loss < 1.5 * model.objective_ + 0.01 * np.nansum(data**2)


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_has_features_and_parts(kind):
    X = data_for(KINDS[kind])
    model = DeepNMF((10, 6, 3), max_iter=20, **KINDS[kind]).fit(X)
    assert [H.shape for H in model.layer_components_] == [(10, 24), (6, 24), (3, 24)]
    np.testing.assert_allclose(model.layer_components_[-1], model.components_)
    np.testing.assert_allclose(chained(model.bases_), model.components_)
    for layer, size in enumerate((10, 6, 3), 1):
        features = model.layer_features(X, layer)
        assert features.shape == (60, size)
        assert (features >= 0).all()
    np.testing.assert_array_equal(model.layer_features(X, 3), model.transform(X))


@pytest.mark.parametrize("kind", ["semi", "softplus"])
def test_a_saved_model_transforms_alike(kind, tmp_path):
    model = DeepNMF((8, 4), max_iter=20, **KINDS[kind]).fit(SIGNED)
    save(model, tmp_path / "deep.partwise")
    again = load(tmp_path / "deep.partwise")
    np.testing.assert_array_equal(again.transform(SIGNED), model.transform(SIGNED))
    assert again.layers == model.layers


@pytest.mark.filterwarnings("ignore::partwise.core.Interrupted")
@pytest.mark.parametrize("moment", [5, 30, 60], ids=["in layer 1", "in layer 2", "in the joint fit"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stopped_fit_keeps_what_it_has_and_goes_on_to_the_same_bits(kind, moment, tmp_path, monkeypatch):
    X, shown, steps = data_for(KINDS[kind]), Session.show, []

    def press(session, place, objective):
        steps.append(place)
        if len(steps) == moment:
            raise KeyboardInterrupt
        shown(session, place, objective)

    model = DeepNMF((8, 4), tol=0.0, max_iter=25, **KINDS[kind])
    with monkeypatch.context() as patched:
        patched.setattr(Session, "show", press)
        model.fit(X, checkpoint=Checkpoint(tmp_path, interval=0.0))
    assert model.ended_by_ == "interrupted"
    assert np.isfinite(model.transform(X)).all()
    model.fit(X, checkpoint=tmp_path)
    whole = DeepNMF((8, 4), tol=0.0, max_iter=25, **KINDS[kind]).fit(X)
    np.testing.assert_array_equal(model.components_, whole.components_)
    np.testing.assert_array_equal(model.history_["objective"], whole.history_["objective"])


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_stays(kind):
    X = data_for(KINDS[kind]).astype(np.float32)
    model = DeepNMF((8, 4), **KINDS[kind])
    assert model.fit_transform(X).dtype == model.transform(X).dtype == np.float32
    assert {H.dtype for H in model.bases_} == {np.dtype(np.float32)}
    # Rises of a few 1e-5 of ‖X‖² are rounding: on random data of this kind up to two were seen.
    assert (np.diff(model.history_["objective"]) <= 4e-5 * (X**2).sum()).all()


@pytest.mark.parametrize("power", [-200, 200])
def test_data_far_from_one(power):
    plain, far = (DeepNMF((8, 4)).fit(X) for X in (SIGNED, SIGNED * 10.0**power))
    assert far.reconstruction_err_ / 10.0**power == pytest.approx(plain.reconstruction_err_, rel=1e-2)


@pytest.mark.parametrize(
    ("model", "X", "sentence"),
    [
        (DeepNMF((4, 6)), SIGNED, r"layers=\(4, 6\) grow: layer 2 would have 6 parts made of the 4"),
        (DeepNMF((30, 6)), SIGNED, r"the first of layers=\(30, 6\) exceeds X.*24 parts already"),
        (DeepNMF((6, 3), semi=False), SIGNED, r"Negative values in data passed to DeepNMF.*semi=True"),
        (DeepNMF(()), SIGNED, "layers must be a sequence of numbers"),
        (DeepNMF((6, 0)), SIGNED, "layers must be a sequence of numbers"),
        (DeepNMF("64"), SIGNED, "layers must be a sequence of numbers"),
        (DeepNMF((6, 3), activation="step"), SIGNED, "activation must be one of"),
        (DeepNMF((2,)), np.zeros((4, 3)), "no observed entry other than zero"),
    ],
)
def test_bad_input_gets_a_sentence(model, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(X)


def test_a_layer_that_is_not_there():
    with pytest.raises(ValueError, match="layer must be at most 2"):
        DeepNMF((6, 3)).fit(SIGNED).layer_features(SIGNED, 3)


def test_summary_and_parts():
    model = DeepNMF((6, 3)).fit(SIGNED)
    assert "layers 6 → 3" in model.summary()["sentence"]
    assert len(model.summary()["parts"]) == 3
    assert len(model.pretraining_) == 2
