"""Settings for every test."""

from hypothesis import HealthCheck, settings

settings.register_profile("laws", deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
settings.load_profile("laws")
