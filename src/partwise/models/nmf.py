"""NMF, the estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted

from partwise.core import Callback, Problem, Result, Session, State, Stopping, run
from partwise.initial import INITS, start_factors
from partwise.io.registry import register_model, register_value
from partwise.losses import REGISTRY as LOSSES
from partwise.losses import Loss, as_loss
from partwise.matrix import Matrix
from partwise.models.base import FactorModel, as_generator, fit_session
from partwise.models.convention import conventional
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.frobenius_start import frobenius_start, helps
from partwise.models.inputs import Given, check_start, given
from partwise.models.loss_estimate import with_estimated_loss
from partwise.models.names import aligned_columns, aligned_rows, column_labels
from partwise.models.narrow import LEAST, joined, narrow_helps, narrowed, wants_more, widened
from partwise.models.parameters import check_nmf
from partwise.models.relevance import (
    SHARPER,
    ard_of,
    prior_of_rows,
    pruned,
    relevance_of,
    warmed,
    with_relevance,
)
from partwise.models.run_end import last_loss, warn_unbounded, warn_unconverged
from partwise.models.sampled_start import sample_helps, sampled_start
from partwise.models.shares import shares_of
from partwise.models.small_rows import solve_rows
from partwise.models.summary import ending, summarise
from partwise.models.units import Units, exponent_of, in_units, inside, logarithm_constant, outside
from partwise.models.unseen import unseen_columns
from partwise.priors import ARD, COUPLINGS, NO_PRIOR, ElasticNet, Prior, SumPrior, entrywise
from partwise.priors import REGISTRY as PRIORS
from partwise.priors.scaled import times_power
from partwise.solvers import best_solver, make_solver, pick_solver
from partwise.solvers.base import AlternatingSolver
from partwise.solvers.filled import without_holes

# Model files may name every loss and every prior.
_VALUES: set[type] = {SumPrior, ARD, *PRIORS.values(), *COUPLINGS.values()}
for _value in _VALUES | {type(make()) for make in LOSSES.values()}:
    register_value(_value)


class _Outcome(NamedTuple):
    """One finished run."""

    W: np.ndarray
    Ht: np.ndarray
    data_loss: float
    objective: float
    relevance: np.ndarray | None
    result: Result[State]


@register_model
class NMF(FactorModel):
    r"""Nonnegative matrix factorization X ≈ W H, a drop-in for `sklearn.decomposition.NMF`.

    Minimises, over W ≥ 0 and H ≥ 0,

    .. math::

        \sum_i r_i \Big[ \sum_j \omega_{ij}\, d_\beta\big(x_{ij} \,|\, (WH)_{ij}\big) + p_W(w_i) \Big] + p_H(H)

    where d is a β-divergence, ω the entries' weights (0 for missing ones), r the rows' weights, and p the
    penalties: scikit-learn's elastic net, `prior_W` and `prior_H`, or both.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        Number of components, fixed ones included. "auto" takes it from W or H when given, else (like None) it
        is the number of features.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Where to start; None is "nndsvd" with zeros filled in, in the units of the factors, if n_components ≤
        min(n_samples, n_features), else "random".
    solver : {"auto", "hals", "scd", "emu", "randomized", "mu", "cd"}, default="auto"
        "auto" takes the fastest that can do what is asked: "hals" for the Frobenius loss, "scd" (coordinate
        descent by scalar Newton steps) for Kullback-Leibler and for Frobenius with missing or weighted entries,
        "emu" (multiplicative updates, extrapolated) for every other β. "randomized" is "hals" from a start found on
        compressed data. "cd" and "mu" are scikit-learn's solvers with its stopping rules.
    beta_loss : float, str or Loss, default="frobenius"
        "frobenius", "kullback-leibler" (or "kl"), "itakura-saito" (or "is") or a number β: a β-divergence; for β ≤ 0
        the data must be positive. "negative-binomial" (or "nb"): overdispersed counts, the dispersion estimated, or
        given as ``partwise.losses.NegativeBinomial(0.5)``. "bernoulli": data in [0, 1]; W H is then the odds, and
        `inverse_transform` gives probabilities.
    tol : float, default=1e-4
        Stop when the objective falls, per iteration and averaged over ten, by less than `tol` times itself
        ("cd" and "mu": scikit-learn's rules). 0 runs exactly `max_iter` iterations and nothing more.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed: the same data give the same answer.
    alpha_W, alpha_H : float, default=0.0 and "same"
        Strength of the elastic net, scaled as scikit-learn scales it: `alpha_W` by the number of features,
        `alpha_H` by the number of samples. With missing or weighted data these are the observed
        weights of each row and each column.
    l1_ratio : float, default=0.0
        Share of the elastic net that is linear.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.
    shuffle : bool, default=False
        Visit components in random order (coordinate-descent solvers).
    prior_W, prior_H : Prior, optional
        For instance ``partwise.priors.Gamma(shape=2, rate=1)``; added to the elastic net. With ``partwise.ARD()`` as
        both, `n_components` is an upper bound, and components that the data do not need are removed.
    missing_values : nan, 0 or None, default=nan
        What marks an unobserved entry. With sparse X unstored entries are zeros, unless this is 0, which makes
        them unobserved. None refuses NaN.
    fixed_components : array or DataFrame of shape (n_fixed, n_features), optional
        The first rows of H, held as given while the others are learned. Columns with names are put into the order of
        those of X.
    scale : {"samples", "components"} or None, default="samples"
        How W and H share a part's size, which the product leaves open. "samples": the root mean square of every
        column of W over the samples of the fit is ½, as suits a classifier or a clustering that follows.
        "components": every component sums to one, and W is in the units of X. None: as the solver left it.
        With a penalty, a prior, ``init="custom"`` or fixed components the scale is not open, and this is ignored.
    n_init : int, default=1
        Number of starts; the best one is kept. Starts after the first are random.
    max_time : float, optional
        Seconds that the fit may take, compiling not counted; the best found by then is kept.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        H. Parts stand by falling share of the reconstruction, at the scale that `scale` names. With
        ``init="custom"`` or fixed components, order and scale are left as they come.
    n_components_, n_iter_, n_features_in_ : int
        Number of components, of iterations done and of columns.
    relevance_ : array, one number for each component
        Only with `ARD`: the scale λ of each component that is left.
    dispersion_ : float
        Only with `ARD`: the φ used, for the Frobenius loss the noise variance.
    feature_names_in_ : array of str
        Only for data with column names.
    reconstruction_err_ : float
        √(2 D(X | WH)) over the observed entries: for the Frobenius loss, the norm of the residual.
    objective_ : float
        What was minimised: D plus penalties.
    converged_ : bool
        Whether `tol` was met.
    ended_by_ : {"converged", "max_iter", "max_time", "interrupted"}
        Why the kept run ended.
    restarts_ : list of dict
        "objective", "n_iter" and "ended_by" of every start.
    history_ : dict of arrays
        "objective" and "seconds", the start and every iteration of the kept run.
    solver_ : str
        The solver used.
    data_mean_ : float
        Mean of the observed entries: what is tiny in a reconstruction is measured by it, in new rows too.
    data_exponent_, components_exponent_ : int
        Powers of two by which X and H are divided inside, exactly; 0 where the largest entry of X is between 1e-9 and
        1e9. What is reported is in the units of X; `objective_` is infinite, or 0, where a double cannot hold it.
    loss_ : Loss
        The loss used, with what it left to the data (the dispersion of "negative-binomial").

    See Also
    --------
    non_negative_factorization : The same as a function.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF
    >>> X = np.array([[1.0, 2, 3], [2, 4, np.nan], [0, 1, 1], [3, 7, 10]])
    >>> model = NMF(n_components=2, tol=1e-8, max_iter=2000).fit(X)
    >>> bool(abs(model.inverse_transform(model.transform(X))[1, 2] - 6) < 0.1)
    True
    """

    kind = "nmf"
    file_contents = NMF_CONTENTS
    _unsaved_params = ("callbacks",)
    #: Whether X and H may have negative entries.
    _signed = False
    #: What `init` may name.
    _inits: tuple[str, ...] = INITS

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: str | None = None,
        solver: str = "auto",
        beta_loss: float | str = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        prior_W: Prior | None = None,
        prior_H: Prior | None = None,
        missing_values: float | None = np.nan,
        fixed_components: Any = None,
        scale: str | None = "samples",
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.prior_W = prior_W
        self.prior_H = prior_H
        self.missing_values = missing_values
        self.fixed_components = fixed_components
        self.scale = scale
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks

    # ------------------------------------------------------------------ public

    def fit(
        self,
        X: Any,
        y: Any = None,
        W: Any = None,
        H: Any = None,
        sample_weight: Any = None,
        weights: Any = None,
        checkpoint: Any = None,
    ) -> NMF:
        """Learn the components.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data, or data that are read by row blocks; see `fit_transform`.
        y : None
            Ignored.
        W : array of shape (n_samples, n_components), optional
            Where to start when ``init="custom"``.
        H : array of shape (n_components, n_features), optional
            Where to start when ``init="custom"``.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts: 2 is the same as the row occurring twice.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts; 0 is the same as missing. See `fit_transform` for sparse X.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on; see `fit_transform`.

        Returns
        -------
        NMF
            The model itself. Ctrl-C ends the fit early with what was found, and the warning `Interrupted`.
        """
        self._fit(X, W, H, sample_weight, weights, checkpoint)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        W: Any = None,
        H: Any = None,
        sample_weight: Any = None,
        weights: Any = None,
        checkpoint: Any = None,
    ) -> Any:
        """Learn the components and return W; agrees with `transform` on the same rows.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Or data that are read by row blocks: a function without arguments that returns an iterable of arrays or
            sparse matrices at every call, a `numpy.memmap` (above 1 GiB it is read block by block, and never copied
            whole), an AnnData opened with ``backed="r"``, or a `partwise.matrix.Matrix`. Blocks are read once in
            every iteration.
        y : None
            Ignored.
        W : array of shape (n_samples, n_components), optional
            Where to start when ``init="custom"``.
        H : array of shape (n_components, n_features), optional
            Where to start when ``init="custom"``.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts: 2 is the same as the row occurring twice.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts; 0 is the same as missing. With sparse X: sparse with the pattern of
            X, or one number for each stored entry. A DataFrame is put into the order of X by the names of its
            columns and rows, where both have such.
        checkpoint : path, optional
            Folder in which the fit saves its state every ten seconds. A later call with the same data and parameters
            goes on from there, and ends with the same bits as if it had never been stopped.

        Returns
        -------
        array of shape (n_samples, n_components)
            W, how much of each component is in each sample.
        """
        W, row_names = self._fit(X, W, H, sample_weight, weights, checkpoint)
        return self._named(W, row_names)

    def transform(self, X: Any, weights: Any = None) -> Any:
        """The best W for new rows, with the components held.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data with the columns of the fit.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts; 0 is the same as missing.

        Returns
        -------
        array of shape (n_samples, n_components)
            W, how much of each component is in each sample. A row's do not depend on the other rows (but for losses
            that are solved by multiplicative updates, within the tolerance).
        """
        check_is_fitted(self)
        check_nmf(self)
        data, problem, units, Ht = self._held(X, weights)
        return self._named(outside(self._solve_rows(problem, Ht), units.W), data.row_names)

    def score(self, X: Any, y: Any = None, weights: Any = None) -> float:
        """Minus the loss per observed entry of X, with W fitted to X; higher is better.

        W is fitted to the very entries that are scored, so more components always score better, on held-out rows
        as well: this cannot choose `n_components`. Hold out *entries* (NaN) for that.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            Nonnegative data with the columns of the fit.
        y : None
            Ignored.
        weights : array or sparse matrix of shape (n_samples, n_features), optional
            How much each entry counts; 0 is the same as missing.

        Returns
        -------
        float
            −D(X | WH) divided by the sum of the weights.
        """
        check_is_fitted(self)
        data, problem, units, Ht = self._held(X, weights)
        loss = problem.data_loss(self._solve_rows(problem, Ht), Ht)
        return -float(units.loss(loss / max(float(data.X.row_observed().sum()), 1e-300)))

    def shares(self, X: Any, rows: Any = None, columns: Any = None) -> np.ndarray:
        """How much of each entry of X comes from each part: x_ij · w_ik h_kj / Σ_l w_il h_lj.

        Under the Kullback-Leibler loss the data are counts, sums of a Poisson count for each part, and this is the
        expected count of each part given the sum (Ben Baccar 2018, the E-step). Under other losses it divides each
        entry in proportion.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            Data with the columns of the fit.
        rows, columns : array of int, optional
            Places of entries, as in ``X[rows, columns]``: lists of the same length, or ``*np.ix_(rows, columns)`` for
            all pairs, or ``*X.nonzero()`` for the entries of a sparse X. None is all rows, or all columns.

        Returns
        -------
        array of shape (…, n_components)
            They sum to the entry, over the parts. Of an entry that is missing, what the model expects; NaN where the
            model excludes a datum that is not zero.
        """
        check_is_fitted(self)
        return shares_of(self, X, rows, columns)

    # ----------------------------------------------------------------- fitting

    def _fit(
        self, X: Any, W: Any, H: Any, sample_weight: Any, weights: Any, checkpoint: Any
    ) -> tuple[np.ndarray, Any]:
        self._validate_params()
        data = self._given(X, reset=True, weights=weights, sample_weight=sample_weight)
        if data.X.mean() == 0 and data.X.squared_norm() == 0:
            which = "other than" if self._signed else "above"
            raise ValueError(
                f"X ({data.X.shape[0]} × {data.X.shape[1]}) has no observed entry {which} zero: "
                "there are no parts to learn. Check that the right data were loaded."
            )
        names = column_labels(X) or getattr(self, "feature_names_in_", None)
        fixed = self._fixed(data.X, names)
        k = self._count_components(data.X, W, H, fixed)
        given_start = self._given_start(data.X, k, aligned_rows(W, X, "W"), aligned_columns(H, names, "H"))
        loss = self._loss()
        units = self._units(data.X, data.exponent, loss, fixed if given_start is None else given_start[1])
        if fixed is not None:
            fixed = inside(fixed, units.H)
        if given_start is not None:
            given_start = inside(given_start[0], units.W), inside(given_start[1], units.H)
        free = None if fixed is None else np.arange(len(fixed), k)
        problem = self._fit_problem(data, units, free)
        # Arrays of a prior that fit no factor of these shapes are refused here, in words.
        problem.terms_W.for_kernels(data.X.shape[0], k)
        problem.terms_H.for_kernels(problem.X.shape[1], k)
        units = self._with_constant(units, data.X, k)
        solver = self._pick(problem)
        with fit_session(
            self,
            total=self.max_iter,
            quantity=f"objective / 2^{units.degree * units.data:g}" if units.data else "objective",
            max_time=self.max_time,
            checkpoint=checkpoint,
            data=lambda: {"shape": data.X.shape, "contents": data.X.digest(), "exponent": units.data},
        ) as session:
            problem, given_start = self._settled(session, problem, solver, k, given_start, fixed)
            problem, given_start = self._with_relevance(problem, units, solver, k, given_start, fixed)
            outcomes = self._runs(session, problem, units, solver, k, given_start, fixed)
            best = min(outcomes, key=lambda outcome: outcome.objective)
            session.keep(lambda: self._keep(problem, units, outcomes, best, solver))
            warn_unconverged(self, best.result.history.objective)
            if data.X.weighted and data.largest:
                warn_unbounded(best.W, best.Ht, data.largest, data.exponent)
        return outside(best.W, units.W), data.row_names

    def _loss(self) -> Loss:
        """The loss that the parameters name."""
        return as_loss(self.beta_loss)

    def _fit_problem(self, data: Given, units: Units, free: np.ndarray | None) -> Problem:
        """What a fit minimises; `free` are the components of H that are learned."""
        return self._problem(data.X, units, loss=self._loss(), free_H=free)

    def _settled(
        self,
        session: Session,
        problem: Problem,
        solver: AlternatingSolver,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
    ) -> tuple[Problem, tuple[np.ndarray, np.ndarray] | None]:
        """The problem with what is left to the data found from short runs, and where its first run starts."""
        if problem.loss.estimated:
            rng = as_generator(self.random_state)
            W, Ht = self._start(problem, k, start, fixed, 0, rng)
            problem = with_estimated_loss(session, problem, solver, W, Ht, rng)
        return problem, start

    def _with_relevance(
        self,
        problem: Problem,
        units: Units,
        solver: AlternatingSolver,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
    ) -> tuple[Problem, tuple[np.ndarray, np.ndarray] | None]:
        """The problem with the penalty of an `ARD` prior, and where its first run starts: after one without it."""
        prior = ard_of(self)
        if prior is None:
            return problem, start
        rng = as_generator(self.random_state)
        warm = warmed(problem, solver, *self._start(problem, k, start, fixed, 0, rng), rng, "warm0")
        return with_relevance(prior, problem, units, warm), warm if start is None else start

    def _held(self, X: Any, weights: Any) -> tuple[Given, Problem, Units, np.ndarray]:
        """New rows, the problem of finding their W for the components held, its units, and Hᵀ in these."""
        data = self._given(X, reset=False, weights=weights)
        H = self.components_.astype(data.X.dtype, copy=False)
        units = Units()
        if data.exponent:
            units = Units(data.exponent, self.components_exponent_, float(self.loss_.degree or 0.0))
        mean = times_power(self.data_mean_, -units.data) if units.data else self.data_mean_
        problem = self._problem(data.X, units, loss=self.loss_, mean=mean, update_H=False)
        return data, problem, units, np.ascontiguousarray(inside(H, units.H).T)

    def _units(self, X: Matrix, exponent: int, loss: Loss, H: np.ndarray | None) -> Units:
        """How data that were divided by 2^exponent, and factors, are scaled inside; `H` is what is given of it."""
        if exponent == 0 or loss.degree is None:
            return Units()
        if H is not None and H.size:
            return Units(exponent, exponent_of(float(H.max())), loss.degree)
        if self.alpha_W or self.alpha_H not in ("same", 0) or self.prior_W or self.prior_H:
            return Units(exponent, exponent // 2, loss.degree)
        if self.scale == "samples":
            # W is of ordinary size, whatever the units of X.
            return Units(exponent, exponent, loss.degree)
        # Each part sums to one, unless sums over rows of X would then be too large for W.
        room = np.finfo(X.dtype).maxexp - 2 - X.shape[1].bit_length()
        return Units(exponent, max(0, exponent - room), loss.degree)

    def _with_constant(self, units: Units, X: Matrix, k: int) -> Units:
        if not units.data:
            return units
        constant = sum(
            logarithm_constant(entrywise(prior).terms(), (n, k), r, exponent)
            for prior, n, r, exponent in (
                (self.prior_W, X.shape[0], X.row_weight, units.W),
                (self.prior_H, X.shape[1], None, units.H),
            )
        )
        return replace(units, constant=constant)

    def _given(self, X: Any, *, reset: bool, weights: Any = None, sample_weight: Any = None) -> Given:
        loss = self._loss()
        exponent = 0 if loss.degree is None else None if reset else self.data_exponent_
        return given(
            self,
            X,
            reset=reset,
            missing_values=self.missing_values,
            weights=weights,
            sample_weight=sample_weight,
            positive=loss.needs_positive_data,
            highest=loss.highest,
            loss_name=loss.name,
            by_blocks=True,
            exponent=exponent,
            signed=self._signed,
        )

    def _fixed(self, X: Matrix, names: Sequence[Any] | None) -> np.ndarray | None:
        if self.fixed_components is None:
            return None
        fixed = aligned_columns(self.fixed_components, names, "fixed_components")
        fixed = check_array(fixed, dtype=X.dtype, input_name="fixed_components")
        if fixed.shape[1] != X.shape[1]:
            raise ValueError(
                f"fixed_components must have one column for each of the {X.shape[1]} features; "
                f"got shape {fixed.shape}."
            )
        if fixed.min() < 0:
            raise ValueError("Negative values in data passed to NMF (fixed_components).")
        return fixed

    def _count_components(self, X: Matrix, W: Any, H: Any, fixed: np.ndarray | None) -> int:
        k: Any = self.n_components
        if k == "auto" and self.init == "custom" and (H is not None or W is not None):
            k = np.shape(H)[0] if H is not None else np.shape(W)[1]
        elif k == "auto" or k is None:
            k = X.shape[1]
        k = int(k)
        # (An NNDSVD start has its own, stricter bound and its own sentence.)
        if k > max(X.shape) and not str(self.init).startswith("nndsvd"):
            raise ValueError(
                f"n_components={k} exceeds both sides of X ({X.shape[0]} × {X.shape[1]}); with "
                f"{min(X.shape)} components X is already reproduced exactly. Choose fewer."
            )
        if fixed is not None and len(fixed) > k:
            raise ValueError(
                f"fixed_components has {len(fixed)} rows, more than n_components={k}; raise n_components."
            )
        self._n_components = k
        return k

    def _given_start(self, X: Matrix, k: int, W: Any, H: Any) -> tuple[np.ndarray, np.ndarray] | None:
        if self.init != "custom":
            if W is not None or H is not None:
                warnings.warn(
                    "When init!='custom', provided W or H are ignored. Set init='custom' to use them as "
                    "initialization.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return None
        if W is None or H is None:
            raise ValueError("init='custom' needs both W and H; pass them to fit or fit_transform.")
        H = check_start(H, (k, X.shape[1]), "NMF (input H)", X.dtype, self._signed)
        W = check_start(W, (X.shape[0], k), "NMF (input W)", X.dtype)
        return W, np.ascontiguousarray(H.T)

    def _problem(
        self,
        X: Matrix,
        units: Units,
        *,
        loss: Loss,
        mean: float | None = None,
        update_H: bool = True,
        free_H: np.ndarray | None = None,
    ) -> Problem:
        """The problem of these data in these units; `mean` is that of the data of the fit, where these are others."""
        alpha_H = self.alpha_W if self.alpha_H == "same" else self.alpha_H

        def belief(alpha: Any, prior: Prior | None, observed: Any, factor: int) -> Prior:
            parts = () if prior is None else (prior,)
            if alpha:
                net = ElasticNet(alpha * self.l1_ratio, alpha * (1 - self.l1_ratio), observed())
                parts = (net, *parts)
            return units.prior(SumPrior(parts), factor)

        return Problem(
            X,
            loss,
            belief(
                self.alpha_W, self.prior_W if update_H else self._prior_of_rows(), X.row_observed, units.W
            ),
            belief(alpha_H, self.prior_H, X.column_observed, units.H) if update_H else NO_PRIOR,
            free_H=free_H,
            update_H=update_H,
            shift=loss.shift(X.mean() if mean is None else mean, X.dtype),
        )

    def _prior_of_rows(self) -> Prior:
        """What is believed of new rows: they have no place in a coupling of those of the fit."""
        if isinstance(self.prior_W, ARD):
            return prior_of_rows(self.prior_W, self.dispersion_, self.relevance_)
        return entrywise(self.prior_W)

    def _pick(self, problem: Problem) -> AlternatingSolver:
        if self.solver == "cd" and not problem.loss.gram:
            raise ValueError(
                f"Invalid beta_loss parameter: solver 'cd' does not handle beta_loss = {self.beta_loss!r}; "
                "use solver='auto'."
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warnings.warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the initialization, "
                "and so leads to poorer results when used jointly with init='nndsvd'. You may try "
                "init='nndsvda' or init='nndsvdar' instead.",
                UserWarning,
                stacklevel=5,
            )
        return self._solver_for(problem)

    def _solver_for(self, problem: Problem) -> AlternatingSolver:
        """The solver that is meant by the name given.

        scikit-learn has all losses but the Frobenius one by "mu" alone: who names it means the loss, and gets the
        fastest solver for it. Who gives a start as well studies the updates, and gets these; so do penalties, which
        under exact steps may leave no component at all where multiplicative updates only come near that.
        """
        plain = all(terms.empty and terms.lower == 0 for terms in (problem.terms_W, problem.terms_H))
        if self.solver == "mu" and self.init != "custom" and plain:
            return best_solver(problem, self.shuffle)
        return pick_solver(self.solver, problem, self.shuffle)

    def _stopping(self, solver: AlternatingSolver, tol: float) -> Stopping:
        """The rule that the name of the solver stands for."""
        return (make_solver("mu") if self.solver == "mu" else solver).stopping(tol)

    def _start(
        self,
        problem: Problem,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
        number: int,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """W and Hᵀ to begin the run of this number at."""
        if start is not None and number == 0:
            W, Ht = start
        else:
            W, Ht = start_factors(problem.X, k, self.init if number == 0 else "random", rng)
            W, Ht = (np.clip(A, t.lower, t.upper) for A, t in ((W, problem.terms_W), (Ht, problem.terms_H)))
        if fixed is not None:
            Ht[:, : len(fixed)] = fixed.T
        return W, Ht

    def _runs(
        self,
        session: Session,
        problem: Problem,
        units: Units,
        solver: AlternatingSolver,
        k: int,
        start: tuple[np.ndarray, np.ndarray] | None,
        fixed: np.ndarray | None,
    ) -> list[_Outcome]:
        """Up to `n_init` runs; Ctrl-C ends the run under way and those that were to come."""
        generators = as_generator(self.random_state).spawn(self.n_init)
        unseen = self._unseen_columns(problem)
        wide, is_narrow = problem, narrow_helps(problem, solver, k, self.tol)
        problem = narrowed(wide) if is_narrow else wide
        observed = without_holes(problem)

        def attempt(i: int) -> _Outcome:
            rng = generators[i]
            ours = self.init is None and self.solver == "auto" and start is None
            name = f"start{i}"
            if ours and i == 0 and sample_helps(problem, solver):
                W, Ht = sampled_start(session, problem, k, self.tol, self.max_iter, rng, name)
            else:
                W, Ht = self._start(problem, k, start, fixed, i, rng)
            if ours and helps(problem, solver):
                W, Ht = frobenius_start(session, problem, W, Ht, self.tol, self.max_iter, rng, name)
            if unseen.size:
                Ht = Ht.copy()
                Ht[unseen] = 0.0
            relevance = relevance_of(problem)
            if relevance is not None and self.init != "custom":
                W, Ht = (W, Ht) if i == 0 else warmed(problem, solver, W, Ht, rng, f"warm{i}")
                W, Ht = relevance.balanced(W, Ht)
            tol = self.tol if relevance is None else SHARPER * self.tol
            settings: dict[str, Any] = {
                "max_iter": self.max_iter,
                "callbacks": [in_units(callback, units) for callback in self.callbacks or ()],
                "rng": rng,
            }
            result = run(
                observed,
                solver,
                solver.init(observed, W, Ht),
                stopping=self._stopping(solver, max(tol, LEAST) if is_narrow else tol),
                name=f"run{i}",
                **settings,
            )
            if is_narrow:
                found, result = result, widened(result)
                if wants_more(problem, solver, found, tol):
                    stopping = self._stopping(solver, tol)
                    result = run(
                        wide, solver, result.state, stopping=stopping, name=f"run{i}-wide", **settings
                    )
                    result = replace(result, history=joined(found.history, result.history))
            result.state.Ht[unseen] = 0.0
            factors = self._finish(session, wide, solver, result)
            return _Outcome(
                *factors, replace(result, reason="interrupted") if session.interrupted else result
            )

        return session.restarts(self.n_init, attempt)

    def _unseen_columns(self, problem: Problem) -> np.ndarray:
        """Which columns have no observed entry, and nothing believed of them; said in a warning.

        Nothing is learned of these. They are zero in every component from the start: what a run leaves there would
        come from where it began, count in the size of the component, and be listed among the features of a part.
        """
        told = any(pairing.tells_columns for pairing in problem.pairings)
        told = told or bool(problem.prior_H.couplings()) or self.fixed_components is not None
        if told or not problem.X.weighted or not problem.terms_H.empty:
            return np.zeros(0, dtype=int)
        return unseen_columns(self, problem.X.column_observed(), "the parts are zero there")

    def _finish(
        self, session: Session, problem: Problem, solver: AlternatingSolver, result: Result[State]
    ) -> tuple[np.ndarray, np.ndarray, float, float, np.ndarray | None]:
        """W and Hᵀ after `partwise.models.convention`, W as `transform` gives it; loss, objective and relevances.

        The last half-step of a run moves H, so its W is a little stale; solving for it afresh, as `transform`
        does, makes the two agree. With tol=0, or when time or patience ran out, W is left as it was.
        """
        W, Ht = session.completed(lambda: self._conventional(problem, result.state))
        W, Ht, known = pruned(problem, W, Ht)
        relevance = relevance_of(problem)
        tied = any(one is not relevance for one in problem.pairings) or problem.prior_W.couplings()
        solved = self.tol > 0 and result.reason in ("converged", "max_iter") and not tied
        if solved:
            with session.interruptible():
                W = self._solve_rows(
                    problem, Ht, NO_PRIOR if relevance is None else relevance.prior_at(np.asarray(known))
                )
        loss = float("nan")
        if not solved and relevance is None:
            loss = session.completed(lambda: last_loss(problem, solver, result))
        if np.isnan(loss) or session.interrupted:
            loss = session.completed(lambda: problem.data_loss(W, Ht))
        return W, Ht, loss, loss + session.completed(lambda: problem.prior_value(W, Ht)), known

    def _conventional(self, problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
        """W and Hᵀ in the house convention, where order and scale are free."""
        if self.init == "custom" or self.fixed_components is not None:
            return state.W, state.Ht
        tied = bool(problem.prior_W.couplings() or problem.prior_H.couplings())
        tied = tied or not all(one.scale_free for one in problem.pairings)
        scale_free = problem.terms_W.scale_free and problem.terms_H.scale_free and not tied
        scale = self.scale if scale_free else None
        signed = problem.terms_H.signed
        return conventional(state.W, state.Ht, problem.X.row_weight, scale, signed, self.n_features_in_)

    def _solve_rows(self, problem: Problem, Ht: np.ndarray, further: Prior = NO_PRIOR) -> np.ndarray:
        """The best W for a held H, under a further prior of its entries."""
        held = replace(
            problem,
            prior_W=SumPrior((entrywise(problem.prior_W), further)),
            prior_H=NO_PRIOR,
            free_H=None,
            update_H=False,
            pairings=(),
        )
        # New rows may have no gaps, or too many, for the solver that fills in those of the fit.
        solver = pick_solver("auto", held) if self.solver == "filled" else self._solver_for(held)
        return solve_rows(solver, held, Ht, self.max_iter, self.tol)

    def _keep(
        self,
        problem: Problem,
        units: Units,
        outcomes: list[_Outcome],
        best: _Outcome,
        solver: AlternatingSolver,
    ) -> None:
        state: State = best.result.state
        self.restarts_ = [
            {
                "objective": float(units.objective(one.objective)),
                "n_iter": one.result.state.iteration,
                "ended_by": one.result.reason,
            }
            for one in outcomes
        ]
        self.loss_ = problem.loss
        self.data_exponent_, self.components_exponent_ = units.data, units.H
        self.data_mean_ = float(outside(problem.X.mean(), units.data))
        self.components_ = np.ascontiguousarray(outside(best.Ht, units.H).T)
        self.n_components_ = len(self.components_)
        self._keep_relevance(problem, units, best)
        self.n_samples_fit_ = problem.X.shape[0]
        self.n_iter_ = state.iteration
        self.objective_ = float(units.objective(best.objective))
        root = float(np.sqrt(2.0 * max(best.data_loss, 0.0)))
        self.reconstruction_err_ = float(units.loss(root, 0.5))
        self.converged_ = best.result.converged
        self.ended_by_ = best.result.reason
        self.solver_ = solver.name if self.solver in ("auto", "mu") else self.solver
        self.history_ = {
            "objective": units.objective(np.array(best.result.history.objective)),
            "seconds": np.array(best.result.history.seconds),
        }

    def _keep_relevance(self, problem: Problem, units: Units, best: _Outcome) -> None:
        relevance = relevance_of(problem)
        if relevance is None or best.relevance is None:
            for name in ("relevance_", "dispersion_"):
                self.__dict__.pop(name, None)
            return
        self.relevance_ = best.relevance
        self.dispersion_ = float(units.loss(relevance.weight))

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Names of the columns; by default those of the fit, else column0, column1, …

        Returns
        -------
        dict
            Dicts, lists, text and numbers; `partwise.models.summary.summarise` lists the entries.
        """
        check_is_fitted(self)
        return summarise(
            self,
            feature_names,
            sentence=f"{self.solver_} {ending(self)}, reconstruction error {self.reconstruction_err_:.6g}",
            figures={"objective": self.objective_, "reconstruction_err": self.reconstruction_err_},
            chosen=self._chosen(),
        )

    def _chosen(self) -> dict[str, str]:
        """What the fit settled on where the parameters left that open."""
        chosen = {"solver": self.solver_}
        if hasattr(self, "relevance_"):
            chosen["n_components"] = f"{self.n_components_} of {self.n_components}"
        return chosen

    def _validate_params(self) -> None:
        check_nmf(self)
        ard_of(self)
        self._loss()

    def _check_contents(self) -> None:
        """What `file_contents` cannot say: the loss is whole, and priors fit the number of components."""
        if self.loss_.estimated or not np.isfinite(self.loss_.parameter):
            raise ValueError(f"its loss_ is {self.loss_!r}, whose parameter is not a number")
        if isinstance(self.prior_W, ARD) and not hasattr(self, "relevance_"):
            raise ValueError("it lacks relevance_, which its ARD prior is applied to new rows by")
        self._prior_of_rows().terms()

    def _expected(self, Y: np.ndarray) -> np.ndarray:
        """Under the Bernoulli loss, probabilities of the odds W H."""
        return self.loss_.mean(Y)

    def __sklearn_tags__(self) -> Any:
        """NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.input_tags.positive_only = not self._signed
        return tags
