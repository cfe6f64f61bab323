"""What every factor model of the library offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from partwise.compiling import listen_for_compiling
from partwise.core import Checkpoint, ProgressBar, Session, open_session
from partwise.domains.part_names import in_order_of_parts
from partwise.messages import held_back
from partwise.models.looking import PartsMixin
from partwise.parallel import own_threads

listen_for_compiling()


class FactorModel(PartsMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """X ≈ W · components_; `transform` gives W."""

    #: What the command line calls the model, one of its parts, and the files for W and H.
    kind: str
    #: Whether data are yes and no: True, or "answers" where they may be numbers as well; see `partwise.io.read`.
    yes_no: bool | str = "answers"
    part_word = "part"
    result_files = ("W.csv", "H.csv")
    components_: np.ndarray

    @property
    def _n_features_out(self) -> int:
        """Number of columns of `transform`, as scikit-learn asks for it."""
        return int(self.components_.shape[0])

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Back to the space of the data: W · components_.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_components)
            What `transform` returned. Columns with the names of the components (`get_feature_names_out`) may stand in
            any order; with other names they are taken by position.

        Returns
        -------
        array of shape (n_samples, n_features)
            The reconstruction of each sample.
        """
        check_is_fitted(self)
        X = self._by_parts(X)
        W = X if hasattr(X, "tocsr") else np.asarray(X)
        if W.ndim != 2 or W.shape[1] != self.components_.shape[0]:
            raise ValueError(
                f"inverse_transform needs one column for each of the {self.components_.shape[0]} components; "
                f"got shape {W.shape}."
            )
        return self._expected(np.asarray(W @ self.components_))

    def _by_parts(self, W: Any) -> Any:
        """A usage with its columns in the order of the parts, where they have the names of these."""
        return in_order_of_parts(W, self.get_feature_names_out()) if hasattr(W, "columns") else W

    def _expected(self, Y: np.ndarray) -> np.ndarray:
        """The data to expect where the reconstruction is Y."""
        return Y

    def _named(self, W: np.ndarray, row_names: Any) -> Any:
        """W with the row names of an AnnData where a DataFrame is asked for; scikit-learn does the rest."""
        wanted = getattr(self, "_sklearn_output_config", {}).get(
            "transform", get_config()["transform_output"]
        )
        if row_names is None or wanted != "pandas":
            return W
        import pandas as pd

        return pd.DataFrame(W, index=row_names, columns=self.get_feature_names_out())

    def __sklearn_tags__(self) -> Any:
        """Nonnegative input, dense or sparse; float32 stays float32."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def as_generator(random_state: Any) -> np.random.Generator:
    """A generator from whatever scikit-learn takes as `random_state`; None gives the same one every time.

    None is a fixed seed, so that the same call gives the same answer.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    if random_state is np.random:
        return np.random.default_rng(np.random.randint(2**31 - 1))  # noqa: NPY002
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, a whole number of at least 0, or a generator of NumPy's; got "
            f"{random_state!r}."
        ) from error


def fit_session(
    model: Any,
    *,
    total: float,
    quantity: str = "objective",
    max_time: float | None = None,
    checkpoint: Any = None,
    data: Callable[[], dict[str, Any]] = dict,
    title: str | None = None,
) -> AbstractContextManager[Session]:
    """The session of one fit: its messages (a bar if `verbose` > 0, none if < 0), time limit, checkpoint.

    Parameters
    ----------
    model : estimator
        Its `verbose` and its parameters are read.
    total : float
        Steps or seconds at which the bar is full.
    quantity : str
        What the number beside the bar is.
    max_time : float, optional
        Seconds that the fit may take.
    checkpoint : path or Checkpoint, optional
        Folder to save to and to go on from.
    data : callable
        Identifies the data for the checkpoint; called only if there is one.
    title : str, optional
        Written before the bar; by default the class of the model.

    Returns
    -------
    context manager
        Yields the `Session`.
    """
    saved = None
    if checkpoint is not None:
        saved = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        saved.claim(type(model).__name__, model.get_params(deep=False), data())
    if not isinstance(model.verbose, Integral | np.bool_):
        raise ValueError(f"verbose must be a whole number, or True or False; got {model.verbose!r}.")
    verbose = int(model.verbose)
    bar = ProgressBar(total, title or type(model).__name__, quantity) if verbose > 0 else None
    session = _on_own_threads(open_session(max_time, bar, saved))
    return session if verbose >= 0 else _without_messages(session)


@contextmanager
def _on_own_threads(session: AbstractContextManager[Session]) -> Iterator[Session]:
    """The whole fit, its start and its last measurement too: BLAS would spin on the cores that the pool works on."""
    with own_threads(), session as opened:
        yield opened


@contextmanager
def _without_messages(session: AbstractContextManager[Session]) -> Iterator[Session]:
    with held_back(), session as opened:
        yield opened
