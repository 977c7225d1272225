"""Plots are well-formed SVG, draw what they are given, and leave gaps where nothing was measured."""

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.observe.plots import bar_plot, interval_plot, line_plot, thin

NAN = float("nan")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str, tag: str) -> list[ElementTree.Element]:
    return ElementTree.fromstring(svg).findall(f".//{SVG}{tag}")


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in drawn(svg, "text")]


def test_a_line_goes_from_corner_to_corner():
    (line,) = drawn(line_plot("t", {"a": ([0, 1], [0, 1])}), "polyline")
    assert line.get("points") == "58.0,254.0 504.0,34.0"


def test_titles_and_names_are_escaped():
    svg = line_plot("a < b & c", {'"x"': ([0, 1], [0, 1]), "y": ([0], [0])}, x_label="<x>")
    assert {"a < b & c", '"x"', "<x>"} <= set(texts(svg))


def test_points_that_are_not_finite_leave_a_gap():
    svg = line_plot("t", {"a": (range(6), [0, 1, NAN, 2, 3, float("inf")])})
    assert len(drawn(svg, "polyline")) == 2


def test_a_single_point_is_a_dot():
    assert len(drawn(line_plot("t", {"a": ([1], [2])}), "circle")) == 1


@pytest.mark.parametrize("ys", [[], [NAN, NAN], [3, 3], [1e-300, 2e-300], [1e300, -1e300]])
def test_awkward_values_still_give_a_plot(ys):
    ElementTree.fromstring(line_plot("t", {"a": (range(len(ys)), ys)}))


def test_bars_stand_on_zero_and_missing_ones_are_named():
    svg = bar_plot("t", {"up": 2.0, "down": -1.0, "gone": None, "lost": NAN})
    bars = drawn(svg, "rect")[1:]  # the first is the background
    assert len(bars) == 2
    assert texts(svg).count("missing") == 2
    up, down = bars
    assert float(up.get("y")) + float(up.get("height")) == pytest.approx(
        float(down.get("y")), abs=0.11
    )


def test_intervals_are_lines_around_their_value_and_endless_ones_are_left_out():
    svg = interval_plot("t", {"a": (0.0, 0.5, 1.0), "b": (-math.inf, 0.5, math.inf)}, zero=True)
    first, second = drawn(svg, "circle")
    assert float(first.get("cy")) == float(second.get("cy")) == 144.0  # between 254 and 34
    uprights = [line for line in drawn(svg, "line") if line.get("x1") == line.get("x2")]
    assert [(line.get("y1"), line.get("y2")) for line in uprights] == [("254.0", "34.0")]
    assert {"a", "b", "0.5"} <= set(texts(svg))


def test_a_name_may_have_several_lines():
    assert {"perf", "shuffled"} <= set(texts(bar_plot("t", {"perf\nshuffled": 1.0})))


def test_ticks_are_round_numbers():
    shown = texts(line_plot("t", {"a": ([0, 1], [0, 0.93])}))
    assert {"0", "0.2", "0.4", "0.6", "0.8", "1"} <= set(shown)


def test_the_same_numbers_give_the_same_text():
    assert bar_plot("t", {"a": 1 / 3}) == bar_plot("t", {"a": 1 / 3})


def test_lengths_that_disagree_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        line_plot("t", {"a": ([0, 1], [0])})


def test_thinning_keeps_first_last_lowest_highest_and_gaps():
    y = np.zeros(10_000)
    y[1234], y[7777], y[5000], y[0], y[-1] = 9, -9, np.nan, 1, 2
    xs, ys = thin(np.arange(10_000), y, places=10)
    assert len(xs) <= 50
    kept = dict(zip(xs.tolist(), ys.tolist(), strict=True))
    assert (kept[0], kept[1234], kept[7777], kept[9999]) == (1, 9, -9, 2)
    assert np.isnan(kept[5000])


def test_few_points_stay_as_they_are_in_the_order_of_x():
    xs, ys = thin([3, 1, 2, 1], [0, 1, 2, 3], places=10)
    assert (xs.tolist(), ys.tolist()) == ([1, 1, 2, 3], [1, 3, 2, 0])


@given(
    st.lists(st.floats(-1e9, 1e9) | st.just(math.nan), min_size=1, max_size=200), st.integers(1, 5)
)
def test_thinning_never_loses_an_extreme(values: list[float], places: int):
    _, ys = thin(range(len(values)), values, places)
    assert len(ys) <= 5 * places
    given_values = np.array(values)
    for extreme in (np.nanmin, np.nanmax) if np.isfinite(given_values).any() else ():
        assert extreme(ys) == extreme(given_values)
    assert np.isnan(ys).any() == np.isnan(given_values).any()


def test_a_plot_has_the_size_that_is_asked_for():
    svg = line_plot("t", {"a": ([0, 1], [0, 1])}, size=(400, 230))
    assert 'viewBox="0 0 400 230"' in svg
    (line,) = drawn(svg, "polyline")
    assert line.get("points") == "58.0,184.0 384.0,34.0"  # 230 - 46, 400 - 16, and the top


def test_a_constant_of_any_size_can_be_drawn():
    for value in (0.0, 1e17, -1e100):
        assert drawn(line_plot("t", {"a": ([0, 1], [value, value])}), "polyline")


def test_a_long_last_label_stays_inside():
    svg = line_plot("t", {"a": ([0, 100_000], [0, 1])})
    (last,) = (text for text in drawn(svg, "text") if text.text == "100000")
    # six digits of 6.4 pixels around the middle, in a plot 520 wide: 520 - 3 * 6.4
    assert last.get("x") == "500.8"
