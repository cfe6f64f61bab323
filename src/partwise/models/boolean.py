"""BooleanMF: overlapping tiles in yes/no data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from partwise.boolean.bit_table import BitTable
from partwise.boolean.bits import pack, product, unpack
from partwise.boolean.log import SearchLog
from partwise.boolean.measures import Found, Measures, measured, usage_of, weight_of_wrong
from partwise.boolean.methods import Settings, find_tiles, is_trivial, quick_search
from partwise.boolean.prices import Prices
from partwise.boolean.tiles import Tiles, error_of
from partwise.boolean.trust import measure_trust
from partwise.core import digest
from partwise.io.caller import callers_level
from partwise.io.registry import register_model
from partwise.models.base import FactorModel, as_generator, fit_session
from partwise.models.file_contents import BOOLEAN_CONTENTS
from partwise.models.inputs import entry_weights, row_names, row_weight, validated
from partwise.models.names import aligned_weights
from partwise.models.parameters import check_boolean, whole
from partwise.models.summary import ending, summarise
from partwise.models.tile_details import tile_details
from partwise.models.unseen import unseen_columns
from partwise.models.yes_no import to_bit_table
from partwise.well_formed import require_well_formed

#: A share of the error by which rounded weights may change it before that is said.
ROUNDED = 0.05


class Observed(NamedTuple):
    """Yes/no data, packed and as they were, without columns of no entry; `seen` says which columns are left."""

    table: BitTable
    numbers: Any
    array: Any
    weights: Any
    seen: np.ndarray


@register_model
class BooleanMF(FactorModel):
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
        its rank. "trustpal" is PanPAL whose tiles are cleared when noise could hold them (see `fdr`), cut where what
        is left has the fewest wrong entries; with "auto", ten more are tried at a time, as long as they are accepted.
    fdr : float or None, default=None
        The chance, at most, that any of the tiles is one of noise; those that do not pass are dropped, whatever the
        method (see `partwise.boolean.chance_test`). None drops nothing, and is 0.01 with "trustpal".
    objective : {"auto", "error", "likelihood", "sparse"}, default="auto"
        "error" minimises the number of wrong entries. "likelihood" learns how often zeros and ones are flipped, and
        weighs wrong entries accordingly: closer to the truth where the noise is strong. "auto" takes the likelihood
        where the wrong entries are spread over rows and columns as independent flips would be, and are
        enough for that to be judged; otherwise it takes the error. "sparse" minimises wrong entries plus the set
        bits of both factors (Gonsior 2019, equation 2.5), by search or, with "panpal", by its thresholds; tiles that
        do not earn their bits are dropped. Of "primp" and "trustpal", it changes only how rows take tiles.
    regularization : float, default=0.5
        What the relaxed factors pay for each unit of an entry (½ in Gonsior 2019, equation 2.6).
    thresholds : {"one", "each"}, default="one"
        Whether "panpal" cuts both factors at one threshold or each at its own, as "primp" and "trustpal" do.
    n_init : int, default=4
        Number of relaxed starts.
    patience : int or "auto", default="auto"
        Perturbations without success after which the search ends; by default as the table's size asks for.
    max_iter : int or None, default=None
        Perturbations, or steps of relaxed methods, after which the fit ends at the latest: a budget that gives
        the same answer on every machine. Each number of tiles that "auto" tries has it to itself.
    max_time : float or "auto" or None, default="auto"
        Seconds after which `fit` ends its search and keeps the best found, compiling not counted; None for no limit.
        By default a small table (entries times tiles up to 250,000) has none, and the search for larger ones may take
        9 to 27. Where time ends it, the answer depends on the machine, and `ended_by_` is "max_time".
    missing_values : nan or None, default=nan
        NaN marks entries that were not observed; with None it is an error.
    random_state : int, Generator, RandomState or None, default=None
        None gives the same answer every time.
    verbose : int, default=0
        1 shows a progress bar on stderr; −1 also leaves out the line about compiling.

    Attributes
    ----------
    components_ : array of bool of shape (n_tiles, n_features)
        The columns of each tile, tiles of most worth first.
    n_components_ : int
        Number of tiles found.
    reconstruction_err_ : int or float
        Wrong observed entries; with weights, their weight.
    description_length_ : float
        Bits that tiles and wrong entries take to write down; see `partwise.boolean.description`.
    ranks_ : dict of arrays
        For each number of "tiles" that was met, the fewest "wrong" entries with at most so many tiles, and the fewest
        "bits" of a description with exactly so many. With "auto" the fewest of all are `description_length_`.
    tiles_ : dict of arrays
        For each tile "rows" and "columns" (how many), "density" (share of ones), and "adds" (entries that it gets
        right and no other tile would, less those that it alone gets wrong), and "log10_chance" (a bound on the
        probability that noise holds any tile like it; see `partwise.boolean.discovery`).
    criterion_ : {"error", "likelihood", "sparse"}
        What was minimised; see `objective`.
    objective_ : float
        Its value: the wrong entries, or the cost at `prices_`, with the bits of both factors.
    prices_ : tuple of float
        Prices of a one left uncovered, of a zero covered, and of each use of a tile, at which rows take tiles.
    converged_ : bool
        Whether the fit ended because nothing more was to be found: by "converged", "noise" or "patience".
    ended_by_ : {"converged", "noise", "patience", "max_time", "interrupted", "max_iter"}
        Why the fit ended: nothing is wrong, or PALM has converged; what is wrong looks like noise; `patience`
        perturbations were in vain; `max_time` ended it or a part of it, so that the answer depends on the machine and
        its load; Ctrl-C; `max_iter` perturbations or steps were made.
    n_iter_ : int
        Perturbations that were tried, 1 if the starts left nothing to search for; with relaxed methods, steps of
        the run that was kept.
    history_ : dict of arrays
        "seconds" since `fit` began, compiling not counted, and perturbations ("trials") made, and the "error" then.
        With "auto", of the search whose tiles were kept.
    thresholds_ : tuple of float
        With "panpal", "primp" and "trustpal": where usage and columns were cut.
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
    yes_no = True
    file_contents = BOOLEAN_CONTENTS
    part_word = "tile"
    chooses_count = True
    result_files = ("usage.csv", "tiles.csv")

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        method: str = "auto",
        fdr: float | None = None,
        objective: str = "auto",
        regularization: float = 0.5,
        thresholds: str = "one",
        n_init: int = 4,
        patience: Any = "auto",
        max_iter: int | None = None,
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
        self.max_iter = max_iter
        self.max_time = max_time
        self.missing_values = missing_values
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------ public

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        weights: Any = None,
        sample_weight: Any = None,
        checkpoint: Any = None,
    ) -> BooleanMF:
        """Find the tiles. Ctrl-C ends the search and keeps the best tiles so far.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed. Unstored entries of sparse data are zeros.
        y : None
            Ignored.
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            What a wrong entry costs; 0 for one that was not observed, and where a sparse matrix stores nothing.
            Weights that are not small multiples of one another are rounded to 1/255 of the largest for the search;
            `reconstruction_err_` counts them as they are.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows: a row of weight 2 counts as two.
        checkpoint : path, optional
            Folder in which the fit saves every stage that it completes. A later call with the same data and
            parameters goes on from there; it ends with the same tiles as if it had never been stopped, if time does
            not end the search.

        Returns
        -------
        BooleanMF
            The model itself.
        """
        self._fit(X, weights, sample_weight, checkpoint)
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        *,
        weights: Any = None,
        sample_weight: Any = None,
        checkpoint: Any = None,
    ) -> Any:
        """Find the tiles and return which rows use them, as `transform` does.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool; NaN where not observed.
        y : None
            Ignored.
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            What a wrong entry costs; see `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows: a row of weight 2 counts as two.
        checkpoint : path, optional
            Folder in which the fit saves every stage that it completes; see `fit`.

        Returns
        -------
        array of bool of shape (n_samples, n_tiles)
            Which tiles each row uses.
        """
        return self._named(self._fit(X, weights, sample_weight, checkpoint, every_row=True), row_names(X))

    def transform(self, X: Any, *, weights: Any = None) -> Any:
        """Which tiles each row uses: the smallest subset with the fewest wrong entries.

        Up to sixteen tiles it is the best there is; with more, the best found by adding, dropping and exchanging
        tiles and a bounded search from there.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool, with the columns of the fit; NaN where not observed.
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            What a wrong entry costs.

        Returns
        -------
        array of bool of shape (n_samples, n_tiles)
            Which tiles each row uses.
        """
        check_is_fitted(self)
        table, _ = self._table(X, weights, reset=False)
        return self._named(self._usage(table), row_names(X))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """The table that the tiles make: the Boolean product of a usage with the tiles.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_tiles)
            Which tiles each row uses, as `transform` returns it.

        Returns
        -------
        array of bool of shape (n_samples, n_features)
            True where a tile that the row uses has the column.
        """
        check_is_fitted(self)
        require_well_formed(X)
        X = self._by_parts(X)
        given = np.asarray(X.toarray() if hasattr(X, "tocsr") else X)
        usage = given.astype(bool)
        if not np.array_equal(usage, given):
            raise ValueError(
                "inverse_transform needs usage of true and false, or 1 and 0; for probabilities choose from which "
                "one on a tile is used, as X > 0.5."
            )
        if usage.ndim != 2 or usage.shape[1] != len(self.components_):
            raise ValueError(
                f"inverse_transform needs one column for each of the {len(self.components_)} tiles; "
                f"got shape {usage.shape}."
            )
        if usage.shape[1] == 0:
            return np.zeros((len(usage), self.components_.shape[1]), bool)
        return unpack(product(np.ascontiguousarray(usage), pack(self.components_)), self.components_.shape[1])

    def score(self, X: Any, y: Any = None, *, weights: Any = None) -> float:
        """Share of the observed entries that the tiles get right.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            0 and 1, or bool, with the columns of the fit; NaN where not observed.
        y : None
            Ignored.
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            What a wrong entry costs.

        Returns
        -------
        float
            Between 0 and 1; with weights, the share of the observed weight.
        """
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
        """How far each tile can be trusted: whether it is found again, and what could replace it.

        The search is repeated from other starts, and on rows drawn with replacement, with the number of tiles found
        by `fit` and a quarter of its patience and its limits. Tiles that share 80 % of their joint area are the same.
        Ctrl-C ends the searches; the answer is then that of the complete ones, without alternatives. A bar counts the
        searches, if `verbose`.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
            The data that the model was fitted to.
        n_restarts : int, default=10
            Searches from other starts.
        n_resamples : int, default=10
            Searches on rows drawn with replacement.
        weights : array-like or sparse matrix of shape (n_samples, n_features), optional
            The weights that the model was fitted with.
        sample_weight : array-like of shape (n_samples,), optional
            The row weights that the model was fitted with.

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
        table, numbers, X, weights, seen = self._observed(
            self._array(X, reset=False), aligned_weights(weights, X), sample_weight
        )
        columns = np.ascontiguousarray(self.components_[:, seen])
        tiles = Tiles(usage_of(table, columns, Prices(*self.prices_)), columns, 0.0)
        rng = as_generator(self.random_state)
        seeds = rng.integers(2**31 - 1, size=n_restarts + n_resamples)

        def quick(table: BitTable, numbers: Any, rng: np.random.Generator) -> Tiles:
            likely = self.criterion_ == "likelihood"
            return quick_search(table, numbers, self.n_components_, likely, self._settings(), rng)

        def again(i: int) -> Tiles:
            return quick(table, numbers, np.random.default_rng(seeds[i]))

        def resampled(i: int) -> Tiles:
            rng = np.random.default_rng(seeds[n_restarts + i])
            drawn = rng.integers(table.n, size=table.n)
            # Rows that were not drawn must not be seen by the relaxed start either: rows, not weights.
            parts = (X, weights, row_weight(sample_weight, table.n))
            sample = (None if part is None else _safe_indexing(part, drawn) for part in parts)
            return quick(*self._packed(*sample), rng)

        if len(self.components_) == 0 or is_trivial(table):
            again = resampled = lambda i: tiles
        searches = n_restarts + n_resamples
        with fit_session(self, total=searches, quantity="wrong", title="trust: searches") as session:
            trust = measure_trust(session, table, tiles, again, resampled, n_restarts, n_resamples)
            for one in (other for listed in trust["alternatives"] for other in listed):
                one["columns"] = widened(one["columns"], seen)
            session.keep(lambda: setattr(self, "trust_", trust))
        return trust

    # ----------------------------------------------------------------- fitting

    def _fit(
        self, X: Any, weights: Any, sample_weight: Any, checkpoint: Any, every_row: bool = False
    ) -> np.ndarray:
        """Find the tiles and set the attributes; which rows use which tiles, `every_row` or those of some weight."""
        check_boolean(self)
        table, numbers, array, weights, seen = self._observed(
            self._array(X, reset=True), aligned_weights(weights, X), sample_weight
        )
        unseen_columns(self, seen, "no tile has such a column")
        settings = self._settings()
        if not table.n_observed:
            raise ValueError(
                f"X ({table.n} × {table.m}) has no observed entry (of weight above zero): nothing to describe."
            )
        if is_trivial(table):
            what = ("0: no tile", "1: one tile")[table.n_ones > 0]
            warnings.warn(f"Every observed entry of X is {what} describes it.", UserWarning, stacklevel=3)
        elif (settings.rank() or 0) > min(table.n, table.m):
            raise ValueError(
                f"n_components={self.n_components} exceeds the smaller side of X ({table.n} × {table.m}); with "
                "as many tiles as rows or columns X is reproduced exactly. Choose fewer."
            )
        total, quantity, in_seconds = settings.bar(table)
        with fit_session(
            self,
            total=total,
            quantity=quantity,
            max_time=None if self.max_time in ("auto", None) else float(self.max_time),
            checkpoint=checkpoint,
            data=lambda: {"shape": numbers.shape, "contents": digest(*vars(table.by_row).values(), numbers)},
        ) as session:
            log = SearchLog(session, in_seconds)
            found = find_tiles(log, table, numbers, settings, as_generator(self.random_state))
            measures = session.completed(lambda: measured(table, found, thorough=not session.interrupted))
            if table.weighted:
                self._weigh(table, measures, weights, sample_weight)
            usage = measures.tiles.usage
            if sample_weight is not None and every_row:
                # Rows of no weight, which the search does not look at, use tiles too.
                with session.interruptible():
                    plain, _ = self._packed(array, weights, None)
                    usage = usage_of(plain, measures.tiles.columns, found.prices)
            session.keep(lambda: self._keep(log, found, measures, seen))
        return usage

    def _weigh(self, table: BitTable, measures: Measures, weights: Any, sample_weight: Any) -> None:
        """Measure the error by the weights that were given; says where the search weighed it otherwise."""
        given = None if weights is None else entry_weights(weights, (table.n, table.m))
        error = weight_of_wrong(table, measures.tiles, given, row_weight(sample_weight, table.n))
        searched = measures.reconstruction_err
        if abs(error - searched) > 1e-6 * error:
            measures.reconstruction_err = error
        if abs(error - searched) > ROUNDED * error:
            warnings.warn(
                f"The weights of wrong entries add up to {error:g}, and the search took them for {searched:g}: it "
                "rounds weights to 1/255 of the largest, and small ones up to that. Tiles are found by the rounded "
                "ones; with a largest weight of at most 255 times the smallest there is less of that.",
                UserWarning,
                stacklevel=callers_level(),
            )

    def _validate_params(self) -> None:
        check_boolean(self)

    def _settings(self) -> Settings:
        return Settings(**{one.name: getattr(self, one.name) for one in fields(Settings)})

    def _usage(self, table: BitTable) -> np.ndarray:
        """Which tiles each row of a table uses."""
        return usage_of(table, self.components_, Prices(*self.prices_))

    def _keep(self, log: SearchLog, found: Found, measures: Measures, seen: np.ndarray) -> None:
        """Set the attributes; columns that were not `seen` are in no tile."""
        self.ended_by_ = "interrupted" if log.session.interrupted else found.ended_by
        self.converged_ = self.ended_by_ in ("converged", "noise", "patience")
        self.components_ = widened(measures.tiles.columns, seen)
        self.n_components_ = len(self.components_)
        self.n_samples_fit_ = len(measures.tiles.usage)
        # What was measured of an earlier fit says nothing of this one.
        self.__dict__.pop("trust_", None)
        self.reconstruction_err_ = measures.reconstruction_err
        self.description_length_ = measures.description_length
        self.ranks_ = measures.ranks
        self.tiles_ = measures.details
        self.criterion_ = found.criterion
        self.objective_ = measures.objective
        self.prices_ = tuple(found.prices)
        # scikit-learn asks for at least one, where there is a `max_iter`.
        self.n_iter_ = max(1, found.n_iter)
        self.history_ = log.history()
        self.thresholds_ = found.thresholds

    def _table(
        self, X: Any, weights: Any = None, sample_weight: Any = None, *, reset: bool
    ) -> tuple[BitTable, Any]:
        """The packed table, and the numbers that the relaxed starts read."""
        return self._packed(self._array(X, reset=reset), aligned_weights(weights, X), sample_weight)

    def _observed(self, array: Any, weights: Any, sample_weight: Any) -> Observed:
        """The data without the columns that have no observed entry.

        Left in, such a column would count in the figures of the fit (bits, sizes of tables), and the start of a
        search would decide whether tiles have it. Where no column has an entry, all are left.
        """
        table, numbers = self._packed(array, weights, sample_weight)
        seen = table.by_column.totals(table.by_column.seen) > 0
        if seen.all() or not seen.any():
            return Observed(table, numbers, array, weights, np.ones(len(seen), bool))
        kept = np.flatnonzero(seen)
        array = array[:, kept]
        weights = None if weights is None else _safe_indexing(weights, kept, axis=1)
        return Observed(*self._packed(array, weights, sample_weight), array, weights, seen)

    def _array(self, X: Any, *, reset: bool) -> Any:
        return validated(self, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)

    def _packed(self, array: Any, weights: Any, sample_weight: Any) -> tuple[BitTable, Any]:
        return to_bit_table(array, weights, sample_weight, allow_missing=self.missing_values is not None)

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
        names = getattr(self, "feature_names_in_", None) if feature_names is None else feature_names
        wrong, bits, ended = self.reconstruction_err_, self.description_length_, ending(self, "steps")
        if self.ended_by_ == "max_time":
            ended = (
                f"ended by the clock after {self.n_iter_} steps, so that other machines may find other tiles"
            )
        return summarise(
            self,
            feature_names,
            sentence=f"{wrong} entries wrong, {bits:.0f} bits" + (f", search {ended}" if ended else ""),
            figures={"wrong": wrong, "description_length": bits},
            chosen={"criterion": self.criterion_},
            part_details=tile_details(self.components_, self.tiles_, getattr(self, "trust_", {}), names),
            ranks=self.ranks_,
        )

    def __sklearn_tags__(self) -> Any:
        """Zeros and ones; NaN is welcome where it marks missing entries."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing_values is not None
        tags.transformer_tags.preserves_dtype = []
        return tags


def widened(columns: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Columns of tiles among those `seen`, as columns among all.

    Parameters
    ----------
    columns : array of bool of shape (…, n_seen)
        Which of the columns that are seen are in each tile.
    seen : array of bool of shape (n_features,)
        Which columns these are.

    Returns
    -------
    array of bool of shape (…, n_features)
        False elsewhere.
    """
    if seen.all():
        return columns
    out = np.zeros((*columns.shape[:-1], len(seen)), bool)
    out[..., seen] = columns
    return out
