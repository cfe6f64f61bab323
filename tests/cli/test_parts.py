"""partwise parts: a folder of pictures in; parts, reconstructions and a model for new pictures out."""

import json

import numpy as np
import pytest
from calling import call

from partwise import load
from partwise.io import read

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    """Sums of three bars of one colour each, in two folders."""
    rng = np.random.default_rng(0)
    bars = np.zeros((3, 8, 10, 3))
    bars[0, 1:3, :, 0] = bars[1, :, 4:6, 1] = bars[2, 6:, :, 2] = 1.0
    for i in range(30):
        image = (rng.random((3, 1, 1, 1)) * bars).sum(axis=0).clip(0, 1)
        place = tmp_path / "pictures" / ("a" if i % 2 else "b")
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray((255 * image).astype(np.uint8)).save(place / f"{i}.png")
    return tmp_path / "pictures"


def test_parts_of_colours_and_new_pictures(folder, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("parts", folder, "-k", 3, "-o", out, "-q", "--save-parts", "--by-folder") == 0
    assert "relative error of the pictures: median" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["picture_shape"] == [8, 10, 3]
    assert summary["relative_error"]["worst"] < 0.05
    assert summary["parts"][0]["top_pictures"]
    assert summary["parts"][0]["top_features"] == []
    for name in ("parts.png", "reconstructions.png", "worst.png", "parts/2.png"):
        assert np.asarray(Image.open(out / name)).std() > 0
    assert np.asarray(Image.open(out / "parts" / "0.png")).shape == (8, 10, 3)
    W, errors = read(out / "W.csv"), read(out / "errors.csv")
    assert (
        W.row_names
        == errors.row_names
        == [f"{'a' if i % 2 else 'b'}/{i}.png" for i in [*range(1, 30, 2), *range(0, 30, 2)]]
    )
    assert errors.text["label"][0] == "a"
    model = load(out / "model.partwise")
    assert model.picture_shape_ == [8, 10, 3]
    # The model takes folders: the same pictures have the same W, others are resized.
    assert call("transform", out / "model.partwise", folder, "-o", tmp_path / "again.csv") == 0
    assert np.allclose(read(tmp_path / "again.csv").data, W.data, atol=1e-2)
    (tmp_path / "new").mkdir()
    Image.new("RGB", (40, 32), "red").save(tmp_path / "new" / "large.jpg")
    assert call("transform", out / "model.partwise", tmp_path / "new", "-o", tmp_path / "new.csv") == 0
    assert read(tmp_path / "new.csv").data.shape == (1, 3)


def test_grey_size_and_another_model(folder, tmp_path):
    out = tmp_path / "o"
    options = ("--grey", "--size", "4x5", "--model", "semi", "-q", "--json")
    assert call("parts", folder, "-k", 2, "-o", out, *options) == 0
    assert load(out / "model.partwise").components_.shape == (2, 20)
    assert (
        call("parts", folder, "-k", 2, "-o", out, "--size", "6", "--loss", "kl", "-q", "--max-iter", 20) == 0
    )
    assert load(out / "model.partwise").picture_shape_ == [6, 6, 3]


def test_single_parts_have_the_colours_of_the_gallery(folder, tmp_path):
    # Grey is dark where a part is strong, in parts.png and in the single files alike; below zero there is a hue.
    out = tmp_path / "o"
    assert call("parts", folder, "-k", 3, "-o", out, "--grey", "--save-parts", "-q") == 0
    H = load(out / "model.partwise").components_
    for t, row in enumerate(H):
        grey = np.asarray(Image.open(out / "parts" / f"{t}.png"))[..., 0].ravel().astype(float)
        assert grey[row.argmax()] == 0
        assert np.corrcoef(grey, row)[0, 1] < -0.9
    assert call("parts", folder, "-k", 3, "-o", out, "--grey", "--save-parts", "-q", "--model", "semi") == 0
    H = load(out / "model.partwise").components_
    t = int((H.min(axis=1) / H.max(axis=1)).argmin())
    assert np.ptp(np.asarray(Image.open(out / "parts" / f"{t}.png")).reshape(-1, 3)[H[t].argmin()]) > 0


def test_as_many_parts_as_pictures_are_said_to_mean_little(folder, tmp_path, capsys):
    assert call("parts", folder, "-k", 40, "-o", tmp_path / "o", "-q", "--max-iter", 5) == 0
    assert "each picture can be a part of its own" in capsys.readouterr().err


def test_labels_from_folders_for_a_model_that_learns_from_them(folder, tmp_path, capsys):
    out = tmp_path / "o"
    assert call("parts", folder, "-k", 3, "--model", "semisupervised", "-o", out, "-q") == 2
    assert "add --by-folder" in capsys.readouterr().err
    assert call("parts", folder, "-k", 3, "--model", "semisupervised", "--by-folder", "-o", out, "-q") == 0
    assert call("predict", out / "model.partwise", folder, "-o", tmp_path / "p.csv") == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-k", 2, "--size", "4by4"), "--size takes height and width"),
        (("-k", 2, "--model", "symmetric"), "does not learn parts of pictures"),
        (("-k", 2, "--model", "boolean"), "does not learn parts of pictures"),
        (("-k", 2, "--model", "binary", "--loss", "kl"), "--loss does not apply to --model binary"),
        ((), "how many parts?"),
    ],
)
def test_options_that_make_no_sense_get_a_sentence(folder, tmp_path, capsys, options, said):
    assert call("parts", folder, *options, "-o", tmp_path / "o", "-q") == 2
    assert said in capsys.readouterr().err


