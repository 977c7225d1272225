"""Data sets: the same arguments give the same tasks, a larger one begins with a smaller one, and exports hold all that scoring needs."""

import json

import duckdb
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator import create, score_answer, write_dataset
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import parse_task


def test_family_level_and_seed_determine_the_tasks_and_size_only_how_many(sandbox: Sandbox):
    small = create("pivot", 2, 3, 5, sandbox=sandbox)
    larger = create("pivot", level=2, size=5, seed=5, sandbox=sandbox)
    assert small.tasks == larger[:3].tasks
    assert {task.difficulty["level"] for task in larger} == {2}
    assert len({task.id for task in larger}) == 5
    other = create("pivot", 2, 3, 6, sandbox=sandbox)
    assert not {task.solution for task in other} & {task.solution for task in small}
    mixed = create(["pivot", "dates"], size=6, sandbox=sandbox)
    assert [task.family for task in mixed] == ["dates", "pivot"] * 3
    assert [task.difficulty["level"] for task in mixed] == [1, 1, 2, 2, 3, 3]


def test_an_answer_is_scored_by_the_hidden_cases(sandbox: Sandbox):
    (task,) = create("dates", 1, 1, sandbox=sandbox)
    assert score_answer(task, f"Thinking.\n```python\n{task.solution}```", sandbox) == 1.0
    assert score_answer(task, f"```python\n{task.starter}```", sandbox) == 0.0
    assert score_answer(task, "I cannot", sandbox) == 0.0


def test_exports_hold_prompt_answer_and_the_task_again(sandbox: Sandbox, tmp_path):
    tasks = create("numbers", 3, 2, sandbox=sandbox)
    lines, table = tmp_path / "tasks.jsonl", tmp_path / "tasks.parquet"
    write_dataset(tasks, lines)
    write_dataset(tasks, table)
    read = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    rows = duckdb.execute(
        "SELECT prompt, answer, info FROM read_parquet(?)", [str(table)]
    ).fetchall()
    for task, entry, row in zip(tasks, read, rows, strict=True):
        assert task.statement in entry["prompt"]
        assert entry["answer"] == task.solution
        assert parse_task(entry["info"]["task"].encode(), "line 1") == task
        assert row == (
            entry["prompt"],
            entry["answer"],
            json.dumps(entry["info"], ensure_ascii=False),
        )
        hidden = [
            json.dumps(case.arguments[0]) for case in task.hidden if len(case.arguments[0]) > 5
        ]
        assert hidden
        assert not any(text in entry["prompt"] for text in hidden)


def test_wrong_levels_families_and_endings_are_refused_in_one_sentence(sandbox: Sandbox, tmp_path):
    with pytest.raises(UsageError, match="the level is 4; expected 1 to 3"):
        create("dates", 4, sandbox=sandbox)
    with pytest.raises(UsageError, match="there is no family 'date'"):
        create("date", sandbox=sandbox)
    with pytest.raises(UsageError, match=r"ends in '\.csv'; expected \.jsonl or \.parquet"):
        write_dataset(create("dates", 1, 1, sandbox=sandbox), tmp_path / "tasks.csv")
