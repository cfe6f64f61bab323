"""partwise fit: factor a data file, write the factors, the model and a summary."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import DataFile, Json, Labels, Output, Quiet, Seed, reads_data

if TYPE_CHECKING:
    from partwise.cli.pipeline import Extras, Fitted

Option = typer.Option

#: The copy of an .h5ad file with the factors in it.
FACTORED = "factored.h5ad"


@reads_data
def fit(
    data: DataFile,
    components: Annotated[
        str | None,
        Option("-k", "--components", help="Number of parts, or auto where the model can choose it."),
    ] = None,
    output: Output = Path("partwise-fit"),
    kind: Annotated[
        str,
        Option(
            "--model",
            help="nmf, graph, semisupervised, manifold, symmetric, semi, deep, binary, boolean, bayesian-boolean, "
            "mixture, or another registered model.",
        ),
    ] = "nmf",
    labels: Labels = None,
    layers: Annotated[
        str | None, Option(metavar="SIZES", help="For deep: number of parts of each layer, as 400,100.")
    ] = None,
    loss: Annotated[
        str | None, Option(help="frobenius, kl, is, negative-binomial, bernoulli, or a number β.")
    ] = None,
    missing: Annotated[
        list[str] | None,
        Option(
            metavar="WORD",
            help="What is unobserved: a cell, as 99 (repeatable); 'nan', 'zero' or 'none' (NaN is an error).",
        ),
    ] = None,
    solver: Annotated[str | None, Option(help="auto, hals, filled, scd, emu, randomized, mu or cd.")] = None,
    init: Annotated[
        str | None, Option(help="random, nndsvd, nndsvda or nndsvdar; for binary: nmf, random or data.")
    ] = None,
    graph: Annotated[
        str | None,
        Option(help="For graph, manifold and deep: knn, similarity, or a file with a square table."),
    ] = None,
    inference: Annotated[str | None, Option(help="For binary: auto, exact or truncated.")] = None,
    noise: Annotated[str | None, Option(help="For binary: poisson (counts) or gaussian.")] = None,
    alpha_w: Annotated[float | None, Option(help="Penalty on W.")] = None,
    alpha_h: Annotated[float | None, Option(help="Penalty on H; the same as W's if not given.")] = None,
    l1_ratio: Annotated[float | None, Option(help="Linear share of the penalty, 0 to 1.")] = None,
    gamma_w: Annotated[
        str | None, Option(metavar="SHAPE,RATE", help="Gamma prior on the entries of W.")
    ] = None,
    gamma_h: Annotated[
        str | None, Option(metavar="SHAPE,RATE", help="Gamma prior on the entries of H.")
    ] = None,
    ard: Annotated[
        str | None, Option(metavar="NORM", help="l1 or l2: of -k parts, keep those that the data need.")
    ] = None,
    tol: Annotated[
        float | None, Option(help="Stop when the objective changes by less than this share.")
    ] = None,
    max_iter: Annotated[int | None, Option(help="Most iterations.")] = None,
    max_time: Annotated[float | None, Option(help="Most seconds.")] = None,
    n_init: Annotated[int | None, Option(help="Number of starts; the best is kept.")] = None,
    shape: Annotated[str | None, Option(help="Rows are pictures of this size, as 28x28: draws them.")] = None,
    settings: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any other parameter; repeatable.")
    ] = None,
    checkpoint: Annotated[
        Path | None, Option(help="Folder where the run is kept, to go on from after an interruption.")
    ] = None,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
    *,
    reading: dict[str, Any],
) -> int:
    """Factor DATA ≈ W H. Writes report.html, W.csv, H.csv, pictures, model.partwise and summary.json into a folder.

    With --model binary W.csv holds how probably each part is on. Of an .h5ad, factored.h5ad is a copy with W in obsm,
    H in varm (with --transpose the other way round) and the settings in uns.

    Ctrl-C stops early: the best factors so far are written.
    """
    from partwise.cli.classify import picture_size
    from partwise.cli.columns import without_blank
    from partwise.cli.graph_nodes import place_graph, with_nodes_in_order
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import run

    size = picture_size(shape, False)
    given = {
        "-k": components,
        "--layers": layers,
        "--loss": loss,
        "--missing": missing_entries(missing or [], reading),
        "--solver": solver,
        "--init": init,
        "--graph": graph,
        "--inference": inference,
        "--noise": noise,
        "--alpha-w": alpha_w,
        "--alpha-h": alpha_h,
        "--l1-ratio": l1_ratio,
        "--gamma-w": gamma_w,
        "--gamma-h": gamma_h,
        "--ard": ard,
        "--tol": tol,
        "--max-iter": max_iter,
        "--max-time": max_time,
        "--n-init": n_init,
        "--seed": seed,
    }
    model = build_model(kind, given, settings or (), quiet=quiet)
    check_fit_takes(model, kind, labels, checkpoint)
    samples = samples_from(data, model, labels, reading)
    check_shape(size, samples.X)
    if size is None:
        samples = without_blank(samples, model)
    samples = with_nodes_in_order(samples, model)
    place_graph(model, samples)
    return run(
        model,
        samples,
        output,
        as_json=as_json,
        checkpoint=checkpoint,
        after=partial(drawn, data=data, shape=size),
    )


def drawn(fitted: Fitted, data: Path, shape: tuple[int, int] | None = None) -> Extras:
    """Pictures of the parts, and of the rows that use them; a table of labels where the model gives rows one.

    For AnnData also a copy of the file with the factors in it.
    """
    from partwise.cli.pipeline import Csv, Extras, result_tables
    from partwise.models.summary import parts_of
    from partwise.plot import parts, save_figure, usage

    made, names = fitted.outputs

    def draw_parts(path: Path) -> None:
        save_figure(parts(fitted.model, shape=shape), path)

    def draw_usage(path: Path) -> None:
        save_figure(usage(made, row_names=fitted.samples.rows, part_names=names), path)

    found = parts_of(fitted.model)
    pictures = [("parts.png", draw_parts), ("usage.png", draw_usage)]
    tables = None
    if hasattr(fitted.model, "labels_"):
        labels = Csv("labels.csv", fitted.model.labels_[:, None], fitted.samples.rows, ["label"])
        tables = [*result_tables(fitted), labels]
    files = []
    if data.suffix.lower() == ".h5ad" and hasattr(fitted.model, "transform") and found is not None:
        turned = bool(fitted.samples.coding and fitted.samples.coding.options.get("transpose"))
        files.append((FACTORED, partial(write_factored, fitted.model, data, made, turned)))
    meta: dict[str, Any] = {} if shape is None else {"meta": {"image_shape": list(shape)}}
    pictures = pictures if found is not None and len(found) else []
    return Extras(meta, tables=tables, pictures=pictures, files=files)


def write_factored(model: Any, data: Path, W: Any, transposed: bool, path: Path) -> None:
    """The copy of an .h5ad file with the factors in it; says what of the file they replace there."""
    from partwise.cli.common import say
    from partwise.domains import store_file

    replaced = store_file(model, data, path, W, transposed=transposed)
    if replaced:
        say(f"Note: {data} already had {', '.join(replaced)}; in {path.name} they are those of this fit.")


def check_shape(shape: tuple[int, int] | None, X: Any) -> None:
    """Refuse a size of pictures that the rows do not have."""
    columns = getattr(X, "shape", (0, 0))[-1]
    if shape is not None and shape[0] * shape[1] != columns:
        raise ValueError(
            f"--shape {shape[0]}x{shape[1]} has {shape[0] * shape[1]} pixels, but rows have {columns} columns."
        )


def check_fit_takes(model: Any, kind: str, labels: str | None, checkpoint: Path | None) -> None:
    """Labels where the model needs them and nowhere else; checkpoints where it keeps them."""
    parameters = inspect.signature(model.fit).parameters
    needed = "y" in parameters and parameters["y"].default is inspect.Parameter.empty
    # Models that may do with or without labels say where these count.
    chosen = hasattr(model, "label_layer")
    if labels is None and (needed or (chosen and model.label_layer is not None)):
        raise ValueError(f"--model {kind} learns from labels: name them with --labels.")
    if labels is not None and chosen and model.label_layer is None:
        raise ValueError(
            f"--model {kind} learns from --labels at layers that you name: add --set label_layer=-1 for the last."
        )
    if labels is not None and not needed and not chosen:
        raise ValueError(f"--labels does not apply to --model {kind}, which learns without labels.")
    if checkpoint is not None and "checkpoint" not in parameters:
        raise ValueError(f"--checkpoint does not apply to --model {kind}, whose fit keeps no checkpoints.")


def missing_entries(words: list[str], reading: dict[str, Any]) -> str | None:
    """Words for missing cells are for the reader; nan, zero and none say what the model does, and are returned."""
    from partwise.cli.model_options import MISSING

    found = [word for word in words if word in MISSING]
    if len(found) > 1:
        raise ValueError(f"--missing {found[0]} and --missing {found[1]} contradict each other.")
    reading["missing"] = [word for word in words if word not in MISSING]
    return found[0] if found else None


def samples_from(data: Path, model: Any, labels: str | None, reading: dict[str, Any]) -> Any:
    """The rows of a file, with their labels if there are any."""
    from partwise.cli.pipeline import Samples

    if labels is None:
        return Samples.read(data, model, reading)
    from sklearn.utils import get_tags

    from partwise.cli.classify import labelled

    unknown = bool(getattr(model, "unknown_labels", False))
    dense = not get_tags(model).input_tags.sparse
    yes_no = getattr(model, "yes_no", "answers")
    return labelled(data, labels, reading, dense=dense, unknown=unknown, yes_no=yes_no)
