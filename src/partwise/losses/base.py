"""The contract of a loss: how far a reconstruction is from the data, entry by entry.

A loss is a sum of d(x | y) over entries, with x the datum and y = (W H) + δ its reconstruction. It hands the compiled
kernels four functions of numbers. Its derivative splits as

    ∂d/∂y = push(y) + drag(x, y) − pull(x, y),      pull and drag proportional to x, all three ≥ 0,

which is what multiplicative updates need (the numerator sums pull, the denominator the other two), and what lets
zeros that sparse data do not store be summed without being visited. What else a loss can do it says by its
capabilities; solvers ask for these and never for a name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from partwise.jit import njit


class ScalarFunctions(NamedTuple):
    """A loss between two numbers, as compiled functions; `p` is the loss's parameter.

    Parameters
    ----------
    name : str
        Names the kernels that are compiled from these functions.
    divergence : function (x, y, p)
        d(x | y), in double precision; terms that vanish with x are taken at their limit.
    pull : function (x, y, p)
        The part of −∂d/∂y that is positive, proportional to x.
    push : function (one, y, p)
        The part of ∂d/∂y that does not depend on x; `one` is 1 in the type of the data.
    drag : function (x, y, p) or None
        The part of ∂d/∂y that is proportional to x; None where there is none.
    """

    name: str
    divergence: Any
    pull: Any
    push: Any
    drag: Any = None


#: Compiles a function of numbers for use inside kernels; sums of it may use vector instructions.
scalar = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})
#: The same in strict arithmetic, for divergences, whose terms nearly cancel.
strict_scalar = njit(cache=True, nogil=True, error_model="numpy")


class Loss(ABC):
    """D(X | Y) = Σ d(x_ij | y_ij).

    Attributes
    ----------
    name : str
        What `beta_loss` calls it.
    gram : bool
        Whether d = ½ (x − y)², so that Gram matrices suffice (solver "hals").
    newton : {"poisson", "quadratic"} or None
        Which scalar Newton step minimises it over one coordinate without overshooting (solver "scd").
    flat : bool
        Whether push is 1 everywhere, so that sums over unstored zeros are sums of the other factor.
    convex : bool
        Whether it is convex in one factor when the other is held.
    pole : bool
        Whether it is infinite, or has an infinite slope, at y = 0 for x > 0.
    powers : tuple of float
        Exponents (p, q) of the surrogate that multiplicative updates minimise; see
        `partwise.priors.scalar.surrogate_minimiser`.
    likelihood : bool
        Whether d is a negative log-likelihood but for a constant, with no dispersion left open.
    degree : float or None
        p where d(cx | cy) = c^p d(x | y) for every c > 0, so that data may be scaled; None where there is no such p.
    lowest, highest : float
        The range of the data; the lower end is excluded where `needs_positive_data`.
    """

    name: str
    gram: bool = False
    newton: str | None = None
    flat: bool = False
    convex: bool = False
    pole: bool = True
    powers: tuple[float, float] = (-1.0, 0.0)
    likelihood: bool = False
    degree: float | None = None
    lowest: float = 0.0
    highest: float = np.inf
    needs_positive_data: bool = False

    @property
    @abstractmethod
    def functions(self) -> ScalarFunctions:
        """The loss of two numbers, for the kernels."""

    @property
    def parameter(self) -> float:
        """The number that the scalar functions are given as `p`."""
        return 0.0

    @property
    def estimated(self) -> bool:
        """Whether `parameter` is still to be estimated from the data, by `estimate`."""
        return False

    def estimate(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> Loss:
        """The same loss with its parameter estimated from a sample of data and reconstructions.

        Parameters
        ----------
        X, Y : arrays of shape (n,)
            Data and reconstructions of a sample of entries.
        weights : array of shape (n,)
            How often each of them occurs.

        Returns
        -------
        Loss
            The loss with its parameter set; itself where nothing is estimated.
        """
        return self

    def mean(self, Y: np.ndarray) -> np.ndarray:
        """The expected data where the reconstruction is Y.

        Parameters
        ----------
        Y : array
            Reconstructions W H.

        Returns
        -------
        array of the shape of Y
            Y itself, unless the loss reads the reconstruction in another unit, as odds for instance.
        """
        return Y

    def fitting(self, X: np.ndarray) -> np.ndarray:
        """The reconstruction at which d(x | y) is zero, its minimum; the inverse of `mean`.

        Parameters
        ----------
        X : array
            Data.

        Returns
        -------
        array of the shape of X
            The reconstruction that fits the data exactly.
        """
        return X

    def shift(self, mean: float, dtype: np.dtype) -> float:
        """The constant δ added to every reconstruction where d has a pole at y = 0.

        A floor relative to the data's scale. It is *added* rather than imposed by a maximum: a constant
        background is one more held component, so every descent proof still holds to the letter.

        Parameters
        ----------
        mean : float
            Mean of the observed data.
        dtype : dtype
            Type of the data; float32 needs a larger floor.

        Returns
        -------
        float
            δ, which is 0 for losses without a pole.
        """
        if not self.pole:
            return 0.0
        return float(mean) * (1e-8 if dtype == np.float32 else 1e-12)

    def value(self, X: Any, Y: Any) -> float:
        """D(X | Y), entry by entry in double precision: the definition, for tests and small arrays.

        Parameters
        ----------
        X, Y : array-like
            Data and reconstructions, of shapes that broadcast.

        Returns
        -------
        float
            The sum of d(x | y) over all entries.
        """
        x, y = np.broadcast_arrays(np.asarray(X, float), np.asarray(Y, float))
        return float(
            sum(self.functions.divergence(a, b, self.parameter) for a, b in zip(x.ravel(), y.ravel()))
        )

    def gradient(self, X: Any, Y: Any) -> np.ndarray:
        """Derivative ∂D/∂Y, entry by entry: push + drag − pull.

        Parameters
        ----------
        X, Y : array-like
            Data and reconstructions, of shapes that broadcast.

        Returns
        -------
        array
            One derivative for each entry.
        """
        x, y = np.broadcast_arrays(np.asarray(X, float), np.asarray(Y, float))
        f, p = self.functions, self.parameter
        out = [
            f.push(1.0, b, p) + (f.drag(a, b, p) if f.drag is not None else 0.0) - f.pull(a, b, p)
            for a, b in zip(x.ravel(), y.ravel())
        ]
        return np.array(out).reshape(x.shape)
