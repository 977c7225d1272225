"""Plots of PARL's evidence are drawn from what runs recorded."""

from pathlib import Path

import pytest

from aegir.lab.figures.parl_metrics import ComparedVariant, save_plots
from aegir_rl.base.errors import UsageError


def comparison(name: str, work: float) -> ComparedVariant:
    mean = {"time/total_work": work, "time/critical_path": work / 2, "web/f1": 0.8}
    return ComparedVariant(name, (0,), mean, {}, {"Date": {"time": 0.9, "names": 0.1}})


def test_every_plot_shows_what_was_recorded(tmp_path: Path):
    rows = [comparison("parl", 2.0), comparison("random", 3.0)]
    files = save_plots(tmp_path / "plots", rows)
    texts = {file.stem: file.read_text() for file in files}
    assert sorted(texts) == ["activation", "cost", "critical_path"]
    assert "<title>Date: 0.90</title>" in texts["activation"]
    assert all(name in texts["cost"] for name in ("parl", "random"))


def test_without_a_learnt_run_there_is_nothing_to_draw(tmp_path: Path):
    with pytest.raises(UsageError, match="variant 'parl'"):
        save_plots(tmp_path, [comparison("random", 1.0)])
