"""What a comparison found, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.comparison.factors import Factors
from partwise.comparison.measures import matched
from partwise.domains.text_measures import NEGLIGIBLE


@dataclass(frozen=True)
class Measure:
    """A column of the table: its heading on two short lines, and how it is to be read."""

    heading: str
    meaning: str
    digits: int = 3


#: What is measured, in the order of the table.
MEASURES: dict[str, Measure] = {
    "relative_error": Measure("relative\nerror", "‖X − X̂‖ / ‖X‖, lower is better"),
    "sparseness_bases": Measure("sparse\nbases", "Hoyer's sparseness of the bases, 0 to 1"),
    "sparseness_codes": Measure("sparse\ncodes", "Hoyer's sparseness of the codes, 0 to 1"),
    "stability": Measure("stable\nbases", "cosine of matched bases of different seeds, 1 is the same"),
    "npmi": Measure("NPMI", "coherence of the ten top words of each basis, −1 to 1, higher is better"),
    "diversity": Measure("diverse\nwords", "share of different words among the 25 top words of all bases"),
    "accuracy": Measure("accuracy", "of a logistic regression on the codes, cross-validated"),
    "nmi": Measure("NMI\nk-means", "of clusters of the codes with the labels"),
    "nmi_argmax": Measure("NMI\nargmax", "of the largest code of each row with the labels"),
    "seconds": Measure("seconds", "of one fit, the median over seeds", 2),
}


@dataclass(frozen=True)
class Comparison:
    """Several factorizations of the same data at the same rank.

    Parameters
    ----------
    n_components : int
        The rank.
    seeds : list of int
        Seeds of the runs.
    rows : list of dict
        One for each method: "method" (its name), "title", "fitted_to" ("data", "tf-idf" or "counts") and the mean
        over seeds of everything in `partwise.comparison.MEASURES` (of seconds the median); NaN where it does not
        apply.
    by_seed : dict
        Method → measure → list with the value of each run; stability, of each pair of runs.
    factors : dict of Factors
        Method → its codes, bases and mean, from the first seed.
    notes : list of str
        Sentences about what was left out, and why.
    feature_names : list of str or None
        Names of the columns.
    labels : array or None
        The labels that were given.
    text : bool
        Whether columns are words.
    shape : tuple of int
        Rows and columns of the data.
    interrupted : bool
        Whether Ctrl-C ended the comparison; the methods that were done are here.
    """

    n_components: int
    seeds: list[int]
    rows: list[dict[str, Any]]
    by_seed: dict[str, dict[str, list[float]]]
    factors: dict[str, Factors]
    notes: list[str] = field(default_factory=list)
    feature_names: list[str] | None = None
    labels: np.ndarray | None = None
    text: bool = False
    shape: tuple[int, int] = (0, 0)
    interrupted: bool = False

    @property
    def measures(self) -> list[str]:
        """The measures that apply to at least one method, in the order of the table."""
        return [name for name in MEASURES if any(np.isfinite(row[name]) for row in self.rows)]

    @property
    def table(self) -> list[list[Any]]:
        """The means as lists: a header, and a row for each method; None where a measure does not apply."""
        names = self.measures
        body = [
            [row["title"], row["fitted_to"], *(row[n] if np.isfinite(row[n]) else None for n in names)]
            for row in self.rows
        ]
        return [["method", "fitted_to", *names], *body]

    def frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        DataFrame
            A row for each method, by title; "fitted_to", and the mean over seeds of each measure, NaN where it does
            not apply.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'frame() needs pandas: pip install "partwise[tables]"; `table` has the same as lists.'
            ) from error
        header, *body = self.table
        frame = pd.DataFrame(body, columns=header).set_index("method")
        return frame.astype(dict.fromkeys(self.measures, float))

    def spread(self, method: str, measure: str) -> float:
        """Standard deviation of a measure over the seeds.

        Parameters
        ----------
        method, measure : str
            Their names.

        Returns
        -------
        float
            0 for a method that does not depend on the seed, unless the measure does.
        """
        values = np.asarray(self.by_seed[method].get(measure, []), dtype=float)
        return float(values.std()) if values.size and np.isfinite(values).all() else float("nan")

    def top_features(self, method: str, n: int = 8) -> list[list[tuple[str, float]]]:
        """The features of largest absolute weight in each basis vector of a method, with their signs.

        Parameters
        ----------
        method : str
            Its name.
        n : int, default=8
            Features of each, at most; those without weight, or with at most a millionth of the largest, are left out.

        Returns
        -------
        list of lists of (str, float)
            Names and weights, largest first.
        """
        bases = self.factors[method].bases
        names = self.feature_names or [f"column{j}" for j in range(bases.shape[1])]
        found = []
        for row in bases:
            size = np.abs(row)
            order = np.argsort(-size, kind="stable")[:n]
            least = NEGLIGIBLE * size.max(initial=0.0)
            found.append([(names[j], float(row[j])) for j in order if size[j] > least])
        return found

    def aligned(self, method: str, to: str | None = None) -> np.ndarray:
        """The order of a method's basis vectors that puts each beside the one that it resembles most.

        Parameters
        ----------
        method : str
            Whose basis vectors are put in order.
        to : str, optional
            The method that they are matched to; the first of the table if not given.

        Returns
        -------
        int array of shape (n_components,)
            Rows of ``factors[method].bases``.
        """
        first = self.rows[0]["method"] if to is None else to
        return matched(self.factors[first].bases, self.factors[method].bases)[0]

    def summary(self) -> dict[str, Any]:
        """Everything but codes and bases, as dicts, lists, text and numbers.

        Returns
        -------
        dict
            For JSON, in which NaN becomes null.
        """
        return {
            "n_samples": self.shape[0],
            "n_features": self.shape[1],
            "n_components": self.n_components,
            "seeds": self.seeds,
            "measures": {name: MEASURES[name].meaning for name in self.measures},
            "methods": [
                {**row, "sd": {name: self.spread(row["method"], name) for name in self.measures}}
                for row in self.rows
            ],
            "by_seed": self.by_seed,
            "notes": self.notes,
            "interrupted": self.interrupted,
        }
