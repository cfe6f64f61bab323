"""SemiNMF: data of any sign as nonnegative amounts of signed components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from partwise.core import Callback, Problem
from partwise.initial import random_semi, svd_start
from partwise.io.registry import register_model
from partwise.models.inputs import Given
from partwise.models.units import Units
from partwise.models.variant import NMFVariant
from partwise.priors import Bounds

SIGNED = Bounds(-np.inf, np.inf)


@register_model
class SemiNMF(NMFVariant):
    r"""Semi-nonnegative matrix factorization: X of any sign ≈ W H with W ≥ 0 and H of any sign.

    Minimises :math:`\frac12 \sum_{ij} \omega_{ij} (x_{ij} - (WH)_{ij})^2` (Ding, Li & Jordan 2010). Like k-means it
    describes samples by a few centres, the components; but a sample may have some of each.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components; "auto" and None are the number of features.
    init : {"svd", "random", "custom"} or None, default=None
        Where to start. "svd": from the singular vectors (Gillis & Kumar 2015), which for nonnegative X is an
        optimum already. None is "svd" if n_components ≤ min(n_samples, n_features), else "random".
    solver : {"auto", "hals", "scd", "randomized", "cd"}, default="auto"
        As in `NMF`: "hals" for complete data, "scd" with missing or weighted entries.
    tol : float, default=1e-4
        As in `NMF`.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    verbose : int, default=0
        1 shows a progress bar on stderr.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry.
    scale : {"samples", "components"} or None, default="samples"
        How W and H share a part's size. "samples": the root mean square of every column of W is ½. "components":
        every component has Euclidean norm 1. None: as the solver left it.
    n_init : int, default=1
        Number of starts; the best one is kept. Starts after the first are random.
    max_time : float, optional
        Seconds that the fit may take.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H, of any sign, in the order of falling share of the reconstruction.
    reconstruction_err_, objective_, history_, n_iter_, converged_, ended_by_, restarts_, solver_
        As in `NMF`.

    Notes
    -----
    Where X has a nonnegative direction (always if X ≥ 0), the error is that of the truncated singular value
    decomposition, and the optimum is not unique: another start gives other parts of the same error.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import SemiNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((30, 3)) @ rng.standard_normal((3, 12))
    >>> model = SemiNMF(3, tol=1e-10, max_iter=2000)
    >>> W = model.fit_transform(X)
    >>> bool((W >= 0).all()), bool((model.components_ < 0).any())
    (True, True)
    >>> bool(np.abs(model.inverse_transform(W) - X).max() < 0.01)
    True
    """

    kind = "semi"
    _signed = True
    _inits = ("svd", "random", "custom")
    beta_loss: float | str = "frobenius"

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: str | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
        missing_values: float | None = np.nan,
        scale: str | None = "samples",
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing_values = missing_values
        self.scale = scale
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks

    def _fit_problem(self, data: Given, units: Units, free: np.ndarray | None) -> Problem:
        return replace(super()._fit_problem(data, units, free), prior_H=SIGNED)

    def _start(
        self,
        problem: Problem,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
        number: int,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        if start is not None and number == 0:
            return start
        fits = k <= min(problem.X.shape)
        if self.init == "svd" and not fits:
            raise ValueError(
                f"init='svd' needs n_components ≤ min(n_samples, n_features); n_components is {k} and X has shape "
                f"{problem.X.shape}. Use init='random'."
            )
        wanted = self.init != "random" and number == 0 and fits
        return (svd_start if wanted else random_semi)(problem.X, k, rng)
