"""The methods that are compared: one function each, from data, rank and seed to `Factors`, and one line of `METHODS`.

Lee & Seung (1999) and Lee, Seung & Saul (2000, figure 1) put NMF beside vector quantization and principal component
analysis; Epstein (2017, chapter 5) puts it beside the compact singular value decomposition, whose singular values may
go to either factor. All are X ≈ codes · bases and differ in what they ask of the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.comparison.factors import Factors
from partwise.comparison.singular import column_means, leading_triplets

#: Rows above which vector quantization learns from minibatches.
MANY_ROWS = 50_000
#: Rows above which LDA learns from minibatches.
MANY_DOCUMENTS = 5_000


@dataclass(frozen=True)
class Method:
    """One way to factorize a matrix, and what it asks of the data.

    Parameters
    ----------
    title : str
        Its name in tables and pictures.
    fit : callable
        ``fit(X, k, seed)`` returns `Factors`.
    signed : bool
        Whether it takes negative entries.
    missing : bool
        Whether it takes missing entries (NaN).
    counts : bool
        Whether it is fitted to word counts, where the others see a weighted form of them.
    seeded : bool
        Whether its answer depends on the seed.
    default : bool
        Whether it runs where no methods are named.
    """

    title: str
    fit: Callable[[Any, int, int], Factors]
    signed: bool = True
    missing: bool = False
    counts: bool = False
    seeded: bool = True
    default: bool = True

    def lacks(self, *, negative: bool, missing: bool, counts: bool) -> str | None:
        """What keeps the method from such data, in words.

        Parameters
        ----------
        negative, missing, counts : bool
            Whether the data have negative entries, missing entries, and word counts.

        Returns
        -------
        str or None
            The end of a sentence that begins with the name of the method; None where it can run.
        """
        if self.counts and not counts:
            return "is a model of word counts, and there are none"
        if negative and not self.signed:
            return "takes no negative entries"
        if missing and not self.missing:
            return "takes no missing entries"
        return None


def nmf(X: Any, k: int, seed: int, beta_loss: str = "frobenius") -> Factors:
    """Nonnegative codes and bases, from a random start; columns of the codes have one root mean square, ½.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Nonnegative; NaN is unobserved.
    k, seed : int
        Rank, and seed of the start.
    beta_loss : str
        What is minimised; see `partwise.NMF`.

    Returns
    -------
    Factors
        Parts by falling share of the reconstruction.
    """
    from partwise.models import NMF

    model = NMF(k, beta_loss=beta_loss, init="random", max_iter=1000, random_state=seed)
    return Factors(np.asarray(model.fit_transform(X)), np.asarray(model.components_))


def nmf_kl(X: Any, k: int, seed: int) -> Factors:
    """NMF by the Kullback-Leibler divergence, which Lee & Seung (1999) minimise.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Nonnegative; NaN is unobserved.
    k, seed : int
        Rank, and seed of the start.

    Returns
    -------
    Factors
        Parts by falling share of the reconstruction.
    """
    return nmf(X, k, seed, "kullback-leibler")


def semi_nmf(X: Any, k: int, seed: int) -> Factors:
    """Nonnegative codes, bases of any sign (Ding, Li & Jordan 2010), for data of any sign.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Of any sign.
    k, seed : int
        Rank, and seed of the start.

    Returns
    -------
    Factors
        Parts by falling share of the reconstruction.
    """
    from partwise.models import SemiNMF

    model = SemiNMF(k, init="random", max_iter=1000, random_state=seed)
    return Factors(np.asarray(model.fit_transform(X)), np.asarray(model.components_))


def svd(X: Any, k: int, seed: int = 0) -> Factors:
    """Compact singular value decomposition, singular values with the codes: (U Σ) · Vᵀ.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Of any sign.
    k, seed : int
        Rank; the seed is not used.

    Returns
    -------
    Factors
        By falling singular value; the best approximation of rank k in the Frobenius norm (Eckart & Young 1936).
    """
    U, sigma, Vt = leading_triplets(X, k)
    return Factors(U * sigma, Vt)


def svd_u(X: Any, k: int, seed: int = 0) -> Factors:
    """Compact singular value decomposition, singular values with the bases: U · (Σ Vᵀ).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Of any sign.
    k, seed : int
        Rank; the seed is not used.

    Returns
    -------
    Factors
        The product is that of `svd`; codes and bases are not.
    """
    U, sigma, Vt = leading_triplets(X, k)
    return Factors(U, sigma[:, None] * Vt)


def pca(X: Any, k: int, seed: int = 0) -> Factors:
    """Principal components of the rows around their mean.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Of any sign; a sparse X is centred without being made dense.
    k, seed : int
        Number of components; the seed is not used.

    Returns
    -------
    Factors
        Scores and unit vectors; with the mean the reconstruction has up to k + 1 dimensions.
    """
    mean = column_means(X)
    U, sigma, Vt = leading_triplets(X, k, mean)
    return Factors(U * sigma, Vt, mean)


def vq(X: Any, k: int, seed: int) -> Factors:
    """Vector quantization by k-means: each row is the centre of its cluster.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Of any sign.
    k, seed : int
        Clusters, and seed of the start (k-means++).

    Returns
    -------
    Factors
        Codes with a single one in each row; centres by falling size of their clusters.
    """
    from sklearn.cluster import KMeans, MiniBatchKMeans

    if X.shape[0] > MANY_ROWS:
        model = MiniBatchKMeans(k, n_init=1, batch_size=4096, random_state=seed)
    else:
        model = KMeans(k, n_init=1, random_state=seed)
    found = model.fit_predict(X)
    order = np.argsort(-np.bincount(found, minlength=k), kind="stable")
    codes = np.zeros((X.shape[0], k), dtype=X.dtype)
    codes[np.arange(X.shape[0]), np.argsort(order)[found]] = 1
    return Factors(codes, np.asarray(model.cluster_centers_)[order])


def lda(counts: Any, k: int, seed: int) -> Factors:
    """Latent Dirichlet allocation (Blei, Ng & Jordan 2003), scikit-learn's variational Bayes.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_documents, n_words)
        Word counts.
    k, seed : int
        Topics, and seed of the start.

    Returns
    -------
    Factors
        Shares of topics in documents; topics as distributions of words, by falling share; words in each document as
        the sizes of rows.
    """
    from sklearn.decomposition import LatentDirichletAllocation

    many = counts.shape[0] > MANY_DOCUMENTS
    model = LatentDirichletAllocation(
        k,
        learning_method="online" if many else "batch",
        batch_size=512,
        max_iter=5 if many else 20,
        random_state=seed,
    )
    codes = model.fit_transform(counts)
    bases = model.components_ / model.components_.sum(axis=1, keepdims=True)
    sizes = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    order = np.argsort(-(sizes @ codes), kind="stable")
    return Factors(codes[:, order], bases[order], weights=sizes)


#: Every method by the name that `compare` and the command line know. One function above, and one line here.
METHODS: dict[str, Method] = {
    "nmf": Method("NMF", nmf, signed=False, missing=True),
    "nmf-kl": Method("NMF (KL)", nmf_kl, signed=False, missing=True, default=False),
    "semi": Method("SemiNMF", semi_nmf, default=False),
    "svd": Method("SVD UΣ·Vᵀ", svd, seeded=False),
    "svd-u": Method("SVD U·ΣVᵀ", svd_u, seeded=False),
    "pca": Method("PCA", pca, seeded=False),
    "vq": Method("VQ (k-means)", vq),
    "lda": Method("LDA", lda, signed=False, counts=True),
}


def register_method(name: str, method: Method) -> None:
    """Add a method to those that `partwise.compare` and the command line know by name.

    Parameters
    ----------
    name : str
        A name of its own.
    method : Method
        What it is called in tables, its function, and what it asks of the data.
    """
    held = METHODS.get(name)
    if held is not None and held.fit is not method.fit:
        raise ValueError(f"The method '{name}' is already registered, as {held.title}; choose another name.")
    METHODS[name] = method
