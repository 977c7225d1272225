"""Small SVG plots for reports and documentation, without a plotting library.

    line_plot("r_parallel", {"useful": (x, y)}, x_label="share on", y_label="reward")
    bar_plot("gradient norm", {"perf": 0.4, "parallel": 0.2})
    interval_plot("value", {"policy": (0.7, 0.8, 0.9), "static": (0.6, 0.7, 0.8)})
    heat_plot("activation", ("price", "Date"), ("time", "money"), [[0.1, 0.9], [0.8, 0.0]])
    write_svgs(folder, {"reward": plot})         # reward.svg
    thin(x, y, places=300)                       # as many points as so many pixels can show, extremes kept

The result is one `<svg>` element as text, for an HTML page or a file of its own. The same numbers give the same text, so
that a test can detect a stale plot. Points that are not finite leave a gap. Not here: logarithmic axes, movable legends,
interaction.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.files import replace_file

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 34, 46
LEGEND_LINE = 18
LEAST_ROOM = 60
"""Pixels between two intervals, at least, so that names and values do not touch."""
CELL_WIDTH, CELL_HEIGHT = 56, 16
"""Of a square of a heat map."""
HALF_DIGIT = 3.2
"""Half of the width of a digit of a label, in pixels."""
# Wong 2011: distinguishable for colour-blind people.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

Points = Sequence[float] | Floats
Series = Mapping[str, tuple[Points, Points]]


def thin(x: npt.ArrayLike, y: npt.ArrayLike, places: int = WIDTH) -> tuple[Floats, Floats]:
    """Return (x, y) with at most five points for each of `places` equal parts of x, so that the line looks the same.

    Of each part the first, the lowest, the highest and the last point stay, and the first that is not finite, so that
    neither a peak nor a gap is lost. Points are sorted by x; those of equal x stay in order.
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    order = np.argsort(xs, kind="stable")
    xs, ys = xs[order], ys[order]
    if len(xs) <= 5 * places:
        return xs, ys
    part = np.minimum((xs - xs[0]) * (places / max(xs[-1] - xs[0], 1e-300)), places - 1).astype(int)
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    stops = np.append(starts[1:], len(xs)) - 1
    finite = np.isfinite(ys)
    kept = [starts, stops]
    for worst, among in ((np.inf, ys), (np.inf, -ys)):
        kept.append(_first_least(np.where(finite, among, worst), starts, stops))
    kept.append(_first_least(np.where(finite, 1.0, 0.0), starts, stops))
    places_kept = np.unique(np.concatenate(kept))
    return xs[places_kept], ys[places_kept]


