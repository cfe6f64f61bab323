"""What each model's file must hold: every model declares it, and loading checks names, types, shapes and ranges."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest

from partwise import (
    NMF,
    BayesianBooleanMF,
    BayesianNMF,
    BinaryNMF,
    BooleanMF,
    DeepNMF,
    GraphNMF,
    ManifoldNMF,
    MixtureClassifier,
    SemiNMF,
    SemiSupervisedNMF,
    SourceSeparation,
    SymmetricNMF,
    TopicModel,
    load,
    save,
)
from partwise.datasets import make_chord
from partwise.domains import DeslantCrop
from partwise.io import ModelFileError, registry
from partwise.io.encode import saved_names

X = np.random.default_rng(0).poisson(3.0, (30, 4)).astype(float)
Y = np.arange(30) % 3
TEXTS = [" ".join(word for word, n in zip(("aa", "bb", "cc", "dd"), row) if n > 3) for row in X]
MODELS = {
    "NMF": NMF(2, max_iter=30, tol=1e-2),
    "GraphNMF": GraphNMF(2, max_iter=30, graph_weight=0.1),
    "SemiSupervisedNMF": SemiSupervisedNMF(2, max_iter=30),
    "ManifoldNMF": ManifoldNMF(2, max_iter=30, graph_weight=0.1),
    "SemiNMF": SemiNMF(2, max_iter=30, tol=1e-2),
    "DeepNMF": DeepNMF((3, 2), max_iter=30, tol=1e-2),
    "BinaryNMF": BinaryNMF(2, max_iter=3, init="random", per_component=True),
    "BooleanMF": BooleanMF(2, max_time=0.1),
    "BayesianBooleanMF": BayesianBooleanMF(2, n_chains=2, n_draws=5, n_warmup=5),
    "BayesianNMF": BayesianNMF(2, likelihood="poisson", n_chains=2, n_draws=10, n_warmup=10),
    "SourceSeparation": SourceSeparation(2, max_iter=20),
    "MixtureClassifier": MixtureClassifier(2, max_iter=30, penalty=0.1),
    "SymmetricNMF": SymmetricNMF(2, directed=True, max_iter=30),
    "TopicModel": TopicModel(2, seed_words={"b": ["bb"]}, max_iter=30),
    "DeslantCrop": DeslantCrop((2, 2), 2),
}


@pytest.fixture(scope="module")
def entries():
    """The entries of a file of each model."""
    found = {}
    yes_no = dict.fromkeys(("BooleanMF", "BayesianBooleanMF"), (X > 3).astype(float))
    special = {**yes_no, "SymmetricNMF": X @ X.T, "TopicModel": TEXTS}
    for name, model in MODELS.items():
        if name == "SourceSeparation":
            chord = make_chord(["A3", "E4"], sampling_rate=4000, random_state=0)
            model.fit(chord.data, chord.sampling_rate)
        else:
            model.fit(special.get(name, X), Y)
        if name == "BooleanMF":
            model.trust((X > 3).astype(float), n_restarts=1, n_resamples=1)
        with zipfile.ZipFile(save(model, io.BytesIO())) as archive:
            found[name] = {entry: archive.read(entry) for entry in archive.namelist()}
    return found


pytestmark = pytest.mark.filterwarnings("ignore")


def forged(entries, change):
    """A file with a changed manifest and changed arrays, whose checksums are right."""
    entries = dict(entries)
    manifest = json.loads(entries.pop("manifest.json"))
    arrays = {name: np.load(io.BytesIO(data)) for name, data in entries.items()}
    change(manifest, arrays)
    for name, array in arrays.items():
        stream = io.BytesIO()
        np.save(stream, array)
        entries[name] = stream.getvalue()
    manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream


def test_every_model_declares_its_file(entries):
    """All of partwise's models, and all that each of them keeps."""
    ours = [
        name
        for name in registry.known_models()
        if registry.find_model(name).__module__.startswith("partwise")
    ]
    assert sorted(ours) == sorted(MODELS)
    for model in MODELS.values():
        assert set(saved_names(model)) <= set(type(model).file_contents)
    for name in registry._steps:
        assert registry.step_of(registry.find_model(name)) is not None


@pytest.mark.parametrize("name", MODELS)
def test_an_attribute_left_out_is_missed(entries, name):
    optional = {"trust_", "feature_names_in_"}
    for attribute in set(json.loads(entries[name]["manifest.json"])["fitted"]) - optional:
        if name == "DeslantCrop":
            continue
        with pytest.raises(ModelFileError, match=f"not complete or not sound: it lacks {attribute}"):
            load(forged(entries[name], lambda manifest, _, gone=attribute: manifest["fitted"].pop(gone)))


