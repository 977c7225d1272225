"""`python -m aegir.lab.figures run`: what the page has, for runs that are well, sick, empty, damaged or very long."""

import json
import math
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.run_folder import RunFolder
from aegir_rl.health.run_page import LEVELS, MOST_ROWS, render_run_page
from aegir_rl.health.run_summary import read_curves, read_run
from aegir_rl.observe.heat_map import HeatMap, save_heat_map
from command_line import run_figures


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    made = RunFolder.create(tmp_path / "run", {"model": {"width": 32}})
    random = np.random.default_rng(0)
    for step in range(1, 61):
        reward = {"mean": 0.5 + 0.05 * random.standard_normal(), "std": 0.2}
        made.record(step, loss=1 / step, reward=reward, parts=[0.1, step, 2.0], stretch="standard")
        if step % 30 == 0:
            made.record(step, held_out={"cta": {"micro_f1": step / 100}})
    return made


def shown(html: str) -> str:
    """What a person reads: the text outside of style and title."""
    texts: list[str] = []

    class Reader(HTMLParser):
        inside = ""

        def handle_starttag(self, tag, attrs):
            self.inside = tag

        def handle_data(self, data):
            if self.inside not in ("style", "title"):
                texts.append(data)

    Reader().feed(html)
    return re.sub(r"\s+", " ", " ".join(texts))


def test_the_page_has_health_checks_curves_settings_and_environment(folder: RunFolder):
    page = render_run_page(read_run(folder))
    text = shown(page)
    assert "Health: well" in text
    assert "62 recorded steps · last step 60" in text
    assert "Checks on held-out tables figure step 30 step 60 held_out/cta/micro_f1 0.3 0.6" in text
    # 1/60 is the last loss, and the least; 1 is the most
    assert "last 0.01667 at step 60 from 0.01667 to 1" in text
    assert "last 0.1, 60, 2 at step 60" in text
    assert re.findall(r'<figure title="([^"]*)"', page) == [
        "loss",
        "parts",
        "reward/mean",
        "reward/std",
        "held_out/cta/micro_f1",
    ]
    assert re.findall(r"<h2>([^<]*)</h2>", page)[2:] == ["Curves", "reward", "held_out"]
    assert "[model] width = 32" in text
    assert '"python":' in text
    assert "stretch standard" in text


def test_nothing_is_loaded_and_nothing_of_a_run_is_obeyed(folder: RunFolder):
    hostile = "<script>alert(1)</script><img src=https://example.org/x>"
    folder.record(61, **{hostile: 1.0, "note": hostile})
    save_heat_map(folder.path, HeatMap.of("h", [hostile], [hostile], [[1]], hostile))
    (folder.path / "config.toml").write_text(f"# {hostile}\n")
    (folder.path / "environment.json").write_text(json.dumps({"commit": hostile}))
    page = render_run_page(read_run(folder))
    assert "<script" not in page
    assert "<img" not in page
    assert not re.search(r"(?:src|href)=\"(?!data:,)", page)
    assert "default-src 'none'" in page
    assert hostile in shown(page).replace("  ", " ")


def test_what_is_unwell_comes_first(folder: RunFolder):
    folder.record(61, loss=math.nan, entropy=0.0)
    page = render_run_page(read_run(folder))
    text = shown(page)
    assert (
        text.index("Health: unwell") < text.index("loss was nan at step 61") < text.index("Checks")
    )
    assert "1 not finite" in text
    assert "last nan at step 61" in text


def test_a_run_without_steps_and_one_with_damaged_lines_have_a_page(tmp_path: Path):
    empty = RunFolder.create(tmp_path / "empty")
    assert "the run recorded no step" in shown(render_run_page(read_run(empty)))
    torn = RunFolder.create(tmp_path / "torn")
    torn.record(1, loss=2.0)
    with (torn.path / "metrics.jsonl").open("ab") as file:
        file.write(b'not json\n{"step": "x"}\n{"step": 2, "loss": 1e999, "big": 1' + b"0" * 400)
        file.write(b'}\n{"step": 3, "loss": 5')
    (torn.path / "environment.json").write_text("[]")
    (torn.path / "heat_map-odd.json").write_text('{"rows": ["a"], "columns": [], "values": [[1]]}')
    text = shown(render_run_page(read_run(torn)))
    for note in (
        "line 2 was skipped: not a JSON object with a step",
        "line 5 was skipped: torn at the end",
        "environment.json was skipped",
        "heat_map-odd.json was skipped: heat map odd has 1 rows of [1] values; expected 1 rows of 0",
    ):
        assert note in text
    assert "last inf at step 2" in text


