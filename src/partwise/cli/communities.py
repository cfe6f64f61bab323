"""partwise communities: groups of nodes in a network."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import Json, Output, Quiet, Seed

if TYPE_CHECKING:
    import numpy as np

    from partwise.cli.pipeline import Csv, Extras, Fitted
    from partwise.domains import Graph

Option = typer.Option

#: Nodes named for each community.
_CENTRAL = 5


def communities(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="An edge list (.csv, .tsv, .txt, .edges), .gml, .graphml, or a square matrix (.mtx, .npz, table).",
            show_default=False,
        ),
    ],
    components: Annotated[str, Option("-k", "--components", help="Number of communities, or auto.")] = "auto",
    output: Output = Path("partwise-communities"),
    directed: Annotated[
        bool, Option("--directed", help="Keep the directions of edges: nodes are alike by whom they link to.")
    ] = False,
    weights: Annotated[
        str | None,
        Option(
            metavar="COLUMN", help="Column or attribute of weights; none for edges that all weigh the same."
        ),
    ] = None,
    columns: Annotated[
        str | None, Option(metavar="A,B", help="The columns of an edge list that name the two nodes.")
    ] = None,
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether line 1 of an edge list names its columns.")
    ] = None,
    labels: Annotated[
        str | None,
        Option(
            help="Known groups, to compare: what the file says of its nodes, or a file of nodes and groups."
        ),
    ] = None,
    normalize: Annotated[
        str | None, Option(help="regularized, degree or none: what degrees are made up for.")
    ] = None,
    key: Annotated[str | None, Option(help="Which array of an .npz.")] = None,
    encoding: Annotated[str | None, Option(metavar="NAME", help="Of an edge list, as latin-1.")] = None,
    decimal: Annotated[str, Option(metavar="MARK", help="Before the decimals of weights, . or ,")] = ".",
    max_iter: Annotated[int | None, Option(help="Most sweeps.")] = None,
    max_time: Annotated[float | None, Option(help="Most seconds.")] = None,
    n_init: Annotated[int | None, Option(help="Number of starts; the best is kept.")] = None,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Find communities in a network. Writes nodes.csv, communities.csv, graph.png, model.partwise and summary.json.

    nodes.csv has the community of each node and its shares in all of them.
    """
    from partwise.cli.common import say
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import Samples, run
    from partwise.domains import node_labels, read_graph

    given = {
        "-k": components,
        "--directed": directed,
        "--max-iter": max_iter,
        "--max-time": max_time,
        "--n-init": n_init,
        "--seed": seed,
    }
    model = build_model("symmetric", given, quiet=quiet)
    if normalize is not None:
        model.set_params(normalize=None if normalize == "none" else normalize)
    graph = read_graph(
        data,
        directed=directed,
        weights=weights,
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        header=header,
        key=key,
        encoding=encoding,
        decimal=decimal,
    )
    for note in (*graph.notes, *connected(graph)):
        say(f"Note: {note}")
    known = None if labels is None else node_labels(graph, labels, encoding)
    samples = Samples(graph.adjacency, graph.names, graph.names, graph.source)
    return run(model, samples, output, as_json=as_json, after=partial(described, graph=graph, known=known))


def connected(graph: Graph) -> list[str]:
    """A sentence on a network in several pieces."""
    import numpy as np
    from scipy.sparse.csgraph import connected_components

    count, piece = connected_components(graph.adjacency, directed=False)
    if count == 1:
        return []
    sizes = np.bincount(piece)
    alone = int((sizes == 1).sum())
    largest = f"the largest with {sizes.max():,} of {len(piece):,} nodes"
    said = f"{graph.source} is not connected: {count:,} pieces, {largest}"
    return [f"{said}, {alone:,} node{'s' * (alone > 1)} without edges." if alone else f"{said}."]


