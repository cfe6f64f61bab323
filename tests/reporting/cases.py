"""One small fitted model of each kind, with what a report on it is made from."""

from functools import cache

import numpy as np

from partwise import (
    NMF,
    BinaryNMF,
    BooleanMF,
    MixtureClassifier,
    SemiNMF,
    SemiSupervisedNMF,
    SymmetricNMF,
)
from partwise.datasets import load_digits, load_zoo, make_bars

#: Names that break careless pages.
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>document.title='taken'</script>",
    "\"quotes\" & 'more'",
    "<b>bold</b><br>",
    "<img src=x onerror=alert(2)>",
    "🦉🧬 emoji",
    "שלום עולם",
    "long " + "x" * 5000,
    "%{x} %{customdata} {{ 7 * 7 }}",
    "\u2028 line \u0000 nul",
    "$\\alpha$ <!-- comment",
    "javascript:alert(3)",
]


def words(n_documents=60, n_words=24, n_topics=6, seed=0):
    """Counts of documents whose topics come in groups of two, names of words, and labels."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_topics // 2, n_documents)
    use = np.zeros((n_documents, n_topics))
    for i, g in enumerate(group):
        use[i, [2 * g, 2 * g + 1]] = rng.gamma(1.0, 2.0, 2)
    topics = rng.gamma(0.15, 1.0, (n_topics, n_words)) + 0.01
    X = rng.poisson(8 * use @ topics / topics.sum(axis=1).mean()).astype(float)
    X[X.sum(axis=1) == 0, 0] = 1.0
    return X, [f"word{j}" for j in range(n_words)], np.array(["red", "green", "blue"])[group]


@cache
def case(name):
    """(model, arguments of `report`) by name."""
    X, names, y = words()
    if name == "nmf":
        return NMF(6, max_iter=200).fit(X), {"X": X, "feature_names": names}
    if name == "texts":
        texts = [" ".join(f"{names[j]} " * int(v) for j, v in enumerate(row)) for row in X]
        return NMF(6, max_iter=200).fit(X), {"X": X, "feature_names": names, "texts": texts, "y": y}
    if name == "hostile":
        X = X[:, : len(HOSTILE)]
        X[X.sum(axis=1) == 0, 0] = 1.0
        rows = [HOSTILE[i % len(HOSTILE)] for i in range(len(X))]
        labels = [HOSTILE[i % 3] for i in range(len(X))]
        made = {"feature_names": HOSTILE, "row_names": rows, "y": labels, "texts": rows, "title": HOSTILE[0]}
        return NMF(5, max_iter=100).fit(X), {"X": X, **made, "data": HOSTILE[1]}
    if name == "digits":
        digits = load_digits()
        return NMF(6, max_iter=100).fit(digits.data[:200]), {
            "X": digits.data[:200],
            "shape": (8, 8),
            "y": digits.target[:200],
        }
    if name == "boolean":
        zoo = load_zoo()
        model = BooleanMF(4, max_iter=50, random_state=0).fit(zoo.data)
        return model, {
            "X": zoo.data,
            "row_names": list(zoo.sample_names),
            "feature_names": list(zoo.feature_names),
        }
    if name == "binary":
        bars = make_bars(200, 5, random_state=0).data
        return BinaryNMF(6, max_iter=20).fit(bars), {"X": bars}
    if name == "semisupervised":
        some = y.astype(object).copy()
        some[::3] = None
        return SemiSupervisedNMF(6, max_iter=200, label_weight=1.0).fit(X, some), {
            "X": X,
            "y": some,
            "feature_names": names,
        }
    if name == "symmetric":
        A = (words()[0] @ words()[0].T > 20).astype(float)
        np.fill_diagonal(A, 0)
        return SymmetricNMF(3, max_iter=100).fit(A), {"W": None}
    if name == "semi":
        return SemiNMF(4, max_iter=100).fit(X - 1.0), {"X": X - 1.0, "feature_names": names}
    if name == "mixture":
        return MixtureClassifier(2, max_iter=30).fit(X, y), {"X": X, "y": y, "feature_names": names}
    raise KeyError(name)


KINDS = ["nmf", "texts", "digits", "boolean", "binary", "semisupervised", "symmetric", "semi", "mixture"]
