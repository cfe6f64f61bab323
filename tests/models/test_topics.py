"""TopicModel: it is NMF of the matrix of its texts; planted topics are found; seed words keep their place."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import NMF as sklearn_NMF
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import Pipeline, make_pipeline

from partwise import NMF, TopicModel, load, save
from partwise.domains import document_term_matrix, npmi_coherence, topic_diversity
from partwise.io import ModelFileError
from partwise.models.topics import singular_vectors

GROUPS = {
    "sea": ["wave", "sand", "boat", "fish", "salt", "harbour", "sail", "tide"],
    "food": ["bread", "butter", "cheese", "soup", "pepper", "oven", "flour", "dinner"],
    "law": ["court", "judge", "trial", "lawyer", "verdict", "appeal", "crime", "witness"],
}


def corpus(n=90, seed=0, noise=0.1):
    """Texts of one subject each, with some words of the others."""
    rng = np.random.default_rng(seed)
    everything = [word for words in GROUPS.values() for word in words]
    texts, labels = [], []
    for i in range(n):
        label = i % 3
        own = list(GROUPS.values())[label]
        words = [rng.choice(everything if rng.random() < noise else own) for _ in range(rng.integers(8, 30))]
        texts.append("The " + " and ".join(words) + ".")
        labels.append(label)
    return texts, np.array(labels)


TEXTS, LABELS = corpus()


@pytest.mark.parametrize(
    ("vectorizer", "loss"),
    [
        ("tfidf", "frobenius"),
        ("count", "kullback-leibler"),
        (TfidfVectorizer(), "frobenius"),
        (CountVectorizer(), "kullback-leibler"),
        (make_pipeline(CountVectorizer(), TfidfTransformer()), "frobenius"),
    ],
)
def test_it_is_nmf_of_the_matrix_of_the_texts(vectorizer, loss):
    model = TopicModel(3, vectorizer=vectorizer, tol=1e-6, max_iter=500, init="random")
    W = model.fit_transform(TEXTS)
    X, words = document_term_matrix(TEXTS, vectorizer if isinstance(vectorizer, str) else clone(vectorizer))
    plain = NMF(3, beta_loss=loss, tol=1e-6, max_iter=500, init="random", scale="components")
    np.testing.assert_allclose(W, plain.fit_transform(X.astype(float)), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.components_, plain.components_, rtol=1e-6, atol=1e-12)
    assert model.loss_.name == loss
    assert model.feature_names_in_.tolist() == words.tolist()
    assert model.vocabulary_[words[3]] == 3
    np.testing.assert_allclose(model.transform(TEXTS), W, atol=1e-6)
    np.testing.assert_allclose(model.inverse_transform(W), W @ model.components_)
    assert model.score(TEXTS) == pytest.approx(plain.score(X.astype(float)))
    np.testing.assert_array_equal(model.coherence_, npmi_coherence(model.components_, X))
    np.testing.assert_array_equal(model.coherence(TEXTS), model.coherence_)
    assert model.coherence(TEXTS, "umass", 5).shape == (3,)
    assert model.diversity_ == topic_diversity(model.components_)


@pytest.mark.parametrize("vectorizer", ["tfidf", "count"])
def test_planted_topics_are_found(vectorizer):
    model = TopicModel(3, vectorizer=vectorizer)
    W = model.fit_transform(TEXTS)
    found = {frozenset(word for word, _ in words) for words in model.topics(8).values()}
    assert found == set(map(frozenset, GROUPS.values()))
    leader = model.mixtures(W).argmax(axis=1)
    for label in range(3):
        assert len(set(leader[label == LABELS])) == 1
    assert topic_diversity(model.components_, 8) == 1.0


def test_it_does_as_well_as_scikit_learn():
    X, _ = document_term_matrix(TEXTS)
    theirs = sklearn_NMF(3, tol=1e-6, max_iter=2000).fit(X)
    mine = TopicModel(3, tol=1e-6, max_iter=2000).fit(TEXTS)
    assert mine.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-5)


@pytest.mark.parametrize("vectorizer", ["tfidf", "count"])
def test_topics_do_not_depend_on_the_seed(vectorizer):
    """Seven topics of three subjects: the last singular vectors are noise, which a randomized start gets wrong."""
    first, second = (TopicModel(7, vectorizer=vectorizer, random_state=seed).fit(TEXTS) for seed in (0, 1))
    np.testing.assert_array_equal(first.components_, second.components_)
    drawn = [NMF(7, random_state=seed).fit(document_term_matrix(TEXTS)[0]).components_ for seed in (0, 1)]
    assert not np.array_equal(*drawn)


def test_the_start_is_that_of_the_whole_decomposition():
    X = document_term_matrix(TEXTS)[0]
    U, S, Vt = singular_vectors(X, 5)
    _, all_values, all_right = np.linalg.svd(X.toarray(), full_matrices=False)
    np.testing.assert_allclose(S, all_values[:5], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(Vt * all_right[:5], axis=1)), 1.0, rtol=1e-9)
    np.testing.assert_allclose(X @ Vt.T, U * S, atol=1e-9)


@pytest.mark.parametrize("kind", ["array", "series", "stream"])
def test_every_kind_of_texts_gives_the_same_bits(kind):
    pd = pytest.importorskip("pandas")
    forms = {
        "array": np.array(TEXTS),
        "series": pd.Series(TEXTS, index=np.arange(len(TEXTS))[::-1]),
        "stream": lambda: iter(TEXTS),
    }
    W = TopicModel(3).fit_transform(TEXTS)
    model = TopicModel(3)
    np.testing.assert_array_equal(model.fit_transform(forms[kind]), W)
    np.testing.assert_array_equal(model.transform(forms[kind]), TopicModel(3).fit(TEXTS).transform(TEXTS))
    if kind == "series":
        frame = clone(model).set_output(transform="pandas").fit_transform(forms[kind])
        assert frame.index.tolist() == forms[kind].index.tolist()
        assert frame.columns.tolist() == ["topic0", "topic1", "topic2"]


def test_float32_stays():
    model = TopicModel(3, vectorizer=TfidfVectorizer(dtype=np.float32))
    assert model.fit_transform(TEXTS).dtype == np.float32
    assert model.components_.dtype == np.float32


def test_documents_are_those_most_about_a_topic():
    texts = [*TEXTS, "boat " * 3, " ".join(GROUPS["sea"]) + " and " + " ".join(GROUPS["sea"])]
    model = TopicModel(3, vectorizer="count").fit(texts)
    sea = next(name for name, words in model.topics(8).items() if {w for w, _ in words} == set(GROUPS["sea"]))
    found = model.documents(sea, 3, texts)
    # All words of the topic, not one word often (of which the share is 1, too).
    assert found[0]["document"] == len(texts) - 1
    assert found[0]["text"] == texts[-1]
    assert [one["weight"] for one in found] == sorted((one["weight"] for one in found), reverse=True)
    assert model.documents(list(model.topics()).index(sea), 3) == [
        {"document": one["document"], "weight": one["weight"]} for one in found
    ]
    for topic, words in ((9, "there is no topic 9"), ("x", "there is no topic 'x'")):
        with pytest.raises(ValueError, match=words):
            model.documents(topic)
    with pytest.raises(ValueError, match=r"texts has 2 documents, and the fit had 92\."):
        model.documents(0, 1, ["a", "b"])


def test_mixtures_are_shares_whatever_the_scale():
    for scale in ("components", "samples", None):
        model = TopicModel(3, scale=scale)
        shares = model.mixtures(model.fit_transform(TEXTS))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        if scale == "components":
            first = shares
            np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
        np.testing.assert_allclose(shares, first, atol=1e-5)


def test_documents_without_words_are_said_and_have_no_topic():
    with pytest.warns(UserWarning, match=r"without a word.*: 2 of 92, number 0, 91 \(counted from 0\)"):
        model = TopicModel(3).fit(["", *TEXTS, "12 34"])
    with pytest.warns(UserWarning, match="1 of 2, number 1"):
        W = model.transform(["bread and butter", "unheard-of"])
    assert W[0].max() > 0
    assert not W[1].any()
    assert not model.mixtures(W)[1].any()


# ---------------------------------------------------------------------------------------------- seed words


@pytest.mark.parametrize("vectorizer", ["tfidf", "count"])
@pytest.mark.parametrize("order", [("law", "sea", "food"), ("food", "law", "sea")])
def test_seed_words_name_topics_that_keep_their_place(vectorizer, order):
    *named, free = order
    seeds = {name: GROUPS[name][:2] for name in named}
    model = TopicModel(3, vectorizer=vectorizer, seed_words=seeds).fit(TEXTS)
    assert model.get_feature_names_out().tolist() == [*named, "topic2"]
    for name, words in zip(order, model.topics(8).values()):
        assert {word for word, _ in words} == set(GROUPS[name])
    weights = dict(model.topics(8)[named[0]])
    plain = TopicModel(3, vectorizer=vectorizer).fit(TEXTS)
    same = next(dict(words) for words in plain.topics(8).values() if dict(words).keys() == weights.keys())
    assert all(weights[word] > same[word] for word in seeds[named[0]])
    W = model.transform([" ".join(GROUPS[free][5:7])])
    assert model.mixtures(W)[0].argmax() == 2


def subjects_apart(seed, n_subjects):
    """Documents of 20 of the ten words of one subject and 10 common ones; the subjects, and their words."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(list("abcdefghijklmnopqrstuvwxyz"), (10 * n_subjects + 10, 8))
    words = np.array(["".join(letters) for letters in drawn])
    own, common = words[:-10].reshape(n_subjects, 10), words[-10:]
    subjects = np.repeat(np.arange(n_subjects), 50)
    texts = [" ".join([*rng.choice(own[one], 20), *rng.choice(common, 10)]) for one in subjects]
    return texts, subjects, own