def test_100_000_lines_keep_their_extremes_in_a_page_of_a_few_hundred_kilobytes(tmp_path: Path):
    folder = RunFolder.create(tmp_path / "long")
    values = np.sin(np.arange(100_000) / 3)
    values[54_321] = 99.0
    lines = [
        f'{{"step": {step}, "loss": {value!r}}}\n' for step, value in enumerate(values.tolist())
    ]
    (folder.path / "metrics.jsonl").write_text("".join(lines))
    page = render_run_page(read_run(folder))
    assert len(page) < 100_000
    assert "from -1 to 99" in shown(page)
    (line,) = re.findall(r'<polyline points="([^"]*)"', page)
    heights = [float(point.split(",")[1]) for point in line.split()]
    assert heights.count(min(heights)) == 1
    assert min(heights) < 40 < max(heights)


def test_a_heat_map_is_a_table_whose_cells_are_shaded_by_value(folder: RunFolder):
    heat = HeatMap.of(
        "gain", ["City", "Date"], ["geo", "time"], [[1.0, -0.5], [0.0, None]], "shift"
    )
    save_heat_map(folder.path, heat)
    page = render_run_page(read_run(folder))
    assert "gain: shift" in shown(page)
    # the largest absolute value is 1: -0.5 is half of it
    assert f'<td class="above level-{LEVELS}">1</td>' in page
    assert f'<td class="below level-{LEVELS // 2}">-0.5</td>' in page
    assert '<td class="above level-0">0</td><td class="missing">–</td>' in page
    assert f".level-{LEVELS // 2} {{ --share: 50%; }}" in page


def test_a_large_heat_map_is_cut_and_says_so(folder: RunFolder):
    names = [f"row {number}" for number in range(MOST_ROWS + 5)]
    save_heat_map(folder.path, HeatMap.of("wide", names, ["a"], np.ones((len(names), 1))))
    text = shown(render_run_page(read_run(folder)))
    assert f"Of {MOST_ROWS + 5} rows and 1 columns, the first {MOST_ROWS} and" in text
    assert f"row {MOST_ROWS - 1} " in text
    assert f"row {MOST_ROWS} " not in text


def test_long_lists_become_least_mean_and_most(folder: RunFolder):
    folder.record(61, weights=list(range(11)))
    curves, _ = read_curves(folder.history())
    (curve,) = (curve for curve in curves if curve.name == "weights")
    assert curve.figures()["last"] == {"least": 0.0, "mean": 5.0, "most": 10.0}


def test_json_has_the_figures_of_every_metric(folder: RunFolder):
    folder.record(61, loss=math.inf)
    done = run_figures("run", folder.path, "--json")
    assert done.code == 0
    shown_run = json.loads(done.out)
    assert shown_run["metrics"]["loss"] == {
        "count": 61,
        "last_step": 61,
        "last": "inf",
        "least": pytest.approx(1 / 60),
        "most": 1.0,
        "not_finite": 1,
    }
    assert shown_run["checks"][-1] == {"step": 60, "held_out/cta/micro_f1": 0.6}
    assert not shown_run["health"]["well"]


def test_the_page_goes_to_a_file_or_to_stdout(folder: RunFolder, tmp_path: Path):
    out = tmp_path / "page.html"
    done = run_figures("run", folder.path, "--out", out)
    assert (done.code, done.out) == (0, "")
    assert done.said == [f"aegir: {folder.path} is drawn in {out}"]
    assert run_figures("run", folder.path).out == out.read_text(encoding="utf-8")


def test_what_is_no_run_is_refused_in_one_sentence(tmp_path: Path):
    done = run_figures("run", tmp_path / "nowhere")
    assert done.code == 2
    assert done.said == [
        f"aegir: there is no run folder {tmp_path / 'nowhere'}; give the folder of a run"
    ]
    done = run_figures("run", tmp_path)
    assert done.code == 2
    assert "has no metrics.jsonl" in done.said[0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_page_is_not_printed_to_a_terminal(folder: RunFolder):
    mine, theirs = os.openpty()
    command = [sys.executable, "-m", "aegir.lab.figures", "run", str(folder.path)]
    done = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, check=False, text=True)
    os.close(theirs)
    os.close(mine)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "aegir: the page would be printed to the terminal; give --out page.html, or --json"
    )
