"""The sweeps behind the plots, and that the plots of the docs are current."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from aegir_rl.rewards.sweeps import reward_sweeps

ROOT = Path(__file__).parents[4]


def ends(name: str, line: str) -> tuple[float, float]:
    (sweep,) = (sweep for sweep in reward_sweeps() if sweep.name == name)
    values = sweep.lines[line][1]
    return pytest.approx(values[0]), pytest.approx(values[-1])


def test_the_sweeps_end_where_the_formulas_say():
    assert ends("r_perf", "micro") == (0.0, 1.0)
    assert ends("r_parallel_use", "four specialists in turn") == (0.0, 1.0)
    assert ends("r_parallel_use", "always the same one") == (0.0, 1 / 1.5)
    assert ends("r_parallel_use", "in turn, none helps") == (0.0, -0.1 / 4 / 1.5)
    # One of four helps: a quarter of the activations, three of four specialists wasted.
    assert ends("r_parallel_use", "all four on, one of them helps") == (
        0.0,
        (0.5 + 0.25 - 0.1 * 0.75) / 1.5,
    )
    assert ends("r_finish_coverage", "varied routing") == (0.0, 1.0)
    assert ends("r_finish_routing", "always off") == (1.0, 0.5)


def test_the_plots_of_the_docs_are_current(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT)
    expected = dict(import_module("benchmarks.plot_rewards").plots())
    folder = ROOT / "docs" / "plots"
    assert {name: (folder / name).read_text(encoding="utf-8") for name in expected} == expected, (
        "draw them again with: python -m benchmarks.plot_rewards"
    )


def test_the_page_shows_every_plot():
    page = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    for sweep in reward_sweeps():
        assert f"(plots/{sweep.name}.svg)" in page


def test_the_code_on_the_page_runs_and_gives_what_it_says():
    page = (ROOT / "docs" / "rewards.md").read_text(encoding="utf-8")
    _, first, second = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(first, names)
    assert names["breakdown"].total.shape == (64,)
    exec(second, names)
    found = names["found"]
    assert (found.length, found.total_work, found.slack["b"]) == (6, 8, 2)
    assert found.path == ("plan", "a", "merge")
