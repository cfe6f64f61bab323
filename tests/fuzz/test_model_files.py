"""A part of the damaged and forged model files; `make fuzz` tries many more."""

import random

from fuzz.model_files import KINDS, damaged, entries_of, packed, run


def test_no_damaged_model_file_ends_in_a_traceback():
    tries, failures = run(70, seed=0)
    assert tries == 70
    assert failures == []


def test_the_files_are_damaged():
    for number in range(35):
        kind = KINDS[number % len(KINDS)]
        assert damaged(kind, random.Random(number)) != packed(entries_of(kind))
