"""Columns with made-up answers, for tests of what masking does with them."""

from typing import Any

from aegir.answers.annotation import ColumnAnnotation


def answer_column(index: int = 0, name: str | None = "column", **values: Any) -> ColumnAnnotation:
    """A direct column of persons, but for what is given."""
    plain = {
        "label": "full_name",
        "confidence": 0.9,
        "kind": "person",
        "type": None,
        "type_confidence": 0.5,
        "fine_type": None,
        "datatype": "string",
        "personal": True,
        "personal_level": "direct",
        "personal_reason": "names a person",
    }
    return ColumnAnnotation(index, name, **(plain | values))


def harmless_column(index: int = 0, name: str | None = "column", **values: Any) -> ColumnAnnotation:
    """A category that is not personal, but for what is given."""
    plain = {
        "label": "status",
        "fine_type": "status",
        "kind": "category",
        "personal": False,
        "personal_level": None,
        "personal_reason": None,
    }
    return answer_column(index, name, **(plain | values))
