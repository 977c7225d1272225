"""Statistics of columns: what is counted, estimated and masked, and where they are given."""

import json
import random

import pytest

from aegir.answers.statistics import shown_statistics, statistics_as_dict
from aegir.pipeline.run import annotate
from aegir.tables.contents import describe_column
from aegir.tables.table import Column


def statistics(*cells: str, total: int | None = None, personal: bool = False) -> dict[str, object]:
    rows = len(cells) if total is None else total
    _, profile = describe_column(Column("c", cells), rows)
    return statistics_as_dict(profile, personal=personal)


def test_what_was_seen_is_counted():
    assert statistics("3", "", "10", "n/a", "3") == {
        "rows": 5,
        "nulls": 2,
        "distinct": 2,
        "distinct_is": "exact",
        "min": 3,
        "max": 10,
        "mean_length": 1.3,
        "digits": 3,
        "emails": 0,
        "most_common": [{"value": "3", "count": 2}],
    }


def test_dates_that_sort_by_time_have_a_range():
    seen = statistics("2024-05-01", "2023-01-31")
    assert (seen["min"], seen["max"]) == ("2023-01-31", "2024-05-01")
    assert statistics("01.05.2024", "31.01.2023")["min"] is None


@pytest.mark.parametrize("distinct", [20, 500, 5000])
def test_the_distinct_values_of_a_column_are_estimated_from_a_sample(distinct: int):
    draw = random.Random(3)
    column = [str(draw.randrange(distinct)) for _ in range(20_000)]
    true = len(set(column))
    seen = statistics(*draw.sample(column, 1000), total=20_000)
    assert seen["distinct_is"] == "estimated"
    assert seen["distinct"] == pytest.approx(true, rel=0.25)


def test_a_key_is_estimated_to_have_as_many_values_as_rows():
    assert statistics(*map(str, range(200)), total=90_000)["distinct"] == 90_000


def test_without_the_number_of_rows_the_sample_is_a_lower_bound():
    _, profile = describe_column(Column("c", ("a", "b")), None)
    assert statistics_as_dict(profile, personal=False)["distinct_is"] == "at least"
    assert "at least 2 distinct" in shown_statistics(profile, personal=False)


def test_no_value_of_a_personal_column_is_given():
    seen = statistics(*["Ada Ashdown"] * 3, *["Bo Lorne"] * 2, personal=True)
    assert seen["most_common"] == [
        {"value": "xxx xxxxxxx", "count": 3},
        {"value": "xx xxxxx", "count": 2},
    ]
    paid = statistics("52000", "61000", "52000", personal=True)
    assert (paid["min"], paid["max"]) == (None, None)
    assert "52000" not in json.dumps(paid)


def test_e_mail_addresses_within_other_text_are_counted_and_make_notes_personal():
    notes = ["call before noon", "fragile, ask ada@example.org for help", "gift wrap please"] * 20
    answer = annotate({"order": list(range(60)), "note": notes})[0].columns[1]
    assert (answer.personal, answer.personal_level) == (True, "direct")
    assert answer.personal_reason == "cells hold e-mail addresses"
    clean = annotate({"order": list(range(60)), "note": [each[:12] for each in notes]})[0]
    assert not clean.columns[1].personal


def test_json_and_the_page_and_a_frame_have_them():
    pytest.importorskip("pandas")
    answers = annotate({"colour": ["red", "red", "blue"] * 10, "n": list(range(30))})
    column = json.loads(answers.to("json"))[0]["columns"][0]
    assert column["statistics"]["most_common"][0] == {"value": "red", "count": 20}
    assert "30 rows; no nulls; 2 distinct; mean length 3.3" in answers.to("html")
    frame = answers.to_frame()
    assert list(frame["distinct"]) == [2, 30]
    assert list(frame["max"])[1] == 29
    assert frame["most_common"][0] == [
        {"value": "red", "count": 20},
        {"value": "blue", "count": 10},
    ]
