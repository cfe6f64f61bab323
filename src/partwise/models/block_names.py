"""Names of the columns of row blocks: compared with each other at every reading, and with those of the fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from partwise.domains.annotated import is_anndata, layer_in, matrix_of, say_other_layer
from partwise.io.caller import callers_level
from partwise.io.coding import Coding
from partwise.models.names import difference, names_of


class BlockNames:
    """Watches the blocks of one X go by; as scikit-learn does for a whole frame, names must be the same.

    Parameters
    ----------
    estimator : estimator
        The names that its fit had are compared with.
    reset : bool
        Whether this is the fit itself, so that names of an earlier one do not matter.

    Attributes
    ----------
    names : array of str objects or None
        Names of the columns, once blocks were read; None if they have none.
    layer : str or None
        Which layer of an AnnData the blocks were made from.
    """

    names: np.ndarray | None = None
    layer: str | None = None

    def __init__(self, estimator: Any, reset: bool) -> None:
        self._fitted = None if reset else getattr(estimator, "feature_names_in_", None)
        self._coding = None if reset else Coding.of(estimator)
        self._begun = False

    def watched(self, read: Callable[[], Iterable[Any]]) -> Callable[[], Iterator[Any]]:
        """The same blocks, those of AnnData as their matrices; other names raise ValueError."""

        def blocks() -> Iterator[Any]:
            given = read()
            if not isinstance(given, Iterable):
                raise ValueError(
                    "The function given as X must return row blocks, as a list or a generator; it returned "
                    f"{'nothing' if given is None else f'a {type(given).__name__}'}."
                )
            for number, block in enumerate(given):
                try:
                    names = names_of(block)
                    self._compare(names, number)
                    # (Inside: an AnnData may have no X.)
                    array = matrix_of(block) if is_anndata(block) else block
                except ValueError as error:
                    raise ValueError(f"Row block {number} of X: {error}") from error
                if not self._begun:
                    self._begin(names, block)
                yield array

        return blocks

    def _begin(self, names: np.ndarray | None, block: Any) -> None:
        self._begun, self.names = True, names
        if is_anndata(block):
            self.layer = layer_in(block)
            say_other_layer(self._coding, block)

    def _compare(self, names: np.ndarray | None, number: int) -> None:
        if self._begun and (names is None) != (self.names is None):
            raise ValueError(
                f"its columns have {'no names' if names is None else 'names'}, and those of the block before it "
                f"have {'none' if self.names is None else 'some'}. Give all blocks as frames with the same columns, "
                "or all as arrays, which are taken by position."
            )
        wanted, whose = (
            (self.names, "those of block 0") if self._fitted is None else (self._fitted, "the fit's")
        )
        if names is None or wanted is None:
            return
        differs = difference(names, wanted)
        if differs is not None:
            raise ValueError(
                f"its columns are not {whose}, or stand in another order: {differs}. Give every block the same "
                "columns in the same order, for instance as block[names]."
            )

    def settle(self, estimator: Any, reset: bool) -> None:
        """Keep the names on a fit (`reset`); later, warn as scikit-learn does where only one of the two has names."""
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            if self.names is not None:
                estimator.feature_names_in_ = self.names
            return
        if (self.names is None) == (self._fitted is None):
            return
        whom = type(estimator).__name__
        said = (
            f"X does not have valid feature names, but {whom} was fitted with feature names"
            if self.names is None
            else f"X has feature names, but {whom} was fitted without feature names"
        )
        warnings.warn(said, UserWarning, stacklevel=callers_level())
