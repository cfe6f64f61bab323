"""A fast part of kills.py; and files that processes left behind when they were killed."""

import os
import time

import pytest

kills = pytest.importorskip("fuzz.kills", reason="needs fork and limits on the size of files")


@pytest.mark.parametrize("name", [name for name in kills.CASES if name != "compiling at once"])
def test_every_file_is_whole(name):
    share = kills.CASES[name][1]
    # Verbs and checkpoints take seconds each; `make fuzz` has many more of them.
    tries = 2 if "checkpoints" in name else 4 if "verbs" in name else 8
    each = kills.survey(int(tries / share), 0, name)[name]
    assert each
    assert [one for one in each if one is not None] == []


def test_what_a_killed_process_left_is_deleted_when_it_is_old(tmp_path):
    file = tmp_path / "summary.json"
    names = [f".summary.json.{i}123456789ab.tmp" for i in range(2)]
    others = [".other.json.0123456789ab.tmp", ".summary.json.old.tmp", "summary.json.0123456789ab.tmp"]
    for name in (*names, *others):
        (tmp_path / name).touch()
    for name in (names[0], *others):
        os.utime(tmp_path / name, (time.time() - 1e5,) * 2)
    kills.write_json(file, {})
    assert {path.name for path in tmp_path.iterdir()} == {"summary.json", names[1], *others}
