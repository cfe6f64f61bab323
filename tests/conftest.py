"""Settings for every test."""

import os

from hypothesis import HealthCheck, settings

# At a desk every run looks at new examples; where a red run blocks others, it looks at the same ones each time.
settings.register_profile(
    "laws",
    deadline=None,
    max_examples=25,
    suppress_health_check=list(HealthCheck),
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("laws")
