"""scikit-learn's Pipeline as a model that can be saved, and the transformers of partwise that may be its steps.

A model file names classes; importing this module registers those it may name.
"""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from partwise.domains.image import DeslantCrop
from partwise.io.registry import register_model

register_model(Pipeline)

__all__ = ["DeslantCrop", "Pipeline"]
