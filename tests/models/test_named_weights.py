"""Weights and components given as frames are put into the order of X by their names, or refused."""

import numpy as np
import pytest

from partwise import NMF, BooleanMF, SemiSupervisedNMF, non_negative_factorization

pd = pytest.importorskip("pandas")

NAMES, ROWS = list("abcd"), [f"row{i}" for i in range(12)]
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.random((12, 4)), index=ROWS, columns=NAMES)
WEIGHTS = pd.DataFrame(rng.integers(1, 9, (12, 4)), index=ROWS, columns=NAMES)
TURNED = WEIGHTS.iloc[::-1, ::-1]


def test_weights_in_another_order_weigh_the_same_entries():
    expected = NMF(2).fit(X, weights=WEIGHTS.to_numpy())
    model = NMF(2).fit(X, weights=TURNED)
    assert np.array_equal(model.components_, expected.components_)
    assert np.array_equal(
        model.transform(X, weights=TURNED), expected.transform(X, weights=WEIGHTS.to_numpy())
    )
    assert model.score(X, weights=TURNED) == expected.score(X, weights=WEIGHTS.to_numpy())
    _, H, _ = non_negative_factorization(X, n_components=2, weights=TURNED)
    assert np.array_equal(H, expected.components_)


def test_tiles_and_labels_take_weights_by_name_too():
    bits = (X > 0.5).astype(int)
    one, other = (BooleanMF(2, max_time=0.2).fit(bits, weights=w) for w in (WEIGHTS.to_numpy(), TURNED))
    assert one.reconstruction_err_ == other.reconstruction_err_
    assert one.score(bits, weights=WEIGHTS) == one.score(bits, weights=TURNED)
    y = np.arange(12) % 2
    one, other = (SemiSupervisedNMF(2).fit(X, y, weights=w) for w in (WEIGHTS.to_numpy(), TURNED))
    assert np.array_equal(one.components_, other.components_)


@pytest.mark.parametrize("model", [NMF(2), BooleanMF(2, max_time=0.2)], ids=["nmf", "boolean"])
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (WEIGHTS.rename(columns={"b": "beta"}), "The columns of weights are not those of X: there is no 'b'"),
        (WEIGHTS.rename(index={"row3": "x"}), "The rows of weights are not those of X: there is no 'row3'"),
        (WEIGHTS.assign(e=1), "'e' is not among them"),
    ],
)
def test_weights_with_other_names_are_refused(model, weights, words):
    with pytest.raises(ValueError, match=words):
        model.fit((X > 0.5).astype(int), weights=weights)


def test_numbers_are_names_where_somebody_gave_them():
    places = [5, 3, 0, 9]
    numbered = X.set_axis(places, axis=1).set_axis(range(100, 112))
    weights = WEIGHTS.set_axis(places, axis=1).set_axis(range(100, 112))
    expected = NMF(2).fit(X, weights=WEIGHTS.to_numpy()).components_
    assert np.allclose(NMF(2).fit(numbered, weights=weights.iloc[::-1, ::-1]).components_, expected)


@pytest.mark.parametrize(
    "weights",
    [pd.DataFrame(WEIGHTS.to_numpy()), pd.DataFrame(WEIGHTS.to_numpy(), columns=NAMES), WEIGHTS.to_numpy()],
    ids=["no names", "names of columns", "array"],
)
def test_what_has_no_names_is_taken_by_position(weights):
    expected = NMF(2).fit(X, weights=WEIGHTS.to_numpy()).components_
    assert np.array_equal(NMF(2).fit(X, weights=weights).components_, expected)
    assert np.array_equal(NMF(2).fit(X.to_numpy(), weights=TURNED.iloc[::-1, ::-1]).components_, expected)


def test_the_same_name_twice_in_an_index_is_no_order():
    twice = X.set_axis(["x", "y"] * 6)
    weights = WEIGHTS.set_axis(["x", "y"] * 6)
    NMF(2).fit(twice, weights=weights)
    with pytest.raises(ValueError, match="The rows of weights are not those of X: 'y' stands at 0"):
        NMF(2).fit(twice, weights=weights.iloc[::-1])


def test_fixed_components_and_starts_are_put_into_the_order_of_the_columns():
    fixed = pd.DataFrame([[1.0, 2, 3, 4]], columns=NAMES)
    for data in (X, lambda: iter([X[:5], X[5:]])):
        model = NMF(2, fixed_components=fixed[NAMES[::-1]]).fit(data)
        assert model.components_[0].tolist() == [1, 2, 3, 4]
        with pytest.raises(
            ValueError, match="The columns of fixed_components are not those of X: there is no 'a'"
        ):
            NMF(2, fixed_components=fixed.rename(columns={"a": "A"})).fit(data)
    _, H, _ = non_negative_factorization(X, H=fixed[NAMES[::-1]], n_components=1, update_H=False)
    assert H.tolist() == [[1, 2, 3, 4]]
    W = np.ones((12, 1))
    start = NMF(1, init="custom").fit(X, W=W, H=fixed[NAMES[::-1]])
    assert np.array_equal(
        start.components_, NMF(1, init="custom").fit(X, W=W, H=fixed.to_numpy()).components_
    )


def test_variables_and_observations_of_anndata_are_names():
    anndata = pytest.importorskip("anndata")
    expected = NMF(2).fit(X, weights=WEIGHTS.to_numpy()).components_
    assert np.allclose(NMF(2).fit(anndata.AnnData(X), weights=TURNED).components_, expected)
    plain = anndata.AnnData(X.to_numpy())
    assert np.allclose(NMF(2).fit(plain, weights=WEIGHTS).components_, expected)


@pytest.mark.parametrize("which", ["data", "weights"])
def test_numbers_of_shuffled_rows_are_names(which):
    """Rows that pandas numbered and somebody shuffled were weighed by position."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.gamma(1, 1, (40, 6)), columns=list("abcdef"))
    weights = pd.DataFrame(rng.uniform(0.1, 3, X.shape), columns=X.columns)
    order = rng.permutation(40)
    expected = NMF(2, max_iter=20, tol=0).fit(X.iloc[order], weights=weights.iloc[order]).components_
    if which == "data":
        found = NMF(2, max_iter=20, tol=0).fit(X.iloc[order], weights=weights).components_
    else:
        expected = NMF(2, max_iter=20, tol=0).fit(X, weights=weights).components_
        found = NMF(2, max_iter=20, tol=0).fit(X, weights=weights.iloc[order]).components_
    np.testing.assert_array_equal(found, expected)
