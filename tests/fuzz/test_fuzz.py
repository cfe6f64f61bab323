"""A few damaged files of every format and for every verb; `make fuzz` tries thousands."""

import pytest
from fuzz import readers, verbs
from fuzz.batches import tally


@pytest.mark.parametrize(("module", "tries"), [(readers, 24), (verbs, 10)])
def test_damaged_files_end_in_a_result_or_a_sentence(module, tries):
    count, failures = module.run(tries, seed=len(readers.KINDS) * 10)
    assert (count, failures) == (tries, [])


def test_a_crash_is_counted_and_the_rest_is_tried(monkeypatch, tmp_path):
    (tmp_path / "fuzz").mkdir()
    (tmp_path / "fuzz" / "crashing.py").write_text(
        "import os\nKINDS = ['a', 'b']\n"
        "def attempt(kind, seed, folder):\n"
        "    if seed == 1:\n        os.abort()\n"
        "    return 'wrong' if seed == 2 else ''\n"
    )
    monkeypatch.setattr("fuzz.batches.TESTS", tmp_path)
    found = tally("crashing", 4, 0)
    assert found == {
        "a": (2, ["crashing a, seed 2: wrong"]),
        "b": (2, ["crashing b, seed 1: the process ended with code -6"]),
    }
