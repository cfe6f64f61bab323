"""Texts to a matrix and back, stop words, and the sentences of texts that cannot be read."""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from partwise.domains import document_term_matrix, leading_words, make_vectorizer, read_documents
from partwise.domains.letters import word_pattern
from partwise.domains.stop_words import LANGUAGES, as_stop_words, stop_words_of
from partwise.domains.text import WORD, apply_vectorizer
from partwise.io import DataError

TEXTS = ["The red fox and the red dog", "A blue fox, 12 dogs", "red dog; blue dog", "", "numbers: 1 2 3"]


@pytest.mark.parametrize("kind", ["tfidf", "count"])
def test_a_stream_a_list_an_array_and_a_series_give_the_same_matrix(kind):
    pd = pytest.importorskip("pandas")
    expected, words = document_term_matrix(TEXTS, kind)
    assert words.tolist() == ["blue", "dog", "fox", "red"]
    for form in (
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, index=list("abcde")),
        lambda: iter(TEXTS),
    ):
        found, same = document_term_matrix(form, kind)
        np.testing.assert_array_equal(found.toarray(), expected.toarray())
        assert same.tolist() == words.tolist()


def test_the_strings_of_a_stream_are_not_held_together():
    alive = most = 0

    class Text(str):
        def __init__(self, *_):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    X, _ = document_term_matrix(lambda: (Text(f"common word{'abc'[i % 3]}") for i in range(500)))
    assert X.shape[0] == 500
    assert most < 10


def test_settings_are_those_of_scikit_learn():
    mine, words = document_term_matrix(
        TEXTS, "tfidf", stop_words=None, min_df=1, max_df=1.0, ngram_range=(1, 2)
    )
    theirs = TfidfVectorizer(ngram_range=(1, 2), token_pattern=WORD).fit(TEXTS)
    assert words.tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_allclose(mine.toarray(), theirs.transform(TEXTS).toarray())


def test_leading_words_are_the_way_back():
    X, words = document_term_matrix(TEXTS, "count", min_df=1)
    stop = set(stop_words_of("english"))
    for row, text in zip(leading_words(X, words, 100), TEXTS):
        assert dict(row) == Counter(word for word in re.findall(WORD, text.lower()) if word not in stop)
    assert leading_words([[3.0, 0.0, 3.0, -1.0]], list("abcd"), 3) == [[("a", 3.0), ("c", 3.0)]]
    with pytest.raises(ValueError, match="2 words were given for 3 columns"):
        leading_words(np.ones((1, 3)), ["a", "b"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_words_that_the_vectorizer_can_meet(language):
    words = stop_words_of(language)
    assert len(words) > 90
    assert all(word == word.lower() and word.strip() == word for word in words)
    analyze = CountVectorizer(token_pattern=r"(?u)\b\w+\b").build_analyzer()
    assert {token for word in words for token in analyze(word)} == set(words)
    assert not {"computer", "geld", "guerre", "música"} & set(words)


def test_stop_words_by_name_list_or_none():
    assert as_stop_words(None) is None
    assert as_stop_words({"b", "a"}) == ["a", "b"]
    assert as_stop_words(["Goal", "GOAL", "ball"]) == ["ball", "goal"]  # as texts are folded
    assert set(as_stop_words("English")) > {"the", "don"}
    with pytest.raises(ValueError, match=r"no stop words for 'germn'.*Did you mean german"):
        as_stop_words("germn")
    with pytest.raises(ValueError, match="it holds 3"):
        as_stop_words(["a", 3])


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("one string", "X is one string; give a list"),
        ([], "no documents"),
        (["a cat", None], "document 1 is None, not a string"),
        ([1.5], "document 0 is 1.5"),
        (np.ones((3, 2)), r"table of shape \(3, 2\).*partwise.NMF"),
        (5, "X is 5"),
        (["the", "and of"], "no words in 2 documents but stop words"),
        (["cat", "dog"], "no words are left of 2 documents.*Lower min_df to 1"),
    ],
)
def test_texts_that_cannot_be_counted(texts, words):
    with pytest.raises(ValueError, match=words):
        document_term_matrix(texts)


def test_vectorizers_that_keep_no_words_are_refused():
    with pytest.raises(ValueError, match="HashingVectorizer keeps no words"):
        document_term_matrix(TEXTS, HashingVectorizer())
    with pytest.raises(ValueError, match="vectorizer must be 'tfidf', 'count'"):
        make_vectorizer("bow")


