"""Topics as lists of words, and documents as mixtures of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.plot.style import FAINT, INK, figure, shortened, title, told_apart

#: Topics and documents drawn, at most.
MOST_TOPICS = 20
MOST_DOCUMENTS = 40
#: Words of each topic, at most; a line has room for so many letters.
WORDS, LETTERS = 9, 62
_COLOURS = (
    "#1f6f8b", "#e07a5f", "#81a684", "#8d6a9f", "#d9a441", "#5c6b73", "#b5495b", "#4f9fc0", "#6b8e23", "#c97fb0",
    "#3d5a80", "#f2a07b", "#2f7f6f", "#a78bca", "#9c6b2f", "#94a3ad", "#7d2e3d", "#86c5d8", "#a3b86c", "#e3b7d0",
)  # fmt: skip


def topics(
    model: Any, W: Any, *, row_names: Sequence[str] | None = None, n_documents: int = MOST_DOCUMENTS
) -> Any:
    """Draw topics and documents as mixtures of them (Epstein 2017, figure 4.3, after Blei 2012).

    Parameters
    ----------
    model : TopicModel
        Fitted.
    W : array of shape (n_documents, n_components)
        What `transform` or `fit_transform` returned for the documents.
    row_names : sequence of str, optional
        Names of the documents; by default their numbers.
    n_documents : int, default=40
        Documents drawn, at most: for each topic one that is most about it, and one that mixes it with others.

    Returns
    -------
    matplotlib Figure
        On the left each topic with its leading words and its share of all documents; on the right documents, as
        stacked shares of topics in the same colours. Of more than 20 topics the 20 of largest share are coloured.
    """
    shares = model.mixtures(W)
    names = [str(name) for name in model.get_feature_names_out()]
    mean = shares.mean(axis=0)
    shown = np.sort(np.argsort(-mean, kind="stable")[:MOST_TOPICS])
    documents = chosen_documents(shares, np.asarray(W), shown, n_documents)
    rows = max(len(shown), len(documents))
    drawing, axes = figure(
        [["words", "documents"]],
        size=(12.5, max(3.0, (0.27 if rows <= 26 else 0.22) * rows + 1.1)),
        width_ratios=(1.15, 1.0),
    )
    _draw_words(
        axes["words"],
        [names[t] for t in shown],
        [list(model.topics(WORDS).values())[t] for t in shown],
        mean[shown],
    )
    labels = [f"document {i}" if row_names is None else str(row_names[i]) for i in documents]
    _draw_mixtures(axes["documents"], shares[documents], shown, labels)
    return drawing


def chosen_documents(shares: np.ndarray, W: np.ndarray, shown: np.ndarray, n: int) -> list[int]:
    """Documents for the picture, topic by topic: one that is most about it, and one that mixes it with others.

    The second is half of the topic, which is the largest share of it, and has no less of it than most such documents
    have: short documents are pure, or mixed, by chance.
    """
    leader = np.where(shares.max(axis=1) > 0, shares.argmax(axis=1), -1)
    each = 2 if 2 * len(shown) <= n else 1
    found: list[int] = []
    for topic in shown[:n]:
        mine = np.flatnonzero(leader == topic)
        if not len(mine):
            continue
        pure = mine[np.argmax(shares[mine, topic] * np.sqrt(W[mine, topic]))]
        much = mine[(W[mine, topic] >= np.median(W[mine, topic])) & (mine != pure)]
        mixed = much[np.argsort(np.abs(shares[much, topic] - 0.5), kind="stable")[:1]]
        found += [int(i) for i in (pure, *mixed)][:each]
    return found


def _draw_words(
    place: Any, names: list[str], words: list[list[tuple[str, float]]], share: np.ndarray
) -> None:
    """One line for each topic: a square of its colour, its name, its share, its words."""
    from matplotlib.patches import Rectangle

    count = len(names)
    place.set(xlim=(0, 1), ylim=(max(count, 1) - 0.5, -0.5))
    place.axis("off")
    for t, (name, top) in enumerate(zip(names, words)):
        place.add_patch(Rectangle((0.0, t - 0.32), 0.018, 0.64, color=_COLOURS[t], lw=0))
        place.text(0.03, t, shortened(name, 16), va="center", fontsize=9, weight="bold", color=INK)
        place.text(0.235, t, f"{100 * share[t]:.0f} %", va="center", ha="right", fontsize=8.5, color=INK)
        place.text(0.255, t, fitting([word for word, _ in top]), va="center", fontsize=8.5, color=INK)
    title(place, "Topics: share of all documents, leading words")


def fitting(words: Sequence[str], letters: int = LETTERS) -> str:
    """As many words as a line has room for."""
    line = ""
    for word in words:
        longer = f"{line}, {word}" if line else shortened(word, letters)
        if len(longer) > letters:
            break
        line = longer
    return line.replace("$", r"\$")


def _draw_mixtures(place: Any, shares: np.ndarray, shown: np.ndarray, labels: list[str]) -> None:
    """Stacked bars, a line for each document; topics that are not listed are grey."""
    lines = np.arange(len(labels))
    left = np.zeros(len(labels))
    for number, topic in enumerate(shown):
        place.barh(lines, shares[:, topic], 0.72, left=left, color=_COLOURS[number])
        left += shares[:, topic]
    place.barh(lines, np.maximum(shares.sum(axis=1) - left, 0.0), 0.72, left=left, color=FAINT)
    place.set(xlim=(0, 1), ylim=(max(len(labels), 1) - 0.5, -0.5))
    place.set_yticks(lines, told_apart(labels, 34), fontsize=8)
    place.tick_params(axis="y", length=0)
    place.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"], fontsize=8)
    place.grid(False, axis="y")
    title(place, "Documents as mixtures of topics")