def test_bad_folders_get_a_sentence(folder, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert call("parts", empty, "-k", 2, "-o", tmp_path / "o", "-q") == 2
    assert "has no pictures" in capsys.readouterr().err
    Image.new("L", (4, 4)).save(empty / "one.png")
    assert call("parts", empty, "-k", 1, "-o", tmp_path / "o", "-q") == 2
    assert "has one picture that can be read" in capsys.readouterr().err
    (folder / "a" / "text.png").write_text("no picture")
    assert call("parts", folder, "-k", 2, "-o", tmp_path / "o", "-q", "--strict") == 2
    assert "a/text.png cannot be read: it is no picture" in capsys.readouterr().err
    assert call("parts", folder, "-k", 2, "-o", tmp_path / "o", "-q", "--max-iter", 5) == 0
    assert "1 of 31 pictures cannot be read and were left out: a/text.png" in capsys.readouterr().err
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["skipped"] == [{"name": "a/text.png", "why": "it is no picture, whatever its name says"}]


def test_new_pictures_without_a_known_white_are_divided_as_those_of_the_fit(tmp_path, capsys):
    rng = np.random.default_rng(0)
    parts = rng.random((3, 64))
    for name in ("all", "dark"):
        (tmp_path / name).mkdir()
    for i in range(12):
        image = (rng.random(3) @ parts * 0.7).reshape(8, 8).astype(np.float32)
        Image.fromarray(image).save(tmp_path / "all" / f"{i:02d}.tif")
        if image.max() <= 1:
            Image.fromarray(image).save(tmp_path / "dark" / f"{i:02d}.tif")
    out = tmp_path / "out"
    assert call("parts", tmp_path / "all", "-k", 3, "-o", out, "-q") == 0
    assert "divided by 255" in capsys.readouterr().err
    assert call("transform", out / "model.partwise", tmp_path / "dark", "-o", tmp_path / "W.csv") == 0
    assert "divided by 255, as those of the fit" in capsys.readouterr().err
    fitted, new = read(out / "W.csv"), read(tmp_path / "W.csv")
    assert 0 < len(new.row_names) < 12
    rows = [fitted.row_names.index(name) for name in new.row_names]
    np.testing.assert_allclose(new.data, fitted.data[rows], rtol=1e-3, atol=1e-4)
