"""The one objective, the one loop, and what they hand to each other."""

from partwise.core.checkpoint import Checkpoint, digest
from partwise.core.problem import Problem
from partwise.core.progress import History, ProgressBar
from partwise.core.run import Callback, Method, Result, run
from partwise.core.session import (
    BranchSession,
    Interrupted,
    Session,
    branch_session,
    current_session,
    joined_session,
    open_session,
    whole_session,
)
from partwise.core.state import Info, RunState, State
from partwise.core.stopping import ObjectiveEveryTen, RelativeProgress, SmallGain, Stopping, ViolationRatio

__all__ = [
    "BranchSession",
    "Callback",
    "Checkpoint",
    "History",
    "Info",
    "Interrupted",
    "Method",
    "ObjectiveEveryTen",
    "Problem",
    "ProgressBar",
    "RelativeProgress",
    "Result",
    "RunState",
    "Session",
    "SmallGain",
    "State",
    "Stopping",
    "ViolationRatio",
    "branch_session",
    "current_session",
    "digest",
    "joined_session",
    "open_session",
    "run",
    "whole_session",
]
