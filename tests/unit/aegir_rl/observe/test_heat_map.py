"""Heat maps as files of a run."""

import math
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.heat_map import HeatMap, load_heat_maps, save_heat_map


def test_a_saved_heat_map_is_read_back(tmp_path: Path):
    heat = HeatMap.of("a.b-1", ["r"], ["x", "y"], np.array([[0.25, -2.0]]), "a title")
    assert save_heat_map(tmp_path, heat) == tmp_path / "heat_map-a.b-1.json"
    assert load_heat_maps(tmp_path) == ([heat], [])


def test_what_is_missing_or_not_finite_is_nan(tmp_path: Path):
    save_heat_map(tmp_path, HeatMap.of("h", ["r"], ["x", "y", "z"], [[None, math.inf, 1]]))
    assert "[null, null, 1.0]" in (tmp_path / "heat_map-h.json").read_text()
    ((heat,), _) = load_heat_maps(tmp_path)
    assert [math.isnan(value) for value in heat.values[0]] == [True, True, False]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"rows": []}', '{"rows": 1, "columns": [], "values": []}', "[" * 9999]
)
def test_files_that_hold_no_heat_map_are_skipped_with_a_note(tmp_path: Path, content: str):
    (tmp_path / "heat_map-odd.json").write_text(content)
    found, notes = load_heat_maps(tmp_path)
    assert found == []
    assert len(notes) == 1
    assert notes[0].startswith("heat_map-odd.json was skipped: it holds no heat map (")


def test_names_and_shapes_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match=r"'\.\./x' cannot be the name of a heat map"):
        HeatMap.of("../x", [], [], [])
    with pytest.raises(UsageError, match=r"has 1 rows of \[1\] values; expected 1 rows of 2"):
        HeatMap.of("h", ["r"], ["x", "y"], [[1]])
