"""BooleanMF: overlapping tiles in yes/no data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.climb import Stopped
from partwise.boolean.descent import best_usage
from partwise.boolean.description import description_length
from partwise.boolean.discovery import chances, densities
from partwise.boolean.grow import tile_values
from partwise.boolean.noise import likely_prices, looks_like_flips
from partwise.boolean.palm import panpal
from partwise.boolean.prices import FEWEST, Prices
from partwise.boolean.primp import primp
from partwise.boolean.rank import RankPoint, best_by_rank, choose_rank, prune_path, rank_point
from partwise.boolean.search import Tiles, alternate, error_of, refine_likelihood, search
from partwise.boolean.threshold import cut
from partwise.boolean.trust import measure_trust
from partwise.compiling import listen_for_compiling
from partwise.core import Interrupted, ProgressBar
from partwise.io.registry import register_model
from partwise.models.base import as_generator
from partwise.models.inputs import row_weight
from partwise.models.parameters import choice, real, whole
from partwise.models.summary import ending, summarise
from partwise.models.tile_details import tile_details
from partwise.models.yes_no import to_bit_table

listen_for_compiling()

#: Entries times tiles times perturbations: the work without success after which patience="auto" ends the search.
EFFORT = 1e11


@register_model
class BooleanMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Yes/no data as the OR of tiles, each a set of rows times a set of columns.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of tiles; "auto" takes the number that describes the table in the fewest bits.
    method : {"auto", "panpal", "primp", "trustpal"}, default="auto"
        "auto" begins at relaxed factors in [0, 1] and searches among bits: rows and columns in turn, tiles
        moved to where they are needed, small perturbations, until none of that helps. "panpal" is proximal
        alternating linearized minimization, cut at the threshold with the fewest wrong entries, and nothing
        more. "primp" is the same with a description length for its objective, its thresholds and, with "auto",
        its rank. "trustpal" drops, from what "auto" finds, tiles that noise could hold: those whose bound
        exceeds `fdr`.
    fdr : float, default=0.01
        See "trustpal".
    objective : {"auto", "error", "likelihood"}, default="auto"
        "error" minimises the number of wrong entries. "likelihood" learns how often zeros and ones are flipped, and
        weighs wrong entries accordingly: closer to the truth where the noise is strong. "auto" takes the likelihood
        where the wrong entries are spread over rows and columns as independent flips would be, and are enough to
        tell; where they are not, there is no such noise, and wrong entries are what they are.
    regularization : float, default=0.5
        What the relaxed factors pay for each unit of an entry (½ in Gonsior 2019, equation 2.6).
    thresholds : {"one", "each"}, default="one"
        Whether "panpal" cuts both factors at one threshold or each at its own.
    n_init : int, default=4
        Number of relaxed starts.
    patience : int or "auto", default="auto"
        Perturbations without success after which the search ends; by default the more, the smaller the table.
    max_time : float or "auto", default="auto"
        Seconds after which it ends in any case; by default 9, and up to 27 for larger tables. Where time ends it, the
        answer depends on the machine.
    missing_values : nan or None, default=nan
        NaN marks entries that were not observed; with None it is an error.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows on stderr how the search goes.

    Attributes
    ----------
    components_ : array of bool of shape (n_tiles, n_features)
        The columns of each tile, tiles of most worth first.
    n_components_ : int
    reconstruction_err_ : int or float
        Wrong observed entries; with weights, their weight.
    description_length_ : float
        Bits that tiles and wrong entries take to write down; see `partwise.boolean.description`.
    ranks_ : dict of arrays
        For each number of "tiles" that was met, what was "wrong" and how many "bits" the description took.
    tiles_ : dict of arrays
        For each tile "rows" and "columns" (how many), "density" (share of ones), and "adds" (entries that it gets
        right and no other tile would, less those that it alone gets wrong), and "log10_chance" (a bound on the
        probability that noise holds any tile like it; see `partwise.boolean.discovery`).
    objective_ : str
        What was minimised: "error" or "likelihood".
    history_ : dict of lists
        "seconds" since `fit` began and the "error" then.
    thresholds_ : tuple of float
        With "panpal" and "primp": where usage and columns were cut.
    trust_ : dict
        After `trust`: what it returned.

    Examples
    --------
    >>> from partwise import BooleanMF
    >>> from partwise.datasets import make_boolean
    >>> table = make_boolean(200, 150, 6, random_state=0)
    >>> model = BooleanMF(6, random_state=0)
    >>> usage = model.fit_transform(table.data)
    >>> int((model.inverse_transform(usage) != table.clean).sum())
    0
    """

    kind = "boolean"
    part_word = "tile"
    result_files = ("usage.csv", "tiles.csv")

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        method: str = "auto",
        fdr: float = 0.01,
        objective: str = "auto",
        regularization: float = 0.5,
        thresholds: str = "one",
        n_init: int = 4,
        patience: Any = "auto",
        max_time: Any = "auto",
        missing_values: float | None = np.nan,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.fdr = fdr
        self.objective = objective
        self.regularization = regularization
        self.thresholds = thresholds
        self.n_init = n_init
        self.patience = patience
        self.max_time = max_time
        self.missing_values = missing_values
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None, *, weights: Any = None, sample_weight: Any = None) -> BooleanMF:
        """Find the tiles.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed. Unstored entries of sparse data are zeros.
        y : ignored
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            What a wrong entry costs; 0 for one that was not observed, and where a sparse matrix stores nothing.
            Weights that are not small multiples of one another are rounded to 1/255 of the largest.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows: a row of weight 2 counts as two.
        """
        self._fit(X, weights, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, weights: Any = None, sample_weight: Any = None) -> Any:
        """Find the tiles; returns which rows use them, as `transform` does."""
        usage = self._fit(X, weights, sample_weight)
        # Rows of no weight, which fit does not look at, use tiles too.
        return usage if sample_weight is None else self.transform(X, weights=weights)

    def transform(self, X: Any, *, weights: Any = None) -> np.ndarray:
        """Which tiles each row uses: the smallest subset with the fewest wrong entries, of bool.

        Up to sixteen tiles it is the best there is; with more, the best found by adding, dropping and exchanging
        tiles and a bounded search from there.
        """
        check_is_fitted(self)
        table, _ = self._table(X, weights, reset=False)
        return self._usage(table)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The Boolean product of a usage with the tiles."""
        check_is_fitted(self)
        usage = np.asarray(X.toarray() if hasattr(X, "tocsr") else X, dtype=bool)
        if usage.ndim != 2 or usage.shape[1] != len(self.components_):
            raise ValueError(
                f"inverse_transform needs one column for each of the {len(self.components_)} tiles; "
                f"got shape {usage.shape}."
            )
        if usage.shape[1] == 0:
            return np.zeros((len(usage), self.components_.shape[1]), bool)
        return unpack(product(np.ascontiguousarray(usage), pack(self.components_)), self.components_.shape[1])

    def score(self, X: Any, y: Any = None, *, weights: Any = None) -> float:
        """Share of the observed entries that the tiles get right."""
        check_is_fitted(self)
        table, _ = self._table(X, weights, reset=False)
        return 1.0 - error_of(table, self._usage(table), self.components_) / max(1, table.n_observed)

    def trust(
        self,
        X: Any,
        *,
        n_restarts: int = 10,
        n_resamples: int = 10,
        weights: Any = None,
        sample_weight: Any = None,
    ) -> dict[str, Any]:
        """How far each tile can be trusted: does it come back, and what could stand in for it?

        The search is repeated from other starts, and on rows drawn with replacement, with the number of tiles found
        by `fit` and a quarter of its time. Tiles that share 80 % of their joint area are the same.

        Parameters
        ----------
        X, weights, sample_weight :
            What the model was fitted to.
        n_restarts, n_resamples : int, default=10

        Returns
        -------
        dict
            For each tile: "restarts" and "resamples", the shares of searches that had it; "restart_likeness" and
            "resample_likeness", the mean Jaccard index with the nearest of theirs; "undecided_rows" and
            "undecided_columns", how many could be in it or not at the same error; "alternatives", tiles from these
            searches (their "columns", number of "rows", and "change" of the error) that could take its place
            without more wrong entries. It is kept in `trust_`.
        """
        check_is_fitted(self)
        whole("n_restarts", n_restarts, 0)
        whole("n_resamples", n_resamples, 0)
        table, numbers = self._table(X, weights, sample_weight, reset=False)
        tiles = Tiles(self._usage(table), self.components_, 0.0)
        rng = as_generator(self.random_state)
        seeds = rng.integers(2**31 - 1, size=n_restarts + n_resamples)

        def again(i: int) -> Tiles:
            return self._quick(table, numbers, np.random.default_rng(seeds[i]))

        def resampled(i: int) -> Tiles:
            rng = np.random.default_rng(seeds[n_restarts + i])
            drawn = rng.integers(table.n, size=table.n)
            # Rows that were not drawn must not be seen by the relaxed start either: rows, not weights.
            parts = (X, weights, row_weight(sample_weight, table.n))
            sample = (None if part is None else _safe_indexing(part, drawn) for part in parts)
            return self._quick(*self._table(*sample, reset=False), rng)

        if len(self.components_) == 0 or not 0 < table.n_ones < table.n_observed:
            again = resampled = lambda i: tiles
        self.trust_ = measure_trust(table, tiles, again, resampled, n_restarts, n_resamples)
        return self.trust_

    # ----------------------------------------------------------------- fitting

    def _fit(self, X: Any, weights: Any, sample_weight: Any) -> np.ndarray:
        begin = perf_counter()
        self._check()
        table, numbers = self._table(X, weights, sample_weight, reset=True)
        rng = as_generator(self.random_state)
        self.thresholds_: tuple[float, ...] = ()
        self.prices_ = tuple(FEWEST)
        self.objective_ = "error"
        self.history_: dict[str, list[float]] = {"seconds": [], "error": []}
        points: list[RankPoint] = []
        tiles = self._trivial(table)
        if tiles is None:
            if self.n_components != "auto" and int(self.n_components) > min(table.n, table.m):
                raise ValueError(
                    f"n_components={self.n_components} exceeds the smaller side of X ({table.n} × {table.m}); with "
                    "as many tiles as rows or columns X is reproduced exactly. Choose fewer."
                )
            if self.method in ("panpal", "primp"):
                tiles = self._relaxed(table, rng)
            else:
                tiles = self._search(table, numbers, rng, points, begin)
        return self._keep(table, tiles, points)

    def _trivial(self, table: BitTable) -> Tiles | None:
        """Tables of zeros or of ones have one answer."""
        if 0 < table.n_ones < table.n_observed:
            return None
        full = table.n_ones > 0
        warnings.warn(
            f"Every observed entry of X is {int(full)}: {'one tile' if full else 'no tile'} describes it.",
            UserWarning,
            stacklevel=4,
        )
        k = int(full)
        return Tiles(np.ones((table.n, k), bool), np.ones((k, table.m), bool), 0.0)

    def _relaxed(self, table: BitTable, rng: np.random.Generator) -> Tiles:
        """PanPAL and Primp."""
        k = self.n_components
        D, weights = table.unpacked()[0].astype(float), table.entry_weights()
        entry = None if (weights == weights.flat[0]).all() else weights / weights.max()
        if self.method == "primp":
            tiles, self.thresholds_, _ = primp(table, D, rng, None if k == "auto" else int(k), entry=entry)
            return tiles
        if k == "auto":
            raise ValueError(
                "method='panpal' needs a number of tiles; 'auto', 'primp' and 'trustpal' choose one."
            )
        for state in panpal(D, int(k), rng, sparsity=self.regularization, entry=entry):
            last = state
        tiles, (self.thresholds_, _) = cut(table, last.Y, last.X, self.thresholds == "each")
        return tiles

    def _search(
        self, table: BitTable, numbers: Any, rng: np.random.Generator, points: list[RankPoint], begin: float
    ) -> Tiles:
        """Method "auto" (and "trustpal"): search among bits, then refine for the objective; adds to `points`."""
        start: Tiles | None = None
        k = self.n_components
        if k == "auto":
            start, path = choose_rank(table, numbers, rng, sparsity=self.regularization)
            points += path
            k = len(start.columns)
            if k == 0:
                return start
        seconds = self._seconds(table, int(k))
        patience = self._patience(table, int(k))
        try:
            with progress(self.verbose, seconds, self.history_, begin) as report:
                tiles = search(
                    table,
                    numbers,
                    int(k),
                    rng,
                    seconds,
                    self.n_init,
                    patience,
                    start,
                    self.regularization,
                    report,
                )
        except Stopped as stop:
            tiles = alternate(table, Tiles(*stop.found))
            warnings.warn(
                f"Interrupted after {perf_counter() - begin:.1f} s; the tiles found so far are kept.",
                Interrupted,
                stacklevel=5,
            )
        likely = self.objective == "likelihood"
        if self.objective == "auto":
            likely = looks_like_flips(table, tiles.usage, tiles.columns)
        if likely:
            self.objective_ = "likelihood"
            tiles = refine_likelihood(table, tiles, rng)
            self.prices_ = tuple(likely_prices(table, tiles.usage, tiles.columns))
        else:
            # The search lets tiles overlap where that costs nothing; who reads them wants them small.
            tiles = alternate(table, tiles, FEWEST, exact=True)
        if self.method == "trustpal":
            keep = chances(table, tiles.usage, tiles.columns) <= np.log10(max(self.fdr, 1e-300))
            tiles = Tiles(np.ascontiguousarray(tiles.usage[:, keep]), tiles.columns[keep], float("inf"))
        return tiles

    def _quick(self, table: BitTable, numbers: Any, rng: np.random.Generator) -> Tiles:
        """A search like the one of `fit`, with its number of tiles and a quarter of its time."""
        k = self.n_components_
        patience = max(1, self._patience(table, k) // 4)
        tiles = search(
            table, numbers, k, rng, 0.25 * self._seconds(table, k), 1, patience, sparsity=self.regularization
        )
        return refine_likelihood(table, tiles, rng) if self.objective_ == "likelihood" else tiles

    def _seconds(self, table: BitTable, k: int) -> float:
        if self.max_time != "auto":
            return float(self.max_time)
        return 9.0 * float(np.clip(np.sqrt(table.n * table.m * k / 2.5e5), 1.0, 3.0))

    def _patience(self, table: BitTable, k: int) -> int:
        if self.patience != "auto":
            return int(self.patience)
        return int(np.clip(EFFORT / (table.n * table.m * table.by_row.planes * k), 50, 100_000))

    def _usage(self, table: BitTable) -> np.ndarray:
        """Which tiles each row of a table uses."""
        usage = np.zeros((table.n, len(self.components_)), bool)
        if len(self.components_):
            best_usage(table.by_row, pack(self.components_), usage, self._prices(), exact=True)
        return usage

    def _prices(self) -> Prices:
        return Prices(*self.prices_)

    def _keep(self, table: BitTable, tiles: Tiles, points: list[RankPoint]) -> np.ndarray:
        """Write down what was found; returns which rows use which tiles."""
        self.components_, usage = tiles.columns, tiles.usage
        # Which of two equal subsets a row uses depends on the order of the tiles, so that comes first.
        for again in (False, True):
            worth = tile_values(table, usage, self.components_) if len(tiles.columns) else np.zeros(0)
            order = np.argsort(-worth, kind="stable")
            if again and (order == np.arange(len(order))).all():
                break
            self.components_ = np.ascontiguousarray(self.components_[order])
            usage = self._usage(table)
        columns = self.components_
        self.n_components_ = len(columns)
        self.n_samples_fit_ = table.n
        # What was measured of an earlier fit says nothing of this one.
        self.__dict__.pop("trust_", None)
        error = error_of(table, usage, columns)
        self.reconstruction_err_ = error if table.weighted else int(error)
        self.description_length_ = description_length(table, usage, columns)
        kept = Tiles(np.ascontiguousarray(usage), self.components_, error)
        self.ranks_ = best_by_rank([*points, rank_point(table, kept), *prune_path(table, kept)])
        self.tiles_ = {
            "rows": usage.sum(axis=0),
            "columns": columns.sum(axis=1),
            "density": densities(table, usage, columns),
            "adds": tile_values(table, usage, columns) if len(columns) else np.zeros(0),
            "log10_chance": chances(table, usage, columns),
        }
        return usage

    # ------------------------------------------------------------------- input

    def _check(self) -> None:
        if not (isinstance(self.n_components, str) and self.n_components == "auto"):
            whole("n_components", self.n_components)
        choice("method", self.method, ("auto", "panpal", "primp", "trustpal"))
        real("fdr", self.fdr, 0.0, 1.0)
        choice("objective", self.objective, ("auto", "error", "likelihood"))
        real("regularization", self.regularization, 0.0)
        choice("thresholds", self.thresholds, ("one", "each"))
        whole("n_init", self.n_init)
        if self.patience != "auto":
            whole("patience", self.patience, 0)
        if self.max_time != "auto":
            real("max_time", self.max_time)

    def _table(
        self, X: Any, weights: Any = None, sample_weight: Any = None, *, reset: bool
    ) -> tuple[BitTable, Any]:
        """The packed table, and the numbers that the relaxed starts read."""
        array = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        return to_bit_table(array, weights, sample_weight, allow_missing=self.missing_values is not None)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """tile0, tile1, …: names of the columns of `transform`."""
        check_is_fitted(self)
        return np.array([f"tile{t}" for t in range(len(self.components_))], dtype=object)

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data; see `partwise.models.summary.summarise`."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        wrong, bits, ended = self.reconstruction_err_, self.description_length_, ending(self, "steps")
        return summarise(
            self,
            feature_names,
            sentence=f"{wrong} entries wrong, {bits:.0f} bits" + (f", search {ended}" if ended else ""),
            figures={"wrong": wrong, "description_length": bits},
            chosen={"objective": self.objective_},
            part_details=tile_details(self.components_, self.tiles_, getattr(self, "trust_", {}), names),
            ranks=self.ranks_,
        )

    def __sklearn_tags__(self) -> Any:
        """Zeros and ones; NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.transformer_tags.preserves_dtype = []
        return tags


@contextmanager
def progress(
    verbose: int, seconds: float, history: dict[str, list[float]], begin: float
) -> Iterator[Callable[[float], None]]:
    """Yield a function that writes an error and its time into `history`, and shows it if `verbose`."""
    bar = ProgressBar(seconds, "BooleanMF", "wrong") if verbose else None

    def report(error: float) -> None:
        history["seconds"].append(perf_counter() - begin)
        history["error"].append(float(error))
        if bar is not None:
            bar.update(perf_counter() - begin, error)

    try:
        yield report
    finally:
        if bar is not None:
            bar.close()
