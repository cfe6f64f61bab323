"""The cases of the race: data set, loss, rank."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One case.

    Parameters
    ----------
    name : str
        What the command line calls it.
    dataset : str
        A name from `partwise.bench.datasets.DATASETS`.
    beta : float
        The loss.
    n_components : int
        The rank.
    bundled : bool
        Whether the data come with the package.
    raced : bool
        Whether it is a case of the race, too; others are for whole default fits alone.
    """

    name: str
    dataset: str
    beta: float
    n_components: int
    bundled: bool = False
    raced: bool = True


CASES = (
    Case("orl-frobenius", "orl", 2.0, 49),
    Case("mnist-frobenius", "mnist", 2.0, 49),
    Case("20news-tfidf-frobenius", "20news-tfidf", 2.0, 20),
    Case("orl-kl", "orl", 1.0, 25),
    Case("mnist-kl", "mnist10k", 1.0, 40),
    Case("20news-counts-kl", "20news-counts", 1.0, 20),
    Case("reuters-counts-kl", "reuters-counts", 1.0, 20),
    Case("20news-counts-frobenius", "20news-counts", 2.0, 20),
    Case("cbcl-frobenius", "cbcl", 2.0, 49),
    Case("cbcl-kl", "cbcl", 1.0, 49),
    Case("all-aml-frobenius", "all-aml", 2.0, 3),
    Case("all-aml-kl", "all-aml", 1.0, 3),
    Case("bbc-tfidf-frobenius", "bbc-tfidf", 2.0, 20),
    Case("bbc-counts-kl", "bbc-counts", 1.0, 20),
    # Pictures as rows, grey values from 0 to 1, as scikit-learn's own faces are: its stopping rule sees the scale.
    Case("orl-unit-frobenius", "orl-unit", 2.0, 49, raced=False),
    Case("orl-unit-kl", "orl-unit", 1.0, 25, raced=False),
    Case("mnist-unit-frobenius", "mnist-unit", 2.0, 49, raced=False),
    Case("cbcl-unit-frobenius", "cbcl-unit", 2.0, 49, raced=False),
    Case("digits-frobenius", "digits", 2.0, 16, bundled=True),
    Case("digits-kl", "digits", 1.0, 16, bundled=True),
    Case("synthetic-frobenius", "synthetic", 2.0, 20, bundled=True),
    Case("synthetic-kl", "synthetic", 1.0, 20, bundled=True),
    Case("synthetic-sparse-kl", "synthetic-sparse", 1.0, 20, bundled=True),
)


def find_case(name: str) -> Case:
    """A case by its name."""
    for case in CASES:
        if case.name == name:
            return case
    raise ValueError(f"no case is called '{name}'; there are {', '.join(c.name for c in CASES)}.")
