"""Images, one flattened image per row: digits, faces and the swimmer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from partwise.datasets._check import check_choice
from partwise.datasets._npz import read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def fetch_mnist(*, dtype: DTypeLike = np.float32) -> Bunch:
    """Fetch the MNIST handwritten digits: 60,000 for training, then 10,000 for testing.

    Parameters
    ----------
    dtype : data type, default float32
        Type of ``data``; single precision by default, as double takes 440 MB.

    Returns
    -------
    Bunch
        ``data`` (70000 × 784, values 0 to 255), ``target`` (the digits), ``is_train`` (bool),
        ``images`` (70000 × 28 × 28, uint8) and ``DESCR``.

    Notes
    -----
    The file ``digits/mnist.npz`` holds ``x_train``, ``y_train``, ``x_test`` and ``y_test``. Without it,
    the same arrays are downloaded from the address Keras uses.
    """
    # The download has the same layout as the registered file, so both are read alike.
    arrays = read_arrays(locate("mnist").path, "x_train", "y_train", "x_test", "y_test")
    images = np.concatenate([arrays["x_train"], arrays["x_test"]])
    target = np.concatenate([arrays["y_train"], arrays["y_test"]]).astype(np.int64)
    is_train = np.arange(len(target)) < len(arrays["y_train"])
    return _bunch("mnist", "MNIST handwritten digits", images, dtype, target=target, is_train=is_train)


def fetch_orl(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the ORL (AT&T) faces: ten pictures of each of 40 people.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (400 × 10304, values 0 to 255), ``target`` (the person, 0 to 39), ``images``
        (400 × 112 × 92, uint8) and ``DESCR``.

    Notes
    -----
    The file ``faces/orl.npz`` holds ``X`` (the images) and ``y``.
    """
    arrays = read_arrays(locate("orl").path, "X", "y")
    return _bunch("orl", "ORL faces of 40 people", arrays["X"], dtype, target=arrays["y"].astype(np.int64))


def fetch_cbcl(
    *, version: Literal["original", "lee-seung"] = "original", dtype: DTypeLike = np.float64
) -> Bunch:
    """Fetch the CBCL faces on which Lee and Seung showed that NMF learns parts.

    Parameters
    ----------
    version : {"original", "lee-seung"}, default "original"
        The pictures as published, or with the contrast normalised as Lee and Seung did.
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (2429 × 361, values 0 to 255), ``images`` (2429 × 19 × 19, uint8) and ``DESCR``.

    Notes
    -----
    The file ``faces/cbcl.npz`` holds ``X`` and ``X_leeseung``, both images.
    """
    check_choice("version", version, ("original", "lee-seung"))
    key = "X" if version == "original" else "X_leeseung"
    arrays = read_arrays(locate("cbcl").path, key)
    return _bunch("cbcl", f"CBCL faces ({version})", arrays[key], dtype)


def fetch_swimmer(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the swimmer: a torso with four limbs, each in one of four positions, in every combination.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data`` and ``components``.

    Returns
    -------
    Bunch
        ``data`` (256 × 220, values 0 and 1), ``images`` (256 × 20 × 11, uint8), ``components`` (the 17
        parts × 220: the torso, then the 16 limb positions) and ``DESCR``.

    Notes
    -----
    The file ``faces/swimmer.npz`` holds ``X``, with one column per image and its pixels stored column
    by column; here the pixels run row by row, so ``data[i].reshape(20, 11)`` is an image.
    """
    pixels_by_image = read_arrays(locate("swimmer").path, "X")["X"]
    images = _from_column_major(pixels_by_image.T, height=20, width=11)
    bunch = _bunch("swimmer", "Swimmer: 17 parts in all combinations", images, dtype)
    bunch["components"] = _parts_of(images).astype(dtype)
    return bunch


def fetch_pie(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the CMU PIE faces in frontal pose (27): 42 pictures of each of 68 people, lit variously.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (2856 × 1024, values 0 to 255), ``target`` (the person, 0 to 67), ``images``
        (2856 × 32 × 32, uint8) and ``DESCR``.

    Notes
    -----
    The file ``faces/pie_pose27.npz`` holds ``X``, whose pixels run column by column, and ``y``, which
    counts people from 1; here pixels run row by row and people count from 0.
    """
    arrays = read_arrays(locate("pie").path, "X", "y")
    images = _from_column_major(arrays["X"], height=32, width=32)
    target = arrays["y"].astype(np.int64) - 1
    return _bunch("pie", "CMU PIE faces, pose 27", images, dtype, target=target)


def _bunch(name: str, title: str, images: NDArray[Any], dtype: DTypeLike, **more: Any) -> Bunch:
    """Return the bunch all image sets share, ``data`` being the flattened images."""
    from sklearn.utils import Bunch

    data = images.reshape(len(images), -1).astype(dtype)
    return Bunch(data=data, images=images, DESCR=describe(name, title), **more)


def _from_column_major(flat: NDArray[Any], *, height: int, width: int) -> NDArray[Any]:
    """Return images from rows in which the pixels of an image run column by column."""
    return np.ascontiguousarray(flat.reshape(len(flat), width, height).transpose(0, 2, 1))


def _parts_of(images: NDArray[Any]) -> NDArray[Any]:
    """Return the sets of pixels that are always lit together, the most often lit first."""
    by_pixel = images.reshape(len(images), -1).T
    patterns, part_of_pixel = np.unique(by_pixel, axis=0, return_inverse=True)
    times_lit = patterns.sum(axis=1, dtype=np.int64)
    order = np.argsort(-times_lit, kind="stable")
    lit = order[times_lit[order] > 0]
    return lit[:, np.newaxis] == part_of_pixel.reshape(1, -1)
