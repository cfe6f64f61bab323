"""The demo: parts of handwritten digits, and hidden pixels filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from partwise.datasets import load_digits
from partwise.interrupts import uninterrupted
from partwise.io import save, write_csv, write_json
from partwise.models import NMF
from partwise.plot import draw_curve, draw_parts, figure, save_figure
from partwise.reporting import report


def run_demo(folder: Path, n_components: int = 16) -> dict[str, Any]:
    """Fit NMF to digits, fill in hidden pixels, draw, write all files; return the summary."""
    digits = load_digits()
    X = digits.data
    model = NMF(n_components, max_iter=1000, verbose=1)
    W = model.fit_transform(X)
    hidden = np.random.default_rng(0).random(X.shape) < 0.3
    seen = np.where(hidden, np.nan, X)
    filler = NMF(n_components, max_iter=1000, alpha_W=0.02, verbose=1)
    filled = filler.inverse_transform(filler.fit_transform(seen))
    means = np.broadcast_to(np.nanmean(seen, axis=0), X.shape)
    scale = np.linalg.norm(X[hidden])
    summary = {
        "n_samples": len(X),
        "n_features": X.shape[1],
        "n_components": n_components,
        "solver": model.solver_,
        "n_iter": model.n_iter_,
        "converged": model.converged_,
        "reconstruction_err": model.reconstruction_err_,
        "explained": 1 - model.reconstruction_err_**2 / float(((X - X.mean(axis=0)) ** 2).sum()),
        "fill_error": float(np.linalg.norm((filled - X)[hidden]) / scale),
        "fill_error_means": float(np.linalg.norm((means - X)[hidden]) / scale),
        "files": {
            "report.html": "a page about the fit: open it in a browser",
            "parts.png": "the parts, digits rebuilt from them, hidden pixels filled in, the objective",
            "W.csv": "how much of each part is in each digit",
            "H.csv": "the parts, pixel by pixel",
            "model.partwise": "the model; `partwise info` and `partwise transform` read it",
            "summary.json": "these figures",
        },
    }
    rows = [f"digit{i}_{label}" for i, label in enumerate(digits.target)]
    parts = [str(name) for name in model.get_feature_names_out()]
    model.set_params(verbose=0)
    page = report(model, X, W=W, y=digits.target, row_names=rows, shape=(8, 8), data="digits")
    with uninterrupted():
        folder.mkdir(parents=True, exist_ok=True)
        page.save(folder / "report.html")
        pictures(folder / "parts.png", X, W, model, seen, filled)
        write_csv(folder / "W.csv", W, rows, parts, corner="row")
        write_csv(folder / "H.csv", model.components_, parts, list(digits.feature_names), corner="part")
        save(model, folder / "model.partwise")
        write_json(folder / "summary.json", summary)
    return summary


def pictures(
    path: Path, X: np.ndarray, W: np.ndarray, model: NMF, seen: np.ndarray, filled: np.ndarray
) -> None:
    """Draw the parts, digits rebuilt, hidden pixels filled in, and the objective."""
    layout = [["parts", "rebuilt"], ["parts", "filled"], ["parts", "objective"]]
    drawing, axes = figure(layout, size=(11.0, 6.2), width_ratios=(1, 1.25), height_ratios=(2, 3, 4))
    shape = (8, 8)
    draw_parts(
        axes["parts"], model.components_, shape, f"{len(model.components_)} parts of handwritten digits"
    )
    both = np.concatenate([X[:10], W[:10] @ model.components_])
    draw_parts(axes["rebuilt"], both, shape, "digits, and what the parts make of them", columns=10)
    trio = np.concatenate([np.nan_to_num(seen[:10]), np.maximum(filled[:10], 0), X[:10]])
    draw_parts(axes["filled"], trio, shape, "30 % of the pixels hidden; filled in; the truth", columns=10)
    objective = model.history_["objective"]
    draw_curve(
        axes["objective"],
        np.arange(1, len(objective)),
        objective[1:],
        title="the objective ½ ‖X − WH‖², iteration by iteration",
        logx=True,
        logy=True,
    )
    save_figure(drawing, path)