def described(fitted: Fitted, graph: Graph, known: np.ndarray | None) -> Extras:
    """Tables of nodes and of communities, the picture, and how well the communities fit the edges."""
    import scipy.sparse as sp

    from partwise.cli.pipeline import Extras
    from partwise.graphs import connectivity, modularity
    from partwise.plot import communities as draw
    from partwise.plot import save_figure

    model, A = fitted.model, graph.adjacency
    whole = sp.csr_matrix((A + A.T) * 0.5) if graph.directed else A
    figures: dict[str, Any] = {
        "meta": {"shares": "nodes.csv"},
        "n_edges": graph.n_edges,
        "weighted": graph.weighted,
        "directed": graph.directed,
        "modularity": modularity(whole, model.labels_),
        "connectivity": connectivity((whole > 0).astype(float), model.labels_),
    }
    lines = [f"modularity {figures['modularity']:.3f}, connectivity {figures['connectivity']:.3f}"]
    if known is not None:
        figures |= compared(model.labels_, known)
        lines.append(
            f"NMI with the given groups {figures['nmi']:.3f}, adjusted Rand index {figures['adjusted_rand']:.3f} "
            f"({figures['n_labelled']} nodes in {figures['n_groups']} groups)"
        )

    def picture(path: Path) -> None:
        drawn = draw(whole, model.membership_, labels=model.labels_, names=graph.names)
        save_figure(drawn, path)

    table, central = community_table(whole, model.labels_, graph.names)
    parts = [{"central_nodes": names, **own_nodes(model, t, graph.names)} for t, names in enumerate(central)]
    return Extras(
        summary=figures,
        parts=parts,
        tables=[node_table(model, graph.names), table],
        pictures=[("graph.png", picture)],
        lines=lines,
        usage=model.membership_,
        labels=known,
    )


def own_nodes(model: Any, community: int, names: list[str]) -> dict[str, Any]:
    """How many nodes are in a community, and those of most weight in it: nodes of other communities have some too."""
    import numpy as np

    from partwise.models.summary import TOP, leading

    inside = model.labels_ == community
    weights = np.where(inside, model.components_[community], 0.0)
    count = int(inside.sum())
    return {
        "sentence": f"{count} node{'s' * (count != 1)}",
        "top_features": [{"name": names[i], "weight": float(weights[i])} for i in leading(weights, TOP)],
    }


def compared(found: np.ndarray, known: np.ndarray) -> dict[str, Any]:
    """How well communities agree with known groups, over the nodes that are in one."""
    import numpy as np
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    there = np.array([label is not None for label in known])
    groups = known[there].astype(str)
    return {
        "nmi": float(normalized_mutual_info_score(groups, found[there])),
        "adjusted_rand": float(adjusted_rand_score(groups, found[there])),
        "n_labelled": int(there.sum()),
        "n_groups": len(set(groups.tolist())),
    }


def node_table(model: Any, names: list[str]) -> Csv:
    """The community of each node, −1 for none, and its shares."""
    import numpy as np

    from partwise.cli.pipeline import Csv

    k = model.n_components_
    cells = np.concatenate([model.labels_[:, None].astype(str), model.membership_.astype(str)], axis=1)
    return Csv("nodes.csv", cells, names, ["community", *(f"share{t}" for t in range(k))], corner="node")


def community_table(A: Any, labels: np.ndarray, names: list[str]) -> tuple[Csv, list[list[str]]]:
    """Size, edges and conductance of each community, and its nodes of most weight inside."""
    import numpy as np

    from partwise.cli.pipeline import Csv
    from partwise.graphs import conductance

    measures = conductance(A, labels)
    count = len(measures["nodes"])
    edges = A.tocoo()
    same = labels[edges.row] == labels[edges.col]
    inner = np.bincount(edges.row[same], edges.data[same], len(labels))
    order = np.lexsort((-inner, labels))
    starts = np.searchsorted(labels[order], np.arange(count + 1))
    central = [[names[i] for i in order[a : min(a + _CENTRAL, b)]] for a, b in pairwise(starts)]
    cells = np.array(
        [
            [str(value) for value in row] + ["; ".join(best)]
            for row, best in zip(zip(*(values.tolist() for values in measures.values())), central)
        ]
    ).reshape(count, len(measures) + 1)
    rows = [str(t) for t in range(count)]
    return Csv("communities.csv", cells, rows, [*measures, "central_nodes"], corner="community"), central
