"""`aegir types`: what is listed, what is shown, what is refused."""

import json
from unittest.mock import patch

import numpy as np
import pytest

import command_line
from aegir.annotators.custom_types.head import Head
from aegir.annotators.custom_types.store import CustomType
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES
from command_line import Finished


def run(*arguments: str) -> Finished:
    return command_line.run("types", *arguments)


def listed(*arguments: str) -> list[dict[str, object]]:
    result = run("list", "--json", *arguments)
    assert result.code == 0
    return [json.loads(line) for line in result.out.splitlines()]


def test_list_shows_every_type_once_with_a_definition():
    result = run("list")
    assert result.code == 0
    names = [line.split()[0] for line in result.out.splitlines() if not line.startswith(" ")]
    assert len(names) == 82
    assert names[1] == "Book/name"
    assert max(len(line) for line in result.out.splitlines()) <= 120


def test_list_as_json_is_one_object_per_line():
    types = listed()
    assert len(types) == 82
    assert types[1]["path"] == ["Thing", "CreativeWork", "Book", "name"]
    assert set(types[1]) == {"name", "kind", "definition", "example", "iri", "path", "personal"}


def test_list_can_turn_to_relations_and_fine_types():
    assert len(listed("--relations")) == 108
    assert len(listed("--fine")) == len(FINE_TYPES)
    assert len(listed("--fine", "--relations")) == len(FINE_TYPES) + 108
    assert listed("--relations")[0]["domain"] == ["Movie", "TVEpisode", "CreativeWork"]


def test_list_can_be_narrowed_to_personal_data_and_to_a_class():
    assert [each["name"] for each in listed("--personal")] == [
        name for name, each in COLUMN_TYPES.items() if each.personal
    ]
    lodging = {each["name"] for each in listed("--under", "LodgingBusiness")}
    assert lodging == {"Hotel/description", "Hotel/name"}
    assert {each["name"] for each in listed("--relations", "--under", "LodgingBusiness")} == {
        "checkInTime",
        "checkoutTime",
    }


def test_show_explains_one_name():
    result = run("show", "openingHours")
    assert result.code == 0
    assert result.out.startswith("openingHours  (column type)\n  When a place serves visitors")
    assert "  filed at   Thing > Place > openingHours\n" in result.out
    assert "  iri        https://schema.org/openingHours\n" in result.out
    assert "openingHours  (relation)\n" in result.out


def test_show_as_json_gives_every_meaning_of_the_name():
    kinds = [json.loads(line)["kind"] for line in run("show", "price", "--json").out.splitlines()]
    assert kinds[0] == "column type"
    assert kinds[-1] == "relation"


@pytest.mark.parametrize("arguments", [("show", "opningHours"), ("list", "--under", "Plcae")])
def test_an_unknown_name_is_refused_with_a_suggestion(arguments: tuple[str, ...]):
    result = run(*arguments)
    assert result.code == 2
    assert "did you mean" in result.err


def test_taught_types_are_shown_without_obeying_what_their_files_hold():
    odd = "Bed\x1b[31m\nPrice\x9b"
    one = CustomType(
        name=odd,
        head=Head(np.zeros(2), np.ones(2), np.zeros(2), 0.0, 1.0),
        fingerprint="\x1b[0m",
        examples=("wards.csv:\x1b[2J",),
        counter_examples=(),
        columns=1,
        about="A \x1b]0;title\x07 bed.",
    )
    with patch("aegir.cli.types.load_types", return_value=[one]):
        for arguments in (("list",), ("list", "--json"), ("show", odd), ("show", odd, "--json")):
            done = run(*arguments)
            assert done.code == 0
            assert "Bed" in done.out
            assert not {"\x1b", "\x07", "\x9b"} & set(done.out)
            assert "\nPrice" not in done.out
