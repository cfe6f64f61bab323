"""Ratings of films by people."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from partwise.datasets._npz import Arrays, read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_GENRES = (
    "unknown",
    "Action",
    "Adventure",
    "Animation",
    "Children's",
    "Comedy",
    "Crime",
    "Documentary",
    "Drama",
    "Fantasy",
    "Film-Noir",
    "Horror",
    "Musical",
    "Mystery",
    "Romance",
    "Sci-Fi",
    "Thriller",
    "War",
    "Western",
)


def fetch_movielens(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch MovieLens 100k: 100,000 ratings of 1682 films by 943 people.

    Parameters
    ----------
    dtype : data type, default float64
        Type of ``data``.

    Returns
    -------
    Bunch
        ``data`` (943 users × 1682 films, CSR, ratings 1 to 5; an entry not stored is a film not
        rated), the same ratings one by one as ``user``, ``item``, ``rating`` and ``timestamp`` (seconds
        since 1970), ``titles``, ``genres`` (1682 × 19, bool), ``genre_names`` and ``DESCR``.

    Notes
    -----
    The file ``ratings/ml100k.npz`` holds ``user``, ``item``, ``rating``, ``timestamps``, ``titles`` and
    ``genres``. Without it, the same is read from GroupLens's own ``ml-100k.zip``, which is downloaded.
    """
    from sklearn.utils import Bunch

    found = locate("movielens")
    if found.upstream:
        arrays = _read_zip(found.path)
    else:
        arrays = read_arrays(found.path, "user", "item", "rating", "timestamps", "titles", "genres")
    user, item, rating = (arrays[key].astype(np.int32) for key in ("user", "item", "rating"))
    shape = (int(user.max()) + 1, len(arrays["titles"]))
    return Bunch(
        data=sp.coo_array((rating.astype(dtype), (user, item)), shape=shape).tocsr(),
        user=user,
        item=item,
        rating=rating,
        timestamp=arrays["timestamps"].astype(np.int64),
        titles=arrays["titles"],
        genres=arrays["genres"],
        genre_names=np.array(_GENRES),
        DESCR=describe("movielens", "MovieLens 100k ratings"),
    )


def _read_zip(path: Path) -> Arrays:
    """Return the arrays of the registered file, read from GroupLens's archive."""
    with zipfile.ZipFile(path) as archive:
        ratings = np.loadtxt(io.BytesIO(archive.read("ml-100k/u.data")), dtype=np.int64, ndmin=2)
        films = archive.read("ml-100k/u.item").decode("latin-1").splitlines()
    rows = [film.split("|") for film in films if film]
    return {
        "user": ratings[:, 0] - 1,
        "item": ratings[:, 1] - 1,
        "rating": ratings[:, 2],
        "timestamps": ratings[:, 3],
        "titles": np.array([row[1] for row in rows]),
        "genres": np.array([row[-len(_GENRES) :] for row in rows]) == "1",
    }
