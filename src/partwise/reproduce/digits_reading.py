"""What Lee, Seung & Saul leave open about their mixtures, as one object with a field for each reading.

docs/classify.md lists them with what the publication says. The number of steps is chosen by `chosen_steps`: the one
at which the *training* errors of the published table are met best, one number for all K. The test errors have no part
in it and are predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.core import Info, run
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive, Labelled
from partwise.mixture.multiplicative import MultiplicativeState
from partwise.mixture.start import WIDTHS, class_counts, start_from_clusters
from partwise.models import MixtureClassifier
from partwise.models.mixture import OPTIMIZERS, feature_scale
from partwise.parallel import own_threads

SIZES = (1, 2, 4, 8, 16, 32, 64)
#: Published errors in percent, training and test, by number of components.
PUBLISHED: dict[str, dict[int, tuple[float, float]]] = {
    "EM-PCA40": dict(
        zip(SIZES, [(10.2, 10.1), (8.5, 8.3), (6.8, 6.4), (5.3, 5.1), (4.0, 4.4), (3.1, 3.6), (1.9, 3.1)])
    ),
    "EM-NMF80": dict(
        zip(SIZES, [(15.7, 14.7), (12.3, 10.7), (9.3, 8.2), (7.8, 7.0), (6.2, 5.7), (5.0, 5.1), (3.9, 4.2)])
    ),
    "CL-NMF80": dict(zip(SIZES, [(5.5, 5.8), (4.0, 4.4), (2.8, 3.5), (1.7, 3.2), (1.0, 3.4)])),
}
#: Numbers of steps that are compared with the training errors of the table.
GRID = (
    25,
    50,
    75,
    100,
    150,
    200,
    250,
    300,
    350,
    400,
    450,
    500,
    600,
    700,
    800,
    1000,
    1250,
    1500,
    2000,
    2500,
    3000,
)


@dataclass(frozen=True)
class Reading:
    """One reading of the publication.

    Attributes
    ----------
    scale : {"spread", "none"}
        Whether features are divided by their standard deviations; a factor for all of them would cancel from (5).
    init : {"kmeans", "random"}
        Where components begin.
    init_width : float or "auto"
        How wide they begin.
    at_once : bool
        Whether (4) and (5) are made from the same sums, instead of in turn.
    balanced : bool
        Whether all digits count the same, instead of as often as they occur.
    seed : int
    """

    scale: str = "spread"
    init: str = "kmeans"
    init_width: Any = "auto"
    at_once: bool = False
    balanced: bool = False
    seed: int = 0

    def weights(self, y: np.ndarray) -> np.ndarray:
        """Weights of the samples, one on average."""
        if not self.balanced:
            return np.ones(len(y))
        _, number, count = np.unique(y, return_inverse=True, return_counts=True)
        return np.asarray(len(y) / (len(count) * count[number]))

    def classifier(self, K: int, steps: int) -> MixtureClassifier:
        """The published updates, unpenalised, for this number of steps."""
        return MixtureClassifier(
            K,
            optimizer=self.optimizer,
            init=self.init,
            init_width=self.init_width,
            scale=self.scale,
            penalty=0.0,
            max_iter=steps,
            tol=0.0,
            random_state=self.seed,
        )

    @property
    def optimizer(self) -> str:
        """The name that `MixtureClassifier` has for the updates."""
        return "multiplicative-at-once" if self.at_once else "multiplicative"


@dataclass
class Curve:
    """Errors of one mixture along its training; a callback of `run`.

    Attributes
    ----------
    parts : dict of (features, labels)
        "train" and "test", features scaled as the training's.
    problem : Contrastive
    grid : sequence of int
        The steps after which errors are measured.
    rows : list of dict
        "steps", "objective" and the errors in percent.
    """

    parts: dict[str, tuple[np.ndarray, np.ndarray]]
    problem: Contrastive
    grid: Sequence[int]
    rows: list[dict[str, float]] = field(default_factory=list)

    def __call__(self, info: Info, state: MultiplicativeState) -> None:
        """Measure, if it is time."""
        if info.iteration not in self.grid:
            return
        components = self.problem.components(state.x)
        errors = {f"{name}_error": error(components, *part) for name, part in self.parts.items()}
        self.rows.append({"steps": info.iteration, "objective": info.objective, **errors})


def error(components: Components, X: np.ndarray, y: np.ndarray) -> float:
    """Wrong labels in percent."""
    return 100.0 * float(np.mean(components.class_scores(X).argmax(axis=1) != y))


def scaled(X: np.ndarray, y: np.ndarray, reading: Reading) -> tuple[Labelled, np.ndarray]:
    """Features as the classifier scales them, labels numbered from 0; and the factors."""
    weight = reading.weights(y)
    factor = feature_scale(X, weight, even=reading.scale == "spread")
    number = np.unique(y, return_inverse=True)[1].astype(np.int64)
    return Labelled(np.ascontiguousarray(X * factor), number, weight), factor


def training_curve(
    data: dict[str, Any], K: int, reading: Reading, grid: Sequence[int]
) -> list[dict[str, float]]:
    """Training and test errors of `reading.classifier(K, steps)` for all steps of a grid, from one run.

    Parameters
    ----------
    data : dict
        From `prepare`.
    K : int
        Components for each class.
    reading : Reading
    grid : sequence of int

    Returns
    -------
    list of dict
        One for each entry of the grid.
    """
    labelled, factor = scaled(data["nmf_train"], data["y_train"], reading)
    test = np.searchsorted(np.unique(data["y_train"]), data["y_test"])
    counts = class_counts(labelled, int(labelled.y.max()) + 1, K)
    widths = WIDTHS if reading.init_width == "auto" else (float(reading.init_width),)
    with own_threads():
        rng = np.random.default_rng(reading.seed)
        start = start_from_clusters(labelled, counts, reading.init, rng, widths)
        problem = Contrastive(labelled, start.starts)
        method = OPTIMIZERS[reading.optimizer]()
        parts = {"train": (labelled.X, labelled.y), "test": (data["nmf_test"] * factor, test)}
        curve = Curve(parts, problem, grid)
        run(problem, method, method.init(problem, start), max_iter=max(grid), callbacks=[curve])
    return curve.rows


def chosen_steps(curves: dict[int, list[dict[str, float]]]) -> dict[str, float]:
    """The steps whose training errors are nearest to the published ones; the test errors are not looked at.

    Parameters
    ----------
    curves : dict
        From K to `training_curve`.

    Returns
    -------
    dict
        "steps", the mean absolute difference of the "train" errors and, for these steps, that of the "test" errors.
    """
    published = PUBLISHED["CL-NMF80"]
    reached = set.intersection(*({int(row["steps"]) for row in rows} for rows in curves.values()))
    away: dict[int, dict[str, float]] = {}
    for steps in sorted(reached):
        at = {K: next(row for row in rows if row["steps"] == steps) for K, rows in curves.items()}
        away[steps] = {
            name: float(np.mean([abs(row[f"{name}_error"] - published[K][i]) for K, row in at.items()]))
            for i, name in enumerate(("train", "test"))
        }
    best = min(away, key=lambda steps: away[steps]["train"])
    return {"steps": best, **away[best]}


def met_training_error(rows: list[dict[str, float]], published: float) -> dict[str, float]:
    """The first row whose training error is no larger than the published one; else the last."""
    return next((row for row in rows if row["train_error"] <= published), rows[-1])
