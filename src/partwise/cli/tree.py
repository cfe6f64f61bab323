"""partwise tree: the parts of a model as a tree, in the formats of other programs, and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.common import emit, make_folder, say
from partwise.cli.options import Folder, Json, Quiet

#: What is written beside the pictures.
EXPORTS = ("tree.json", "tree.csv", "tree.graphml", "tree.nwk")
#: Ways to build a tree that need no data.
METHODS = ("linkage", "threshold")


def tree(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|MODEL",
            help="A folder that partwise fit -o wrote, or a model file.",
            show_default=False,
        ),
    ],
    output: Folder = Path("partwise-tree"),
    method: Annotated[str, typer.Option(help="linkage or threshold.")] = "linkage",
    similarity: Annotated[
        str | None,
        typer.Option(help="documents or words; documents if not given, and words for a model file."),
    ] = None,
    words: Annotated[int, typer.Option(min=1, help="Words kept for each node.")] = 10,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build the tree of a model's parts. Writes it as JSON (d3's flare), CSV, GraphML, Newick, and as a sunburst."""
    from partwise import TopicTree

    del (
        quiet
    )  # Taken as by every verb that writes a folder; no step of this one takes so long that it has a bar.
    model, W, features = read_source(place)
    if method == "divisive":
        raise ValueError(
            "--method divisive factors the data again; build that tree in Python with TopicTree."
        )
    if method not in METHODS:
        raise ValueError(f"--method must be {' or '.join(METHODS)}; got '{method}'.")
    by = similarity or ("words" if W is None else "documents")
    if by == "documents" and W is None:
        raise ValueError(
            f"{place} does not say which samples use which part; use --similarity words, or a folder that has W.csv."
        )
    if W is None:
        say(
            f"Note: {place} does not say how much each part explains: all weigh alike. A folder of results does."
        )
    built = TopicTree(method, by, n_words=words).fit(model, W=W, feature_names=features)
    folder = make_folder(output)
    files = {name: built.export(folder / name) for name in EXPORTS} | pictures(built, folder)
    depth = max(node.depth for node in built.nodes_)
    summary = {
        "n_topics": built.n_topics_,
        "n_nodes": len(built.nodes_),
        "depth": depth,
        "method": method,
        "similarity": by,
        "files": {name: str(path) for name, path in files.items()},
    }
    first = [built.nodes_[child] for child in built.nodes_[0].children]
    lines = [
        f"{counted(built.n_topics_, 'part')} in a tree of {counted(len(built.nodes_), 'node')}, "
        f"{counted(depth, 'level')} deep",
        *(f"  {100 * node.weight:5.1f} %  {node.name}" for node in first[:20]),
        f"Results in {folder}/: {', '.join(files)}",
    ]
    emit(summary, as_json, lines)


def counted(number: int, what: str) -> str:
    """A number of things, in words."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def read_source(place: Path) -> tuple[Any, Any, Any]:
    """A model with parts, W where it is known, and names of features."""
    from partwise import load
    from partwise.reporting.source import from_folder

    if place.is_dir():
        source = from_folder(place)
        stage = source.used or source.last
        if stage is None:
            raise ValueError(f"{place} holds no model with parts, so there is no tree.")
        return stage.model, source.W if source.used else None, stage.features
    model = load(place)
    last = next((step for _, step in reversed(getattr(model, "steps", [("", model)]))), model)
    return last, None, None


def pictures(built: Any, folder: Path) -> dict[str, Path]:
    """The sunburst as a page and as a picture, as far as what they need is installed."""
    from partwise.io.atomic import write_bytes_atomic

    found: dict[str, Path] = {}
    try:
        from partwise.plot import save_figure
        from partwise.plot import sunburst as draw
        from partwise.reporting import sunburst

        page = sunburst(built).to_html(include_plotlyjs=True, full_html=True)
        write_bytes_atomic(folder / "sunburst.html", page.encode())
        found["sunburst.html"] = folder / "sunburst.html"
        save_figure(draw(built), folder / "sunburst.png")
        found["sunburst.png"] = folder / "sunburst.png"
    except ImportError as error:
        say(f"Note: no picture of the tree. {error}")
    return found
