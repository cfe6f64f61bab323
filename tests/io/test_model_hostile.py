"""Model files that were damaged, changed or made to harm: one sentence each, and nothing is run."""

import hashlib
import io
import json
import os
import pickle
import random
import struct
import warnings
import zipfile

import numpy as np
import pytest

from partwise.io import ModelFileError, load, model_file, save


@pytest.fixture
def path(tmp_path, fitted, monkeypatch):
    """A good model file, in the current folder."""
    monkeypatch.chdir(tmp_path)
    save(fitted, "good.partwise")
    return tmp_path / "bad.partwise"


@pytest.fixture
def parts(path):
    """The manifest and the array entries of the good file."""
    with zipfile.ZipFile("good.partwise") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        return manifest, {name: archive.read(name) for name in manifest["sha256"]}


@pytest.fixture
def refuses(path):
    """Write a file of this manifest and these entries; it must be refused with this sentence."""

    def check(manifest, entries, sentence, *, sign=False):
        if sign:
            manifest["sha256"] = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
        with zipfile.ZipFile(path, "w") as archive:
            if manifest is not None:
                text = manifest if isinstance(manifest, (str, bytes)) else json.dumps(manifest)
                archive.writestr("manifest.json", text)
            for name, data in entries.items():
                archive.writestr(name, data)
        with pytest.raises(ModelFileError, match=sentence):
            load("bad.partwise")

    return check


def npy(array, **kwargs):
    stream = io.BytesIO()
    np.save(stream, array, **kwargs)
    return stream.getvalue()


def test_a_flipped_byte_is_noticed_or_harmless(path, fake, fitted):
    good = (path.parent / "good.partwise").read_bytes()
    noticed = 0
    for place in range(0, len(good), 5):
        changed = bytearray(good)
        changed[place] ^= (1, 0x80, 0xFF)[place % 3]
        path.write_bytes(changed)
        try:
            found = load(path)
        except ModelFileError:
            noticed += 1
        else:
            assert fake.same(found, fitted), place
    assert noticed > 0.5 * len(good) / 5


def test_a_file_cut_short_is_noticed(path):
    good = (path.parent / "good.partwise").read_bytes()
    for length in [0, 1, 2, 4, 30, *range(50, len(good), 211), len(good) - 1]:
        path.write_bytes(good[:length])
        with pytest.raises(ModelFileError, match=r"damaged or cut short|is not a partwise model file"):
            load(path)


def test_other_files_are_not_models(path):
    for content in (b"", b"hello", pickle.dumps({"a": 1}), npy(np.eye(2))):
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match=r"bad\.partwise is not a partwise model file.*pickle"):
            load("bad.partwise")


def test_manifest_trouble(parts, refuses):
    manifest, entries = parts
    refuses(None, {"a.txt": b""}, r"is a zip file but not a partwise model: it has no manifest\.json")
    refuses("{", {}, "its manifest is no JSON")
    refuses(b"\xff\xfe\xfd", {}, "its manifest is no JSON")
    refuses("[1]", {}, "its manifest is of another format")
    refuses(manifest | {"format": "other"}, entries, "its manifest is of another format")
    refuses(manifest | {"format_version": "1"}, entries, "its format version is '1'")
    refuses(manifest | {"format_version": 0}, entries, "its format version is 0")
    refuses(
        manifest | {"format_version": 2, "partwise_version": "9.1"},
        entries,
        r"was written by partwise 9\.1 in format 2; .*Upgrade: pip install -U partwise",
    )
    refuses(manifest | {"sha256": None}, entries, "lists no checksums")
    refuses(manifest | {"params": 3}, entries, "list of named values is missing")
    refuses(manifest | {"class": None}, entries, "names no class")


@pytest.mark.parametrize(
    "name", ["os.system", "subprocess.Popen", "BaseEstimator", "NoSuchModel", "FakePrior", ""]
)
def test_only_registered_classes(parts, refuses, name):
    manifest, entries = parts
    refuses(
        manifest | {"class": name}, entries, "which this partwise does not know. It knows .*FakeFactorizer"
    )
    hostile = {"$dataclass": name if name != "FakePrior" else "FakeFactorizer", "fields": {"args": ["true"]}}
    refuses(manifest | {"params": {"prior": hostile}}, entries, "does not know. It knows .*FakePrior")
    nested = {"$model": {"class": name, "params": {}, "fitted": {}}}
    refuses(manifest | {"params": {"inner": nested}}, entries, "does not know. It knows .*FakeFactorizer")


