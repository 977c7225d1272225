"""Reasons in sentences: said once, and about the file, not about Python."""

import json
from pathlib import Path

import pytest

from aegir_rl.base.errors import reason_of


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
