"""Pipelines with the usual steps of scikit-learn in model files: the same bits, no pickle, and what is refused."""

import inspect
import io
import json
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from partwise import NMF, MixtureClassifier, load, save
from partwise.io import ModelFileError, registry

X, Y = datasets.load_iris(return_X_y=True)
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(X, columns=["sepal length", "sepal width", "petal length", "petal width"])
DOCUMENTS = [
    f"the {a} and the {b} saw a {c} by the old mill"
    for a in ("cat", "dog", "Ünder", "hen")
    for b in ("fox", "owl", "pig")
    for c in ("mouse", "horse", "goose")
]
KINDS = np.array(["bird" if "hen" in text or "owl" in text else "beast" for text in DOCUMENTS])
LETTERS = pd.DataFrame({"a": ["x", "y", "z"] * 12, "b": [1, 2, 3, 4] * 9})


def nmf(k=3):
    return NMF(k, max_iter=300, tol=1e-3, random_state=0)


TEXT_STEPS = [
    make_pipeline(TfidfVectorizer(ngram_range=(1, 2), max_features=30), nmf(), LogisticRegression()),
    make_pipeline(TfidfVectorizer(use_idf=False, dtype=np.float32), TruncatedSVD(4), LinearSVC()),
    make_pipeline(
        TfidfVectorizer(analyzer="char", ngram_range=(1, 4)), SelectKBest(chi2, k=5), MultinomialNB()
    ),
    make_pipeline(CountVectorizer(stop_words="english"), TfidfTransformer(), RidgeClassifier()),
    make_pipeline(CountVectorizer(), nmf(), Normalizer("l1"), KMeans(3, random_state=0)),
    make_pipeline(CountVectorizer(vocabulary=["cat", "dog"]), KNeighborsClassifier(algorithm="brute")),
]
NUMBER_STEPS = [
    make_pipeline(StandardScaler(), PCA(2, whiten=True), RidgeClassifier()),
    make_pipeline(StandardScaler(with_mean=False), RobustScaler(with_centering=False), LogisticRegression()),
    make_pipeline(MinMaxScaler(), nmf(2), MixtureClassifier(2, penalty=1e-3, max_iter=50, tol=1e-2)),
    make_pipeline(MaxAbsScaler(), VarianceThreshold(1e-4), SelectKBest(k=2), KMeans(3, random_state=0)),
    make_pipeline(
        StandardScaler(with_std=False), KNeighborsClassifier(algorithm="brute", weights="distance")
    ),
    Pipeline([("scale", "passthrough"), ("nmf", nmf(2)), ("end", None)]),
]


def answers(model, data):
    """Everything that a model says of data."""
    names = ("transform", "predict", "predict_proba", "decision_function")
    found = {name: getattr(model, name)(data) for name in names if hasattr(model, name)}
    if "transform" in found:
        found["names"] = model.get_feature_names_out()
    assert found
    return found


def same(one, two):
    if sp.issparse(one):
        return one.dtype == two.dtype and (one != two).nnz == 0
    if isinstance(one, pd.DataFrame):
        return one.equals(two)
    return one.dtype == two.dtype and np.array_equal(one, two)


