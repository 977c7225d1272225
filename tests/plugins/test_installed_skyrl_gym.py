"""The adapter for SkyRL-Gym, made by the package's own `make`."""

import pytest
from installed import require_packages

from small_tasks import SOLUTION, adding_task

require_packages("skyrl_gym")

import skyrl_gym  # noqa: E402
from examples.plugins import skyrl_gym_env  # noqa: E402

from aegir_rl.base.errors import UsageError  # noqa: E402
from aegir_rl.plugins import skyrl_gym as ours  # noqa: E402
from aegir_rl.plugins.code_tasks import CodeTasks  # noqa: E402
from aegir_rl.simulator import write_tasks  # noqa: E402

TASKS = [adding_task(number) for number in range(1, 6)]


@pytest.fixture(scope="module")
def tasks(sandbox):
    opened = CodeTasks(TASKS, open_one=lambda: sandbox)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ours, "shared_tasks", lambda path, **_: opened)
        yield opened


def make(task, **config):
    ours.register_code_env()
    return skyrl_gym.make(
        ours.ID, env_config={"tasks": "tasks.jsonl", **config}, extras={"task": task}
    )


def test_known_solutions_are_rewarded_and_starters_are_not(tasks):
    for task in TASKS:
        right, wrong = make(task.id), make(task.id)
        assert right.step(task.solution)["reward"] == 1.0
        ended = wrong.step(task.starter)
        assert (ended["reward"], ended["done"]) == (0.0, True)
        assert right.get_metrics() == {"solved": 1.0, "passed": 1.0, "turns": 1}


def test_a_second_turn_is_told_what_failed(tasks):
    environment = make("add-2", attempts=2)
    prompt, info = environment.init(ours.code_rows(tasks)[1]["prompt"])
    assert "Add 2." in prompt[-1]["content"]
    assert info == {}
    first = environment.step(TASKS[1].starter)
    assert not first["done"]
    assert "returned 1, expected 3" in first["observations"][0]["content"]
    last = environment.step(SOLUTION)
    assert (last["done"], last["reward"], last["observations"]) == (True, 1.0, [])


def test_metrics_of_several_episodes_are_averaged_by_the_package(tasks):
    metrics = []
    for answer in (SOLUTION, TASKS[0].starter):
        environment = make("add-1")
        environment.step(answer)
        metrics.append(environment.get_metrics())
    assert ours.CodeTextEnv.aggregate_metrics(metrics)["solved"] == 0.5


def test_the_example_runs(tmp_path, tasks):
    path = tmp_path / "tasks.jsonl"
    write_tasks(TASKS, path)
    assert skyrl_gym_env.main(str(path)) == 1.0


def test_a_missing_setting_is_named(tasks):
    ours.register_code_env()
    with pytest.raises(UsageError, match="env_config of aegir_code has no 'tasks'"):
        ours.CodeTextEnv({}, {"task": "add-1"})
    with pytest.raises(UsageError, match="extras of aegir_code has no 'task'"):
        ours.CodeTextEnv({"tasks": "tasks.jsonl"}, {})
