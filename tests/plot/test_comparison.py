"""Bases side by side: every method, one picture of each kind, with what is below zero in another colour."""

import numpy as np
import pytest
import scipy.sparse as sp
from plot.test_pictures import check_texts, texts

import partwise
from partwise import plot
from partwise.datasets import load_digits, make_low_rank

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data[:200]
    return X, partwise.compare(X, 52, seeds=1)


def test_bases_as_pictures_with_a_code_and_a_reconstruction(digits):
    X, found = digits
    drawing = plot.comparison(found, X, shape=(8, 8), example=3)
    check_texts(drawing)
    seen = texts(drawing)
    assert {f"{row['title']}: bases" for row in found.rows} <= set(seen)
    assert seen.count("code of sample 3") == 5
    assert seen.count("given, rebuilt") == 4
    assert "given, rebuilt with the mean" in seen
    assert any("the first 49 of 52 basis vectors" in text for text in seen)
    by_title = {axes.get_title(loc="left"): axes.images[0] for axes in drawing.axes}
    # A one-hot code is one dark square, the centre it stands for is the reconstruction.
    code = drawing.axes[9].images[0].get_array()
    assert code.shape == (7, 7)
    assert np.nanmin(by_title["NMF: bases"].get_array()) >= 0
    for signed in ("SVD UΣ·Vᵀ: bases", "PCA: bases"):
        image = by_title[signed]
        assert np.nanmin(image.get_array()) < 0
        assert image.get_clim() == (-1, 1)
        red, _, blue, _ = image.cmap(0.0)
        assert red > blue
    sample = drawing.axes[10].images[0].get_array()
    np.testing.assert_allclose(
        sample[:8, :8], X[3].reshape(8, 8) / np.abs(sample).max() / X[3].max(), atol=0.1
    )


def test_without_data_the_reconstruction_stands_alone(digits):
    seen = texts(plot.comparison(digits[1], shape=(8, 8)))
    assert "rebuilt" in seen
    assert "given, rebuilt" not in seen


def test_words_with_those_of_negative_weight_marked():
    rng = np.random.default_rng(0)
    counts = sp.csr_matrix(rng.poisson(np.repeat(np.eye(3), 10, axis=1)[np.arange(90) % 3] * 2 + 0.2))
    words = [f"word{j}" for j in range(29)] + ["a$price_that_is_far_too_long_for_a_column"]
    found = partwise.compare(counts, 3, text=True, seeds=1, feature_names=words)
    drawing = plot.comparison(found, counts)
    check_texts(drawing)
    seen = texts(drawing)
    # Both splits of the SVD have the same words.
    assert {"NMF", "SVD UΣ·Vᵀ, U·ΣVᵀ", "PCA", "VQ (k-means)", "LDA"} <= set(seen)
    negative = [t for t in drawing.axes[0].texts if t.get_text().startswith("−")]
    assert negative
    assert {t.get_color() for t in negative} == {plot.SERIES[1]}
    # A word with a minus is one of negative weight in a basis vector of the SVD or of PCA.
    marked = {w.lstrip("−") for t in negative for w in t.get_text().split()}
    below = {
        name for m in ("svd", "pca") for part in found.top_features(m) for name, weight in part if weight < 0
    }
    assert {w for w in marked if "…" not in w} <= below


def test_heat_maps_of_other_data():
    X = make_low_rank(40, 60, 4, random_state=0).data
    names = [f"a rather long name of a column, number {j}" for j in range(60)]
    found = partwise.compare(X, 4, seeds=1, feature_names=names)
    drawing = plot.comparison(found)
    check_texts(drawing)
    assert any("the 40 of 60 columns that vary most" in text for text in texts(drawing))
    assert len(drawing.axes) == 4


def test_what_cannot_be_drawn_is_said(digits):
    X, found = digits
    with pytest.raises(ValueError, match="has 63 pixels; the data have 64 columns"):
        plot.comparison(found, X, shape=(7, 9))
    with pytest.raises(ValueError, match="example must be a row between 0 and 199; got 200"):
        plot.comparison(found, X, shape=(8, 8), example=200)
