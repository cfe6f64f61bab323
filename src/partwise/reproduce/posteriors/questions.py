"""The six questions of Gonsior (2019, section 3.3.1), answered by what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np


def answers(found: dict[str, Any]) -> list[str]:
    """The questions, each with what we find.

    Parameters
    ----------
    found : dict
        What every group found.

    Returns
    -------
    list of str
        Lines of text.
    """
    rows = found["thresholds"]["rows"]
    ratios = found["spreads"]["ratios"]
    random = [row for row in rows if row["start"] == "random" and row["batch"] == 512]
    by_batch = {
        batch: int(
            np.median([row["best"] for row in rows if row["start"] == "random" and row["batch"] == batch])
        )
        for batch in (75, 250, 512)
    }
    spread = [ratio for name, ratio in ratios.items() if "optimum" in name]
    levels, kinds = found["noise_levels"]["rows"], found["ambiguity"]
    rule = found["thresholds"]["rule"]
    return [
        "The six questions of section 3.3.1",
        "  1 Does IASG converge to a distribution around an optimum? To an optimum, not to a distribution: "
        "from random "
        f"starts with full batches {', '.join(str(row['best']) for row in random)} entries are wrong at the "
        "best threshold, "
        f"while its standard deviations, begun at the optimum, are {min(spread):.3f} to {max(spread):.3f} of "
        "the exact ones.",
        "  2 What does the batch size do? Median of wrong entries from random starts: "
        + ", ".join(f"batch {batch} {wrong:,}" for batch, wrong in by_batch.items())
        + ". "
        + (
            "Gradients are unscaled, as published, so that the prior weighs more the smaller the batch."
            if found["paper"]
            else "Gradients are scaled; unscaled ones (--paper) give the prior more weight the smaller the batch."
        ),
        "  3 What does the uncertainty express? Two things. In the relaxed model both give intermediate means "
        f"(ambiguous {kinds['relaxed']['ambiguous'][0]:.2f}, uncertain "
        f"{kinds['relaxed']['uncertain'][0]:.2f}), and at "
        "the same mean uncertain entries deviate more; of bits the deviation follows from the mean, and the doubt "
        f"about their entries tells them apart ({kinds['bits']['told apart by entries']:.2f} of 1).",
        "  4 How do uncertainties look around a known optimum? IASG stays where it began, with small deviations. "
        "Exact draws under σ² = 1 leave it: their means of planted ones and zeros are "
        f"{found['means']['levels']['exact'][0]:.2f} and {found['means']['levels']['exact'][1]:.2f}, for a variance "
        "of 1 is more than a table of zeros and ones has.",
        "  5 Does the uncertainty give better bits? Yes, in the OR model: the bits with the smallest expected "
        "error have "
        + ", ".join(f"{wrong} wrong on {name}" for name, wrong in rule.items())
        + " data, without a threshold and without the noise-free table.",
        "  6 How does high noise show? As doubt: from "
        f"{100 * levels[0]['doubtful']:.2f} % of the entries at {levels[0]['add']:g}/{levels[0]['drop']:g} to "
        f"{100 * levels[-1]['doubtful']:.1f} % at {levels[-1]['add']:g}/{levels[-1]['drop']:g}, with "
        f"{levels[-1]['expected']:.0f} "
        f"wrong entries expected there and {levels[-1]['wrong']} found.",
    ]
