"""The columns of a file and those that a model was fitted to, matched by name: for every verb that has both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from partwise.cli.common import say
from partwise.io.choice import told_lacking

if TYPE_CHECKING:
    from partwise.cli.pipeline import Samples

#: Names listed in a sentence; of others only the number is told.
MOST = 5


def say_repeated(samples: Samples) -> None:
    """Say at the fit which names of columns occur twice: by them, columns of another file cannot be matched later."""
    repeated = [name for name, count in Counter(samples.columns or ()).items() if count > 1]
    if repeated:
        several = "names occur" if len(repeated) > 1 else "name occurs"
        say(
            f"Note: {samples.source}: {len(repeated)} column {several} more than once: {listed(repeated)}. New data "
            "must then have all columns in this order; give them different names to have them matched by name."
        )


def without_blank(samples: Samples, model: Any = None) -> Samples:
    """The samples without the columns that have no data at all, which are named.

    Nothing can be learned of them: they would only be counted among the columns of a result, and asked of new data.
    They stay where they have no names, and where the model takes NaN for an error or knows of columns as nodes. Where
    it takes zeros for missing entries, columns of zeros have no data either.
    """
    import numpy as np
    from sklearn.utils import get_tags

    X = samples.X
    if samples.columns is None or not hasattr(X, "dtype") or X.dtype.kind != "f":
        return samples
    missing_values = getattr(model, "missing_values", np.nan)
    if model is not None:
        nodes = get_tags(model).input_tags.pairwise or getattr(model, "graph_on", "samples") != "samples"
        if nodes or missing_values is None:
            return samples
    if hasattr(X, "tocsr"):
        stored = X.tocoo()
        missing = np.isnan(stored.data)
        if missing_values == 0:
            held = stored.coords[1][~missing & (stored.data != 0)]
            blank = np.bincount(held, minlength=X.shape[1]) == 0
        else:
            blank = np.bincount(stored.coords[1][missing], minlength=X.shape[1]) == X.shape[0]
    else:
        blank = (np.isnan(X) | (X == 0) if missing_values == 0 else np.isnan(X)).all(axis=0)
    if blank.all() and not hasattr(X, "tocsr") and np.isnan(X).all():
        raise ValueError(
            f"{samples.source}: all {X.size} cells of its {counted(X.shape[1])} are missing: there is nothing to "
            "learn from. Check that the right data were loaded, and what --missing and --no say of its cells."
        )
    if not blank.any() or blank.all():
        return samples
    names = [name for name, empty in zip(samples.columns, blank) if empty]
    has, was = ("has", "was") if len(names) == 1 else ("have", "were")
    say(f"Note: {samples.source}: {listed(names)} {has} no data at all, and {was} left out.")
    left = np.flatnonzero(~blank)
    X = X[:, left] if hasattr(X, "tocsr") else X.take(left, axis=1)
    coding = samples.coding
    for place in np.flatnonzero(blank)[::-1]:
        coding = None if coding is None else coding.without(int(place))
    return replace(samples, X=X, columns=[samples.columns[j] for j in left], coding=coding)


def match_model(samples: Samples, model: Any) -> Samples:
    """The samples with the columns of a model's fit, as `match_columns`; the model then forgets their names.

    scikit-learn would otherwise warn that an array has no names, though they were compared here.
    """
    if not hasattr(samples.X, "shape"):
        # Texts have no columns.
        return samples
    names = getattr(model, "feature_names_in_", None)
    matched = match_columns(samples, names, getattr(model, "n_features_in_", None))
    first = model.steps[0][1] if hasattr(model, "steps") else model
    if names is not None:
        first.__dict__.pop("feature_names_in_", None)
    return matched


def match_columns(samples: Samples, names: Sequence[str] | None, width: int | None) -> Samples:
    """The samples with the columns of a fit, in its order; what had to be done for that is said.

    By name where the fit and the file both name their columns: they are put in the order of the fit, further columns
    are left out, and one that is not there is an error. By position where one of them has no names.

    Parameters
    ----------
    samples : Samples
        What was read from a file.
    names : sequence of str or None
        The names of the columns of the fit.
    width : int or None
        Their number, if it is known.
    """
    if samples.columns is None or names is None:
        count = samples.X.shape[1]
        if width is not None and count != width:
            raise ValueError(f"{samples.source} has {counted(count)}, but the fit had {width}.")
        if names is not None:
            say(f"Note: {samples.source} has no column names; its columns are taken in the order of the fit.")
        elif samples.columns is not None:
            say(
                f"Note: the data of the fit had no column names; the columns of {samples.source} are taken in the "
                "order of the file."
            )
        return samples
    held, wanted = samples.columns, [str(name) for name in names]
    if held == wanted:
        return samples
    lacking = [name for name in wanted if name not in set(held)]
    if lacking:
        turned = set(wanted) <= set(samples.rows)
        raise ValueError(
            told_lacking(samples.source, held, wanted)
            + (" Its rows have these names: add --transpose." if turned else "")
        )
    used = Counter(name for name in held if name in set(wanted))
    repeated = [name for name, count in (used + Counter(wanted)).items() if count > 2]
    if repeated:
        raise ValueError(
            f"{samples.source}: its columns differ from those of the fit, and cannot be matched by name, for "
            f"{listed(repeated)} occurs more than once. Give the columns in the order of the fit, or new names."
        )
    further = [name for name in held if name not in used]
    if further:
        say(
            f"Note: {samples.source}: {counted(len(further))} unknown to the model left out: {listed(further)}."
        )
    if [name for name in held if name in used] != wanted:
        say(f"Note: {samples.source}: its columns were put in the order of the fit, by name.")
    place = {name: j for j, name in enumerate(held)}
    chosen = [place[name] for name in wanted]
    # `take` leaves rows contiguous, which indexing does not: sums then have the bits of a file in the right order.
    X = samples.X[:, chosen] if hasattr(samples.X, "tocsr") else samples.X.take(chosen, axis=1)
    return replace(samples, X=X, columns=wanted)


def counted(count: int) -> str:
    """A number of columns in words."""
    return f"{count} column{'' if count == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Names for a sentence, in quotes, the first of them if there are many."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(f"'{name}'" for name in names[:MOST]) + more
