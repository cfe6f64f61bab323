"""Settings for every test."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from partwise.plugins import load_plugins

ROOT = Path(__file__).parents[1]

# The sweeps take what is registered: pieces of installed packages are held to the same laws.
load_plugins()

# At a desk every run looks at new examples; where a red run blocks others, it looks at the same ones each time.
settings.register_profile(
    "laws",
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("laws")


def visible(folder):
    """Names in a folder; caches of the tools that run the tests begin with a dot."""
    return {name for name in os.listdir(folder) if not name.startswith(".") and name != "__pycache__"}


@pytest.fixture(autouse=True)
def leaves_nothing_behind():
    """Tests write below tmp_path: whoever forgets a folder for results finds out here."""
    before = visible(ROOT)
    yield
    left = visible(ROOT) - before
    assert not left, f"the test left {', '.join(sorted(left))} in {ROOT}; write below tmp_path."
