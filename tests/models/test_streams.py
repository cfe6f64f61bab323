"""Data read by row blocks: the same answers as in memory, and a sentence for blocks that cannot be."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sweeps import data

from partwise import NMF
from partwise.matrix import Dense, Sparse
from partwise.models import streams


@pytest.fixture
def X(monkeypatch):
    """Data of several blocks."""
    monkeypatch.setattr("partwise.matrix.base.BLOCK_ENTRIES", 200)
    return data(90, 10, 0)


def cut(X, heights):
    edges = np.cumsum([0, *heights])
    return lambda: (X[a:b] for a, b in pairwise(edges))


def fits(X, **parameters):
    model = NMF(3, max_iter=30, tol=0, **parameters)
    return model.fit_transform(X), model


@pytest.mark.parametrize("heights", [(90,), (20, 20, 20, 20, 10), (1, 44, 3, 42), (45, 45)])
def test_blocks_of_any_height_give_the_bits_of_memory(X, heights):
    W, model = fits(X)
    streamed, other = fits(cut(X, heights))
    assert np.array_equal(W, streamed)
    assert np.array_equal(model.components_, other.components_)
    assert list(model.history_["objective"]) == list(other.history_["objective"])
    assert np.array_equal(other.transform(cut(X, heights)), other.transform(X))


@pytest.mark.parametrize("heights", [(90,), (20, 20, 20, 20, 10), (1, 44, 3, 42), (45, 45)])
@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"init": "random"}, {"beta_loss": "kl", "solver": "emu"}, {"solver": "emu", "missing_values": 0}],
)
def test_sparse_blocks_of_any_height_give_the_bits_of_memory(X, heights, form, parameters):
    # A block has at most 200 / 4 entries, so there are several; two rows are empty.
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.4, X, 0.0)
    X[3:5] = 0.0
    X = sp.csr_array(X)
    held = X.asformat(form)
    W, model = fits(held, **parameters)
    streamed, other = fits(cut(X, heights), **parameters)
    assert np.array_equal(W, streamed)
    assert np.array_equal(model.components_, other.components_)
    assert list(model.history_["objective"]) == list(other.history_["objective"])
    assert np.array_equal(other.transform(cut(X, heights)), other.transform(held))


def test_small_sparse_blocks_are_one_block_as_in_memory():
    X = sp.random(900, 30, 0.3, random_state=0, format="csr")
    in_memory, streamed = NMF(4).fit(X), NMF(4).fit(lambda: (X[i : i + 250] for i in range(0, 900, 250)))
    assert np.array_equal(in_memory.components_, streamed.components_)
    assert in_memory.n_iter_ == streamed.n_iter_


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_blocks_are_cut_where_memory_is(monkeypatch, kind):
    monkeypatch.setattr("partwise.matrix.base.BLOCK_ENTRIES", 40)
    rng = np.random.default_rng(3)
    for _ in range(50):
        X = kind((rng.random((30, 12)) < rng.random((30, 1)) ** 2).astype(float))
        wrap = (Sparse if sp.issparse(X) else Dense).of
        cuts = [0, *np.sort(rng.integers(1, 30, 4)), 30]
        blocks = (X[a:b] for a, b in pairwise(cuts) if a < b)
        heights = [rows.stop - rows.start for rows, _ in wrap(X).blocks()]
        assert [block.shape[0] for block in streams._recut(blocks)] == heights


@pytest.mark.parametrize("loss", ["kullback-leibler", "itakura-saito", "negative-binomial"])
def test_every_loss_can_be_streamed(X, loss):
    X = X + 0.1
    W, model = fits(X, beta_loss=loss, solver="emu")
    streamed, other = fits(cut(X, (30, 60)), beta_loss=loss)
    assert other.solver_ == "emu"
    assert np.allclose(W, streamed, rtol=1e-6)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-8)


def test_missing_entries_weights_and_sparse_blocks(X):
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    r = np.random.default_rng(1).random(90) + 0.5

    def fit(data):
        model = NMF(3, solver="emu", max_iter=20, tol=0).fit(data, sample_weight=r)
        return model.components_

    assert np.allclose(fit(holes), fit(cut(holes, (40, 50))), rtol=1e-8)
    assert np.allclose(fit(X), fit(lambda: (sp.csr_array(part) for part in cut(X, (40, 50))())), rtol=1e-8)


def test_a_matrix_is_taken_as_it_is(X):
    assert np.array_equal(fits(Dense.of(X))[0], fits(X)[0])
    with pytest.raises(ValueError, match="a Matrix carries the weights of its rows"):
        NMF(3).fit(Dense.of(X), sample_weight=np.ones(90))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_a_memory_mapped_array_is_never_copied_whole(tmp_path, monkeypatch, dtype):
    monkeypatch.setattr(streams, "STREAMED_BYTES", 1000)
    monkeypatch.setattr("partwise.matrix.base.BLOCK_ENTRIES", 1 << 14)
    shape = (20_000, 100)
    array = np.memmap(tmp_path / "X.dat", dtype, "w+", shape=shape)
    array[:] = np.random.default_rng(0).integers(0, 9, shape)
    fit = NMF(2, max_iter=2, tol=0, init="random")
    fit.fit(array)  # compiled, and libraries loaded
    tracemalloc.start()
    fit.fit(array)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * 20_000 * 100 * 4
    small = NMF(2, max_iter=2, tol=0, init="random").fit(np.array(array, dtype=fit.components_.dtype))
    assert np.allclose(small.components_, fit.components_, rtol=1e-4)


def test_what_cannot_be_streamed_is_refused_in_words(X):
    once = cut(X, (45, 45))()
    for given, words in (
        (once, "X is a generator, which can be read only once"),
        (lambda: once, "ended after 0 of 90 rows when they were read again"),
        (lambda: (X[:40], X[40:, :7]), "differ in width: the first has 10 columns, and block 1 has 7"),
        (
            lambda: (X[:40], -X[40:]),
            r"In the row blocks, counted from row 40: Negative values in data passed to NMF: X\[",
        ),
        (lambda: (), "gave no row blocks"),
        (lambda: (X[:3], "text"), "Row block 1 of X"),
    ):
        with pytest.raises(ValueError, match=words):
            NMF(2, max_iter=3).fit(given)
    with pytest.raises(ValueError, match="weights need X as an array"):
        NMF(2).fit(cut(X, (90,)), weights=np.ones((90, 10)))
    with pytest.raises(ValueError, match="X has 7 features, but NMF is expecting 10"):
        NMF(2, max_iter=3, tol=1).fit(X).transform(lambda: (X[:, :7],))
    with pytest.raises(ValueError, match="solver 'scd' reads columns as well as rows"):
        NMF(2, solver="scd").fit(cut(X, (45, 45)))
