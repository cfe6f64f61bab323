"""The parts, drawn for their kind: bars of features, pictures, spectra, tiles, on or off, components of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.reporting import blocks
from partwise.reporting.colours import branch_colour
from partwise.reporting.files import sound_uri
from partwise.reporting.kept import top_samples
from partwise.reporting.limits import CARDS, FEATURES, PARTS, short
from partwise.reporting.source import Source, Stage, window
from partwise.reporting.spectra import has_spectra, spectrum
from partwise.reporting.thumbnails import picture_uri


def section(source: Source) -> dict[str, Any] | None:
    """The parts of the model, or of each step of a pipeline that has some.

    Parameters
    ----------
    source : Source
        The result.

    Returns
    -------
    dict or None
        None for results without a model, such as comparisons.
    """
    if source.other:
        return None
    word = source.word
    if not source.stages:
        said = "This result has no parts: its model has no components, or found none."
        return {"title": "The parts", "blocks": [blocks.text(said)]}
    found: list[dict[str, Any]] = []
    for stage in source.stages:
        if len(source.stages) > 1:
            found.append(blocks.heading(f"{stage.name}: {blocks.counted(len(stage.H), part_word(stage))}"))
        found += stage_blocks(source, stage)
    title = f"The {blocks.plural(word)}" if len(source.stages) == 1 else "The parts"
    return {"title": title, "blocks": found}


def part_word(stage: Stage) -> str:
    """What the parts of a step are called.

    Parameters
    ----------
    stage : Stage
        The step.

    Returns
    -------
    str
        Such as part, tile, community.
    """
    return str(stage.summary.get("part_word") or "part")


def stage_blocks(source: Source, stage: Stage) -> list[dict[str, Any]]:
    """A card for each part, and a table of the parts that have none.

    Parameters
    ----------
    source : Source
        The result.
    stage : Stage
        A step with parts.

    Returns
    -------
    list of dict
        Blocks.
    """
    used = source.used is not None and source.used.name == stage.name
    W = source.W if used else None
    shares = explained(W, stage.H) if W is not None else None
    top = top_samples(W) if W is not None and not has_spectra(stage) else []
    details = stage.summary.get("parts") or []
    shape = shape_of(source, stage)
    cards = []
    for i in range(min(len(stage.H), CARDS)):
        detail = details[i] if i < len(details) else {}
        card: dict[str, Any] = {
            "name": short(stage.parts[i], 60),
            "number": i,
            "colour": branch_colour(i),
            # Pictures of the samples that use a part most say more than their names.
            "sentence": short(
                "" if shape and detail.get("top_pictures") else detail.get("sentence", ""), 240
            ),
            "badges": badges(
                None if shares is None else float(shares[i]),
                None if detail.get("audio") else detail.get("source"),
            ),
            "on": on_off(detail, W, i),
            "picture": None if shape is None else picture_of(stage, i, shape),
            "spectrum": spectrum(stage, i),
            "bars": [] if shape is not None or has_spectra(stage) else bars(stage, i),
            "flat": False,
            "samples": [sample(source, j, i) for j in top[i]] if i < len(top) else [],
            "sound": sound_uri(source, detail),
        }
        card["flat"] = stage.H.dtype == bool
        cards.append(card)
    found: list[dict[str, Any]] = [
        {"block": "cards", "cards": cards, "pictures": shape is not None, "word": part_word(stage)}
    ]
    rest = range(CARDS, min(len(stage.H), PARTS))
    if len(rest):
        note = "" if len(stage.H) <= PARTS else f"The first {PARTS:,} of {len(stage.H):,}."
        found.append(
            blocks.table(
                f"parts-{stage.name or 'model'}",
                [part_word(stage), "leading features"],
                [[stage.parts[i], ", ".join(bar["name"] for bar in bars(stage, i))] for i in rest],
                caption=f"The {blocks.plural(part_word(stage))} from number {CARDS} on",
                note=note,
                wide=1,
            )
        )
    return found


def explained(W: np.ndarray, H: np.ndarray) -> np.ndarray | None:
    """The share of each part in what all parts explain.

    Parameters
    ----------
    W : array of shape (n_samples, n_parts)
        How much of each part is in each sample.
    H : array of shape (n_parts, n_features)
        The parts.

    Returns
    -------
    array of shape (n_parts,) or None
        Adds up to 1; None where nothing is explained.
    """
    mass = np.abs(W).sum(axis=0) * np.abs(np.asarray(H, dtype=float)).sum(axis=1)
    return mass / mass.sum() if np.isfinite(mass.sum()) and mass.sum() > 0 else None


def shape_of(source: Source, stage: Stage) -> tuple[int, ...] | None:
    """Height and width of the parts of a step, where they are pictures.

    Parameters
    ----------
    source : Source
        The result.
    stage : Stage
        The step.

    Returns
    -------
    tuple of int or None
        That of the samples, or of the window that a first step crops to.
    """
    if stage.pixels is None:
        return None
    for shape in (source.shape, window(source.model) if source.shape else None):
        if shape is not None and int(np.prod(shape)) == stage.pixels.shape[1]:
            return shape
    return None


def picture_of(stage: Stage, i: int, shape: tuple[int, ...]) -> str:
    """A part as a picture.

    Parameters
    ----------
    stage : Stage
        The step.
    i : int
        Number of the part.
    shape : tuple of int
        Height and width.

    Returns
    -------
    str
        A data URI.
    """
    assert stage.pixels is not None
    pixels = stage.pixels[i]
    # Means that steps before undid may fall a little below zero, where nothing is.
    return picture_uri(pixels if (stage.H < 0).any() else np.maximum(pixels, 0.0), shape)


def bars(stage: Stage, i: int) -> list[dict[str, Any]]:
    """The leading features of a part, with lengths against the largest.

    Parameters
    ----------
    stage : Stage
        The step.
    i : int
        Number of the part.

    Returns
    -------
    list of dict
        "name", "weight", "length" (0 to 1) and "negative" of each, largest first.
    """
    row = np.asarray(stage.H[i], dtype=float)
    size = np.abs(row)
    most = len(row) if stage.H.dtype == bool else FEATURES
    order = np.argsort(-size, kind="stable")[: min(most, 40)]
    top = float(size[order[0]]) if len(order) else 0.0
    return [
        {
            "name": short(stage.features[j], 80),
            "weight": f"{float(row[j]):.3g}",
            "length": round(float(size[j]) / top, 4),
            "negative": bool(row[j] < 0),
        }
        for j in order.tolist()
        if size[j] > 0.004 * top
    ]


def badges(share: float | None, source: Any = None) -> list[dict[str, str]]:
    """Short facts about a part.

    Parameters
    ----------
    share : float or None
        Of what all parts explain.
    source : str, optional
        The source that a component of a recording belongs to.

    Returns
    -------
    list of dict
        "value" and "label".
    """
    found = [] if share is None else [{"value": f"{100 * share:.1f} %", "label": "of the whole"}]
    return found + ([{"value": short(source, 40), "label": "is its source"}] if source else [])


def on_off(detail: dict[str, Any], W: np.ndarray | None, i: int) -> dict[str, Any] | None:
    """How often a part is on, for models whose parts are on or off.

    Parameters
    ----------
    detail : dict
        What the summary says of the part; "activation" is the probability of its being on.
    W : array or None
        Probabilities of being on, by sample.
    i : int
        Number of the part.

    Returns
    -------
    dict or None
        "share" and "text"; None for other models.
    """
    if "activation" not in detail:
        return None
    if W is None:
        share = float(detail["activation"])
        return {"share": share, "text": f"on with probability {share:.3g}"}
    share = float((W[:, i] > 0.5).mean())
    return {"share": share, "text": f"on in {100 * share:.1f} % of the samples"}


def sample(source: Source, j: int, i: int) -> dict[str, Any]:
    """A sample that uses a part much: its name, and the text or picture itself where it is kept.

    Parameters
    ----------
    source : Source
        The result.
    j : int
        Number of the sample.
    i : int
        Number of the part.

    Returns
    -------
    dict
        "name", "label", "weight", "text" and "picture".
    """
    assert source.W is not None
    return {
        "name": short(source.rows[j], 60),
        "label": source.kept.get("labels", {}).get(str(j), ""),
        "weight": blocks.value_text(float(f"{source.W[j, i]:.3g}")),
        "text": source.kept.get("texts", {}).get(str(j), ""),
        "picture": source.kept.get("pictures", {}).get(str(j)),
    }
