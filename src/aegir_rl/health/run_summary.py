"""Everything about a run that can be shown: its curves, checks on held-out tables, heat maps, settings, health.

    read_run(RunFolder("runs/tiny"))  ->  RunSummary  ->  run_page.py, or `as_dict` for programs

A curve is what was recorded under one name: a number per step, or a list of numbers per step, which become several lines.
Text and booleans are no curves; their last values are listed. What cannot be read is skipped with a note.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.base.run_folder import CONFIG, ENVIRONMENT, RunFolder, RunHistory
from aegir_rl.health.report import HealthReport, as_float
from aegir_rl.health.run_health import ALWAYS, check_run
from aegir_rl.observe.heat_map import HeatMap, load_heat_maps

CHECKS = "held_out/"
"""A step that recorded a metric of this prefix is a check on held-out tables."""
MOST_LINES = 8
"""Lists of up to so many numbers become a line per place; longer ones become their least, mean and most."""
LARGEST = 1e150
"""Numbers beyond this are drawn and summarised as not finite: no axis can show them."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What was recorded under one name."""

    name: str
    lines: Mapping[str, tuple[Floats, Floats]]
    """Steps and values of each line; a curve of single numbers has one."""

    @property
    def group(self) -> str:
        """The first part of a name of several parts, such as `cta` of `cta/loss`; else nothing."""
        return self.name.partition("/")[0] if "/" in self.name else ""

    def figures(self) -> dict[str, Any]:
        """Count, last value and range, of all lines together; None where nothing is finite."""
        steps = np.concatenate([steps for steps, _ in self.lines.values()])
        values = np.concatenate([values for _, values in self.lines.values()])
        finite = values[np.isfinite(values)]
        last = {name: _plain(ys[-1]) for name, (_, ys) in self.lines.items()}
        return {
            "count": max(len(ys) for _, ys in self.lines.values()),
            "last_step": int(steps.max()),
            "last": next(iter(last.values())) if len(last) == 1 else last,
            "least": _plain(finite.min()) if len(finite) else None,
            "most": _plain(finite.max()) if len(finite) else None,
            "not_finite": len(values) - len(finite),
        }


@dataclass(frozen=True, slots=True)
class HeldOutCheck:
    """The metrics of one check on held-out tables."""

    step: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class RunSummary:
    """A run as it can be shown."""

    name: str
    steps: int
    """Recorded steps."""
    last_step: int | None
    seconds: float | None
    """Between the first recorded step and the last."""
    curves: tuple[Curve, ...]
    texts: Mapping[str, str]
    """The last value of what is no number."""
    checks: tuple[HeldOutCheck, ...]
    heat_maps: tuple[HeatMap, ...]
    config: str | None
    environment: Mapping[str, Any]
    health: HealthReport
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """One JSON-ready object, with the metrics of each curve instead of its points."""
        return {
            "run": self.name,
            "steps": self.steps,
            "last_step": self.last_step,
            "seconds": self.seconds,
            "metrics": {curve.name: curve.figures() for curve in self.curves},
            "texts": dict(self.texts),
            "checks": [
                {"step": each.step, **{name: _plain(x) for name, x in each.figures.items()}}
                for each in self.checks
            ],
            "heat_maps": [each.name for each in self.heat_maps],
            "environment": dict(self.environment),
            "health": self.health.as_dict(),
            "notes": list(self.notes),
        }


def read_run(folder: RunFolder) -> RunSummary:
    """Read all that a run folder holds; raise UsageError if it has no metrics file at all."""
    history = folder.history()
    heat_maps, skipped = load_heat_maps(folder.path)
    environment, unread = _read_environment(folder)
    curves, texts = read_curves(history)
    times = [row["time"] for row in history.steps if isinstance(row.get("time"), int | float)]
    return RunSummary(
        name=folder.path.resolve().name or str(folder.path),
        steps=len(history.steps),
        last_step=max((row["step"] for row in history.steps), default=None),
        seconds=round(times[-1] - times[0], 3) if times and math.isfinite(times[-1]) else None,
        curves=curves,
        texts=texts,
        checks=read_checks(history),
        heat_maps=tuple(heat_maps),
        config=_read_text(folder, CONFIG),
        environment=environment,
        health=check_run(history),
        notes=(*history.notes, *skipped, *unread),
    )


