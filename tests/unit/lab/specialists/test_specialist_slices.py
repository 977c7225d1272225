"""Which columns a specialist learns from, and as what."""

import pytest

from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.specialists.config import SpecialistSettings
from aegir.lab.specialists.slices import (
    FOREIGN,
    Domain,
    Slice,
    check_not_empty,
    slice_tables,
)
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError

WEB = Source("web_train.jsonl")
OPEN = Source("open/tables.jsonl.gz", everyday=True, web=False)
PLACES = SpecialistSettings("places", "where", kinds=("place",), types=("telephone",))


def table(source: Source, *labels: ColumnLabels) -> TrainingTable:
    columns = tuple(Column(f"c{i}", ("a", "b")) for i in range(len(labels)))
    return TrainingTable(LabelledTable(Table("t", columns, subject=0), labels, {}), source)


@pytest.mark.parametrize(
    ("labels", "place"),
    [
        (ColumnLabels(types=("postalCode",)), "inside"),
        (ColumnLabels(types=(), fine=("elevation",)), "inside"),  # a fine type of the kind
        (ColumnLabels(types=("telephone",)), "inside"),  # named by itself
        (ColumnLabels(fine=("telephone_number",)), "inside"),  # hangs below telephone
        (ColumnLabels(types=("price",)), "outside"),
        (ColumnLabels(types=(), fine=()), "outside"),
        (ColumnLabels(types=("faxNumber", "telephone")), None),  # both could be said
        (ColumnLabels(types=("Date",), fine=("date", "country_name")), None),
        (ColumnLabels(personal=True), None),
        (ColumnLabels(), None),
    ],
)
def test_the_best_names_decide_where_a_column_is(labels: ColumnLabels, place: str | None):
    assert Domain(PLACES, frozenset()).place(labels) == place


def test_a_relation_belongs_where_most_of_its_columns_do():
    tables = [
        table(WEB, ColumnLabels.of("addressLocality", "location"), ColumnLabels.of("price", "url")),
        table(WEB, ColumnLabels.of("Country", "location"), ColumnLabels.of("URL", "url")),
        table(WEB, ColumnLabels.of("Organization", "location")),
    ]
    domain = Domain.of(PLACES, tables)
    assert domain.relations == {"location"}  # two of three are places
    assert domain.place(ColumnLabels(relations=("location",))) == "inside"
    assert domain.place(ColumnLabels(relations=("url",))) is None


def test_without_kinds_and_types_every_labelled_column_is_inside():
    domain = Domain(SpecialistSettings("all", "everything"), frozenset())
    assert domain.place(ColumnLabels(types=())) == "inside"
    assert domain.place(ColumnLabels(relations=("price",))) == "inside"
    assert domain.place(ColumnLabels()) is None


def test_columns_inside_keep_their_labels_and_those_outside_are_none_of_the_names():
    inside = ColumnLabels(("Country",), ("addressCountry",), None, None)
    given = [table(WEB, inside, ColumnLabels.of("price", "price"), ColumnLabels())]
    found = slice_tables(given, [0], Domain(replace_outside(0.9), frozenset()), 0)
    assert [each.labelled.labels for each in found.tables] == [(inside,), (FOREIGN,)]
    assert [each.labelled.table.columns[0].name for each in found.tables] == ["c0", "c1"]
    assert {each.labelled.table.subject for each in found.tables} == {None}
    assert (found.inside, found.numbers) == (1, (0, 0))


def replace_outside(share: float) -> SpecialistSettings:
    return SpecialistSettings("places", "where", kinds=("place",), outside=share)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
def test_columns_outside_make_up_their_share_of_every_source(share: float):
    labels = (ColumnLabels.of("Country"), *[ColumnLabels.of("price")] * 4)
    given = [table(source, *labels) for source in (WEB, OPEN) for _ in range(300)]
    found = slice_tables(given, range(600), Domain(replace_outside(share), frozenset()), 3)
    for source in (WEB, OPEN):
        columns = [each for each in found.tables if each.source is source]
        foreign = sum(each.labelled.labels == (FOREIGN,) for each in columns)
        assert foreign / len(columns) == pytest.approx(share, abs=0.06)
    assert found.inside == 600
    again = slice_tables(given, range(600), Domain(replace_outside(share), frozenset()), 3)
    assert again == found


def test_a_domain_of_everyday_tables_has_no_columns_of_others():
    settings = SpecialistSettings("everyday", "what people keep", tables="everyday")
    domain = Domain(settings, frozenset())
    given = [table(WEB, ColumnLabels.of("price")), table(OPEN, ColumnLabels(types=("price",)))]
    found = slice_tables(given, [0, 1], domain, 0)
    assert found.numbers == (1,)


def test_a_source_with_its_own_labels_is_kept_whole():
    aux = Source("other.jsonl", aux="other")
    given = [table(aux, ColumnLabels.of("jockey"), ColumnLabels())]
    found = slice_tables(given, [0], Domain(PLACES, frozenset()), 0)
    assert [each.labelled.types for each in found.tables] == [("jockey",)]


def test_an_empty_slice_is_refused_with_what_there_is():
    given = [table(WEB, ColumnLabels.of("price"))]
    with pytest.raises(UsageError) as refused:
        check_not_empty(Slice((), (), 0), given, Domain(PLACES, frozenset()))
    assert str(refused.value) == (
        "no column to learn from is in the domain of 'places' (kinds place; types telephone; tables all); "
        "kinds of columns in the tables: money"
    )