@pytest.mark.parametrize("vectorizer", ["tfidf", "count"])
@pytest.mark.parametrize(("seed", "n_subjects", "weighted"), [(0, 3, False), (1, 3, True), (2, 5, False)])
def test_one_true_seed_leaves_the_other_topics_as_good_as_they_were(seed, n_subjects, vectorizer, weighted):
    texts, subjects, own = subjects_apart(seed, n_subjects)
    weights = np.ones(len(texts)) if weighted else None
    for one in range(n_subjects):
        for strength in (0.0, 0.1):
            model = TopicModel(
                n_subjects,
                vectorizer=vectorizer,
                stop_words=None,
                max_df=1.0,
                seed_words={"named": [str(word) for word in own[one, :2]]},
                seed_weight=strength,
            )
            W = model.fit_transform(texts, sample_weight=weights)
            assert normalized_mutual_info_score(subjects, model.mixtures(W).argmax(axis=1)) > 0.99


def test_seeds_of_all_there_is_leave_free_topics_the_data():
    model = TopicModel(
        2, vectorizer="count", stop_words=None, min_df=1, max_df=1.0, seed_words={"all": ["sun"]}
    )
    model.fit(["sun sea", "sun sea", "sun sea sun sea"])
    assert np.isfinite(model.components_).all()


