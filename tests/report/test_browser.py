"""The page in a real browser: drawn, quiet, alone, usable by pointer and keyboard, narrow, dark and printed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posgeom.chart_data import geometry_chart_data
from posgeom.report.charts.theme import COLOURS
from posgeom.report.drawn import save_page
from posgeom.report.run import read_run

OpenPage = Callable[..., Any]
LARGE_N = 4096


@pytest.fixture(scope="module")
def page_file(run_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    save_page([run_dir], path)
    return path


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Opens a page, waits until its charts are drawn, and finds fault with whatever it logs or asks for."""
    contexts, faults = [], []

    def opened(file: Path, width: int = 1200, **settings: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda request: faults.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-charts=drawn]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def states(page: Any) -> set[str]:
    return set(page.eval_on_selector_all(".chart", "places => places.map((place) => place.dataset.state)"))


def test_all_charts_are_drawn_and_nothing_hostile_runs(page_file: Path, open_page: OpenPage) -> None:
    page = open_page(page_file)
    assert states(page) == {"drawn"}
    assert page.locator(".chart svg").count() == page.locator(".chart").count() == 10
    assert "owned" not in page.evaluate("() => document.title.replace(/onerror=document.title='owned'/, '')")
    assert page.locator("main img, header img").count() == 0


def test_hover_tells_positions_value_and_depth(page_file: Path, open_page: OpenPage) -> None:
    page = open_page(page_file)
    matrix = page.locator(".chart.panels")
    matrix.scroll_into_view_if_needed()
    cells = matrix.locator(".mark-rect").first.locator("path")
    assert cells.count() == 32 * 32
    cells.nth(32 * 3 + 7).hover(force=True)
    tooltip = page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    lines = dict(
        zip(tooltip.locator("td.key").all_inner_texts(), tooltip.locator("td.value").all_inner_texts(), strict=True)
    )
    assert (lines["i"], lines["j"]) == ("3", "7")
    assert {"plug-in", "cross-validated", "depth of i", "depth of j"} <= set(lines)
    assert not [name for name in lines if name.startswith("_")]
    point = page.locator(".chart").first.locator(".mark-symbol path").first
    point.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible >> text=/^alignment of .+: \\d/")


def test_sorting_by_keyboard(page_file: Path, open_page: OpenPage) -> None:
    page = open_page(page_file)
    heading = page.get_by_role("button", name="Pearson")
    heading.focus()
    values = "cells => cells.map((cell) => cell.dataset.value)"

    table = heading.locator("xpath=ancestor::table")
    place = table.locator("thead th").all_inner_texts()
    number = 1 + next(k for k, text in enumerate(place) if text.startswith("Pearson"))

    def column() -> list[str]:
        return list(table.locator(f"tbody tr td:nth-child({number})").evaluate_all(values))

    page.keyboard.press("Enter")
    rising = [float(value) for value in column() if value]
    assert rising == sorted(rising)
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Pearson")
    page.keyboard.press("Enter")
    falling = column()
    numbers = [float(value) for value in falling if value]
    assert numbers == sorted(numbers, reverse=True)
    assert falling[-1] == ""  # undefined comes last either way
    page.get_by_role("button", name="encoding").press("Space")
    names = table.locator("tbody th").all_inner_texts()
    assert names.index("alibi") < names.index("mds") < names.index("rope") < names.index("zero")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(page_file: Path, open_page: OpenPage, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(page_file, color_scheme=scheme)
    # Thousands of cells and points have no text, and finding no fault with each takes long.
    page.evaluate("() => document.querySelectorAll('.mark-rect path, .mark-symbol path').forEach((m) => m.remove())")
    # In the dark only the colours differ.
    rules = {"light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "dark": ["color-contrast"]}
    found = Axe().run(page, options={"runOnly": rules[scheme]})
    assert found.response["violations"] == []


def test_a_phone(page_file: Path, open_page: OpenPage) -> None:
    page = open_page(page_file, width=400)
    assert states(page) == {"drawn"}
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 400
    widest = "charts => Math.max(...charts.map((chart) => chart.getBoundingClientRect().right))"
    assert page.eval_on_selector_all(".chart:not(.fixed) svg", widest) <= 400
    page.set_viewport_size({"width": 1100, "height": 900})
    page.wait_for_selector(".chart[data-width='1068'] svg")


def test_charts_follow_the_theme_without_being_drawn_again(page_file: Path, open_page: OpenPage) -> None:
    page = open_page(page_file, color_scheme="dark")
    label = page.locator(".chart .role-axis-label text").first
    colour = "text => getComputedStyle(text).fill"
    dark = label.evaluate(colour)
    page.emulate_media(color_scheme="light")
    parts = [int(COLOURS["muted"][k : k + 2], 16) for k in (1, 3, 5)]
    assert label.evaluate(colour) == "rgb({}, {}, {})".format(*parts)
    assert label.evaluate(colour) != dark
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_print_is_light_and_holds_everything(page_file: Path, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(page_file, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.set_viewport_size({"width": 700, "height": 1000})
    inside = (
        "charts => charts.every((c) => c.getBoundingClientRect().right <= document.documentElement.clientWidth + 1)"
    )
    assert page.eval_on_selector_all(".chart svg, table", inside)
    page.emulate_media(media=None)
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    pdf = (tmp_path / "page.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") >= 3


@pytest.fixture(scope="module")
def large_run(run_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run at n = 4,096, its charts made from a distance matrix of that size, its scores from a small one."""
    directory = tmp_path_factory.mktemp("large")
    scores = json.loads((run_dir / "scores.json").read_text())
    small = json.loads((run_dir / "charts.json").read_text())
    positions = np.arange(LARGE_N)
    walk = np.random.default_rng(0).normal(size=(LARGE_N, 3)).cumsum(axis=0) / LARGE_N
    norms = (walk**2).sum(axis=1)
    squared = np.maximum(norms[:, None] + norms - 2 * walk @ walk.T, 0)
    np.fill_diagonal(squared, 0)
    depth = np.linspace(50_000, 5_000, LARGE_N).astype(np.int64)
    estimates = {"plug-in": squared + 0.1 * (squared > 0), "cross-validated": squared}
    charts = small | geometry_chart_data(positions, depth, estimates, walk)
    charts |= {key: small[key] for key in ("densities", "violations", "widths")}
    spectrum = (1 / np.arange(1, LARGE_N + 1) ** 2 - 1e-5).tolist()
    scores |= {"n_positions": LARGE_N, "positions_used": positions.tolist(), "depth": depth.tolist()}
    scores |= {"spectrum": spectrum, "plugin_spectrum": spectrum}
    (directory / "scores.json").write_text(json.dumps(scores))
    (directory / "charts.json").write_text(json.dumps(charts))
    return directory


def test_a_page_of_4096_positions_is_small(large_run: Path, open_page: OpenPage, tmp_path: Path) -> None:
    assert (large_run / "charts.json").stat().st_size < 1_000_000
    run = read_run(large_run)
    save_page([run], tmp_path / "large.html")
    assert (tmp_path / "large.html").stat().st_size < 6_000_000
    page = open_page(tmp_path / "large.html")
    assert states(page) == {"drawn"}
    assert page.locator("path, rect, text").count() < 60_000
