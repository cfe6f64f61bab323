"""Upright digits and their NMF and PCA features, kept in the folder of results for the next run."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from partwise.datasets import fetch_mnist, load_digits
from partwise.domains import DeslantCrop
from partwise.io.atomic import atomic_file
from partwise.models import NMF

#: Ten times the default tolerance of NMF: the last percent of the objective does not improve the features.
FEATURE_TOL = 1e-3


def zeros(features: np.ndarray) -> dict[str, float]:
    """Share of the activations that are zero, and that are below a hundredth of the largest of their image."""
    largest = features.max(axis=1, keepdims=True)
    return {"zero": float(np.mean(features == 0)), "negligible": float(np.mean(features <= 0.01 * largest))}


def prepare(
    folder: Path, quick: bool, seed: int, center: str = "mass", tol: float = FEATURE_TOL
) -> dict[str, Any]:
    """Upright digits, NMF and PCA features; read from the folder if it has them for the same settings.

    Parameters
    ----------
    folder : path
    quick : bool
        10,000 training images instead of 60,000.
    seed : int
        Of the starts of NMF and PCA.
    center : {"mass", "box"}
        What is put in the middle of the window; see `DeslantCrop`.
    tol : float
        Where NMF stops.

    Returns
    -------
    dict
        "nmf_train", "nmf_test", "pca_train", "pca_test", "y_train", "y_test"; "basis" of the NMF, "some" test images,
        "seconds" that the features took, and the "name" of the data.
    """
    mnist = "PARTWISE_DATA" in os.environ
    name = "MNIST" if mnist else "bundled digits"
    kept = folder / "features.npz"
    made = f"{name}, quick={quick}, seed={seed}"
    if (center, tol) != ("mass", FEATURE_TOL):
        made += f", center={center}, tol={tol:g}"
    if kept.exists():
        with np.load(kept, allow_pickle=False) as held:
            if "made" in held and str(held["made"]) == made:
                return {"name": name, **{key: held[key] for key in held.files}}
    begin = perf_counter()
    if mnist:
        digits = fetch_mnist()
        train, test = digits.is_train, ~digits.is_train
        if quick:
            train = train & (np.cumsum(train) <= 10_000)
        crop = DeslantCrop(center=center).fit(digits.data[:1])
        X_train, X_test = crop.transform(digits.data[train]), crop.transform(digits.data[test])
        y_train, y_test = digits.target[train], digits.target[test]
        k, d = 80, 40
    else:
        digits = load_digits()
        train = np.arange(len(digits.target)) < 1200
        X_train, X_test = (np.asarray(digits.data[rows], np.float32) for rows in (train, ~train))
        y_train, y_test = digits.target[train], digits.target[~train]
        k, d = 40, 30
    nmf = NMF(k, beta_loss="kullback-leibler", tol=tol, scale="components", random_state=seed, verbose=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        nmf_train = nmf.fit_transform(X_train)
    nmf_test = nmf.transform(X_test)
    nmf_seconds = perf_counter() - begin
    pca = PCA(d, random_state=seed).fit(X_train)
    out = {
        "made": np.array(made),
        "nmf_train": nmf_train,
        "nmf_test": nmf_test,
        "pca_train": pca.transform(X_train),
        "pca_test": pca.transform(X_test),
        "y_train": y_train,
        "y_test": y_test,
        "basis": nmf.components_,
        "some": X_test[:200],
        "seconds": np.array(nmf_seconds),
    }
    with atomic_file(kept) as stream:
        np.savez(stream, **out)
    return {"name": name, **out}
