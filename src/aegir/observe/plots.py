"""Small SVG plots for reports and documentation, without a plotting library.

    line_plot("r_parallel", {"useful": (x, y)}, x_label="share on", y_label="reward")
    bar_plot("gradient norm", {"perf": 0.4, "parallel": 0.2})

The result is one `<svg>` element as text, for an HTML page or a file of its own. The same numbers give the same text, so
that a test can detect a stale plot. Points that are not finite leave a gap. Not here: logarithmic axes, movable legends,
interaction.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 34, 46
LEGEND_LINE = 18
# Wong 2011: distinguishable for colour-blind people.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")

Series = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def line_plot(
    title: str, series: Series, *, x_label: str = "", y_label: str = "", dots: bool = False
) -> str:
    """Lines (or dots) through (x, y) points, one colour per series, with a legend below if there are several."""
    points = {
        name: [(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]
        for name, (xs, ys) in series.items()
    }
    finite = [point for line in points.values() for point in line if _is_finite(point)]
    x_axis = _Axis([x for x, _ in finite], LEFT, WIDTH - RIGHT)
    y_axis = _Axis([y for _, y in finite], HEIGHT - BOTTOM, TOP)
    drawn = [*_frame(title, x_label, y_label), *_x_ticks(x_axis), *_y_ticks(y_axis)]
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
            drawn += _legend_entry(number, name, colour)
    return _svg(title, drawn, legend=len(points) if len(points) > 1 else 0)


def bar_plot(title: str, values: Mapping[str, float | None], *, y_label: str = "") -> str:
    """One bar per name, which may have several lines; a missing value (None, nan) is labelled "missing"."""
    finite = [
        float(value) for value in values.values() if value is not None and math.isfinite(value)
    ]
    y_axis = _Axis([0.0, *finite], HEIGHT - BOTTOM, TOP)
    drawn = [*_frame(title, "", y_label), *_y_ticks(y_axis)]
    room = (WIDTH - LEFT - RIGHT) / max(len(values), 1)
    for number, (name, value) in enumerate(values.items()):
        middle, zero = LEFT + room * (number + 0.5), y_axis.place(0.0)
        lines = enumerate(name.split("\n"))
        drawn += [_text(middle, HEIGHT - BOTTOM + 16 + 14 * row, line) for row, line in lines]
        if value is None or not math.isfinite(value):
            drawn.append(_text(middle, zero - 6, "missing"))
            continue
        top, bottom = sorted((y_axis.place(value), zero))
        colour = COLOURS[number % len(COLOURS)]
        drawn.append(
            f'<rect x="{middle - room * 0.3:.1f}" y="{top:.1f}" width="{room * 0.6:.1f}" '
            f'height="{bottom - top:.1f}" fill="{colour}"/>'
        )
        drawn.append(_text(middle, top - 5, f"{value:.3g}"))
    return _svg(title, drawn)


class _Axis:
    """Maps values to pixels; its range is extended to round ticks."""

    def __init__(self, values: Sequence[float], first: float, last: float) -> None:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        if high - low < 1e-12 * max(1.0, abs(low)):
            low, high = low - 0.5, high + 0.5
        step = _round_step((high - low) / 5)
        start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.ticks = [number * step for number in range(start, stop + 1)]
        self._low, self._span = self.ticks[0], self.ticks[-1] - self.ticks[0]
        self._first, self._last = first, last

    def place(self, value: float) -> float:
        return self._first + (value - self._low) / self._span * (self._last - self._first)


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


def _frame(title: str, x_label: str, y_label: str) -> list[str]:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [
        _text((LEFT + WIDTH - RIGHT) / 2, 20, title, size=14, weight="bold"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_label),
        f'<g transform="rotate(-90 14 {middle:.1f})">{_text(14, middle, y_label)}</g>',
    ]


def _x_ticks(axis: _Axis) -> list[str]:
    places = [(axis.place(tick), tick) for tick in axis.ticks]
    return [_text(x, HEIGHT - BOTTOM + 16, _number(tick)) for x, tick in places]


def _y_ticks(axis: _Axis) -> list[str]:
    drawn = []
    for tick in axis.ticks:
        y = axis.place(tick)
        drawn.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>'
        )
        drawn.append(_text(LEFT - 6, y + 4, _number(tick), anchor="end"))
    return drawn


def _legend_entry(number: int, name: str, colour: str) -> list[str]:
    y = HEIGHT + LEGEND_LINE * (number + 1) - 6
    return [
        f'<line x1="{LEFT + 8}" y1="{y - 4}" x2="{LEFT + 26}" y2="{y - 4}" stroke="{colour}" stroke-width="3"/>',
        _text(LEFT + 32, y, name, anchor="start"),
    ]


def _text(
    x: float, y: float, text: str, *, anchor: str = "middle", size: int = 11, weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'font-weight="{weight}" fill="#222222">{escape(text)}</text>'
    )


def _number(value: float) -> str:
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"


def _svg(title: str, drawn: Sequence[str], legend: int = 0) -> str:
    height = HEIGHT + LEGEND_LINE * legend
    body = "\n".join([f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *drawn])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" font-family="sans-serif" role="img" aria-label="{escape(title)}">\n'
        f"{body}\n</svg>\n"
    )
