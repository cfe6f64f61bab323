"""Damaged files against every reader, verb and model file: a table of tries and failures.

    python tests/fuzz/harness.py [--readers 2400] [--verbs 600] [--model-files 600] [--seed 0]

A failure is a crash, a process that hangs, or any exception but one of partwise's sentences; it is named by its seed,
with which `attempt` of its module does the same again.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.batches import tally


def main() -> int:
    """Try, print the table and the failures; the exit code says whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=2400, help="damaged data files to read and to fit")
    parser.add_argument("--verbs", type=int, default=600, help="verbs to run on damaged files")
    parser.add_argument("--model-files", type=int, default=600, help="damaged model files to load and to use")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failures: list[str] = []
    print(f"{'':12} {'kind':24} {'tries':>6} {'failures':>9}")
    for module, tries in (
        ("readers", given.readers),
        ("verbs", given.verbs),
        ("model_files", given.model_files),
    ):
        if importlib.util.find_spec(f"fuzz.{module}") is None:
            continue
        for kind, (count, lines) in tally(module, tries, given.seed).items():
            print(f"{module:12} {kind:24} {count:6} {len(lines):9}", flush=True)
            failures += lines
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
