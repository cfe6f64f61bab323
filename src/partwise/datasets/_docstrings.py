"""The docstrings of scipy: a real corpus that every installation has."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

#: Submodules that have been in scipy for long, and that write about different things.
_MODULES = (
    "cluster.hierarchy",
    "fft",
    "integrate",
    "interpolate",
    "io",
    "linalg",
    "ndimage",
    "optimize",
    "signal",
    "sparse",
    "spatial",
    "special",
    "stats",
)
#: Docstrings of fewer words say little; they are mostly of aliases and wrappers.
_FEWEST_WORDS = 30


def load_docstrings() -> Bunch:
    """Load the docstrings of scipy's public functions and classes, labelled by submodule.

    They are read from the scipy that is installed, so that nothing is downloaded; how many there are depends on its
    version, about 1300. Docstrings of fewer than thirty words are left out, and one that several names share is taken
    once.

    Returns
    -------
    Bunch
        ``data`` (a list of texts, sorted by submodule and name), ``names`` (as "linalg.svd"), ``target`` (the number
        of the submodule), ``target_names`` and ``DESCR``.

    Examples
    --------
    >>> from partwise.datasets import load_docstrings
    >>> docs = load_docstrings()
    >>> docs.data[docs.names.index("linalg.svd")].split(".")[0]
    'Singular Value Decomposition'
    """
    import scipy
    from sklearn.utils import Bunch

    texts: list[str] = []
    names: list[str] = []
    target: list[int] = []
    seen: set[str] = set()
    for number, module in enumerate(_MODULES):
        for name, text in _documented(importlib.import_module(f"scipy.{module}")):
            if text not in seen and len(text.split()) >= _FEWEST_WORDS:
                seen.add(text)
                texts.append(text)
                names.append(f"{module}.{name}")
                target.append(number)
    return Bunch(
        data=texts,
        names=names,
        target=np.array(target, dtype=np.int64),
        target_names=np.array(_MODULES),
        DESCR=f"Docstrings of {len(texts)} public functions and classes of scipy {scipy.__version__}, labelled by "
        "submodule (BSD-3-Clause).",
    )


def _documented(module: Any) -> list[tuple[str, str]]:
    """Names and docstrings of what a module exports, sorted by name; submodules and constants have none."""
    found = []
    for name in sorted(set(getattr(module, "__all__", ()))):
        value = getattr(module, name, None)
        text = inspect.getdoc(value) if callable(value) else None
        if text:
            found.append((name, text))
    return found
