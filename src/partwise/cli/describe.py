"""A summary as lines of text. Everything shown is in the summary: no class is known here."""

from __future__ import annotations

from typing import Any

#: Parts listed; the others are in summary.json.
MOST = 20

#: Columns named.
MOST_COLUMNS = 10


def lines_of_fit(summary: dict[str, Any], extra: list[str]) -> list[str]:
    """What a fit found: the data, how it went, the parts."""
    size = f"{summary['data']}: {summary.get('size') or shape_of(summary)}"
    if "steps" in summary:
        lines = [f"{size}: {summary['sentence']} ({summary['seconds']:.1f} s)"]
        lines += [f"  {step['name']}: {step['sentence']}" for step in summary["steps"] if step["sentence"]]
        return [*lines, *extra]
    lines = [
        size if summary["n_components"] is None else f"{size}, {counted_parts(summary)}",
        f"{summary['sentence'] or 'done'} ({summary['seconds']:.1f} s)",
        *lines_of_parts(summary)[:MOST],
    ]
    if len(summary["parts"]) > MOST:
        lines.append(f"  … and {len(summary['parts']) - MOST} more in summary.json")
    return [*lines, *extra]


def shape_of(summary: dict[str, Any]) -> str:
    """Rows and columns."""
    return f"{summary['n_samples']} × {summary['n_features']}"


def lines_of_model(summary: dict[str, Any], name: str, indent: str = "") -> list[str]:
    """What a model is: its class, parameters, how its fit went, its parts; for a pipeline, of each step."""
    size = "" if summary["n_features"] is None else f" over {summary['n_features']} features"
    if "steps" in summary:
        lines = [
            f"{name}: {summary['class']} of {len(summary['steps'])} steps{size}",
            *line_of_columns(summary),
        ]
        for step in summary["steps"]:
            lines += lines_of_model(step, step["name"], "  ")
        return lines
    parts = "" if summary["n_components"] is None else f" with {counted_parts(summary)}"
    changed = ", ".join(f"{a}={b!r}" for a, b in summary["parameters"].items())
    lines = [
        f"{name}: {summary['class']}{parts}{size}",
        *([] if indent else line_of_columns(summary)),
        f"parameters: {changed or 'all at their defaults'}",
        *([summary["sentence"]] if summary["sentence"] else []),
        *lines_of_parts(summary),
    ]
    return [indent + lines[0], *(indent + indent + line for line in lines[1:])]


def line_of_columns(summary: dict[str, Any]) -> list[str]:
    """The names of the columns, the first of them if there are many; nothing where they have none."""
    names = summary["feature_names"]
    if names is None:
        return []
    more = f", … ({len(names)} in all)" if len(names) > MOST_COLUMNS else ""
    return [f"columns: {', '.join(names[:MOST_COLUMNS])}{more}"]


def counted_parts(summary: dict[str, Any]) -> str:
    """A number of parts in words: 1 part, 2 parts, no tiles."""
    count, word = summary["n_components"], summary["part_word"]
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


def lines_of_parts(summary: dict[str, Any]) -> list[str]:
    """One line for each part: what the model says of it, and its features of most weight."""
    lines = []
    for i, part in enumerate(summary["parts"]):
        said = f", {part['sentence']}" if part.get("sentence") else ""
        names = ", ".join(feature["name"] for feature in part["top_features"])
        # A tile has these columns and no others: it is told where some are not listed.
        if len(part.get("column_names", ())) > len(part["top_features"]):
            names += ", …"
        lines.append(f"  {summary['part_word']} {i}{said}{f': {names}' if names else ''}")
    return lines
