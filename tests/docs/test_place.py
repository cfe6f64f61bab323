"""The documentation as a place: what its pages point to is there, and reports have their pictures."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    import report_gallery

    yield report_gallery
    sys.modules.pop("report_gallery")


def test_every_report_of_the_gallery_is_linked_with_a_picture(gallery):
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    assert set(re.findall(r'href="reports/(\w+)\.html"', page)) == set(gallery.REPORTS)
    pictures = re.findall(r'src="_static/([\w-]+\.png)"', page)
    assert len(pictures) == len(gallery.REPORTS)
    assert all((DOCS / "_static" / name).is_file() for name in pictures)


def test_reports_are_made_once(gallery, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(gallery, "REPORTS", {"one": lambda: made.append(1) or "page"})
    assert [path.read_text() for path in gallery.write_reports(tmp_path)] == ["page"]
    gallery.write_reports(tmp_path)
    assert made == [1]


def test_the_home_page_shows_a_picture_of_each_kind_from_an_example():
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"sphx_glr_(plot_\w+)_\d{3}\.png", page)
    assert len(set(shown)) == 6
    assert set(shown) <= {path.stem for path in (DOCS / "examples").glob("plot_*.py")}


def test_pictures_that_pages_name_exist():
    for path in [*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")]:
        for name in re.findall(r"\]\((?:\.\./)?(_static/[\w.-]+)\)", path.read_text(encoding="utf-8")):
            assert (DOCS / name).is_file(), f"{path.name} shows {name}"


def test_every_tutorial_runs_something_and_is_listed():
    index = (DOCS / "tutorials" / "index.md").read_text(encoding="utf-8")
    pages = {path.stem for path in (DOCS / "tutorials").glob("*.md")} - {"index"}
    assert pages == {"biology", "text", "images", "sound", "surveys"}
    for name in pages:
        text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
        assert text.count(">>> ") > 8
        assert f"({name}.md)" in index
