"""`aegir runs health` on folders that are well, sick, torn or strange."""

import json
import math

import numpy as np
import pytest

from aegir_rl.base.run_folder import RunFolder
from aegir_rl.health.measures import measure_rewards
from aegir_rl.health.rules import RULES
from command_line import run


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path / "run")
    random = np.random.default_rng(0)
    for step in range(150):
        made.record(step, reward={"mean": 0.5 + 0.05 * random.standard_normal(), "std": 0.2})
    return made


def test_a_well_run_leaves_with_0_and_says_what_it_could_not_check(folder):
    done = run("runs", "health", folder.path)
    assert done.code == 0
    assert "well    reward/mean was 0." in done.out
    assert "not recorded, so not checked: reward/max, reward/nonfinite" in done.out
    assert done.err == ""


def test_nan_anywhere_is_unwell_also_in_columns_it_does_not_know(folder):
    folder.record(150, my_loss=math.nan)
    folder.record(151, my_loss=1.0)
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert "UNWELL  my_loss was nan at step 150, and not finite 1 times in all" in done.out
    assert done.said == ["aegir: my_loss was nan at step 150, and not finite 1 times in all"]


def test_a_bound_broken_at_the_end_is_unwell_and_a_spike_that_passed_is_not(folder):
    for step in range(150, 200):
        folder.record(step, kl=9.0 if step == 160 else 0.01, entropy=0.001 if step > 170 else 0.5)
    done = run("runs", "health", folder.path, "--json")
    report = json.loads(done.out)
    assert [one["column"] for one in report["findings"] if one["verdict"] == "unwell"] == [
        "entropy"
    ]
    assert done.code == 3


def test_a_reward_that_fell_for_good_is_unwell_and_one_that_recovered_is_not(folder):
    random = np.random.default_rng(1)
    for step in range(150, 200):
        folder.record(step, reward={"mean": 0.1 + 0.05 * random.standard_normal()})
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert "reward/mean moved from about 0.5" in done.out
    for step in range(200, 260):
        folder.record(step, reward={"mean": 0.5 + 0.05 * random.standard_normal()})
    assert run("runs", "health", folder.path).code == 0


def test_a_run_without_any_column_that_has_a_rule_is_unwell(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    for step in range(30):
        folder.record(step, accuracy=0.5, learning_rate=0.1)
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert len(done.said) == 1
    assert done.said[0].startswith(
        f"aegir: none of the {len(RULES)} columns with a rule was recorded, so nothing was checked but NaN; "
        "the run has accuracy, learning_rate, expected names such as reward/mean, "
    )


def test_the_columns_of_other_programs_are_checked(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    for step in range(30):
        figures = {"train/approx_kl": 0.01, "train/entropy_loss": -0.001, "router/kl": 2.0}
        folder.record(step, **figures)
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert "well    train/approx_kl (kl) was 0.01" in done.out
    assert (
        "UNWELL  train/entropy_loss (entropy) was 0.001 at the end, and outside 30 of 30"
        in done.out
    )
    assert (
        "UNWELL  router/kl was 2 at the end, and outside 30 of 30 times; expected at most 1"
        in done.out
    )
    assert " kl," not in done.out


def test_a_run_that_mastered_its_tasks_gets_warnings(tmp_path):
    folder = RunFolder.create(tmp_path / "run")
    random = np.random.default_rng(2)
    for step, chance in enumerate([*np.linspace(0.2, 1, 100), *[1.0] * 50]):
        rewards = (random.random(64) < chance).astype(float)
        folder.record(step, **measure_rewards(rewards, np.repeat(np.arange(8), 8)))
    done = run("runs", "health", folder.path)
    assert done.code == 0
    assert "warning reward/std was 0 at the end" in done.out
    assert "a warning only: the reward climbed to its top" in done.out


def test_a_torn_line_is_noted_and_the_rest_is_judged(folder):
    with (folder.path / "metrics.jsonl").open("ab") as file:
        file.write(b'{"step": 15')
    done = run("runs", "health", folder.path)
    assert done.code == 0
    assert done.said == ["aegir: metrics.jsonl line 151 was skipped: torn at the end"]


def test_a_line_nested_too_deeply_is_noted_and_the_rest_is_judged(folder):
    with (folder.path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 150, "x": ' + "[" * 100_000 + "]" * 100_000 + "}\n")
    done = run("runs", "health", folder.path)
    assert done.code == 0
    assert "metrics.jsonl line 151 was skipped" in done.err


def test_a_number_too_large_for_a_float_is_infinite(folder):
    with (folder.path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 150, "kl": -1' + "0" * 400 + "}\n")
        file.write('{"step": 1' + "0" * 400 + ', "kl": 1}\n')
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert "kl was -inf at step 150" in done.out
    assert "metrics.jsonl line 152 was skipped" in done.err


def test_names_of_figures_are_neither_obeyed_nor_taken_for_lines(folder):
    folder.record(150, **{"loss\x1b[31m\nwell    all is well": math.nan})
    done = run("runs", "health", folder.path)
    assert done.code == 3
    assert r"UNWELL  loss\x1b[31m\nwell    all is well was nan at step 150" in done.out
    assert "\x1b" not in done.out + done.err


def test_an_empty_run_is_unwell(tmp_path):
    RunFolder.create(tmp_path / "run")
    done = run("runs", "health", tmp_path / "run")
    assert done.code == 3
    assert done.said == ["aegir: the run recorded no step"]


def test_what_is_no_run_folder_is_asked_wrongly(tmp_path):
    done = run("runs", "health", tmp_path / "nowhere")
    assert (done.code, len(done.said)) == (2, 1)
    done = run("runs", "health", tmp_path)
    assert done.code == 2
    assert "has no metrics.jsonl" in done.said[0]
