"""Fits and verbs that are to be interrupted: each takes a second or two, on data that are bundled or generated."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import wavfile
from sklearn.exceptions import ConvergenceWarning

from partwise import (
    NMF,
    BayesianBooleanMF,
    BayesianNMF,
    BinaryNMF,
    BooleanMF,
    DeepNMF,
    MixtureClassifier,
    SemiNMF,
    SymmetricNMF,
    TopicModel,
    save,
)
from partwise.core import Problem
from partwise.datasets import load_digits, make_bars, make_boolean, make_chord
from partwise.losses import as_loss
from partwise.matrix import Dense
from partwise.solvers.registry import REGISTRY

LOSSES = ("frobenius", "kullback-leibler", "negative-binomial")


@dataclass(frozen=True)
class Fit:
    """A fit: `begin` makes model and data; `work` is interrupted; `check` says what is wrong afterwards, or ""."""

    begin: Callable[[], tuple[Any, Any]]
    work: Callable[[Any, Any], Any] = lambda model, X: model.fit(X)
    check: Callable[[Any, Any], str] = lambda model, X: unfit(model, X)


@dataclass(frozen=True)
class Verb:
    """A verb of the command line, with the files it writes; `arguments` are given the folder of the data."""

    arguments: Callable[[Path], list[str]]
    files: frozenset[str]


def unfit(model: Any, X: Any) -> str:
    """What an interrupted model lacks."""
    # With several starts the kept one may have been complete when Ctrl-C ended a later one.
    use = model.predict_proba if isinstance(model, MixtureClassifier) else model.transform
    if not np.isfinite(np.asarray(use(X() if callable(X) else X), dtype=float)).all():
        return "transform gives numbers that are not finite"
    if isinstance(model, (NMF, BinaryNMF, SymmetricNMF)) and not hasattr(model, "restarts_"):
        return "restarts_ is missing"
    ends = {one["ended_by"] for one in getattr(model, "restarts_", ())}
    if (
        model.ended_by_ != "interrupted"
        and "interrupted" not in ends
        and len(ends) == getattr(model, "n_init", 1)
    ):
        return f"ended by {model.ended_by_}"
    return ""


# ------------------------------------------------------------------------ data


def counts(n: int = 500, m: int = 300, k: int = 12) -> np.ndarray:
    """Counts of low rank, with noise."""
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(0.5, 1.0, (n, k)) @ rng.gamma(0.5, 1.0, (k, m))).astype(float) + 0.1


def table(n: int = 300, m: int = 200, k: int = 10) -> np.ndarray:
    """Yes/no data of k tiles, with noise."""
    return make_boolean(n, m, k, noise_add=0.03, noise_drop=0.1, random_state=1).data


def large_table() -> np.ndarray:
    """Yes/no data that take a while."""
    return table(1200, 600, 30)


def features(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Features in six clusters of n samples, and their three classes."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.gamma(2.0, 1.0, (n, 12)) + 3 * rng.random(12) for _ in range(6)])
    return X, np.repeat([0, 1, 2], 2 * n)


# ------------------------------------------------------------------------ fits


def can(solver: str, loss: str) -> bool:
    """Whether a solver has this loss."""
    problem = Problem(Dense.of(np.ones((2, 2))), as_loss(loss))
    return REGISTRY[solver](False).lacks(problem) is None and (solver != "cd" or problem.loss.gram)


def nmf(solver: str, loss: str, **more: Any) -> Fit:
    """NMF for a second or two."""
    steps = {"frobenius": 300, "kullback-leibler": 100, "negative-binomial": 20}[loss]
    settings = {"solver": solver, "beta_loss": loss, "tol": 1e-13, "max_iter": steps, **more}
    # Gram matrices make an iteration cheap, so that more data are needed to keep it busy.
    size = (1500, 400, 30) if solver in ("auto", "hals", "randomized", "cd") else (500, 300, 12)
    return Fit(lambda: (NMF(size[2], init="random", random_state=0, **settings), counts(*size)))


def deep(**settings: Any) -> Fit:
    """Two layers."""
    return Fit(lambda: (DeepNMF((40, 20), tol=1e-13, **settings), counts(1500, 400, 30)))


def streamed() -> tuple[Any, Any]:
    """NMF of row blocks that a function returns."""
    X = counts(1500, 400, 30)
    model = NMF(30, init="random", tol=1e-13, max_iter=150)
    return model, lambda: (X[i : i + 512] for i in range(0, len(X), 512))


def binary(n_samples: int, **settings: Any) -> Fit:
    """EM for bars."""
    return Fit(
        lambda: (
            BinaryNMF(10, tol=1e-9, random_state=0, **settings),
            make_bars(n_samples, 5, random_state=0).data,
        )
    )


def boolean(k: Any = "auto", data: Callable[[], np.ndarray] = table, **settings: Any) -> Fit:
    """Tiles, two seconds at most."""
    return Fit(lambda: (BooleanMF(k, max_time=2.0, random_state=0, **settings), data()))


def posterior(k: int, **settings: Any) -> Fit:
    """Draws of tiles, two seconds at most."""
    return Fit(lambda: (BayesianBooleanMF(k, max_time=2.0, random_state=0, **settings), table()))


def trusting() -> tuple[Any, Any]:
    """Tiles that were found already."""
    X = table()
    return BooleanMF(10, max_time=1.0, random_state=0).fit(X), X


def mixture(n: int = 400, **settings: Any) -> Fit:
    """A classifier."""
    return Fit(
        lambda: (MixtureClassifier(6, tol=1e-12, random_state=0, **settings), features(n)),
        lambda model, data: model.fit(*data),
        lambda model, data: unfit(model, data[0]),
    )


def bayesian(**settings: Any) -> Fit:
    """Chains, in their start, warm-up or draws."""
    few = {"n_draws": 300, "n_warmup": 30, "n_chains": 3, **settings}
    return Fit(lambda: (BayesianNMF(5, **few), np.floor(counts(300, 100, 5))))


def symmetric(**settings: Any) -> Fit:
    """Communities of the samples."""
    return Fit(lambda: (SymmetricNMF(12, tol=1e-13, random_state=0, **settings), overlaps()))


def texts(n: int = 3000) -> list[str]:
    """Documents of random words, rarer ones later."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklm"))
    words = np.array(["".join(word) for word in rng.choice(letters, (3000, 6))])
    return [" ".join(words[(3000 * rng.random(60) ** 3).astype(int)]) for _ in range(n)]


