"""What every method gives: codes and bases, X ≈ codes · bases + mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Factors:
    """One factorization of n rows over m columns, X ≈ diag(weights) · codes · bases + 1 · meanᵀ.

    Parameters
    ----------
    codes : array of shape (n, k)
        How much of each basis vector is in each row.
    bases : array of shape (k, m)
        The basis vectors.
    mean : array of shape (m,) or None
        What was subtracted from every row before it was factorized; None if nothing was.
    weights : array of shape (n,) or None
        Sizes of the rows, where the codes are shares of them (LDA: words in each document).
    """

    codes: np.ndarray
    bases: np.ndarray
    mean: np.ndarray | None = None
    weights: np.ndarray | None = None

    @property
    def signed(self) -> bool:
        """Whether codes or bases have negative entries, so that parts cancel."""
        return bool(self.codes.min(initial=0.0) < 0 or self.bases.min(initial=0.0) < 0)

    def sized_codes(self, rows: Any = slice(None)) -> np.ndarray:
        """Codes times the sizes of their rows, in double precision.

        Parameters
        ----------
        rows : index
            Which rows; all if not given.

        Returns
        -------
        array of shape (n_rows, k)
            What is multiplied by the bases.
        """
        codes = self.codes[rows].astype(np.float64)
        return codes if self.weights is None else codes * self.weights[rows][..., None]

    def reconstruction(self, rows: Any = slice(None)) -> np.ndarray:
        """The rows as the factors give them back.

        Parameters
        ----------
        rows : index
            Which rows; all if not given, which needs as much memory as X made dense.

        Returns
        -------
        array of shape (n_rows, m)
            Dense, in double precision.
        """
        made = self.sized_codes(rows) @ self.bases.astype(np.float64)
        return made if self.mean is None else made + self.mean
