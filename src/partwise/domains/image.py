"""Pictures as flat rows: handwritten digits set upright and cut to size, as Lee, Seung & Saul prepared them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from partwise.io.contents import FEATURES
from partwise.io.registry import register_model

# Images that are transformed together, to bound the memory that is needed.
BLOCK = 2000


@register_model
class DeslantCrop(TransformerMixin, BaseEstimator):
    """Shear each image until it stands upright, and keep a square window around it.

    The slant is the regression of x on y over the ink, μ₁₁ / μ₀₂. Rows are shifted by it, and the image so that its
    centre is the window's, to fractions of a pixel, by linear interpolation.

    Parameters
    ----------
    shape : (int, int), default=(28, 28)
        Height and width of the images, which come as flat rows.
    size : int, default=20
        Height and width of the window.
    deslant : bool, default=True
        Whether to shear at all.
    center : {"mass", "box"}, default="mass"
        What is put in the middle: the ink's centre of mass, or the box around it (in whole pixels). Digits are
        classified better after the first; after the second nothing is lost of a digit no larger than the window.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise.domains import DeslantCrop
    >>> slanted = np.zeros((1, 28, 28))
    >>> for y in range(6, 22):
    ...     slanted[0, y, 20 - y // 2] = 1.0
    >>> upright = DeslantCrop().fit_transform(slanted.reshape(1, -1)).reshape(20, 20)
    >>> int((upright.sum(axis=0) > 0.5).sum())      # a stroke that took up eight columns takes up few
    2
    """

    file_contents = FEATURES

    def __init__(
        self, shape: tuple[int, int] = (28, 28), size: int = 20, deslant: bool = True, center: str = "mass"
    ) -> None:
        self.shape = shape
        self.size = size
        self.deslant = deslant
        self.center = center

    def fit(self, X: Any, y: Any = None) -> DeslantCrop:
        """Check that rows are images of the given shape; nothing is learned from them.

        Parameters
        ----------
        X : array-like of shape (n_samples, height × width)
            Nonnegative images as flat rows.
        y : None
            Ignored.

        Returns
        -------
        DeslantCrop
            The transformer itself.
        """
        self._images(X, reset=True)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the windows of the images.

        Parameters
        ----------
        X : array-like of shape (n_samples, height × width)
            Nonnegative images as flat rows.

        Returns
        -------
        ndarray of shape (n_samples, size²)
            Flat rows, float32 if X is, else float64.
        """
        check_is_fitted(self, "n_features_in_")
        images = self._images(X, reset=False)
        out = np.empty((len(images), self.size * self.size), images.dtype)
        for a in range(0, len(images), BLOCK):
            block = upright(images[a : a + BLOCK], self.size, self.deslant, self.center == "box")
            out[a : a + BLOCK] = block.reshape(len(block), -1)
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return one name for each pixel of the window.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str objects
            "pixel_0_0", "pixel_0_1", …: row and column.
        """
        return np.array([f"pixel_{r}_{c}" for r in range(self.size) for c in range(self.size)], dtype=object)

    def _validate_params(self) -> None:
        whole = isinstance(self.shape, tuple | list) and all(
            isinstance(side, Integral) and not isinstance(side, bool) for side in (*self.shape, self.size)
        )
        if not whole or len(self.shape) != 2 or min(*self.shape, self.size) < 1:
            raise ValueError(
                f"shape must be two and size one whole number of at least 1; got {self.shape!r} and {self.size!r}."
            )
        if self.center not in ("mass", "box"):
            raise ValueError(f"center must be 'mass' or 'box'; got {self.center!r}.")

    def _images(self, X: Any, *, reset: bool) -> np.ndarray:
        self._validate_params()
        X = validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])
        height, width = self.shape
        if X.shape[1] != height * width:
            raise ValueError(
                f"X has {X.shape[1]} columns, but images of {height} × {width} have {height * width}; "
                "set shape to the height and width of the images."
            )
        if X.size and X.min() < 0:
            raise ValueError("Images have ink of at least 0; X has negative values.")
        return X.reshape(-1, height, width)


def upright(images: np.ndarray, size: int, deslant: bool, box: bool) -> np.ndarray:
    """Square windows of the images, sheared and shifted so that their centre is the window's; by interpolation."""
    n, height, width = images.shape
    y, x = np.arange(height, dtype=float), np.arange(width, dtype=float)
    ink = np.maximum(images.sum(axis=(1, 2), dtype=float), 1e-300)
    by_row = images.sum(axis=2, dtype=float)
    centre_y, centre_x = by_row @ y / ink, images.sum(axis=1, dtype=float) @ x / ink
    off_y = y - centre_y[:, None]
    slant = np.zeros(n)
    if deslant:
        spread = np.maximum((by_row * off_y**2).sum(axis=1) / ink, 1e-12)
        # Σ I (x − x̄)(y − ȳ) = Σ_y (y − ȳ) Σ_x I x, for the deviations of y add up to zero.
        together = (off_y * (images @ x.astype(images.dtype))).sum(axis=1) / ink
        slant = np.clip(together / spread, -1.0, 1.0)
    along = np.arange(size) - 0.5 * (size - 1)
    if box:
        # The box is that of the upright image, so the shear comes first, on a canvas wide enough for it.
        canvas = np.arange(-(height // 2), width + height // 2, dtype=float)
        images = between(images, canvas + slant[:, None, None] * off_y[:, :, None])
        centre_y, centre_x = middle(images, 2, size), middle(images, 1, size)
        slant = np.zeros(n)
    shifted = between(images, along + centre_x[:, None, None] + slant[:, None, None] * off_y[:, :, None])
    return between(shifted.transpose(0, 2, 1), along + centre_y[:, None, None]).transpose(0, 2, 1)


def middle(images: np.ndarray, axis: int, size: int) -> np.ndarray:
    """The middle of the box around the ink, at whole pixels of a window of this size.

    Ink fainter than a tenth of the darkest is what interpolation leaves, and would move the box.
    """
    solid = (images > 0.1 * images.max(axis=(1, 2), keepdims=True)).any(axis=axis)
    length = solid.shape[1]
    first, last = np.argmax(solid, axis=1), length - 1 - np.argmax(solid[:, ::-1], axis=1)
    return np.floor(0.5 * (first + last + 1 - size)) + 0.5 * (size - 1)


def between(images: np.ndarray, source: np.ndarray) -> np.ndarray:
    """Values of the last axis at fractional places, zero outside; `source` may be one row for all of an image."""
    n, height, width = images.shape
    left = np.floor(source).astype(np.int64)
    part = (source - left).astype(images.dtype)
    padded = np.zeros((n, height, width + 2), images.dtype)
    padded[:, :, 1:-1] = images
    places = (
        np.broadcast_to(np.clip(left + step, 0, width + 1), (n, height, left.shape[2])) for step in (1, 2)
    )
    first, second = (np.take_along_axis(padded, place, axis=2) for place in places)
    return first * (1 - part) + second * part
