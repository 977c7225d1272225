"""Dataclasses as JSON and back, without loss."""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.base.errors import AegirError, CheckFailed, UnreadableTable, UsageError
from aegir_rl.processes.plain import error_as_plain, error_from_plain, from_plain, to_json


class Colour(StrEnum):
    RED = "red"


class Pair(NamedTuple):
    name: str
    parts: tuple[tuple[str, float], ...]


NOTHING = Pair("", ())


@dataclass(frozen=True, slots=True)
class Inner:
    value: float
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(repr(self.value)))


@dataclass(frozen=True, slots=True)
class Outer:
    name: str | int | None
    inner: Inner | None
    many: tuple[Inner, ...] = ()
    pair: Pair = NOTHING
    colour: Colour = Colour.RED
    kind: type[AegirError] = AegirError
    facts: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Secretive:
    """Says itself what is sent."""

    name: str
    key: str = "none"

    def as_dict(self) -> dict[str, str]:
        return {"called": self.name}

    @classmethod
    def from_dict(cls, values: dict[str, str]) -> "Secretive":
        return cls(values["called"])


def there_and_back(value: Outer) -> Outer:
    return from_plain(Outer, json.loads(to_json(value)))


@given(
    name=st.none() | st.integers() | st.text(),
    value=st.none() | st.floats(allow_nan=False),
    many=st.lists(st.floats(allow_nan=False), max_size=3),
)
def test_every_field_arrives_as_it_was_sent(
    name: str | int | None, value: float | None, many: list[float]
):
    sent = Outer(name, None if value is None else Inner(value), tuple(map(Inner, many)))
    assert there_and_back(sent) == sent


def test_nested_tuples_enumerations_classes_and_dictionaries_arrive():
    sent = Outer(
        "caf\udce9",  # a file name that is not UTF-8
        None,
        pair=Pair("p", (("a", 0.1 + 0.2), ("b", 5e-324))),
        kind=UnreadableTable,
        facts={"a": [1, 2]},
    )
    received = there_and_back(sent)
    assert received == sent
    assert type(received.pair) is Pair
    assert received.colour is Colour.RED


def test_fields_that_are_not_sent_keep_their_defaults():
    assert from_plain(Outer, {"name": "x", "inner": None}) == Outer("x", None)
    with pytest.raises(TypeError, match="unexpected keyword"):
        from_plain(Outer, {"name": "x", "inner": None, "other": 1})


@pytest.mark.parametrize("kind", [AegirError, UsageError, UnreadableTable, CheckFailed])
def test_an_error_arrives_as_its_class(kind: type[AegirError]):
    received = error_from_plain(json.loads(to_json(error_as_plain(kind("a sentence")))))
    assert type(received) is kind
    assert str(received) == "a sentence"


def test_an_error_of_a_class_that_is_not_loaded_is_an_aegir_error():
    assert type(error_from_plain(["NobodyKnows", "a sentence"])) is AegirError


def test_a_class_may_say_itself_what_is_sent():
    sent = to_json([Secretive("a", key="secret")])
    assert b"secret" not in sent
    assert from_plain(tuple[Secretive, ...], json.loads(sent)) == (Secretive("a"),)
