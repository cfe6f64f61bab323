"""partwise learns the parts of data: nonnegative, binary and Boolean matrix factorization.

Names are imported when first used, so that the command line answers before numerical libraries are loaded. They are
listed in `__init__.pyi`.
"""

from partwise.lazy import exports, importer

_HOMES = exports(__name__, __file__)
__all__ = sorted(_HOMES)
__getattr__ = importer(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
