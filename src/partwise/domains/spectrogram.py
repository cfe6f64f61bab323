"""The magnitude short-time Fourier transform of a signal, its exact inverse, and masks between parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ShortTime:
    """A short-time Fourier transform: Hann windows, each a quarter of its length after the one before.

    Parameters
    ----------
    rate : float
        Samples per second.
    length : int
        Samples in a window.
    """

    rate: float
    length: int

    @classmethod
    def of(cls, rate: float, seconds: float) -> ShortTime:
        """The transform with windows of about so many seconds, of a length that is quick to transform.

        Parameters
        ----------
        rate : float
            Samples per second.
        seconds : float
            Length of a window.

        Returns
        -------
        ShortTime
            Its length is a multiple of 4.
        """
        from scipy.fft import next_fast_len

        return cls(rate, 4 * next_fast_len(max(4, round(rate * seconds / 4)), real=True))

    @cached_property
    def _transform(self) -> Any:
        from scipy.signal import ShortTimeFFT
        from scipy.signal.windows import hann

        return ShortTimeFFT(hann(self.length, sym=False), self.hop, self.rate)

    @property
    def hop(self) -> int:
        """Samples from one window to the next."""
        return self.length // 4

    @property
    def frequencies(self) -> np.ndarray:
        """The middle of each frequency band, in Hz."""
        return np.asarray(self._transform.f)

    def times(self, n_samples: int) -> np.ndarray:
        """The middle of each window, in seconds.

        Parameters
        ----------
        n_samples : int
            Length of the signal.

        Returns
        -------
        array of shape (n_frames,)
            The first and the last lie outside the signal, which the windows over its edges need.
        """
        return np.asarray(self._transform.t(self._padded(n_samples)))

    def whole_frames(self, n_samples: int) -> slice:
        """The frames whose windows lie inside the signal.

        Parameters
        ----------
        n_samples : int
            Length of the signal.

        Returns
        -------
        slice
            Empty for a signal shorter than a window.
        """
        middles = self.times(n_samples) * self.rate
        half, slack = self.length / 2, 1e-6 * self.length
        inside = np.flatnonzero((middles >= half - slack) & (middles <= n_samples - half + slack))
        return slice(int(inside[0]), int(inside[-1]) + 1) if len(inside) else slice(0, 0)

    def forward(self, signal: np.ndarray) -> np.ndarray:
        """The complex transform.

        Parameters
        ----------
        signal : array of shape (n_samples, n_channels)
            Any length; a signal shorter than a window is followed by silence.

        Returns
        -------
        array of shape (n_channels, n_frequencies, n_frames)
            Complex.
        """
        more = self._padded(len(signal)) - len(signal)
        wide = np.pad(signal, ((0, more), (0, 0))) if more else signal
        return np.asarray(self._transform.stft(np.ascontiguousarray(wide.T, dtype=float)))

    def backward(self, Z: np.ndarray, n_samples: int) -> np.ndarray:
        """The signal of a transform; for that of a signal, the signal itself up to rounding.

        Parameters
        ----------
        Z : array of shape (n_channels, n_frequencies, n_frames)
            Complex.
        n_samples : int
            Length of the signal.

        Returns
        -------
        array of shape (n_samples, n_channels)
            float64.
        """
        return np.asarray(self._transform.istft(Z, k1=self._padded(n_samples)))[:, :n_samples].T

    def _padded(self, n_samples: int) -> int:
        return max(n_samples, self.length)


def magnitudes(Z: np.ndarray) -> np.ndarray:
    """The spectrogram as rows to factorize: the frames of all channels, one channel after the other.

    Parameters
    ----------
    Z : array of shape (n_channels, n_frequencies, n_frames)
        Complex.

    Returns
    -------
    array of shape (n_channels × n_frames, n_frequencies)
        float32: sound has less than the 24 bits of it.
    """
    return np.ascontiguousarray(np.abs(Z).swapaxes(1, 2).reshape(-1, Z.shape[1]), dtype=np.float32)


def masked(
    Z: np.ndarray, spectra: np.ndarray, activations: np.ndarray, groups: np.ndarray, power: float
) -> Iterator[np.ndarray]:
    r"""What of a transform belongs to each group of components, by Wiener masks that sum to one.

    Component k has the share :math:`(w_{tk} h_{kf})^p / \sum_l (w_{tl} h_{lf})^p` of every entry; where no component
    has anything, all have the same share.

    Parameters
    ----------
    Z : array of shape (n_channels, n_frequencies, n_frames)
        Complex.
    spectra : array of shape (n_components, n_frequencies)
        Nonnegative.
    activations : array of shape (n_channels, n_frames, n_components)
        Nonnegative.
    groups : array of shape (n_components,)
        The group of each component: 0, 1, …
    power : float
        The exponent p: 1 shares by magnitude, 2 by energy.

    Yields
    ------
    array of the shape of Z
        One for each group, in order; they add up to Z.
    """
    # Relative to the largest product, so that no power is lost to underflow.
    top = max(float(spectra.max(initial=0.0)) * float(activations.max(initial=0.0)), 1e-300)
    H = (spectra.astype(float) / top) ** power
    W = activations.astype(float) ** power

    def model(of: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.einsum("kf,ctk->cft", H[of], W[:, :, of], optimize=True)
        return found

    count = int(groups.max()) + 1
    floor = 1e-30
    total = model(np.arange(len(H))) + count * floor
    for group in range(count):
        yield Z * ((model(np.flatnonzero(groups == group)) + floor) / total)
