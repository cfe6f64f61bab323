"""Documents as word counts, one document per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import DTypeLike

from partwise.datasets._check import check_choice
from partwise.datasets._newsgroups import GROUPS, count_words, read_jsonl, read_tar
from partwise.datasets._npz import csr_from, read_arrays
from partwise.datasets._source import describe, locate

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_CSR = ("data", "indices", "indptr", "shape")


def fetch_20newsgroups(
    subset: Literal["counts", "raw"] = "counts", *, dtype: DTypeLike = np.float64
) -> Bunch:
    """Fetch the 18,846 posts of the 20 newsgroups, by date: 11,314 for training, then the rest.

    Parameters
    ----------
    subset : {"counts", "raw"}, default "counts"
        Word counts, or the posts as they were sent, with headers, quotes and signatures.
    dtype : data type, default float64
        Type of the counts.

    Returns
    -------
    Bunch
        ``data`` (with "counts" a CSR array of 18846 posts × 10000 words, with "raw" a list of 18846
        texts), ``target`` (the newsgroup, 0 to 19), ``target_names``, ``is_train`` (bool) and ``DESCR``;
        with "counts" also ``feature_names`` (the words, in alphabetical order), with "raw" also ``ids``
        (the number of each post in its group).

    Notes
    -----
    The counts leave out headers, signatures and quoted lines; words are runs of at least three letters
    a to z, without stop words, and the 10,000 found in the most posts are kept. The posts come in the
    same order in both forms. The files are ``text/20news_counts10k.npz`` (``data``, ``indices``,
    ``indptr``, ``shape``, ``vocab``, ``y``, ``is_train``, ``label_names``) and
    ``text/20news_raw.jsonl.gz`` (per line ``split``, ``label``, ``id`` and ``text``). Without them
    the posts are downloaded from the archive scikit-learn uses, and counted anew, which takes seconds.
    """
    from sklearn.utils import Bunch

    check_choice("subset", subset, ("counts", "raw"))
    name = f"20newsgroups_{subset}"
    found = locate(name)
    descr = describe(name, f"20 newsgroups ({subset})")
    if subset == "counts" and not found.upstream:
        arrays = read_arrays(found.path, *_CSR, "vocab", "y", "is_train", "label_names")
        return Bunch(
            data=csr_from(arrays, dtype),
            target=arrays["y"].astype(np.int64),
            target_names=arrays["label_names"],
            is_train=arrays["is_train"],
            feature_names=arrays["vocab"],
            DESCR=descr,
        )
    posts = read_tar(found.path) if found.upstream else read_jsonl(found.path)
    bunch = Bunch(
        data=[post.text for post in posts],
        target=np.array([post.label for post in posts], dtype=np.int64),
        target_names=np.array(GROUPS),
        is_train=np.array([post.is_train for post in posts], dtype=bool),
        DESCR=descr,
    )
    if subset == "raw":
        bunch["ids"] = np.array([post.id for post in posts], dtype=np.int64)
    else:
        bunch["data"], bunch["feature_names"] = count_words(bunch["data"], dtype)
    return bunch


def fetch_bbc_news(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch 2225 BBC news articles of 2004 and 2005 on five subjects.

    Parameters
    ----------
    dtype : data type, default float64
        Type of the counts.

    Returns
    -------
    Bunch
        ``data`` (2225 articles × 2949 words, CSR counts), ``target`` (0 to 4), ``target_names``,
        ``feature_names`` (the words), ``split`` ("train", "val" or "test" for each article) and ``DESCR``.

    Notes
    -----
    The file ``text/bbc_news.npz`` holds ``data``, ``indices``, ``indptr``, ``shape``, ``y``, ``label_names``,
    ``vocab`` and ``split``.
    """
    from sklearn.utils import Bunch

    arrays = read_arrays(locate("bbc_news").path, *_CSR, "y", "label_names", "vocab", "split")
    return Bunch(
        data=csr_from(arrays, dtype),
        target=arrays["y"],
        target_names=arrays["label_names"],
        feature_names=arrays["vocab"],
        split=arrays["split"],
        DESCR=describe("bbc_news", "BBC news articles"),
    )


def fetch_reuters(*, dtype: DTypeLike = np.float64) -> Bunch:
    """Fetch the 8293 Reuters-21578 news items that have a single topic, of 65.

    Parameters
    ----------
    dtype : data type, default float64
        Type of the counts.

    Returns
    -------
    Bunch
        ``data`` (8293 items × 18933 words, CSR counts), ``target`` (0 to 64, from the most frequent
        topic), ``is_train`` (bool) and ``DESCR``. The publisher names neither words nor topics.

    Notes
    -----
    The file ``text/reuters21578.npz`` holds ``data``, ``indices``, ``indptr``, ``shape``, ``y`` and
    ``train_idx``.
    """
    from sklearn.utils import Bunch

    arrays = read_arrays(locate("reuters").path, *_CSR, "y", "train_idx")
    data = csr_from(arrays, dtype)
    is_train = np.zeros(data.shape[0], dtype=bool)
    is_train[arrays["train_idx"]] = True
    return Bunch(
        data=data,
        target=arrays["y"].astype(np.int64),
        is_train=is_train,
        DESCR=describe("reuters", "Reuters-21578, single-topic news items"),
    )