@pytest.mark.parametrize("name", MODELS)
def test_arrays_of_another_shape_or_type_are_noticed(entries, name):
    changes = {
        "shorter": lambda array: array[:-1],
        "one column less": lambda array: array[..., :-1],
        "another dimension": lambda array: array[None],
        "text": lambda array: array.astype("U3"),
        "foreign bytes": lambda array: array.astype(array.dtype.newbyteorder(">")),
        "half precision": lambda array: array.astype("f2"),
    }
    fitted = json.loads(entries[name]["manifest.json"])["fitted"]
    for attribute, held in fitted.items():
        if not isinstance(held, dict) or "$array" not in held or attribute == "classes_":
            continue
        for what, change in changes.items():

            def swap(_, arrays, change=change, entry=held["$array"]):
                arrays[entry] = change(arrays[entry])

            good = np.load(io.BytesIO(entries[name][held["$array"]]))
            if what == "foreign bytes" and good.dtype.itemsize == 1:
                continue
            with pytest.raises(ModelFileError, match="not complete or not sound: its "):
                load(forged(entries[name], swap))


@pytest.mark.parametrize(
    ("name", "attribute", "value", "sentence"),
    [
        ("NMF", "n_features_in_", 7, "its components_ has 4 n_features, where n_features_in_ has 7"),
        ("NMF", "n_components_", "two", "its n_components_ is 'two', where whole number belongs"),
        ("NMF", "loss_", {"$dataclass": "Gamma", "fields": {}}, "where a Loss belongs"),
        ("NMF", "loss_", {"$dataclass": "NegativeBinomial", "fields": {}}, "whose parameter is not a number"),
        ("NMF", "data_mean_", {"$float": "nan"}, "its data_mean_ holds NaN or infinity"),
        ("NMF", "history_", {}, r"it lacks history_\['objective'\]"),
        ("NMF", "restarts_", [3], r"its restarts_\[0\] is 3, where named values belong"),
        ("NMF", "converged_", "yes", "its converged_ is 'yes', where True or False belongs"),
        ("BinaryNMF", "activation_", 1.5, "its activation_ is 1.5, where an array belongs"),
        ("BinaryNMF", "inference_", "guess", "its inference_ is 'guess', not 'exact' or 'truncated'"),
        ("BinaryNMF", "noise_variance_", -1.0, "its noise_variance_ holds -1, outside 1e-300 to inf"),
        ("BinaryNMF", "background_", -1.0, "its background_ holds -1, outside 0 to inf"),
        ("BooleanMF", "prices_", {"$tuple": [1.0, 1.0]}, "its prices_ has 2 entries, not 3"),
        ("BooleanMF", "tiles_", {}, r"it lacks tiles_\['rows'\]"),
        ("MixtureClassifier", "penalties_", [], "its penalties_ is of type list, where named values belong"),
        ("DeslantCrop", "n_features_in_", 0, "its n_features_in_ holds 0, outside 1 to inf"),
    ],
)
def test_values_that_do_not_belong(entries, name, attribute, value, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        load(forged(entries[name], lambda manifest, _: manifest["fitted"].update({attribute: value})))


@pytest.mark.parametrize(
    ("name", "parameter", "value", "sentence"),
    [
        ("NMF", "n_components", -1, "n_components must be an integer of at least 1"),
        ("NMF", "beta_loss", "zebra", "beta_loss must be"),
        ("BinaryNMF", "tol", "x", "tol must be a number"),
        ("BinaryNMF", "noise", "gaussian", "its noise is 'gaussian', and its noise_variance_ None"),
        ("BinaryNMF", "missing_values", "auto", "missing_values must be nan, 0 or None; got 'auto'"),
        ("BooleanMF", "method", [1], "method must be one of"),
        ("MixtureClassifier", "penalty", -1, "penalty must be a number"),
        ("DeslantCrop", "size", 0, "shape must be two and size one whole number"),
    ],
)
def test_parameters_are_checked_as_fit_checks_them(entries, name, parameter, value, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        load(forged(entries[name], lambda manifest, _: manifest["params"].update({parameter: value})))


def test_components_of_classes_that_do_not_exist(entries):
    def change(manifest, arrays):
        arrays[manifest["fitted"]["component_class_"]["$array"]][-1] = 3

    with pytest.raises(ModelFileError, match="its component_class_ holds 3, outside 0 to 2"):
        load(forged(entries["MixtureClassifier"], change))


def test_a_fit_that_was_not_finished_is_not_saved(tmp_path):
    model = NMF(2)
    with pytest.raises(ValueError, match="no observed entry above zero"):
        model.fit(np.zeros((3, 3)))
    with pytest.raises(ModelFileError, match="The NMF cannot be saved: it lacks n_samples_fit_"):
        save(model, tmp_path / "m")
    assert load(save(NMF(2), tmp_path / "m")).n_components == 2