def test_seeded_fits_agree_with_transform_and_have_topics_of_sum_one():
    model = TopicModel(3, seed_words={"sea": ["boat", "Tide"]}, tol=1e-8, max_iter=2000)
    W = model.fit_transform(TEXTS)
    np.testing.assert_allclose(model.transform(TEXTS), W, atol=1e-5)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    assert (np.diff(model.history_["objective"]) <= 1e-9 * model.history_["objective"][0]).all()


def test_a_heavier_seed_weight_brings_the_topic_nearer_to_its_words():
    cosines = []
    for weight in (0.0, 0.1, 1.0, 100.0):
        model = TopicModel(
            3, seed_words={"mixed": ["boat", "cheese"]}, seed_weight=weight, max_iter=1000
        ).fit(TEXTS)
        h = model.components_[0]
        places = [model.vocabulary_[word] for word in ("boat", "cheese")]
        cosines.append(h[places].sum() / np.sqrt(2) / np.linalg.norm(h))
    assert cosines == sorted(cosines)
    assert cosines[-1] > 0.99


def test_restarts_keep_names_too():
    model = TopicModel(3, seed_words={"law": ["judge", "court"]}, n_init=3, init="random").fit(TEXTS)
    assert {word for word, _ in model.topics(8)["law"]} == set(GROUPS["law"])
    assert len(model.restarts_) == 3


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        ({"a": ["nowhere", "at-all"]}, r"None of the seed words of the topic 'a' \(nowhere, at-all\)"),
        ({f"t{i}": ["boat"] for i in range(5)}, "names 5 topics, more than n_components=3"),
        (["boat"], "must be a dict"),
        ({"a": []}, "must be a list of words"),
        ({"a": [3]}, "must be a list of words"),
    ],
)
def test_seed_words_that_cannot_guide(seeds, words):
    with pytest.raises(ValueError, match=words):
        TopicModel(3, seed_words=seeds).fit(TEXTS)


