"""partwise topics: the topics of a folder of texts, or of a column of a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import Json, Output, Quiet, Seed

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted

Option = typer.Option

#: The cosine of two topics above which they are one.
ALIKE = 0.98


def topics(
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder of .txt files; a .txt file, a document a line; .csv, .tsv, .jsonl, .json or .parquet; "
            "- for stdin.",
            show_default=False,
        ),
    ],
    components: Annotated[int, Option("-k", "--components", min=1, help="Number of topics.")] = 10,
    output: Output = Path("partwise-topics"),
    column: Annotated[str | None, Option(help="The column of a table that holds the texts.")] = None,
    id: Annotated[str | None, Option(help="The column that names the documents.")] = None,
    labels: Annotated[
        str | None,
        Option(
            help="Known groups, to compare: a column, 'folder' (the folder each text is in), or a file, one label "
            "a line. Topics are learned without them."
        ),
    ] = None,
    language: Annotated[
        str,
        Option(help="Language of the stop words, or several, as english,german; none leaves no words out."),
    ] = "english",
    stop_words: Annotated[
        Path | None, Option(metavar="FILE", help="Further stop words, separated by blanks or line ends.")
    ] = None,
    min_df: Annotated[
        str, Option(help="Leave out words in fewer documents: a number, or a share as 0.01.")
    ] = "2",
    max_df: Annotated[str, Option(help="Leave out words in more documents: a number, or a share.")] = "0.95",
    max_features: Annotated[int | None, Option(help="Keep the most frequent words, at most so many.")] = None,
    ngrams: Annotated[int, Option(min=1, help="Count runs of up to so many words.")] = 1,
    vectorizer: Annotated[str, Option(help="tfidf or count.")] = "tfidf",
    loss: Annotated[
        str | None, Option(help="frobenius, kl or a number β; by default frobenius for tfidf, kl for count.")
    ] = None,
    seed_words: Annotated[
        list[str] | None,
        Option(metavar="NAME=WORD,WORD", help="Words that guide a topic of this name; repeatable."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="NAME=VALUE", help="Any other parameter of TopicModel; repeatable."),
    ] = None,
    encoding: Annotated[str | None, Option(help="Of the texts, as latin-1; UTF-8 if not given.")] = None,
    strict: Annotated[
        bool, Option("--strict", help="Refuse files that are no text instead of skipping them.")
    ] = False,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Find the topics of texts. Writes topics.csv, documents.csv, W.csv, topics.png, model.partwise and summary.json.

    documents.csv has the share of each topic in each document.
    """
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import run
    from partwise.cli.texts import text_samples

    given = {
        "-k": components,
        "--vectorizer": vectorizer,
        "--loss": loss,
        "--stop-words": stop_list(language, stop_words),
        "--min-df": number_from("--min-df", min_df),
        "--max-df": number_from("--max-df", max_df),
        "--max-features": max_features,
        "--ngram-range": (1, ngrams),
        "--seed-words": seeds_from(seed_words or []),
        "--seed": seed,
    }
    model = build_model("topics", given, settings or (), quiet=quiet)
    model._validate_params()
    reading = {"id": id, "encoding": encoding}
    samples = text_samples(path, reading, column=column, labels=labels, strict=strict, quiet=quiet)
    known, samples = samples.y, without_labels(samples)
    return run(model, samples, output, as_json=as_json, after=partial(looked_at, labels=known))


def without_labels(samples: Any) -> Any:
    """The same samples; a topic model learns without labels."""
    from dataclasses import replace

    return replace(samples, y=None)


