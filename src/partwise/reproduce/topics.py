"""Topics of raw texts: how coherent they are beside scikit-learn's NMF and a truncated SVD, and how long they take.

Coherence is NPMI of the ten leading words of each topic, counted in the documents of the fit. All methods see the
same matrix, which `TopicModel` makes of the texts; near-duplicates are pairs of topics whose cosine is above 0.9.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.decomposition import NMF as sklearn_NMF
from sklearn.decomposition import TruncatedSVD

from partwise import datasets
from partwise.core import watched
from partwise.domains.text import apply_vectorizer
from partwise.domains.text_measures import near_duplicates, npmi_coherence, topic_diversity, umass_coherence
from partwise.io import write_csv, write_json
from partwise.models import TopicModel
from partwise.plot import save_figure
from partwise.plot import topics as draw

MEASURES = ("npmi", "umass", "diversity", "duplicates", "seconds")


def reproduce_topics(
    folder: Path,
    n_components: Annotated[int, typer.Option("-k", "--components", min=1, help="Number of topics.")] = 20,
    seeds: Annotated[int, typer.Option(min=1, help="Random seeds.")] = 5,
    vectorizer: Annotated[str, typer.Option(help="tfidf or count.")] = "tfidf",
    bundled: Annotated[
        bool, typer.Option("--docstrings", help="Docstrings of scipy instead of 20 Newsgroups.")
    ] = False,
) -> dict[str, Any]:
    """Topics of 20 Newsgroups, raw: coherence, diversity, near-duplicates and time beside scikit-learn's NMF and SVD.

    The docstrings of scipy where 20 Newsgroups cannot be had.
    """
    name, texts, rows = texts_of(bundled)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = perf_counter()
        model = TopicModel(n_components, vectorizer=vectorizer, verbose=1)
        W = model.fit_transform(texts)
        seconds = perf_counter() - begin
        X = apply_vectorizer(model.vectorizer_, texts).astype(np.float64)
        methods = methods_of(n_components, model.loss_.name, texts)
        runs = [(method, seed) for method in methods for seed in range(seeds)]
        found: dict[str, list[dict[str, float]]] = {method: [] for method in methods}
        for method, seed in watched(runs, "topics", len(runs), "fits"):
            found[method].append(measured(methods[method], X, seed))
    table = {method: {key: [one[key] for one in each] for key in MEASURES} for method, each in found.items()}
    save_figure(draw(model, W, row_names=rows), folder / "topics.png")
    means = np.array([[np.mean(row[key]) for key in MEASURES] for row in table.values()])
    write_csv(folder / "topics.csv", means, list(table), list(MEASURES), corner="method")
    size = f"{name}: {X.shape[0]:,} documents, {X.shape[1]:,} words, {n_components} topics ({vectorizer})"
    summary: dict[str, Any] = {
        "data": name,
        "shape": list(X.shape),
        "n_components": n_components,
        "seconds_raw_to_topics": seconds,
        "words": {topic: [word for word, _ in words] for topic, words in model.topics(10).items()},
        "methods": table,
        "lines": [
            size,
            f"TopicModel, from strings to topics: {seconds:.1f} s, NPMI {np.nanmean(model.coherence_):.3f}",
            *lines_of(table),
        ],
    }
    write_json(folder / "topics.json", summary)
    return summary


def texts_of(bundled: bool) -> tuple[str, list[str], list[str]]:
    """The corpus: its name, its texts, and their names."""
    if not bundled:
        try:
            posts = datasets.fetch_20newsgroups("raw")
            groups = posts.target_names[posts.target]
            return "20 Newsgroups", posts.data, [f"{group}/{i}" for group, i in zip(groups, posts.ids)]
        except OSError:
            pass
    docs = datasets.load_docstrings()
    return "docstrings of scipy", docs.data, docs.names


def methods_of(k: int, loss: str, texts: list[str]) -> dict[str, Callable[[Any, int], np.ndarray]]:
    """From a matrix and a seed to topics, by each method; each starts as it does by itself, and at random.

    `TopicModel` makes the matrix anew from the texts, which its seconds include.
    """
    vectorizer = "tfidf" if loss == "frobenius" else "count"

    def ours(init: str | None) -> Callable[[Any, int], np.ndarray]:
        def topics(X: Any, seed: int) -> np.ndarray:
            return TopicModel(k, vectorizer=vectorizer, init=init, random_state=seed).fit(texts).components_

        return topics

    def theirs(init: str | None) -> Callable[[Any, int], np.ndarray]:
        solver = "cd" if loss == "frobenius" else "mu"
        return lambda X, seed: (
            sklearn_NMF(k, init=init, beta_loss=loss, solver=solver, random_state=seed).fit(X).components_
        )

    return {
        "TopicModel": ours(None),
        "TopicModel, random start": ours("random"),
        "scikit-learn NMF": theirs(None),
        "scikit-learn NMF, random start": theirs("random"),
        "truncated SVD": lambda X, seed: TruncatedSVD(k, random_state=seed).fit(X).components_,
    }


def measured(method: Callable[[Any, int], np.ndarray], X: Any, seed: int) -> dict[str, float]:
    """What is measured of the topics of one fit."""
    begin = perf_counter()
    H = method(X, seed)
    seconds = perf_counter() - begin
    return {
        "npmi": float(np.nanmean(npmi_coherence(H, X))),
        "umass": float(np.nanmean(umass_coherence(H, X))),
        "diversity": topic_diversity(H),
        "duplicates": float(near_duplicates(H)),
        "seconds": seconds,
    }


def lines_of(table: dict[str, dict[str, list[float]]]) -> list[str]:
    """The table for a person: means over the seeds, the spread of NPMI, and all near-duplicates."""
    lines = [f"{'':32}{'NPMI':>16}{'UMass':>9}{'diversity':>11}{'duplicates':>12}{'seconds':>9}"]
    for method, row in table.items():
        npmi = f"{np.mean(row['npmi']):.4f} ± {np.std(row['npmi']):.4f}"
        lines.append(
            f"{method:32}{npmi:>16}{np.mean(row['umass']):9.2f}{np.mean(row['diversity']):11.3f}"
            f"{sum(row['duplicates']):12.0f}{np.mean(row['seconds']):9.1f}"
        )
    return lines