def _first_least(
    values: Floats, starts: npt.NDArray[np.intp], stops: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Return the place of the least value of each part, the first of equal ones."""
    least = np.repeat(np.minimum.reduceat(values, starts), stops - starts + 1)
    places = np.flatnonzero(values == least)
    return places[np.searchsorted(places, starts)]


def line_plot(
    title: str,
    series: Series,
    *,
    x_label: str = "",
    y_label: str = "",
    dots: bool = False,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> str:
    """Lines (or dots) through (x, y) points, one colour per series, with a legend below if there are several.

    `size` is width and height in pixels.
    """
    frame = _Frame(*size)
    points = {
        name: [(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]
        for name, (xs, ys) in series.items()
    }
    finite = [point for line in points.values() for point in line if _is_finite(point)]
    x_axis = _Axis([x for x, _ in finite], LEFT, frame.right)
    y_axis = _Axis([y for _, y in finite], frame.bottom, TOP)
    drawn = [*frame.labels(title, x_label, y_label), *frame.x_ticks(x_axis), *frame.y_ticks(y_axis)]
    for number, (name, line) in enumerate(points.items()):
        colour = COLOURS[number % len(COLOURS)]
        for run in _runs(line):
            places = [(x_axis.place(x), y_axis.place(y)) for x, y in run]
            if dots or len(places) == 1:
                drawn += [
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places
                ]
            else:
                path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
                drawn.append(
                    f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
                )
        if len(points) > 1:
            drawn += frame.legend_entry(number, name, colour)
    return frame.svg(title, drawn, legend=len(points) if len(points) > 1 else 0)


def bar_plot(title: str, values: Mapping[str, float | None], *, y_label: str = "") -> str:
    """One bar per name, which may have several lines; a missing value (None, nan) is labelled "missing"."""
    finite = [
        float(value) for value in values.values() if value is not None and math.isfinite(value)
    ]
    frame = _Frame(WIDTH, HEIGHT)
    y_axis = _Axis([0.0, *finite], frame.bottom, TOP)
    drawn = [*frame.labels(title, "", y_label), *frame.y_ticks(y_axis)]
    room, zero = (WIDTH - LEFT - RIGHT) / max(len(values), 1), y_axis.place(0.0)
    for number, (name, value) in enumerate(values.items()):
        middle, colour = LEFT + room * (number + 0.5), COLOURS[number % len(COLOURS)]
        drawn += frame.names(middle, name)
        if value is None or not math.isfinite(value):
            drawn.append(_text(middle, zero - 6, "missing"))
            continue
        top, bottom = sorted((y_axis.place(value), zero))
        drawn.append(
            f'<rect x="{middle - room * 0.3:.1f}" y="{top:.1f}" width="{room * 0.6:.1f}" '
            f'height="{bottom - top:.1f}" fill="{colour}"/>'
        )
        drawn.append(_text(middle, top - 5, f"{value:.3g}"))
    return frame.svg(title, drawn)


def interval_plot(
    title: str,
    intervals: Mapping[str, tuple[float, float, float]],
    *,
    y_label: str = "",
    zero: bool = False,
) -> str:
    """A dot with an interval (low, value, high) per name, which may have several lines; `zero` shows 0 as well.

    An end that is not finite is not drawn; neither is a value.
    """
    finite = [end for each in intervals.values() for end in each if math.isfinite(end)]
    frame = _Frame(max(WIDTH, LEFT + RIGHT + LEAST_ROOM * len(intervals)), HEIGHT)
    y_axis = _Axis([*([0.0] if zero else []), *finite], frame.bottom, TOP)
    drawn = [*frame.labels(title, "", y_label), *frame.y_ticks(y_axis)]
    if zero:
        drawn.append(frame.level(y_axis.place(0.0), "#222222"))
    room = (frame.right - LEFT) / max(len(intervals), 1)
    for number, (name, (low, value, high)) in enumerate(intervals.items()):
        middle, colour = LEFT + room * (number + 0.5), COLOURS[number % len(COLOURS)]
        drawn += frame.names(middle, name)
        if math.isfinite(low) and math.isfinite(high):
            bottom, top = y_axis.place(low), y_axis.place(high)
            drawn.append(
                f'<line x1="{middle:.1f}" y1="{bottom:.1f}" x2="{middle:.1f}" y2="{top:.1f}" '
                f'stroke="{colour}" stroke-width="2"/>'
            )
        if math.isfinite(value):
            y = y_axis.place(value)
            drawn.append(f'<circle cx="{middle:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
            drawn.append(_text(middle + 8, y + 4, f"{value:.3g}", anchor="start"))
    return frame.svg(title, drawn)


def heat_plot(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[float]]
) -> str:
    """One square per row and column, white for 0 and blue for 1; a value that is not finite stays grey."""
    left, top = 8 + 7 * max(map(len, rows), default=0), TOP + 24
    frame = _Frame(left + CELL_WIDTH * len(columns) + RIGHT, top + CELL_HEIGHT * len(rows) + 8)
    drawn = [_text(frame.width / 2, 20, title, size=14, weight="bold")]
    for number, name in enumerate(columns):
        drawn.append(_text(left + CELL_WIDTH * (number + 0.5), top - 6, name))
    for place, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = top + CELL_HEIGHT * place
        drawn.append(_text(left - 6, y + CELL_HEIGHT - 5, name, anchor="end"))
        for number, value in enumerate(row):
            known = math.isfinite(value)
            colour = COLOURS[0] if known else "#999999"
            depth = min(max(value, 0.0), 1.0) if known else 0.4
            drawn.append(
                f'<rect x="{left + CELL_WIDTH * number}" y="{y}" width="{CELL_WIDTH - 1}" height="{CELL_HEIGHT - 1}" '
                f'fill="{colour}" fill-opacity="{depth:.2f}"><title>{escape(name)}: {value:.2f}</title></rect>'
            )
    return frame.svg(title, drawn)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What is drawn around the points of a plot of this size."""

    width: int
    height: int

    @property
    def right(self) -> int:
        return self.width - RIGHT

    @property
    def bottom(self) -> int:
        return self.height - BOTTOM

    def labels(self, title: str, x_label: str, y_label: str) -> list[str]:
        middle = (TOP + self.bottom) / 2
        return [
            _text((LEFT + self.right) / 2, 20, title, size=14, weight="bold"),
            _text((LEFT + self.right) / 2, self.height - 10, x_label),
            f'<g transform="rotate(-90 14 {middle:.1f})">{_text(14, middle, y_label)}</g>',
        ]

    def x_ticks(self, axis: "_Axis") -> list[str]:
        """The labels below the axis; a long last one is moved to the left, so that it is not cut."""
        labels = [(axis.place(tick), _number(tick)) for tick in axis.ticks]
        return [
            _text(min(x, self.width - HALF_DIGIT * len(label)), self.bottom + 16, label)
            for x, label in labels
        ]

    def y_ticks(self, axis: "_Axis") -> list[str]:
        drawn = []
        for tick in axis.ticks:
            y = axis.place(tick)
            drawn.append(self.level(y, "#dddddd"))
            drawn.append(_text(LEFT - 6, y + 4, _number(tick), anchor="end"))
        return drawn

    def level(self, y: float, colour: str) -> str:
        """A line across the plot."""
        return f'<line x1="{LEFT}" y1="{y:.1f}" x2="{self.right}" y2="{y:.1f}" stroke="{colour}"/>'

    def names(self, middle: float, name: str) -> list[str]:
        """The lines of a name below the axis."""
        lines = enumerate(name.split("\n"))
        return [_text(middle, self.bottom + 16 + 14 * row, line) for row, line in lines]

    def legend_entry(self, number: int, name: str, colour: str) -> list[str]:
        y = self.height + LEGEND_LINE * (number + 1) - 6
        return [
            f'<line x1="{LEFT + 8}" y1="{y - 4}" x2="{LEFT + 26}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>',
            _text(LEFT + 32, y, name, anchor="start"),
        ]

    def svg(self, title: str, drawn: Sequence[str], legend: int = 0) -> str:
        height = self.height + LEGEND_LINE * legend
        body = "\n".join([f'<rect width="{self.width}" height="{height}" fill="#ffffff"/>', *drawn])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" font-family="sans-serif" role="img" aria-label="{escape(title)}">\n'
            f"{body}\n</svg>\n"
        )


