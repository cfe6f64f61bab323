"""Figures of every model: what is written in them, and that nothing is cut off or lies over something else."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from partwise import NMF, BinaryNMF, BooleanMF, MixtureClassifier, SemiNMF, TopicModel, plot
from partwise.datasets import load_digits, load_zoo, make_bars, make_low_rank
from partwise.plot.classes_picture import in_use, telling_features

pytest.importorskip("matplotlib")
LONG = "a question whose text is far too long for the side of a picture, number"


def texts(drawing):
    """All texts that are seen."""
    from matplotlib.text import Text

    return [t.get_text() for t in drawing.findobj(Text) if t.get_visible() and t.get_text()]


def check_texts(drawing):
    """Every text lies inside the figure; names along one axis do not overlap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(drawing)
    canvas.draw()
    renderer = canvas.get_renderer()
    width, height = canvas.get_width_height()
    for axes in drawing.axes:
        if not axes.axison:
            continue
        for axis, edge in ((axes.xaxis, "x"), (axes.yaxis, "y")):
            low, high = sorted(axis.get_view_interval())
            shown = [t for t, at in zip(axis.get_ticklabels(), axis.get_ticklocs()) if low <= at <= high]
            boxes = [t.get_window_extent(renderer) for t in shown if t.get_text()]
            for box in boxes:
                assert box.x0 >= -2 and box.y0 >= -2 and box.x1 <= width + 2 and box.y1 <= height + 2  # noqa: PT018
            spans = sorted((getattr(b, edge + "0"), getattr(b, edge + "1")) for b in boxes)
            # Letters reach over one another by a pixel where a name has neither ascender nor descender.
            assert all(a[1] <= b[0] + 2 for a, b in pairwise(spans)), axis
        title = axes._left_title
        if title.get_text():
            assert title.get_window_extent(renderer).x1 <= width + 2, title.get_text()
    for text in (drawing._suptitle,):
        assert text is None or text.get_window_extent(renderer).x1 <= width + 2


@pytest.fixture(scope="module")
def digits():
    return load_digits()


@pytest.mark.parametrize("k", [1, 2, 60])
def test_parts_have_the_names_of_their_features(k):
    X = make_low_rank(80, 70, 5, random_state=0).data
    frame = pd.DataFrame(X, columns=[f"{LONG} {j}" for j in range(70)])
    model = NMF(k, max_iter=20, tol=0).fit(frame)
    drawing = plot.parts(model, n=4)
    check_texts(drawing)
    seen = texts(drawing)
    first = model.top_features(1)["feature"].iloc[0]
    assert any("…" in text and text.endswith(first[-2:]) and first.startswith(text[:8]) for text in seen)
    assert any(("the first 40 of 60 parts" if k == 60 else f"{k} part") in text for text in seen)
    assert len(drawing.axes) == min(k, 40)


def test_parts_as_pictures(digits):
    model = NMF(12, max_iter=20, tol=0).fit(digits.data)
    drawing = plot.parts(model, shape=(8, 8))
    assert {str(i) for i in range(12)} <= set(texts(drawing))
    with pytest.raises(ValueError, match="has 63 pixels; the parts have 64"):
        plot.parts(model, shape=(7, 9))


def test_signed_parts_as_pictures(digits):
    """What is below zero is drawn, in colour."""
    model = SemiNMF(4, max_iter=20, tol=0).fit(digits.data - digits.data.mean(axis=0))
    image = plot.parts(model, shape=(8, 8)).axes[0].images[0]
    assert np.nanmin(image.get_array()) < 0
    low, high = image.get_clim()
    assert low == -high
    red, green, blue, _ = image.cmap(0.0)
    assert red > max(green, blue)


def test_specific_parts_are_ranked_as_top_features_are(digits):
    model = NMF(3, max_iter=50).fit(digits.data)
    drawing = plot.parts(model, n=5, specific=True)
    listed = model.top_features(5, specific=True).groupby("part")["feature"].apply(list)
    for axes in drawing.axes:
        names = [t.get_text() for t in axes.get_yticklabels()]
        assert names == listed[axes.get_title(loc="left")][: len(names)]
        assert names


