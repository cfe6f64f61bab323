"""What a mask of `numpy.ma` hides was not observed, in every model and wherever data are given."""

import numpy as np
import pytest

from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(3.0, (20, 6)) + 1
HIDDEN = RNG.random(COUNTS.shape) < 0.2
#: The value under a mask is absurd, so that it shows where it is read.
MASKED = np.ma.MaskedArray(np.where(HIDDEN, 10**6, COUNTS), HIDDEN)
HOLED = np.where(HIDDEN, np.nan, COUNTS)


@pytest.mark.parametrize("model", [NMF(2, beta_loss="kullback-leibler"), BinaryNMF(2, max_iter=20)])
@pytest.mark.filterwarnings("ignore")
def test_as_nan(model):
    by_mask, by_nan = model.fit_transform(MASKED), model.transform(HOLED)
    np.testing.assert_array_equal(by_mask, by_nan)
    np.testing.assert_array_equal(model.transform(MASKED), by_nan)
    components = model.components_
    np.testing.assert_array_equal(model.fit(HOLED).components_, components)


def test_row_blocks():
    one = NMF(2, solver="mu", max_iter=20, tol=0).fit(lambda: (MASKED[i : i + 6] for i in range(0, 20, 6)))
    other = NMF(2, solver="mu", max_iter=20, tol=0).fit(lambda: (HOLED[i : i + 6] for i in range(0, 20, 6)))
    np.testing.assert_array_equal(one.components_, other.components_)


def test_yes_no():
    bits = np.ma.MaskedArray((COUNTS > 3) ^ HIDDEN, HIDDEN)
    holed = np.where(HIDDEN, np.nan, bits.data)
    one, other = (BooleanMF(2, random_state=0).fit(X) for X in (bits, holed))
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.transform(bits), other.transform(holed))


def test_refused_where_nothing_may_be_missing():
    with pytest.raises(ValueError, match="contains NaN"):
        NMF(2, missing_values=None).fit(MASKED)
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="contains NaN"):
        MixtureClassifier(1).fit(MASKED, y)
    with pytest.raises(ValueError, match="contains NaN"):
        MixtureClassifier(1, penalty=0.1).fit(COUNTS, y).predict(MASKED)
    with pytest.raises(ValueError, match="masked labels"):
        MixtureClassifier(1).fit(COUNTS, np.ma.MaskedArray(y, y == 1))
    with pytest.raises(ValueError, match=r"sample_weight\[0\] = nan"):
        NMF(2).fit(COUNTS, sample_weight=np.ma.MaskedArray(np.ones(20), np.arange(20) == 0))
    with pytest.raises(ValueError, match="weights must be finite"):
        NMF(2).fit(COUNTS, weights=np.ma.MaskedArray(np.ones((20, 6)), HIDDEN))


def test_a_mask_that_hides_nothing():
    bare = np.ma.MaskedArray(COUNTS.astype(float))
    np.testing.assert_array_equal(NMF(2).fit_transform(bare), NMF(2).fit_transform(COUNTS.astype(float)))
