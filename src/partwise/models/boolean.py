"""BooleanMF: overlapping tiles in yes/no data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.descent import WRONG, Prices, best_usage
from partwise.boolean.description import description_length
from partwise.boolean.discovery import log10_chance
from partwise.boolean.grow import tile_values
from partwise.boolean.palm import panpal
from partwise.boolean.primp import primp
from partwise.boolean.rank import choose_rank
from partwise.boolean.search import Tiles, cut, error_of, likelier, likely_prices, noise_rates, search
from partwise.boolean.table import Table
from partwise.compiling import tell_when_compiling
from partwise.io.registry import register_model
from partwise.models.base import as_generator
from partwise.models.inputs import place_of
from partwise.models.parameters import choice, real, whole

tell_when_compiling()

#: Entries times tiles times disturbances: what the search may look at in vain, unless told otherwise.
EFFORT = 1.5e9


@register_model
class BooleanMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Yes/no data as the OR of tiles, each a set of rows times a set of columns.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of tiles; "auto" takes the number that describes the table in the fewest bits.
    method : {"auto", "panpal", "primp", "trustpal"}, default="auto"
        "auto" begins at relaxed factors in [0, 1] and searches among bits: rows and columns in turn, tiles
        moved to where they are needed, small disturbances, until none of that helps. "panpal" is proximal
        alternating linearized minimization, cut at the threshold with the fewest wrong entries, and nothing
        more. "primp" is the same with a description length for its objective, its thresholds and, with "auto",
        its rank. "trustpal" drops, from what "auto" finds, tiles that noise could hold: those whose bound
        exceeds `fdr`.
    fdr : float, default=0.01
        See "trustpal".
    objective : {"error", "likelihood"}, default="error"
        "error" minimises the number of wrong entries. "likelihood" learns how often zeros and ones are flipped, and
        weighs wrong entries accordingly: closer to the truth where the noise is strong.
    n_init : int, default=4
        Number of relaxed starts.
    patience : int or "auto", default="auto"
        Disturbances without success after which the search ends; by default the more, the smaller the table.
    max_time : float, default=10.0
        Seconds after which it ends in any case. Where time ends it, the answer depends on the machine.
    missing_values : nan or None, default=nan
        NaN marks entries that were not observed; with None it is an error.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.

    Attributes
    ----------
    components_ : array of bool of shape (n_tiles, n_features)
        The columns of each tile, tiles of most worth first.
    n_components_ : int
    reconstruction_err_ : int
        Wrong observed entries.
    description_length_ : float
        Bits that tiles and wrong entries take to write down; see `partwise.boolean.description`.
    description_lengths_ : array of shape (n, 2)
        With "auto": numbers of tiles that were tried, and their lengths.
    tiles_ : dict of arrays
        For each tile "rows" and "columns" (how many), "density" (share of ones), and "adds" (entries that it gets
        right and no other tile would, less those that it alone gets wrong), and "log10_chance" (a bound on the
        probability that noise holds any tile like it; see `partwise.boolean.discovery`).
    thresholds_ : tuple of float
        With "panpal": where the factors were cut.

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

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        method: str = "auto",
        fdr: float = 0.01,
        objective: str = "error",
        n_init: int = 4,
        patience: Any = "auto",
        max_time: float = 10.0,
        missing_values: float | None = np.nan,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.fdr = fdr
        self.objective = objective
        self.n_init = n_init
        self.patience = patience
        self.max_time = max_time
        self.missing_values = missing_values
        self.random_state = random_state

    # ------------------------------------------------------------------ public

    def fit(self, X: Any, y: Any = None) -> BooleanMF:
        """Find the tiles.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed. Unstored entries of sparse data are zeros.
        y : ignored
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find the tiles; returns which rows use them, as `transform` does."""
        self._fit(X)
        return self.transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """Which tiles each row uses: the subset with the fewest wrong entries, of bool.

        All subsets are tried for up to twelve tiles; with more, tiles are added, dropped and exchanged.
        """
        check_is_fitted(self)
        table, _ = self._table(X, reset=False)
        usage = np.zeros((table.n, len(self.components_)), bool)
        if len(self.components_):
            best_usage(table.rows, table.seen, pack(self.components_), usage, self._prices())
        return usage

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

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the observed entries that the tiles get right."""
        table, _ = self._table(X, reset=False)
        usage = self.transform(X)
        return 1.0 - error_of(table, usage, self.components_) / max(1, table.n_observed)

    # ----------------------------------------------------------------- fitting

    def _fit(self, X: Any) -> None:
        self._check()
        table, numbers = self._table(X, reset=True)
        rng = as_generator(self.random_state)
        self.description_lengths_ = np.zeros((0, 2))
        self.thresholds_: tuple[float, ...] = ()
        self.prices_ = tuple(WRONG)
        tiles = self._trivial(table)
        if tiles is None:
            tiles = self._search(table, numbers, rng)
        self._keep(table, tiles)

    def _trivial(self, table: Table) -> Tiles | None:
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

    def _search(self, table: Table, numbers: Any, rng: np.random.Generator) -> Tiles:
        k = self.n_components
        if k != "auto" and int(k) > min(table.n, table.m):
            raise ValueError(
                f"n_components={k} exceeds the smaller side of X ({table.n} × {table.m}); with as many tiles as rows "
                "or columns X is reproduced exactly. Choose fewer."
            )
        if self.method == "primp":
            dense = np.asarray(numbers.toarray() if sp.issparse(numbers) else numbers, dtype=float)
            tiles, self.thresholds_, met = primp(table, dense, rng, None if k == "auto" else int(k))
            self.description_lengths_ = np.array(met, dtype=float)
            return tiles
        if self.method == "panpal":
            if k == "auto":
                raise ValueError("method='panpal' needs a number of tiles; only method='auto' chooses one.")
            dense = np.asarray(numbers.toarray() if sp.issparse(numbers) else numbers, dtype=float)
            for state in panpal(dense, int(k), rng):
                last = state
            tiles, threshold = cut(table, last.Y, last.X)
            self.thresholds_ = (threshold, threshold)
            return tiles
        start: Tiles | None = None
        if k == "auto":
            start, seen = choose_rank(table, numbers, rng)
            self.description_lengths_ = np.array(seen, dtype=float)
            k = len(start.columns)
            if k == 0:
                return start
        patience = self.patience
        if patience == "auto":
            patience = int(np.clip(EFFORT / (table.n * table.m * int(k)), 50, 100_000))
        tiles = search(table, numbers, int(k), rng, self.max_time, self.n_init, int(patience), start)
        if self.objective == "likelihood":
            tiles = likelier(table, tiles, rng)
            self.prices_ = tuple(likely_prices(table, tiles))
        return trusted(table, tiles, self.fdr) if self.method == "trustpal" else tiles

    def _prices(self) -> Prices:
        return Prices(*self.prices_)

    def _keep(self, table: Table, tiles: Tiles) -> None:
        worth = tile_values(table, tiles.usage, tiles.columns) if len(tiles.columns) else np.zeros(0)
        order = np.argsort(-worth, kind="stable")
        usage, columns = tiles.usage[:, order], tiles.columns[order]
        self.components_ = np.ascontiguousarray(columns)
        self.n_components_ = len(columns)
        if len(columns):
            best_usage(table.rows, table.seen, pack(columns), usage, self._prices())
        self.reconstruction_err_ = int(error_of(table, usage, columns)) if len(columns) else table.n_ones
        self.description_length_ = description_length(table, usage, columns)
        self.tiles_ = {
            "rows": usage.sum(axis=0),
            "columns": columns.sum(axis=1),
            "density": densities(table, usage, columns),
            "adds": worth[order],
            "log10_chance": chances(table, usage, columns),
        }

    # ------------------------------------------------------------------- input

    def _check(self) -> None:
        if not (isinstance(self.n_components, str) and self.n_components == "auto"):
            whole("n_components", self.n_components)
        choice("method", self.method, ("auto", "panpal", "primp", "trustpal"))
        real("fdr", self.fdr, 0.0, 1.0)
        choice("objective", self.objective, ("error", "likelihood"))
        whole("n_init", self.n_init)
        if self.patience != "auto":
            whole("patience", self.patience, 0)
        real("max_time", self.max_time)

    def _table(self, X: Any, *, reset: bool) -> tuple[Table, Any]:
        """The packed table, and the numbers as float32 with unobserved entries at the column's mean."""
        array = validate_data(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)
        if array.dtype == object:
            array = check_array(array, dtype=np.float64, ensure_all_finite=False)
        values = array.data if sp.issparse(array) else array
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
        if missing.any() and self.missing_values is None:
            raise ValueError(f"Input X contains NaN: {place_of(array, np.isnan)}.")
        odd = (values != 0) & (values != 1) & ~missing
        if odd.any():
            raise ValueError(
                f"BooleanMF takes 0 and 1 (or bool), NaN for missing; "
                f"{place_of(array, lambda v: (v != 0) & (v != 1) & ~_isnan(v))}. Binarize the data first, "
                "for instance with X > threshold."
            )
        if sp.issparse(array):
            if missing.any():
                raise ValueError("Sparse X cannot hold NaN here; pass it dense to mark entries as missing.")
            bits = array.astype(np.float32)
            return Table.of(bits), bits
        if not missing.any():
            return Table.of(array.astype(bool)), array.astype(np.float32)
        numbers = np.where(missing, np.nan, array).astype(np.float32)
        means = np.nansum(numbers, axis=0) / np.maximum(1, (~missing).sum(axis=0))
        return Table.of(np.nan_to_num(numbers) > 0, ~missing), np.where(missing, means, numbers).astype(
            np.float32
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        """Zeros and ones; NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.transformer_tags.preserves_dtype = []
        return tags


def trusted(table: Table, tiles: Tiles, level: float) -> Tiles:
    """The tiles that noise would hold with a probability of at most `level`."""
    chance = chances(table, tiles.usage, tiles.columns)
    keep = chance <= np.log10(max(level, 1e-300))
    return Tiles(np.ascontiguousarray(tiles.usage[:, keep]), tiles.columns[keep], float("inf"))


def densities(table: Table, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Share of ones among the observed entries of each tile."""
    X, seen = unpack(table.rows, table.m), unpack(table.seen, table.m)
    return np.array(
        [X[u][:, v].sum() / max(1, seen[u][:, v].sum()) for u, v in zip(usage.T, columns)], dtype=float
    )


def chances(table: Table, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The bound of each tile, log₁₀; the noise is what is seen outside of all tiles."""
    if len(columns) == 0:
        return np.zeros(0)
    background = noise_rates(table, Tiles(usage, columns, 0.0))[0]
    density = densities(table, usage, columns)
    return log10_chance(table.n, table.m, usage.sum(axis=0), columns.sum(axis=1), density, background)


def _isnan(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, bool)
