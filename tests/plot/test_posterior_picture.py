"""The picture of a posterior: what is drawn of a fitted model, and of one from a file."""

import numpy as np
import pytest

from partwise import NMF, BayesianNMF, load, save
from partwise.plot import posterior

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(15, 2)) @ rng.exponential(size=(2, 7)) + 0.1
    return BayesianNMF(2, n_chains=2, n_draws=40, n_warmup=40).fit(X)


def panels(drawing):
    return {axes.get_title(loc="left"): axes for axes in drawing.axes if axes.get_title(loc="left")}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_shows_means_and_the_draws_of_the_entry(model):
    found = panels(posterior(model, entry=(1, 3)))
    image = found["mean of H"].get_images()[0]
    assert np.allclose(image.get_array(), model.components_)
    assert image.get_cmap().name == "RdYlBu"
    title = next(name for name in found if name.startswith("H of part 1, column3"))
    heights = [patch.get_height() for patch in found[title].patches]
    assert np.isclose(sum(heights), 1.0)
    trace = next(axes for name, axes in found.items() if name.startswith("log-posterior after"))
    assert len(trace.lines) == 2
    scatter = found["W: mean against standard deviation"].lines[0]
    assert np.allclose(scatter.get_ydata(), model.W_std_.ravel())


def test_a_model_from_a_file_is_drawn_without_its_draws(model, tmp_path):
    save(model, tmp_path / "m.partwise")
    found = panels(posterior(load(tmp_path / "m.partwise")))
    assert any("warm-up included" in name for name in found)


def test_refuses_entries_and_models_that_cannot_be_drawn(model):
    with pytest.raises(ValueError, match="components are 0 to 1, columns 0 to 6"):
        posterior(model, entry=(2, 0))
    with pytest.raises(ValueError, match="no standard deviations"):
        posterior(NMF(2).fit(np.eye(4)))


def test_draws_have_the_mean_of_the_model(model):
    draws = model.draws_
    assert draws["H"].shape == (2, 40, 2, 7)
    assert np.allclose(draws["H"].mean(axis=(0, 1)), model.components_, rtol=1e-5)
    assert np.isclose(draws["noise_variance"].mean(), model.noise_)
