"""BayesianBooleanMF: how sure one can be of the tiles of yes/no data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack
from partwise.core import digest
from partwise.io.registry import register_model
from partwise.models.base import FactorModel, as_generator, fit_session
from partwise.models.file_contents import BAYESIAN_BOOLEAN_CONTENTS
from partwise.models.inputs import row_names, validated
from partwise.models.parameters import choice, real, whole
from partwise.models.summary import counted, ending, summarise
from partwise.models.unseen import PRIOR_ALONE, unseen_columns
from partwise.models.yes_no import to_bit_table
from partwise.parallel import over_rows
from partwise.samplers.as_arviz import as_arviz
from partwise.samplers.bit_kernels import usage_chances
from partwise.samplers.boolean_chains import (
    N_PROBES,
    SAMPLERS,
    Target,
    Watch,
    judged,
    make_starts,
    make_target,
    same_tiles,
)
from partwise.samplers.chains import Chains, sample_chains
from partwise.samplers.posterior_bits import PosteriorBits, posterior_bits
from partwise.samplers.relaxed_gibbs import draw_factor
from partwise.samplers.unit_priors import unit_prior

#: R-hat above which the chains are said to disagree.
RHAT = 1.05
#: Entries of a table up to which the probability of every entry is kept by default.
CELLS = 2**24
#: Bytes of draws kept in memory by each chain, and most draws.
MEMORY, KEPT = 64e6, 250
#: Bytes of the largest group that `to_arviz` makes.
LARGEST_GROUP = 4e9
#: Sweeps over the usage of new rows, and those of them that are not averaged.
SWEEPS, FIRST = 120, 20


@register_model
class BayesianBooleanMF(FactorModel):
    """Tiles of yes/no data with their uncertainty: draws from a posterior instead of one answer.

    With ``sampler="gibbs"`` the model is the OR of tiles, whose entries are flipped: zeros with probability p₊, ones
    with probability p₋, both unknown. The other samplers draw relaxed factors in [0, 1] under normal errors
    (Gonsior 2019), of which "relaxed-gibbs", "mala", "metropolis" and "rejection" are exact, "iasg" and "langevin"
    are not. Several chains run from different starts, in parallel; where they disagree, the fit says so.

    Parameters
    ----------
    n_components : int, default=4
        Number of tiles. Tiles that the data do not need stay empty.
    sampler : {"gibbs", "relaxed-gibbs", "iasg", "langevin", "mala", "metropolis", "rejection"}, default="gibbs"
        How draws are made; "rejection" is for tables of a few entries.
    prior : {"normal", "uniform", "laplace", "beta", "binary"} or UnitPrior, default="normal"
        Prior of relaxed entries; "gibbs" does not read it.
    n_chains : int, default=4
        Number of chains.
    n_draws : int, default=1000
        Draws of each chain that count.
    n_warmup : int or "auto", default="auto"
        Steps of each chain before that: 200 for "gibbs", otherwise as many as the draws take.
    thin : int, default=1
        Steps from one draw to the next; for "iasg", windows.
    batch_size : int or tuple of two int or None, default=None
        Rows and columns of a minibatch of "iasg"; None for all.
    init : {"random", "optimum"} or tuple of arrays (W, H), default="random"
        Where chains begin: at random factors, fitted and cut for "gibbs"; at the tiles that `BooleanMF` finds; or at
        given factors.
    noise : float, "sample" or "auto", default="auto"
        Variance of relaxed reconstructions: a number is held; "auto" draws it with "relaxed-gibbs", is 1 elsewhere.
    boundary : {"auto", "clamp", "reflect", "mirror"}, default="auto"
        What "iasg", "langevin" and "mala" do at 0 and 1; "auto" clamps with "iasg", as published, and reflects
        elsewhere.
    step_size : float or None, default=None
        Step of "langevin" and "mala", or standard deviation of the proposals of "metropolis"; None chooses one.
    paper : bool, default=False
        Whether "iasg" is as published: gradients of minibatches unscaled, steps calibrated once, at factors drawn
        uniformly.
    flip_prior : tuple of two float, default=(1, 3)
        Beta prior of p₊ and of p₋, restricted to p₊ + p₋ < 1: otherwise a tile could stand for what is left out.
    density_prior : tuple of two float, default=(1, 1)
        Beta prior of the share of rows, and of columns, that a tile has.
    cells : bool or "auto", default="auto"
        Whether the probability of every entry is kept; "auto" for tables of up to 16 million entries.
    max_time : float or None, default=None
        Seconds after which sampling ends with the draws so far, compiling not counted.
    missing_values : nan or None, default=nan
        NaN marks entries that were not observed; with None it is an error.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.

    Attributes
    ----------
    components_, components_std_ : arrays of shape (n_components, n_features)
        Posterior mean and standard deviation of H; with "gibbs" the mean is the probability of each bit.
    W_mean_, W_std_ : arrays of shape (n_samples, n_components)
        The same of W, for the rows of the fit.
    probability_ : dict of arrays
        "W" and "H": of each bit (relaxed entries: of being above ½); "tiles": share of draws in which the tile is the
        one named in `tiles_` (80 % of the joint area); and, where `cells` are kept, "cells": of each entry of the
        noise-free table (relaxed: the mean reconstruction).
    usage_, tiles_ : arrays of bool of shapes (n_samples, n_components) and (n_components, n_features)
        The bits with the fewest wrong entries in expectation; see `partwise.samplers.posterior_bits`.
    expected_wrong_ : float
        That expectation; NaN without `cells`.
    noise_ : dict of float
        Mean and standard deviation: "add" and "drop" (p₊, p₋) with "gibbs", else "variance".
    densities_ : array of shape (n_components,)
        Share of rows that use each tile, on average.
    rhat_, ess_ : dict of float
        The worst R-hat and the smallest effective sample size of quantities that do not depend on the order of
        tiles: "log_posterior", "probes" (covered entries by groups of rows; relaxed: entries of the reconstruction)
        and the noise. NaN with too few draws.
    converged_ : bool
        Whether all chains made all their draws and no R-hat exceeds 1.05.
    ended_by_ : {"max_iter", "max_time", "interrupted"}
        Why sampling ended; "max_iter" is that all draws were made.
    n_iter_ : int
        Steps of each chain.
    history_ : dict of arrays
        "log_posterior" along the first chain, warm-up included.

    Examples
    --------
    >>> from partwise import BayesianBooleanMF
    >>> from partwise.datasets import make_boolean
    >>> table = make_boolean(80, 60, 3, 0.2, noise_add=0.02, noise_drop=0.1, random_state=0)
    >>> model = BayesianBooleanMF(3, n_chains=2, n_draws=100, random_state=0).fit(table.data)
    >>> int(((model.usage_ @ model.tiles_) != table.clean).sum())
    0
    """

    kind = "bayesian-boolean"
    yes_no = True
    file_contents = BAYESIAN_BOOLEAN_CONTENTS
    part_word = "tile"
    result_files = ("usage.csv", "tiles.csv")

    def __init__(
        self,
        n_components: int = 4,
        *,
        sampler: str = "gibbs",
        prior: Any = "normal",
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: Any = "auto",
        thin: int = 1,
        batch_size: Any = None,
        init: Any = "random",
        noise: Any = "auto",
        boundary: str = "auto",
        step_size: float | None = None,
        paper: bool = False,
        flip_prior: tuple[float, float] = (1.0, 3.0),
        density_prior: tuple[float, float] = (1.0, 1.0),
        cells: Any = "auto",
        max_time: float | None = None,
        missing_values: float | None = np.nan,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.sampler = sampler
        self.prior = prior
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.thin = thin
        self.batch_size = batch_size
        self.init = init
        self.noise = noise
        self.boundary = boundary
        self.step_size = step_size
        self.paper = paper
        self.flip_prior = flip_prior
        self.density_prior = density_prior
        self.cells = cells
        self.max_time = max_time
        self.missing_values = missing_values
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> BayesianBooleanMF:
        """Draw from the posterior. Ctrl-C ends sampling and keeps the draws so far.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed. Unstored entries of sparse data are zeros.
        y : None
            Ignored.
        checkpoint : path, optional
            Folder in which the chains are saved every ten seconds. A later call with the same data and parameters
            goes on from there and ends with the same draws.

        Returns
        -------
        BayesianBooleanMF
            The model itself.
        """
        self._validate_params()
        table, numbers = self._table(X, reset=True)
        unseen_columns(self, table.by_column.totals(table.by_column.seen), PRIOR_ALONE)
        target = self._target(table)
        rng = as_generator(self.random_state)
        k = int(self.n_components)
        warmup = self._warmup(target)
        rngs = rng.spawn(self.n_chains)
        shape = (table.n, table.m)
        probes = np.stack([rng.integers(side, size=N_PROBES) for side in shape], axis=1)
        cells = table.n * table.m <= CELLS if self.cells == "auto" else bool(self.cells)
        watch = Watch(target, shape, probes, cells, MEMORY, KEPT)
        total = self.n_chains * (warmup + self.n_draws * self.thin * target.stride)
        with fit_session(
            self,
            total=total,
            quantity="log-posterior",
            max_time=self.max_time,
            checkpoint=checkpoint,
            data=lambda: {"shape": shape, "contents": digest(*vars(table.by_row).values())},
        ) as session:
            given = self._given(table, X, rng)
            chains = sample_chains(
                target.kernel,
                target.problem,
                make_starts(target, table, numbers, k, rngs, given),
                n_draws=self.n_draws,
                n_warmup=warmup,
                thin=self.thin * target.stride,
                recorders=watch.recorders(),
                rngs=rngs,
                prepare=watch.prepare,
                observe=watch.observe,
            )
            found = session.completed(lambda: self._found(target, chains))
            session.keep(lambda: self.__dict__.update(found))
        if not self.converged_ and self.ended_by_ == "max_iter":
            worst = max(self.rhat_, key=lambda name: self.rhat_[name])
            warnings.warn(
                f"The chains do not agree: R-hat of {worst} is {self.rhat_[worst]:.2f}, above {RHAT}. Make more "
                "draws (n_draws, n_warmup), or begin at init='optimum'; means and intervals of this fit are not yet "
                "those of the posterior.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None, *, checkpoint: Any = None) -> Any:
        """Draw from the posterior and return what `transform` says of the same rows.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed.
        y : None
            Ignored.
        checkpoint : path, optional
            See `fit`.

        Returns
        -------
        array of shape (n_samples, n_components)
            Expected usage given the tiles named; `W_mean_` has it with the uncertainty of the tiles.
        """
        return self.fit(X, checkpoint=checkpoint).transform(X)

    def transform(self, X: Any) -> Any:
        """Expected usage of each row, given the tiles of the fit.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool, with the columns of the fit; NaN where not observed.

        Returns
        -------
        array of shape (n_samples, n_components)
            With "gibbs", the probability that the row uses each tile of `tiles_`; otherwise the posterior mean of its
            relaxed usage given `components_`. A row's answer depends on its data alone.
        """
        check_is_fitted(self)
        table, _ = self._table(X, reset=False)
        W = self._usage(table) if self.sampler == "gibbs" else self._relaxed_usage(table)
        return self._named(W, row_names(X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The table to expect from a usage.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Usage between 0 and 1, as `transform` returns it.

        Returns
        -------
        array of shape (n_samples, n_features)
            With "gibbs", the probability that any tile covers the entry, as if bits were independent; otherwise
            the product with `components_`.
        """
        check_is_fitted(self)
        X = self._by_parts(X)
        W = np.asarray(X.toarray() if hasattr(X, "tocsr") else X, dtype=float)
        product = super().inverse_transform(W)
        if self.sampler != "gibbs":
            return product
        none = np.ones((len(W), self.components_.shape[1]))
        for t, tile in enumerate(self.components_):
            none *= 1.0 - np.clip(W[:, t, None] * tile, 0.0, 1.0)
        return 1.0 - none

    def predict_interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Between which values each entry of the noise-free table of the fit lies.

        Parameters
        ----------
        level : float, default=0.9
            Posterior probability of the interval; half of the rest lies on each side.

        Returns
        -------
        low, high : arrays of shape (n_samples, n_features)
            With "gibbs" 0 or 1: both 1 where the entry is surely one, 0 and 1 where it is in doubt. Relaxed intervals
            are of W H, which is no yes or no: they do not cover 0/1 entries.
        """
        check_is_fitted(self)
        real("level", level, 0.0, 1.0)
        tail = 0.5 * (1.0 - level)
        if self.sampler == "gibbs":
            cells = self.probability_.get("cells")
            if cells is None:
                raise ValueError(
                    "predict_interval needs the probability of every entry; fit with cells=True."
                )
            return (cells > 1.0 - tail).astype(np.uint8), (cells > tail).astype(np.uint8)
        W = self.draws_["W"].reshape(-1, *self.W_mean_.shape)
        H = self.draws_["H"].reshape(-1, *self.components_.shape)
        low, high = (np.empty((W.shape[1], H.shape[2]), np.float32) for _ in range(2))
        # Row by row: all draws of the whole table at once would take draws times its size.
        for i in range(W.shape[1]):
            low[i], high[i] = np.quantile(np.einsum("dk,dkm->dm", W[:, i], H), (tail, 1.0 - tail), axis=0)
        return low, high

    def to_arviz(
        self, X: Any = None, *, log_likelihood: bool = False, posterior_predictive: bool = False
    ) -> Any:
        """The kept draws for ArviZ: plots, diagnostics, comparison of models, netCDF and Zarr files.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), optional
            The data of the fit, which the model does not keep; needed for `log_likelihood`.
        log_likelihood : bool, default=False
            Add a group with the log-likelihood of every observed entry under every kept draw, 8 bytes each; above
            4 GB it is refused. Entries that were not observed have 0.
        posterior_predictive : bool, default=False
            Add a group with new tables drawn for every kept draw; as large.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The first with ArviZ 0.x, the second with 1.x. Group "posterior": W (chain, draw, sample, component), H
            (chain, draw, component, feature) and the noise; "sample_stats": "lp"; with X, "observed_data".
        """
        draws = self.draws_
        W, H = draws["W"], draws["H"]
        (n_chains, n_kept, n, k), m = W.shape, H.shape[3]
        noise = {name: draws[name] for name in draws if name not in ("W", "H", "log_posterior")}
        groups: dict[str, dict[str, Any]] = {
            "posterior": {"W": W, "H": H, **noise},
            "sample_stats": {"lp": draws["log_posterior"]},
        }
        size = 8.0 * n_chains * n_kept * n * m
        if (log_likelihood or posterior_predictive) and size > LARGEST_GROUP:
            raise ValueError(
                f"A group with a number for each of {n_chains} × {n_kept} draws and {n} × {m} entries takes "
                f"{size / 1e9:.1f} GB. Fit with a larger thin, or fewer draws."
            )
        if log_likelihood and X is None:
            raise ValueError("log_likelihood=True needs the data: to_arviz(X, log_likelihood=True).")
        if X is not None:
            ones, seen = self._table(X, reset=False)[0].unpacked()
            if len(ones) != n:
                raise ValueError(f"to_arviz needs the data of the fit, with {n} rows; got {len(ones)}.")
            groups["observed_data"] = {"X": np.where(seen, ones.astype(float), np.nan)}
        rng = np.random.default_rng(0)

        def each(function: Any) -> np.ndarray:
            out = np.empty((n_chains, n_kept, n, m))
            for c, d in np.ndindex(n_chains, n_kept):
                out[c, d] = function(
                    W[c, d] @ H[c, d], {name: float(value[c, d]) for name, value in noise.items()}
                )
            return out

        if log_likelihood:
            groups["log_likelihood"] = {
                "X": each(lambda Y, s: np.where(seen, entry_densities(ones, Y, s), 0.0))
            }
        if posterior_predictive:
            groups["posterior_predictive"] = {"X": each(lambda Y, s: new_table(Y, s, rng))}
        dims = {"W": ("sample", "component"), "H": ("component", "feature"), "X": ("sample", "feature")}
        features = np.asarray(getattr(self, "feature_names_in_", np.arange(m)))
        coords = {"sample": np.arange(n), "component": np.arange(k), "feature": features}
        return as_arviz(groups, dims, coords)

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
        worst = max(self.rhat_.values(), default=float("nan"))
        if self.sampler == "gibbs":
            noise = f"flips {self.noise_['add']:.3f} / {self.noise_['drop']:.3f}"
        else:
            noise = f"noise variance {self.noise_['variance']:.3g}"
        said = "" if self.ended_by_ == "max_iter" else ending(self, "steps")
        if np.isnan(worst):
            agree = "too few draws to tell whether chains agree"
        else:
            agree = f"R-hat {worst:.3f} (chains {'agree' if worst <= RHAT else 'do NOT agree'})"
        sentence = f"{self.n_draws_} draws, {agree}, {noise}"
        if np.isfinite(self.expected_wrong_):
            sentence += f", {self.expected_wrong_:.1f} entries of the tiles named wrong on average"
        details = [
            {
                "rows": int(self.usage_[:, t].sum()),
                "columns": int(self.tiles_[t].sum()),
                "probability": float(self.probability_["tiles"][t]),
                "sentence": f"{counted(int(self.usage_[:, t].sum()), 'row')} × "
                f"{counted(int(self.tiles_[t].sum()), 'column')}, in "
                f"{100 * float(self.probability_['tiles'][t]):.0f} % of the draws",
            }
            for t in range(len(self.tiles_))
        ]
        return summarise(
            self,
            feature_names,
            sentence=sentence + (f", {said}" if said else ""),
            figures={"expected_wrong": self.expected_wrong_, "rhat": worst, **self.noise_},
            chosen={"sampler": self.sampler},
            part_details=details,
            rhat=self.rhat_,
            ess=self.ess_,
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of `transform`.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        array of str objects
            "tile0", "tile1", …
        """
        check_is_fitted(self)
        return np.array([f"tile{t}" for t in range(len(self.components_))], dtype=object)

    @property
    def draws_(self) -> dict[str, np.ndarray]:
        """Kept draws of the fit, not part of model files; at most 250 of each chain, and 64 MB.

        "W" (chain, draw, sample, component), "H" (chain, draw, component, feature), "log_posterior" and the noise
        (chain, draw).
        """
        check_is_fitted(self)
        if "_draws" not in vars(self):
            raise AttributeError(
                "This model has no draws: model files keep means and probabilities alone. Fit it again."
            )
        return dict(self._draws)

    # ----------------------------------------------------------------- fitting

    def _validate_params(self) -> None:
        whole("n_components", self.n_components)
        choice("sampler", self.sampler, SAMPLERS)
        unit_prior(self.prior)
        for name in ("n_chains", "n_draws", "thin"):
            whole(name, getattr(self, name))
        if self.n_warmup != "auto":
            whole("n_warmup", self.n_warmup, 0)
        sizes = self.batch_size if isinstance(self.batch_size, tuple) else (self.batch_size,)
        if len(sizes) > 2:
            raise ValueError(
                f"batch_size must be one number, or one for rows and one for columns; got {sizes!r}."
            )
        for size in sizes:
            if size is not None:
                whole("batch_size", size)
        if isinstance(self.init, str):
            choice("init", self.init, ("random", "optimum"))
        elif not (isinstance(self.init, tuple | list) and len(self.init) == 2):
            raise ValueError(
                f"init must be 'random', 'optimum' or a pair of factors (W, H); got {type(self.init)}."
            )
        if self.noise not in ("auto", "sample"):
            real("noise", self.noise, 1e-12)
        choice("boundary", self.boundary, ("auto", "clamp", "reflect", "mirror"))
        if self.step_size is not None:
            real("step_size", self.step_size, 1e-300)
        for name in ("flip_prior", "density_prior"):
            pair = getattr(self, name)
            if not (isinstance(pair, tuple | list) and len(pair) == 2):
                raise ValueError(f"{name} must be the two parameters of a Beta distribution; got {pair!r}.")
            for value in pair:
                real(name, value, 1e-6)
        if self.cells != "auto":
            choice("cells", self.cells, (True, False))
        if self.max_time is not None:
            real("max_time", self.max_time)

    def _table(self, X: Any, *, reset: bool) -> tuple[BitTable, Any]:
        """The packed table, and the numbers that relaxed starts read."""
        array = validated(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        return to_bit_table(array, None, None, self.missing_values is not None, type(self).__name__)

    def _target(self, table: BitTable) -> Target:
        return make_target(
            self.sampler,
            table,
            prior=self.prior,
            noise=self.noise,
            batch_size=tuple(self.batch_size) if isinstance(self.batch_size, list) else self.batch_size,
            boundary=self.boundary,
            step_size=self.step_size,
            flip_prior=(float(self.flip_prior[0]), float(self.flip_prior[1])),
            density_prior=(float(self.density_prior[0]), float(self.density_prior[1])),
            searching=200 if self.n_warmup == "auto" else int(self.n_warmup),
            paper=bool(self.paper),
        )

    def _warmup(self, target: Target) -> int:
        if self.n_warmup != "auto":
            return int(self.n_warmup)
        return 200 if target.bits else self.n_draws * self.thin * target.stride

    def _given(
        self, table: BitTable, X: Any, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The factors W and Hᵀ that all chains begin at, or None."""
        k = int(self.n_components)
        if isinstance(self.init, str):
            if self.init == "random":
                return None
            from partwise.models.boolean import BooleanMF

            best = BooleanMF(
                min(k, table.n, table.m), random_state=int(rng.integers(2**31)), verbose=min(self.verbose, 0)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                W = np.asarray(best.set_output(transform="default").fit_transform(X), dtype=float)
            H = best.components_.astype(float)
            if len(H) < k:
                W = np.hstack([W, np.zeros((len(W), k - len(H)))])
                H = np.vstack([H, np.zeros((k - len(H), H.shape[1]))])
            return W, np.ascontiguousarray(H.T)
        W, H = (np.asarray(A, dtype=float) for A in self.init)
        if W.shape != (table.n, k) or H.shape != (k, table.m):
            raise ValueError(
                f"init must be W of shape {(table.n, k)} and H of shape {(k, table.m)}; got {W.shape} and {H.shape}."
            )
        for name, A in (("W", W), ("H", H)):
            if not ((A >= 0) & (A <= 1)).all():
                raise ValueError(f"init: entries of {name} must lie between 0 and 1.")
        return (W > 0.5, H.T > 0.5) if self.sampler == "gibbs" else (W, H.T)

    def _found(self, target: Target, chains: Chains) -> dict[str, Any]:
        """The fitted attributes, by name."""
        W, Ht = chains.merged("W"), chains.merged("Ht")
        order = np.argsort(-(W.mean.sum(axis=0) * Ht.mean.sum(axis=0)), kind="stable")
        on_W, on_Ht = (W, Ht) if target.bits else (chains.merged("on_W"), chains.merged("on_Ht"))
        cells = chains.merged("cells").mean if "cells" in chains.chains[0].recorders else None
        if cells is not None and not target.bits:
            cells = np.clip(cells, 0.0, 1.0).astype(np.float32)
        named = posterior_bits(on_W.mean[:, order], on_Ht.mean[:, order], cells)
        draws_W, draws_Ht = (chains.stacked("draws", name)[..., order] for name in ("W", "Ht"))
        probability = {"W": on_W.mean[:, order], "H": np.ascontiguousarray(on_Ht.mean[:, order].T)}
        probability["tiles"] = tile_shares(target, draws_W, draws_Ht, named)
        if cells is not None:
            probability["cells"] = cells
        numbers = {"add": "noise_add", "drop": "noise_drop"} if target.bits else {"variance": "noise"}
        noise: dict[str, float] = {}
        for short, name in numbers.items():
            seen = chains.stacked("trace", name)
            noise |= {short: float(seen.mean()), f"{short}_std": float(seen.std())}
        worst, least = judged(chains, ["log_posterior", "probes", *numbers.values()])
        known = [value for value in worst.values() if not np.isnan(value)]
        return {
            "components_": np.ascontiguousarray(Ht.mean[:, order].T),
            "components_std_": np.ascontiguousarray(Ht.std[:, order].T),
            "W_mean_": W.mean[:, order],
            "W_std_": W.std[:, order],
            "n_components_": int(self.n_components),
            "n_samples_fit_": len(W.mean),
            "probability_": probability,
            "usage_": named.usage,
            "tiles_": named.tiles,
            "expected_wrong_": named.expected_wrong,
            "noise_": noise,
            "densities_": np.clip(W.mean[:, order].mean(axis=0), 1e-6, 1.0 - 1e-6),
            "rhat_": worst,
            "ess_": least,
            "ended_by_": chains.reason,
            "converged_": chains.reason == "max_iter" and max(known, default=1.0) <= RHAT,
            "n_iter_": max(1, min(chain.iteration for chain in chains.chains)),
            "n_draws_": int(W.count),
            "history_": {"log_posterior": chains.chains[0].trace["log_posterior"].copy()},
            "_draws": {"W": draws_W, "H": np.swapaxes(draws_Ht, 2, 3), **kept_numbers(chains, numbers)},
        }

    def _usage(self, table: BitTable) -> np.ndarray:
        """Probability that each row uses each tile named."""
        add, drop = self.noise_["add"], self.noise_["drop"]
        gain, loss = float(np.log((1.0 - drop) / add)), float(np.log((1.0 - add) / drop))
        odds = np.log(self.densities_) - np.log1p(-self.densities_)
        uniform = np.random.default_rng(0).random((SWEEPS, len(self.tiles_)))
        tiles, side = pack(self.tiles_), table.by_row
        out = np.zeros((table.n, len(self.tiles_)))
        over_rows(
            lambda a, b: usage_chances(
                side.bits[a:b], side.zeros[a:b], tiles, odds, gain, loss, uniform, FIRST, out[a:b]
            ),
            table.n,
        )
        return np.minimum(out, 1.0)

    def _relaxed_usage(self, table: BitTable) -> np.ndarray:
        """Posterior mean of relaxed usage, given the mean of H and the noise."""
        ones, seen = table.unpacked()
        X, Ht = ones.astype(float), np.ascontiguousarray(self.components_.T)
        rng, noise, prior = np.random.default_rng(0), self.noise_["variance"], unit_prior(self.prior)
        W = np.full((table.n, Ht.shape[1]), 0.5)
        total = np.zeros_like(W)
        for sweep in range(SWEEPS):
            if not seen.all():
                X = np.where(seen, ones, W @ Ht.T + np.sqrt(noise) * rng.standard_normal(X.shape[1]))
            draw_factor(X, W, Ht, noise, prior, rng, same=True)
            if sweep >= FIRST:
                total += W / (SWEEPS - FIRST)
        return total

    def __sklearn_tags__(self) -> Any:
        """Zeros and ones; NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.transformer_tags.preserves_dtype = []
        return tags


def tile_shares(target: Target, W: np.ndarray, Ht: np.ndarray, named: PosteriorBits) -> np.ndarray:
    """Share of the kept draws in which each tile is the one named; relaxed draws are cut at ½.

    Parameters
    ----------
    target : Target
        Whether draws are bits.
    W, Ht : arrays of shapes (chains, draws, n, k) and (chains, draws, m, k)
        Kept draws, in one order.
    named : PosteriorBits
        The tiles named.

    Returns
    -------
    array of shape (k,)
        The shares.
    """
    W, Ht = (A.reshape(-1, *A.shape[2:]) for A in (W, Ht))
    if not target.bits:
        W, Ht = W > 0.5, Ht > 0.5
    return same_tiles(W, Ht, named.usage, named.tiles)


def kept_numbers(chains: Chains, names: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Log-posterior and noise at the draws that were kept.

    Parameters
    ----------
    chains : Chains
        What came of the chains.
    names : mapping of str to str
        Names of the noise in the trace, by those in the result.

    Returns
    -------
    dict of arrays of shape (chains, draws)
        "log_posterior", and "noise_" with each name.
    """
    # Both keep draws at strides that are powers of two, and a trace keeps at least as many.
    n_kept = chains.stacked("draws", "W").shape[1]
    held: list[Any] = [chain.recorders for chain in chains.chains]
    strides = [max(one[name].stride for one in held) for name in ("draws", "trace")]
    places = np.arange(n_kept) * strides[0] // strides[1]
    out = {"log_posterior": chains.stacked("trace", "log_posterior")[:, places]}
    return out | {f"noise_{short}": chains.stacked("trace", name)[:, places] for short, name in names.items()}


def entry_densities(ones: np.ndarray, Y: np.ndarray, noise: Mapping[str, float]) -> np.ndarray:
    """Log-likelihood of every entry, given a reconstruction.

    Parameters
    ----------
    ones : array of bool of shape (n, m)
        The data.
    Y : array of shape (n, m)
        The Boolean product, or that of relaxed factors.
    noise : mapping of str to float
        "noise_add" and "noise_drop", or "noise_variance".

    Returns
    -------
    array of shape (n, m)
        The logarithms.
    """
    if "noise_variance" in noise:
        variance = noise["noise_variance"]
        return np.asarray(-0.5 * (ones - Y) ** 2 / variance - 0.5 * np.log(2.0 * np.pi * variance))
    add, drop = noise["noise_add"], noise["noise_drop"]
    chance = np.where(Y, 1.0 - drop, add)
    return np.asarray(np.log(np.where(ones, chance, 1.0 - chance)))


def new_table(Y: np.ndarray, noise: Mapping[str, float], rng: np.random.Generator) -> np.ndarray:
    """New data, given a reconstruction.

    Parameters
    ----------
    Y : array of shape (n, m)
        The Boolean product, or that of relaxed factors.
    noise : mapping of str to float
        "noise_add" and "noise_drop", or "noise_variance".
    rng : Generator
        Where random numbers are drawn from.

    Returns
    -------
    array of shape (n, m)
        Zeros and ones; for relaxed factors, numbers with normal errors.
    """
    if "noise_variance" in noise:
        return np.asarray(Y + np.sqrt(noise["noise_variance"]) * rng.standard_normal(Y.shape))
    return (rng.random(Y.shape) < np.where(Y, 1.0 - noise["noise_drop"], noise["noise_add"])).astype(float)
