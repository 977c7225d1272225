"""The configuration of training: the files that ship can be read, and what cannot work is refused before it starts."""

import json
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from aegir.lab.byte_network.config import ByteTraining, read_byte_training
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import settings_from

ROOT = Path(__file__).parents[4]
CONFIGS = sorted(
    path for path in (ROOT / "configs").glob("*.toml") if not path.name.startswith(("parl", "ppo"))
)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_configuration_of_the_byte_network_can_be_read(path: Path) -> None:
    config = read_byte_training(path)
    assert config.supervised.tables_per_step


def test_tiny_learns_from_tables_the_project_makes_up_itself() -> None:
    tiny = read_byte_training(next(path for path in CONFIGS if path.name == "tiny.toml"))
    assert tiny.data.folders == ()
    assert set(tiny.data.sources) == {"synthetic"}


def test_steps_of_one_phase_can_be_replaced() -> None:
    config = ByteTraining().with_steps("pretrain", 7)
    assert (config.pretrain.steps, config.supervised.steps) == (7, 1000)
    assert config.phase("supervised") is config.supervised


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"supervised": {"steps": 0}}, "steps is 0; expected a number at least 1 ([supervised] of"),
        ({"supervised": {"learning_rate": -1.0}}, "learning_rate is -1.0; expected a number above"),
        ({"supervised": {"learning_rate": float("inf")}}, "learning_rate is inf; expected"),
        (
            {"pretrain": {"warm_up": 2.0}},
            "warm_up is 2.0; expected a number at least 0 and at most",
        ),
        ({"supervised": {"clip": 0.0}}, "clip is 0.0; expected a number above 0"),
        ({"supervised": {"tables_per_step": {"a": -1}}}, "tables_per_step of 'a' is -1; expected"),
        ({"supervised": {"tables_per_step": {"a": True}}}, "tables_per_step of 'a' is True"),
        (
            {"supervised": {"loss": {"dropout": 1.0}}},
            "dropout is 1.0; expected a number at least 0",
        ),
        ({"supervised": {"loss": {"chunk_symbols": 1.0}}}, "chunk_symbols is 1.0; expected"),
        ({"supervised": {"loss": {"ratio": -0.1}}}, "ratio is -0.1; expected a number at least 0"),
        ({"supervised": {"augmentation": {"cut_cells": 1.5}}}, "cut_cells is 1.5; expected"),
        ({"supervised": {"augmentation": {"most_rows": 0}}}, "most_rows is 0; expected"),
        ({"threads": -1}, "threads is -1; expected a number at least 0 (c.toml)"),
        ({"data": {"folders": [3]}}, "folders name 3; expected the path of a folder ([data] of"),
        ({"data": {"sources": {"gold": "yes"}}}, "source 'gold' is 'yes'; expected true, false"),
        ({"data": {"sources": {"gold": -4}}}, "source 'gold' is -4; expected"),
        (
            {"curriculum": {"strategy": "easy-first"}},
            "strategy is 'easy-first'; expected one of off, uniform, competence, learning-progress",
        ),
        ({"curriculum": {"exploration": 2.0}}, "exploration is 2.0; expected a number at least 0"),
        ({"architecture": {"widths": [48]}}, "layout ['w1', ['w2'], 'w0'] has 2 levels but there"),
        ({"architecture": {"layout": ["x"]}}, "layout ['x'] has 1 levels but there are 2 widths"),
        ({"architecture": {"reading": {"cells": 0}}}, "cells is 0; expected a whole number from 1"),
    ],
)
def test_what_cannot_work_is_refused_before_it_starts(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        settings_from(given, ByteTraining(), "c.toml")
    assert str(refused.value).startswith(sentence)


def settings(given: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Name and default of every setting, as the page spells them; both phases are PHASE."""
    for one in fields(given):
        name = "PHASE" if one.name in ("pretrain", "supervised") else one.name
        value = getattr(given, one.name)
        if is_dataclass(value):
            yield from settings(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", json.dumps(value)


def test_the_page_lists_every_setting_with_its_default() -> None:
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Za-z_.]+)` \| (.+?) \| .+ \|$", page.split("## Settings")[1], re.M)
    assert rows == list(dict.fromkeys(settings(ByteTraining())))
