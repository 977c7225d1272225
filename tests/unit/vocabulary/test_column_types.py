"""The 82 column types: complete, ordered, distinguishable."""

import pytest

from aegir.vocabulary.terms import CLASS_PATHS, COLUMN_TYPES, TYPE_INDEX, TYPE_NAMES, ColumnType

EVERY_TYPE = pytest.mark.parametrize(
    "column_type", COLUMN_TYPES.values(), ids=lambda each: each.name
)


def test_there_are_82_types_sorted_by_code_point():
    assert len(TYPE_NAMES) == 82
    assert list(TYPE_NAMES) == sorted(TYPE_NAMES)
    assert (TYPE_NAMES[0], TYPE_NAMES[-1]) == ("Book/description", "workHours")
    assert TYPE_INDEX["Book/description"] == 0


@EVERY_TYPE
def test_a_type_is_filed_and_explained(column_type: ColumnType):
    assert column_type.name == next(key for key in COLUMN_TYPES if key == column_type.name)
    assert column_type.path[0] in {"Thing", "DataType"}
    assert column_type.path[-1] == column_type.name.rpartition("/")[2]
    assert column_type.definition.endswith(".")
    assert 25 <= len(column_type.definition) <= 260
    assert column_type.example == column_type.example.strip() != ""
    assert column_type.iri.startswith("https://schema.org/")


def test_any_type_groups_lead_to_their_schema_org_term():
    assert COLUMN_TYPES["IdentifierAT"].iri == "https://schema.org/identifier"
    assert COLUMN_TYPES["CoordinateAT"].iri == "https://schema.org/GeoCoordinates"
    assert COLUMN_TYPES["MusicArtistAT"].iri == "https://schema.org/MusicGroup"
    assert COLUMN_TYPES["Book/name"].iri == "https://schema.org/name"
    assert COLUMN_TYPES["Hotel/description"].iri == "https://schema.org/description"


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [
        ("Date", "DateTime"),
        ("Time", "Duration"),
        ("price", "priceRange"),
        ("price", "MonetaryAmount"),
        ("Mass", "weight"),
        ("unitCode", "unitText"),
        ("Number", "QuantitativeValue"),
        ("CategoryCode", "category"),
        ("workHours", "openingHours"),
        ("telephone", "faxNumber"),
        ("PostalAddress", "streetAddress"),
        ("Organization", "Brand"),
    ],
)
def test_a_definition_tells_a_type_from_its_neighbour(name: str, neighbour: str):
    assert neighbour in COLUMN_TYPES[name].definition


def test_no_two_types_share_a_definition():
    assert len({each.definition for each in COLUMN_TYPES.values()}) == 82


def test_every_class_leads_to_a_root():
    for name, path in CLASS_PATHS.items():
        assert path[0] in ("Thing", "DataType")
        assert path[-1] == name
        assert len(set(path)) == len(path)
