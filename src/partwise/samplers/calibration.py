"""Whether a sampler draws from the posterior it claims to draw from.

Two tests that need no posterior to compare with. Simulation-based calibration (Talts et al. 2018): parameters drawn
from the prior, data drawn given them, and the rank of the parameters among draws from their posterior; the ranks must
be uniform. The joint-distribution test (Geweke 2004): a chain that alternates a step of the sampler with new data
must have the prior as its distribution of parameters. Both are judged at the 1 % level over all quantities together.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import chi2, norm

from partwise.samplers.chains import Kernel
from partwise.samplers.diagnostics import mcse_mean

#: The exact samplers: name → "module:function", where the function makes the `CalibrationCase`.
CASES: dict[str, str] = {
    "boolean_gibbs": "partwise.samplers.boolean_cases:bits_case",
    "relaxed_gibbs": "partwise.samplers.boolean_cases:relaxed_case",
    "relaxed_gibbs_beta": "partwise.samplers.boolean_cases:beta_case",
    "gaussian_gibbs": "partwise.samplers.gaussian_gibbs:calibration_case",
    "poisson_gibbs": "partwise.samplers.poisson_gibbs:calibration_case",
}
#: Below which the smallest corrected p-value of a test fails.
LEVEL = 0.01


@dataclass(frozen=True)
class CalibrationCase:
    """A sampler on a small problem, with the prior it assumes.

    Parameters
    ----------
    kernel : Kernel
        The sampler.
    simulate : callable
        ``simulate(rng) -> (problem, state)``: parameters from the prior, and data given these.
    start : callable
        ``start(problem, rng) -> state``: where a chain begins that does not know the parameters.
    resimulate : callable
        ``resimulate(problem, state, rng) -> (problem, state)``: new data for the same parameters.
    quantities : callable
        ``quantities(problem, state) -> dict``: numbers that do not depend on the order of components and have finite
        prior variance.
    n_warmup, thin : int
        Steps before the first draw, and between draws that are nearly independent.
    """

    kernel: Kernel
    simulate: Callable[[np.random.Generator], tuple[Any, Any]]
    start: Callable[[Any, np.random.Generator], Any]
    resimulate: Callable[[Any, Any, np.random.Generator], tuple[Any, Any]]
    quantities: Callable[[Any, Any], Mapping[str, float]]
    n_warmup: int = 200
    thin: int = 10


@dataclass(frozen=True)
class CalibrationReport:
    """What the two tests say of a sampler.

    Parameters
    ----------
    name : str
        Which sampler.
    n_simulations, n_draws, n_steps : int
        Simulations of the first test, draws of each, steps of the second test.
    rank_pvalues : dict of str to float
        p-value of the uniformity of ranks, for each quantity.
    joint_pvalues : dict of str to float
        p-value of the difference of means, for each quantity and its square.
    """

    name: str
    n_simulations: int
    n_draws: int
    n_steps: int
    rank_pvalues: dict[str, float] = field(default_factory=dict)
    joint_pvalues: dict[str, float] = field(default_factory=dict)

    @property
    def smallest(self) -> tuple[float, float]:
        """The smallest p-value of each test, times the number of quantities."""
        return corrected(self.rank_pvalues), corrected(self.joint_pvalues)

    @property
    def passed(self) -> bool:
        """Whether both tests find nothing at the 1 % level."""
        return min(self.smallest) > LEVEL


def corrected(pvalues: Mapping[str, float]) -> float:
    """The smallest p-value, corrected for their number (Bonferroni).

    Parameters
    ----------
    pvalues : mapping of str to float
        One for each quantity.

    Returns
    -------
    float
        At most 1.
    """
    return min(1.0, len(pvalues) * min(pvalues.values())) if pvalues else 1.0


def simulated_ranks(
    case: CalibrationCase, n_simulations: int, n_draws: int, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Ranks of the parameters that data were simulated from, among draws from the posterior.

    Parameters
    ----------
    case : CalibrationCase
        The sampler and its prior.
    n_simulations : int
        How many data sets.
    n_draws : int
        Draws for each; ranks are 0 … n_draws.
    rng : Generator
        Where random numbers come from.

    Returns
    -------
    dict of str to array of int of shape (n_simulations,)
        The ranks of each quantity; ties are broken at random.
    """
    ranks: dict[str, list[int]] = {}
    for own in rng.spawn(n_simulations):
        problem, truth = case.simulate(own)
        true = case.quantities(problem, truth)
        state = case.start(problem, own)
        below, equal = dict.fromkeys(true, 0), dict.fromkeys(true, 0)
        for step in range(case.n_warmup + n_draws * case.thin):
            state, _ = case.kernel.step(problem, state, own)
            after = step + 1 - case.n_warmup
            if after > 0 and after % case.thin == 0:
                for name, value in case.quantities(problem, state).items():
                    below[name] += value < true[name]
                    equal[name] += value == true[name]
        for name in true:
            ranks.setdefault(name, []).append(below[name] + int(own.integers(0, equal[name] + 1)))
    return {name: np.array(values) for name, values in ranks.items()}