def topics(**settings: Any) -> Fit:
    """Topics of texts."""
    return Fit(lambda: (TopicModel(15, tol=1e-13, max_iter=60, **settings), texts()))


def overlaps() -> np.ndarray:
    """How alike samples are."""
    X = counts(700, 300)
    return X @ X.T


FITS: dict[str, Fit] = {
    **{
        f"NMF {solver} {loss}": nmf(solver, loss)
        for loss in LOSSES
        for solver in REGISTRY
        if can(solver, loss)
    },
    "NMF n_init=3": nmf("auto", "frobenius", n_init=3, max_iter=100),
    "NMF bar": nmf("auto", "frobenius", verbose=1),
    "NMF streamed": Fit(streamed, check=lambda model, X: unfit(model, lambda: np.vstack(list(X())))),
    "SemiNMF": Fit(lambda: (SemiNMF(30, init="random", tol=1e-13, max_iter=150), counts(1500, 400, 30))),
    "DeepNMF": deep(max_iter=50),
    "DeepNMF nonnegative": deep(semi=False, max_iter=50),
    "DeepNMF softplus": deep(activation="softplus", max_iter=20),
    "BayesianNMF": bayesian(),
    "BayesianNMF poisson": bayesian(likelihood="poisson", n_draws=100),
    "BinaryNMF exact": binary(5000, inference="exact"),
    "BinaryNMF truncated": binary(1500, inference="truncated", max_iter=15),
    "BinaryNMF gaussian exact": binary(2000, noise="gaussian", inference="exact", max_iter=30),
    "BinaryNMF gaussian truncated": binary(1000, noise="gaussian", inference="truncated", max_iter=20),
    "BinaryNMF n_init=3": binary(1500, n_init=3, max_iter=20),
    "BooleanMF 5": boolean(5),
    "BooleanMF auto": boolean(data=large_table),
    "BooleanMF panpal": boolean(30, large_table, method="panpal"),
    "BooleanMF primp": boolean(data=lambda: table(600, 300, 20), method="primp"),
    "BooleanMF trustpal": boolean(5, method="trustpal"),
    "BooleanMF trust()": Fit(
        trusting,
        lambda model, X: model.trust(X, n_restarts=3, n_resamples=3),
        lambda model, X: "" if "alternatives" in model.trust_ else "no answer",
    ),
    "BayesianBooleanMF gibbs": posterior(5),
    "BayesianBooleanMF relaxed": posterior(5, sampler="relaxed-gibbs"),
    "SymmetricNMF n_init=3": symmetric(n_init=3, max_iter=100),
    "SymmetricNMF directed": symmetric(directed=True, init="random"),
    "TopicModel": topics(init="random"),
    "TopicModel counts": topics(vectorizer="count", init="random"),
    "MixtureClassifier contrastive": mixture(max_iter=100),
    "MixtureClassifier multiplicative": mixture(optimizer="multiplicative", max_iter=300),
    "MixtureClassifier em": mixture(3000, training="em", max_iter=200),
}