@pytest.mark.parametrize(("n", "k"), [(1, 1), (20, 2), (90, 60), (100_000, 8)])
def test_usage_of_few_and_many_samples(n, k):
    W = np.random.default_rng(0).gamma(0.3, 1.0, (n, k))
    drawing = plot.usage(pd.DataFrame(W, index=[f"{LONG} {i}" for i in range(n)]))
    check_texts(drawing)
    shades = drawing.axes[0].images[0].get_array()
    assert len(shades) == min(n, 1000)
    strongest = shades.argmax(axis=1)
    if n == 20:
        assert (np.diff(strongest) >= 0).all()
    if n > 1000:
        assert any("each line the mean of about 100" in text for text in texts(drawing))
        # Each line is the mean of its samples: nothing is left out.
        top = np.percentile(W[W[:, 0] > 0, 0], 99)
        assert shades[:, 0].mean() == pytest.approx(np.minimum(W[:, 0] / top, 1).mean(), rel=1e-6)


def test_usage_of_a_model(digits):
    model = NMF(4, max_iter=20, tol=0).fit(digits.data)
    assert {"nmf0", "nmf3"} <= set(texts(plot.usage(model, digits.data[:50])))
    with pytest.raises(ValueError, match="needs the samples too"):
        plot.usage(model)
    with pytest.raises(ValueError, match="samples × parts"):
        plot.usage(np.ones(3))


@pytest.fixture(scope="module")
def zoo():
    table = load_zoo()
    X = table.data.astype(float)
    X[3, 4] = X[50, 0] = np.nan
    frame = pd.DataFrame(X, index=table.sample_names, columns=table.feature_names)
    return frame, BooleanMF(3, patience=50, max_time=2, random_state=0).fit(frame)


def test_tiles_have_names_colours_a_legend_and_a_mark_for_blanks(zoo):
    frame, model = zoo
    drawing = plot.tiles(model, frame)
    check_texts(drawing)
    seen = texts(drawing)
    assert {*frame.columns, *frame.index, "missing", "yes, in no tile"} <= set(seen)
    assert f"tile0: {model.tiles_['rows'][0]} rows × {model.tiles_['columns'][0]} columns" in seen
    place = drawing.axes[0]
    rows = [t.get_text() for t in place.get_yticklabels()]
    columns = [t.get_text() for t in place.get_xticklabels()]
    assert rows != list(frame.index)
    blanks = {(rows[int(y)], columns[int(x)]) for x, y in place.collections[0].get_offsets()}
    assert blanks == {(frame.index[3], frame.columns[4]), (frame.index[50], frame.columns[0])}
    # Entries have the colours of what they are.
    picture = np.asarray(place.images[0].get_array())
    usage = model.transform(frame)
    one = frame.to_numpy() == 1
    tile0 = np.outer(usage[:, 0], model.components_[0]) & ~(usage[:, 1:] @ model.components_[1:]) & one
    i, j = np.argwhere(tile0)[0]
    colour = picture[rows.index(frame.index[i]), columns.index(frame.columns[j])]
    assert np.allclose(colour, np.array([0x1F, 0x6F, 0x8B]) / 255, atol=1e-3)
    i, j = np.argwhere(~one & ~(usage @ model.components_) & frame.notna().to_numpy())[0]
    assert np.allclose(picture[rows.index(frame.index[i]), columns.index(frame.columns[j])], 1.0)


