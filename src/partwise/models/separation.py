"""SourceSeparation: the components of a recording, each as a sound of its own."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partwise.core import Session
from partwise.domains.onsets import find_onsets
from partwise.domains.pitch import fundamental, note_name
from partwise.domains.spectrogram import ShortTime, magnitudes, masked
from partwise.domains.timbre import group_components
from partwise.io.contents import Array, Either, Instance, ListOf, Number, Text
from partwise.io.registry import register_model
from partwise.losses import as_loss
from partwise.models.base import as_generator, fit_session
from partwise.models.component_count import Growth, spread_frames, unexplained
from partwise.models.file_contents import FIT_CONTENTS
from partwise.models.nmf import NMF
from partwise.models.signals import (
    as_rate,
    as_signal,
    explained,
    internal,
    normalised,
    public,
    start_activations,
)
from partwise.models.spectra import one_per_note, start_from_frames
from partwise.models.summary import ending, summarise

#: Most components that "auto" tries, and the share of the loss that each must take away.
MOST, LEAST = 24, 0.03
#: The same share for examples, of which no detail should be missed.
EXAMPLE_LEAST = 0.005


class _Learned(NamedTuple):
    """Spectra that are held, and the source that each belongs to."""

    spectra: np.ndarray
    source: np.ndarray
    names: list[str]


@register_model
class SourceSeparation(BaseEstimator):
    r"""Separate a recording into components that add up to it.

    The magnitudes of its short-time Fourier transform are factorized, V ≈ W H: rows of H are spectra, columns of W
    say how loud each is when (Smaragdis and Brown, 2003). Each component gets the share
    :math:`(w_{tk} h_{kf})^p / \sum_l (w_{tl} h_{lf})^p` of the transform, so the components sum to the recording.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of components that are learned from the recording. "auto" adds components as long as each takes away
        3 % of the loss that one component leaves, and then joins those that are the same note.
    beta_loss : float or str, default="kullback-leibler"
        As for `NMF`.
    window : float, default=0.093
        Length of a window in seconds. Longer ones tell near pitches apart, shorter ones near times.
    power : float, default=1.0
        The exponent p of the masks.
    n_sources : int, optional
        Group the components into so many sources, by timbre; see `partwise.domains.timbre`.
    example_components : int, default=20
        Number of spectra that are learned from each example, at most; fewer where further ones would each take away
        less than 0.5 % of the loss that one leaves.
    n_init : int, default=2
        Number of starts; the first from a fit to some of the frames, which grew component by component, the others
        random.
    max_iter : int, default=500
        Iterations of each, at most.
    tol : float, default=1e-5
        Stop when the objective falls, per iteration, by less than this share of itself.
    max_time : float, optional
        Seconds that the fit may take.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.

    Attributes
    ----------
    components_ : array of shape (n_components, n_frequencies)
        Spectra, each of which sums to one. Learned examples come first; the others by falling share.
    activations_ : array of shape (n_frames, n_components) or (n_frames, n_components, n_channels)
        How loud each component is in each frame, in the units of the spectrogram.
    frequencies_ : array of shape (n_frequencies,)
        In Hz.
    times_ : array of shape (n_frames,)
        The middle of each frame in seconds.
    fundamental_ : array of shape (n_components,)
        In Hz; NaN for components without a pitch.
    note_names_ : list of str
        The nearest note; "" for components without a pitch.
    onsets_ : list of arrays
        When each component begins to sound, in seconds.
    shares_ : array of shape (n_components,)
        Share of the magnitudes that each component makes up.
    sources_ : array of shape (n_components,)
        The source of each component: its own number, unless there are `n_sources` or examples.
    source_names_ : list of str
        Names of the sources; examples by their names, then "rest" or numbers.
    rate_, window_length_, n_channels_ : int
        Samples per second, in a window, and at once.
    explained_ : float
        One less the sum of the absolute values of V − W H over the sum of V.
    n_components_, n_iter_, n_features_in_, n_samples_fit_ : int
        Numbers of components, of iterations, of frequencies, and of frames.
    objective_ : float
        What was minimised.
    converged_ : bool
        Whether `tol` was met.
    nmf_ : NMF
        The factorization.

    Examples
    --------
    >>> from partwise import SourceSeparation
    >>> from partwise.datasets import make_chord
    >>> chord = make_chord(["C4", "E4", "G4"], timbre="reed", random_state=0)
    >>> model = SourceSeparation(3).fit(chord.data, chord.sampling_rate)
    >>> sorted(model.note_names_)
    ['C4', 'E4', 'G4']
    >>> parts = model.separate()
    >>> bool(abs(parts.sum(axis=0) - chord.data).max() < 1e-6)
    True
    """

    part_word = "component"
    result_files = ("activations.csv", "spectra.csv")
    _unsaved_attributes = ("signal_",)
    file_contents = {  # noqa: RUF012
        **FIT_CONTENTS,
        "components_": Array("f", ("n_components", "n_features"), low=0),
        "n_components_": Number("i", 1, size="n_components"),
        "frequencies_": Array("f", ("n_features",), low=0),
        "fundamental_": Array("f", ("n_components",), low=0, nan=True),
        "note_names_": ListOf(Text(), size="n_components"),
        "onsets_": ListOf(Array("f", (None,), low=0), size="n_components"),
        "shares_": Array("f", ("n_components",), low=0),
        "n_sources_": Number("i", 1, size="n_sources"),
        "source_names_": ListOf(Text(), size="n_sources"),
        "sources_": Array("i", ("n_components",), low=0, below="n_sources"),
        "n_channels_": Number("i", 1, size="n_channels"),
        "times_": Array("f", ("n_frames",)),
        "activations_": Either(
            (
                Array("f", ("n_frames", "n_components"), low=0),
                Array("f", ("n_frames", "n_components", "n_channels"), low=0),
            )
        ),
        "rate_": Number("i", 1),
        "window_length_": Number("i", 4),
        "explained_": Number(nan=True),
        "objective_": Number(nan=True),
        "nmf_": Instance("NMF"),
    }

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        beta_loss: float | str = "kullback-leibler",
        window: float = 0.093,
        power: float = 1.0,
        n_sources: int | None = None,
        example_components: int = 20,
        n_init: int = 2,
        max_iter: int = 500,
        tol: float = 1e-5,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.beta_loss = beta_loss
        self.window = window
        self.power = power
        self.n_sources = n_sources
        self.example_components = example_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_time = max_time
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, rate: float, examples: Mapping[str, Any] | None = None) -> SourceSeparation:
        """Learn the components of a recording.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_channels)
            The signal. Channels share their spectra.
        rate : float
            Samples per second.
        examples : dict from str to array-like, optional
            Recordings of sources alone, at the same rate. Their spectra are learned first and held, and what they do
            not explain is left to the `n_components` others (Smaragdis, Raj and Shashanka, 2007).

        Returns
        -------
        SourceSeparation
            The model itself.
        """
        self._validate_params()
        _check_names(examples or {})
        signal = as_signal(X)
        transform = ShortTime.of(as_rate(rate), self.window)
        V = self._magnitudes(transform.forward(signal))
        rng = as_generator(self.random_state)
        with fit_session(self, total=MOST, quantity="loss", max_time=self.max_time) as session:
            learned = self._learn(session, examples or {}, transform, rng)
            nmf, W = self._factorize(session, V, learned, transform, rng)
            session.keep(lambda: self._keep(signal, transform, V, nmf, W, learned))
        return self

    def transform(self, X: Any, rate: float | None = None) -> np.ndarray:
        """How loud each component is in each frame of a recording.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_channels)
            The signal.
        rate : float, optional
            Samples per second; must be that of the fit.

        Returns
        -------
        array of shape (n_frames, n_components) or (n_frames, n_components, n_channels)
            Activations.
        """
        signal = self._checked(X, rate)
        return public(self._activations(self._short_time().forward(signal)), np.ndim(X) == 1)

    def applied_to(self, X: Any, rate: float | None = None) -> SourceSeparation:
        """The spectra of this model in another recording: when each sounds there, and how much of it they explain.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_channels)
            The signal.
        rate : float, optional
            Samples per second; must be that of the fit.

        Returns
        -------
        SourceSeparation
            With the spectra, notes and sources of this model; `activations_`, `times_`, `onsets_`, `shares_` and
            `explained_` are of the other recording, which `separate()` then separates.
        """
        signal = self._checked(X, rate)
        Z = self._short_time().forward(signal)
        frames = self._activations(Z)
        found = copy(self)
        found.signal_, found._flat, found.n_channels_ = signal, np.ndim(X) == 1, signal.shape[1]
        found.times_, found.n_samples_fit_ = self._short_time().times(len(signal)), frames.shape[1]
        found.activations_ = public(frames, found._flat)
        whole = self._short_time().whole_frames(len(signal))
        found.onsets_ = [find_onsets(a, found.times_, whole=whole) for a in frames.mean(axis=0).T]
        loud = frames.sum(axis=(0, 1), dtype=float)
        found.shares_ = loud / max(float(loud.sum()), 1e-300)
        W = frames.reshape(-1, len(self.components_))
        found.explained_ = explained(self._magnitudes(Z), W, self.components_)
        return found

    def separate(
        self, X: Any = None, rate: float | None = None, *, by: str = "components", power: float | None = None
    ) -> np.ndarray:
        """The sound of each component, or of each source.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_channels), optional
            A signal; that of the fit if not given.
        rate : float, optional
            Samples per second; must be that of the fit.
        by : {"components", "sources"}, default="components"
            What to separate.
        power : float, optional
            The exponent of the masks, if not that of the model.

        Returns
        -------
        array of shape (n_components or n_sources, n_samples) or (…, n_samples, n_channels)
            They sum to the signal, up to rounding.
        """
        parts = list(self.iter_separated(X, rate, by=by, power=power))
        return np.array(parts)

    def iter_separated(
        self, X: Any = None, rate: float | None = None, *, by: str = "components", power: float | None = None
    ) -> Iterator[np.ndarray]:
        """As `separate`, one after the other, which takes less memory.

        Parameters
        ----------
        X : array-like of shape (n_samples,) or (n_samples, n_channels), optional
            A signal; that of the fit if not given.
        rate : float, optional
            Samples per second; must be that of the fit.
        by : {"components", "sources"}, default="components"
            What to separate.
        power : float, optional
            The exponent of the masks, if not that of the model.

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_channels)
            A component or source.
        """
        check_is_fitted(self)
        if by not in ("components", "sources"):
            raise ValueError(f"by must be 'components' or 'sources'; got {by!r}.")
        own = X is None
        if own and not hasattr(self, "signal_"):
            raise ValueError("A model from a file does not hold the recording: pass it to separate.")
        signal = self.signal_ if own else self._checked(X, rate)
        flat = self._flat if own else np.ndim(X) == 1
        transform = self._short_time()
        Z = transform.forward(signal)
        W = internal(self.activations_) if own else self._activations(Z)
        groups = np.arange(len(self.components_)) if by == "components" else self.sources_
        for part in masked(Z, self.components_, W, groups, self.power if power is None else power):
            sound = transform.backward(part, len(signal))
            yield sound[:, 0] if flat else sound

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return a name for each component.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str objects
            Number and note, as "0 C#4".
        """
        check_is_fitted(self)
        return np.array([f"{i} {name}".strip() for i, name in enumerate(self.note_names_)], dtype=object)

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What the model found, as plain data.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Names of the frequencies; by default "262 Hz".

        Returns
        -------
        dict
            As described at `partwise.models.summary.summarise`.
        """
        check_is_fitted(self)
        names = [f"{hz:.0f} Hz" for hz in self.frequencies_] if feature_names is None else feature_names
        details = [
            {
                "sentence": f"{note or 'no pitch'}{f' ({hz:.1f} Hz)' if note else ''}, {100 * share:.0f} %, "
                f"{len(begins)} onset{'' if len(begins) == 1 else 's'}",
                "note": note or None,
                "fundamental": float(hz) if note else None,
                "share": float(share),
                "onsets": [float(t) for t in begins],
                "source": self.source_names_[source],
            }
            for note, hz, share, begins, source in zip(
                self.note_names_, self.fundamental_, self.shares_, self.onsets_, self.sources_
            )
        ]
        said = f"{ending(self)}; the components make up {100 * self.explained_:.1f} % of the spectrogram"
        found = summarise(
            self,
            names,
            sentence=said,
            figures={"objective": self.objective_, "explained": self.explained_},
            chosen={"n_components": str(self.n_components_)} if self.n_components == "auto" else {},
            part_details=details,
            rate=self.rate_,
            n_channels=self.n_channels_,
            window_length=self.window_length_,
            sources=list(self.source_names_),
        )
        found["feature_names"] = None
        return found

    # ----------------------------------------------------------------- fitting

    def _magnitudes(self, Z: np.ndarray) -> np.ndarray:
        """The rows to factorize; where the loss has no zeros, silence is 120 dB below the loudest entry."""
        V = magnitudes(Z)
        return np.maximum(V, 1e-6 * V.max()) if as_loss(self.beta_loss).needs_positive_data else V

    def _learn(
        self, session: Session, examples: Mapping[str, Any], transform: ShortTime, rng: np.random.Generator
    ) -> _Learned | None:
        """Spectra of every example."""
        spectra, source = [], []
        for i, (name, sound) in enumerate(examples.items()):
            V = self._magnitudes(transform.forward(as_signal(sound, f"The example {name!r}")))
            k, start = self._grown(session, V, None, rng, EXAMPLE_LEAST, self.example_components)
            nmf = self._nmf(k, rng, n_init=1)
            nmf.fit(V, W=start_activations(V, k), H=start)
            spectra.append(normalised(nmf.components_)[0])
            source += [i] * k
        return _Learned(np.vstack(spectra), np.array(source), list(examples)) if spectra else None

    def _nmf(
        self, k: int, rng: np.random.Generator, *, n_init: int, tol: float | None = None, fixed: Any = None
    ) -> NMF:
        return NMF(
            k,
            init="custom",
            beta_loss=self.beta_loss,
            max_iter=self.max_iter,
            tol=self.tol if tol is None else tol,
            n_init=n_init,
            fixed_components=fixed,
            random_state=int(rng.integers(2**31)),
        )

    def _factorize(
        self,
        session: Session,
        V: np.ndarray,
        learned: _Learned | None,
        transform: ShortTime,
        rng: np.random.Generator,
    ) -> tuple[NMF, np.ndarray]:
        """The factorization of all frames; with "auto", of the number of components that a part of them shows."""
        fixed = None if learned is None else learned.spectra.astype(V.dtype)
        held = 0 if fixed is None else len(fixed)

        if self.n_components == "auto":
            k, start = self._grown(session, V, fixed, rng, LEAST, MOST)
        else:
            k, start = self._grown(session, V, fixed, rng, 0.0, int(self.n_components))
        nmf, W = self._run(V, start, fixed, rng, self.n_init)
        if self.n_components != "auto" or session.stopped:
            return nmf, W
        H = one_per_note(nmf.components_[held:], W[:, held:], transform.frequencies)
        return (nmf, W) if len(H) == k else self._run(V, H, fixed, rng)

    def _grown(
        self,
        session: Session,
        V: np.ndarray,
        fixed: np.ndarray | None,
        rng: np.random.Generator,
        least: float,
        most: int,
    ) -> tuple[int, np.ndarray]:
        """A number of components and spectra to start from, found on some of the frames; exactly `most` for 0."""
        rows = spread_frames(V)
        held = 0 if fixed is None else len(fixed)

        def short_run(rows: np.ndarray, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
            nmf, W = self._run(rows, H, fixed, rng, tol=3e-4)
            session.show(len(H), nmf.objective_)
            return nmf.components_[held:], unexplained(rows, W, nmf.components_), float(nmf.objective_)

        # What the spectra that are held explain is not to be learned again.
        left = rows
        if fixed is not None:
            with_fixed = np.zeros((0, V.shape[1]), V.dtype)
            left = np.maximum(rows - self._run(rows, with_fixed, fixed, rng, tol=3e-4)[1] @ fixed, 0.0)
        growth = Growth(rows, short_run, lambda k: start_from_frames(left, k, rng))
        room = max(1, len(rows) // 2)
        if least > 0:
            k = growth.until(least, min(most, room), lambda: session.stopped)
            return k, growth.spectra[k - 1]
        if most <= min(MOST, room) and growth.until(0.0, most, lambda: session.stopped) == most:
            return most, growth.spectra[-1]
        return most, start_from_frames(V, most, rng)

    def _run(
        self,
        rows: np.ndarray,
        H: np.ndarray,
        fixed: np.ndarray | None,
        rng: np.random.Generator,
        n_init: int = 1,
        tol: float | None = None,
    ) -> tuple[NMF, np.ndarray]:
        """A factorization begun from these spectra, beside those that are held; quietly if it has its own `tol`."""
        start = H if fixed is None else np.vstack([fixed, H])
        nmf = self._nmf(len(start), rng, n_init=n_init, tol=tol, fixed=fixed)
        with warnings.catch_warnings():
            if tol is not None:
                warnings.simplefilter("ignore", ConvergenceWarning)
            W = nmf.fit_transform(rows, W=start_activations(rows, len(start)), H=start.astype(rows.dtype))
        return nmf, W

    def _keep(
        self,
        signal: np.ndarray,
        transform: ShortTime,
        V: np.ndarray,
        nmf: NMF,
        W: np.ndarray,
        learned: _Learned | None,
    ) -> None:
        """Put the components into order and unit sum, and set the attributes."""
        H, size = normalised(nmf.components_)
        W = W * size
        held = 0 if learned is None else len(learned.spectra)
        loud = W.sum(axis=0, dtype=float)
        order = np.concatenate([np.arange(held), held + np.argsort(-loud[held:], kind="stable")])
        H, W = np.ascontiguousarray(H[order]), np.ascontiguousarray(W[:, order])
        nmf.components_ = H
        n_channels = signal.shape[1]
        frames = W.reshape(n_channels, -1, len(H))
        mean = frames.mean(axis=0)
        self.rate_, self.window_length_ = int(transform.rate), transform.length
        self.n_channels_, self.n_components_ = n_channels, len(H)
        self.n_features_in_, self.n_samples_fit_ = H.shape[1], frames.shape[1]
        self.components_, self.nmf_ = H, nmf
        self.frequencies_, self.times_ = transform.frequencies, transform.times(len(signal))
        self.activations_ = public(frames, n_channels == 1)
        self.fundamental_ = np.array([fundamental(h, self.frequencies_)[0] for h in H])
        self.note_names_ = [note_name(hz) for hz in self.fundamental_]
        whole = transform.whole_frames(len(signal))
        self.onsets_ = [find_onsets(a, self.times_, whole=whole) for a in mean.T]
        self.shares_ = loud[order] / max(float(loud.sum()), 1e-300)
        self.explained_ = explained(V, W, H)
        self.objective_, self.n_iter_ = nmf.objective_, nmf.n_iter_
        self.converged_, self.ended_by_ = nmf.converged_, nmf.ended_by_
        self.sources_, self.source_names_ = self._sources(H, mean, learned)
        self.n_sources_ = len(self.source_names_)
        self.signal_, self._flat = signal, n_channels == 1

    def _sources(
        self, H: np.ndarray, W: np.ndarray, learned: _Learned | None
    ) -> tuple[np.ndarray, list[str]]:
        """The source of each component, and the names of sources."""
        held = 0 if learned is None else len(learned.spectra)
        free = len(H) - held
        if learned is None and self.n_sources is None:
            return np.arange(len(H)), [str(name) for name in self._part_names(len(H))]
        groups = np.zeros(free, int)
        if self.n_sources is not None and free:
            groups = group_components(
                H[held:],
                W[:, held:],
                self.frequencies_,
                self.fundamental_[held:],
                self.times_,
                self.n_sources,
            )
        count = int(groups.max()) + 1 if free else 0
        rest = ["rest"] if count == 1 else [f"source{i}" for i in range(1, count + 1)]
        if learned is None:
            return groups, ["source1"] if count == 1 else rest
        return np.concatenate([learned.source, groups + len(learned.names)]), [*learned.names, *rest]

    def _part_names(self, count: int) -> list[str]:
        return [f"component{i}" for i in range(count)]

    # --------------------------------------------------------------- new sound

    def _short_time(self) -> ShortTime:
        return ShortTime(self.rate_, self.window_length_)

    def _activations(self, Z: np.ndarray) -> np.ndarray:
        W = self.nmf_.transform(self._magnitudes(Z))
        return np.asarray(W).reshape(len(Z), -1, len(self.components_))

    def _checked(self, X: Any, rate: float | None) -> np.ndarray:
        check_is_fitted(self)
        if rate is not None and as_rate(rate) != self.rate_:
            raise ValueError(
                f"The recording has {as_rate(rate)} samples per second, that of the fit had {self.rate_}. "
                "Resample it first, for instance with scipy.signal.resample_poly."
            )
        return as_signal(X)

    def _validate_params(self) -> None:
        if self.n_components != "auto":
            _whole("n_components", self.n_components)
        if self.n_sources is not None:
            _whole("n_sources", self.n_sources)
        for name in ("example_components", "n_init", "max_iter"):
            _whole(name, getattr(self, name))
        for name in ("window", "power"):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | np.number)
                or not 0 < value < 1e3
            ):
                raise ValueError(f"{name} must be a number above 0; got {value!r}.")
        if self.window > 10:
            raise ValueError(f"window is in seconds; {self.window!r} is too long. Give for instance 0.093.")


def _check_names(examples: Mapping[str, Any]) -> None:
    """Refuse names that what is left of the recording has."""
    for name in examples:
        if re.fullmatch(r"rest|source\d+", str(name)):
            raise ValueError(
                f"An example cannot be called {str(name)!r}: what no example explains is called so. Choose another "
                "name."
            )


def _whole(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        also = " or 'auto'" if name == "n_components" else ""
        raise ValueError(f"{name} must be a whole number of at least 1{also}; got {value!r}.")
