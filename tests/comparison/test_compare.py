"""compare: one table for all methods, plain data, and sentences for what cannot be compared."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

import partwise
from partwise.comparison import MEASURES, METHODS
from partwise.core import Interrupted
from partwise.datasets import load_digits, make_low_rank
from partwise.io.write import json_text


@pytest.fixture(scope="module")
def digits():
    bunch = load_digits()
    return bunch.data[:240], bunch.target[:240]


@pytest.fixture(scope="module")
def found(digits):
    return partwise.compare(*[digits[0], 6, digits[1]], seeds=3)


def corpus(n=150, m=60, seed=0):
    """Counts of documents that are each about one of three subjects."""
    rng = np.random.default_rng(seed)
    topics = np.full((3, m), 0.02)
    for i in range(3):
        topics[i, 20 * i : 20 * i + 20] = rng.gamma(1.0, 1.0, 20)
    y = np.arange(n) % 3
    return sp.csr_matrix(rng.poisson(topics[y])), y, [f"word{j}" for j in range(m)]


def test_the_table_has_every_method_and_measure(found):
    assert [row["method"] for row in found.rows] == ["nmf", "svd", "svd-u", "pca", "vq"]
    header, *body = found.table
    assert header == ["method", "fitted_to", *found.measures]
    assert found.measures == [m for m in MEASURES if m not in ("npmi", "diversity")]
    assert [len(line) for line in body] == [len(header)] * 5
    frame = found.frame()
    assert list(frame.index) == [METHODS[row["method"]].title for row in found.rows]
    assert (frame.drop(columns=["fitted_to", "nmi_argmax"]).notna()).all().all()
    assert frame["nmi_argmax"].notna().tolist() == [True, False, False, False, True]


def test_what_is_in_the_table_is_what_the_factors_give(found, digits):
    X, _ = digits
    for row in found.rows:
        factors = found.factors[row["method"]]
        error = np.linalg.norm(X - factors.reconstruction()) / np.linalg.norm(X)
        assert found.by_seed[row["method"]]["relative_error"][0] == pytest.approx(error)
    by = {row["method"]: row for row in found.rows}
    assert by["svd"]["relative_error"] == pytest.approx(by["svd-u"]["relative_error"])
    assert by["svd"]["sparseness_bases"] == pytest.approx(by["svd-u"]["sparseness_bases"])
    assert by["svd"]["sparseness_codes"] != pytest.approx(by["svd-u"]["sparseness_codes"], abs=0.01)
    assert by["svd"]["accuracy"] == pytest.approx(by["svd-u"]["accuracy"], abs=1e-6)
    assert by["svd"]["relative_error"] < by["nmf"]["relative_error"] < by["vq"]["relative_error"]
    assert by["nmf"]["sparseness_bases"] > by["svd"]["sparseness_bases"]
    assert by["vq"]["sparseness_codes"] == 1.0
    for name in ("svd", "svd-u", "pca"):
        assert by[name]["stability"] == 1.0
        assert found.spread(name, "relative_error") == 0.0
    assert 0.3 < by["nmf"]["stability"] < 1.0
    assert len(found.by_seed["nmf"]["relative_error"]) == 3
    assert len(found.by_seed["svd"]["nmi"]) == 3
    assert found.spread("nmf", "relative_error") > 0


def test_the_same_call_gives_the_same_figures_but_for_the_clock(found, digits):
    again = partwise.compare(digits[0], 6, digits[1], seeds=[0, 1, 2], methods=["nmf", "vq"])
    for row in again.rows:
        other = next(r for r in found.rows if r["method"] == row["method"])
        for measure in again.measures:
            if measure != "seconds":
                assert row[measure] == pytest.approx(other[measure], rel=1e-12), measure


def test_the_summary_is_json(found):
    text = json_text(found.summary())
    assert json.loads(text)["methods"][1]["nmi_argmax"] is None
    assert json.loads(text)["n_components"] == 6


def test_sparse_data_have_the_table_of_dense_data():
    X = make_low_rank(60, 40, 5, random_state=0).data
    X[np.random.default_rng(0).random(X.shape) < 0.7] = 0
    dense = partwise.compare(X, 4, seeds=2)
    sparse = partwise.compare(sp.csr_matrix(X), 4, seeds=2)
    for a, b in zip(dense.rows, sparse.rows):
        assert a["relative_error"] == pytest.approx(b["relative_error"], rel=1e-3), a["method"]
        assert a["sparseness_bases"] == pytest.approx(b["sparseness_bases"], abs=0.02), a["method"]


def test_text_is_weighted_for_all_but_lda():
    counts, y, words = corpus()
    found = partwise.compare(counts, 3, y, text=True, seeds=2, feature_names=words)
    assert {row["method"]: row["fitted_to"] for row in found.rows} == {
        **dict.fromkeys(("nmf", "svd", "svd-u", "pca", "vq"), "tf-idf"),
        "lda": "counts",
    }
    by = {row["method"]: row for row in found.rows}
    X = TfidfTransformer().fit_transform(counts)
    reference = TruncatedSVD(3, algorithm="arpack").fit(X)
    np.testing.assert_allclose(np.abs(found.factors["svd"].bases), np.abs(reference.components_), atol=1e-8)
    assert by["nmf"]["nmi_argmax"] > 0.9
    assert by["lda"]["nmi_argmax"] > 0.7
    assert by["nmf"]["npmi"] > 0.0
    assert all(0 < row["diversity"] <= 1 for row in found.rows)
    top = {name for name, _ in found.top_features("nmf", 5)[0]}
    first = int(next(iter(top))[4:]) // 20
    assert all(int(name[4:]) // 20 == first for name in top)
    plain = partwise.compare(counts, 3, text=True, tfidf=False, seeds=1, methods="nmf,lda")
    assert [row["fitted_to"] for row in plain.rows] == ["data", "counts"]


def test_weights_of_words_are_used_as_they_are_and_said_to_be():
    counts, y, _ = corpus(60)
    found = partwise.compare(TfidfTransformer().fit_transform(counts), 3, y, text=True, seeds=1)
    assert "lda" not in found.factors
    assert any("not counts" in note for note in found.notes)
    asked = partwise.compare(counts, 3, methods=["svd", "lda"], seeds=1)
    assert asked.notes == ["LDA left out: it is a model of word counts, and there are none."]


def test_components_are_put_beside_those_that_they_resemble():
    counts, _, words = corpus()
    found = partwise.compare(counts, 3, text=True, seeds=1, feature_names=words, methods="nmf,vq")
    order = found.aligned("vq")
    mine, theirs = found.factors["nmf"].bases, found.factors["vq"].bases[order]
    assert [row[:20].sum() > row.sum() / 2 for row in mine] == [
        row[:20].sum() > row.sum() / 2 for row in theirs
    ]


def test_negative_entries_leave_out_nmf():
    X = np.random.default_rng(0).standard_normal((40, 12))
    found = partwise.compare(X, 3, seeds=1)
    assert "nmf" not in found.factors
    assert found.notes == ["NMF left out: it takes no negative entries."]
    more = partwise.compare(X, 3, methods="semi,svd", seeds=1)
    assert more.rows[0]["relative_error"] > more.rows[1]["relative_error"]


def test_missing_entries_leave_nmf_alone_and_its_error_is_over_what_was_observed():
    X = make_low_rank(60, 20, 2, random_state=0).data
    gaps = X.copy()
    gaps[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    found = partwise.compare(gaps, 2, seeds=1)
    assert list(found.factors) == ["nmf"]
    assert found.rows[0]["relative_error"] < 0.02
    assert found.notes[-1] == "The data have missing entries; methods that take them: NMF, NMF (KL)."
    assert sum("left out: it takes no missing entries" in note for note in found.notes) == 4


def test_names_come_from_a_frame():
    X = pd.DataFrame(make_low_rank(30, 4, 2, random_state=0).data, columns=list("abcd"))
    found = partwise.compare(X, 2, seeds=1, methods="svd")
    assert found.feature_names == list("abcd")
    assert {name for name, _ in found.top_features("svd")[0]} <= set("abcd")


GOOD = np.random.default_rng(0).random((12, 6))


@pytest.mark.parametrize(
    ("arguments", "more", "sentence"),
    [
        (
            (GOOD, 7),
            {},
            "n_components=7 is more than the 6 dimensions of data with 12 rows and 6 columns; give at most 6",
        ),
        ((GOOD, 0), {}, "n_components must be a whole number of at least 1; got 0"),
        ((GOOD, 2.5), {}, "got 2.5"),
        ((GOOD, 2, [0, 1]), {}, "labels must be one for each of the 12 rows; got shape"),
        ((GOOD, 2, np.zeros(12)), {}, "one class only"),
        ((GOOD, 2, np.arange(12)), {}, "labels has 12 different values for 12 rows; they must be classes"),
        ((GOOD, 2, [None] + [0, 1] * 5 + [1]), {}, "labels has nothing for row 0"),
        ((GOOD, 2, np.array([pd.NA, "a", "b"] * 4, dtype=object)), {}, "labels has nothing for row 0"),
        ((GOOD, 2, [0.0, np.nan] + [0, 1] * 5), {}, "labels has nothing for row 1"),
        ((GOOD, 2), {"methods": "nmf,svm"}, "'svm' is no method; did you mean 'svd'"),
        ((GOOD, 2), {"methods": []}, "there are nmf, nmf-kl"),
        ((GOOD, 2), {"methods": "lda"}, "No method is left to compare. LDA left out"),
        ((GOOD, 2), {"seeds": 0}, "at least one seed"),
        ((GOOD, 2), {"seeds": [1, 1]}, "different whole numbers"),
        ((GOOD, 2), {"feature_names": ["a"]}, "feature_names has 1 names, and X has 6 columns"),
        ((np.zeros((5, 5)), 2), {}, "no entry but zeros"),
        ((-GOOD, 2), {"text": True}, "counted below zero"),
        ((np.where(GOOD > 0.9, np.nan, 1.0), 2), {"text": True}, "cannot be missing"),
        ((np.full((5, 5), np.inf), 2), {}, "infinity"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, more, sentence):
    with pytest.raises(ValueError, match=sentence):
        partwise.compare(*arguments, **more)


@pytest.mark.parametrize("pressed_in", ["svd", "pca"])
def test_ctrl_c_keeps_the_methods_that_are_done(monkeypatch, pressed_in):
    def ctrl_c(X, k, seed):
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS, pressed_in, dataclasses.replace(METHODS[pressed_in], fit=ctrl_c))
    if pressed_in == "svd":
        with pytest.raises(KeyboardInterrupt):
            partwise.compare(GOOD, 2, methods="svd,svd-u,pca,vq", seeds=1)
        return
    with pytest.warns(Interrupted):
        found = partwise.compare(GOOD, 2, methods="svd,svd-u,pca,vq", seeds=1)
    assert found.interrupted
    assert list(found.factors) == ["svd", "svd-u"]
    assert found.notes == ["Stopped before these methods were done: PCA, VQ (k-means)."]


def test_threads_of_blas_are_as_before():
    from threadpoolctl import threadpool_info

    def threads():
        return [one["num_threads"] for one in threadpool_info()]

    X = np.random.default_rng(0).random((40, 12))
    partwise.compare(X, 2, np.arange(40) % 2, seeds=1)
    before = threads()
    partwise.compare(X, 2, np.arange(40) % 2, seeds=2)
    assert threads() == before
