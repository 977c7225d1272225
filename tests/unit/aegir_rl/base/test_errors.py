"""What kinds of errors there are, and their reasons in sentences: about the file, not about Python."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import (
    LONGEST_SENTENCE,
    AegirError,
    UnreadableTable,
    UsageError,
    reason_of,
)
from aegir_rl.base.text import parse_json
from aegir_rl.observe.heat_map import load_heat_maps
from aegir_rl.rl import compute_gae

SOURCE = Path(__file__).parents[4] / "src"


def test_a_wrong_argument_is_a_value_error_and_an_error_of_the_command_line():
    with pytest.raises(ValueError, match="discount") as caught:
        compute_gae(np.zeros((1, 2)), np.zeros((1, 2)), discount=99)
    assert isinstance(caught.value, AegirError)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("kind", [AegirError, UsageError, UnreadableTable])
def test_a_sentence_is_printable_and_short_whatever_stands_in_it(kind: type[AegirError]):
    assert str(kind("don't know what type: \x0f\n\x1b[31m\ud800")) == (
        r"don't know what type: \x0f\n\x1b[31m\ud800"
    )
    for sign in ("a", "\x1b", "\ud800"):
        sentence = str(kind(f"x is {sign * 100_000}; expected a number"))
        assert sentence.isprintable()
        assert len(sentence) <= LONGEST_SENTENCE
        assert sentence.startswith("x is ")
        assert sentence.endswith("; expected a number")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 400, "9" * 5000, "{", ""])
def test_json_that_others_wrote_is_a_value_or_a_value_error(text: str):
    assert parse_json('{"state": 340282366920938463463374607431768211455}')["state"] == 2**128 - 1
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def _named(handler: ast.ExceptHandler) -> set[str]:
    return {each.id for each in ast.walk(handler.type or ast.Pass()) if isinstance(each, ast.Name)}


def _hides_a_sentence(block: ast.Try) -> bool:
    """Whether a UsageError that the block raises itself would be caught as a ValueError."""
    raises = any(
        isinstance(each, ast.Raise) and "UsageError" in ast.unparse(each)
        for statement in block.body
        for each in ast.walk(statement)
    )
    for handler in block.handlers:
        if _named(handler) & {"UsageError", "AegirError"}:
            return False
        if "ValueError" in _named(handler):
            return raises
    return False


def test_no_handler_of_value_errors_hides_a_usage_error_raised_inside_it():
    hidden = [
        f"{path.relative_to(SOURCE)}:{block.lineno}"
        for path in SOURCE.rglob("*.py")
        for block in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(block, ast.Try) and _hides_a_sentence(block)
    ]
    assert not hidden


def test_a_heat_map_of_the_wrong_shape_keeps_its_own_sentence(tmp_path: Path):
    (tmp_path / "heat_map-a.json").write_text('{"rows": ["x"], "columns": ["y"], "values": []}')
    found, notes = load_heat_maps(tmp_path)
    assert not found
    assert "has 0 rows" in notes[0]
    assert "holds no heat map" not in notes[0]


def test_the_reason_of_a_missing_file_does_not_name_it_again(tmp_path: Path):
    with pytest.raises(FileNotFoundError) as caught:
        (tmp_path / "nowhere").read_bytes()
    assert reason_of(caught.value) == "No such file or directory"


def test_the_reason_of_deep_json_is_its_depth():
    with pytest.raises(RecursionError) as caught:
        json.loads("[" * 100_000)
    assert reason_of(caught.value) == "it is nested too deep"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("it ends early."), "it ends early"),
        (KeyError(), "KeyError"),
        (OSError("x"), "x"),
    ],
)
def test_other_reasons_are_the_text_of_the_error_or_its_name(error: Exception, reason: str):
    assert reason_of(error) == reason