def test_parameters_the_class_does_not_accept(parts, refuses):
    manifest, entries = parts
    refuses(
        manifest | {"params": {"zebra": 1}},
        entries,
        r"gives FakeFactorizer the parameter 'zebra', which it does not accept here \(it accepts n_comp",
    )
    prior = {"$dataclass": "FakePrior", "fields": {"rate": "fast"}}
    refuses(
        manifest | {"params": {"prior": prior}}, entries, "FakePrior does not accept .*rate must be a number"
    )
    prior = {"$dataclass": "FakePrior", "fields": {"zebra": 1}}
    refuses(manifest | {"params": {"prior": prior}}, entries, "FakePrior does not accept")


@pytest.mark.parametrize(
    "name", ["__class__", "__dict__", "fit", "_private_", "scratch_", "get_params", "a b_"]
)
def test_only_fitted_attributes_are_set(parts, refuses, name):
    manifest, entries = parts
    refuses(manifest | {"fitted": {name: 1}}, entries, "is no fitted attribute of FakeFactorizer")


def test_changed_arrays(parts, refuses):
    manifest, entries = parts
    changed = entries | {"arrays/0.npy": npy(np.zeros((2, 3)))}
    refuses(
        manifest, changed, "'arrays/0.npy' does not have the checksum .* was changed after it was written"
    )
    refuses(
        manifest,
        entries | {"../../evil.npy": b""},
        "holds '../../evil.npy', which its manifest does not list",
    )
    fewer = {name: data for name, data in entries.items() if name != "arrays/0.npy"}
    refuses(manifest, fewer, "lacks 'arrays/0.npy', which its manifest lists")


class Bomb:
    exploded = False

    def __reduce__(self):
        return (setattr, (Bomb, "exploded", True))


def test_hostile_arrays(parts, refuses):
    manifest, entries = parts
    objects = npy(np.array([Bomb()], dtype=object), allow_pickle=True)
    hostile = [
        (objects, "'arrays/0.npy' holds Python objects, which partwise does not unpickle"),
        (pickle.dumps(Bomb()), "'arrays/0.npy' is not a .npy array"),
        (npy(np.ones((9, 9)))[:-8], "'arrays/0.npy' is cut short"),
        (
            npy(np.ones((9, 9))).replace(b"(9, 9), }          ", b"(9, 99999999999), }"),
            "'arrays/0.npy' is cut short",
        ),
        (npy(np.zeros(2, "M8[s]")), "'arrays/0.npy' holds values of type datetime64"),
        (npy(np.zeros(2, [("a", "f8")])), "'arrays/0.npy' holds values of type"),
    ]
    for data, sentence in hostile:
        refuses(manifest, entries | {"arrays/0.npy": data}, sentence, sign=True)
    assert not Bomb.exploded


@pytest.mark.parametrize(
    "value",
    [
        {"$zebra": 1},
        {"$tuple": [], "$dict": {}},
        {"$tuple": 3},
        {"$dict": 3},
        {"$float": "1e5"},
        {"$float": [1]},
        {"$array": "arrays/99.npy"},
        {"$array": "manifest.json"},
        {"$array": "/etc/passwd"},
        {"$array": 3},
        {"$strings": ["a"], "shape": [1]},
        {"$strings": {"$array": "arrays/0.npy"}, "ends": {"$array": "arrays/0.npy"}, "shape": [1]},
        {"$index": 3, "numbers": 3, "plain": True},
        {"$type": "object"},
        {"$dtype": ["float64"]},
        {"$function": "system"},
        {"$scalar": "object", "value": 1},
        {"$scalar": "float64", "value": [1, 2]},
        {"$scalar": "int8", "value": 1000},
        {"$scalar": ["int8"], "value": 1},
        {"$csr": []},
        {"$csr": [1, 2, 3, [1, 1]]},
        {"$csr": [{"$array": "arrays/0.npy"}] * 3 + [[2, 2]]},
        {"$dataclass": ["FakePrior"], "fields": {}},
        {"$dataclass": "FakePrior"},
        {"$model": 3},
        {"$model": {"class": "FakeFactorizer"}},
    ],
)
def test_malformed_values(parts, refuses, value):
    manifest, entries = parts
    refuses(manifest | {"fitted": {"x_": value}}, entries, r"^bad\.partwise ")


def test_csr_indices_out_of_bounds(parts, refuses):
    manifest, entries = parts
    arrays = {"d": np.ones(1), "i": np.array([10**6]), "p": np.array([0, 1, 1])}
    entries = {f"arrays/{name}.npy": npy(array) for name, array in arrays.items()}
    csr = {"$csr": [{"$array": name} for name in entries] + [[2, 2]]}
    refuses(
        manifest | {"params": {}, "fitted": {"x_": csr}}, entries, r"kind '\$csr' is malformed", sign=True
    )


