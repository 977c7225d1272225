"""`aegir types`: what is listed, what is shown, what is refused."""

import json
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import command_line
from aegir.pipeline.custom_types.head import TypeHead
from aegir.pipeline.custom_types.store import CustomType
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KIND_NAMES
from command_line import Finished
from taught_types import random_evidence


def run(*arguments: str) -> Finished:
    return command_line.run("types", *arguments)


def listed(*arguments: str) -> list[dict[str, Any]]:
    result = run("list", "--json", *arguments)
    assert result.code == 0
    return [json.loads(line) for line in result.out.splitlines()]


def test_list_shows_the_tree_with_definitions():
    result = run("list")
    assert result.code == 0
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines if line[0] != " "] == list(KIND_NAMES)
    money = lines.index(next(line for line in lines if line.startswith("money ")))
    names = [line for line in lines[money:] if line.strip().split("  ")[0].isidentifier()]
    assert names[1].startswith("  MonetaryAmount  ")
    assert names[2].startswith("    pay_rate  ")
    assert max(len(line) for line in lines) <= 120


def test_list_as_json_is_one_object_per_line_from_the_top_down():
    entries = listed()
    assert len(entries) == 12 + 82 + len(FINE_TYPES)
    by_name = {str(each["name"]): each for each in entries if each["level"] != "kind"}
    assert by_name["Book/name"]["path"] == ["Thing", "CreativeWork", "Book", "name"]
    assert set(by_name["Book/name"]) == {
        *("name", "level", "kind", "definition", "tree", "example", "iri", "path"),
        *("personal", "personal_level"),
    }
    assert by_name["salary"]["tree"] == ["money", "MonetaryAmount", "salary"]
    assert by_name["salary"]["types"] == ["MonetaryAmount", "Number"]
    assert by_name["salary"]["personal_level"] == "indirect"
    seen: set[tuple[str, ...]] = {()}
    for each in entries:
        place = tuple(each["tree"])
        assert place[:-1] in seen
        seen.add(place)


def test_list_can_turn_to_one_level_or_several():
    assert [each["name"] for each in listed("--kinds")] == list(KIND_NAMES)
    assert {str(each["name"]) for each in listed("--types")} == set(COLUMN_TYPES)
    assert not run("list", "--types").out.startswith(" ")
    assert len(listed("--relations")) == 108
    assert len(listed("--fine")) == len(FINE_TYPES)
    assert len(listed("--fine", "--relations")) == len(FINE_TYPES) + 108
    assert listed("--relations")[0]["domain"] == ["Movie", "TVEpisode", "CreativeWork"]


def test_list_can_be_narrowed_to_personal_data_and_to_a_class():
    assert {each["name"] for each in listed("--types", "--personal")} == {
        name for name, each in COLUMN_TYPES.items() if each.personal
    }
    lodging = {each["name"] for each in listed("--under", "LodgingBusiness")}
    assert lodging == {"Hotel/description", "Hotel/name"}
    assert {each["name"] for each in listed("--relations", "--under", "LodgingBusiness")} == {
        "checkInTime",
        "checkoutTime",
    }


def test_list_can_be_narrowed_to_a_kind_and_to_a_column_type():
    money = listed("--under", "money")
    assert money[0]["level"] == "kind"
    assert {each["name"] for each in money[1:]} == {
        name for name, each in {**COLUMN_TYPES, **FINE_TYPES}.items() if each.kind == "money"
    }
    assert [each["name"] for each in listed("--under", "DateTime")] == [
        *("DateTime", "datetime", "iso_datetime", "unix_timestamp")
    ]


def test_show_explains_one_name():
    result = run("show", "openingHours")
    assert result.code == 0
    assert result.out.startswith("openingHours  (column type)\n  When a place serves visitors")
    assert "  tree       time > openingHours\n" in result.out
    assert "  finer      opening_hours\n" in result.out
    assert "  filed at   Thing > Place > openingHours\n" in result.out
    assert "  iri        https://schema.org/openingHours\n" in result.out
    assert "openingHours  (relation)\n" in result.out


def test_show_tells_what_a_fine_type_goes_with_and_how_personal_it_is():
    assert "  goes with  CategoryCode, none of the column types\n" in run("show", "status").out
    assert "  personal   likely: identifies a person (direct)" in run("show", "person_id").out
    assert "  personal   in rows about persons: where someone lives" in run("show", "city").out
    assert "  personal   no\n" in run("show", "unit_name").out


def test_show_as_json_gives_every_meaning_of_the_name():
    def levels(name: str) -> list[str]:
        return [json.loads(each)["level"] for each in run("show", name, "--json").out.splitlines()]

    assert levels("price") == ["column type", "relation"]
    assert levels("category") == ["column type", "relation", "kind"]
    assert levels("brand") == ["fine type", "relation"]


def test_a_name_of_an_earlier_version_is_refused_with_the_name_of_today():
    result = run("show", "quantity")
    assert result.code == 2
    assert "unknown name 'quantity'; it is called 'count' now" in result.err


@pytest.mark.parametrize("arguments", [("show", "opningHours"), ("list", "--under", "Plcae")])
def test_an_unknown_name_is_refused_with_a_suggestion(arguments: tuple[str, ...]):
    result = run(*arguments)
    assert result.code == 2
    assert "did you mean" in result.err


def taught(**fields: object) -> CustomType:
    head = TypeHead(random_evidence(0), np.ones(4), 0.0, 1.0)
    given: dict[str, object] = {"name": "Ward/bed", "head": head, "fingerprint": "", "columns": 1}
    given |= {"examples": ("wards.csv:bed",), "counter_examples": ()}
    return CustomType(**{**given, **fields})


def test_taught_types_hang_below_their_kind():
    with patch("aegir.cli.types.load_types", return_value=[taught(kind="place")]):
        places = listed("--under", "place")
        assert places[-1]["name"] == "Ward/bed"
        assert places[-1]["tree"] == ["place", "Ward/bed"]
        assert places[-1]["level"] == "custom type"
        assert [each["name"] for each in listed("--custom")] == ["Ward/bed"]
        assert "\n  Ward/bed  " in run("list", "--under", "place").out
        assert "wkt_geometry" not in run("list", "--custom").out
        assert "Ward/bed" in run("show", "place").out
        assert "  tree       place > Ward/bed\n" in run("show", "Ward/bed").out


def test_taught_types_are_shown_without_obeying_what_their_files_hold():
    odd = "Bed\x1b[31m\nPrice\x9b"
    places = ("wards.csv:\x1b[2J",)
    about = "A \x1b]0;title\x07 bed."
    one = taught(name=odd, fingerprint="\x1b[0m", examples=places, about=about)
    with patch("aegir.cli.types.load_types", return_value=[one]):
        for arguments in (("list",), ("list", "--json"), ("show", odd), ("show", odd, "--json")):
            done = run(*arguments)
            assert done.code == 0
            assert "Bed" in done.out
            assert not {"\x1b", "\x07", "\x9b"} & set(done.out)
            assert "\nPrice" not in done.out
