"""Numerical torture: every model, solver and loss on data that break careless arithmetic.

`attempt(kind, seed, folder)` draws one case for a kind of model and says what failed. A fit may refuse its data
with a ValueError that says what to do. It must not raise anything else, leak a RuntimeWarning of NumPy, hand back NaN
or infinite factors, let the objective rise beyond rounding, report an objective that is NaN (or infinite, where a
double could hold it), or end worse than a model that says zero, or the mean, everywhere.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise import (
    NMF,
    BinaryNMF,
    BooleanMF,
    DeepNMF,
    GraphNMF,
    MixtureClassifier,
    SemiNMF,
    SemiSupervisedNMF,
    SymmetricNMF,
)

LOSSES = (
    "frobenius",
    "kullback-leibler",
    "itakura-saito",
    0.5,
    1.5,
    2.6,
    -0.7,
    "negative-binomial",
    "bernoulli",
)
SOLVERS = ("auto", "hals", "filled", "scd", "emu", "mu", "cd", "randomized")


def plain(rng: np.random.Generator) -> np.ndarray:
    """Positive data of rank 3 and a little noise, of a random small shape."""
    n, m = (int(size) for size in rng.integers(3, 25, 2))
    return rng.gamma(1.0, 1.0, (n, 3)) @ rng.gamma(1.0, 1.0, (3, m)) + 0.1 * rng.random((n, m)) + 1e-3


def _scaled(power: float) -> Callable[[np.random.Generator], Any]:
    return lambda rng: plain(rng) * 10.0**power


def _single(power: float) -> Callable[[np.random.Generator], Any]:
    return lambda rng: (plain(rng) * 10.0**power).astype(np.float32)


def _rows_apart(rng: np.random.Generator) -> Any:
    X = plain(rng)
    return X * np.logspace(-6, 6, len(X))[:, None]


def _columns_apart(rng: np.random.Generator) -> Any:
    return np.asfortranarray(_rows_apart(rng).T)


def _apart_single(rng: np.random.Generator) -> Any:
    return _rows_apart(rng).astype(np.float32)


def _one_entry(rng: np.random.Generator) -> Any:
    X = np.zeros((6, 5))
    X[2, 3] = 10.0 ** rng.integers(-300, 300)
    return X


def _nearly_all_missing(rng: np.random.Generator) -> Any:
    X = np.full((200, 100), np.nan)
    X[rng.integers(0, 200, 2), rng.integers(0, 100, 2)] = 3.0
    return X


def _row_missing(rng: np.random.Generator) -> Any:
    X = plain(rng)
    X[rng.integers(len(X))] = np.nan
    return X


def _column_missing(rng: np.random.Generator) -> Any:
    X = plain(rng)
    X[:, rng.integers(X.shape[1])] = np.nan
    return X


def _holes(rng: np.random.Generator) -> Any:
    X = plain(rng)
    return np.where(rng.random(X.shape) < 0.7, np.nan, X)


def _repeated(rng: np.random.Generator) -> Any:
    return np.repeat(plain(rng)[:2], 9, axis=0)


def _huge_sparse(rng: np.random.Generator) -> Any:
    X = sp.random_array((600, 400), density=5e-4, rng=rng, format="csr")
    X.data *= 10.0 ** rng.integers(-20, 20)
    return X


def _typed(dtype: Any) -> Callable[[np.random.Generator], Any]:
    return lambda rng: np.minimum(np.ceil(plain(rng)), 100).astype(dtype)


def _viewed(view: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.random.Generator], Any]:
    return lambda rng: view(plain(rng))


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _shaped(n: int, m: int) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.gamma(1.0, 1.0, (n, m)) + 0.1


DATA: dict[str, Callable[[np.random.Generator], Any]] = {
    **{f"about 1e{power}": _scaled(power) for power in (-310, -300, -150, -20, 20, 150, 300)},
    **{f"float32 about 1e{power}": _single(power) for power in (-42, -30, -19, 19, 30, 36)},
    "rows from 1e-6 to 1e6": _rows_apart,
    "columns from 1e-6 to 1e6": _columns_apart,
    "float32 rows from 1e-6 to 1e6": _apart_single,
    "constant": lambda rng: np.full((7, 5), 10.0 ** rng.integers(-5, 5)),
    "zeros": lambda rng: np.zeros((5, 4)),
    "one entry": _one_entry,
    "99.99 % missing": _nearly_all_missing,
    "a row missing": _row_missing,
    "a column missing": _column_missing,
    "70 % missing": _holes,
    "two rows repeated": _repeated,
    "sparse with empty rows": _huge_sparse,
    **{np.dtype(dtype).name: _typed(dtype) for dtype in ("f2", "i1", "u8", "?", "O", "g", ">f8", ">f4")},
    "strided": _viewed(lambda X: np.repeat(np.repeat(X, 2, 0), 3, 1)[::2, ::3]),
    "reversed": _viewed(lambda X: X[::-1, ::-1]),
    "read-only": _viewed(_read_only),
    "1 × 1": _shaped(1, 1),
    "1 × 9": _shaped(1, 9),
    "9 × 1": _shaped(9, 1),
    "3 × 20": _shaped(3, 20),
}


#: The kinds of models, most of them NMF, as users' are.
KINDS = ("nmf",) * 6 + (
    "semi",
    "deep",
    "graph",
    "semisupervised",
    "symmetric",
    "binary",
    "boolean",
    "mixture",
)


def model_of(kind: str, rng: np.random.Generator) -> Any:
    """A model of a kind, with settings drawn at random."""
    k = int(rng.integers(1, 5))
    init = None if rng.random() < 0.7 else "random"
    if kind == "nmf":
        loss = LOSSES[rng.integers(len(LOSSES))]
        # Half of the time a solver that is sure to fit.
        solver = str(rng.choice(SOLVERS)) if rng.random() < 0.5 else "auto"
        return NMF(k, beta_loss=loss, solver=solver, init=init, max_iter=40, random_state=k)
    if kind == "semi":
        return SemiNMF(k, init=init, max_iter=40, random_state=k)
    if kind == "deep":
        activation = rng.choice([None, None, "softplus", "sigmoid", "tanh"])
        semi, pretrain = (bool(rng.random() < 0.7) for _ in range(2))
        sizes = (k, max(1, k - 1))
        return DeepNMF(sizes, semi=semi, activation=activation, pretrain=pretrain, max_iter=20)
    if kind in ("graph", "semisupervised"):
        loss = str(rng.choice(["frobenius", "kullback-leibler"]))
        weight = "auto" if rng.random() < 0.2 else float(10.0 ** rng.integers(-3, 3))
        if kind == "graph":
            return GraphNMF(
                k, beta_loss=loss, graph_weight=weight, n_neighbors=2, max_iter=20, random_state=k
            )
        return SemiSupervisedNMF(k, beta_loss=loss, label_weight=weight, max_iter=20, random_state=k)
    if kind == "symmetric":
        return SymmetricNMF(k, max_iter=20, random_state=k)
    if kind == "binary":
        return BinaryNMF(k, max_iter=15, random_state=0)
    if kind == "boolean":
        return BooleanMF(k, max_time=0.2, random_state=0)
    training = str(rng.choice(["contrastive", "em"]))
    return MixtureClassifier(1, training=training, penalty=0.01, max_iter=20, random_state=0)


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Fit a model of a kind to data of any kind; "" or what went wrong.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    seed : int
        Draws the model and the data; the kind of data goes round with it, so that all of them come.
    folder : path
        Not used.

    Returns
    -------
    str
        The model, the data and what went wrong.
    """
    rng = np.random.default_rng(seed)
    data = list(DATA)[seed // len(KINDS) % len(DATA)]
    X, model = DATA[data](rng), model_of(kind, rng)
    name = " ".join(f"{model!r} on {data}".split())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            return "; ".join(f"{name}: {what}" for what in faults(model, X))
    except Exception as error:
        raised_in = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
        refused = "/partwise/" in raised_in or "/sklearn/utils/" in raised_in
        if refused and isinstance(error, ValueError | TypeError):
            return ""
        return f"{name}: {type(error).__name__} from {raised_in}: {error}"


def faults(model: Any, X: Any) -> Iterator[str]:
    """What is wrong with a fit; a refusal is raised."""
    y = np.arange(X.shape[0]) % 2
    if isinstance(model, MixtureClassifier):
        model.fit(X, y)
        if not np.isfinite(model.predict_proba(X)).all():
            yield "probabilities are not finite"
        return
    if isinstance(model, BooleanMF):
        X = _yes_no(X)
    if isinstance(model, SymmetricNMF):
        X = _similarity(X)
    W = model.fit_transform(X, y) if isinstance(model, SemiSupervisedNMF) else model.fit_transform(X)
    if isinstance(model, SymmetricNMF | GraphNMF | SemiSupervisedNMF):
        yield from _tied_faults(model, W, _dense(X))
        return
    if not (np.isfinite(W).all() and np.isfinite(model.components_).all()):
        yield "factors are not finite"
        return
    # (With an activation the problem of a row has several optima.)
    same = getattr(model, "activation", None) is None
    if not np.isfinite(again := np.asarray(model.transform(X))).all():
        yield "transform gives numbers that are not finite"
    elif same and not np.array_equal(again, W) and not _subnormal(X):
        yield "transform differs from fit_transform"
    if isinstance(model, BinaryNMF):
        if not np.isfinite(model.log_likelihood_):
            yield f"log-likelihood {model.log_likelihood_}"
    elif isinstance(model, DeepNMF):
        history, largest = model.history_["objective"], float(np.nanmax(_dense(X)))
        size = np.nansum((_dense(X) / largest) ** 2) * _power(largest, 2)
        if np.isfinite(history).all() and np.diff(history).max(initial=0.0) > 1e-4 * size:
            yield f"objective rises: {history}"
    elif isinstance(model, NMF):
        yield from _nmf_faults(model, W, _dense(X))


def _tied_faults(model: Any, W: np.ndarray, X: np.ndarray) -> Iterator[str]:
    """Of models whose rows belong together, so that `transform` and a bound by the mean say nothing."""
    if not np.isfinite(W).all():
        yield "factors are not finite"
    history = np.asarray(model.history_["objective"])
    if np.isnan(history).any():
        yield "objective NaN"
    elif np.isfinite(history).all():
        rise = np.diff(history).max(initial=0.0)
        # Near an exact fit what is left is rounding, which is measured by the size of the data.
        largest = float(np.nanmax(X))
        size = max(abs(history[0]), 1e-3 * np.nansum((X / (largest or 1.0)) ** 2) * _power(largest, 2))
        if isinstance(model, GraphNMF):
            # Neighbours that are alike cancel in the penalty, and leave the rounding of terms as large as these.
            size = max(size, float(model.graph_weight_) * np.sum((W.astype(float) @ model.components_) ** 2))
        if rise > (1e-4 if W.dtype == np.float32 else 1e-9) * size:
            yield f"objective rises by {rise:g} of {history[0]:g}"


def _nmf_faults(model: NMF, W: np.ndarray, X: np.ndarray) -> Iterator[str]:
    history = model.history_["objective"]
    seen = ~np.isnan(X)
    x = X[seen]
    scale = float(x.max())
    degree = model.loss_.degree
    Y = np.where(seen, model.inverse_transform(W).astype(float), 0.0)[seen]
    if degree is not None:
        # In units in which the loss of any data is a number.
        x, Y = x / scale, Y / scale
    with np.errstate(all="ignore"):
        value = model.loss_.value
        floor = 1e-7 * x.mean()
        if degree is None:
            Y, floor = x * 0 + 1, None  # Its reconstruction has another unit; the history says enough.
        else:
            found, mean, zero = (
                value(x, np.maximum(y, floor)) for y in (Y, np.full_like(x, x.mean()), 0 * x)
            )
        holds = degree is None or abs(degree * np.log10(scale)) < 250
    if holds and not np.isfinite(history).all():
        yield f"objective {history}"
    elif np.isnan(history).any():
        yield "objective NaN"
    elif np.isfinite(history).all():
        # Near an exact fit what is left is rounding, which is measured by the loss of saying zero, or of one entry.
        size = max(abs(history[0]), 0.0 if degree is None else min(zero, len(x)) * _power(scale, degree))
        rise = np.diff(history).max(initial=0.0)
        if rise > (1e-4 if W.dtype == np.float32 else 1e-9) * max(size, 1e-9 if degree is None else 1e-300):
            yield f"objective rises by {rise:g} of {history[0]:g}"
    if floor is not None and not found <= min(mean, zero) * 1.01 + 1e-3 * len(x):
        yield f"loss {found:g}, worse than the mean's {mean:g} or zero's {zero:g}"


def _power(base: float, exponent: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.power(base, exponent))


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)


def _similarity(X: Any) -> np.ndarray:
    """How alike rows are, in numbers of the size of X."""
    X = np.nan_to_num(_dense(X))
    largest = X.max(initial=0.0) or 1.0
    return (X / largest) @ (X / largest).T * min(largest, 1e300)


def _yes_no(X: Any) -> np.ndarray:
    X = _dense(X)
    return np.where(np.isnan(X), np.nan, np.nanmean(np.minimum(X, 1e300)) < X)


def _subnormal(X: Any) -> bool:
    """Whether factors in the units of X have lost digits."""
    X = np.asarray(X.data if sp.issparse(X) else X)
    return X.dtype.kind == "f" and bool(np.nanmax(X, initial=0.0) < 1e6 * np.finfo(X.dtype).tiny)
