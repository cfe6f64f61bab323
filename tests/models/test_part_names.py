"""Usages whose columns have the names of the parts are taken by these names, in any order."""

import numpy as np
import pytest

from partwise import NMF, BayesianBooleanMF, BooleanMF, DeepNMF
from partwise.domains import store

pd = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
X = rng.random((12, 5))
BITS = (X > 0.5).astype(float)
MODELS = {
    "nmf": (NMF(3), X),
    "deep": (DeepNMF([4, 3], activation="softplus", max_iter=20), X),
    "boolean": (BooleanMF(2, max_time=0.2), BITS),
    "bayesian": (BayesianBooleanMF(2, n_draws=20, n_chains=1), BITS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore")
def test_columns_named_as_the_parts_may_stand_in_any_order(name):
    model, data = MODELS[name]
    model.fit(data)
    W = np.asarray(model.transform(data), dtype=float)
    frame = pd.DataFrame(W, columns=model.get_feature_names_out())
    expected = model.inverse_transform(W)
    assert np.array_equal(model.inverse_transform(frame), expected)
    assert np.array_equal(model.inverse_transform(frame.iloc[:, ::-1]), expected)


def test_frames_of_polars_too_and_other_names_go_by_position():
    model = NMF(3).fit(X)
    W = model.transform(X)
    names = list(model.get_feature_names_out())
    other = pd.DataFrame(W, columns=["u", "v", "w"])
    assert np.array_equal(model.inverse_transform(other), model.inverse_transform(W))
    pl = pytest.importorskip("polars")
    turned = pl.DataFrame(W, schema=names).select(names[::-1])
    assert np.array_equal(model.inverse_transform(turned), model.inverse_transform(W))


def test_a_usage_is_stored_in_the_order_of_the_parts():
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(X, obs=pd.DataFrame(index=[f"cell{i}" for i in range(12)]))
    model = NMF(3).fit(X)
    W = pd.DataFrame(model.transform(X), index=cells.obs_names, columns=model.get_feature_names_out())
    store(model, cells, W.iloc[::-1, ::-1])
    assert np.array_equal(cells.obsm["X_nmf"], W.to_numpy())
