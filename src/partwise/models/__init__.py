"""The public estimators, and the files they are kept in (which name models, so models come first).

Each is imported when first used, so that one model need not wait for the kernels of the others. They are
listed in `__init__.pyi`.
"""

import importlib

from partwise.io.registry import provide_models
from partwise.lazy import exports, importer

_HOMES = exports(__name__, __file__)
__all__ = sorted(_HOMES)
__getattr__ = importer(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__


def import_all() -> None:
    """Import every model module; each registers its models, whose names may then occur in model files."""
    for home in (*sorted(set(_HOMES.values())), "partwise.models.pipeline"):
        importlib.import_module(home)


provide_models(import_all)
