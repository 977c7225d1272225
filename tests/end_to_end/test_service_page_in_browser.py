"""The page of `aegir serve` in a real browser: drop, read, correct, teach, export; on a phone; and it obeys no table.

With AEGIR_SCREENSHOTS naming a folder, the pictures of docs/service.md are written there.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Locator, Page, expect

from aegir.answers.writers import FORMATS
from command_line import run
from running_service import EXAMPLES, RunningService, running_service

PHONE = {"width": 390, "height": 844}
HOSTILE = "<img src=x onerror=\"alert('obeyed')\"><script>alert('obeyed')</script>"
AXE = Path(__file__).parents[2] / ".venv/axe/node_modules/axe-core/axe.min.js"
"""The accessibility checker, which is not part of this repository."""

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("page")) as running:
        yield running


@pytest.fixture
def visit(browser: Browser, service: RunningService) -> Iterator[Visit]:
    """Open the page; afterwards, check that nothing went wrong in it and that it asked nobody else."""
    asked: list[str] = []
    wrong: list[str] = []
    contexts = []

    def opened(expected: str | None = None, **options: object) -> Page:
        """Chromium logs every response of status 4xx; one that is expected is not wrong."""

        def log(text: str) -> None:
            if expected is None or expected not in text:
                wrong.append(text)

        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: log(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.goto(service.url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith((service.url, "data:", "blob:"))] == []
    assert wrong == []


def drop(page: Page, *files: Path) -> None:
    """Give files to the page, and wait until they are answered."""
    page.get_by_label("Choose files").set_input_files(files)
    expect(page.locator("#progress")).to_have_text(re.compile(r"\d+ files? done\."))


def head(page: Page, name: str) -> Locator:
    """The header cell of a column."""
    return page.locator("th").filter(has=page.locator("bdi.name").get_by_text(name, exact=True))


def export(page: Page, format_name: str) -> Download:
    """Export all answers, and return what the browser saved."""
    page.get_by_label("Format of the export").select_option(format_name)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    return download.value


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("AEGIR_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def open_column(page: Page, name: str) -> Locator:
    head(page, name).locator("button.chip").click()
    return page.locator("dialog#column")


def test_files_are_read_filtered_and_explained(visit: Visit):
    page = visit(viewport={"width": 1200, "height": 800})
    picture(page, "start")
    drop(page, EXAMPLES / "customers.csv", EXAMPLES / "books.csv")
    expect(page.locator("#count")).to_have_text("23 columns")
    expect(head(page, "email").locator(".badge")).to_have_text("direct")
    expect(head(page, "isbn").locator("button.chip")).to_have_text("isbn")
    expect(page.locator("section[aria-label='books.csv'] .lines path").first).to_be_attached()
    picture(page, "tables")
    page.get_by_label("Which columns to show").select_option("personal")
    expect(head(page, "isbn")).to_be_hidden()
    expect(head(page, "email")).to_be_visible()
    value = page.get_by_text("marisol.tennfjord@example.org")
    expect(value).to_be_visible()
    page.get_by_label("hide personal values").check()
    expect(value).to_be_hidden()
    page.get_by_label("Which columns to show").select_option("")
    page.get_by_role("searchbox").fill("isbn")
    expect(page.locator("#count")).to_have_text("1 of 23 columns")
    dialog = open_column(page, "isbn")
    expect(dialog.get_by_role("heading", name="Why")).to_be_visible()
    expect(dialog).to_contain_text("International Standard Book Number")
    expect(dialog).to_contain_text("ngrams, by static table: confidence >= 0.7")
    picture(page, "column")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_a_correction_is_remembered_when_the_file_comes_again(visit: Visit, tmp_path: Path):
    page = visit(expected="status of 400")
    drop(page, EXAMPLES / "hotels.csv")
    export(page, "json").save_as(tmp_path / "old.json")
    dialog = open_column(page, "price_range")
    dialog.get_by_label("It is rather").fill("no such name")
    dialog.get_by_role("button", name="Correct").click()
    expect(dialog.locator("[role=status]")).to_contain_text("unknown label 'no such name'")
    dialog.get_by_label("It is rather").fill("count")
    picture(page, "review")
    dialog.get_by_role("button", name="Correct").click()
    expect(page.locator("#progress")).to_have_text("price_range is remembered.")
    expect(head(page, "price_range").locator("button.chip")).to_have_text("count")
    page.reload()
    drop(page, EXAMPLES / "hotels.csv")
    expect(head(page, "price_range").locator("button.chip")).to_have_text("count")
    expect(head(page, "price_range").locator(".reviewed")).to_be_visible()
    export(page, "json").save_as(tmp_path / "new.json")
    compared = run("diff", tmp_path / "old.json", tmp_path / "new.json", "--fail-on", "type")
    assert compared.code == 3
    assert "price_range" in compared.out
    expect(open_column(page, "price_range")).to_contain_text("corrected by someone at the page")
    page.get_by_role("button", name="No name fits").click()
    expect(head(page, "price_range").locator("button.chip")).to_have_text("no name fits")


def test_a_type_is_taught_from_columns_and_forgotten(visit: Visit, tmp_path: Path):
    page = visit()
    beds = tmp_path / "wards.csv"
    rows = [f"{chr(65 + n % 6)}{n % 4}-bed{n % 9}x,{20 + n}" for n in range(60)]
    beds.write_text("\n".join(["bed,age", *rows]), encoding="utf-8")
    drop(page, beds)
    page.get_by_label("choose bed as an example").check()
    page.get_by_label("Name of the type").fill("Ward/bed")
    page.get_by_label("Kind", exact=True).select_option("place")
    page.get_by_role("button", name="Teach", exact=True).click()
    lesson = page.locator("#lesson")
    expect(lesson.get_by_role("heading")).to_have_text("Ward/bed is learnt", timeout=60_000)
    expect(lesson).to_contain_text("known columns of other types")
    expect(head(page, "bed").locator("button.chip")).to_have_text("Ward/bed")
    picture(page, "teach")
    lesson.get_by_role("button", name="Forget it").click()
    expect(page.locator("#progress")).to_have_text("Ward/bed is forgotten.")
    expect(head(page, "bed").locator("button.chip")).not_to_have_text("Ward/bed")


def test_answers_are_exported_in_the_format_chosen(visit: Visit):
    page = visit()
    drop(page, EXAMPLES / "books.csv", EXAMPLES / "films.csv")
    text = export(page, "csv").path().read_text(encoding="utf-8")
    assert {row["table"] for row in csv.DictReader(text.splitlines())} == {"books.csv", "films.csv"}
    assert len(json.loads(export(page, "json").path().read_bytes())) == 2
    offered = page.get_by_label("Format of the export").locator("option").all_text_contents()
    assert set(offered) == {"text", *FORMATS}


def test_a_file_that_cannot_be_read_is_told(visit: Visit, nasty: dict[str, Path]):
    page = visit()
    drop(page, nasty["empty.csv"], EXAMPLES / "books.csv")
    expect(page.get_by_role("alert")).to_have_text("empty.csv is empty; expected a table")
    expect(page.locator("#count")).to_have_text("11 columns")


def test_pasted_rows_are_annotated_with_the_keyboard_alone(visit: Visit):
    page = visit()
    page.get_by_label("Choose files").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.insert_text("city,founded\nOslo,1048\nRome,-753\nLyon,-43\n")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(head(page, "city").locator("button.chip")).to_be_visible()
    head(page, "city").locator("button.chip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("dialog#column")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Tables").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Activity")).to_be_visible()


def test_the_second_tab_shows_latency_runs_and_routing(visit: Visit):
    page = visit()
    drop(page, EXAMPLES / "books.csv")
    page.get_by_role("tab", name="Activity").click()
    panel = page.get_by_role("tabpanel", name="Activity")
    expect(panel.get_by_role("region", name="Requests by operation")).to_contain_text("annotate")
    expect(panel.get_by_role("region", name="Last annotations")).to_contain_text("books.csv")
    expect(panel.get_by_role("region", name="Who answered which kinds")).to_contain_text("ngrams")
    expect(panel.get_by_role("img")).to_be_visible()
    picture(page, "activity")


def test_a_phone_and_the_dark_show_everything(visit: Visit):
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True, color_scheme="dark")
    drop(page, EXAMPLES / "customers.csv")
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]
    dialog = open_column(page, "email")
    expect(dialog.get_by_role("button", name="Accept")).to_be_in_viewport(ratio=0)
    box = dialog.bounding_box()
    assert box is not None
    assert box["width"] <= PHONE["width"]
    picture(page, "phone")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "rgb(18, 21, 27)"
    dialog.get_by_role("button", name="Accept").tap()
    expect(head(page, "email").locator(".reviewed")).to_be_visible()


def test_hostile_headers_cells_and_names_are_shown_and_not_obeyed(visit: Visit, tmp_path: Path):
    page = visit()
    hostile = tmp_path / "<b onclick=alert(1)>x.csv"
    quoted = HOSTILE.replace('"', '""')
    lines = [f'"{quoted}","javascript:alert(1)"', *[f'"{quoted}",{n}' for n in range(9)]]
    hostile.write_text("\n".join(lines), encoding="utf-8")
    drop(page, hostile)
    expect(page.locator("bdi.name").first).to_have_text(HOSTILE)
    expect(page.locator("td").first).to_have_text(HOSTILE)
    expect(page.locator("h2", has_text="onclick")).to_have_text(hostile.name)
    dialog = open_column(page, HOSTILE)
    expect(dialog.get_by_role("heading", level=2)).to_have_text(HOSTILE)
    expect(page.locator("img, iframe, b[onclick], main script")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Activity").click()
    expect(page.get_by_role("region", name="Last annotations")).to_contain_text("onclick")
    expect(page.locator("b[onclick]")).to_have_count(0)


def test_axe_finds_nothing_serious(visit: Visit):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; with npm: make axe")
    for scheme in ("light", "dark"):
        page = visit(color_scheme=scheme, bypass_csp=True)
        drop(page, EXAMPLES / "customers.csv")
        page.get_by_label("choose email as an example").check()
        assert serious(page) == []
        dialog = open_column(page, "email")
        expect(dialog).to_be_visible()
        assert serious(page) == []
        page.keyboard.press("Escape")
        page.get_by_role("tab", name="Activity").click()
        expect(page.get_by_role("region", name="Last annotations")).to_be_visible()
        assert serious(page) == []


def serious(page: Page) -> list[str]:
    """What axe finds that keeps people from using the page."""
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{each['id']}: {[node['html'] for node in each['nodes']][:3]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
