"""Pictures of reports for the documentation: ``python docs/screenshots.py`` writes docs/_static/report-*.png.

Needs playwright and a Chromium: Debian's package ``chromium``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from report_gallery import REPORTS, write_reports

STATIC = Path(__file__).parent / "_static"


class Shot(NamedTuple):
    """A picture: the report, the section that is scrolled to, width and height of the screen, light or dark."""

    report: str
    section: str
    width: int = 1280
    height: int = 860
    theme: str = "light"


#: Those that pages show at full size.
SHOTS = {
    "report-digits": Shot("digits", ""),
    "report-phone": Shot("digits", "parts", 390, 800),
    "report-tree-dark": Shot("wine", "tree", theme="dark"),
    "report-sound": Shot("chord", "parts", 1280, 420),
}
#: The section that the small picture of each report shows.
SMALL = {"digits": "parts", "topics": "tree", "chord": "parts", "karate": "pictures", "zoo": "tiles", "bars": "parts",
         "wine": "tree", "classes": "classes"}  # fmt: skip


def main() -> None:
    """Make the reports, open them, and write the pictures."""
    from playwright.sync_api import sync_playwright

    program = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("No chromium here: install Debian's package chromium.")
    missing = set(REPORTS) - set(SMALL)
    if missing:
        sys.exit(f"docs/screenshots.py: say in SMALL what the picture of {', '.join(missing)} shows.")
    shots = SHOTS | {f"report-small-{name}": Shot(name, section, 900, 600) for name, section in SMALL.items()}
    with tempfile.TemporaryDirectory() as place, sync_playwright() as running:
        write_reports(Path(place))
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, shot in shots.items():
            taken = Path(place) / "shot.png"
            take(browser, Path(place) / f"{shot.report}.html", shot, taken)
            keep(taken, STATIC / f"{name}.png", 420 if "small" in name else shot.width)
            print(f"docs/_static/{name}.png")
        browser.close()


def take(browser: Any, page_file: Path, shot: Shot, path: Path) -> None:
    """Open a report and take a picture of one of its sections, or of its top."""
    size = {"width": shot.width, "height": shot.height}
    page = browser.new_page(viewport=size, color_scheme=shot.theme)
    page.goto(page_file.absolute().as_uri())
    page.wait_for_timeout(900)
    if shot.section:
        page.evaluate(f"document.getElementById('{shot.section}').scrollIntoView({{behavior: 'instant'}})")
        page.wait_for_timeout(400)
    page.screenshot(path=str(path))
    page.close()


def keep(taken: Path, path: Path, width: int) -> None:
    """The picture at a width."""
    picture = Image.open(taken).convert("RGB")
    if picture.width > width:
        picture = picture.resize((width, picture.height * width // picture.width), Image.Resampling.LANCZOS)
    picture.save(path, optimize=True)


if __name__ == "__main__":
    main()
