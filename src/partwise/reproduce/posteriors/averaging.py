"""Whether averaging over the posterior beats one answer: the rule for bits beside BooleanMF, at harder noise.

Beside both stands what cannot be decided: entries that stay wrong for someone who knows the columns of every tile,
the flip probabilities and how often each tile is used, and has to find the rows alone; and the same for columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.boolean.bit_table import BitTable
from partwise.models import BooleanMF
from partwise.reproduce.bars import with_progress
from partwise.reproduce.posteriors.plan import Plan
from partwise.reproduce.posteriors.recovery import found_again, median, wrong_by_rule
from partwise.samplers.boolean_gibbs import draw_bits
from partwise.samplers.posterior_bits import expected_wrong

#: Flip probabilities at which BooleanMF has entries wrong.
LEVELS = (0.12, 0.30), (0.15, 0.35)
#: Draws of each chain for one elsewhere: with a quarter of them R-hat is up to 1.03 at the first level. At medium
#: size these are as many as `BayesianBooleanMF` makes by itself.
LONGER = 4
#: Sweeps over the bits of one factor with the other one known; the first are not counted.
SWEEPS, SKIPPED = 170, 20


def draw(plan: Plan) -> dict[str, Any]:
    """Measure both at two levels of noise.

    Parameters
    ----------
    plan : Plan
        Sizes, tables and draws.

    Returns
    -------
    dict
        Rows for each level, with "lines".
    """
    found: dict[str, Any] = {"beside": [beside(plan, *level) for level in LEVELS]}
    found["lines"] = [
        f"  {plan.side} × {plan.side}, {plan.rank} tiles, {plan.n_tables} tables: entries wrong against the "
        "noise-free table, medians",
        *(line for row in found["beside"] for line in lines(row)),
    ]
    return found


def beside(plan: Plan, add: float, drop: float) -> dict[str, Any]:
    """Wrong entries of the rule, of BooleanMF, and of rows and columns found with the other factor known."""
    rows, draws = [], LONGER * plan.draws
    for seed in with_progress(plan.n_tables, f"noise {add:g}/{drop:g}"):
        table, model, values = found_again(plan, add, drop, draws, seed)
        best = BooleanMF(plan.rank, random_state=seed)
        usage = best.fit_transform(table.data)
        values["boolean"] = int((best.inverse_transform(usage) != table.clean).sum())
        # What the posterior expects of bits that minimise another objective: never less than of its own.
        bits = np.asarray(usage, bool), np.asarray(best.components_, bool)
        values["boolean_expected"] = expected_wrong(*bits, model.probability_["cells"])
        values["rows_alone"], values["columns_alone"] = undecided(table, add, drop, seed)
        rows.append(values)
    lists = {name: [row[name] for row in rows] for name in rows[0]}
    return {"noise_add": add, "noise_drop": drop, "tables": plan.n_tables, "draws": draws, **lists}


def undecided(table: Any, add: float, drop: float, seed: int) -> tuple[int, int]:
    """Entries wrong where one factor is known, for rows and for columns: by P(entry = 1) above ½.

    Parameters
    ----------
    table : Bunch
        From `make_boolean`.
    add, drop : float
        The flip probabilities, which are known too.
    seed : int
        Of the random numbers.

    Returns
    -------
    tuple of int
        Wrong entries, the columns of the tiles known; the rows known.
    """
    rng, seen = np.random.default_rng(seed), BitTable.of(table.data)
    usage, columns = table.usage, np.ascontiguousarray(table.components.T)
    out = []
    for side, truth, known, clean in (
        (seen.by_row, usage, columns, table.clean),
        (seen.by_column, columns, usage, table.clean.T),
    ):
        bits, covered = truth.copy(), np.zeros(clean.shape)
        for i in range(SWEEPS):
            draw_bits(side, bits, known, truth.mean(axis=0), np.array([add, drop]), 1.0, rng)
            if i >= SKIPPED:
                covered += bits.astype(np.float32) @ known.T.astype(np.float32) > 0.5
        out.append(int(((covered > 0.5 * (SWEEPS - SKIPPED)) != clean).sum()))
    return out[0], out[1]


def lines(row: dict[str, Any]) -> list[str]:
    """What was measured at a level of noise, as lines of text."""
    gaps = np.subtract(row["bits"], row["boolean"])
    error = f" ± {np.std(gaps, ddof=1) / np.sqrt(len(gaps)):.1f}" if len(gaps) > 1 else ""
    expected = np.mean(np.subtract(row["expected"], row["boolean_expected"]))
    return [
        f"{wrong_by_rule(row)}, BooleanMF {median(row['boolean'])}; rule no worse on {(gaps <= 0).sum()} of "
        f"{row['tables']}; R-hat at most {max(row['rhat']):.3f}",
        f"    means: rule {np.mean(row['bits']):.0f} (it expects {np.mean(row['expected']):.0f}), BooleanMF "
        f"{np.mean(row['boolean']):.0f}; rule minus BooleanMF {gaps.mean():.1f}{error}, median "
        f"{median(gaps.tolist())}, expected {expected:.1f}",
        f"    cannot be decided: {np.mean(row['rows_alone']):.0f} wrong with the columns known, "
        f"{np.mean(row['columns_alone']):.0f} with the rows known",
    ]
