"""Zachary's karate club, bundled so that examples of graphs need no download."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Each member with those of higher numbers that he met outside the club.
_MEETINGS = """
1:2,3,4,5,6,7,8,9,11,12,13,14,18,20,22,32 2:3,4,8,14,18,20,22,31 3:4,8,9,10,14,28,29,33 4:8,13,14 5:7,11 6:7,11,17
7:17 9:31,33,34 10:34 14:34 15:33,34 16:33,34 19:33,34 20:34 21:33,34 23:33,34 24:26,28,30,33,34 25:26,28,32 26:32
27:30,34 28:34 29:32,34 30:33,34 31:33,34 32:33,34 33:34
"""
_OFFICERS = (10, 15, 16, 19, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34)


def load_karate() -> Bunch:
    """Load Zachary's karate club: who met whom outside the club, before it split in two.

    Returns
    -------
    Bunch
        ``data`` (34 × 34 members, CSR, symmetric, 1 where two met; also as ``adjacency``), ``edges`` (78 × 2, each
        edge once), ``target`` (the club that a member joined after the split), ``target_names``, ``names`` (their
        numbers) and ``DESCR``.

    Notes
    -----
    W. W. Zachary (1977), An information flow model for conflict and fission in small groups. Journal of
    Anthropological Research 33, 452-473.

    Examples
    --------
    >>> from partwise import SymmetricNMF
    >>> from partwise.datasets import load_karate
    >>> club = load_karate()
    >>> found = SymmetricNMF(2).fit_predict(club.data)
    >>> wrong = int((found != club.target).sum())
    >>> min(wrong, 34 - wrong)
    1
    """
    from sklearn.utils import Bunch

    lists = [entry.split(":") for entry in _MEETINGS.split()]
    edges = (
        np.array([(int(first), int(second)) for first, others in lists for second in others.split(",")]) - 1
    )
    both = np.concatenate([edges, edges[:, ::-1]])
    adjacency = sp.coo_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(34, 34)).tocsr()
    target = np.zeros(34, dtype=np.int64)
    target[np.array(_OFFICERS) - 1] = 1
    return Bunch(
        data=adjacency,
        adjacency=adjacency,
        edges=edges,
        target=target,
        target_names=np.array(["Mr. Hi", "Officers"]),
        names=np.array([str(i + 1) for i in range(34)]),
        DESCR="Karate club: 34 members, 78 friendships outside the club, and the two clubs it became (Zachary 1977).",
    )