def looked_at(fitted: Fitted, labels: Any) -> Extras:
    """The words of topics, the shares of documents, the picture; and how topics and labels agree."""
    import numpy as np

    from partwise.cli.pipeline import Csv, Extras
    from partwise.plot import save_figure
    from partwise.plot import topics as draw

    model, samples = fitted.model, fitted.samples
    W, names = fitted.outputs
    shares = model.mixtures(W)
    words = [
        (name, rank, *word) for name, top in model.topics(25).items() for rank, word in enumerate(top, 1)
    ]
    cells = np.array([[str(rank), word, repr(weight)] for _, rank, word, weight in words])
    tables = [
        Csv("topics.csv", cells, [row[0] for row in words], ["rank", "word", "weight"], corner="topic"),
        Csv("documents.csv", shares, samples.rows, names, corner="document"),
        # Shares do not tell how long a document is, and trees weigh topics by all that they explain.
        Csv("W.csv", W, samples.rows, names, corner="document"),
    ]
    parts = [
        {
            "share": float(shares[:, t].mean()),
            "documents": [
                {"name": samples.rows[one["document"]], "weight": one["weight"]}
                for one in model.documents(t, 5)
            ],
        }
        for t in range(len(names))
    ]
    empty = [samples.rows[i] for i in np.flatnonzero(~shares.any(axis=1))]
    summary: dict[str, Any]
    summary, lines = compared(shares, labels) if labels is not None else ({}, [])
    lines = [*alike_line(names, model.components_), *lines]
    if empty:
        more = f" and {len(empty) - 5} more" if len(empty) > 5 else ""
        lines = [f"  without a topic: {', '.join(empty[:5])}{more}", *lines]
    summary = {"meta": {"usage": "W.csv"}, "without_topic": empty, **summary}

    def picture(path: Path) -> None:
        save_figure(draw(model, W, row_names=samples.rows), path)

    return Extras(summary, parts, tables, [("topics.png", picture)], lines=lines, labels=labels)


def alike_line(names: list[str], components: Any) -> list[str]:
    """A line on topics that are one topic several times: the same words in the same proportions, or nearly so."""
    import numpy as np

    lengths = np.linalg.norm(components, axis=1)
    H = components / np.where(lengths > 0, lengths, 1.0)[:, None]
    groups: list[list[int]] = []
    for topic in np.flatnonzero(lengths > 0):
        same = next((group for group in groups if H[group[0]] @ H[topic] > ALIKE), None)
        if same is None:
            groups.append([int(topic)])
        else:
            same.append(int(topic))
    several = [[names[t] for t in group] for group in groups if len(group) > 1]
    if not several:
        return []
    said = "; ".join(f"{', '.join(group[:-1])} and {group[-1]}" for group in several)
    return [
        f"  the same words in the same proportions: {said}. The texts have fewer topics: try -k {len(groups)} or less"
    ]


def compared(shares: Any, labels: Any) -> tuple[dict[str, Any], list[str]]:
    """How well the leading topic of each document tells its label, if it has one: normalised mutual information."""
    from sklearn.metrics import normalized_mutual_info_score

    from partwise.io.unknown import is_missing_word, is_nothing

    known = [i for i, label in enumerate(labels) if not (is_nothing(label) or is_missing_word(label))]
    if not known:
        return {"labels": 0, "nmi": None}, ["  no document has a label"]
    text = [str(labels[i]) for i in known]
    nmi = float(normalized_mutual_info_score(text, shares[known].argmax(axis=1)))
    classes = len(set(text))
    some = f" of {len(known)} documents that have one" if len(known) < len(labels) else ""
    said = f"  leading topics and the {classes} labels{some}: normalised mutual information {nmi:.3f}"
    return {"labels": classes, "nmi": nmi}, [said]


def stop_list(language: str, file: Path | None) -> Any:
    """The name of a language, or its words together with those of a file; None for no stop words."""
    from partwise.domains.letters import lowered
    from partwise.domains.stop_words import stop_words_of

    name = None if language.lower() == "none" else language
    if file is None:
        return [] if name is None else name
    try:
        further = lowered(file.read_text(encoding="utf-8-sig")).replace(",", " ").split()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--stop-words: {file} cannot be read as UTF-8 text: {error}.") from error
    return sorted({*further, *([] if name is None else stop_words_of(name))})


def number_from(option: str, text: str) -> float:
    """A number of documents, or a share of them."""
    try:
        value = float(text)
    except ValueError:
        raise ValueError(
            f"{option} must be a number of documents, or a share as 0.01; got '{text}'."
        ) from None
    whole = value == int(value) and "." not in text
    if value < 0 or (not whole and value > 1):
        raise ValueError(f"{option} must be a number of documents, or a share between 0 and 1; got '{text}'.")
    return int(value) if whole else value


def seeds_from(given: list[str]) -> dict[str, list[str]] | None:
    """NAME=WORD,WORD as a dict."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, mark, listed = text.partition("=")
        words = [word.strip() for word in listed.split(",") if word.strip()]
        if not mark or not name.strip() or not words:
            raise ValueError(f"--seed-words takes NAME=WORD,WORD, as in space=nasa,orbit; got '{text}'.")
        if name.strip() in found:
            raise ValueError(f"--seed-words names '{name.strip()}' twice; give its words together.")
        found[name.strip()] = words
    return found or None
