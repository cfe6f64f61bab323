"""A run that has done little ends when as much again would gain little."""

import pytest

from partwise.core import Info, RelativeProgress


def stopped_after(rule, falls):
    objective = 1.0
    rule.begin(objective)
    for step, fall in enumerate(falls, start=1):
        objective *= 1.0 - fall
        if rule.done(Info(step, objective)):
            return step
    return None


@pytest.mark.parametrize(("fall", "step"), [(4e-4, 10), (2e-4, 10), (6e-4, None)])
def test_few_steps_may_end_at_a_larger_fall(fall, step):
    assert stopped_after(RelativeProgress(1e-4, ahead=50.0), [fall] * 30) == step
    assert stopped_after(RelativeProgress(1e-4), [fall] * 30) is None


def test_many_steps_end_at_the_tolerance_itself():
    late = [6e-4] * 100 + [1.5e-4] * 40
    assert stopped_after(RelativeProgress(1e-4, ahead=50.0), late) is None
    assert stopped_after(RelativeProgress(1e-4, ahead=50.0), [*late, *[5e-5] * 20]) == 146
