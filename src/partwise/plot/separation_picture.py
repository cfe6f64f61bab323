"""A separated recording: its spectrogram, the spectra of the components, and when they sound."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.plot import style
from partwise.plot.style import FAINT, INK, SERIES, figure, name_ticks

#: Components that are drawn.
_MOST = 24
#: Points of a curve, and columns of the spectrogram: more cannot be seen.
_POINTS = 1200


def separation(model: Any, *, signal: Any = None, max_components: int = _MOST) -> Any:
    """Draw a recording and its components.

    Parameters
    ----------
    model : SourceSeparation
        A fitted model.
    signal : array of shape (n_samples,) or (n_samples, n_channels), optional
        The recording, for the spectrogram; that of the fit if not given. Without either, the model's own
        reconstruction is drawn.
    max_components : int, default=24
        The first so many components are drawn; the title says where that is not all.

    Returns
    -------
    matplotlib Figure
        Above, the spectrogram in decibels. Below, one line for each component: left its spectrum, right how loud it
        is when, with a mark at each onset.
    """
    check_is_fitted(model)
    count = min(len(model.components_), max_components)
    levels, times = spectrogram_of(model, signal)
    high = highest(model)
    drawing, axes = figure(
        [[".", "spectrogram"], ["spectra", "activations"]],
        size=(11.0, 3.6 + 0.42 * count),
        width_ratios=(1, 2.2),
        height_ratios=(2.6, 0.5 + 0.42 * count),
    )
    _draw_spectrogram(axes["spectrogram"], levels, times, model.frequencies_, high)
    W = model.activations_ if model.activations_.ndim == 2 else model.activations_.mean(axis=2)
    names = [f"{i} {note}" if note else f"{i} no pitch" for i, note in enumerate(model.note_names_[:count])]
    _draw_rows(axes["spectra"], model.frequencies_, model.components_[:count], model.sources_)
    _draw_rows(axes["activations"], model.times_, W.T[:count], model.sources_)
    for i, begins in enumerate(model.onsets_[:count]):
        axes["activations"].plot(begins, np.full(len(begins), i + 0.02), "|", color=INK, ms=7, mew=1.0)
    axes["spectra"].set_xlim(0, high)
    axes["spectra"].set_xlabel("frequency in Hz")
    axes["activations"].set_xlim(*axes["spectrogram"].get_xlim())
    axes["activations"].set_xlabel("seconds (marks: onsets)")
    name_ticks(axes["spectra"].yaxis, names, 0.42 * count)
    axes["activations"].set_yticks(range(count), [""] * count)
    axes["activations"].tick_params(axis="y", length=0)
    for axis in ("spectra", "activations"):
        axes[axis].set_ylim(count - 0.55, -0.95)
    style.title(axes["spectra"], "spectra")
    style.title(axes["activations"], "how loud, each against its own peak")
    total = len(model.components_)
    shown = f"{total} components" if count == total else f"the first {count} of {total} components"
    style.heading(drawing, f"{shown} of {model.times_[-1]:.1f} s at {model.rate_} Hz")
    return drawing


def spectrogram_of(model: Any, signal: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The magnitudes to draw, averaged over channels, and the times of their columns.

    Parameters
    ----------
    model : SourceSeparation
        A fitted model.
    signal : array, optional
        The recording; that of the fit if not given.

    Returns
    -------
    levels : array of shape (n_frequencies, n_columns)
        Magnitudes; the largest of neighbouring frames where there are more than can be seen.
    times : array of shape (n_columns,)
        In seconds.
    """
    from partwise.domains.spectrogram import ShortTime

    given = getattr(model, "signal_", None) if signal is None else np.asarray(signal, float)
    if given is None:
        W = model.activations_ if model.activations_.ndim == 2 else model.activations_.mean(axis=2)
        levels, times = (W @ model.components_).T, model.times_
    else:
        given = given.reshape(len(given), -1)
        transform = ShortTime(model.rate_, model.window_length_)
        levels = np.abs(transform.forward(given)).mean(axis=0)
        times = transform.times(len(given))
    starts = np.arange(0, levels.shape[1], -(-levels.shape[1] // _POINTS))
    return np.maximum.reduceat(levels, starts, axis=1), times[starts]


def highest(model: Any) -> float:
    """The frequency below which nearly all of the sound is, in Hz."""
    loud = (model.shares_[:, None] * model.components_).sum(axis=0)
    within = np.searchsorted(np.cumsum(loud) / loud.sum(), 0.97)
    return float(model.frequencies_[min(int(1.1 * within) + 4, len(loud) - 1)])


def _draw_spectrogram(
    axes: Any, levels: np.ndarray, times: np.ndarray, frequencies: np.ndarray, high: float
) -> None:
    """Decibels below the loudest, down to −70."""
    shown = frequencies <= high
    decibels = 20 * np.log10(np.maximum(levels[shown] / max(float(levels.max()), 1e-300), 1e-6))
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0
    place = (times[0] - step / 2, times[-1] + step / 2, 0.0, float(frequencies[shown][-1]))
    picture = axes.imshow(
        decibels, origin="lower", aspect="auto", extent=place, cmap="magma", vmin=-70, vmax=0
    )
    axes.set_xlim(max(0.0, place[0]), place[1])
    axes.set_ylabel("Hz")
    axes.grid(False)
    style.title(axes, "spectrogram")
    axes.figure.colorbar(picture, ax=axes, label="dB", pad=0.01, aspect=14)


def _draw_rows(axes: Any, x: np.ndarray, rows: np.ndarray, sources: np.ndarray) -> None:
    """Curves above each other, each filled down to its own line and as high as a line."""
    starts = np.arange(0, len(x), -(-len(x) // _POINTS))
    for i, row in enumerate(np.maximum.reduceat(np.asarray(rows, float), starts, axis=1)):
        height = 0.85 * row / max(float(row.max()), 1e-300)
        color = SERIES[int(sources[i]) % len(SERIES)]
        axes.fill_between(x[starts], i - height, i, color=color, lw=0.4)
        axes.axhline(i, color=FAINT, lw=0.5, zorder=0)
    axes.grid(False)
    axes.spines["left"].set_visible(False)
