"""Settings for every test."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from partwise.plugins import load_plugins

ROOT = Path(__file__).parents[1]

# A shell makes programs in the background deaf to Ctrl-C, which many tests press.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The sweeps take what is registered: pieces of installed packages are held to the same laws.
load_plugins()

# On a developer's machine every run draws new examples; in continuous integration the same ones each time.
settings.register_profile(
    "laws",
    deadline=None,
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("laws")


def visible(folder):
    """Names in a folder; caches of the tools that run the tests begin with a dot."""
    return {name for name in os.listdir(folder) if not name.startswith(".") and name != "__pycache__"}


@pytest.fixture(autouse=True)
def leaves_nothing_behind():
    """Fail a test that writes into the repository instead of below tmp_path."""
    before = visible(ROOT)
    yield
    left = visible(ROOT) - before
    assert not left, f"the test left {', '.join(sorted(left))} in {ROOT}; write below tmp_path."
