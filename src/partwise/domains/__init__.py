"""Raw data of one kind and the matrix that is factorized.

annotated.py, AnnData; image.py, upright pictures; networks.py, activations of layers; text.py, documents and their
words, with stop_words.py, text_files.py and text_measures.py.

Names are imported when first used, since estimators need scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.domains.annotated import layer_of, store
    from partwise.domains.image import DeslantCrop
    from partwise.domains.networks import activations, with_activations
    from partwise.domains.text import document_term_matrix, leading_words, make_vectorizer
    from partwise.domains.text_files import read_documents
    from partwise.domains.text_measures import (
        near_duplicates,
        npmi_coherence,
        topic_diversity,
        umass_coherence,
    )

_HOME = {
    "DeslantCrop": "partwise.domains.image",
    "activations": "partwise.domains.networks",
    "document_term_matrix": "partwise.domains.text",
    "layer_of": "partwise.domains.annotated",
    "leading_words": "partwise.domains.text",
    "make_vectorizer": "partwise.domains.text",
    "near_duplicates": "partwise.domains.text_measures",
    "npmi_coherence": "partwise.domains.text_measures",
    "read_documents": "partwise.domains.text_files",
    "store": "partwise.domains.annotated",
    "topic_diversity": "partwise.domains.text_measures",
    "umass_coherence": "partwise.domains.text_measures",
    "with_activations": "partwise.domains.networks",
}

__all__ = [
    "DeslantCrop",
    "activations",
    "document_term_matrix",
    "layer_of",
    "leading_words",
    "make_vectorizer",
    "near_duplicates",
    "npmi_coherence",
    "read_documents",
    "store",
    "topic_diversity",
    "umass_coherence",
    "with_activations",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.domains' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