def check_round_trip(model, data, tmp_path):
    path = save(model, tmp_path / "pipeline")
    found, expected = answers(load(path), data), answers(model, data)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert same(found[name], value), name
    assert save(load(path), tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", TEXT_STEPS, ids=lambda model: "-".join(name for name, _ in model.steps))
def test_text_pipelines_give_the_same_bits(model, tmp_path):
    check_round_trip(model.fit(DOCUMENTS, KINDS), DOCUMENTS, tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [X, FRAME, X.astype(np.float32)], ids=["array", "frame", "float32"])
@pytest.mark.parametrize("model", NUMBER_STEPS, ids=lambda model: "-".join(name for name, _ in model.steps))
def test_number_pipelines_give_the_same_bits(model, data, tmp_path):
    check_round_trip(model.fit(data, Y), data, tmp_path)


def test_missing_values_and_categories(tmp_path):
    for strategy in ("mean", "most_frequent"):
        model = make_pipeline(SimpleImputer(strategy=strategy), StandardScaler()).fit(HOLES)
        check_round_trip(model, HOLES, tmp_path)
    check_round_trip(SimpleImputer(strategy="most_frequent").fit(LETTERS[["a"]]), LETTERS[["a"]], tmp_path)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    check_round_trip(model.fit(LETTERS, LETTERS["b"] > 2), LETTERS, tmp_path)


def test_every_allowed_class_is_tried_here():
    tried = {type(step).__name__ for model in TEXT_STEPS + NUMBER_STEPS for _, step in model.steps}
    tried |= {"Pipeline", "SimpleImputer", "OneHotEncoder", "LabelBinarizer"}
    assert set(registry._steps) <= tried


def test_output_as_a_frame_is_kept(tmp_path):
    model = make_pipeline(StandardScaler(), MinMaxScaler(), nmf(2)).set_output(transform="pandas").fit(FRAME)
    check_round_trip(model, FRAME, tmp_path)
    assert isinstance(load(save(model, tmp_path / "m")).transform(FRAME), pd.DataFrame)
    assert "output" not in json.loads(zipfile.ZipFile(save(nmf(), tmp_path / "n")).read("manifest.json"))


def test_file_objects(tmp_path):
    model = nmf().fit(X)
    path = save(model, tmp_path / "m")
    stream = io.BytesIO()
    assert save(model, stream) is stream
    assert stream.getvalue() == path.read_bytes()
    assert np.array_equal(load(stream).transform(X), model.transform(X))
    assert not stream.closed
    with path.open("rb") as file:
        assert load(file).n_components == 3
    with (tmp_path / "text").open("w") as file, pytest.raises(ModelFileError, match="in the mode 'wb'"):
        save(model, file)
    for bad in (3, io.StringIO("x")):
        with pytest.raises(ModelFileError, match="cannot be loaded from: give a path, or a file opened"):
            load(bad)
    with pytest.raises(ModelFileError, match=r"^The file is not a partwise model file"):
        load(io.BytesIO(b"hello"))


class Upper:
    def __call__(self, text):
        return text.upper().split()


def test_what_a_pipeline_cannot_keep(tmp_path):
    cases = [
        (
            TfidfVectorizer(tokenizer=str.split),
            "'tokenizer' of TfidfVectorizer .*Split and clean the texts beforehand",
        ),
        (CountVectorizer(analyzer=Upper()), "'analyzer' of CountVectorizer is a function.*set token_pattern"),
        (CountVectorizer(input="filename"), "'input' of CountVectorizer may name a path"),
        (SelectKBest(lambda X, y: X[0]), "'score_func' of SelectKBest is a function"),
        (SVC(), "a SVC, which cannot be saved: .* LogisticRegression, LinearSVC and partwise.Mixture"),
        (FunctionTransformer(np.log1p), "FunctionTransformer.* Call the function before the pipeline"),
        (ColumnTransformer([("a", StandardScaler(), [0])]), "ColumnTransformer.* Prepare the columns before"),
        (
            SklearnNMF(2),
            "is a NMF, which cannot be saved: .* partwise.NMF takes the parameters of scikit-learn's",
        ),
        (SimpleImputer(add_indicator=True), "'add_indicator' of SimpleImputer"),
        (OneHotEncoder(drop="first"), "'drop' of OneHotEncoder .*group rare categories"),
    ]
    for step, sentence in cases:
        with pytest.raises(ModelFileError, match=sentence):
            save(make_pipeline(step), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"use KNeighborsClassifier\(algorithm='brute'\)"):
        save(make_pipeline(KNeighborsClassifier(algorithm="kd_tree").fit(X, Y)), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"'memory' of Pipeline may name .* Set it so before saving"):
        save(make_pipeline(StandardScaler(), memory=str(tmp_path)), tmp_path / "m")


def forge(path, change):
    """Change the manifest of a model file, which has no checksum of its own."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries["manifest.json"])
    change(manifest)
    entries["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def test_forged_paths_caches_and_functions_are_refused(tmp_path):
    """A cache folder named by a file would be unpickled by the next fit."""
    model = make_pipeline(CountVectorizer(), SelectKBest(chi2, k=2)).fit(DOCUMENTS, KINDS)

    def step(manifest, number):
        return manifest["params"]["steps"][number]["$tuple"][1]["$model"]["params"]

    cases = [
        (lambda m: m["params"].update(memory="/tmp/cache"), "'memory' of Pipeline may name a path, a cache"),
        (lambda m: step(m, 0).update(input="filename"), "'input' of CountVectorizer"),
        (lambda m: step(m, 0).update(dtype="content"), "its dtype is 'content'; give a type such as"),
        (lambda m: step(m, 0).update(tokenizer="os.system"), "'tokenizer' of CountVectorizer"),
        (lambda m: step(m, 1).update(score_func={"$function": "eval"}), "'eval' is not one of the functions"),
        (lambda m: step(m, 1).update(score_func="chi2"), "'score_func' parameter of SelectKBest"),
    ]
    for change, sentence in cases:
        with pytest.raises(ModelFileError, match=sentence):
            load(forge(save(model, tmp_path / "m"), change))
    path = forge(save(nmf(), tmp_path / "n"), lambda m: m["params"].update(callbacks=["x"]))
    with pytest.raises(ModelFileError, match="a value for 'callbacks', which no model file keeps"):
        load(path)


def test_no_step_takes_a_path_or_a_function_unnoticed():
    """Parameters that scikit-learn takes as a callable or a file are limited, or nothing in a file could be one."""
    known = {"memory", "input", "tokenizer", "preprocessor"}
    for name, step in registry._steps.items():
        params = inspect.signature(registry.find_model(name)).parameters
        risky = known & set(params)
        assert risky <= set(step.only), name


def test_steps_that_do_not_follow_from_each_other(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(StandardScaler(), PCA(2), LogisticRegression()).fit(X, Y)
        model.steps[1] = ("pca", PCA(3).fit(X))
        with pytest.raises(
            ModelFileError, match="step 'pca' gives 3 columns, and 'logisticregression' takes 2"
        ):
            save(model, tmp_path / "m")
