"""partwise demo: the main job on data that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path

from partwise.cli.common import emit, make_folder
from partwise.cli.options import Json, Output


def demo(
    output: Output = Path("partwise-demo"),
    as_json: Json = False,
) -> None:
    """Learn the parts of 1,797 handwritten digits, fill in hidden pixels, and draw what was found."""
    from partwise.core import whole_session
    from partwise.plot import require_matplotlib
    from partwise.reporting.requirements import require_report
    from partwise.reproduce.demo import run_demo

    require_matplotlib()
    require_report()
    folder = make_folder(output)
    with whole_session():
        summary = run_demo(folder)
    lines = [
        f"{summary['n_samples']} digits of {summary['n_features']} pixels ≈ {summary['n_components']} parts",
        f"{summary['solver']} converged: {summary['converged']}, after {summary['n_iter']} iterations",
        f"share of the pixels' variance explained: {100 * summary['explained']:.1f} %",
        f"30 % of the pixels hidden and filled in: error {summary['fill_error']:.3f} of their norm "
        f"(column means: {summary['fill_error_means']:.3f})",
        f"Results are in {folder}/:",
        *(f"  {name:15s} {what}" for name, what in summary["files"].items()),
    ]
    emit(summary, as_json, lines)
