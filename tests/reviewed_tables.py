"""Made-up tables that were reviewed, and any reviews at all, for tests of the review memory."""

import random

from hypothesis import strategies as st

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.memory.review import Review
from aegir.tables.fingerprint import fingerprint_column
from aegir.tables.table import Column, Table

HEADERS = ("code", "mail", "amount", "state")
SYLLABLES = ("ba", "do", "ki", "lu", "me", "no", "ra", "si", "tu", "ve")


def made_up_table(rows: int, seed: int = 0, name: str = "orders.csv") -> Table:
    """Codes, e-mail addresses, amounts and states; a larger table of the same seed begins with the smaller."""
    draw = random.Random(seed)
    lines = []
    for _ in range(rows):
        word = "".join(draw.choices(SYLLABLES, k=3))
        mail = f"{word}@example.org"
        state = draw.choice(["open", "paid", "sent"])
        lines.append(
            (f"{word[:2].upper()}-{draw.randint(100, 999)}", mail, str(draw.randint(5, 90)), state)
        )
    columns = zip(*lines, strict=True)
    return Table(
        name,
        tuple(Column(header, tuple(cells)) for header, cells in zip(HEADERS, columns, strict=True)),
        source=f"lake/{name}",
    )


def answer_for(table: Table, labels: tuple[str | None, ...] | None = None) -> TableAnnotation:
    """An answer with these labels, all of confidence 0.6."""
    given = labels or (None,) * len(table.columns)
    return TableAnnotation(
        table.name,
        table.source,
        None,
        tuple(
            an_answer(index, column.name, label)
            for index, (column, label) in enumerate(zip(table.columns, given, strict=True))
        ),
        "rules",
    )


def an_answer(
    index: int, name: str | None, label: str | None, **fields: object
) -> ColumnAnnotation:
    """An answer for one column; what is not given is not known."""
    given = {
        "confidence": 0.6,
        "kind": None,
        "type": None,
        "type_confidence": 0.5,
        "fine_type": None,
        "datatype": "string",
        "personal": False,
    }
    return ColumnAnnotation(index=index, name=name, label=label, **{**given, **fields})


texts = st.text("aZé1 -.@'\u05d0\ud800\n", min_size=1, max_size=6)
cells = st.lists(
    st.one_of(
        texts,
        st.integers(-999, 99999).map(str),
        st.sampled_from(["a", "N/A", "", "2024-01-05"]),
    ),
    max_size=12,
)
fingerprints = st.builds(
    fingerprint_column,
    st.builds(Column, st.none() | texts, cells.map(tuple)),
    st.integers(0, 9),
    st.lists(texts, max_size=3),
)
reviews = st.builds(
    Review,
    id=st.text("abc", min_size=1, max_size=3),
    at=st.sampled_from([f"2030-01-0{day}T00:00:00.000000+00:00" for day in (1, 2, 3)]),
    by=texts,
    label=st.sampled_from(["email", "status", "Ward/bed"]),
    kind=st.just("category"),
    personal=st.none() | st.just(False),
    level=st.none(),
    said=st.none() | texts,
    table=texts,
    source=st.none() | texts,
    column=fingerprints,
)