def test_seed_words_that_are_not_there_are_named():
    with pytest.warns(UserWarning, match="not in the vocabulary, and so guide nothing: submarine"):
        TopicModel(3, seed_words={"sea": ["boat", "submarine"]}).fit(TEXTS)


# ---------------------------------------------------------------------------------------------- model files


@pytest.mark.parametrize(
    "vectorizer",
    [
        "tfidf",
        "count",
        TfidfVectorizer(ngram_range=(1, 2), min_df=2),
        make_pipeline(CountVectorizer(), TfidfTransformer()),
    ],
)
def test_files_hold_words_idf_and_settings(vectorizer, tmp_path):
    model = TopicModel(3, vectorizer=vectorizer, seed_words={"sea": ["boat"]})
    W = model.fit_transform(TEXTS)
    same = load(save(model, tmp_path / "topics"))
    assert same.topics() == model.topics()
    assert same.documents("sea") == model.documents("sea")
    assert same.summary() == model.summary()
    np.testing.assert_array_equal(same.transform(TEXTS), model.transform(TEXTS))
    np.testing.assert_array_equal(same.coherence_, model.coherence_)
    assert b"pickle" not in (tmp_path / "topics.partwise").read_bytes()
    assert W.shape == (len(TEXTS), 3)


@pytest.mark.parametrize("name", ["tokenizer", "preprocessor", "analyzer"])
def test_vectorizers_with_functions_are_refused_with_the_way_out(name, tmp_path):
    vectorizer = CountVectorizer(
        **{name: (lambda text: text.split()) if name != "preprocessor" else str.lower}
    )
    model = TopicModel(3, vectorizer=vectorizer).fit(TEXTS)
    with pytest.raises(ModelFileError, match="Split and clean the texts beforehand, or set token_pattern"):
        save(model, tmp_path / "topics")
    assert not list(tmp_path.iterdir())


def test_a_file_whose_words_are_not_those_of_its_topics_is_refused(tmp_path):
    model = TopicModel(3).fit(TEXTS)
    model.vectorizer_ = TfidfVectorizer().fit(["two words"])
    with pytest.raises(ModelFileError, match="vectorizer_ knows 2 words, and its topics are over 24"):
        save(model, tmp_path / "topics")


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"vectorizer": "bow"}, "vectorizer must be 'tfidf', 'count'"),
        ({"vectorizer": 3}, "vectorizer must be one of"),
        ({"vectorizer": HashingVectorizer()}, "keeps no words"),
        ({"vectorizer": CountVectorizer(), "min_df": 5}, "min_df would have no effect"),
        ({"stop_words": "latin"}, "no stop words for 'latin'"),
        ({"beta_loss": "itakura-saito"}, "needs positive data"),
        ({"beta_loss": "bernoulli", "vectorizer": "count"}, "bernoulli"),
        ({"seed_weight": -1}, "seed_weight must be"),
        ({"n_components": 50}, "n_components=50 topics are more than 90 documents with 24 words"),
        ({"n_components": 0}, "n_components must be"),
        ({"init": "custom"}, "init must be one of"),
        ({"min_df": 1000}, "no words are left of 90 documents"),
    ],
)
def test_parameters(parameters, words):
    with pytest.raises(ValueError, match=words):
        TopicModel(**{"n_components": 3, **parameters}).fit(TEXTS)


def test_it_must_be_fitted_and_a_refit_forgets():
    model = TopicModel(3)
    for call in (model.topics, model.summary, model.get_feature_names_out, lambda: model.transform(TEXTS)):
        with pytest.raises(NotFittedError):
            call()
    model.fit(TEXTS)
    model.fit(["red green", "green blue", "blue red", "red", "green", "blue"])
    assert list(model.vocabulary_) == ["blue", "green", "red"]
    assert model.components_.shape == (3, 3)


