"""`python -m aegir.lab.figures run` in a real browser: it is drawn, folds, follows light and dark, and obeys no run."""

import math
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from aegir_rl.base.run_folder import RunFolder
from aegir_rl.observe.heat_map import HeatMap, save_heat_map
from browser import Open
from command_line import run_figures


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "run", {"steps": 40})
    for step in range(40):
        made.record(step, loss=1 / (1 + step), cta={"right": step}, routing={"rate": [0.2, 0.4]})
    made.record(40, held_out={"cta": {"micro_f1": 0.5}})
    values = np.linspace(-1, 1, 6).reshape(2, 3)
    save_heat_map(
        made.path, HeatMap.of("activation", ["City", "Date"], ["geo", "time", "x"], values)
    )
    return made


def page_of(folder: RunFolder) -> str:
    done = run_figures("run", folder.path)
    assert done.code == 0
    return done.out


def colour(page: Page, selector: str, what: str) -> str:
    return str(
        page.locator(selector).first.evaluate(f"element => getComputedStyle(element)['{what}']")
    )


def test_curves_checks_and_heat_maps_are_drawn(open_page: Open, folder: RunFolder):
    page = open_page(page_of(folder))
    expect(page.get_by_role("heading", name="Health")).to_be_visible()
    curve = page.locator("figure").filter(has_text="cta/right")
    expect(curve).to_contain_text("last 39 at step 39")
    box = curve.locator("svg polyline").bounding_box()
    assert box is not None
    assert box["width"] > 200
    assert box["height"] > 80
    expect(curve.locator("svg text").get_by_text("step", exact=True)).to_be_visible()
    routing = page.locator("figure").filter(has_text="routing/rate")
    expect(routing.locator("polyline")).to_have_count(2)
    expect(page.locator("td.number").get_by_text("0.5", exact=True)).to_be_visible()
    expect(page.locator(".heat td").get_by_text("-0.6", exact=True)).to_be_visible()
    # the extremes of a heat map have full colour, opposite signs have different ones
    cells = [f".heat .{sign}.level-20" for sign in ("above", "below")]
    shades = [colour(page, cell, "backgroundColor") for cell in cells]
    assert shades[0] != shades[1]
    assert colour(page, ".heat .level-4", "backgroundColor") not in shades


def test_settings_and_environment_are_folded_away(open_page: Open, folder: RunFolder):
    page = open_page(page_of(folder))
    settings = page.get_by_text("steps = 40")
    expect(settings).to_be_hidden()
    page.locator("summary").get_by_text("Settings").click()
    expect(settings).to_be_visible()
    page.locator("summary").get_by_text("Environment").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text('"python"')).to_be_visible()


def test_the_page_follows_light_and_dark(open_page: Open, folder: RunFolder):
    page = open_page(page_of(folder))
    looks = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        looks[scheme] = [
            colour(page, "body", "backgroundColor"),
            colour(page, "svg > rect", "fill"),
            colour(page, "svg text", "fill"),
            colour(page, "svg polyline", "stroke"),
        ]
    for light, dark in zip(looks["light"], looks["dark"], strict=True):
        assert light != dark


def test_a_narrow_window_scrolls_tables_and_not_the_page(open_page: Open, folder: RunFolder):
    wide = HeatMap.of("wide", ["r"], [f"column {n}" for n in range(60)], np.ones((1, 60)))
    save_heat_map(folder.path, wide)
    page = open_page(page_of(folder))
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=\"alert('obeyed')\">",
        "</style></script><script>alert('obeyed')</script>",
    ],
)
def test_a_hostile_run_is_shown_and_not_obeyed(open_page: Open, folder: RunFolder, hostile: str):
    folder.record(41, **{hostile: math.nan, "note": hostile, f"{hostile}/x": [1.0, 2.0]})
    (folder.path / "config.toml").write_text(hostile)
    save_heat_map(folder.path, HeatMap.of("h", [hostile], [hostile], [[0.5]], hostile))
    page = open_page(page_of(folder))
    expect(page.locator(".heat th").get_by_text(hostile).first).to_be_visible()
    expect(page.locator("img, script, iframe")).to_have_count(0)


def test_a_run_without_steps_has_a_page(open_page: Open, tmp_path: Path):
    page = open_page(page_of(RunFolder.create(tmp_path / "empty")))
    expect(page.get_by_text("the run recorded no step")).to_be_visible()
