"""Calibration of every registered exact sampler (`make calibration`): writes docs/calibration.md.

    python tests/calibration/run.py [NAME …] [--simulations 240] [--steps 20000] [--seed 0] [-o FILE]

Exit code 1 if a sampler fails. With names, only these samplers are run, and nothing is written unless -o is given.
"""

import argparse
import sys
import time
from pathlib import Path

from partwise.samplers.calibration import CASES, LEVEL, calibrate, make_case, report_table

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"
HEAD = f"""# Calibration of the samplers

Whether each exact sampler draws from the posterior it claims to draw from, as `make calibration` finds it.

**Ranks**: simulation-based calibration (Talts et al. 2018). Parameters are drawn from the prior and data given them;
the rank of a parameter among draws from the posterior must be uniform, which a χ² test judges. **Moments**: the
joint-distribution test of Geweke (2004). A chain that alternates a step of the sampler with new data must have the
moments of the prior. Each p-value is the smallest over all quantities times their number; a sampler fails below
{LEVEL:g}.

"""


def main() -> int:
    """Run, print and write the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(sorted(CASES))}")
    options.add_argument("--simulations", type=int, default=240)
    options.add_argument("--draws", type=int, default=99)
    options.add_argument("--steps", type=int, default=20_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("-o", type=Path, help="file for the table")
    given = options.parse_args()
    reports = []
    for name in given.names or sorted(CASES):
        begin = time.perf_counter()
        case = make_case(name)
        reports.append(
            calibrate(
                name,
                case,
                n_simulations=given.simulations,
                n_draws=given.draws,
                n_steps=given.steps,
                seed=given.seed,
            )
        )
        print(report_table(reports[-1:]).splitlines()[-1], f"{time.perf_counter() - begin:.0f} s", flush=True)
        for test in (reports[-1].rank_pvalues, reports[-1].joint_pvalues):
            print("   ", ", ".join(f"{quantity} {p:.3g}" for quantity, p in test.items()), flush=True)
    page = given.o or (None if given.names else PAGE)
    if page is not None:
        page.write_text(HEAD + report_table(reports) + "\n", encoding="utf-8")
    return 0 if all(one.passed for one in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
