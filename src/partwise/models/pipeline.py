"""scikit-learn's Pipeline, and our own transformers, as models that can be saved: a pipeline of models is a model."""

from __future__ import annotations

from sklearn.pipeline import Pipeline

from partwise.datasets import DeslantCrop
from partwise.io.registry import register_model

register_model(Pipeline)

__all__ = ["DeslantCrop", "Pipeline"]