# ------------------------------------------------------------------------------------------ files


def corpus(folder):
    (folder / "in" / "side").mkdir(parents=True)
    (folder / "b.txt").write_text("first text")
    (folder / "a.txt").write_bytes("\ufeffzweiter Täxt".encode("utf-8"))
    (folder / "in" / "c.md").write_bytes("drei".encode("utf-16"))
    (folder / "in" / "side" / "d.txt.gz").write_bytes(gzip.compress(b"four"))
    (folder / ".hidden.txt").write_text("not me")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def test_a_folder_is_read_through_sorted_and_decoded(tmp_path):
    found = read_documents(corpus(tmp_path), labels="folder")
    assert found.names == ["a.txt", "b.txt", "in/c.md", "in/side/d.txt.gz"]
    assert found.texts == ["zweiter Täxt", "first text", "drei", "four"]
    assert found.labels == [".", ".", "in", "in/side"]
    assert len(found.notes) == 1
    assert "left alone; there are 1" in found.notes[0]


def test_what_is_no_text_is_skipped_and_listed_or_refused(tmp_path):
    corpus(tmp_path)
    (tmp_path / "x.txt").write_bytes(b"ab\0cd")
    (tmp_path / "y.txt").write_bytes(bytes(range(1, 32)) * 20 + b"\xff\xfe\xfd")
    (tmp_path / "z.txt.gz").write_bytes(b"no gzip")
    (tmp_path / "latin.txt").write_bytes("café".encode("cp1252"))
    found = read_documents(tmp_path)
    assert "latin.txt" in found.names
    assert found.texts[found.names.index("latin.txt")] == "café"
    said = " ".join(found.notes)
    for name in (
        "x.txt (holds binary data)",
        "y.txt (holds binary data)",
        "z.txt.gz",
        "Windows-1252",
        "latin.txt",
    ):
        assert name in said
    with pytest.raises(DataError, match=r"(x|y|latin)\.txt is not"):
        read_documents(tmp_path, strict=True)


def test_folders_without_texts_and_with_one(tmp_path):
    with pytest.raises(DataError, match=r"no texts: no file below it ends in \.txt"):
        read_documents(tmp_path)
    (tmp_path / "only.txt").write_text("a\n\nb\n")
    with pytest.raises(DataError, match=r"one text, only.txt.*give the file itself"):
        read_documents(tmp_path)
    found = read_documents(tmp_path / "only.txt")
    assert (found.texts, found.names) == (["a", "b"], ["line0", "line2"])


ROWS = [
    {"who": "x", "text": "one, two", "kind": "p"},
    {"who": "y", "text": 'said "three"\nfour', "kind": "q"},
    {"who": "z", "text": None, "kind": "q"},
]


def table(folder, form):
    import csv

    path = folder / f"rows.{form}"
    if form in ("csv", "tsv"):
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, ["who", "text", "kind"], delimiter="," if form == "csv" else "\t")
            writer.writeheader()
            writer.writerows(ROWS)
    elif form == "parquet":
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pd.DataFrame(ROWS).to_parquet(path)
    elif form == "json":
        path.write_text(json.dumps(ROWS, indent=1))
    else:
        raw = "\n".join(map(json.dumps, ROWS)).encode()
        path.write_bytes(gzip.compress(raw) if form.endswith("gz") else raw)
    return path


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "jsonl.gz", "json.gz", "json", "parquet"])
def test_the_column_of_a_table(form, tmp_path):
    path = table(tmp_path, form)
    found = read_documents(path, "text", id="who", labels="kind")
    assert found.texts == ["one, two", 'said "three"\nfour', ""]
    assert (found.names, found.labels) == (["x", "y", "z"], ["p", "q", "q"])
    guessed = read_documents(path)
    assert guessed.texts == found.texts
    assert guessed.names == ["row0", "row1", "row2"]
    assert any("the column 'text'" in note for note in guessed.notes)
    with pytest.raises(DataError, match=r"no column 'txt'. It has 'who', 'text', 'kind'"):
        read_documents(path, "txt")
    with pytest.raises(DataError, match="no column 'nobody' for --id"):
        read_documents(path, "text", id="nobody")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_documents_have_their_names_where_the_column_of_texts_is_given(form, tmp_path):
    import pandas as pd

    rows = [{"id": f"d{i}", "text": f"a b {i}", "group": "g"} for i in range(4)]
    path = tmp_path / f"rows.{form}"
    frame = pd.DataFrame(rows)
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    assert read_documents(path, "text").names == read_documents(path).names == ["d0", "d1", "d2", "d3"]


