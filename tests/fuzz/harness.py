"""Damaged files, hostile numbers, and processes killed while they write: a table of tries and failures.

    python tests/fuzz/harness.py [--readers 2400] [--verbs 600] [--model-files 600] [--torture 600] [--kills 100]
                                 [--seed 0]

Damaged files go to every reader, verb and model file; `torture.py` fits every kind of model to data that break
careless arithmetic; `kills.py` kills processes that write, and fills their disks. A failure is a crash, a hang,
any exception but one of partwise's sentences, a wrong number, or a file that is not whole. It is named by its seed,
with which its module does the same again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import kills
from fuzz.batches import tally


def main() -> int:
    """Try, print the table and the failures; the exit code says whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=2400, help="damaged data files to read and to fit")
    parser.add_argument("--verbs", type=int, default=600, help="verbs to run on damaged files")
    parser.add_argument("--model-files", type=int, default=600, help="damaged model files to load and to use")
    parser.add_argument("--torture", type=int, default=600, help="fits of extreme data")
    parser.add_argument(
        "--kills", type=int, default=100, help="processes killed, or out of disk, while they write"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures: list[str] = []
    print(f"{'':12} {'kind':28} {'tries':>6} {'failures':>9}")

    def row(module: str, kind: str, count: int, lines: list[str]) -> None:
        print(f"{module:12} {kind:28} {count:6} {len(lines):9}", flush=True)
        failures.extend(lines)

    for module, tries in (
        ("readers", given.readers),
        ("verbs", given.verbs),
        ("model_files", given.model_files),
        ("torture", given.torture),
    ):
        for kind, (count, lines) in tally(module, tries, given.seed).items():
            row(module, kind, count, lines)
    for name, outcomes in kills.survey(given.kills, given.seed).items():
        row("kills", name, len(outcomes), [f"kills {name}: {one}" for one in outcomes if one is not None])
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
