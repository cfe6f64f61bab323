"""Row blocks with names of columns: compared with each other and with the fit, and kept."""

import warnings

import numpy as np
import pytest

import partwise
from partwise import NMF

pd = pytest.importorskip("pandas")

NAMES = list("abcd")
X = pd.DataFrame(np.outer(np.arange(1.0, 9), [1.0, 2, 3, 4]), columns=NAMES)


def blocks(*frames):
    return lambda: iter(frames)


def fitted():
    return NMF(1).fit(blocks(X[:4], X[4:]))


def test_names_of_blocks_are_kept_as_those_of_a_frame_are(tmp_path):
    model = fitted()
    assert list(model.feature_names_in_) == NAMES
    assert np.allclose(model.components_, NMF(1).fit(X).components_)
    loaded = partwise.load(partwise.save(model, tmp_path / "model.partwise"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(loaded.transform(blocks(X[:3], X[3:])), loaded.transform(X))
    model.fit(blocks(X[:4].to_numpy()))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (X[4:][NAMES[::-1]], "'d' stands at 0, where 'a' is expected"),
        (X[4:].rename(columns={"b": "beta"}), "there is no 'b'"),
        (X[4:].assign(e=1.0), "'e' is not among them"),
        (X[4:][["a", "b", "c"]], "there is no 'd'"),
        (X[4:].to_numpy(), "its columns have no names, and those of the block before it have some"),
        (X[4:].set_axis(list("abca"), axis=1), "have the same name, as 'a'"),
    ],
)
def test_blocks_with_other_names_are_refused_in_a_fit(second, words):
    with pytest.raises(ValueError, match=f"Row block 1 of X: .*{words}"):
        NMF(1).fit(blocks(X[:4], second))


def test_a_block_with_names_after_one_without_is_refused():
    with pytest.raises(ValueError, match="Row block 1 of X: its columns have names"):
        NMF(1).fit(blocks(X[:4].to_numpy(), X[4:]))


def test_blocks_that_change_their_order_when_they_are_read_again_are_refused():
    orders = iter([NAMES, NAMES[::-1]])

    def read():
        yield X[next(orders)]

    with pytest.raises(ValueError, match=r"Row block 0 of X: .*'d' stands at 0"):
        NMF(1).fit(read)


@pytest.mark.parametrize("fit", [lambda: NMF(1).fit(X), fitted], ids=["frame", "blocks"])
def test_new_blocks_are_compared_with_the_fit(fit):
    model = fit()
    for frame, words in ((X[NAMES[::-1]], "'d' stands at 0"), (X.rename(columns={"c": "x"}), "no 'c'")):
        for method in (model.transform, model.score):
            with pytest.raises(ValueError, match=f"Row block 0 of X: its columns are not the fit's.*{words}"):
                method(blocks(frame))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.transform(X[NAMES[::-1]])


def test_where_only_the_fit_or_only_the_blocks_have_names_scikit_learn_s_warning_is_heard():
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but NMF was fitted with"
    ) as told:
        W = fitted().transform(blocks(X.to_numpy()))
    assert told[0].filename == __file__
    assert np.allclose(W, fitted().transform(X))
    with pytest.warns(UserWarning, match="X has feature names, but NMF was fitted without"):
        NMF(1).fit(X.to_numpy()).transform(blocks(X))


def test_names_that_are_not_text_are_no_names_as_in_a_frame():
    numbered = X.set_axis(range(4), axis=1)
    assert not hasattr(NMF(1).fit(blocks(numbered)), "feature_names_in_")


def test_a_csv_file_in_chunks(tmp_path):
    X.to_csv(tmp_path / "X.csv", index=False)
    model = NMF(1).fit(lambda: pd.read_csv(tmp_path / "X.csv", chunksize=3))
    assert list(model.feature_names_in_) == NAMES
    assert np.allclose(model.components_, NMF(1).fit(X).components_)


def test_annotated_blocks_are_read_by_their_x_and_variables():
    anndata = pytest.importorskip("anndata")
    from partwise.domains import layer_of

    data = anndata.AnnData(X.set_axis([f"cell{i}" for i in range(8)]), layers={"counts": 2 * X.to_numpy()})
    model = NMF(1).fit(blocks(data[:4], data[4:]))
    assert list(model.feature_names_in_) == NAMES
    assert np.allclose(model.components_, NMF(1).fit(X).components_)
    with pytest.raises(ValueError, match=r"Row block 1 of X: .*'d' stands at 0"):
        model.transform(blocks(data[:4], data[4:, NAMES[::-1]]))
    counts = layer_of(data, "counts")
    of_counts = NMF(1).fit(blocks(counts[:4], counts[4:]))
    with pytest.warns(UserWarning, match="fitted to the layer 'counts'"):
        of_counts.transform(blocks(data))
    with pytest.raises(ValueError, match="Row block 0 of X: This AnnData has no X"):
        NMF(1).fit(blocks(anndata.AnnData(obs=data.obs, var=data.var)))