@pytest.mark.parametrize(
    "orient", ["records", "columns", "index", "split", "table", "lists", "indented", "lines"]
)
def test_tables_of_texts_in_json_are_read_as_pandas_writes_them(orient, tmp_path):
    import json

    import pandas as pd

    frame = pd.DataFrame({"who": ["ann", "bob", "cyd"], "text": ["a b", "", "c d e"]}, index=[7, 3, 5])
    path = tmp_path / "texts.json"
    if orient == "lists":
        path.write_text(json.dumps(frame.to_dict("list")))
    elif orient == "indented":
        frame.to_json(path, orient="columns", indent=2)
    elif orient == "lines":
        frame.to_json(path, orient="records", lines=True)
    elif orient == "index":
        frame.to_json(path, orient="index")
        with pytest.raises(DataError, match="no column 'text'"):
            read_documents(path, "text", id="who")
        return
    else:
        frame.to_json(path, orient=orient)
    found = read_documents(path, "text", id="who")
    assert found.texts == ["a b", "", "c d e"]
    assert found.names == ["ann", "bob", "cyd"]


def test_cells_may_be_as_long_as_documents(tmp_path):
    import csv

    limit = csv.field_size_limit()
    (tmp_path / "long.csv").write_text("text\n" + "word " * 100_000 + "\n")
    assert len(read_documents(tmp_path / "long.csv").texts[0].split()) == 100_000
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "p,q\n1,2\n", "Which column.*'p', 'q'"),
        ("a.csv", "text,q\none\n", "row 2 has 1 cells"),
        ("a.jsonl", '{"text": "a"}\nnope\n', "line 2 is not valid JSON"),
        ("a.jsonl", '{"text": "a", "b": 1}\n"bare"\n', "row 2 is a bare string"),
        ("a.json", "[1, 2]", "entry 1 is 1, neither an object nor a string"),
        ("a.json", "[1, 2", "not valid JSON"),
        ("a.xyz", "text", "texts are read from"),
        ("a.txt", "", "it is empty"),
        ("a.parquet", "PAR1 not", "not a readable .parquet"),
        ("a.txt.gz", "plain", "not a readable gzip"),
    ],
)
def test_files_that_hold_no_documents(name, content, words, tmp_path):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=words):
        read_documents(tmp_path / name)


def test_encodings(tmp_path):
    (tmp_path / "a.txt").write_bytes("garçon\ncafé".encode("latin-1"))
    assert read_documents(tmp_path / "a.txt", encoding="latin-1").texts == ["garçon", "café"]
    with pytest.raises(DataError, match=r"is not UTF-8 text.*--encoding latin-1"):
        read_documents(tmp_path / "a.txt")
    with pytest.raises(DataError, match="no encoding 'utf-9'"):
        read_documents(tmp_path / "a.txt", encoding="utf-9")
    with pytest.raises(DataError, match="no such file or folder"):
        read_documents(tmp_path / "b.txt")


def test_stop_words_of_several_languages():
    from partwise.domains.stop_words import as_stop_words, stop_words_of

    both = sorted({*stop_words_of("english"), *stop_words_of("german")})
    assert as_stop_words("english, German") == as_stop_words(["german", "english"]) == both
    assert as_stop_words(["german", "the"]) == ["german", "the"]


def test_letters_with_marks_of_their_own_are_read_composed(tmp_path):
    parted = unicodedata.normalize("NFD", "Stürmer schießt\nBänke für Müller\n")
    (tmp_path / "d.txt").write_text(parted)
    assert read_documents(tmp_path / "d.txt").texts == ["Stürmer schießt", "Bänke für Müller"]
    _, words = document_term_matrix(
        parted.split("\n"), stop_words=[unicodedata.normalize("NFD", "für")], min_df=1, max_df=1.0
    )
    assert words.tolist() == ["bänke", "müller", "schießt", "stürmer"]
    vectorizer = make_vectorizer("count", min_df=1, max_df=1.0, stop_words=None).fit(["Müller"])
    assert apply_vectorizer(vectorizer, [unicodedata.normalize("NFD", "Müller")]).nnz == 1


