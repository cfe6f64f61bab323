"""Signals and spectrograms as the separation of recordings takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Loudest samples between which powers and their sums stay within floating point numbers, of single precision.
LEAST, MOST = 1e-20, 1e12


def as_rate(rate: Any) -> int:
    """The sampling rate as a whole number of Hz.

    Parameters
    ----------
    rate : number
        Samples per second.

    Returns
    -------
    int
        At least 100.
    """
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 100 <= rate < 1e8:
        raise ValueError(f"rate must be the number of samples per second, at least 100; got {rate!r}.")
    return round(float(rate))


def as_signal(X: Any, called: str = "The signal") -> np.ndarray:
    """A signal as an array with one column for each channel.

    Parameters
    ----------
    X : array-like of shape (n_samples,) or (n_samples, n_channels)
        The signal.
    called : str
        Its name in errors.

    Returns
    -------
    array of shape (n_samples, n_channels)
        float64, with something to hear.
    """
    signal = np.asarray(X)
    if signal.dtype.kind not in "fiub" or signal.ndim not in (1, 2):
        raise ValueError(
            f"{called} must be numbers of shape (n_samples,) or (n_samples, n_channels); "
            f"got shape {signal.shape} of {signal.dtype}."
        )
    if not signal.size:
        raise ValueError(f"{called} has no samples.")
    signal = signal.astype(float).reshape(len(signal), -1)
    if signal.shape[1] > max(64, len(signal)):
        raise ValueError(
            f"{called} has {signal.shape[1]} channels: give samples as rows, channels as columns."
        )
    if not np.isfinite(signal).all():
        raise ValueError(f"{called} has samples that are NaN or infinite. Set them to zero first.")
    if not signal.any():
        raise ValueError(
            f"{called} is silent: all {len(signal)} samples are zero. There is nothing to separate."
        )
    loudest = float(np.abs(signal).max())
    if not LEAST <= loudest <= MOST:
        raise ValueError(
            f"{called} has samples of up to {loudest:.3g}: its spectrum cannot be reckoned with. Scale it, as to "
            "samples between -1 and 1."
        )
    return signal


def normalised(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Spectra that sum to one, and what they summed to; those of zeros are left.

    Parameters
    ----------
    H : array of shape (n_components, n_frequencies)
        Spectra.

    Returns
    -------
    spectra : array of the same shape
        Each sums to one.
    size : array of shape (n_components,)
        The sums.
    """
    size = H.sum(axis=1)
    return H / np.where(size > 0, size, 1.0)[:, None], size


def start_activations(V: np.ndarray, k: int) -> np.ndarray:
    """Equal activations, which let the spectra decide.

    Parameters
    ----------
    V : array of shape (n_frames, n_frequencies)
        The spectrogram.
    k : int
        Number of components.

    Returns
    -------
    array of shape (n_frames, k)
        Those with which spectra that sum to one are as loud as the average frame.
    """
    return np.full((len(V), k), max(float(V.sum(dtype=float)) / len(V) / k, 1e-12), V.dtype)


def explained(V: np.ndarray, W: np.ndarray, H: np.ndarray) -> float:
    """1 − Σ |V − W H| / Σ V, by blocks of rows.

    Parameters
    ----------
    V : array of shape (n_frames, n_frequencies)
        The spectrogram.
    W : array of shape (n_frames, n_components)
        Activations.
    H : array of shape (n_components, n_frequencies)
        Spectra.

    Returns
    -------
    float
        Between 0 and 1; 0 where W H is further off than silence would be.
    """
    wrong = sum(
        float(np.abs(V[a : a + 2000] - W[a : a + 2000] @ H).sum(dtype=float)) for a in range(0, len(V), 2000)
    )
    return max(0.0, 1.0 - wrong / max(float(V.sum(dtype=float)), 1e-300))


def public(frames: np.ndarray, flat: bool) -> np.ndarray:
    """Activations as users see them: channels last, and no axis for the only channel.

    Parameters
    ----------
    frames : array of shape (n_channels, n_frames, n_components)
        Activations.
    flat : bool
        Whether the signal had one axis.

    Returns
    -------
    array of shape (n_frames, n_components) or (n_frames, n_components, n_channels)
        The same.
    """
    return np.ascontiguousarray(frames[0] if flat else np.moveaxis(frames, 0, -1))


def internal(activations: np.ndarray) -> np.ndarray:
    """The inverse of `public`.

    Parameters
    ----------
    activations : array of shape (n_frames, n_components) or (n_frames, n_components, n_channels)
        Activations.

    Returns
    -------
    array of shape (n_channels, n_frames, n_components)
        The same.
    """
    return activations[None] if activations.ndim == 2 else np.moveaxis(activations, -1, 0)
