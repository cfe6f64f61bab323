"""Lists of bit vectors."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np


def all_states(n_components: int) -> np.ndarray:
    """Every bit vector, 2^H × H; row i has the bits of the number i."""
    numbers = np.arange(2**n_components, dtype=np.int64)
    return ((numbers[:, None] >> np.arange(n_components)) & 1).astype(float)


def states_up_to(n_components: int, max_active: int) -> np.ndarray:
    """Bit vectors with at most `max_active` bits, by their number of bits."""
    rows = []
    for size in range(min(max_active, n_components) + 1):
        for members in combinations(range(n_components), size):
            row = np.zeros(n_components)
            row[list(members)] = 1.0
            rows.append(row)
    return np.array(rows)


def count_up_to(n_components: int, max_active: int) -> int:
    """The number of bit vectors with at most `max_active` bits."""
    return sum(comb(n_components, g) for g in range(min(max_active, n_components) + 1))


def walk(n_candidates: int, max_active: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Combinations of 1 to `max_active` candidates, each one candidate away from one before it.

    Returns for each: its size, the candidate added last, and its bits. Going through them in order, the sum of a
    combination's components is that of the last combination one smaller, plus one component.
    """
    level, added, bits = [], [], []

    def go(first: int, size: int, mask: int) -> None:
        for c in range(first, n_candidates):
            level.append(size)
            added.append(c)
            bits.append(mask | 1 << c)
            if size < max_active:
                go(c + 1, size + 1, mask | 1 << c)

    if max_active > 0:
        go(0, 1, 0)
    return np.array(level, np.int64), np.array(added, np.int64), np.array(bits, np.int64)


def size_distribution(activation: np.ndarray) -> np.ndarray:
    """P(|s| = g), g = 0 … H, for independent bits."""
    p = np.ones(1)
    for pi in activation:
        p = np.append(p, 0.0) * (1.0 - pi) + np.append(0.0, p) * pi
    return p
