"""`aegir rl import`: other people's logs, and what is wrong with them."""

import csv
import gzip
import json
import random
from pathlib import Path

import pytest

from aegir_rl.offline.log_files import read_log
from aegir_rl.offline.text_features import MEASUREMENTS, measure_text
from command_line import run

OUTCOMES = ("--outcome", "small=small", "--outcome", "large=large", "--baseline", "large")


@pytest.fixture(scope="module")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prompts of which a small model answers the short ones, and a large one nearly all."""
    path = tmp_path_factory.mktemp("prompts") / "prompts.jsonl.gz"
    drawn = random.Random(0)
    rows = []
    for number in range(600):
        long = drawn.random() < 0.5
        rows.append(
            {
                "prompt": f"Question {number}"
                + " and what follows from that?" * (9 if long else 1),
                "subject": drawn.choice(["law", "physics"]),
                "small": drawn.random() < (0.2 if long else 0.9),
                "large": drawn.random() < 0.9,
            }
        )
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def test_outcomes_of_every_worker_become_a_log_with_known_truth(prompts: Path, tmp_path: Path):
    out = tmp_path / "log.jsonl"
    done = run(
        *("rl", "import", prompts, "--features", "subject", "--text", "prompt", *OUTCOMES),
        *("--cost", "large=0.3", "--output", out, "--json"),
    )
    assert done.code == 0, done.err
    assert json.loads(done.out) == {
        "episodes": 600,
        "features": 2 + len(MEASUREMENTS),
        "notes": [],
    }
    log = read_log(out)
    assert log.actions == ("large", "small")
    assert log.known is not None
    assert set(log.known[:, 0].round(6)) == {-0.3, 0.7}  # the outcome less the cost
    # 0.3 of the rows are drawn, half of them the baseline: 0.85 and 0.15.
    assert set(log.propensity.round(6)) == {0.85, 0.15}
    assert (log.action == 1).mean() == pytest.approx(0.15, abs=0.04)
    assert {"subject=law", "prompt.digits"} <= set(log.feature_names)


def test_a_gain_on_such_a_log_is_found_and_beats_the_best_single_worker(
    prompts: Path, tmp_path: Path
):
    log, policy = tmp_path / "log.jsonl", tmp_path / "policy.safetensors"
    arguments = ("--text", "prompt", *OUTCOMES, "--cost", "large=0.3", "--explore", 0.5)
    assert run("rl", "import", prompts, *arguments, "--output", log).code == 0
    made = run(
        "rl", "choose", "--data", log, "--out", policy, "--steps", 60, "--hidden", 16, "--alpha", 0
    )
    assert made.code == 0, made.err
    assert "always small" in made.out
    shown = run("rl", "eval-offline", "--data", log, "--checkpoint", policy, "--json")
    assert shown.code == 0, shown.err
    record = json.loads(shown.out)
    assert (record["verdict"], record["cross_fitted_folds"], record["episodes"]) == (
        *("better", 5),
        600,
    )
    # Asking the small one about the short half earns 0.9 instead of 0.6 there: 0.15 more on average.
    truth = record["truth"]["difference"]
    assert truth["value"] == pytest.approx(0.15, abs=0.04)
    assert record["difference"]["low"] < truth["value"] < record["difference"]["high"]
    assert record["single_workers"]["gain_over_best"]["low"] > 0
    assert 0 <= record["truth"]["regret"]["value"] < 0.2
    assert record["truth"]["best"] in ("large", "small")
    report = run("rl", "analyze-rewards", "--data", log, "--json")
    assert json.loads(report.out)["reward"] == "as logged"
    assert json.loads(report.out)["sensitivity"] == []


def write_csv(path: Path, rows: list[dict]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


LOGGED = [
    {"arm": "ab"[n % 2], "euros": n % 7 - 3, "p": 0.5, "x": n / 10, "user": n // 2, "text": f"t{n}"}
    for n in range(60)
]
ARMS = ("--action", "arm", "--reward", "euros", "--propensity", "p", "--features", "x")


def test_logged_choices_of_any_reward_are_read(tmp_path: Path):
    file, out = write_csv(tmp_path / "arms.csv", LOGGED), tmp_path / "log.jsonl"
    done = run("rl", "import", file, *ARMS, "--group", "user", "--baseline", "a", "--output", out)
    assert done.code == 0, done.err
    log = read_log(out)
    assert log.reward.tolist() == [n % 7 - 3 for n in range(60)]
    assert (len(set(log.groups)), log.actions, log.known) == (30, ("a", "b"), None)
    assert set(log.baseline) == {0}


def test_without_propensities_it_is_said_what_remains(tmp_path: Path):
    file, out = write_csv(tmp_path / "arms.csv", LOGGED), tmp_path / "log.jsonl"
    done = run("rl", "import", file, *ARMS[:4], *ARMS[6:], "--baseline", "a", "--output", out)
    assert done.code == 0
    assert "IPS, SNIPS, DR and the verdict are not to be had; what remains" in done.err
    policy = tmp_path / "p.safetensors"
    assert run("rl", "train-bc", "--data", out, "--out", policy, "--steps", 5).code == 0
    judged = run("rl", "eval-offline", "--data", out, "--checkpoint", policy)
    assert judged.code == 2
    assert "the regressions that remain (DM, FQE) know no error of their own" in judged.said[-1]


def changed(name: str, value: object) -> list[dict]:
    return [*LOGGED[:5], {**LOGGED[5], name: value}, *LOGGED[6:]]


@pytest.mark.parametrize(
    ("rows", "arguments", "sentence"),
    [
        (LOGGED, (*ARMS[:-1], "xx"), "has no column 'xx'; did you mean 'x'?"),
        (LOGGED, ARMS[:2], "--action needs --reward"),
        (LOGGED, ARMS[:-2], "a policy decides by features; name columns with --features"),
        (
            LOGGED,
            (*ARMS, "--outcome", "a=x"),
            "either --outcome WORKER=COLUMN for every worker, or",
        ),
        (LOGGED, ("--outcome", "a=x", "--features", "p"), "outcomes are given of a; expected two"),
        (LOGGED, ("--outcome", "a", "--features", "p"), "--outcome is 'a'; expected WORKER=COLUMN"),
        (LOGGED, (*ARMS, "--cost", "a=much"), "--cost of 'a' is 'much'; expected a number"),
        (changed("p", 0), ARMS, "row 6: 'p' is 0; expected a probability above 0, at most 1"),
        (changed("p", "?"), ARMS, "row 6: 'p' is '?'; expected a finite number"),
        (changed("euros", "inf"), ARMS, "row 6: 'euros' is 'inf'; expected a finite number"),
        (changed("arm", " "), ARMS, "row 6: 'arm' is empty; expected what was chosen"),
        (
            changed("text", "t0"),
            (*ARMS, "--text", "text", "--group", "user"),
            "the same text stands",
        ),
        (
            [{**row, "text": f"t{n} {m}"} for n, row in enumerate(LOGGED) for m in range(3)],
            (*ARMS[:6], "--features", "text"),
            "has 180 different values, too many for a category; measure it as a text with --text",
        ),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(
    tmp_path: Path, rows: list[dict], arguments: tuple, sentence: str
):
    file, out = write_csv(tmp_path / "arms.csv", rows), tmp_path / "log.jsonl"
    done = run("rl", "import", file, *arguments, "--output", out)
    assert (done.code, len(done.said)) == (2, 1), done.err
    assert sentence in done.said[0]
    assert not out.exists()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jsonl", b'{"x": 1}\n[2]\n', "line 2 is no JSON object; expected one per line"),
        ("a.jsonl.gz", b"no gzip", "cannot be read as a log (Not a gzipped file"),
        ("a.csv", b"\xff\xfe\x00", "cannot be read as a log (it is no UTF-8)"),
        ("a.csv", b"x,arm,euros,p\n", "has no rows"),
        ("a.csv", b'x,arm,euros,p\n"1,a,', "is no CSV (unexpected end of data)"),
    ],
)
def test_files_that_cannot_be_read_are_one_sentence(
    tmp_path: Path, name: str, content: bytes, sentence: str
):
    (tmp_path / name).write_bytes(content)
    done = run("rl", "import", tmp_path / name, *ARMS, "--output", tmp_path / "log.jsonl")
    assert (done.code, len(done.said)) == (2, 1), done.err
    assert sentence in done.said[0]


def test_texts_are_measured():
    measured = measure_text("What is 3 + 4?\n(A) 7\n(B) 12")
    assert measured["digits"] == 5 / 27  # 3, 4, 7, 1 and 2 of 27 characters
    assert measured["asking"] == pytest.approx(1 / 4)  # what, is, A, B
    assert measured["options"] > 0
    assert set(measure_text("")) == set(MEASUREMENTS)
