"""Data to factorize: generators with planted parts, bundled digits and fetched real data.

The ``load_*`` functions and the ``make_*`` generators need nothing but this package. The ``fetch_*`` functions
read files that are not part of it; each file is looked for, in this order,

1. in the folder named by the environment variable ``PARTWISE_DATA``, when that is set;
2. in the cache, a per-user folder which ``PARTWISE_CACHE`` can move;
3. at the address named by ``PARTWISE_DATA_URL``, below which the files lie under their usual names;
4. at the publisher's own address, for the data sets that have a stable one.

Downloads are verified against a checksum and kept in the cache. ``fetch`` takes any data set by name, also those that
other packages add with ``register_dataset`` and ``register_file``. Every function returns a
:class:`sklearn.utils.Bunch` whose ``data`` has one row per sample unless its description says otherwise.
"""

from __future__ import annotations

from partwise.datasets._audio import fetch_audio
from partwise.datasets._bars import make_bars
from partwise.datasets._boolean import make_boolean
from partwise.datasets._catalogue import dataset_names, fetch, register_dataset
from partwise.datasets._chord import make_chord
from partwise.datasets._digits import load_digits
from partwise.datasets._docstrings import load_docstrings
from partwise.datasets._genes import fetch_all_aml
from partwise.datasets._graphs import fetch_cora, fetch_football
from partwise.datasets._images import fetch_cbcl, fetch_mnist, fetch_orl, fetch_pie, fetch_swimmer
from partwise.datasets._karate import load_karate
from partwise.datasets._low_rank import make_low_rank
from partwise.datasets._ratings import fetch_movielens
from partwise.datasets._records import fetch_boolean_records
from partwise.datasets._registry import Entry, Upstream, register_file
from partwise.datasets._source import describe, locate
from partwise.datasets._text import fetch_20newsgroups, fetch_bbc_news, fetch_reuters
from partwise.datasets._zoo import load_zoo

__all__ = [
    "Entry",
    "Upstream",
    "dataset_names",
    "describe",
    "fetch",
    "fetch_20newsgroups",
    "fetch_all_aml",
    "fetch_audio",
    "fetch_bbc_news",
    "fetch_boolean_records",
    "fetch_cbcl",
    "fetch_cora",
    "fetch_football",
    "fetch_mnist",
    "fetch_movielens",
    "fetch_orl",
    "fetch_pie",
    "fetch_reuters",
    "fetch_swimmer",
    "load_digits",
    "load_docstrings",
    "load_karate",
    "load_zoo",
    "locate",
    "make_bars",
    "make_boolean",
    "make_chord",
    "make_low_rank",
    "register_dataset",
    "register_file",
]

for _name in __all__:
    if _name.startswith(("fetch_", "load_", "make_")):
        register_dataset(globals()[_name])