def test_manifests_too_deep_or_too_long(parts, refuses):
    """Refused before they become Python objects: 60 MB of brackets would take gigabytes."""
    manifest, entries = parts
    for depth in (61, 800, 100_000):
        deep = "[" * depth + "]" * depth
        nested = json.dumps(manifest | {"fitted": {"x_": "HERE"}}).replace('"HERE"', deep)
        refuses(nested, entries, r"its manifest has values nested \d+ deep, over the limit of 60")
    refuses("[" + "[]," * 300_000 + "1]", {}, "its manifest has about 600,001 values, over the limit")
    refuses('"",' * 1_000_000, {}, "its manifest has about 1,000,000 values, over the limit")
    refuses('"' + "x" * 17 * 2**20 + '"', {}, "its manifest has 17,825,794 bytes, over the limit")
    text = json.dumps(manifest | {"fitted": {"x_": "[" * 1000 + '\\"' + "[" * 1000}})
    refuses(
        text.replace("arrays/0.npy", "arrays/00.npy"), entries, "which its manifest does not list"
    )  # brackets in text do not count
    refuses('{"format": "[[", "a": '.encode("utf-16"), {}, "its manifest is no JSON")


def test_two_entries_of_one_name(parts, path):
    manifest, entries = parts
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest))
            for name, data in [*entries.items(), *entries.items()]:
                archive.writestr(name, data)
    with pytest.raises(ModelFileError, match="two entries of the same name"):
        load(path)


def declare_size(path, entry, size):
    """Change the uncompressed size that the central directory gives for an entry."""
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02", 0, data.rindex(entry.encode()))
    data[place + 24 : place + 28] = struct.pack("<I", size)
    path.write_bytes(data)


def test_zip_bombs(path, parts):
    good = path.parent / "good.partwise"
    path.write_bytes(good.read_bytes())
    declare_size(path, "arrays/0.npy", 4_000_000_000)
    with pytest.raises(
        ModelFileError, match=r"'arrays/0.npy' is compressed, as partwise.save leaves no array"
    ):
        load(path)
    manifest, entries = parts
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in entries.items():
            archive.writestr(name, data)
    with pytest.raises(ModelFileError, match=r"is compressed"):
        load(path)
    path.write_bytes(good.read_bytes())
    declare_size(path, "manifest.json", 100_000_000)
    with pytest.raises(ModelFileError, match="its manifest has 100,000,000 bytes, over the limit"):
        load(path)


def test_overlapping_entries(path, parts):
    """Many entries that are the same bytes of the file would add up to far more than it holds."""
    manifest, _ = parts
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("arrays/0.npy", npy(np.zeros(20_000)))
        one = archive.infolist()[-1]
        for i in range(1, 50):
            twin = zipfile.ZipInfo(f"arrays/{i}.npy")
            twin.header_offset, twin.CRC = one.header_offset, one.CRC
            twin.file_size = twin.compress_size = one.file_size
            archive.filelist.append(twin)
    with pytest.raises(ModelFileError, match="its arrays are larger than the file"):
        load(path)


def test_pipes_and_devices_are_not_waited_for(path):
    os.mkfifo(path)
    for source in (path, "/dev/zero"):
        with pytest.raises(ModelFileError, match="is a pipe or a device, not a model file"):
            load(source)


def test_what_load_would_refuse_is_not_saved(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "_MAX_MANIFEST", 1000)
    with pytest.raises(ModelFileError, match="Keep long lists of numbers as arrays"):
        save(fake.Factorizer(prior=[1.0] * 1000), tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_shuffled_manifests_never_raise_anything_else(parts, path):
    """Swap random parts of the manifest with one another: load returns or raises ModelFileError."""
    manifest, entries = parts
    generator = random.Random(0)

    def places(held):
        inner = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
        for key, value in inner:
            yield held, key
            yield from places(value)

    for _ in range(300):
        changed = json.loads(json.dumps({"params": manifest["params"], "fitted": manifest["fitted"]}))
        found = list(places(changed))
        for _ in range(2):
            (one, key), (two, other) = generator.choice(found), generator.choice(found)
            one[key] = json.loads(json.dumps(two[other]))
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", json.dumps(manifest | changed))
            for name, data in entries.items():
                archive.writestr(name, data)
        try:
            load(path)
        except ModelFileError:
            continue
