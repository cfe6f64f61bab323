"""How much of the experiment on posteriors is done, and on which tables (Gonsior 2019, tables 3.1 and 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from partwise.datasets import make_boolean

#: Flip probabilities of the data sets of Gonsior (2019, table 3.1).
LEVELS = {"clean": (0.01, 0.05), "noisy": (0.05, 0.15)}
#: Models of the thesis and the priors that they are.
MODELS = {"BMF + flat": "uniform", "BMF + normal": "normal", "PanPAL": "laplace"}
#: Minibatches of the thesis as shares of its 512 rows.
BATCHES = {75: 75 / 512, 250: 250 / 512, 512: 1.0}


@dataclass(frozen=True)
class Plan:
    """Sizes of the tables and lengths of the chains.

    Parameters
    ----------
    folder : Path
        Where pictures and finished runs are kept.
    side : int
        Rows and columns of the tables; the thesis has 512.
    rank : int
        Planted tiles; the thesis has 30.
    steps, long, longest : int
        Steps of IASG where the thesis makes 60,000, 600,000 and 2 million.
    calibration : int
        Parameters drawn for the steps of IASG; the thesis draws 2,500.
    sweeps : int
        Sweeps of the exact sampler beside each chain, a third of which is warm-up.
    draws : int
        Draws of each chain of `BayesianBooleanMF`.
    n_tables : int
        Tables on which planted tiles are searched for, at each level of noise.
    iasg, langevin : int
        Steps of IASG from a random start, and of Langevin steps on a small table.
    paper : bool
        Whether gradients of minibatches stay unscaled, as published.
    """

    folder: Path
    side: int
    rank: int
    steps: int
    long: int
    longest: int
    calibration: int
    sweeps: int
    draws: int
    n_tables: int
    iasg: int
    langevin: int
    paper: bool = False

    @property
    def ranks(self) -> tuple[int, int]:
        """A rank that is too small by a third, and one that is too large by as much: 20 and 40 for 30."""
        third = max(1, round(self.rank / 3))
        return self.rank - third, self.rank + third

    def batch(self, size: int) -> int:
        """Rows of a minibatch that is the share of the table which `size` is of 512.

        Parameters
        ----------
        size : {75, 250, 512}
            As in the thesis.

        Returns
        -------
        int
            At least 1.
        """
        return max(1, round(BATCHES[size] * self.side))

    @cached_property
    def tables(self) -> dict[str, Any]:
        """The planted tables by name."""
        return {
            name: make_boolean(
                self.side, self.side, self.rank, noise_add=add, noise_drop=drop, random_state=0
            )
            for name, (add, drop) in LEVELS.items()
        }


#: Sizes by name; "quick" has smaller tables, on which chains of a few thousand steps come somewhere.
PLANS: dict[str, dict[str, int]] = {
    "quick": {
        "side": 128,
        "rank": 9,
        "steps": 1_000,
        "long": 3_000,
        "longest": 6_000,
        "calibration": 100,
        "sweeps": 300,
        "draws": 80,
        "n_tables": 1,
        "iasg": 2_000,
        "langevin": 600,
    },
    "medium": {
        "side": 512,
        "rank": 30,
        "steps": 6_000,
        "long": 20_000,
        "longest": 60_000,
        "calibration": 1_000,
        "sweeps": 600,
        "draws": 250,
        "n_tables": 10,
        "iasg": 40_000,
        "langevin": 10_000,
    },
    "full": {
        "side": 512,
        "rank": 30,
        "steps": 60_000,
        "long": 600_000,
        "longest": 2_000_000,
        "calibration": 2_500,
        "sweeps": 3_000,
        "draws": 1_000,
        "n_tables": 10,
        "iasg": 60_000,
        "langevin": 100_000,
    },
}
