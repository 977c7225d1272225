"""Settings files: what they leave out keeps its default, and what they get wrong is said with its place."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import check_numbers, read_settings, settings_from


@dataclass(frozen=True)
class Engine:
    power: float = 1.5
    gears: int = 4

    def __post_init__(self) -> None:
        check_numbers(self, "gears", at_least=1, at_most=9)
        check_numbers(self, "power", above=0, below=10)


@dataclass(frozen=True)
class Car:
    name: str = "none"
    fast: bool = False
    seats: tuple[int, ...] = (2, 3)
    engine: Engine = field(default_factory=Engine)
    extras: Mapping[str, Any] = field(default_factory=dict)


def test_what_a_file_leaves_out_keeps_its_default(tmp_path: Path) -> None:
    path = tmp_path / "car.toml"
    path.write_text('name = "Elin"\nseats = [1]\n[engine]\ngears = 6\n[extras]\nradio = 2\n')
    assert read_settings(path, Car()) == Car("Elin", False, (1,), Engine(1.5, 6), {"radio": 2})


def test_a_whole_number_is_a_number_and_becomes_one() -> None:
    power = settings_from({"engine": {"power": 2}}, Car(), "f").engine.power
    assert power == 2.0
    assert isinstance(power, float)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"nme": "x"}, "unknown key 'nme' in car.toml; did you mean 'name'?"),
        ({"zzz": 1}, "unknown key 'zzz' in car.toml; there are name, fast, seats, engine, extras"),
        (
            {"engine": {"gear": 1}},
            "unknown key 'gear' in [engine] of car.toml; did you mean 'gears'?",
        ),
        ({"name": 3}, "'name' in car.toml is 3; expected text"),
        ({"fast": 1}, "'fast' in car.toml is 1; expected true or false"),
        ({"seats": 2}, "'seats' in car.toml is 2; expected a list"),
        ({"engine": 5}, "'engine' in car.toml is 5; expected a section [engine]"),
        ({"extras": []}, "'extras' in car.toml is []; expected a section [extras]"),
        (
            {"engine": {"gears": 2.5}},
            "'gears' in [engine] of car.toml is 2.5; expected a whole number",
        ),
        ({"engine": {"gears": True}}, "'gears' in [engine] of car.toml is True; expected a whole"),
        ({"engine": {"power": "x"}}, "'power' in [engine] of car.toml is 'x'; expected a number"),
        (
            {"engine": {"gears": 12}},
            "gears is 12; expected a number at least 1 and at most 9 ([engine] of car.toml)",
        ),
        ({"engine": {"power": 0}}, "power is 0.0; expected a number above 0 and below 10"),
        ({"engine": {"power": math.nan}}, "power is nan; expected a number above 0"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        settings_from(given, Car(), "car.toml")
    assert str(refused.value).startswith(sentence)


def test_files_that_are_missing_or_no_toml_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*no\.toml: No such file"):
        read_settings(tmp_path / "no.toml", Car())
    for content in (b"name = ", b"\xff\xfe"):
        (tmp_path / "bad.toml").write_bytes(content)
        with pytest.raises(UsageError, match=r"bad\.toml is no TOML file: "):
            read_settings(tmp_path / "bad.toml", Car())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = " + "[" * 3000, "nested too deep"),
        ("name = " + "{a=" * 3000, "nested too deep"),
        ("name = " + "9" * 5000, "is no TOML file"),
        (f"[engine]\npower = {'9' * 400}", "expected a number from"),
        (f"[engine]\ngears = {'9' * 400}", "expected a number from"),
    ],
)
def test_deep_files_and_endless_numbers_are_one_sentence(
    tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "bomb.toml").write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_settings(tmp_path / "bomb.toml", Car())


def test_a_file_begins_with_the_settings_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "plain.toml").write_text('name = "Elin"\n[engine]\npower = 3\ngears = 6\n')
    (tmp_path / "fast.toml").write_text(
        'base = "plain.toml"\nfast = true\n[engine]\npower = 9\n[extras]\nradio = 2\n'
    )
    found = read_settings(tmp_path / "fast.toml", Car())
    assert found == Car("Elin", True, (2, 3), Engine(9.0, 6), {"radio": 2})


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        ("3", "'base' in .*car.toml is 3; expected the name of a TOML file"),
        ('"no.toml"', "cannot read .*no.toml: No such file"),
        ('"car.toml"', "car.toml is a base of itself, or one of more than 16"),
        (r'"\u0000"', "'base' in .*car.toml is '.x00'; expected the name"),
    ],
)
def test_a_base_that_cannot_be_used_is_named(tmp_path: Path, base: str, sentence: str) -> None:
    (tmp_path / "car.toml").write_text(f"base = {base}\n")
    with pytest.raises(UsageError, match=sentence):
        read_settings(tmp_path / "car.toml", Car())
