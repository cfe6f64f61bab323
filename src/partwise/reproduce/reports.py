"""Reports of several kinds of models: their size, how soon they are painted, and how they look."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.datasets import load_wine

from partwise.datasets import load_digits, load_zoo
from partwise.io import write_json
from partwise.models import NMF, BooleanMF, SemiSupervisedNMF
from partwise.reporting import Report, report

#: Widths of the screens, and light or dark.
SCREENS = (("1280", "light"), ("1280", "dark"), ("390", "light"), ("390", "dark"))


def reproduce_reports(
    folder: Path,
    samples: Annotated[int, typer.Option(min=1000, help="Samples of the large report.")] = 100_000,
) -> dict[str, Any]:
    """Reports on digits, on tiles, on half-labelled wine and on many samples, in a browser where there is one."""
    made = {
        "digits": _digits(),
        "zoo": _zoo(),
        "labels": _labels(),
        "large": _large(samples),
    }
    for name, one in made.items():
        one.save(folder / f"{name}.html")
    table: list[dict[str, Any]] = [
        {"report": name, "megabytes": len(one.html.encode()) / 1e6} for name, one in made.items()
    ]
    program = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is not None:
        with sync_playwright() as running:
            browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
            for row in table:
                row |= _looked_at(browser, folder, row["report"])
            browser.close()
    lines = ["report: size, first paint, requests elsewhere, messages of the console"]
    for row in table:
        seen = (
            f"{row['first_paint_ms']:.0f} ms, {row['requests']} requests, {row['messages']} messages"
            if "requests" in row
            else "not opened: no chromium or no playwright here"
        )
        lines.append(f"  {row['report']:8s} {row['megabytes']:.1f} MB, {seen}")
    summary = {"table": table, "lines": lines}
    write_json(folder / "reports.json", summary)
    return summary


def _digits() -> Report:
    digits = load_digits()
    model = NMF(16, max_iter=500).fit(digits.data)
    return report(model, digits.data, y=digits.target, shape=(8, 8), data="digits")


def _zoo() -> Report:
    zoo = load_zoo()
    model = BooleanMF(max_iter=5000).fit(zoo.data)
    rows, columns = list(zoo.sample_names), list(zoo.feature_names)
    return report(model, zoo.data, row_names=rows, feature_names=columns, data="zoo")


def _labels() -> Report:
    wine = load_wine()
    X = wine.data / wine.data.max(axis=0)
    y = np.array([f"cultivar {label + 1}" for label in wine.target], dtype=object)
    y[np.random.default_rng(0).random(len(y)) < 0.5] = None
    model = SemiSupervisedNMF(8, label_weight=1.0, max_iter=2000).fit(X, y)
    names = [name.split("/")[0].replace("_", " ") for name in wine.feature_names]
    return report(model, X, y=y, feature_names=names, data="wine, with half of its labels")


def _large(samples: int) -> Report:
    rng = np.random.default_rng(0)
    W = rng.gamma(0.3, 1.0, (samples, 20))
    H = rng.gamma(0.2, 1.0, (20, 500))
    model = NMF(20, init="custom", max_iter=1, tol=0)
    model.fit_transform(W[:1000] @ H, W=W[:1000].copy(), H=H)
    return report(model, W=W, data=f"{samples:,} generated samples")


def _looked_at(browser: Any, folder: Path, name: str) -> dict[str, Any]:
    """Open a page, count what it asks for and says, and keep pictures of its top and of its tree."""
    found: dict[str, Any] = {}
    url = (folder / f"{name}.html").absolute().as_uri()
    for width, theme in SCREENS:
        asked: list[str] = []
        said: list[str] = []
        page = browser.new_page(viewport={"width": int(width), "height": 860}, color_scheme=theme)
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, said=said: said.append(message.text))
        page.on("pageerror", lambda error, said=said: said.append(str(error)))
        page.goto(url)
        page.wait_for_timeout(800)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
        page.screenshot(path=str(folder / f"{name}-{width}-{theme}.png"))
        if page.locator("#tree").count():
            page.evaluate("document.getElementById('tree').scrollIntoView({behavior: 'instant'})")
            page.wait_for_timeout(300)
            page.screenshot(path=str(folder / f"{name}-tree-{width}-{theme}.png"))
        elsewhere = [one for one in asked if not one.startswith(("data:", "blob:")) and one != url]
        found["requests"] = found.get("requests", 0) + len(elsewhere)
        found["messages"] = found.get("messages", 0) + len(said)
        found["first_paint_ms"] = max(found.get("first_paint_ms", 0.0), paint or 0.0)
        page.close()
    return found
