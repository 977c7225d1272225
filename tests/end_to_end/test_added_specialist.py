"""A specialist of one's own, from `aegir swarm add` to the answers of `aegir annotate`, with the models that ship."""

import json
from pathlib import Path
from random import Random

import pytest

from command_line import run
from pooled_specialists import write_insisting

TABLES = 60
HEADER = "tel_fax"
"""It leaves open which of the two the numbers are."""


def numbers(seed: int) -> list[str]:
    """Numbers that could be telephones' or fax machines', made up."""
    random = Random(seed)
    return [f"+{random.randint(10, 99)} 555 {random.randint(1000, 9999)}" for _ in range(8)]


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, empty."""
    monkeypatch.setenv("AEGIR_SWARM", str(tmp_path / "swarm"))
    return tmp_path / "swarm"


def answers(*arguments: object) -> list[dict]:
    done = run("annotate", "--json", *arguments)
    assert done.code == 0, done.err
    return [json.loads(line)["columns"][0] for line in done.out.splitlines()]


def test_a_validated_specialist_changes_ambiguous_columns_at_high_effort_alone(pool, tmp_path):
    lines = [
        {
            "id": f"made up {seed}",
            "columns": [{"name": HEADER, "values": numbers(seed), "cta": "faxNumber"}],
        }
        for seed in range(TABLES)
    ]
    labelled = tmp_path / "labelled.jsonl"
    labelled.write_text("\n".join(map(json.dumps, lines)))
    lake = tmp_path / "lake"
    lake.mkdir()
    for seed in (100, 101):
        cells = "\n".join(numbers(seed))
        (lake / f"{seed}.csv").write_text(f"{HEADER}\n{cells}\n")
    before = answers(lake, "--effort", "high")
    assert [column["type"] for column in before] == ["telephone"] * 2
    weights = write_insisting(tmp_path / "fax.safetensors", "faxNumber", ("telephone", "faxNumber"))
    done = run("swarm", "add", weights, "--tables", labelled)
    assert done.code == 0, done.err
    assert (
        "`aegir annotate --effort high` asks fax about columns that could be several of" in done.err
    )
    assert "asked at high effort" in run("swarm", "list").out
    high = answers(lake, "--effort", "high")
    assert [column["type"] for column in high] == ["faxNumber"] * 2
    assert any("searched with fax: person" in reason for reason in high[0]["reasons"])
    assert answers(lake, "--effort", "high", "--workers", "2") == high
    assert [column["type"] for column in answers(lake)] == ["telephone"] * 2, "not at normal effort"
    routing = tmp_path / "routing.yaml"
    routing.write_text("rules:\n  - otherwise -> all\nroles:\n  all:\n    primary: search@high\n")
    assert [column["type"] for column in answers(lake, "--routing", routing)] == ["faxNumber"] * 2
    run("swarm", "remove", "fax")
    assert answers(lake, "--effort", "high") == before
