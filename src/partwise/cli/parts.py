"""partwise parts: what pictures are made of."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import Json, Output, Quiet, Seed

if TYPE_CHECKING:
    import numpy as np

    from partwise.cli.pipeline import Extras, Fitted
    from partwise.domains import Pictures

Option = typer.Option

#: Pictures in reconstructions.png and in worst.png, and numbers that are rebuilt at a time.
_SHOWN, _BLOCK = 12, 1 << 24


def parts(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A folder of pictures (.png, .jpg, .tiff, .bmp, .gif, .webp …), or a stack (.npz, .npy, .tiff).",
            show_default=False,
        ),
    ],
    components: Annotated[str | None, Option("-k", "--components", help="Number of parts.")] = None,
    output: Output = Path("partwise-parts"),
    size: Annotated[
        str | None, Option(metavar="HEIGHTxWIDTH", help="Resize pictures, as 64x64 (or 64, for a square).")
    ] = None,
    colour: Annotated[
        bool | None, Option("--colour/--grey", help="Keep colours or not; if not given, where there are any.")
    ] = None,
    recursive: Annotated[
        bool, Option("--recursive/--flat", help="Look into the folders of PATH too.")
    ] = True,
    by_folder: Annotated[
        bool, Option("--by-folder", help="The folders in PATH are labels of the pictures in them.")
    ] = False,
    strict: Annotated[bool, Option("--strict", help="Refuse pictures that cannot be read.")] = False,
    save_parts: Annotated[
        bool, Option("--save-parts", help="Also write each part as a file, parts/0.png …")
    ] = False,
    kind: Annotated[
        str, Option("--model", help="nmf, semi, binary, deep, or another registered model.")
    ] = "nmf",
    layers: Annotated[
        str | None, Option(metavar="SIZES", help="For deep: parts of each layer, as 400,100.")
    ] = None,
    loss: Annotated[str | None, Option(help="frobenius, kl, is, or a number β.")] = None,
    alpha_w: Annotated[float | None, Option(help="Penalty on W.")] = None,
    alpha_h: Annotated[float | None, Option(help="Penalty on H; the same as W's if not given.")] = None,
    l1_ratio: Annotated[float | None, Option(help="Linear share of the penalty, 0 to 1.")] = None,
    tol: Annotated[
        float | None, Option(help="Stop when the objective changes by less than this share.")
    ] = None,
    max_iter: Annotated[int | None, Option(help="Most iterations.")] = None,
    max_time: Annotated[float | None, Option(help="Most seconds.")] = None,
    settings: Annotated[
        list[str] | None, Option("--set", metavar="NAME=VALUE", help="Any other parameter; repeatable.")
    ] = None,
    key: Annotated[str | None, Option(help="Which array of an .npz.")] = None,
    seed: Seed = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Learn the parts that pictures are made of, and write them, the reconstructions and the model into a folder.

    Files: parts.png, reconstructions.png, worst.png (the pictures that the parts explain least), W.csv, errors.csv,
    model.partwise, summary.json. `partwise transform model.partwise FOLDER` takes new pictures.
    """
    from partwise.cli.common import say
    from partwise.cli.model_options import build_model
    from partwise.cli.pipeline import Samples, run

    given = {
        "-k": components,
        "--layers": layers,
        "--loss": loss,
        "--alpha-w": alpha_w,
        "--alpha-h": alpha_h,
        "--l1-ratio": l1_ratio,
        "--tol": tol,
        "--max-iter": max_iter,
        "--max-time": max_time,
        "--seed": seed,
    }
    model = build_model(kind, given, settings or (), quiet=quiet)
    check_fits(model, kind, by_folder)
    pictures = read_with_bar(
        data,
        quiet,
        size=None if size is None else size_from(size),
        colour=colour,
        recursive=recursive,
        labels=by_folder,
        strict=strict,
        key=key,
    )
    if len(pictures.names) < 2:
        raise ValueError(
            f"{data} has one picture that can be read. Parts are what many have in common: give more."
        )
    samples = Samples.of_pictures(pictures, pictures.labels if needs_labels(model) else None)
    if as_many_parts(model, len(pictures.names)):
        say(
            f"Note: {len(pictures.names)} pictures, as many parts or more: each picture can be a part of its own, so "
            "the parts say little. Take a smaller -k, or give more pictures."
        )
    after = partial(shown, pictures=pictures, singly=save_parts)
    return run(model, samples, output, as_json=as_json, after=after)


def as_many_parts(model: Any, count: int) -> bool:
    """Whether a model has at least as many parts as there are pictures."""
    wanted = model.get_params(deep=False).get("n_components")
    return isinstance(wanted, int) and wanted >= count


def read_with_bar(data: Path, quiet: bool, **options: Any) -> Pictures:
    """The pictures, with a bar on stderr where there are many."""
    from partwise.core import ProgressBar
    from partwise.domains import read_pictures

    bars: list[ProgressBar] = []

    def progress(done: int, of: int, skipped: int) -> None:
        if not bars:
            bars.append(ProgressBar(of, "pictures", "skipped"))
            bars[0].start()
        bars[0].update(done, skipped)

    try:
        return read_pictures(data, progress=None if quiet else progress, **options)
    finally:
        for bar in bars:
            bar.close()


