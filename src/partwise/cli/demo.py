"""partwise demo: one result of each kind, from data that need no download, and one page that shows them."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

from partwise.cli.common import emit, make_folder, say
from partwise.cli.options import Folder, Json


class Chapter(NamedTuple):
    """One kind of data: its folder, title and text, the command that was run, the picture that shows the result."""

    folder: str
    title: str
    text: str
    command: list[str]
    picture: str


CHAPTERS = (
    Chapter(
        "topics",
        "Topics of texts",
        "The docstrings of scipy's public functions, and the topics they mix. No label was seen.",
        ["topics", "data/docstrings.jsonl", "--column", "text", "--labels", "label", "-k", "12"],
        "topics.png",
    ),
    Chapter(
        "sound",
        "Notes of a chord",
        "Three plucked notes, together, in pairs and alone. One audio file for each part; they sum to the recording.",
        ["separate", "data/chord.wav", "-k", "3"],
        "separation.png",
    ),
    Chapter(
        "network",
        "Communities of a network",
        "Who met whom in Zachary's karate club, before it split in two.",
        ["communities", "data/karate.csv", "-k", "2"],
        "graph.png",
    ),
)


def demo(
    output: Folder = Path("partwise-demo"),
    as_json: Json = False,
) -> int:
    """Parts of handwritten digits, topics of texts, notes of a chord, communities of a network; a page shows all."""
    from partwise.core import whole_session
    from partwise.plot import require_matplotlib
    from partwise.reporting.requirements import require_report
    from partwise.reproduce.demo import run_demo

    require_matplotlib()
    require_report()
    folder = make_folder(output)
    with whole_session():
        digits = run_demo(folder / "digits")
        write_data(make_folder(folder / "data"))
    results: dict[str, Any] = {"digits": digits}
    for chapter in CHAPTERS:
        code, results[chapter.folder] = run_verb(chapter, folder)
        if code:
            return code
    write_page(folder, results)
    found = {name: digits[name] for name in ("explained", "fill_error", "fill_error_means")}
    summary = {**found, "results": results, "files": {"index.html": "the page to open first"}}
    lines = [
        f"digits   {digits['n_samples']} pictures ≈ {digits['n_components']} parts; "
        f"{100 * digits['explained']:.1f} % of the variance explained; 30 % of the pixels hidden and filled in: "
        f"error {digits['fill_error']:.3f} (column means: {digits['fill_error_means']:.3f})",
        *(f"{one.folder:8} {results[one.folder]['sentence']}" for one in CHAPTERS),
        f"Open {folder / 'index.html'} first.",
    ]
    emit(summary, as_json, lines)
    return 0


def write_data(folder: Path) -> None:
    """The raw data of the chapters, as people have them: texts, a recording, a list of edges."""
    import numpy as np
    from scipy.io import wavfile

    from partwise.datasets import load_docstrings, load_karate, make_chord
    from partwise.io.atomic import write_bytes_atomic

    texts = load_docstrings()
    lines = [
        json.dumps({"text": text, "label": str(texts.target_names[label])}, ensure_ascii=False)
        for text, label in zip(texts.data, texts.target)
    ]
    write_bytes_atomic(folder / "docstrings.jsonl", "\n".join([*lines, ""]).encode())
    chord = make_chord(random_state=0)
    stream = io.BytesIO()
    wavfile.write(stream, chord.sampling_rate, np.round(chord.data * 32767).astype(np.int16))
    write_bytes_atomic(folder / "chord.wav", stream.getvalue())
    edges = np.argwhere(np.triu(load_karate().adjacency.toarray()))
    rows = [f"{a + 1},{b + 1}" for a, b in edges]
    write_bytes_atomic(folder / "karate.csv", "\n".join(["member,met", *rows, ""]).encode())


def run_verb(chapter: Chapter, folder: Path) -> tuple[int, dict[str, Any]]:
    """Run a chapter's command in the demo's folder; its exit code and its summary."""
    from partwise.cli.app import app

    say(f"$ partwise {shlex.join([*chapter.command, '-o', chapter.folder])}")
    verb, data, *options = chapter.command
    arguments = [verb, str(folder / data), *options, "-o", str(folder / chapter.folder), "--json"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = app(args=arguments, standalone_mode=False)
    text = printed.getvalue()
    return int(code or 0), json.loads(text) if text.strip() else {}


def write_page(folder: Path, results: dict[str, Any]) -> None:
    """index.html: a picture of each kind, with the command that made it and its files."""
    from html import escape

    from partwise.io.atomic import write_bytes_atomic

    sections = [
        section(
            "Parts of pictures",
            "1,797 handwritten digits as sums of 16 parts; hidden pixels are filled in.",
            "partwise demo",
            "digits/parts.png",
            [f"digits/{name}" for name in results["digits"]["files"] if name != "parts.png"],
        )
    ]
    for one in CHAPTERS:
        files = [f"{one.folder}/{name}" for name in results[one.folder]["files"] if name != one.picture]
        sections.append(
            section(
                one.title,
                one.text,
                f"partwise {shlex.join([*one.command, '-o', one.folder])}",
                f"{one.folder}/{one.picture}",
                files,
            )
        )
    style = (
        ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;"
        "padding:0 1rem}img{max-width:100%;background:#fff;border-radius:6px}section{margin:3rem 0}"
        "code{font-size:.9em}audio{display:block;margin:.4rem 0;width:100%;max-width:24rem}"
        "h1,h2{line-height:1.2}ul{padding-left:1.2rem}"
    )
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>partwise demo</title>'
        f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{style}</style></head><body>'
        f"<h1>partwise learns the parts of data</h1><p>{escape('X ≈ W · H: every row is a sum of parts.')}</p>"
        f"{''.join(sections)}</body></html>\n"
    )
    write_bytes_atomic(folder / "index.html", page.encode())


def section(title: str, text: str, command: str, picture: str, files: list[str]) -> str:
    """One chapter as HTML; sounds can be played."""
    from html import escape

    def listed(name: str) -> str:
        link = f'<a href="{escape(name)}">{escape(name)}</a>'
        player = (
            f'<audio controls preload="none" src="{escape(name)}"></audio>' if name.endswith(".wav") else ""
        )
        return f"<li>{link}{player}</li>"

    return (
        f"<section><h2>{escape(title)}</h2><p>{escape(text)}</p><p><code>{escape(command)}</code></p>"
        f'<img src="{escape(picture)}" alt="{escape(title)}">'
        f"<ul>{''.join(map(listed, files))}</ul></section>"
    )
