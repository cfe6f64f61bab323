"""A fast part of the numerical torture; `make fuzz` has the long one."""

from fuzz.torture import DATA, KINDS, attempt


def test_nothing_breaks(tmp_path):
    # Every kind of model, and different kinds of data.
    seeds = [i * len(KINDS) * 5 % (len(KINDS) * len(DATA)) + i for i in range(len(KINDS))]
    failures = [attempt(KINDS[seed % len(KINDS)], seed, tmp_path) for seed in seeds]
    assert [one for one in failures if one] == []
