"""The page of disagreements: what is on it, in which order, and that nothing of a table is obeyed."""

from dataclasses import replace
from html.parser import HTMLParser

from aegir.answers.annotation import ColumnAnnotation, Guess, RowAnnotation, TableAnnotation
from aegir.evaluation.disagreements import MOST, PARTS, find_disagreements
from aegir.evaluation.disagreements_page import render_disagreements
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table

NOTHING = ColumnAnnotation(0, None, None, 0.0, None, None, 0.0, None, "string", personal=False)
HOSTILE = '<script>alert("x")</script>'
VOID = ("meta", "link")


class Reader(HTMLParser):
    """Keeps the tags, and the text of every section of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sections: dict[str, str] = {}
        self._section: str | None = None
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        if tag == "section":
            self._section = dict(attrs)["id"]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag == "section":
            self._section = None

    def handle_data(self, data: str) -> None:
        if self._section:
            self.sections[self._section] = self.sections.get(self._section, "") + data


def people(name: str = "staff.csv") -> LabelledTable:
    columns = (
        Column("mail", ("ann@example.org", HOSTILE)),
        Column("state", ("on leave", "active")),
    )
    labels = (
        ColumnLabels(
            ("email",), ("email",), ("email_address",), personal=True, personal_level="direct"
        ),
        ColumnLabels(("category",), (), ("status",), personal=False, none_too=True),
    )
    return LabelledTable(
        Table(name, columns),
        labels,
        {},
        row="employee",
        row_class="person",
        person="self",
        subjects=(0,),
    )


def answer(
    type_confidence: float, subject: int | None = None, **of_first: object
) -> TableAnnotation:
    first = replace(
        NOTHING,
        name="mail",
        type="URL",
        type_confidence=type_confidence,
        reasons=("2 of 2 values look like links",),
        **of_first,
    )
    second = replace(NOTHING, index=1, name="state", type_confidence=0.99)
    row = RowAnnotation("case", "case file", 0.7, "linked", 0.6)
    return TableAnnotation("staff.csv", None, subject, (first, second), "by hand", row=row)


def page(tables: list[LabelledTable], answers: list[TableAnnotation]) -> str:
    return render_disagreements(tables, answers, find_disagreements(tables, answers))


def test_each_part_says_what_was_expected_and_what_was_answered():
    given = answer(0.8, 1, relation=Guess("url", 0.9), personal_confidence=0.25)
    text = page([people()], [given])
    read = Reader(text)
    assert list(read.sections) == list(PARTS)
    for part, shown in {
        "types": ["mail", "email (email_address)", "URL", "0.80", "2 of 2 values look like links"],
        "relations": ["email", "url", "0.90"],
        "personal": ["personal, direct", "not personal", "0.75"],
        "rows": ["person (employee), person: self", "case (case file), person: linked", "0.70"],
        "subject": ["mail", "state"],
    }.items():
        assert "staff.csv" in read.sections[part]
        assert "a row is: employee, person" in read.sections[part]
        for words in shown:
            assert words in read.sections[part], (part, words)
    assert "beside state" in read.sections["types"]  # of which no type is acceptable, too
    assert "5 disagreements in 1 table" in text


def test_nothing_of_a_table_is_obeyed():
    hostile = people(f"{HOSTILE}.csv")
    hostile = replace(hostile, row=HOSTILE, domain='"><img src=x onerror=alert(1)>')
    text = page([hostile], [answer(0.8)])
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(" in text
    read = Reader(text)
    assert {"script", "img", "iframe", "form"}.isdisjoint(read.tags)
    assert "default-src 'none'" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_most_confident_answers_come_first():
    tables = [people(f"t{number}.csv") for number in range(3)]
    text = page(tables, [answer(0.6), answer(0.9), answer(0.7)])
    shown = Reader(text).sections["types"]
    assert shown.index("t1.csv") < shown.index("t2.csv") < shown.index("t0.csv")


def test_the_page_is_of_bounded_size():
    count = 2 * MOST
    long = people("n" * 100_000)
    wide = Column("header " * 1000, tuple(f"{number} " * 1000 for number in range(50)))
    columns = (wide, *long.table.columns[1:])
    long = replace(long, table=replace(long.table, columns=columns), row="row " * 1000)
    given = answer(0.8)
    given = replace(
        given, columns=(replace(given.columns[0], reasons=("why " * 1000,) * 50), given.columns[1])
    )
    text = page([long] * count, [given] * count)
    assert f"{MOST:,} less confident ones are left out" in text
    assert len(text.encode()) < 5_000_000
    Reader(text)


def test_right_answers_are_not_listed():
    labelled = replace(people(), person=None, row_class=None)
    right = answer(0.8, 0, personal=True, personal_level="direct", relation=Guess("email", 0.9))
    first = replace(right.columns[0], type="email")
    found = find_disagreements([labelled], [replace(right, columns=(first, right.columns[1]))])
    assert {part: each.total for part, each in found.items()} == dict.fromkeys(PARTS, 0)
    assert "0 disagreements" in render_disagreements([labelled], [right], found)


def test_only_the_parts_that_were_asked_for_are_shown():
    found = find_disagreements([people()], [answer(0.8)], ("relations",))
    (part,) = found.values()
    (only,) = part.shown
    assert (only.expected, only.answered, only.confidence) == ("email", "none", None)


def test_a_level_that_differs_is_a_disagreement():
    given = answer(0.8, personal=True, personal_level="about", special=True)
    given = replace(
        given, columns=(replace(given.columns[0], special_category="health"), given.columns[1])
    )
    (found,) = find_disagreements([people()], [given], ("personal",))["personal"].shown
    assert found.expected == "personal, direct"
    assert found.answered == "personal, about, special (health)"