# ----------------------------------------------------------------------- verbs


def write_data(folder: Path) -> None:
    """The files that the verbs read, and a model for `transform`."""
    np.save(folder / "counts.npy", counts())
    np.save(folder / "bars.npy", make_bars(1500, 5, random_state=0).data)
    np.save(folder / "tiles.npy", table().astype(np.uint8))
    (folder / "texts.txt").write_text("\n".join(texts()))
    digits = load_digits()
    np.savez(folder / "digits.npz", X=digits.data, y=digits.target)
    np.save(folder / "rows.npy", counts(6000))
    chord = make_chord(random_state=0)
    wavfile.write(folder / "chord.wav", chord.sampling_rate, chord.data.astype(np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        save(NMF(12, beta_loss="kullback-leibler", max_iter=20).fit(counts()), folder / "model.partwise")


def verb(text: str, *files: str) -> Verb:
    """A verb as it is typed; DATA/ stands for the folder of the data."""
    return Verb(lambda folder: text.replace("DATA", str(folder)).split(), frozenset(files))


DRAWN = ("parts.png", "usage.png")
KEPT = ("model.partwise", "summary.json", "report.html", "report.json")
VERBS: dict[str, Verb] = {
    "fit nmf": verb(
        "fit DATA/counts.npy -k 12 --loss kl --tol 1e-13 --max-iter 150 -o out",
        "W.csv",
        "H.csv",
        *DRAWN,
        *KEPT,
    ),
    "fit binary": verb(
        "fit DATA/bars.npy --model binary -k 10 --tol 1e-9 --max-iter 60 -o out",
        "W.csv",
        "H.csv",
        *DRAWN,
        *KEPT,
    ),
    "fit boolean": verb(
        "fit DATA/tiles.npy --model boolean -k auto --max-time 1 -o out",
        "usage.csv",
        "tiles.csv",
        *DRAWN,
        *KEPT,
    ),
    "fit mixture": verb(
        "fit DATA/digits.npz --key X --model mixture --labels y --max-iter 60 -o out",
        "predictions.csv",
        "components.csv",
        *DRAWN,
        *KEPT,
    ),
    "tiles": verb("tiles DATA/tiles.npy --max-time 1 -o out", "usage.csv", "tiles.csv", "tiles.png", *KEPT),
    "tiles --trust 2": verb(
        "tiles DATA/tiles.npy --max-time 1 --trust 2 -o out", "usage.csv", "tiles.csv", "tiles.png", *KEPT
    ),
    "posterior": verb(
        "posterior DATA/tiles.npy --model boolean -k 3 --max-time 1 -o out",
        "usage.csv",
        "usage_std.csv",
        "tiles.csv",
        "tiles_std.csv",
        "probability.csv",
        "named.csv",
        "posterior.png",
        *KEPT,
    ),
    "classify": verb(
        "classify DATA/digits.npz --key X --labels y -k 20 --mixtures 4 --shape 8x8 -o out",
        "predictions.csv",
        "W.csv",
        "classes.png",
        *KEPT,
    ),
    "topics": verb(
        "topics DATA/texts.txt -k 15 --set tol=0 --set max_iter=60 -o out",
        "topics.csv",
        "documents.csv",
        "W.csv",
        "topics.png",
        *KEPT,
    ),
    "compare": verb(
        "compare DATA/digits.npz --key X --labels y -k 12 --seeds 2 --shape 8x8 -o out",
        "compare.csv",
        "compare.png",
        "summary.json",
        "report.html",
        "report.json",
    ),
    "separate": verb(
        "separate DATA/chord.wav -k 4 --sources 2 -o out",
        "components.csv",
        "activations.csv",
        "spectra.csv",
        "source1.wav",
        "source2.wav",
        "separation.png",
        *KEPT,
    ),
    "transform": verb("transform DATA/model.partwise DATA/rows.npy -o out/W.csv", "W.csv"),
    "reproduce bars": verb("reproduce bars --runs 3 -o out", "bars.json", "bars.png"),
    "demo": verb(
        "demo -o out",
        "index.html",
        "data/docstrings.jsonl",
        "data/karate.csv",
        *(f"digits/{name}" for name in ("parts.png", "W.csv", "H.csv", *KEPT[:-1])),
        *(f"topics/{name}" for name in ("topics.csv", "documents.csv", "W.csv", "topics.png", *KEPT)),
        *(
            f"sound/{name}"
            for name in ("components.csv", "activations.csv", "spectra.csv", "separation.png", *KEPT)
        ),
        *(f"network/{name}" for name in ("nodes.csv", "communities.csv", "graph.png", *KEPT)),
    ),
}