def test_the_first_line_of_one_column_is_no_name_if_it_occurs_again(tmp_path):
    (tmp_path / "a.csv").write_text("cat mouse\ntrain bridge\ncat mouse\n")
    found = read_documents(tmp_path / "a.csv")
    assert found.texts == ["cat mouse", "train bridge", "cat mouse"]
    assert found.names == ["row0", "row1", "row2"]
    assert found.column is None
    assert "'cat mouse', occurs again below, so it is a text" in found.notes[0]
    said = read_documents(tmp_path / "a.csv", "cat mouse")
    assert said.texts == ["train bridge", "cat mouse"]
    assert said.notes == []


def test_the_first_line_of_one_column_is_said_to_name_it(tmp_path):
    (tmp_path / "a.tsv").write_text("cat mouse\ntrain bridge\n")
    found = read_documents(tmp_path / "a.tsv")
    assert found.texts == ["train bridge"]
    assert "the column 'cat mouse', its first line. If that is a text too" in found.notes[0]
    (tmp_path / "b.csv").write_text("Text\ntrain bridge\ntext\n")
    (tmp_path / "c.jsonl").write_text('{"cat": "train"}\n{"cat": "cat"}\n')
    for name in ("b.csv", "c.jsonl"):  # names that nobody doubts
        found = read_documents(tmp_path / name)
        assert len(found.texts) == 2
        assert found.notes == []


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_cells_that_are_missing_are_no_words(form, tmp_path):
    cells = ["goal match", "NA", "nan", "None", " n/a ", "", "none of these"]
    lines = [f'"{cell}",x' if form == "csv" else json.dumps({"text": cell, "b": "x"}) for cell in cells]
    path = tmp_path / f"a.{form}"
    path.write_text("\n".join((["text,b"] if form == "csv" else []) + lines) + "\n")
    found = read_documents(path, "text")
    assert found.texts == ["goal match", "", "", "", "", "", "none of these"]
    assert any("5 rows have no text" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("मंत्री चुनाव पार्टी। माँ", ["मंत्री", "चुनाव", "पार्टी", "माँ"]),
        ("שָׁלוֹם עולם", ["שָׁלוֹם", "עולם"]),
        ("ภาษาไทย น้ำ", ["ภาษาไทย", "น้ำ"]),
        ("می\u200cخواهم\u200c ab", ["می\u200cخواهم", "ab"]),
        ("I ❤\ufe0flove naïve", ["love", "naïve"]),
        ("मंत्री1 1मंत्री _मंत्री", []),
    ],
)
def test_words_keep_the_marks_of_their_script(text, words):
    assert make_vectorizer(stop_words=None).build_tokenizer()(text) == words


@given(st.text(st.characters(max_codepoint=127)) | st.text("ab1_ -'é"))
def test_words_of_plain_letters_are_those_between_boundaries(text):
    assert re.findall(word_pattern(), text) == re.findall(WORD, text)


def test_texts_without_blanks_are_told_and_cut_ones_are_not():
    whole = ["央行宣布下调存款准备金率,市场反应积极", "球队在主场赢得了比赛,球迷欢呼雀跃"]
    with pytest.warns(UserWarning, match="no blanks between words.*segmenter") as said:
        document_term_matrix(whole, min_df=1, max_df=1.0)
    assert len(said) == 1
    with pytest.raises(ValueError, match=r"no words are left.*no blanks between words"):
        document_term_matrix(whole * 2, min_df=3, max_df=1.0)
    cut = ["央行 宣布 下调 存款 准备金率 市场 反应 积极", "球队 在 主场 赢得 了 比赛"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        document_term_matrix(cut, min_df=1, max_df=1.0)
        document_term_matrix(["Der Donaudampfschifffahrtskapitän", "sah 中国"], min_df=1, max_df=1.0)


def test_empty_texts_are_called_empty():
    with pytest.raises(ValueError, match="no words in 2 documents: all of them are empty"):
        document_term_matrix(["", " \n"], min_df=1, max_df=1.0)


def test_numbers_are_not_called_stop_words():
    with pytest.raises(ValueError, match="numbers or signs, but no letters"):
        document_term_matrix(["12", "7"], min_df=1, max_df=1.0)


def test_a_language_without_a_list_is_not_taken_for_another():
    with pytest.raises(ValueError, match=r"'polish'.*--language none, leaves no words out") as refused:
        stop_words_of("polish")
    assert "Did you mean" not in str(refused.value)
    with pytest.raises(ValueError, match=r"Did you mean german\?"):
        stop_words_of("germn")