def size_from(text: str) -> tuple[int, int]:
    """Height and width from a text such as 64x48, or 64."""
    sides = text.lower().replace("×", "x").split("x")
    if not 1 <= len(sides) <= 2 or not all(side.strip().isdigit() and int(side) > 0 for side in sides):
        raise ValueError(
            f"--size takes height and width in pixels, as 64x48, or 64 for a square; got '{text}'."
        )
    return int(sides[0]), int(sides[-1])


def needs_labels(model: Any) -> bool:
    """Whether the model learns from labels."""
    import inspect

    parameters = inspect.signature(model.fit).parameters
    return "y" in parameters and parameters["y"].default is inspect.Parameter.empty


def check_fits(model: Any, kind: str, by_folder: bool) -> None:
    """Refuse models that have no parts over pixels to rebuild pictures from, before anything is read."""
    from sklearn.utils import get_tags

    rebuilds = hasattr(model, "inverse_transform") and not get_tags(model).input_tags.pairwise
    if not rebuilds or getattr(model, "yes_no", False) is True:
        raise ValueError(f"--model {kind} does not learn parts of pictures; take nmf, semi, binary or deep.")
    if needs_labels(model) and not by_folder:
        raise ValueError(
            f"--model {kind} learns from labels: put pictures in folders by label, and add --by-folder."
        )


def shown(fitted: Fitted, pictures: Pictures, singly: bool) -> Extras:
    """Parts, reconstructions and the pictures that are explained least; W, and the error of each picture."""
    import numpy as np

    from partwise.cli.pipeline import Csv, Extras
    from partwise.models.summary import parts_of
    from partwise.plot import parts as draw_parts
    from partwise.plot import reconstructions, save_figure

    model, X, shape = fitted.model, pictures.data, pictures.shape
    W, names = fitted.outputs
    W = np.asarray(W)
    errors = relative_errors(model, X, W)
    some = np.unique(np.linspace(0, len(X) - 1, min(_SHOWN, len(X))).round().astype(int))
    worst = np.argsort(-errors, kind="stable")[:_SHOWN]

    def gallery(path: Path) -> None:
        save_figure(draw_parts(model, shape=shape), path)

    def pairs(path: Path, rows: np.ndarray, title: str) -> None:
        drawn = reconstructions(
            X[rows],
            model.inverse_transform(W[rows]),
            shape,
            names=[pictures.names[i] for i in rows],
            notes=[f"error {100 * errors[i]:.1f} %" for i in rows],
            title=title,
        )
        save_figure(drawn, path)

    weights = parts_of(model)
    drawings: list[Any] = [
        ("parts.png", gallery),
        (
            "reconstructions.png",
            partial(pairs, rows=some, title="pictures (left) and reconstructions (right)"),
        ),
        ("worst.png", partial(pairs, rows=worst, title="explained least: pictures and reconstructions")),
    ]
    if singly and weights is not None:
        drawings += [
            (f"parts/{t}.png", partial(single_part, row=row, shape=shape)) for t, row in enumerate(weights)
        ]
    columns, cells = ["error"], errors[:, None].astype(str)
    if pictures.labels is not None:
        columns, cells = ["label", "error"], np.column_stack([pictures.labels, cells])
    said = (
        f"relative error of the pictures: median {100 * np.median(errors):.1f} %, "
        f"worst {100 * errors.max():.1f} % ({pictures.names[int(errors.argmax())]})"
    )
    return Extras(
        summary={
            "picture_shape": list(shape),
            "skipped": [{"name": name, "why": why} for name, why in pictures.skipped],
            "relative_error": {"median": float(np.median(errors)), "worst": float(errors.max())},
        },
        parts=leading_pictures(W, pictures.names),
        tables=[
            Csv("W.csv", W, pictures.names, names, corner="picture"),
            Csv("errors.csv", cells, pictures.names, columns, corner="picture"),
        ],
        pictures=drawings,
        lines=[said],
        labels=pictures.labels,
    )


def single_part(path: Path, row: np.ndarray, shape: tuple[int, ...]) -> None:
    """A part as a file of its own, in the colours that it has in parts.png."""
    from PIL import Image

    from partwise.plot.images import part_pixels

    Image.fromarray(part_pixels(row, shape)).save(path)


def relative_errors(model: Any, X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """‖x − y‖ / ‖x‖ of every picture x and its reconstruction y, some pictures at a time."""
    import numpy as np

    errors = np.empty(len(X))
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        x = X[rows]
        size = np.linalg.norm(x, axis=1)
        wrong = np.linalg.norm(x - model.inverse_transform(W[rows]), axis=1)
        errors[rows] = np.divide(wrong, size, out=(wrong > 0).astype(float), where=size > 0)
    return errors


def leading_pictures(W: np.ndarray, names: list[str]) -> list[dict[str, Any]]:
    """For each part the pictures that use it most, in place of its pixels of most weight, which say nothing."""
    from partwise.models.summary import leading

    found = []
    for column in W.T:
        best = [names[i] for i in leading(column, 3)]
        said = f"most in {', '.join(best)}" if best else "in no picture"
        found.append({"top_features": [], "top_pictures": best, "sentence": said})
    return found
