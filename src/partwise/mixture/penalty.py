"""The choice of the penalty on held-out samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from partwise.core import joined_session
from partwise.mixture.components import Components
from partwise.mixture.contrastive import Contrastive, Labelled, held_out_loss
from partwise.mixture.lbfgs import Lbfgs
from partwise.mixture.training import Trained, train

#: Penalties that are tried, weakest first: a strong one makes a class's components alike, and alike they stay.
PENALTIES = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
#: Held-out samples that the choice should rest on; where one fraction has fewer, several are held out in turn.
ENOUGH = 1000
#: Folds at most.
MOST_FOLDS = 5
#: A penalty whose loss exceeds the fold's smallest by this factor is the strongest that is tried.
TOO_STRONG = 1.1


@dataclass
class PenaltyChoice:
    """How far the choice has come.

    Attributes
    ----------
    best : Trained
        Of all that was trained so far, what has the smallest loss on its held-out samples.
    best_loss : float
    chosen : Trained, optional
        Where training with the chosen penalty ended on the last fold; None as long as the choice is not made.
    errors, losses : arrays of shape (n_folds, n_penalties)
        On the held-out samples, NaN where not tried.
    """

    best: Trained
    best_loss: float = np.inf
    chosen: Trained | None = None
    errors: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    losses: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))

    def table(self) -> dict[str, list[float]]:
        """Each "penalty" with its mean "error" and "loss", of those that were tried."""
        tried = ~np.isnan(self.losses).all(axis=0) if self.losses.size else np.zeros(0, bool)
        return {
            "penalty": [penalty for penalty, was in zip(PENALTIES, tried) if was],
            "error": np.nanmean(self.errors[:, tried], axis=0).tolist() if tried.any() else [],
            "loss": np.nanmean(self.losses[:, tried], axis=0).tolist() if tried.any() else [],
        }


def held_out(
    data: Labelled, fraction: float, rng: np.random.Generator, folds: int = 1
) -> list[tuple[Labelled, Labelled]]:
    """Samples to train on and samples to judge by, split within each class.

    Parameters
    ----------
    data : Labelled
    fraction : float
        Share of the samples in the second part.
    rng : Generator
    folds : int
        Number of splits; their second parts do not overlap.

    Returns
    -------
    list of pairs of Labelled
        Empty if a second part would have fewer than 20 samples.
    """
    place = np.empty(len(data.y))
    for c in np.unique(data.y):
        rows = rng.permutation(np.flatnonzero(data.y == c))
        # The only sample of a class is never held out: without it there would be no component.
        place[rows] = np.arange(len(rows)) / len(rows) if len(rows) > 1 else np.inf
    masks = [(place >= fold * fraction) & (place < (fold + 1) * fraction) for fold in range(folds)]
    if any(mask.sum() < 20 or data.weight[mask].sum() == 0 for mask in masks):
        return []
    return [(data.rows(~mask), data.rows(mask)) for mask in masks]


def choose_penalty(
    data: Labelled,
    start: Components,
    *,
    fraction: float,
    max_iter: int,
    tol: float,
    rng: np.random.Generator,
) -> PenaltyChoice:
    """The penalty with the smallest mean loss on held-out samples; each begins where the one before ended.

    Parameters
    ----------
    data : Labelled
    start : Components
    fraction : float
        Share of the samples that is held out at a time.
    max_iter : int
        Steps for each penalty and fold.
    tol : float
    rng : Generator

    Returns
    -------
    PenaltyChoice
        Not finished (``chosen`` is None) if Ctrl-C or the time limit of the session ended it.
    """
    choice = PenaltyChoice(Trained(start))
    most = max(1, int(1.0 / max(fraction, 1e-9)))
    folds = int(np.clip(np.ceil(ENOUGH / max(1.0, fraction * len(data.y))), 1, min(MOST_FOLDS, most)))
    with joined_session() as session, session.interruptible():
        splits = held_out(data, fraction, rng, folds)
        if not splits:
            choice.chosen = Trained(start, penalty=PENALTIES[len(PENALTIES) // 2])
            return choice
        choice.errors = np.full((folds, len(PENALTIES)), np.nan)
        choice.losses = np.full((folds, len(PENALTIES)), np.nan)
        ends: list[Trained] = []
        for fold, split in enumerate(splits):
            ends = try_penalties(choice, fold, split, start, max_iter, tol)
            if session.stopped:
                return choice
        chosen = int(np.nanargmin(choice.losses.mean(axis=0)))
        choice.chosen = ends[chosen]
    return choice


def try_penalties(
    choice: PenaltyChoice,
    fold: int,
    split: tuple[Labelled, Labelled],
    start: Components,
    max_iter: int,
    tol: float,
) -> list[Trained]:
    """Train with one penalty after another on one fold, and write their losses into the choice.

    A penalty that is too strong on one fold is the strongest on the folds that follow, and stronger ones are struck
    from those before.
    """
    train_part, held_part = split
    ends: list[Trained] = []
    with joined_session() as session:
        for i, penalty in enumerate(PENALTIES):
            if fold and np.isnan(choice.losses[:fold, i]).any():
                break
            now = ends[-1].components if ends else start
            found = train(
                Contrastive(train_part, start.starts, penalty),
                Lbfgs(),
                now,
                max_iter=max_iter,
                tol=tol,
                name=f"fold{fold}_penalty_{penalty:g}",
            )
            if not ends and not fold:
                choice.best = found
            error, loss = held_out_loss(held_part, found.components)
            if loss < choice.best_loss:
                choice.best, choice.best_loss = found, loss
            if session.stopped:
                break
            ends.append(found)
            choice.errors[fold, i], choice.losses[fold, i] = error, loss
            if loss > TOO_STRONG * np.nanmin(choice.losses[fold]):
                choice.errors[:, i + 1 :] = choice.losses[:, i + 1 :] = np.nan
                break
    return ends