@pytest.mark.parametrize("rows", [20, 240, 2000])
def test_missing_entries_are_seen_at_any_size_and_the_legend_shows_how(rows):
    """Crosses where they can be seen, else a dark colour that no other entry has."""
    from matplotlib.colors import to_rgb

    X = np.zeros((rows, 8))
    X[: rows // 2, :4] = X[rows // 2 :, 4:] = 1
    X[3, 5] = 1  # yes, in no tile
    X[1, 1] = 0  # no, though in a tile
    X[[0, 2, rows // 2], [0, 6, 5]] = np.nan
    drawing = plot.tiles(BooleanMF(2, max_iter=20).fit(X), X)
    place = drawing.axes[0]
    picture = np.asarray(place.images[0].get_array()).reshape(-1, 3)
    legend = place.get_legend()
    (drawn,) = [
        handle
        for handle, text in zip(legend.legend_handles, legend.get_texts())
        if text.get_text() == "missing"
    ]
    colours, counts = np.unique(picture.round(4), axis=0, return_counts=True)
    blank = to_rgb("#e3e7eb" if rows == 20 else "#22313f")
    (same,) = np.flatnonzero(np.abs(colours - blank).max(axis=1) < 1e-3)
    assert counts[same] == 3
    assert len(place.collections) == (1 if rows == 20 else 0)
    if rows == 20:
        assert len(place.collections[0].get_offsets()) == 3
    else:
        assert np.allclose(to_rgb(drawn.get_facecolor()), blank, atol=1e-3)
        others = np.delete(colours, same, axis=0)
        assert np.abs(others - blank).max(axis=1).min() > 0.2


def test_first_two_tiles_are_each_in_one_piece():
    from partwise.plot.tiles_picture import by_tiles, runs

    member = np.random.default_rng(0).random((200, 5)) < 0.4
    ordered = member[by_tiles(member)]
    assert len(runs(ordered[:, 0])) == len(runs(ordered[:, 1])) == 1
    assert by_tiles(np.zeros((3, 0), bool)).tolist() == [0, 1, 2]


def test_large_tables_say_what_is_drawn():
    rng = np.random.default_rng(0)
    X = np.zeros((5000, 12), bool)
    X[:2500, :6] = X[2500:, 6:] = True
    model = BooleanMF(2, patience=20, max_time=5).fit(X)
    drawing = plot.tiles(model, X[rng.permutation(5000)], feature_names=[f"{LONG} {j}" for j in range(12)])
    check_texts(drawing)
    assert "5,000 rows × 12 columns, 2,000 of the rows drawn, evenly spaced" in texts(drawing)


def test_history_of_every_model(digits, zoo):
    bars = make_bars(100, random_state=0).data
    for model, quantity in (
        (NMF(3, max_iter=20, tol=0).fit(digits.data), "objective"),
        (BinaryNMF(4, max_iter=5).fit(bars), "log likelihood"),
        (zoo[1], "error"),
        (MixtureClassifier(1, penalty=1e-3, max_iter=5, tol=0).fit(digits.data, digits.target), "objective"),
    ):
        drawing = plot.history(model)
        check_texts(drawing)
        line = drawing.axes[0].lines[0]
        recorded = model.history_[quantity.replace(" ", "_")]
        assert np.array_equal(line.get_ydata(), recorded)
        assert quantity in texts(drawing)
        by_time = drawing.axes[0].get_xlabel() == "seconds"
        assert by_time == (quantity == "error")
    model.history_ = {}
    with pytest.raises(ValueError, match="kept no history"):
        plot.history(model)


def test_classes_list_wrong_answers_only(digits):
    X, y = digits.data, np.array([f"digit {v}" for v in digits.target])
    model = MixtureClassifier(1, penalty=1e-3, max_iter=8, tol=0).fit(X[:600], y[:600])
    wrong = model.predict(X[600:]) != y[600:]
    assert 0 < wrong.sum() < 200
    drawing = plot.classes(model, X[600:], y[600:])
    check_texts(drawing)
    seen = texts(drawing)
    named = [int(text.split()[1]) for text in seen if text.startswith("sample ")]
    assert len(named) == min(wrong.sum(), 24)
    assert wrong[named].all()
    assert np.all(np.diff(model.predict_proba(X[600:])[named].max(axis=1)) <= 0)
    right = f"{(~wrong).sum():,} of {len(wrong):,} right"
    assert right in seen
    pictures = texts(plot.classes(model, X[600:], y[600:], shape=(8, 8)))
    taken = [text.split(" → ") for text in pictures if " → " in text]
    assert len(taken) == min(wrong.sum(), 24)
    assert all(true != answer for true, answer in taken)


def test_classes_without_mistakes_or_labels(digits):
    X = pd.DataFrame({"low": [0.1, 1, 0, 0.9] * 5, "high": [9.0, 1, 8, 2] * 5})
    model = MixtureClassifier(1, penalty=1e-3).fit(X, X["low"] > 0.5)
    drawing = plot.classes(model, X, X["low"] > 0.5)
    assert [axes.get_title(loc="left") for axes in drawing.axes] == [
        "mean sample of each component",
        "20 of 20 right",
    ]
    assert {"low", "high", "True", "False"} <= set(texts(drawing))
    assert len(plot.classes(model, X).axes) == 1


@pytest.mark.parametrize("k", [1, 3, 24])
def test_topics_have_their_words_and_documents_their_mixtures(k):
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghij"))
    words = ["".join(rng.choice(letters, 7)) for _ in range(120)]
    documents = [" ".join(rng.choice(words[5 * (i % 24) : 5 * (i % 24) + 12], 20)) for i in range(120)]
    model = TopicModel(k, seed_words={"$named$": words[:2]})
    W = model.fit_transform(documents)
    drawing = plot.topics(model, W, row_names=[f"{LONG} {i}" for i in range(120)])
    check_texts(drawing)
    seen = " ".join(texts(drawing))
    assert r"\$named\$" in seen
    leading = model.topics(1)["$named$"][0][0]
    assert leading in seen
    assert len(drawing.axes[1].get_yticks()) <= 40
    assert "document 0" in " ".join(texts(plot.topics(model, W[:1], n_documents=1)))


def test_ctrl_c_while_matplotlib_loads_comes_after_it(monkeypatch):
    import builtins
    import signal

    from partwise.plot import require_matplotlib

    original, loaded = builtins.__import__, []

    def pressed(name, *args, **more):
        if name == "matplotlib.figure":
            signal.raise_signal(signal.SIGINT)
            loaded.append(name)
        return original(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", pressed)
    with pytest.raises(KeyboardInterrupt):
        require_matplotlib()
    monkeypatch.undo()
    assert loaded == ["matplotlib.figure"]


def test_characters_that_the_font_lacks_are_told_in_one_sentence(tmp_path):
    from partwise.plot.style import figure, save_figure

    drawing, axes = figure([["a"]])
    axes["a"].set_title("敬請 \uf8f0 \uf8f1 \uf8f2")
    with pytest.warns(UserWarning, match="Pictures show boxes for characters") as said:
        save_figure(drawing, tmp_path / "a.png")
    assert len(said) == 1
    assert said[0].filename == __file__


def test_every_class_has_features_in_the_picture_and_only_components_in_use_are_drawn():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 40)
    level = np.full((4, 80), 0.1)
    for c in range(4):
        level[c, 20 * c : 20 * c + 20] = 2.0 + 10.0 * (c == 1)
    X = rng.poisson(level[y] * rng.lognormal(0, 0.4, (160, 1))).astype(float)
    model = MixtureClassifier(5, random_state=0).fit(X, y)
    used = in_use(model)
    assert set(model.component_class_[used]) == {0, 1, 2, 3}
    assert len(used) < len(model.means_)
    shown = telling_features(
        model.means_[used], model.component_class_[used], model.component_samples_[used], most=12
    )
    assert np.bincount(shown // 20).tolist() == [3, 3, 3, 3]
    drawing = plot.classes(model, X, y)
    assert any(f"({len(used)} of {len(model.means_)})" in text for text in texts(drawing))


def test_long_names_that_differ_in_the_middle_stay_different():
    from partwise.plot.style import shortened, told_apart

    start, end = "corpus/collected-letters/", "/transcription-of-the-manuscript.txt"
    names = [f"{start}{year}{end}" for year in (1801, 1802, 1812)]
    assert len({shortened(name, 34) for name in names}) == 1
    shown = told_apart([*names, "short", names[0]], 34)
    assert len(set(shown)) == 4
    assert all("/18" in name for name in shown[:3])
    assert max(map(len, shown)) <= 34
    assert shown[3:] == ["short", shown[0]]
    assert told_apart(["a" * 50 + "b" + "c" * 200 + end + x for x in "xyz"], 8)[0] == "aaaaa…tx"
