"""Open Bandit: one policy's rate from the other's log, on made-up files of the same form."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from command_line import run_figures

COLUMNS = [
    *("timestamp", "item_id", "position", "click", "propensity_score"),
    *(f"user_feature_{number}" for number in range(4)),
]
RATES = np.array([0.02, 0.1, 0.3])
BTS = np.array([0.1, 0.2, 0.7])
"""Shares of three items; so the true rates are 0.232 for this policy and 0.14 for the uniform one."""


def write_log(folder: Path, campaign: str, policy: str, shares: np.ndarray, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    items = drawn.choice(3, size=1500, p=shares)
    clicks = drawn.random(1500) < RATES[items]
    path = folder / f"open_bandit_{campaign}_{policy}.csv.gz"
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, (item, clicked) in enumerate(zip(items, clicks, strict=True)):
            place, user = 1 + number % 3, "abc"[number % 2]
            row = [number, item, place, int(clicked), shares[item], user, "u", "v", "w"]
            writer.writerow(row)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("bandit")
    for number, campaign in enumerate(("men", "women")):
        write_log(here, campaign, "random", np.full(3, 1 / 3), number)
        write_log(here, campaign, "bts", BTS, 10 + number)
    return here


def test_intervals_hold_the_rate_of_the_other_policy(folder: Path, tmp_path: Path):
    done = run_figures("open-bandit", "--data", folder, "--json", "--plots", tmp_path)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [(each["logged"], each["evaluated"]) for each in found[:2]] == [
        ("random", "bts"),
        ("bts", "random"),
    ]
    for each in found:
        truth = 0.232 if each["evaluated"] == "bts" else 0.14
        for name in ("ips", "snips", "dr"):
            assert each["estimates"][name]["low"] < truth < each["estimates"][name]["high"]
    assert (tmp_path / "open-bandit.svg").read_text().startswith("<svg")
    assert "click rates in per cent" in run_figures("open-bandit", "--data", folder).out


def test_other_files_are_one_sentence(folder: Path, tmp_path: Path):
    done = run_figures("open-bandit", "--data", tmp_path)
    assert (done.code, len(done.said)) == (2, 1)
    assert "open_bandit_men_random.csv.gz cannot be read" in done.said[0]
    with gzip.open(tmp_path / "open_bandit_men_random.csv.gz", "wt") as file:
        file.write("a,b\n1,2\n")
    done = run_figures("open-bandit", "--data", tmp_path)
    assert (done.code, len(done.said)) == (2, 1)
    assert "is no log of Open Bandit; expected columns click, item_id" in done.said[0]
