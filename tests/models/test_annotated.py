"""AnnData as input of every model: names without warnings, layers, files read by blocks, factors put back."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

import partwise
from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier, non_negative_factorization
from partwise.domains import layer_of, store
from partwise.models import streams

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

N, M = 40, 6
GENES, CELLS = [f"gene{j}" for j in range(M)], [f"cell{i}" for i in range(N)]
#: A model of each kind, and the methods that take data.
MODELS = {
    "nmf": (NMF(2, max_iter=500), ("transform", "score")),
    "binary": (BinaryNMF(2), ("transform", "predict_proba", "predict", "score_samples", "score")),
    "boolean": (BooleanMF(2, max_time=0.2), ("transform", "score", "trust")),
    "mixture": (
        MixtureClassifier(1),
        ("predict", "predict_proba", "predict_log_proba", "decision_function"),
    ),
    "pipeline": (make_pipeline(NMF(2, max_iter=500), MixtureClassifier(1)), ("predict", "predict_proba")),
}


def numbers():
    rng = np.random.default_rng(0)
    return ((rng.random((N, 2)) < 0.5) @ np.kron(np.eye(2, dtype=int), np.ones((1, 3), int))).astype(float)


def annotated(X, **more):
    return anndata.AnnData(
        X,
        obs=pd.DataFrame({"kind": np.where(numbers()[:, 0] > 0, "a", "b")}, index=CELLS),
        var=pd.DataFrame(index=GENES),
        **more,
    )


@pytest.fixture(params=["dense", "sparse", "view"])
def data(request):
    X = numbers()
    if request.param == "view":
        return annotated(np.column_stack([X]))[np.arange(N)]
    return annotated(sp.csr_matrix(X) if request.param == "sparse" else X)


def test_x_for_a_model_of_a_layer_is_warned_of():
    data = annotated(np.ones((N, M)), layers={"counts": numbers()})
    model = NMF(2, random_state=0).fit(layer_of(data, "counts"))
    with pytest.warns(
        UserWarning, match=r"fitted to the layer 'counts'.*layer_of\(adata, 'counts'\)"
    ) as told:
        model.transform(data)
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="fitted to the layer 'counts'"):
        partwise.report(model, data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(layer_of(data, "counts"))
        model.transform(layer_of(data, "counts")[:3])
        model.transform(annotated(numbers()))
        store(model, data, layer="X")
        store(model, data)
        NMF(2, random_state=0).fit(data).transform(data)


@pytest.mark.parametrize("kind", MODELS)
def test_every_method_takes_it_as_it_takes_a_frame(kind, data):
    model, methods = MODELS[kind]
    y = (data.obs["kind"],) if kind in ("mixture", "pipeline") else ()
    frame = pd.DataFrame(numbers(), columns=GENES, index=CELLS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = [getattr(model.fit(data, *y), method)(data) for method in methods]
        assert list(model.feature_names_in_) == GENES
        expected = [getattr(model.fit(frame, *y), method)(frame) for method in methods]
    for one, other in zip(made, expected):
        if isinstance(one, dict):
            assert one.keys() == other.keys()
        elif np.asarray(one).dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("form", ["frame", "annotated"])
def test_other_names_are_refused_as_scikit_learn_does(kind, form):
    model, methods = MODELS[kind]
    frame = pd.DataFrame(numbers(), columns=GENES, index=CELLS)
    whole = annotated(numbers())
    model.fit(whole, whole.obs["kind"])
    moved, renamed, fewer = frame[GENES[::-1]], frame.rename(columns={"gene0": "g"}), frame[GENES[1:]]
    for wrong, words in (
        (moved, "Feature names must be in the same order"),
        (renamed, "Feature names unseen at fit time:\n- g\n"),
        (fewer, "yet now missing:\n- gene0"),
    ):
        given = anndata.AnnData(wrong) if form == "annotated" else wrong
        with pytest.raises(ValueError, match=words):
            getattr(model, methods[0])(given)


@pytest.mark.parametrize("kind", ["nmf", "binary", "boolean"])
def test_frames_out_have_the_names_of_the_observations(kind, data):
    model = MODELS[kind][0].set_output(transform="pandas")
    for out in (model.fit_transform(data), model.transform(data)):
        assert list(out.index) == CELLS
        assert list(out.columns) == list(model.get_feature_names_out())
    model.set_output(transform="default")


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize("kind", MODELS)
def test_files_give_what_memory_gives(form, kind, tmp_path):
    X = numbers() if form == "dense" else sp.csr_matrix(numbers()).asformat(form)
    whole = annotated(X)
    whole.write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    model, methods = MODELS[kind]
    y = whole.obs["kind"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = getattr(model.fit(backed, y), methods[0])(backed)
        assert list(model.feature_names_in_) == GENES
    expected = getattr(model.fit(whole, y), methods[0])(whole)
    if kind in ("nmf", "binary"):
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-6)
    else:
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_nmf_reads_files_by_blocks_and_never_whole(form, tmp_path, monkeypatch):
    X = sp.csr_matrix(numbers()) if form == "csr" else numbers()
    annotated(X).write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    monkeypatch.setattr("partwise.domains.annotated.block_height", lambda m: 7)
    heights = []

    def seen(blocks):
        for block in blocks:
            heights.append(block.shape[0])
            yield block

    read = streams.stream
    monkeypatch.setattr(
        "partwise.models.inputs.stream", lambda source, *rest: read(lambda: seen(source()), *rest)
    )
    model = NMF(2, max_iter=500).set_output(transform="pandas")
    W = model.fit_transform(backed)
    assert set(heights) == {7, 5}
    assert list(W.index) == CELLS
    np.testing.assert_allclose(W @ model.components_, numbers(), atol=1e-2)
    some = model.fit_transform(backed[:, GENES[:4]])
    assert list(model.feature_names_in_) == GENES[:4]
    np.testing.assert_allclose(some @ model.components_, numbers()[:, :4], atol=1e-2)


def test_layers():
    data = annotated(np.zeros((N, M)), layers={"counts": numbers()})
    with pytest.raises(ValueError, match=r"no layer 'count'; the layers are \['counts'\]"):
        layer_of(data, "count")
    W = NMF(2).fit_transform(layer_of(data, "counts"))
    np.testing.assert_array_equal(W, NMF(2).fit_transform(numbers()))
    W, _, _ = non_negative_factorization(layer_of(data, "counts"), n_components=2)
    assert W.shape == (N, 2)
    with pytest.raises(ValueError, match=r"has no X. Give one of its layers.*\['counts'\]"):
        NMF(2).fit(annotated(None, layers={"counts": numbers()}))


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_the_layer_of_a_fit_is_remembered(tmp_path, capsys):
    from calling import call

    from partwise import load, save
    from partwise.domains import store
    from partwise.io import DataError, read

    data = annotated(np.ones((N, M)), layers={"counts": numbers()})
    model = NMF(2, random_state=0).fit(layer_of(data, "counts"))
    expected = model.transform(numbers())
    save(model, tmp_path / "m.partwise")
    for known in (model, load(tmp_path / "m.partwise")):
        store(known, data)
        np.testing.assert_array_equal(data.obsm["X_nmf"], expected)
    some = NMF(2, random_state=0).fit(layer_of(data, "counts")[:, GENES[:4]])
    store(some, data)
    np.testing.assert_array_equal(data.obsm["X_nmf"], some.transform(numbers()[:, :4]))
    # The command line reads it, too.
    data.write_h5ad(tmp_path / "a.h5ad")
    assert call("transform", tmp_path / "m.partwise", tmp_path / "a.h5ad", "-o", tmp_path / "W.csv") == 0
    assert "--key counts" in capsys.readouterr().err
    np.testing.assert_allclose(read(tmp_path / "W.csv").data, expected, rtol=1e-6)
    store(model, data, layer="X")
    np.testing.assert_array_equal(data.obsm["X_nmf"], model.transform(np.ones((N, M))))
    lacking = annotated(numbers())
    with pytest.raises(DataError, match=r"fitted to 'counts', and this AnnData has no such layer.*layer='X'"):
        store(model, lacking)
    # A further fit forgets it.
    for other in (data, data.X):
        model.fit(layer_of(data, "counts"))
        model.fit(other)
        store(model, data)
        np.testing.assert_array_equal(data.obsm["X_nmf"], model.transform(np.ones((N, M))))


@pytest.mark.parametrize("kind", ["nmf", "binary", "boolean"])
def test_factors_are_put_back(kind, data, tmp_path):
    data = data.copy()
    model = MODELS[kind][0].fit(data)
    store(model, data)
    np.testing.assert_array_equal(data.obsm["X_" + kind], model.transform(data))
    np.testing.assert_array_equal(data.varm[kind], model.components_.T)
    store(model, data, np.ones((N, 2)), key="mine")
    assert data.obsm["X_mine"].sum() == 2 * N
    data.write_h5ad(tmp_path / "a.h5ad")
    assert set(anndata.read_h5ad(tmp_path / "a.h5ad").varm) == {kind, "mine"}


def test_factors_of_some_variables_are_put_back_by_name():
    data = annotated(np.zeros((N, M)), layers={"counts": numbers()})
    some = ["gene4", "gene1", "gene0"]
    model = NMF(2, max_iter=500).fit(layer_of(data, "counts")[:, some])
    store(model, data, layer="counts")
    np.testing.assert_allclose(
        data.obsm["X_nmf"], model.transform(layer_of(data, "counts")[:, some]), atol=1e-9
    )
    np.testing.assert_array_equal(data.varm["nmf"][[4, 1, 0]], model.components_.T)
    np.testing.assert_array_equal(data.varm["nmf"][[2, 3, 5]], 0)
    with pytest.raises(ValueError, match=r"lacks 1 variables of the fit: \['gene4'\]"):
        store(model, data[:, GENES[:4]])
    with pytest.raises(ValueError, match="MixtureClassifier has no factors"):
        store(MixtureClassifier(1).fit(numbers(), data.obs["kind"]), data)


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_matrix, sp.csc_matrix])
def test_fit_of_a_file_writes_a_copy_that_has_the_factors(matrix, tmp_path, monkeypatch):
    from calling import call

    from partwise.io import read

    data = annotated(matrix(numbers()), layers={"counts": matrix(numbers())})
    data.obsm["X_umap"] = np.ones((N, 2))
    data.write_h5ad(tmp_path / "cells.h5ad")
    before = (tmp_path / "cells.h5ad").read_bytes()
    out = tmp_path / "o"
    assert call("fit", tmp_path / "cells.h5ad", "-k", 2, "--drop", "gene3", "-q", "-o", out) == 0
    found = anndata.read_h5ad(out / "factored.h5ad")
    np.testing.assert_allclose(found.obsm["X_nmf"], read(out / "W.csv").data, rtol=1e-6)
    np.testing.assert_allclose(found.varm["nmf"][[0, 1, 2, 4, 5]].T, read(out / "H.csv").data, rtol=1e-6)
    np.testing.assert_array_equal(found.varm["nmf"][3], 0)
    assert found.uns["nmf"]["model"] == "NMF"
    assert found.uns["nmf"]["params"]["n_components"] == 2
    # All else is as it was.
    assert found.obs.equals(data.obs)
    assert found.var.equals(data.var)
    assert type(found.X) is type(data.X)
    assert set(found.obsm) == {"X_umap", "X_nmf"}
    assert set(found.layers) == {"counts"}
    assert (tmp_path / "cells.h5ad").read_bytes() == before
    # Of a file that has factors already, they are replaced.
    again = ("fit", out / "factored.h5ad", "-k", 3, "-q", "-o", tmp_path / "again")
    assert call(*again) == 0
    assert anndata.read_h5ad(tmp_path / "again" / "factored.h5ad").obsm["X_nmf"].shape == (N, 3)


def test_fit_of_a_transposed_file_puts_the_factors_the_other_way_round(tmp_path, monkeypatch):
    from calling import call

    import partwise.domains
    from partwise.io import DataError, read

    annotated(numbers()).write_h5ad(tmp_path / "cells.h5ad")
    out = tmp_path / "o"
    fit = ("fit", tmp_path / "cells.h5ad", "-k", 2, "--transpose", "-q", "-o", out, "--no-report")
    assert call(*fit) == 0
    found = anndata.read_h5ad(out / "factored.h5ad")
    np.testing.assert_allclose(found.varm["nmf"], read(out / "W.csv").data, rtol=1e-6)
    np.testing.assert_allclose(found.obsm["X_nmf"].T, read(out / "H.csv").data, rtol=1e-6)

    # A copy that cannot be written leaves the results of the earlier fit as they were.
    def refused(*_, **__):
        raise DataError("no copy")

    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    monkeypatch.setattr(partwise.domains, "store_file", refused)
    assert call(*fit, "--seed", "3") == 2
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


def test_a_copy_is_never_written_over_its_own_source(tmp_path, monkeypatch):
    from partwise.domains import store_file
    from partwise.io import DataError

    data = annotated(numbers())
    data.write_h5ad(tmp_path / "a.h5ad")
    model = NMF(2).fit(data)
    W = model.transform(data)
    with pytest.raises(DataError, match="is the file that was read"):
        store_file(model, tmp_path / "a.h5ad", tmp_path / "a.h5ad", W)
    with pytest.raises(DataError, match=r"W has shape \(3, 2\); 40 observations and 2 parts need \(40, 2\)"):
        store_file(model, tmp_path / "a.h5ad", tmp_path / "b.h5ad", W[:3])
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5ad"]
    # X is not read: not even one that cannot be.
    import h5py

    with h5py.File(tmp_path / "a.h5ad", "r+") as file:
        del file["X"]
        file["X"] = np.zeros(3)
    store_file(model, tmp_path / "a.h5ad", tmp_path / "b.h5ad", W, key="mine")
    with h5py.File(tmp_path / "b.h5ad") as file:
        assert file["obsm/X_mine"].shape == (N, 2)
        assert file["varm/mine"].shape == (M, 2)


def test_rows_of_w_go_to_the_observations_of_their_names():
    from partwise.domains import store
    from partwise.io import DataError

    data = annotated(numbers())
    model = NMF(2).set_output(transform="pandas")
    W = model.fit_transform(data)
    store(model, data, W.iloc[::-1])
    np.testing.assert_array_equal(data.obsm["X_nmf"], W.to_numpy())
    with pytest.raises(DataError, match="2 parts need"):
        store(model, data, np.zeros((len(W), 7)))
    with pytest.raises(DataError, match="not as the observations"):
        store(model, data, W.rename(index=lambda name: f"other {name}"))


def test_variables_of_one_name():
    from partwise.domains import store
    from partwise.io import DataError

    data = annotated(numbers())
    data.var_names = ["same"] * data.shape[1]
    with pytest.raises(ValueError, match="var_names_make_unique"):
        NMF(2).fit(data)
    import pandas as pd

    with pytest.raises(ValueError, match="columns of this DataFrame have the same name, as 'a'"):
        NMF(2).fit(pd.DataFrame(numbers()[:, :3], columns=["a", "a", "b"]))
    # A model that was fitted to them in this order needs no names to find them.
    model = NMF(2).fit(data.X)
    model.feature_names_in_ = np.array(data.var_names, dtype=object)
    store(model, data, np.zeros((data.shape[0], 2)))
    assert data.varm["nmf"].shape == (data.shape[1], 2)
    model.feature_names_in_ = np.array(["other"] * data.shape[1], dtype=object)
    with pytest.raises(DataError, match="var_names_make_unique"):
        store(model, data, np.zeros((data.shape[0], 2)))


def with_raw():
    """An AnnData with half of the variables of its raw, in another order."""
    whole = annotated(numbers() + np.random.default_rng(1).random((N, M)))
    whole.raw = whole.copy()
    cells = whole[:, [4, 0, 2]].copy()
    cells.X = 3.0 * cells.X
    return cells


def test_raw_is_fitted_with_its_own_variables_and_stored_by_name():
    cells = with_raw()
    model = NMF(2, random_state=5).fit(cells.raw)
    assert list(model.feature_names_in_) == GENES
    np.testing.assert_array_equal(
        model.components_, NMF(2, random_state=5).fit(layer_of(cells, "raw")).components_
    )
    store(model, cells)
    np.testing.assert_array_equal(cells.raw.varm["nmf"], model.components_.T)
    np.testing.assert_array_equal(cells.varm["nmf"], model.components_.T[[4, 0, 2]])
    np.testing.assert_array_equal(cells.obsm["X_nmf"], model.transform(cells.raw))
    assert (cells.uns["nmf"]["layer"], cells.uns["nmf"]["seed"]) == ("raw", 5)


def test_uns_says_the_layer_and_the_seed():
    X = numbers()
    cells = annotated(X + 1, layers={"counts": X})
    for made, layer in ((layer_of(cells, "counts"), "counts"), (cells, "X")):
        store(NMF(2).fit(made), cells)
        assert (cells.uns["nmf"]["layer"], cells.uns["nmf"]["seed"]) == (layer, 0)
    # Of an array, and with W given, nobody knows.
    model = NMF(2)
    store(model, cells, model.fit_transform(X))
    assert "layer" not in cells.uns["nmf"]


def test_the_copy_of_a_file_says_what_it_replaces(tmp_path):
    from partwise.domains import store_file

    cells = with_raw()
    model = NMF(2)
    W = model.fit_transform(cells.raw)
    cells.write_h5ad(tmp_path / "a.h5ad")
    assert store_file(model, tmp_path / "a.h5ad", tmp_path / "b.h5ad", W) == []
    slots = ["obsm['X_nmf']", "varm['nmf']", "raw.varm['nmf']", "uns['nmf']"]
    assert store_file(model, tmp_path / "b.h5ad", tmp_path / "c.h5ad", W) == slots
    read = anndata.read_h5ad(tmp_path / "c.h5ad")
    np.testing.assert_array_equal(read.raw.varm["nmf"], model.components_.T)
    np.testing.assert_array_equal(read.varm["nmf"], model.components_.T[[4, 0, 2]])
