"""`aegir annotate --format html` in a real browser: it filters, opens, hides, and obeys no table."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.html_page import render_page
from aegir.answers.routing import RouterScore, Timing
from browser import Open
from command_line import run

EXAMPLES = Path(__file__).parents[2] / "examples"
PLAIN = ColumnAnnotation(
    index=0,
    name="city",
    label="City",
    confidence=0.9,
    kind="place",
    type="City",
    type_confidence=0.9,
    fine_type=None,
    datatype="string",
    personal=False,
    reasons=("5 of 5 values are cities",),
)


@pytest.fixture(scope="module")
def people() -> str:
    """The page that the command writes for two tables."""
    done = run(
        "annotate",
        EXAMPLES / "customers.csv",
        EXAMPLES / "books.csv",
        "-f",
        "html",
        "--annotator",
        "ngrams",
    )
    assert done.code == 0
    return done.out


def column(page: Page, name: str) -> Locator:
    """The line of a column."""
    named = page.locator(".name bdi").get_by_text(name, exact=True)
    return page.locator(".columns > li").filter(has=named)


def search(page: Page) -> Locator:
    return page.get_by_role("searchbox")


def show(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Which columns to show")


def test_the_filter_hides_columns_and_tables(open_page: Open, people: str):
    page = open_page(people)
    expect(page.get_by_role("status")).to_have_text("23 columns")
    search(page).fill("isbn")
    expect(column(page, "isbn")).to_be_visible()
    expect(column(page, "email")).to_be_hidden()
    expect(page.get_by_role("heading", name="customers.csv")).to_be_hidden()
    expect(page.get_by_role("link", name="customers.csv")).to_be_hidden()
    expect(page.locator("#table-2 .preview th:visible")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text("1 of 23 columns")
    search(page).fill("no such column")
    expect(page.locator(".table:visible")).to_have_count(0)
    search(page).fill("")
    expect(column(page, "email")).to_be_visible()


def test_personal_data_can_be_shown_alone_and_its_values_hidden(open_page: Open, people: str):
    page = open_page(people)
    show(page).select_option("personal")
    expect(column(page, "email")).to_be_visible()
    expect(column(page, "isbn")).to_be_hidden()
    show(page).select_option("direct")
    expect(column(page, "email").locator(".badge")).to_have_text("direct")
    expect(column(page, "street")).to_be_hidden()
    value = page.locator(".preview").get_by_text("marisol.tennfjord@example.org")
    expect(value).to_be_visible()
    page.get_by_label("hide personal values").check()
    expect(value).to_be_hidden()


def test_a_click_opens_the_reasons(open_page: Open, people: str):
    page = open_page(people)
    reason = column(page, "email").get_by_text("reads like email_address by")
    expect(reason).to_be_hidden()
    column(page, "email").locator("summary").click()
    expect(reason).to_be_visible()
    page.get_by_role("button", name="Open or close all").click()
    expect(page.locator("details[open]")).to_have_count(23)
    page.get_by_role("button", name="Open or close all").click()
    expect(page.locator("details[open]")).to_have_count(0)


def test_a_click_shows_which_specialists_were_woken(open_page: Open):
    routing = (RouterScore("names", 0.12, False), RouterScore("geo", 0.83, True))
    timing = Timing(0.0123, 0.0456, (("router", 0.001),))
    table = TableAnnotation(
        "t.csv", None, None, (replace(PLAIN, routing=routing),), "swarm", timing=timing
    )
    page = open_page(render_page([table]))
    facts = "woken: geo 1 of 1 column; critical path 0.012 s, cost 0.046 CPU s"
    expect(page.locator(".facts")).to_contain_text(facts)
    specialists = page.locator(".specialists")
    expect(specialists).to_be_hidden()
    column(page, "city").locator("summary").first.click()
    column(page, "city").get_by_text("Details", exact=True).click()
    expect(specialists).to_be_visible()
    expect(specialists.locator("dt")).to_have_text(["geo", "names not woken"])
    expect(specialists.locator("dd")).to_have_text(["0.83", "0.12"])


def test_everything_is_reached_with_the_keyboard(open_page: Open, people: str):
    page = open_page(people)
    page.keyboard.press("Tab")
    expect(search(page)).to_be_focused()
    page.keyboard.type("email")
    page.keyboard.press("Enter")  # sends no form, loads no page
    expect(column(page, "full_name")).to_be_hidden()
    column(page, "email").locator("summary").focus()
    page.keyboard.press("Enter")
    expect(column(page, "email").get_by_text("reads like email_address by")).to_be_visible()


@pytest.mark.parametrize(
    "hostile",
    [
        "<img src=x onerror=\"alert('obeyed')\">",
        "</title></style></script><script>alert('obeyed')</script>",
        "\"'><svg onload=alert('obeyed')><a href=\"javascript:alert('obeyed')\">x</a>",
        '<link rel=stylesheet href="https://example.org/x.css"><iframe src=https://example.org>',
    ],
)
def test_a_hostile_table_is_shown_and_not_obeyed(open_page: Open, hostile: str):
    guess = (Guess(hostile, 0.2),)
    evil = ColumnAnnotation(
        index=0,
        name=hostile,
        label=hostile,
        confidence=0.9,
        kind=hostile,
        type=hostile,
        type_confidence=0.9,
        fine_type=hostile,
        datatype=hostile,
        personal=True,
        personal_level=hostile,
        personal_reason=hostile,
        relation=Guess(hostile, 0.9),
        iri="javascript:alert('obeyed')",
        relation_iri=hostile,
        runners_up=guess,
        type_runners_up=guess,
        relation_runners_up=guess,
        reasons=(hostile, f"x, such as {hostile}"),
    )
    table = TableAnnotation(hostile, hostile, 0, (evil,), hostile, (hostile,), ((hostile,),))
    page = open_page(render_page([table, table]))
    page.locator("summary").first.click()
    page.locator("#table-1 .chip").last.hover()
    expect(page.locator("#table-1 .name bdi")).to_have_text(hostile)
    expect(page.locator("#table-1 td")).to_have_text(hostile)
    expect(page.locator("h2").first).to_have_text(hostile)
    expect(page.locator("img, iframe, svg:not(.bar), body link, body style")).to_have_count(0)


def test_without_scripts_all_is_there_but_the_filter(browser: Browser, tmp_path: Path, people: str):
    (tmp_path / "page.html").write_text(people, encoding="utf-8")
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        expect(page.locator(".filter")).to_be_hidden()
        expect(column(page, "email")).to_be_visible()
        column(page, "email").locator("summary").click()
        expect(column(page, "email").get_by_text("reads like email_address by")).to_be_visible()


def test_200_columns_and_100_tables_are_filtered(open_page: Open):
    wide = tuple(replace(PLAIN, index=place, name=f"c{place}") for place in range(200))
    tables = [
        TableAnnotation(f"t{n}.csv", None, None, (replace(PLAIN, name=f"city {n}"),), "rules")
        for n in range(99)
    ]
    preview = tuple((f"value {place}",) for place in range(200))
    tables.append(TableAnnotation("wide.csv", None, None, wide, "rules", (), preview))
    page = open_page(render_page(tables))
    expect(page.get_by_role("status")).to_have_text("299 columns")
    search(page).fill("c177")
    expect(page.locator(".columns > li:visible")).to_have_count(1)
    expect(page.locator(".preview td:visible")).to_have_text(["value 177"])
    body = page.evaluate("[document.body.scrollWidth, document.documentElement.clientWidth]")
    assert body[0] <= body[1]
    search(page).fill("t42.csv city")
    expect(page.locator(".table:visible h2")).to_have_text(["t42.csv"])


def test_the_page_follows_light_dark_and_print(open_page: Open, people: str):
    page = open_page(people)
    colours = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2
    page.emulate_media(media="print", color_scheme="light")
    expect(page.locator(".filter")).to_be_hidden()
    expect(column(page, "email")).to_be_visible()
    assert page.pdf().startswith(b"%PDF")
