"""Which tiles are hardly chance? A test whose level holds for all tiles together.

`discovery` bounds the probability that a table of noise holds *any* a × b tile as dense as one that was found. Three
things are left to do before tiles may be accepted at a level q, as Hess, Piatkowski & Morik (2018) ask for:

- A search is free in the size of its tiles, and there are n m sizes: each may use q / (2 n m) of the level. As
  published, every size has the whole level, and the chance of a false tile is bounded by n m q.
- Where a tile overlaps others, it is as dense as they are. It is judged by the A observed entries that no accepted
  tile covers, and their density δ: for given accepted tiles, Hoeffding's bound is exp(−2 A (δ − p)²).
- The share p of ones in the noise is not known. Under the hypothesis that a tile is noise, all N entries outside of
  the accepted tiles are, its own included; their share of ones, plus √(log(2/q) / 2N), is below p with probability
  q / 2 at most (Hoeffding again). To leave the tile's own entries out would make p smaller than it is, for a search
  takes dense places.

So tiles are accepted one after the other, the most valuable first; what an accepted tile covers is noise no longer,
which makes p smaller and may let a tile pass that failed before, so all that failed are asked again, until none
passes. As long as the accepted tiles are true ones, the next is false with a probability of at most q in all: the
chance of any false tile (the family-wise error), and with it the false discovery rate, is at most q where the noise
is independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.boolean.discovery import log_choices


@dataclass(frozen=True)
class ChanceTest:
    """The test for one table.

    Attributes
    ----------
    ones, seen : arrays of bool of shape (n, m)
        Observed ones, and observed entries. Weights make no difference.
    level : float
        The chance, at most, of accepting any tile of noise; at 1 every tile is accepted.
    """

    ones: np.ndarray
    seen: np.ndarray
    level: float

    @classmethod
    def of(cls, table: BitTable, level: float) -> ChanceTest:
        """The test at a level for a table."""
        ones, seen = table.unpacked()
        return cls(ones & seen, seen, level)

    def accepted(self, usage: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Which tiles (usage n × k, columns k × m) are accepted, as an array of bool."""
        n, m = self.ones.shape
        rows, tiles = [np.flatnonzero(u) for u in usage.T], [np.flatnonzero(v) for v in columns]
        out = np.array([len(a) > 0 and len(b) > 0 for a, b in zip(rows, tiles)], dtype=bool)
        if self.level >= 1.0:
            return out
        # Which tiles are asked first: those that get most entries right, less those that they get wrong.
        worth = [
            2.0 * self.ones[np.ix_(a, b)].sum() - self.seen[np.ix_(a, b)].sum() for a, b in zip(rows, tiles)
        ]
        waiting = [t for t in np.argsort(-np.array(worth), kind="stable") if out[t]]
        choices = log_choices(n, usage.sum(axis=0)) + log_choices(m, columns.sum(axis=1))
        most = np.log(max(self.level, 1e-300) / (2.0 * n * m))
        left, ones = self.seen.copy(), self.ones.copy()
        total, noise = int(left.sum()), int(ones.sum())
        out[:] = False
        moved = True
        while moved:
            moved = False
            for t in list(waiting):
                own = np.ix_(rows[t], tiles[t])
                area, hits = int(left[own].sum()), int(ones[own].sum())
                p = noise / max(total, 1) + np.sqrt(
                    np.log(2.0 / max(self.level, 1e-300)) / (2.0 * max(total, 1))
                )
                excess = max(hits / max(area, 1) - p, 0.0)
                if choices[t] - 2.0 * area * excess**2 > most:
                    continue
                out[t] = moved = True
                waiting.remove(t)
                left[own] = ones[own] = False
                total, noise = total - area, noise - hits
        return out
