"""Whether chains have converged, and how many independent draws they are worth (Vehtari et al. 2021).

All functions take draws as an array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities), and give a
number for each quantity; NaN where there are too few draws or a draw is not finite. They make sense only for
quantities that do not depend on the order of components: entries of the reconstruction, σ², the log-posterior.
"""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

#: Fewest draws in each half-chain that a variance and its autocorrelation can be estimated from.
_FEWEST = 4
#: Quantities of which autocorrelations are found at once, to bound memory.
_AT_ONCE = 256


def rhat(draws: np.ndarray) -> np.ndarray:
    """Rank-normalised split R̂: the larger of that of the draws and that of their distance from the median.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Draws after the warm-up.

    Returns
    -------
    array of shape (n_quantities,), or a number
        1 where all half-chains agree; above 1.01 the chains should go on.
    """
    return _by_quantity(draws, _rhat)


def ess_bulk(draws: np.ndarray) -> np.ndarray:
    """Effective sample size for the centre of the distribution, from rank-normalised draws.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Draws after the warm-up.

    Returns
    -------
    array of shape (n_quantities,), or a number
        How many independent draws would tell the mean as well.
    """
    return _by_quantity(draws, lambda x: _ess(_normal_scores(_split(x))))


def ess_tail(draws: np.ndarray) -> np.ndarray:
    """Effective sample size for the tails: the smaller of those of the 5 % and the 95 % quantile.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Draws after the warm-up.

    Returns
    -------
    array of shape (n_quantities,), or a number
        How many independent draws would tell these quantiles as well.
    """

    def tails(x: np.ndarray) -> np.ndarray:
        ends = np.quantile(x.reshape(-1, x.shape[2]), (0.05, 0.95), axis=0)
        return np.minimum(*(_ess(_split((x <= end).astype(float))) for end in ends))

    return _by_quantity(draws, tails)


def ess_mean(draws: np.ndarray) -> np.ndarray:
    """Effective sample size for the mean, from the draws themselves.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Draws after the warm-up.

    Returns
    -------
    array of shape (n_quantities,), or a number
        Variance of a draw over variance of the mean.
    """
    return _by_quantity(draws, lambda x: _ess(_split(x)))


def mcse_mean(draws: np.ndarray) -> np.ndarray:
    """Standard error of the mean of the draws, as an estimate of the posterior mean.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)
        Draws after the warm-up.

    Returns
    -------
    array of shape (n_quantities,), or a number
        Standard deviation of the draws over √`ess_mean`.
    """

    def error(x: np.ndarray) -> np.ndarray:
        sd = x.reshape(-1, x.shape[2]).std(axis=0, ddof=1)
        return sd / np.sqrt(_ess(_split(x)))

    return _by_quantity(draws, error)


def _by_quantity(draws: np.ndarray, compute: object) -> np.ndarray:
    """`compute` on (chains, draws, quantities), a slice of quantities at a time; NaN where it cannot be known."""
    draws = np.asarray(draws, dtype=float)
    if draws.ndim not in (2, 3):
        raise ValueError(
            f"Draws must have shape (chains, draws) or (chains, draws, quantities); got {draws.shape}."
        )
    x = draws[:, :, None] if draws.ndim == 2 else draws
    out = np.full(x.shape[2], np.nan)
    if x.shape[1] >= 2 * _FEWEST:
        finite = np.flatnonzero(np.isfinite(x).all(axis=(0, 1)))
        for begin in range(0, len(finite), _AT_ONCE):
            part = finite[begin : begin + _AT_ONCE]
            with np.errstate(invalid="ignore", divide="ignore"):
                out[part] = compute(x[:, :, part])  # type: ignore[operator]
    return out[0] if draws.ndim == 2 else out


def _split(x: np.ndarray) -> np.ndarray:
    """Every chain as two half-chains; the middle draw of an odd number is left out."""
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, x.shape[1] - half :]])


def _normal_scores(x: np.ndarray) -> np.ndarray:
    """Ranks over all chains as quantiles of the standard normal (Vehtari et al. 2021, equation 14)."""
    ranks = rankdata(x.reshape(-1, x.shape[2]), axis=0).reshape(x.shape)
    return np.asarray(ndtri((ranks - 0.375) / (x.shape[0] * x.shape[1] + 0.25)))


def _rhat(x: np.ndarray) -> np.ndarray:
    split = _split(x)
    folded = np.abs(split - np.median(split.reshape(-1, x.shape[2]), axis=0))
    bulk, tail = (_basic_rhat(_normal_scores(part)) for part in (split, folded))
    return np.fmax(bulk, tail)


def _basic_rhat(x: np.ndarray) -> np.ndarray:
    """√(var⁺ / W) of Gelman & Rubin (1992)."""
    n = x.shape[1]
    within = x.var(axis=1, ddof=1).mean(axis=0)
    between = x.mean(axis=1).var(axis=0, ddof=1)
    return np.asarray(np.sqrt((within * (n - 1) / n + between) / within))


def _autocovariance(x: np.ndarray) -> np.ndarray:
    """Autocovariances of every chain at every lag, divided by the number of draws."""
    n = x.shape[1]
    centred = x - x.mean(axis=1, keepdims=True)
    spectrum = rfft(centred, next_fast_len(2 * n, real=True), axis=1)
    return np.asarray(irfft(np.abs(spectrum) ** 2, next_fast_len(2 * n, real=True), axis=1)[:, :n] / n)


def _ess(x: np.ndarray) -> np.ndarray:
    """Geyer's initial monotone sequence over several chains (Vehtari et al. 2021, section 3.2)."""
    m, n, _ = x.shape
    still = (x.max(axis=(0, 1)) - x.min(axis=(0, 1))) < np.finfo(float).resolution
    covariance = _autocovariance(x)
    within = covariance[:, 0].mean(axis=0) * n / (n - 1.0)
    total = within * (n - 1.0) / n
    if m > 1:
        total = total + x.mean(axis=1).var(axis=0, ddof=1)
    rho = 1.0 - (within - covariance.mean(axis=0)) / total
    rho[0] = 1.0
    tau = np.array([_integrated_time(rho[:, q], n) for q in range(x.shape[2])])
    size = m * n / np.maximum(tau, 1.0 / np.log10(m * n))
    return np.where(still, float(m * n), size)


def _integrated_time(rho: np.ndarray, n: int) -> float:
    """Integrated time −1 + 2 Σ of pair sums of the autocorrelation, as long as these are positive, made monotone."""
    if not np.isfinite(rho).all():
        return float("nan")
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs < 0.0)
    # Autocorrelations at lags near the length of the chain are noise.
    stop = min(int(negative[0]) if negative.size else n, (n - 3) // 2)
    monotone = np.minimum.accumulate(pairs[:stop])
    # The even lag after the last positive pair improves the estimate for chains that alternate.
    return float(-1.0 + 2.0 * monotone.sum() + max(float(rho[2 * stop]), 0.0))
