"""Physical types read off text."""

import pytest

from aegir.tables.datatype import infer_datatype


@pytest.mark.parametrize(
    ("values", "datatype"),
    [
        ([], "empty"),
        (["", " ", "n/a", "NULL", "-"], "empty"),
        (["1", "-2", "+3", "1,000", ""], "integer"),
        (["1", "2.5", "1e-3", ".5", "1,234.50"], "number"),
        (["2,50", "1.234,00"], "number"),
        (["02139", "94103", "00501"], "string"),
        (["true", "False", "YES"], "boolean"),
        (["0", "1"], "integer"),
        (["2024-05-01", "01/05/2024", "1.5.2024", "5 May 2024", "May 5, 2024"], "date"),
        (["2024-05-01T10:00:00Z", "2024-05-01 10:00:00.123+02:00", "2024-05-01"], "datetime"),
        (["10:30", "23:59:59", "9:15 pm"], "time"),
        (["Ann", "Bob"], "string"),
        (["192.168.0.1", "1.2.3"], "string"),
        (["+49 30 1234", "12-34"], "string"),
    ],
)
def test_datatypes(values: list[str], datatype: str) -> None:
    assert infer_datatype(values) == datatype


def test_one_stray_cell_in_twenty_is_forgiven_and_two_are_not() -> None:
    assert infer_datatype(["7"] * 19 + ["seven"]) == "integer"  # 95 %
    assert infer_datatype(["7"] * 18 + ["seven"] * 2) == "string"  # 90 %
