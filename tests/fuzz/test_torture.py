"""A fast part of the numerical torture; `python tests/fuzz/torture.py 2000` is the long one."""

from fuzz.torture import run


def test_nothing_breaks():
    tried, failures = run(30, 0)
    assert tried == 30
    assert failures == []
