"""compare: several methods on the same data at the same rank, measured alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.comparison.factors import Factors
from partwise.comparison.label_measures import (
    argmax_nmi,
    checked_labels,
    class_accuracy,
    cluster_nmi,
    judged_rows,
)
from partwise.comparison.measures import mean_sparseness, pair_stabilities, relative_error
from partwise.comparison.methods import METHODS, Method
from partwise.comparison.result import MEASURES, Comparison
from partwise.compiling import clock
from partwise.core import ProgressBar, Session, open_session
from partwise.interrupts import uninterrupted
from partwise.plugins import find

#: Folds of the cross-validation.
FOLDS = 5
#: Stored entries up to which all methods run on one thread: more would not be quicker, and sums that threads add
#: up as they finish would differ in their last bits from run to run.
LITTLE = 8_000_000


@dataclass(frozen=True)
class Data:
    """What the methods see: X, word counts where there are any, and what is in them."""

    X: Any
    counts: Any
    weighted: bool
    labels: np.ndarray | None

    def for_method(self, method: Method) -> Any:
        """The matrix that a method is fitted to."""
        return self.counts if method.counts else self.X

    def name_for(self, method: Method) -> str:
        """What that matrix is called."""
        return "counts" if method.counts else "tf-idf" if self.weighted else "data"


def compare(
    X: Any,
    n_components: int,
    labels: Any = None,
    *,
    methods: Sequence[str] | str | None = None,
    seeds: int | Sequence[int] = 5,
    text: bool = False,
    tfidf: bool = True,
    feature_names: Sequence[str] | None = None,
    verbose: int = 0,
) -> Comparison:
    """NMF beside SVD, PCA, vector quantization and others, on the same data and at the same rank.

    Each method is fitted once for each seed (those that do not depend on it, once) and measured: relative error of
    the reconstruction, sparseness of bases and codes (Hoyer 2004), stability of the bases over seeds; for text
    coherence and diversity of the top words; with labels the accuracy of a linear classifier on the codes and the
    agreement of their clusters with the classes; and seconds, on one thread unless the data are large.

    Parameters
    ----------
    X : array, sparse matrix, DataFrame or AnnData of shape (n_samples, n_features)
        The data. Methods that cannot do with negative or missing (NaN) entries are left out, with a note.
    n_components : int
        Number of basis vectors, at most min(n_samples, n_features).
    labels : array-like of shape (n_samples,), optional
        Classes. No method sees them.
    methods : sequence of str, optional
        Names in `partwise.comparison.METHODS`, or one text with commas between them. By default "nmf", "svd"
        (singular values with the codes), "svd-u" (with the bases), "pca", "vq", and for text "lda"; there are also
        "nmf-kl" and "semi".
    seeds : int or sequence of int, default=5
        Seeds of the starts, or how many.
    text : bool, default=False
        Whether columns are words. Where X holds counts, LDA is fitted to them, and all others to their tf-idf.
    tfidf : bool, default=True
        Whether counts of words are weighted for the others; False leaves them as they are.
    feature_names : sequence of str, optional
        Names of the columns; by default those of a DataFrame or AnnData.
    verbose : int, default=0
        1 shows a progress bar on stderr.

    Returns
    -------
    Comparison
        ``frame()`` is the table for pandas, ``table`` the same as lists; ``factors`` has codes and bases, and
        `partwise.plot.comparison` draws them.

    Examples
    --------
    >>> from partwise import compare
    >>> from partwise.datasets import load_digits
    >>> digits = load_digits()
    >>> found = compare(digits.data[:300], 8, methods="nmf,svd,vq", seeds=2)
    >>> [row["title"] for row in found.rows]
    ['NMF', 'SVD UΣ·Vᵀ', 'VQ (k-means)']
    >>> error = found.frame()["relative_error"]
    >>> bool(error["SVD UΣ·Vᵀ"] < error["NMF"] < error["VQ (k-means)"])  # nothing of rank 8 is below the SVD
    True
    """
    array, names = checked_data(X, feature_names)
    k = checked_rank(n_components, array.shape)
    y = None if labels is None else checked_labels(labels, array.shape[0])
    numbers = checked_seeds(seeds)
    data, notes = prepared(array, y, text, tfidf)
    chosen = chosen_methods(methods, data, notes)
    rows: list[dict[str, Any]] = []
    by_seed: dict[str, dict[str, list[float]]] = {}
    factors: dict[str, Factors] = {}
    fits = [len(numbers) if METHODS[name].seeded else 1 for name in chosen]
    bar = ProgressBar(sum(fits), "compare", "relative error") if verbose > 0 else None
    with open_session(bar=bar) as session, few_threads(data.X):
        for place, name in enumerate(chosen):
            with session.interruptible():
                outcome = measured(name, data, k, numbers, text, session, sum(fits[:place]))
                if outcome is not None:
                    with uninterrupted():
                        rows.append(outcome.row)
                        by_seed[name], factors[name] = outcome.values, outcome.first
            if session.interrupted:
                break
        if not rows:
            raise KeyboardInterrupt
        session.kept = True
    if session.interrupted:
        missed = ", ".join(METHODS[name].title for name in chosen if name not in factors)
        if missed:
            notes.append(f"Stopped before these methods were done: {missed}.")
    return Comparison(
        k, numbers, rows, by_seed, factors, notes, names, y, text, array.shape, session.interrupted
    )


@contextmanager
def few_threads(X: Any) -> Iterator[None]:
    """One thread for all libraries where the data are little, else as they are set."""
    from threadpoolctl import threadpool_limits

    from partwise.parallel import own_threads, thread_limit

    if (X.nnz if sp.issparse(X) else X.size) > LITTLE:
        yield
        return
    limits = threadpool_limits(None)
    try:
        with uninterrupted():
            limits = threadpool_limits(1, user_api="openmp")
        # (BLAS by our own limit: fits inside set it too, and of threadpoolctl's only the first setter may undo it.)
        with own_threads(), thread_limit(1):
            yield
    finally:
        with uninterrupted():
            limits.restore_original_limits()


class Outcome(NamedTuple):
    """All runs of one method: its row of the table, the values of each run, and the factors of the first."""

    row: dict[str, Any]
    values: dict[str, list[float]]
    first: Factors


def measured(
    name: str, data: Data, k: int, seeds: list[int], text: bool, session: Session, done: int
) -> Outcome | None:
    """Fit a method from every seed and measure it; None where Ctrl-C cut a fit short."""
    method = METHODS[name]
    X = data.for_method(method)
    values: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    first: list[Factors] = []
    bases: list[np.ndarray] = []
    for seed in seeds if method.seeded else seeds[:1]:
        begin = clock()
        factors = method.fit(X, k, seed)
        values["seconds"].append(clock() - begin)
        if session.interrupted:
            return None
        first = first or [factors]
        bases.append(factors.bases)
        values["relative_error"].append(relative_error(X, factors))
        values["sparseness_bases"].append(mean_sparseness(factors.bases))
        values["sparseness_codes"].append(mean_sparseness(factors.codes))
        if text:
            add_text_measures(values, factors, data)
        if data.labels is not None:
            add_label_measures(values, factors, data.labels, [seed] if method.seeded else seeds)
        session.show(done + len(bases), values["relative_error"][-1])
    values["stability"] = pair_stabilities(bases) if method.seeded else [1.0]
    row: dict[str, Any] = {"method": name, "title": method.title, "fitted_to": data.name_for(method)}
    row |= {measure: float(np.mean(found)) if found else float("nan") for measure, found in values.items()}
    row["seconds"] = float(np.median(values["seconds"]))
    return Outcome(row, values, first[0])


def add_text_measures(values: dict[str, list[float]], factors: Factors, data: Data) -> None:
    """Coherence and diversity of the top words; of a signed basis vector, of its positive side."""
    from partwise.domains.text_measures import npmi_coherence, topic_diversity

    coherence = npmi_coherence(factors.bases, data.X if data.counts is None else data.counts)
    values["npmi"].append(float(np.nanmean(coherence)) if np.isfinite(coherence).any() else float("nan"))
    values["diversity"].append(topic_diversity(factors.bases))


def add_label_measures(
    values: dict[str, list[float]], factors: Factors, labels: np.ndarray, seeds: Sequence[int]
) -> None:
    """Accuracy and agreement of clusters with the labels."""
    rows = judged_rows(labels)
    codes, y = factors.codes[rows], labels[rows]
    values["accuracy"].append(class_accuracy(codes, y, FOLDS))
    values["nmi"] += [cluster_nmi(codes, y, seed) for seed in seeds]
    if codes.min(initial=0.0) >= 0:
        values["nmi_argmax"].append(argmax_nmi(codes, y))


def checked_data(X: Any, feature_names: Sequence[str] | None) -> tuple[Any, list[str] | None]:
    """The data as an array or CSR matrix of floats, and the names of the columns."""
    from sklearn.utils.validation import check_array

    from partwise.domains.annotated import is_anndata, matrix_of
    from partwise.models.inputs import plainly_refused
    from partwise.models.masks import without_mask
    from partwise.well_formed import require_well_formed

    names = feature_names
    if names is None:
        columns = X.var_names if is_anndata(X) else getattr(X, "columns", None)
        names = None if columns is None else [str(column) for column in columns]
    raw = matrix_of(X) if is_anndata(X) else X
    require_well_formed(raw)
    with plainly_refused("compare"):
        array = check_array(
            without_mask(raw),
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
            input_name="X",
        )
    if names is not None and len(names) != array.shape[1]:
        raise ValueError(f"feature_names has {len(names)} names, and X has {array.shape[1]} columns.")
    stored = array.data if sp.issparse(array) else array
    if not np.nan_to_num(stored).any():
        raise ValueError("X has no entry but zeros; there is nothing to factorize.")
    return array, None if names is None else [str(name) for name in names]


def checked_rank(n_components: Any, shape: tuple[int, int]) -> int:
    """The rank, which all methods must be able to have."""
    if not isinstance(n_components, (int, np.integer)) or isinstance(n_components, bool) or n_components < 1:
        raise ValueError(f"n_components must be a whole number of at least 1; got {n_components!r}.")
    if n_components > min(shape):
        raise ValueError(
            f"n_components={n_components} is more than the {min(shape)} dimensions of data with {shape[0]} rows and "
            f"{shape[1]} columns; give at most {min(shape)}."
        )
    return int(n_components)


def checked_seeds(seeds: int | Sequence[int]) -> list[int]:
    """The seeds as a list."""
    one = isinstance(seeds, (int, np.integer))
    numbers = list(range(int(seeds))) if one else [int(seed) for seed in seeds]  # type: ignore
    if not numbers:
        raise ValueError("seeds must name at least one seed, or be at least 1.")
    if min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ValueError(f"seeds must be different whole numbers, none below 0; got {numbers}.")
    return numbers


def prepared(X: Any, labels: np.ndarray | None, text: bool, tfidf: bool) -> tuple[Data, list[str]]:
    """Counts of words and their weighted form; notes on what text is not what it seems."""
    if not text:
        return Data(X, None, False, labels), []
    stored = X.data if sp.issparse(X) else X
    if np.isnan(stored).any():
        raise ValueError("Words of a document cannot be missing: X has NaN. Fill them in, or leave out text.")
    if stored.min(initial=0.0) < 0:
        raise ValueError("Words cannot be counted below zero: X has negative entries. Leave out text.")
    if (stored != np.floor(stored)).any():
        return Data(X, None, False, labels), [
            "X holds weights of words, not counts; they are used as they are."
        ]
    if not tfidf:
        return Data(X, X, False, labels), []
    from sklearn.feature_extraction.text import TfidfTransformer

    return Data(sp.csr_matrix(TfidfTransformer().fit_transform(X)), X, True, labels), []


def chosen_methods(methods: Sequence[str] | str | None, data: Data, notes: list[str]) -> list[str]:
    """Names of the methods that can do with the data; a note on each that was left out."""
    if methods is None:
        names = [name for name, method in METHODS.items() if method.default]
        names = [name for name in names if data.counts is not None or not METHODS[name].counts]
    else:
        given = methods.split(",") if isinstance(methods, str) else methods
        names = list(dict.fromkeys(str(name).strip().lower() for name in given if str(name).strip()))
    if not names:
        raise ValueError(f"methods names no method; there are {', '.join(METHODS)}.")
    stored = data.X.data if sp.issparse(data.X) else data.X
    negative, missing = bool(np.nanmin(stored, initial=0.0) < 0), bool(np.isnan(stored).any())
    chosen = []
    for name in names:
        if find(METHODS, name) is None:
            near = difflib.get_close_matches(name, METHODS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(METHODS)}."
            raise ValueError(f"'{name}' is no method; {hint}")
        why = METHODS[name].lacks(negative=negative, missing=missing, counts=data.counts is not None)
        if why is None:
            chosen.append(name)
        else:
            notes.append(f"{METHODS[name].title} left out: it {why}.")
    if missing:
        able = [
            method.title for method in METHODS.values() if method.missing and (method.signed or not negative)
        ]
        said = f"The data have missing entries; methods that take them: {', '.join(able) or 'none'}."
        notes.append(said)
    if not chosen:
        raise ValueError(f"No method is left to compare. {' '.join(notes)}")
    return chosen