def test_it_is_a_step_of_a_pipeline_and_is_cloned():
    from sklearn.linear_model import LogisticRegression

    pipeline = Pipeline([("topics", TopicModel(3)), ("classes", LogisticRegression(C=100.0))])
    assert pipeline.fit(TEXTS, LABELS).score(TEXTS, LABELS) == 1.0
    model = TopicModel(5, seed_words={"a": ["b"]}, ngram_range=(1, 3))
    assert clone(model).get_params() == model.get_params()


def test_a_checkpoint_goes_on_and_ends_with_the_same_bits(tmp_path):
    model = TopicModel(3, seed_words={"sea": ["boat"]})
    W = model.fit_transform(TEXTS, checkpoint=tmp_path / "kept")
    again = clone(model)
    np.testing.assert_array_equal(again.fit_transform(TEXTS, checkpoint=tmp_path / "kept"), W)


def test_a_capital_i_with_a_dot_is_an_i(tmp_path):
    texts = ["İstanbul kedi İçin", "istanbul kedi için", "İSTANBUL köpek", "köpek kedi"] * 3
    model = TopicModel(2, stop_words=["İçin"], min_df=1, max_df=1.0, seed_words={"şehir": ["İstanbul"]}).fit(
        texts
    )
    assert sorted(model.vocabulary_) == ["istanbul", "kedi", "köpek"]
    save(model, tmp_path / "m.partwise")
    known = load(tmp_path / "m.partwise")
    shares = known.transform(["İstanbul", "istanbul", "I\u0307stanbul", "i\u0307stanbul"])
    np.testing.assert_array_equal(shares, shares[[0, 0, 0, 0]])
    # Where capitals are kept, so is this one.
    kept = CountVectorizer(lowercase=False)
    assert "İstanbul" in TopicModel(2, vectorizer=kept).fit(texts).vocabulary_


def test_composed_and_decomposed_texts_are_the_same():
    composed = ["Stürmer schießen Tore", "Müller sucht Bänke"] * 3
    parted = [unicodedata.normalize("NFD", text) for text in composed]
    seeds = {"ball": [unicodedata.normalize("NFD", "stürmer")]}
    model = TopicModel(2, stop_words=None, seed_words=seeds).fit(parted)
    assert set(model.vocabulary_) == {"stürmer", "schießen", "tore", "müller", "sucht", "bänke"}
    np.testing.assert_array_equal(model.transform(parted), model.transform(composed))


def test_words_of_negligible_weight_lead_nothing():
    texts = ["goal match team", "bank loan market"] * 4
    model = TopicModel(2).fit(texts)
    found = {frozenset(word for word, _ in words) for words in model.topics().values()}
    assert found == {frozenset(text.split()) for text in texts}
    assert model.coherence_ == pytest.approx(1.0)
    assert model.diversity_ == 1.0
    assert len(model.top_features()) == 6
    assert {len(part["top_features"]) for part in model.summary()["parts"]} == {3}


def test_warnings_point_to_the_caller():
    texts = ["goal match team", "bank loan market"] * 3 + ["12 13"]
    model = TopicModel(2)
    for call in (model.fit, model.fit_transform, model.transform, model.score):
        with pytest.warns(UserWarning, match="Documents without a word") as said:
            call(texts)
        assert {warning.filename for warning in said} == {__file__}
    with pytest.warns(UserWarning, match="Seed words that are not") as said:
        TopicModel(2, seed_words={"a": ["goal", "nowhere"]}).fit(texts[:6])
    assert said[0].filename == __file__


@pytest.mark.parametrize("vectorizer", ["tfidf", "count"])
def test_no_documents_are_told_as_such(vectorizer):
    model = TopicModel(2, vectorizer=vectorizer).fit(["goal match team", "bank loan market"] * 3)
    for call in (model.transform, model.fit):
        with pytest.raises(ValueError, match="there are no documents: X is empty"):
            call([])


def test_topics_of_one_word_have_no_coherence():
    said = TopicModel(2).fit(["goal", "bank"] * 3).summary()["sentence"]
    assert "no coherence" in said
    assert "nan" not in said


def test_more_topics_than_the_texts_have_are_the_same_every_time():
    """Lanczos iterations come to an end there, and go on from a vector that nobody chose."""
    texts = ["sea ship harbour fish captain", "flower garden soil tree leaf"] * 15
    found = {TopicModel(6, stop_words=None).fit(texts).components_.tobytes() for _ in range(4)}
    assert len(found) == 1
