"""Model files: what is kept, what is refused, and that a failed save leaves nothing."""

import json
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from partwise import __version__
from partwise.io import ModelFileError, load, save


def test_every_kind_of_value_comes_back(tmp_path, fake, fitted):
    path = save(fitted, tmp_path / "model")
    assert path == tmp_path / "model.partwise"
    found = load(path)
    assert type(found) is fake.Factorizer
    assert fake.same(found, fitted)
    assert found.single_.flags.f_contiguous
    assert found.components_.flags.writeable


def test_the_manifest(tmp_path, fitted):
    path = save(fitted, tmp_path / "m.zip")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist()[0] == "manifest.json"
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert sorted(manifest["sha256"]) == sorted(archive.namelist()[1:])
    assert manifest["format"] == "partwise-model"
    assert manifest["format_version"] == 1
    assert manifest["partwise_version"] == __version__
    assert manifest["class"] == "FakeFactorizer"


def test_the_same_model_gives_the_same_bytes(tmp_path, fitted):
    one, two = save(fitted, tmp_path / "one"), save(fitted, tmp_path / "two")
    assert one.read_bytes() == two.read_bytes()
    assert save(load(one), tmp_path / "three").read_bytes() == one.read_bytes()


def test_paths(tmp_path, fake, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(save(fake.Factorizer(), "m")) == "m.partwise"
    assert load("m").n_components == 2
    assert str(save(fake.Factorizer(), "m.v1")) == "m.v1"
    with pytest.raises(ModelFileError, match=r"^nothing: no such file\."):
        load("nothing")
    with pytest.raises(ModelFileError, match=r"is a folder, not a model file"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match=r"cannot be written: the folder .* does not exist"):
        save(fake.Factorizer(), "nowhere/m")
    with pytest.raises(ModelFileError, match="is no name for a model file"):
        save(fake.Factorizer(), "")


def test_which_attributes_are_kept(tmp_path, fake):
    model = fake.Factorizer()
    model.kept_ = 1
    model.state = 2
    model.scratch_ = 3
    model.other = 4
    model._private_ = 5
    found = load(save(model, tmp_path / "m"))
    assert {name for name in vars(found) if name not in found.get_params()} == {"kept_", "state"}


def test_shared_arrays_stay_shared(tmp_path, fake):
    model = fake.Factorizer()
    model.a_ = model.b_ = np.arange(3)
    found = load(save(model, tmp_path / "m"))
    assert found.a_ is found.b_


def test_callbacks_and_generators_are_dropped_with_a_warning(tmp_path, fake):
    with pytest.warns(UserWarning, match="parameter 'callbacks' of FakeFactorizer is not saved") as caught:
        path = save(fake.Factorizer(callbacks=[print]), tmp_path / "m")
    assert caught[0].filename == __file__
    assert load(path).callbacks is None
    with pytest.warns(UserWarning, match="parameter 'progress' of FakeFactorizer is not saved"):
        path = save(fake.Factorizer(progress=print), tmp_path / "m")
    assert load(path).progress is None
    for random_state in (np.random.RandomState(0), np.random.default_rng(0)):
        with pytest.warns(UserWarning, match="'random_state' .* random generator, which is not saved"):
            path = save(fake.Factorizer(random_state=random_state), tmp_path / "m")
        assert load(path).random_state is None
    assert fake.same(
        load(save(fake.Factorizer(random_state=np.int32(3)), tmp_path / "m")).random_state, np.int32(3)
    )


def test_what_cannot_be_saved(tmp_path, fake):
    cases = [
        (
            fake.Factorizer(prior=print),
            r"parameter 'prior' of FakeFactorizer is a function or class \(print\)",
        ),
        (
            fake.Factorizer(prior=fake.StrangerPrior()),
            "'prior' .* unregistered StrangerPrior; put @.*register_value",
        ),
        (fake.Factorizer(prior={1: 2}), "'prior' .* dict with the key 1; .* only string keys"),
        (fake.Factorizer(prior={1, 2}), "'prior' of FakeFactorizer is a set"),
        (fake.Factorizer(prior=fake.Prior(rate={1})), r"'prior' .*\(FakePrior\.rate\) is a set"),
        (fake.Factorizer(prior=np.array([1, None])), "Python objects other than strings"),
        (fake.Factorizer(prior=np.ones(2, complex)), "array of complex128"),
        (fake.Factorizer(prior=np.zeros(2, "M8[s]")), r"array of datetime64"),
        (fake.Factorizer(prior=np.ma.array([1, 2])), "masked array"),
        (fake.Factorizer(prior=np.complex64(1)), "complex64 scalar"),
        (fake.Factorizer(prior=sp.csc_matrix(np.eye(2))), "csc_matrix; save it as CSR"),
        (fake.Factorizer(prior=fake.StrangerFactorizer()), "'prior' .* is a StrangerFactorizer"),
        (
            fake.StrangerFactorizer(),
            "A StrangerFactorizer cannot be saved: it is not one of .*FakeFactorizer",
        ),
    ]
    for model, sentence in cases:
        with pytest.raises(ModelFileError, match=sentence):
            save(model, tmp_path / "m")
    model = fake.Factorizer()
    model.inner_ = object()
    with pytest.raises(ModelFileError, match="attribute 'inner_' of FakeFactorizer is a object"):
        save(model, tmp_path / "m")
    model.inner_ = model
    with pytest.raises(ModelFileError, match="it holds itself"):
        save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_failed_save_leaves_the_old_model(tmp_path, fake, fitted, monkeypatch):
    path = save(fake.Factorizer(5), tmp_path / "m")
    before = path.read_bytes()
    calls = []

    def fail(stream, array, **kwargs):
        # The first rounds compute checksums; fail once a part of the file is already written.
        calls.append(array)
        if len(calls) > 9:
            raise OSError("disk full")
        np.lib.format.__dict__["_original_write"](stream, array, **kwargs)

    monkeypatch.setitem(np.lib.format.__dict__, "_original_write", np.lib.format.write_array)
    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        save(fitted, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["m.partwise"]


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ARRAY = hnp.arrays(
    st.sampled_from([np.bool_, np.int8, np.uint64, np.float32, np.float64, np.dtype("U3"), np.dtype(">f8")]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
STRINGS = st.lists(st.text(max_size=4), max_size=4).map(
    lambda texts: np.array([*texts, ""], dtype=object)[:-1]
)
SCALAR = hnp.arrays(st.sampled_from([np.bool_, np.int16, np.uint8, np.float32, np.float64]), ()).map(
    lambda array: array[()]
)
VALUE = st.recursive(
    PLAIN | ARRAY | STRINGS | SCALAR,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.sampled_from(["$array", "$dict"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(param=VALUE, attribute=VALUE)
def test_any_nest_of_values_comes_back(tmp_path, fake, param, attribute):
    model = fake.Factorizer(inner=param, prior=fake.Prior(shape=attribute))
    model.thing_ = attribute
    assert fake.same(load(save(model, tmp_path / "m")), model)
