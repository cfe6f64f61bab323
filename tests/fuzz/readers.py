"""Damaged data files of every format, read and fitted: a table or one sentence comes back, nothing else.

python -c "from fuzz.readers import run; print(run(200, 0))"
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import batches
from fuzz.damage import damaged_file

from partwise.io.readers import known_suffixes

#: Every format of the registry.
KINDS = known_suffixes()


def run(tries: int, seed: int) -> tuple[int, list[str]]:
    """Read and fit `tries` files; return how many, and a line for each failure."""
    return batches.run("readers", tries, seed)


def attempt(kind: str, seed: int, folder: Path) -> str:
    """Read one damaged file and fit what it holds; "" or what went wrong."""
    from partwise.io import DataError, read

    path = damaged_file(kind, seed, folder, bomb=seed // len(KINDS) % 20 == 0)
    with warnings.catch_warnings():
        # A warning of NumPy about overflow is no sentence for a user.
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            table = read(path, stack=seed % 2 == 0)
        except DataError as error:
            said = path.name in str(error) or "pip install" in str(error)
            return "" if said else f"the sentence does not name the file: {error}"
        except Exception as error:
            return f"read: {type(error).__name__}: {error}"
        return fit(table.data)


def fit(X: Any) -> str:
    """Fit models to what was read; "" or what went wrong."""
    from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier

    y = np.arange(X.shape[0]) % 2
    dense = X if not hasattr(X, "toarray") else X.toarray() if X.shape[0] * X.shape[1] < 10**5 else None
    for name, work in {
        "NMF": lambda: NMF(2, max_iter=2).fit(X),
        "NMF of KL": lambda: NMF(2, beta_loss="kullback-leibler", max_iter=1).fit(X),
        "BooleanMF": lambda: BooleanMF(2, max_time=0.02).fit(X),
        "BinaryNMF": lambda: BinaryNMF(2, max_iter=1).fit(X),
        "MixtureClassifier": lambda: (
            None if dense is None else MixtureClassifier(1, max_iter=1).fit(dense, y)
        ),
    }.items():
        try:
            work()
        except ValueError:
            continue
        except Exception as error:
            return f"{name}: {type(error).__name__}: {error}"
    return ""
