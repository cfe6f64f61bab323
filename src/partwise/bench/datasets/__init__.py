"""Data sets of the race: one file each, with `load()` and what it is called."""

from partwise.bench.datasets import digits, mnist, more, newsgroups, orl, reuters, synthetic

DATASETS = {
    "orl": orl.load,
    "mnist": mnist.load,
    "mnist10k": mnist.load_10k,
    "20news-tfidf": newsgroups.load_tfidf,
    "20news-counts": newsgroups.load_counts,
    "reuters-counts": reuters.load,
    "cbcl": more.load_cbcl,
    "all-aml": more.load_genes,
    "orl-unit": more.load_orl_unit,
    "mnist-unit": more.load_mnist_unit,
    "cbcl-unit": more.load_cbcl_unit,
    "bbc-counts": more.load_bbc,
    "bbc-tfidf": more.load_bbc_tfidf,
    "digits": digits.load,
    "synthetic": synthetic.load,
    "synthetic-sparse": synthetic.load_sparse,
}
