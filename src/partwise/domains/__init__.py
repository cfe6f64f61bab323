"""Raw data of one kind and the matrix that is factorized: texts, pictures, recordings, networks, cells.

What is offered is listed in `__init__.pyi`, and imported when first used, since estimators need scikit-learn.
"""

from partwise.lazy import exports, importer

_HOMES = exports(__name__, __file__)
__all__ = sorted(_HOMES)
__getattr__ = importer(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