def read_curves(history: RunHistory) -> tuple[tuple[Curve, ...], dict[str, str]]:
    """Return the curves by name, in the order of their first steps, and the last value of what is no number."""
    names = dict.fromkeys(name for row in history.steps for name in row if name not in ALWAYS)
    curves, texts = [], {}
    for name in names:
        rows = [row for row in history.steps if name in row]
        values = [row[name] for row in rows]
        if {*map(type, values)} <= {
            int,
            float,
        }:  # nearly always so; a list per number would take ten times as long
            steps = np.array([row["step"] for row in rows], np.float64)
            curves.append(Curve(name, {name: (steps, _drawable(values))}))
            continue
        points = [
            (row["step"], numbers)
            for row, value in zip(rows, values, strict=True)
            if (numbers := _numbers(value))
        ]
        if points:
            curves.append(Curve(name, _lines(name, points)))
        if others := [value for value in values if _numbers(value) is None]:
            texts[name] = others[-1] if isinstance(others[-1], str) else json.dumps(others[-1])
    return tuple(curves), texts


def read_checks(history: RunHistory) -> tuple[HeldOutCheck, ...]:
    """Return the checks on held-out tables, the earliest first."""
    return tuple(
        HeldOutCheck(
            row["step"],
            {
                name: numbers[0]
                for name, value in row.items()
                if name not in ALWAYS and (numbers := _numbers(value)) and len(numbers) == 1
            },
        )
        for row in history.steps
        if any(name.startswith(CHECKS) for name in row)
    )


def _numbers(value: Any) -> list[float] | None:
    """Return a number, or a list of numbers, as a list; None for anything else."""
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in parts):
        return None
    return [as_float(part) for part in parts]


def _drawable(values: Sequence[float]) -> Floats:
    """Return the values as an array; those beyond LARGEST are infinite."""
    array = np.array([*map(as_float, values)], np.float64)
    array[np.abs(array) > LARGEST] = np.inf
    return array


def _lines(name: str, rows: list[tuple[int, list[float]]]) -> dict[str, tuple[Floats, Floats]]:
    """Return one line for single numbers, one per place for short lists, least, mean and most for long ones."""
    widest = max(len(numbers) for _, numbers in rows)
    steps = np.array([step for step, _ in rows], np.float64)
    if widest == 1:
        return {name: (steps, _drawable([numbers[0] for _, numbers in rows]))}
    if widest > MOST_LINES:
        lists = [numbers for _, numbers in rows]
        return {
            "least": (steps, _drawable([min(numbers) for numbers in lists])),
            "mean": (steps, _drawable([sum(numbers) / len(numbers) for numbers in lists])),
            "most": (steps, _drawable([max(numbers) for numbers in lists])),
        }
    return {
        str(index): (
            np.array([step for step, numbers in rows if len(numbers) > index], np.float64),
            _drawable([numbers[index] for _, numbers in rows if len(numbers) > index]),
        )
        for index in range(widest)
    }


def _read_text(folder: RunFolder, name: str) -> str | None:
    try:
        return (folder.path / name).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _read_environment(folder: RunFolder) -> tuple[dict[str, Any], list[str]]:
    text = _read_text(folder, ENVIRONMENT)
    if text is None:
        return {}, []
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return {}, [f"{ENVIRONMENT} was skipped: it holds no JSON object"]
    return given, []


def _plain(value: float) -> float | str:
    """A number that strict JSON can hold; what is not finite as text."""
    number = float(value)
    return number if math.isfinite(number) else str(number)