def uniformity(ranks: np.ndarray, n_draws: int, bins: int | None = None) -> float:
    """Whether ranks 0 … n_draws occur equally often.

    Parameters
    ----------
    ranks : array of int
        The ranks.
    n_draws : int
        The largest rank there can be.
    bins : int, optional
        Number of bins for the ranks, in each of which the same number of ranks fall as far as possible; by default as
        many as give each an expectation of ten.

    Returns
    -------
    float
        The p-value of the χ² test.
    """
    bins = max(2, min(len(ranks) // 10, n_draws + 1)) if bins is None else bins
    edges = np.round(np.linspace(0, n_draws + 1, bins + 1)).astype(int)
    expected = len(ranks) * np.diff(edges) / (n_draws + 1)
    seen = np.histogram(ranks, edges - 0.5)[0]
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), bins - 1))


def joint_pvalues(case: CalibrationCase, n_steps: int, rng: np.random.Generator) -> dict[str, float]:
    """Geweke's test: means over the prior against means over a chain of parameters and data.

    Parameters
    ----------
    case : CalibrationCase
        The sampler and its prior.
    n_steps : int
        Steps of the chain, and independent draws from the prior.
    rng : Generator
        Where random numbers come from.

    Returns
    -------
    dict of str to float
        A p-value for the mean of each quantity and of its square.
    """
    first, second = rng.spawn(2)
    prior = [case.quantities(*case.simulate(first)) for _ in range(n_steps)]
    problem, state = case.simulate(second)
    chain = []
    for _ in range(n_steps):
        state, _ = case.kernel.step(problem, state, second)
        problem, state = case.resimulate(problem, state, second)
        chain.append(case.quantities(problem, state))
    found = {}
    for name in prior[0]:
        independent, dependent = (np.array([one[name] for one in seen]) for seen in (prior, chain))
        for word, power in ((name, 1), (f"{name}²", 2)):
            a, b = independent**power, dependent**power
            error = np.hypot(a.std(ddof=1) / np.sqrt(n_steps), float(mcse_mean(b[None])))
            found[word] = float(2.0 * norm.sf(abs(a.mean() - b.mean()) / error)) if error > 0 else 1.0
    return found


def calibrate(
    name: str,
    case: CalibrationCase,
    *,
    n_simulations: int = 200,
    n_draws: int = 99,
    n_steps: int = 20_000,
    seed: int = 0,
) -> CalibrationReport:
    """Both tests of one sampler.

    Parameters
    ----------
    name : str
        Which sampler.
    case : CalibrationCase
        The sampler and its prior.
    n_simulations, n_draws : int
        Data sets of simulation-based calibration, and draws for each.
    n_steps : int
        Steps of Geweke's chain.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    CalibrationReport
        The p-values.
    """
    by_rank, by_mean = np.random.default_rng(seed).spawn(2)
    ranks = simulated_ranks(case, n_simulations, n_draws, by_rank)
    return CalibrationReport(
        name,
        n_simulations,
        n_draws,
        n_steps,
        {quantity: uniformity(seen, n_draws) for quantity, seen in ranks.items()},
        joint_pvalues(case, n_steps, by_mean),
    )


def make_case(name: str) -> CalibrationCase:
    """The registered case of a sampler.

    Parameters
    ----------
    name : str
        A key of `CASES`.

    Returns
    -------
    CalibrationCase
        The sampler on its small problem.
    """
    module, function = CASES[name].split(":")
    return getattr(importlib.import_module(module), function)()


def report_table(reports: list[CalibrationReport]) -> str:
    """Reports as a table in Markdown.

    Parameters
    ----------
    reports : list of CalibrationReport
        One for each sampler.

    Returns
    -------
    str
        A line for each sampler: quantities, the smallest corrected p-value of each test, and the verdict.
    """
    lines = [
        "| sampler | simulations × draws | quantities | ranks: least p (corrected) | steps of Geweke's chain | "
        "moments: least p (corrected) | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in reports:
        ranks, moments = one.smallest
        lines.append(
            f"| `{one.name}` | {one.n_simulations} × {one.n_draws} | {len(one.rank_pvalues)} | {ranks:.3f} | "
            f"{one.n_steps} | {moments:.3f} | {'passes' if one.passed else 'FAILS'} |"
        )
    return "\n".join(lines)
