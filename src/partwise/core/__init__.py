"""The one objective, the one loop, and what they hand to each other."""

from partwise.core.callbacks import Countdown, History, Progress
from partwise.core.problem import Problem
from partwise.core.run import Interrupted, Result, run
from partwise.core.state import Info, State
from partwise.core.stopping import ObjectiveEveryTen, RelativeProgress, Stopping, ViolationRatio

__all__ = [
    "Countdown",
    "History",
    "Info",
    "Interrupted",
    "ObjectiveEveryTen",
    "Problem",
    "Progress",
    "RelativeProgress",
    "Result",
    "State",
    "Stopping",
    "ViolationRatio",
    "run",
]
