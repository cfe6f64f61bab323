"""Raw data of one kind and the matrix that is factorized.

annotated.py, AnnData; graph_files.py, networks in files; image.py, upright pictures; networks.py, layers of neural
networks; pictures.py, folders of pictures.

Names are imported when first used, since estimators need scikit-learn.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from partwise.domains.annotated import layer_of, store, store_file
    from partwise.domains.graph_files import Graph, graph_of, node_labels, read_graph
    from partwise.domains.image import DeslantCrop
    from partwise.domains.networks import activations, with_activations
    from partwise.domains.pictures import Pictures, picture_image, read_pictures

_HOME = {
    "DeslantCrop": "partwise.domains.image",
    "Graph": "partwise.domains.graph_files",
    "Pictures": "partwise.domains.pictures",
    "activations": "partwise.domains.networks",
    "graph_of": "partwise.domains.graph_files",
    "layer_of": "partwise.domains.annotated",
    "node_labels": "partwise.domains.graph_files",
    "picture_image": "partwise.domains.pictures",
    "read_graph": "partwise.domains.graph_files",
    "read_pictures": "partwise.domains.pictures",
    "store": "partwise.domains.annotated",
    "store_file": "partwise.domains.annotated",
    "with_activations": "partwise.domains.networks",
}

__all__ = [
    "DeslantCrop",
    "Graph",
    "Pictures",
    "activations",
    "graph_of",
    "layer_of",
    "node_labels",
    "picture_image",
    "read_graph",
    "read_pictures",
    "store",
    "store_file",
    "with_activations",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'partwise.domains' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
