"""Reading the posts of the 20 newsgroups and counting their words."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

GROUPS = (
    "alt.atheism",
    "comp.graphics",
    "comp.os.ms-windows.misc",
    "comp.sys.ibm.pc.hardware",
    "comp.sys.mac.hardware",
    "comp.windows.x",
    "misc.forsale",
    "rec.autos",
    "rec.motorcycles",
    "rec.sport.baseball",
    "rec.sport.hockey",
    "sci.crypt",
    "sci.electronics",
    "sci.med",
    "sci.space",
    "soc.religion.christian",
    "talk.politics.guns",
    "talk.politics.mideast",
    "talk.politics.misc",
    "talk.religion.misc",
)
_COMMON = (
    "about after all also and any are because been before being both but can could did does don each even "
    "for from get got had has have her here him his how into its just let like many may more most much not "
    "now one only other our out over per same see she should some such than that the their them then there "
    "these they this those too use very via was way well were what when where which who why will with would "
    "you your"
)
STOP_WORDS = frozenset(_COMMON.split())
_QUOTED = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")


class Post(NamedTuple):
    """One post; ``label`` is its place in :data:`GROUPS`, ``id`` its number there."""

    is_train: bool
    label: int
    id: int
    text: str


def read_jsonl(path: Path) -> list[Post]:
    """Return the posts of the registered file, in its order."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [Post(r["split"] == "train", int(r["label"]), int(r["id"]), r["text"]) for r in records]


def read_tar(path: Path) -> list[Post]:
    """Return the posts of the published archive, in the order of the registered file."""
    posts = []
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            stream = archive.extractfile(member)
            if stream is None:
                continue
            split, group, number = PurePosixPath(member.name).parts[-3:]
            text = stream.read().decode("latin-1")
            posts.append(Post(split.endswith("train"), GROUPS.index(group), int(number), text))
    return sorted(posts, key=lambda post: (not post.is_train, post.label, post.id))


def count_words(
    texts: list[str], dtype: DTypeLike, n_words: int = 10_000
) -> tuple[sp.csr_array, NDArray[Any]]:
    """Return counts (posts × words) of the words found in the most posts, and these words, sorted."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern=r"[a-z]{3,}", stop_words=sorted(STOP_WORDS))
    counts = sp.csr_array(vectorizer.fit_transform([strip_post(text) for text in texts]), dtype=dtype)
    words = vectorizer.get_feature_names_out().astype(str)
    found_in = np.bincount(counts.indices, minlength=len(words))
    # A stable sort breaks ties alphabetically, as the words come sorted.
    kept = np.sort(np.argsort(-found_in, kind="stable")[:n_words])
    return counts[:, kept], words[kept]


def strip_post(text: str) -> str:
    """Return a post without its header, its signature and the lines it quotes.

    The cuts are those of :func:`sklearn.datasets.fetch_20newsgroups`: the header ends at the first
    blank line, the signature begins at the last line that is blank or made of dashes.
    """
    body = text.partition("\n\n")[2]
    lines = body.strip().split("\n")
    breaks = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    # A break before everything leaves no body, so the text is then kept whole.
    kept = lines[: breaks[-1]] if breaks and breaks[-1] > 0 else body.split("\n")
    return "\n".join(line for line in kept if not _QUOTED.search(line))