class _Axis:
    """Maps values to pixels; its range is extended to round ticks."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if high - low < 1e-12 * max(1.0, abs(low)):
            margin = max(0.5, 1e-9 * abs(low))
            low, high = low - margin, high + margin
        step = _round_step((high - low) / 5)
        start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.ticks = [number * step for number in range(start, stop + 1)]
        self._low, self._span = self.ticks[0], self.ticks[-1] - self.ticks[0]
        self._first, self._last = first, last

    def place(self, value: float) -> float:
        return self._first + (value - self._low) / self._span * (self._last - self._first)


def write_svgs(folder: Path, plots: Mapping[str, str]) -> list[Path]:
    """Write plots by name as NAME.svg into a folder, which is made if it is not there; return their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"{name}.svg": text for name, text in plots.items()}
    for file, text in files.items():
        replace_file(file, text.encode())
    return list(files)


def _round_step(step: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is not below `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * 0.999)


def _runs(line: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """The line split at points that are not finite."""
    runs: list[list[tuple[float, float]]] = [[]]
    for point in line:
        if _is_finite(point):
            runs[-1].append(point)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _is_finite(point: tuple[float, float]) -> bool:
    return math.isfinite(point[0]) and math.isfinite(point[1])


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", size: int = 11, weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}" fill="#222222">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"
