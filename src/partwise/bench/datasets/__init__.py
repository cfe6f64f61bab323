"""Data sets of the race: one file each, with `load()` and what it is called."""

from partwise.bench.datasets import digits, mnist, newsgroups, orl, reuters, synthetic

DATASETS = {
    "orl": orl.load,
    "mnist": mnist.load,
    "mnist10k": mnist.load_10k,
    "20news-tfidf": newsgroups.load_tfidf,
    "20news-counts": newsgroups.load_counts,
    "reuters-counts": reuters.load,
    "digits": digits.load,
    "synthetic": synthetic.load,
    "synthetic-sparse": synthetic.load_sparse,
}
