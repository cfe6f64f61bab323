"""TopicModel: the topics of texts, and each text as a mixture of them."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from partwise.core import Callback, Problem, State, watched
from partwise.domains.text import (
    VECTORIZERS,
    WORD,
    apply_vectorizer,
    fit_vectorizer,
    make_vectorizer,
    size_of,
)
from partwise.domains.text_measures import npmi_coherence, topic_diversity
from partwise.initial import INITS
from partwise.initial.lanczos import lanczos_svd
from partwise.initial.nndsvd import nndsvd
from partwise.io.caller import callers_level
from partwise.io.contents import Array, Either, Instance, Number, Record
from partwise.io.registry import register_model
from partwise.losses import Loss, as_loss
from partwise.matrix import Sparse
from partwise.matrix.span import span_of
from partwise.models.file_contents import NMF_CONTENTS
from partwise.models.inputs import Given, check_highest, row_weight
from partwise.models.nmf import NMF
from partwise.models.parameters import check_nmf, real
from partwise.models.summary import ending, summarise
from partwise.models.topic_looking import TopicsMixin, leading_documents
from partwise.models.topic_seeds import (
    Seeds,
    checked_seed_words,
    find_seeds,
    guided,
    named_first,
    seeded_start,
)
from partwise.models.units import Units
from partwise.priors import Prior

#: Parameters that say how words are counted, where the vectorizer is named and not given.
SETTINGS = ("stop_words", "min_df", "max_df", "max_features", "ngram_range", "token_pattern")


@dataclass(frozen=True)
class _Corpus:
    """What a fit has read: the vectorizer fitted to it, the matrix of its documents, the named topics."""

    vectorizer: Any
    counts: sp.csr_array
    seeds: Seeds


@register_model
class TopicModel(TopicsMixin, NMF):
    r"""Topics of texts by nonnegative matrix factorization: documents × words ≈ documents × topics · topics × words.

    Entry (i, t) of W says how much of topic t is in document i, entry (t, j) of H how relevant word j is to topic t
    (Epstein 2017, section 4.4). It is an `NMF` whose X are texts.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics, named ones included.
    vectorizer : {"tfidf", "count"} or text vectorizer of scikit-learn, default="tfidf"
        How texts become numbers. A vectorizer that is given is cloned, and has its own settings for words.
    beta_loss : float, str, Loss or None, default=None
        None is "kullback-leibler" for counts and "frobenius" for anything else; others as in `NMF`.
    stop_words : str, list of str or None, default="english"
        Words to leave out: those of a language (danish, dutch, english, finnish, french, german, italian, norwegian,
        portuguese, russian, spanish, swedish) or of several ("english, german"), or the words themselves, in
        small or capital letters.
    min_df, max_df : int or float, default=2 and 0.95
        Leave out words that are in fewer, or in more, documents: a number, or a share of the documents (float).
    max_features : int, optional
        Keep the most frequent words, at most so many.
    ngram_range : tuple of two int, default=(1, 1)
        Runs of how many words are counted: (1, 2) has words and pairs of words.
    token_pattern : str
        Regular expression of a word; by default a run of two or more letters, with the marks of their script.
    seed_words : dict of lists of str, optional
        Words that guide named topics. These stand first, in this order; the others are free.
    seed_weight : float, default=0.1
        How strongly: :math:`\lambda` times the sum over named topics of :math:`1 - \cos^2(h_t, s_t)` is added to the
        loss, where :math:`s_t` has 1 at the seed words. The unit is a topic's share of what there is to explain. With
        0 seed words only say where topics start.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar"} or None, default=None
        Where topics without seed words start, as in `NMF`; singular vectors are found exactly, so that the seed does
        not matter unless this is "random" or "nndsvdar".
    solver : str, default="auto"
        As in `NMF`.
    tol : float, default=1e-4
        As in `NMF`.
    max_iter : int, default=200
        Iterations, at most.
    random_state : int, Generator, RandomState or None, default=None
        None is a fixed seed.
    alpha_W, alpha_H : float, default=0.0 and "same"
        Strength of the elastic net, as in `NMF`: sparser documents, sparser topics.
    l1_ratio : float, default=0.0
        Share of the elastic net that is linear.
    verbose : int, default=0
        1 shows progress bars on stderr, while texts are read and while topics are learned.
    scale : {"components", "samples"} or None, default="components"
        As in `NMF`; with "components" the weights of a topic's words sum to one.
    n_init : int, default=1
        Number of starts; the best one is kept.
    max_time : float, optional
        Seconds that the fit may take once the texts are read.
    callbacks : sequence of callables, optional
        Each is called as ``callback(info, state)`` at the start and after every iteration.

    Attributes
    ----------
    components_ : array of shape (n_components, n_words)
        Topics: weights of words. Named topics first, then the others by falling share of the corpus.
    vectorizer_ : vectorizer of scikit-learn
        Fitted: words and, for "tfidf", their idf.
    coherence_ : array of shape (n_components,)
        NPMI of the ten leading words of each topic in the documents of the fit: `partwise.domains.npmi_coherence`.
    diversity_ : float
        Share of different words among the 25 leading words of all topics.
    documents_ : dict of arrays
        "index" and "weight" of the documents that are most about each topic; see `documents`.
    n_components_, n_iter_, n_features_in_, objective_, reconstruction_err_, converged_, ended_by_, history_
        As in `NMF`; the objective includes the pull of seed words.

    Examples
    --------
    >>> from partwise import TopicModel
    >>> texts = ["sun and sea", "sea, sand and sun", "bread and butter", "butter on bread", "the sun on the sand"]
    >>> model = TopicModel(2).fit(texts)
    >>> [[word for word, _ in words] for words in model.topics(2).values()]
    [['sun', 'sand'], ['bread', 'butter']]
    >>> model.mixtures(model.transform(["Bread on the sand"])).round(1).tolist()
    [[0.4, 0.6]]
    """

    kind = "topics"
    #: What the command line reads for it.
    reads = "text"
    part_word = "topic"
    result_files = ("documents.csv", "topics.csv")
    file_contents = NMF_CONTENTS | {
        "vectorizer_": Either((Instance("Pipeline"), Instance("CountVectorizer"))),
        "coherence_": Array("f", ("n_components",), -np.inf, nan=True),
        "diversity_": Number(nan=True),
        "documents_": Record(
            {
                "index": Array("i", ("n_components", "n_kept"), low=0),
                "weight": Array("f", ("n_components", "n_kept"), low=0),
            }
        ),
    }
    _inits = tuple(init for init in INITS if init != "custom")
    shuffle: bool = False
    prior_W: Prior | None = None
    prior_H: Prior | None = None
    missing_values: float | None = None
    fixed_components: Any = None

    def __init__(
        self,
        n_components: int = 10,
        *,
        vectorizer: Any = "tfidf",
        beta_loss: float | str | None = None,
        stop_words: Any = "english",
        min_df: float = 2,
        max_df: float = 0.95,
        max_features: int | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        token_pattern: str = WORD,
        seed_words: dict[str, list[str]] | None = None,
        seed_weight: float = 0.1,
        init: str | None = None,
        solver: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        scale: str | None = "components",
        n_init: int = 1,
        max_time: float | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.vectorizer = vectorizer
        self.beta_loss = beta_loss  # type: ignore[assignment]
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.ngram_range = ngram_range
        self.token_pattern = token_pattern
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.init = init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.scale = scale
        self.n_init = n_init
        self.max_time = max_time
        self.callbacks = callbacks

    def fit(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None
    ) -> TopicModel:
        """Learn the topics of texts.

        Parameters
        ----------
        X : list of str, Series, array of str or callable
            Documents; or a function without arguments that returns an iterable of them at each call, which are read
            one at a time and never held together.
        y : None
            Ignored.
        sample_weight : array of shape (n_documents,), optional
            How much each document counts: 2 is the same as the document occurring twice, but for `min_df`, `max_df`
            and the idf.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on; see `NMF.fit_transform`.

        Returns
        -------
        TopicModel
            The model itself. Ctrl-C ends the fit early with what was found, and the warning `Interrupted`.
        """
        self._fit(X, None, None, sample_weight, None, checkpoint)
        return self

    def fit_transform(  # type: ignore[override]
        self, X: Any, y: Any = None, sample_weight: Any = None, checkpoint: Any = None
    ) -> Any:
        """Learn the topics of texts and return W; agrees with `transform` on the same texts.

        Parameters
        ----------
        X : list of str, Series, array of str or callable
            Documents, as in `fit`.
        y : None
            Ignored.
        sample_weight : array of shape (n_documents,), optional
            How much each document counts.
        checkpoint : path, optional
            Folder in which the fit saves its state, and from which a later call goes on.

        Returns
        -------
        array of shape (n_documents, n_components)
            W, how much of each topic is in each document; `mixtures` makes shares of it.
        """
        W, row_names = self._fit(X, None, None, sample_weight, None, checkpoint)
        return self._named(W, row_names)

    def transform(self, X: Any) -> Any:  # type: ignore[override]
        """The best W for new texts, with the topics held.

        Parameters
        ----------
        X : list of str, Series, array of str or callable
            Documents. Words that the fit did not know are left out.

        Returns
        -------
        array of shape (n_documents, n_components)
            W, how much of each topic is in each document; `mixtures` makes shares of it.
        """
        return super().transform(X)

    def score(self, X: Any, y: Any = None) -> float:  # type: ignore[override]
        """Minus the loss per entry of the documents × words matrix, with W fitted to X; higher is better.

        Parameters
        ----------
        X : list of str, Series, array of str or callable
            Documents.
        y : None
            Ignored.

        Returns
        -------
        float
            −D(X | WH) divided by the number of entries.
        """
        return super().score(X)

    def summary(self, feature_names: Sequence[str] | None = None) -> dict[str, Any]:
        """What was found, as plain data.

        Parameters
        ----------
        feature_names : sequence of str, optional
            Other names for the words.

        Returns
        -------
        dict
            Dicts, lists, text and numbers; `partwise.models.summary.summarise` lists the entries.
        """
        check_is_fitted(self)
        named = len(self.seed_words or {})
        names = self.get_feature_names_out()
        details = [
            {"coherence": float(value), "sentence": str(names[t]) if t < named else ""}
            for t, value in enumerate(self.coherence_)
        ]
        mean = float(np.nanmean(self.coherence_)) if np.isfinite(self.coherence_).any() else float("nan")
        said = (
            f"NPMI coherence {mean:.3f}"
            if np.isfinite(mean)
            else "no coherence (no topic has two leading words)"
        )
        return summarise(
            self,
            feature_names,
            sentence=f"{self.solver_} {ending(self)}, {said}, diversity {self.diversity_:.2f}",
            figures={
                "objective": self.objective_,
                "reconstruction_err": self.reconstruction_err_,
                "coherence": mean,
                "diversity": self.diversity_,
            },
            chosen={**self._chosen(), "beta_loss": self.loss_.name},
            part_details=details,
        )

    # ----------------------------------------------------------------- fitting

    def _fit(
        self, X: Any, W: Any, H: Any, sample_weight: Any, weights: Any, checkpoint: Any
    ) -> tuple[np.ndarray, Any]:
        try:
            return super()._fit(X, W, H, sample_weight, weights, checkpoint)
        finally:
            self.__dict__.pop("_corpus", None)

    def _given(self, X: Any, *, reset: bool, weights: Any = None, sample_weight: Any = None) -> Given:
        """Texts as a sparse matrix; a fit also learns the words."""
        watch = self._watching(X)
        if reset:
            vectorizer = self._new_vectorizer()
            counts = as_floats(fit_vectorizer(vectorizer, X, watch))
            words = np.asarray(vectorizer.get_feature_names_out(), dtype=object)
            seed_words = checked_seed_words(self.seed_words, self.n_components)
            self._corpus = _Corpus(vectorizer, counts, find_seeds(seed_words, vectorizer, words))
            self.n_features_in_ = counts.shape[1]
        else:
            counts = as_floats(apply_vectorizer(self.vectorizer_, X, watch))
        self._check_counts(counts)
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        return Given(
            Sparse.of(counts, row_weight=row_weight(sample_weight, counts.shape[0])), index, 0, counts
        )

    def _count_components(self, X: Any, W: Any, H: Any, fixed: Any) -> int:
        """As many topics as asked for, if there can be as many."""
        if isinstance(self.n_components, int) and self.n_components > min(X.shape):
            raise ValueError(
                f"n_components={self.n_components} topics are more than {X.shape[0]} documents with {X.shape[1]} "
                "words can have; choose fewer."
            )
        return super()._count_components(X, W, H, fixed)

    def _watching(self, X: Any) -> Callable[[Iterable[str]], Iterable[str]]:
        if self.verbose <= 0:
            return iter
        return partial(watched, description="reading texts", total=size_of(X), unit="documents")

    def _check_counts(self, counts: sp.csr_array) -> None:
        """Refuse what the loss cannot take; say which documents have no words."""
        loss = self._loss()
        if counts.nnz and counts.data.min() < 0:
            raise ValueError("The vectorizer gives negative numbers; topics need nonnegative ones.")
        if loss.needs_positive_data:
            raise ValueError(
                f"beta_loss={loss.name!r} needs positive data, and most words are not in most documents; use "
                "'kullback-leibler' or 'frobenius'."
            )
        check_highest(counts, span_of(counts), loss.highest, loss.name)
        empty = np.flatnonzero(np.diff(counts.indptr) == 0)
        if len(empty):
            which = ", ".join(map(str, empty[:5])) + ", …" * (len(empty) > 5)
            warnings.warn(
                f"Documents without a word of the vocabulary, and so without a topic: {len(empty)} of "
                f"{counts.shape[0]}, number {which} (counted from 0).",
                stacklevel=callers_level(),
            )

    def _new_vectorizer(self) -> Any:
        settings = {name: getattr(self, name) for name in SETTINGS}
        if isinstance(self.vectorizer, str):
            return make_vectorizer(self.vectorizer, **settings)
        return clone(self.vectorizer)

    def _loss(self) -> Loss:
        """The loss that was named, else the one that suits what the vectorizer gives."""
        return super()._loss() if self.beta_loss is not None else as_loss(suited_loss(self.vectorizer))

    def _fit_problem(self, data: Given, units: Units, free: np.ndarray | None) -> Problem:
        """With the pull of seed words."""
        problem = super()._fit_problem(data, units, free)
        return guided(problem, data, self._corpus.seeds, self.seed_weight, self._n_components)

    def _start(self, problem: Problem, k: int, *rest: Any) -> tuple[np.ndarray, np.ndarray]:
        """Singular vectors, found exactly; named topics start at their seed words, others at what is left over."""
        counts, seeds = self._corpus.counts, self._corpus.seeds
        number = rest[-2]
        if not len(seeds):
            return self._free_start(problem, counts, k, *rest)
        free = k - len(seeds)

        def of_free(left: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
            if not free or self.init == "random" or number > 0:
                W, Ht = self._free_start(problem, counts, k, *rest)
                return W[:, :free], Ht[:, :free]
            weighted = Sparse.of(left, row_weight=problem.X.row_weight)
            return self._free_start(replace(problem, X=weighted), left, free, *rest)

        return seeded_start(counts, seeds, of_free)

    def _free_start(
        self, problem: Problem, counts: sp.csr_array, k: int, *rest: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where topics start that no seed words guide; `counts` are the data of the problem."""
        number, rng = rest[-2:]
        exact = self.init != "random" and number == 0 and k < min(counts.shape)
        if exact and problem.X.row_weight is None:
            variant = self.init or "filled"
            return nndsvd(problem.X, k, variant, rng, singular_vectors(counts, k))
        return super()._start(problem, k, *rest)

    def _conventional(self, problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Named topics keep their places."""
        named = len(self._corpus.seeds)
        if not named:
            return super()._conventional(problem, state)
        # The pull of seed words knows directions only, so it leaves the scale open.
        open_scale = problem.terms_W.scale_free and problem.terms_H.scale_free
        scale = self.scale if open_scale else None
        return named_first(state.W, state.Ht, named, problem.X.row_weight, scale)

    def _keep(self, problem: Problem, units: Units, outcomes: Any, best: Any, solver: Any) -> None:
        counts, H = self._corpus.counts, np.ascontiguousarray(best.Ht.T)
        measured = npmi_coherence(H, counts), topic_diversity(H), leading_documents(best.W, H, counts)
        super()._keep(problem, units, outcomes, best, solver)
        self.vectorizer_ = self._corpus.vectorizer
        self.coherence_, self.diversity_, self.documents_ = measured

    def _validate_params(self) -> None:
        check_nmf(self)
        self._loss()
        real("seed_weight", self.seed_weight)
        checked_seed_words(self.seed_words, self.n_components)
        if isinstance(self.vectorizer, str):
            self._new_vectorizer()
            return
        if not hasattr(self.vectorizer, "get_params"):
            raise ValueError(
                f"vectorizer must be one of {list(VECTORIZERS)} or a text vectorizer of scikit-learn; "
                f"got {self.vectorizer!r}."
            )
        known = inspect.signature(TopicModel).parameters
        moved = [name for name in SETTINGS if repr(getattr(self, name)) != repr(known[name].default)]
        if moved:
            raise ValueError(
                f"{' and '.join(moved)} would have no effect beside the vectorizer that was given; set it there, or "
                "use vectorizer='tfidf' or 'count'."
            )

    def _check_contents(self) -> None:
        """What `file_contents` cannot say: the words are those of the topics."""
        super()._check_contents()
        if len(self.feature_names_in_) != self.components_.shape[1]:
            raise ValueError(
                f"its vectorizer_ knows {len(self.feature_names_in_)} words, and its topics are over "
                f"{self.components_.shape[1]}"
            )
        if (self.documents_["index"] >= self.n_samples_fit_).any():
            raise ValueError("its documents_ names documents that the fit did not have")

    def __sklearn_tags__(self) -> Any:
        """One string for each sample."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.input_tags.sparse = tags.input_tags.positive_only = False
        return tags


def suited_loss(vectorizer: Any) -> str:
    """The loss for what a vectorizer gives: Kullback-Leibler for counts, Frobenius for anything else."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    plain = isinstance(vectorizer, CountVectorizer) and not isinstance(vectorizer, TfidfVectorizer)
    return (
        "kullback-leibler"
        if plain or (isinstance(vectorizer, str) and vectorizer == "count")
        else "frobenius"
    )


def singular_vectors(counts: sp.csr_array, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """U, S and Vᵀ of the k largest singular values, by Lanczos iterations.

    Singular values of texts fall slowly, and a randomized decomposition leaves the last vectors to chance: topics
    would then depend on the seed. None where the iterations do not converge; `nndsvd` then finds its own.
    """
    try:
        return lanczos_svd(counts.astype(np.float64), k)
    except ArpackError:
        return None


def as_floats(counts: sp.csr_array) -> sp.csr_array:
    """The same in float32 or float64, each entry stored once."""
    made = counts if counts.dtype in (np.float32, np.float64) else counts.astype(np.float64)
    made.sum_duplicates()
    return made
