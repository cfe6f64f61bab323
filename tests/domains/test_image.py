"""Images: upright and cropped."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import partwise
from partwise.domains import DeslantCrop


@pytest.mark.parametrize("center", ["mass", "box"])
def test_upright_digits(center):
    rng = np.random.default_rng(0)
    images = np.zeros((3, 28, 28))
    for y in range(5, 23):
        images[0, y, 22 - y // 2] = 1.0
        images[1, y, 14] = 1.0
    out = DeslantCrop(center=center).fit_transform(images.reshape(3, -1)).reshape(3, 20, 20)
    assert out[0].sum() == pytest.approx(images[0].sum(), rel=0.02), "no ink is lost"
    assert (out[0].sum(axis=0) > 1.0).sum() <= 2, "a slanted stroke stands upright"
    assert (out[1].sum(axis=0) > 0).sum() <= 2
    columns = np.arange(20)
    if center == "mass":
        assert (out[0] @ columns).sum() / out[0].sum() == pytest.approx(9.5, abs=0.05), (
            "the centre is in the middle"
        )
    assert out[2].sum() == 0, "an empty image stays empty"
    plain = DeslantCrop((5, 4), size=3, deslant=False)
    assert plain.fit_transform(rng.random((2, 20)).astype(np.float32)).dtype == np.float32
    assert len(plain.get_feature_names_out()) == 9
    with pytest.raises(ValueError, match="set shape"):
        DeslantCrop().fit(np.zeros((2, 100)))


def test_a_pipeline_with_it_comes_back_from_its_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((30, 64))
    model = make_pipeline(DeslantCrop((8, 8), size=6), partwise.NMF(3, random_state=0)).fit(X)
    path = tmp_path / "model.partwise"
    partwise.save(model, path)
    # In a process of its own, which has not imported the transformer yet.
    code = f"import partwise; print(type(partwise.load({str(path)!r}).steps[0][1]).__module__)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "partwise.domains.image"
    again = partwise.load(path)
    assert again.steps[0][1].get_params() == model.steps[0][1].get_params()
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_importing_is_cheap():
    code = (
        "import sys, partwise; partwise.domains; print([m for m in ('sklearn', 'numpy') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
