"""What notebooks show of models and trees: the diagram, and below it what was found."""

import re

import numpy as np
import pytest
from sklearn import config_context

from partwise import NMF, BooleanMF, MixtureClassifier, TopicTree

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "x" * 5000, "🦉", "שלום"]


@pytest.fixture
def X():
    return np.random.default_rng(0).gamma(0.5, 1.0, (30, 5))


def shown(model):
    """The HTML that notebooks get, by either of their ways to ask."""
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    # Both are the same but for the numbers of elements in the diagram.
    first, second = (re.sub(r"id-\d+", "", one) for one in (model._repr_html_(), bundle["text/html"]))
    assert first == second
    return bundle["text/html"]


def test_what_is_not_fitted_shows_the_diagram_alone(X):
    for model in (NMF(2), TopicTree(), MixtureClassifier()):
        html = shown(model)
        assert "sk-" in html
        assert "margin-top:8px;font-size:13px" not in html


def test_fitted_models_show_their_parts_beside_the_diagram(X):
    model = NMF(3, max_iter=50).fit(X)
    html = shown(model)
    assert "sk-" in html
    found = html[html.rindex("<table") :]
    assert re.findall(r"part \d", found) == ["part 0", "part 1", "part 2"]
    leading = model.summary()["parts"][0]["top_features"][0]["name"]
    assert f">{leading}<" in found
    tiles = BooleanMF(2, max_iter=5).fit(X > 0.5)
    assert "tile 0" in shown(tiles)
    classes = MixtureClassifier(1, max_iter=5).fit(X, np.arange(30) % 2)
    assert "of class 1" in shown(classes)


def test_names_are_text_and_short(X):
    import pandas as pd

    table = pd.DataFrame(X, columns=HOSTILE)
    model = NMF(2, max_iter=50).fit(table)
    for one in (model, TopicTree().fit(model, X=table)):
        html = shown(one)
        found = html[html.rindex("margin-top:8px") :]
        assert not re.search(r"<(script|img)", found)
        assert "&lt;script&gt;" in found
        assert "x" * 60 not in found


def test_many_parts_are_counted(X):
    rng = np.random.default_rng(0)
    model = NMF(15, max_iter=3, tol=0).fit(rng.random((30, 20)))
    assert "and 3 more" in shown(model)


def test_text_display_has_no_html(X):
    model = NMF(2, max_iter=20).fit(X)
    with config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")
