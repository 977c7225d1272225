"""The pages on curriculum, learning rules and health: their code runs, their tables are those of the code."""

import re
import shlex
from pathlib import Path

import pytest

import aegir_rl.simulator.sandbox
from aegir_rl.health.rules import RULES, HealthRule, match_rule
from aegir_rl.rl import curriculum_strategies
from aegir_rl.simulator.sandbox import Sandbox
from command_line import run

DOCS = Path(__file__).parent.parent / "docs"


@pytest.mark.parametrize(
    "name", ["curriculum", "health", "learning-rules", "offline-rl", "real-logs"]
)
def test_the_code_on_the_page_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(curriculum_strategies.STRATEGIES)
    monkeypatch.setattr(curriculum_strategies, "STRATEGIES", known)
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    page: dict[str, object] = {}
    exec("\n".join(blocks), page)
    if name == "curriculum":
        assert float(page["level"]) > 0.15  # uniform practice gives 0
    if name == "learning-rules":
        assert float(page["solved"]) > 0.7  # five seeds: 0.90 to 0.98; chance gives 0.33
        shown = str(page["shown"]).splitlines()
        assert "\n".join(f"    {line}" for line in shown) in text


def test_the_code_on_the_page_on_the_simulator_runs(
    sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "simulator.md").read_text(encoding="utf-8")
    code, *blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    exec(code, {})
    assert capsys.readouterr().out == "finished [6, 'abab']\n"
    (scoring,) = (block for block in blocks if "score_answer" in block)
    exec(scoring, {})
    assert capsys.readouterr().out == "1.0\n"
    (writing,) = (block for block in blocks if "CodingEpisode" in block)
    exec(writing, {})
    out = capsys.readouterr().out
    assert "3 of 3 tests passed." in out
    assert out.endswith("\n1.0\n")


def test_the_page_on_the_simulator_names_every_promise_of_the_sandbox() -> None:
    text = (DOCS / "simulator.md").read_text(encoding="utf-8")
    promises = re.findall(r"^  - (\w+):", aegir_rl.simulator.sandbox.__doc__ or "", re.MULTILINE)
    assert len(promises) == 29
    assert all(f"`{name}`" in text for name in promises)


def test_the_session_on_the_page_on_offline_rl_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer rows; what it prints is checked elsewhere."""
    monkeypatch.chdir(tmp_path)
    page = (DOCS / "offline-rl.md").read_text(encoding="utf-8")
    text = page.split("## A session")[1].split("\n## ")[0].replace("4000", "650")
    commands = [shlex.split(line[2:]) for line in text.splitlines() if line.startswith("$ aegir")]
    assert [words[2] for words in commands][-1] == "eval-offline"
    for words in commands:
        done = run(*words[1:])
        assert done.code in ((0, 3) if words[2] == "eval-offline" else (0,)), done.err
    assert (tmp_path / "evaluation.html").exists()


def _describe_drift(rule: HealthRule) -> str:
    """The change that is a fault in words; "no" when none is."""
    if rule.drift is None:
        return "no"
    sizes = [f"by {rule.least_change:g}"] if rule.least_change else []
    sizes += [f"{rule.least_factor:g}-fold"] if rule.least_factor > 1 else []
    sizes += [f"by {rule.least_share:.0%} of its range"] if rule.least_share else []
    direction = {"both": "up or down"}.get(rule.drift, rule.drift)
    return f"{direction} {' and '.join(sizes)}".strip()


def test_the_page_on_health_has_a_row_for_every_column() -> None:
    text = (
        (DOCS / "health.md").read_text(encoding="utf-8").split("## Columns")[1].split("## Drift")[0]
    )
    rows = re.findall(r"^\| `([^`]+)` \| (.+?) \| (.+?) \| (.+?) \|$", text, re.MULTILINE)
    assert rows == [
        (name, rule.measures, rule.describe_bounds(), _describe_drift(rule))
        for name, rule in RULES.items()
    ]


def test_the_names_of_other_programs_on_the_page_on_health_have_a_rule() -> None:
    text = (DOCS / "health.md").read_text(encoding="utf-8").split("## Names of other programs")[1]
    table = text.split("Live, give")[0].split("|---|---|")[1]
    names = re.findall(r"`([^`]+)`", table)
    assert len(names) > 30
    assert [name for name in names if match_rule(name) is None] == []


def test_the_page_on_the_curriculum_names_every_strategy() -> None:
    text = (DOCS / "curriculum.md").read_text(encoding="utf-8")
    assert all(f"| `{name}`" in text for name in curriculum_strategies.STRATEGIES)
