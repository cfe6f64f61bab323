"""Reports in a real browser: nothing is loaded, nothing fails, and what a reader presses does what it says.

Chromium is driven by playwright; where either is missing these tests are skipped. One browser serves all pages.
"""

import re
import shutil
from html import unescape

import numpy as np
import pytest
from reporting.cases import HOSTILE, KINDS, case

from partwise import TopicTree, report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no browser: apt-get install chromium")
    with playwright.sync_playwright() as running:
        try:
            opened = running.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        except playwright.Error as error:
            pytest.skip(f"{program} does not start: {str(error).splitlines()[0]}")
        yield opened
        opened.close()


class Opened:
    """A page in the browser, with all that it said and asked for."""

    def __init__(self, browser, path, width=1280, theme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.url = path.as_uri()
        self.page.goto(self.url)
        if self.page.locator("[data-tree]").count():
            self.page.wait_for_selector(
                "[data-tree] .plot .slicetext, [data-tree] .plot .surface", timeout=60_000
            )

    def quiet(self):
        """Whether nothing was said, and nothing asked for but the file itself and pictures inside it."""
        elsewhere = [url for url in self.asked if url != self.url and not url.startswith(("data:", "blob:"))]
        return self.said == [] and elsewhere == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    made = {}

    def get(name):
        if name not in made:
            path = tmp_path_factory.mktemp("pages") / f"{name}.html"
            model, given = case(name)
            made[name] = (path, report(model, **given, path=path))
        return made[name]

    return get


@pytest.mark.parametrize("name", KINDS)
def test_a_page_of_every_kind_works_and_loads_nothing(name, browser, pages):
    path, _ = pages(name)
    opened = Opened(browser, path)
    page = opened.page
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1280
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert page.get_attribute("html", "data-theme") == "dark"
    if page.locator("[data-table=samples] input").count():
        rows = page.locator("[data-table=samples] tbody tr")
        first = rows.first.locator("td").first.inner_text()
        page.fill("[data-table=samples] input", first)
        found = [text.split("\t")[0] for text in rows.all_inner_texts()]
        assert found
        assert all(first in text for text in rows.all_inner_texts())
        page.fill("[data-table=samples] input", "no such text")
        assert rows.all_inner_texts() == ["No row has this text."]
    drawn = page.locator("[data-figure]").count()
    assert page.locator("[data-figure] .main-svg").count() >= drawn
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()


def test_every_column_of_a_table_of_tiles_is_named(browser, pages):
    path, _ = pages("boolean")
    columns = len(case("boolean")[1]["feature_names"])
    for width in (1280, 700):
        opened = Opened(browser, path, width=width)
        seen = opened.page.evaluate(
            "[...document.querySelectorAll('[data-figure=tiles] .xtick text')].map((one) => {"
            " const box = one.getBoundingClientRect();"
            " const edge = one.closest('[data-figure]').getBoundingClientRect();"
            " return getComputedStyle(one).display !== 'none' && box.width > 0"
            "   && box.right <= edge.right + 1 && box.top >= edge.top - 1; })"
        )
        assert len(seen) == columns
        assert all(seen)
        opened.context.close()


def test_tools_of_charts_are_there_for_a_mouse_and_hide_nothing(browser, pages):
    path, _ = pages("boolean")
    opened = Opened(browser, path)
    bars = opened.page.locator("[data-figure] .modebar")
    assert bars.count()
    grounds = opened.page.evaluate(
        "[...document.querySelectorAll('[data-figure] .modebar, [data-figure] .modebar-group')]"
        ".map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}
    opened.context.close()
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("matchMedia('(hover: none)').matches")
    assert page.locator("[data-figure] .main-svg").count()
    assert page.locator("[data-figure] .modebar-btn").count() == 0
    context.close()


def test_sounds_of_a_separation_play_and_spectra_are_drawn(browser, tmp_path):
    from calling import call
    from scipy.io import wavfile

    t = np.arange(8000) / 8000
    sound = np.where(t < 0.5, np.sin(2 * np.pi * 440 * t), np.sin(2 * np.pi * 660 * t))
    wavfile.write(tmp_path / "two.wav", 8000, (20000 * sound).astype(np.int16))
    assert call("separate", tmp_path / "two.wav", "-k", 2, "--n-init", 1, "-q", "-o", tmp_path / "o") == 0
    opened = Opened(browser, tmp_path / "o" / "report.html")
    page = opened.page
    assert page.locator("audio").count() == page.locator("svg.spectrum path").count() == 2
    seconds = page.evaluate(
        "Promise.all([...document.querySelectorAll('audio')].map((one) => new Promise((done, fail) => {"
        " one.onloadedmetadata = () => done(one.duration); one.onerror = () => fail(one.error.message);"
        " one.preload = 'metadata'; one.load(); })))"
    )
    assert seconds == pytest.approx([1.0, 1.0], abs=0.01)
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_timeout(500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()


def test_arcs_zoom_the_path_follows_and_words_are_the_trees(browser, pages):
    path, _ = pages("nmf")
    model, given = case("nmf")
    tree = TopicTree().fit(model, X=given["X"], feature_names=given["feature_names"])
    opened = Opened(browser, path)
    page = opened.page
    page.locator("[data-tree]").scroll_into_view_if_needed()
    shown = page.evaluate("document.querySelector('[data-tree] .plot').data[0].hovertext")
    for hover, record in zip(shown, tree.to_records(), strict=True):
        words = [unescape(word) for word in re.sub(r"<b>.*?</b><br>", "", hover).split("<br>")]
        assert words == [one["word"] for one in record["words"]]
    inner = next(node for node in tree.nodes_[1:] if node.children)
    crumbs = page.locator("[data-tree] .crumbs li")
    assert crumbs.all_inner_texts() == ["all parts"]
    page.mouse.move(*_middle(page, inner.id))
    page.wait_for_selector(".hoverlayer .hovertext")
    hovered = page.locator(".hoverlayer .hovertext tspan.line").all_text_contents()
    assert hovered[1:] == [word for word, _ in inner.words]
    page.mouse.click(*_middle(page, inner.id))
    assert crumbs.all_inner_texts() == ["all parts", inner.name]
    assert page.evaluate("document.querySelector('[data-tree] .plot').data[0].level") == str(inner.id)
    assert page.locator("[data-tree] .panel .feature").all_inner_texts() == [word for word, _ in inner.words]
    page.keyboard.press("Tab")
    crumbs.first.locator("button").focus()
    page.keyboard.press("Enter")
    assert crumbs.all_inner_texts() == ["all parts"]
    for kind in ("icicle", "treemap"):
        page.locator(f"[data-tree] input[value={kind}]").check(force=True)
        assert page.evaluate("document.querySelector('[data-tree] .plot').data[0].type") == kind
        page.mouse.click(*_middle(page, inner.id))
        assert crumbs.all_inner_texts() == ["all parts", inner.name]
        crumbs.first.locator("button").click()
    with page.expect_download() as kept:
        page.click("[data-format=svg]")
    assert kept.value.suggested_filename == "topic-tree-treemap.svg"
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()


def _middle(page, number):
    """A point of the screen inside the arc of a node: where its words stand."""
    return page.evaluate(
        """number => {
            const own = [...document.querySelectorAll("[data-tree] .plot g.slice")]
                .find(one => one.__data__.data.data.id === String(number));
            const text = own.querySelector("text.slicetext") ?? own;
            text.scrollIntoView({block: "center", behavior: "instant"});
            const box = text.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }""",
        number,
    )


def test_classes_change_the_weights(browser, pages):
    path, made = pages("semisupervised")
    opened = Opened(browser, path)
    page = opened.page
    block = next(
        one for section in made.content["sections"] for one in section["blocks"] if one["block"] == "tree"
    )
    page.locator("[data-class='1']").click()
    values = page.evaluate("document.querySelector('[data-tree] .plot').data[0].values")
    expected = [
        0 if node["children"] else w for node, w in zip(block["nodes"], block["classes"][1]["weights"])
    ]
    assert values == pytest.approx(expected)
    assert page.get_attribute("[data-class='1']", "aria-pressed") == "true"
    assert page.input_value("[data-tree] select") == "1"
    page.locator("[data-class='1']").click()
    assert page.input_value("[data-tree] select") == ""
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()


def test_tables_sort_and_turn_pages(browser, pages):
    path, _ = pages("texts")
    opened = Opened(browser, path)
    page = opened.page
    table = page.locator("[data-table=samples]")
    share = [one.inner_text() for one in table.locator("th").all()].index("its share")
    table.locator("th button").nth(share).click()
    values = [float(one) for one in table.locator(f"tbody td:nth-child({share + 1})").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert table.locator("th").nth(share).get_attribute("aria-sort") == "descending"
    first = table.locator("tbody tr").first.inner_text()
    table.locator(".pager button", has_text="Next").click()
    assert table.locator("tbody tr").first.inner_text() != first
    assert "Page 2 of 3" in table.locator(".pager").inner_text()
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()


def test_hostile_names_are_shown_and_run_nothing(browser, pages):
    path, _ = pages("hostile")
    opened = Opened(browser, path)
    page = opened.page
    assert page.locator("h1").inner_text() == HOSTILE[0]
    assert page.title() == HOSTILE[0]
    body = page.inner_text("main")
    for name in HOSTILE[:7]:
        assert " ".join(name.split()) in body, name
    shown = page.evaluate("document.querySelector('[data-tree] .plot').textContent")
    assert "&lt;" not in shown
    assert page.locator("img[src=x]").count() == 0
    page.locator("[data-tree]").scroll_into_view_if_needed()
    page.mouse.move(*_middle(page, 1))
    page.wait_for_selector(".hoverlayer .hovertext")
    page.fill("[data-table=samples] input", "<script>")
    assert HOSTILE[0] in page.locator("[data-table=samples] tbody").inner_text()
    assert opened.quiet(), (opened.said, opened.asked)
    opened.context.close()
