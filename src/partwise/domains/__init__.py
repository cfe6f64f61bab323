"""Raw data of one kind and the matrix that is factorized.

annotated.py, AnnData; image.py, upright pictures; networks.py, activations of layers; audio.py, recordings, with
spectrogram.py, pitch.py, onsets.py, timbre.py and likeness.py.

Names are imported when first used, since estimators need scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.domains.annotated import layer_of, store
    from partwise.domains.audio import Recording, read_audio, write_audio
    from partwise.domains.image import DeslantCrop
    from partwise.domains.networks import activations, with_activations
    from partwise.domains.onsets import find_onsets
    from partwise.domains.pitch import fundamental, note_frequency, note_name
    from partwise.domains.spectrogram import ShortTime

_HOME = {
    "DeslantCrop": "partwise.domains.image",
    "Recording": "partwise.domains.audio",
    "ShortTime": "partwise.domains.spectrogram",
    "activations": "partwise.domains.networks",
    "find_onsets": "partwise.domains.onsets",
    "fundamental": "partwise.domains.pitch",
    "layer_of": "partwise.domains.annotated",
    "note_frequency": "partwise.domains.pitch",
    "note_name": "partwise.domains.pitch",
    "read_audio": "partwise.domains.audio",
    "store": "partwise.domains.annotated",
    "with_activations": "partwise.domains.networks",
    "write_audio": "partwise.domains.audio",
}

__all__ = [
    "DeslantCrop",
    "Recording",
    "ShortTime",
    "activations",
    "find_onsets",
    "fundamental",
    "layer_of",
    "note_frequency",
    "note_name",
    "read_audio",
    "store",
    "with_activations",
    "write_audio",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.domains' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
