"""The page for people: what is on it, and that nothing from a table becomes part of it."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.html_page import render_page
from aegir.vocabulary.terms import FINE_TYPES
from answer_columns import annotations

MAIL = ColumnAnnotation(
    index=0,
    name="e-mail",
    label="email_address",
    confidence=0.96,
    kind="person",
    type="email",
    type_confidence=0.97,
    fine_type="email_address",
    datatype="string",
    personal=True,
    personal_level="direct",
    personal_reason="reaches a person",
    relation=Guess("email", 0.9),
    iri="https://schema.org/email",
    relation_iri="https://schema.org/email",
    runners_up=(Guess("URL", 0.03), Guess("username", 0.001)),
    type_runners_up=(Guess("URL", 0.03), Guess("username", 0.001)),
    relation_runners_up=(Guess("url", 0.05),),
    reasons=("2 of 2 values are e-mail addresses, such as 'ann@example.org'", "the header says so"),
)
STATE = ColumnAnnotation(
    index=1,
    name=None,
    label="category",
    confidence=0.41,
    kind="category",
    type=None,
    type_confidence=0.8,
    fine_type=None,
    datatype="string",
    personal=False,
)
TABLE = TableAnnotation(
    table="people.csv",
    source="lake/people.csv",
    subject=0,
    columns=(MAIL, STATE),
    annotator="combined",
    warnings=("1 row was cut",),
    preview=(("ann@example.org", "bo@example.org"), ("open", "")),
)


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text outside style and script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br", "rect"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag != "rect":
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def test_a_page_says_what_the_annotation_says():
    text = Page(render_page([TABLE])).text
    for words in (
        "What the columns of people.csv are",
        "1 table 2 columns 1 with personal data (1 direct) 1 unsure",
        "category 1 person 1",
        "2 columns · lake/people.csv · subject: e-mail · answered by combined",
        "1 row was cut",
        "e-mail email_address column_2 maybe category ann@example.org open bo@example.org",
        "e-mail subject email_address email 0.96 email 0.90 direct",
        f"email_address : {FINE_TYPES['email_address'].definition}",
        "Why 2 of 2 values are e-mail addresses, such as 'ann@example.org' the header says so",
        "Personal data direct: reaches a person",
        "Next best URL 0.03 Other relations url 0.05",
        "column 1 · kind person · stored as string · type email 0.97 · relation email",
        "column_2 maybe category 0.41",
        "none of the column types 0.80",
    ):
        assert words in text, words


def test_chips_have_the_colour_of_their_kind_and_the_unsure_look_unsure():
    classes = [known.get("class") or "" for _, known in Page(render_page([TABLE])).elements]
    chips = [names for names in classes if names.startswith("chip")]
    assert chips.count("chip kind-person") == 3  # in the legend, over the rows and in the list
    assert chips.count("chip kind-category unsure") == 2
    odd = replace(STATE, kind='x" onclick="', confidence=0.9)
    taught = Page(render_page([replace(TABLE, columns=(odd,))])).elements
    assert ("span", {"class": "chip", "title": 'x" onclick="'}) in taught


def test_the_policy_allows_this_style_and_this_script_alone():
    html = render_page([TABLE])
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_only_web_addresses_become_links():
    for iri in ("javascript:alert(1)", "data:text/html,x", "//example.org", "file:///etc/passwd"):
        page = Page(render_page([replace(TABLE, columns=(replace(MAIL, iri=iri),))]))
        links = [known.get("href") for tag, known in page.elements if tag == "a"]
        assert links == ["https://schema.org/email"]


def test_a_table_without_its_values_or_columns_and_no_table_make_a_page():
    assert '<div class="preview"' not in render_page([replace(TABLE, preview=())])
    assert "0 columns" in Page(render_page([replace(TABLE, columns=(), preview=())])).text
    empty = Page(render_page([]))
    assert "0 tables 0 columns 0 with personal data 0 unsure" in empty.text
    assert "input" not in [tag for tag, _ in empty.elements]


def test_several_tables_are_listed_at_the_top():
    page = Page(render_page([TABLE, replace(TABLE, table="orders.csv")]))
    links = [known["href"] for tag, known in page.elements if tag == "a"]
    assert links[:2] == ["#table-1", "#table-2"]
    ids = [known["id"] for _, known in page.elements if "id" in known]
    assert len(set(ids)) == len(ids)


ALLOWED = {
    "html": "lang",
    "meta": "charset name content http-equiv",
    "link": "rel href",
    "input": "type aria-label placeholder autocomplete",
    "select": "aria-label",
    "option": "value title",
    "button": "type",
    "output": "aria-live",
    "section": "class id aria-labelledby",
    "h2": "id dir",
    "th": "scope",
    "td": "class dir",
    "a": "href dir rel",
    "div": "class role tabindex aria-label aria-hidden hidden",
    "nav": "aria-label",
    "ul": "class aria-label",
    "li": "class title data-marks",
    "span": "class title",
    "p": "class",
    "dl": "class",
    "footer": "class",
    "svg": "class viewbox preserveaspectratio aria-hidden",
    "rect": "class width height rx",
}
BARE = (
    "head title style script body header main h1 h3 b bdi br label table thead tbody tr details "
    "summary dt dd code caption"
)


@given(annotations)
def test_whatever_a_table_holds_the_page_has_no_other_elements(tables: list[TableAnnotation]):
    with_cells = [
        replace(each, preview=tuple((each.table, "<b onclick=x>") for _ in each.columns))
        for each in tables
    ]
    page = Page(render_page(with_cells))
    assert page.open == []
    assert [tag for tag, _ in page.elements].count("script") == 1
    for tag, attributes in page.elements:
        assert tag in ALLOWED or tag in BARE.split()
        assert set(attributes) <= set(ALLOWED.get(tag, "").split()), tag
        assert (attributes.get("href") or "#").startswith(("#table-", "http", "data:,", "#"))


@pytest.mark.parametrize(
    "hostile",
    ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "&lt;b&gt;", '"'],
)
def test_markup_in_a_header_a_cell_and_a_name_is_shown_as_it_stands(hostile: str):
    column = replace(
        MAIL, name=hostile, label=hostile, reasons=(hostile,), relation=Guess(hostile, 1)
    )
    text = Page(
        render_page([replace(TABLE, table=hostile, columns=(column,), preview=((hostile,),))])
    ).text
    assert text.count(hostile) >= 8
