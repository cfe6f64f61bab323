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
#: Those tried after them as long as the strongest so far is the best.
STRONGER = (1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)
#: Those for few samples, which need strong ones: the weak ones take most steps and are seldom chosen, so some are
#: left out.
FEW = (1e-5, 1e-4, 1e-3, 3e-3, *STRONGER)
#: The penalty where no choice is possible: too strong leaves answers unsure, too weak makes them sure and wrong.
UNCHOSEN = 0.3
#: Held-out samples that the choice should rest on; where one fraction has fewer, several are held out in turn.
ENOUGH = 1000
#: Folds at most.
MOST_FOLDS = 10
#: Held-out samples that can reject a penalty by themselves; smaller folds do so only together.
JUDGES = 200
#: A penalty whose loss exceeds the smallest by this factor is the strongest that is tried.
TOO_STRONG = 1.1
#: On few samples a loss may rise before it falls for good: there so many in a row have to exceed it.
RISING = 3


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
    penalties : list of float
        Those tried on every fold.
    errors, losses : lists of arrays of shape (n_folds,)
        On the held-out samples, for each of these penalties.
    """

    best: Trained
    best_loss: float = np.inf
    chosen: Trained | None = None
    penalties: list[float] = field(default_factory=list)
    errors: list[np.ndarray] = field(default_factory=list)
    losses: list[np.ndarray] = field(default_factory=list)

    @property
    def leading(self) -> int:
        """The place of the penalty with the smallest mean loss."""
        return int(np.argmin([losses.mean() for losses in self.losses]))

    def table(self) -> dict[str, list[float]]:
        """Each "penalty" with its mean "error" and "loss", of those that were tried on every fold."""
        return {
            "penalty": list(self.penalties),
            "error": [float(errors.mean()) for errors in self.errors],
            "loss": [float(losses.mean()) for losses in self.losses],
        }


def held_out(
    data: Labelled, fraction: float, rng: np.random.Generator, folds: int = 1, least: int = 20
) -> list[tuple[Labelled, Labelled]]:
    """Samples to train on and samples to judge by, split within each class.

    Parameters
    ----------
    data : Labelled
    fraction : float
        Share of the samples in the second part.
    rng : Generator
    folds : int
        Number of splits; their second parts do not overlap. Where classes have too few samples for that many, splits
        that would hold out nothing are left out.
    least : int
        Number of samples that a second part must have.

    Returns
    -------
    list of pairs of Labelled
        Empty if a second part would have fewer than `least` samples.
    """
    place = np.empty(len(data.y))
    for c in np.unique(data.y):
        rows = rng.permutation(np.flatnonzero(data.y == c))
        # The only sample of a class is never held out: without it there would be no component.
        place[rows] = np.arange(len(rows)) / len(rows) if len(rows) > 1 else np.inf
    masks = [(place >= fold * fraction) & (place < (fold + 1) * fraction) for fold in range(folds)]
    masks = [mask for mask in masks if folds == 1 or mask.any()]
    if any(mask.sum() < least or data.weight[mask].sum() == 0 for mask in masks):
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
        Not finished (``chosen`` is None) if Ctrl-C or the time limit of the session ended it. Where fewer than two
        classes have a sample to spare, nothing is tried and the penalty is `UNCHOSEN`.
    """
    choice = PenaltyChoice(Trained(start))
    most = max(1, int(1.0 / max(fraction, 1e-9)))
    folds = int(np.clip(np.ceil(ENOUGH / max(1.0, fraction * len(data.y))), 1, min(MOST_FOLDS, most)))
    with joined_session() as session, session.interruptible():
        splits = held_out(data, fraction, rng, folds, least=1)
        # (Samples of one class alone would speak for the penalty that is surest of that class.)
        if len({int(c) for _, held in splits for c in np.unique(held.y)}) < 2:
            choice.chosen = Trained(start, penalty=UNCHOSEN)
            return choice
        judging = sum(len(held.y) for _, held in splits)
        # Few samples, all of them right, would speak for the penalty that is surest of everything. As many right
        # ones leave it open whether the next is (Laplace's rule of succession).
        doubt = 1.0 / (judging + 2) if judging < ENOUGH else 0.0
        ends = [start] * len(splits)
        chosen = Trained(start)
        for penalty in FEW if doubt else PENALTIES + STRONGER:
            found = try_penalty(choice, penalty, splits, ends, doubt, max_iter, tol)
            if session.stopped:
                return choice
            ends = [one.components for one in found]
            strongest_leads = choice.leading == len(choice.losses) - 1
            chosen = found[-1] if strongest_leads else chosen
            if doubt:
                far_enough = too_strong(choice, splits, RISING)
            else:
                far_enough = too_strong(choice, splits) or (penalty >= PENALTIES[-1] and not strongest_leads)
            if far_enough:
                break
        choice.chosen = chosen
    return choice


def try_penalty(
    choice: PenaltyChoice,
    penalty: float,
    splits: list[tuple[Labelled, Labelled]],
    ends: list[Components],
    doubt: float,
    max_iter: int,
    tol: float,
) -> list[Trained]:
    """Train with one penalty on every fold, from where the one before ended there, and note its losses."""
    found: list[Trained] = []
    errors, losses = np.empty(len(splits)), np.empty(len(splits))
    with joined_session() as session:
        for fold, ((train_part, held_part), now) in enumerate(zip(splits, ends)):
            trained = train(
                Contrastive(train_part, now.starts, penalty),
                Lbfgs(),
                now,
                max_iter=max_iter,
                tol=tol,
                name=f"fold{fold}_penalty_{penalty:g}",
            )
            if not found and not choice.penalties:
                choice.best = trained
            errors[fold], losses[fold] = held_out_loss(held_part, trained.components, doubt)
            if losses[fold] < choice.best_loss:
                choice.best, choice.best_loss = trained, float(losses[fold])
            if session.stopped:
                return found
            found.append(trained)
    choice.penalties.append(penalty)
    choice.errors.append(errors)
    choice.losses.append(losses)
    return found


def too_strong(choice: PenaltyChoice, splits: list[tuple[Labelled, Labelled]], row: int = 1) -> bool:
    """Whether the last `row` penalties are that much worse: in the mean, or on one fold of enough samples."""
    losses = np.array(choice.losses)
    alone = np.array([len(held.y) >= JUDGES for _, held in splits])
    judged = np.column_stack([losses.mean(axis=1), losses[:, alone]])
    worse = (judged > TOO_STRONG * judged.min(axis=0))[-row:]
    return bool(len(losses) > row and worse.all(axis=0).any())
