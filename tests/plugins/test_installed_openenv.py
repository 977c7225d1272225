"""The adapter for OpenEnv: the environment itself, and behind the package's server and client."""

import asyncio
import json
import math
import os
import socket
import subprocess
import sys
import time

import pytest
from installed import require_packages

from small_tasks import SOLUTION, adding_task

require_packages("openenv")

import urllib.request  # noqa: E402

from examples.plugins import openenv_client  # noqa: E402
from openenv.core import GenericEnvClient  # noqa: E402

from aegir_rl.base.errors import UsageError  # noqa: E402
from aegir_rl.plugins.code_tasks import CodeTasks  # noqa: E402
from aegir_rl.plugins.openenv import (  # noqa: E402
    CodeAction,
    CodeTaskEnvironment,
    CombinedRubric,
    EnsembleRubric,
    HiddenCases,
    NormalizedRubric,
)
from aegir_rl.raters import RewardEnsemble  # noqa: E402
from aegir_rl.rewards import RunningNormalizer  # noqa: E402
from aegir_rl.simulator import write_tasks  # noqa: E402

TASKS = [adding_task(number) for number in range(1, 21)]


@pytest.fixture(scope="module")
def tasks(sandbox):
    with CodeTasks(TASKS, open_one=lambda: sandbox) as opened:
        yield opened


def test_every_known_solution_is_rewarded_and_no_starter_is(tasks):
    environment = CodeTaskEnvironment(tasks)
    rewards: dict[str, list[float]] = {"known": [], "starter": []}
    for index, task in enumerate(TASKS):
        for name, answer in (("known", task.solution), ("starter", task.starter)):
            shown = environment.reset(index=index)
            assert not shown.done
            assert task.statement in shown.prompt
            after = environment.step(CodeAction(answer=answer))
            assert after.done
            rewards[name].append(after.reward)
    assert rewards == {"known": [1.0] * 20, "starter": [0.0] * 20}


def test_an_answer_may_be_repaired_while_attempts_are_left(tasks):
    environment = CodeTaskEnvironment(tasks, attempts=3)
    environment.reset(task="add-3")
    first = environment.step(CodeAction(answer=TASKS[2].starter))
    assert (first.done, first.reward, first.attempts_left) == (False, 0.0, 2)
    assert "returned 1, expected 4" in first.feedback
    last = environment.step(CodeAction(answer=f"Now:\n```python\n{SOLUTION}```"))
    assert (last.done, last.reward, last.solved) == (True, 1.0, True)
    assert environment.state.step_count == 2
    with pytest.raises(UsageError, match="the episode has ended"):
        environment.step(CodeAction(answer=SOLUTION))


def test_tasks_come_in_order_by_index_by_id_and_by_seed(tasks):
    environment = CodeTaskEnvironment(tasks)
    assert [environment.reset().task for _ in range(2)] == ["add-1", "add-2"]
    assert environment.reset(seed=22).task == "add-3"
    assert environment.reset(seed=22, episode_id="mine").task == environment.state.task
    assert environment.state.episode_id == "mine"
    with pytest.raises(UsageError, match="there is no task 'add-99'"):
        environment.reset(task="add-99")


def test_rubrics_rate_combine_normalise_and_fill(tasks):
    ratings = iter([[0.5], [None], [1.5]])
    rated = EnsembleRubric(RewardEnsemble({"judge": lambda items: next(ratings)}))
    assert [rated(None, None) for _ in range(3)] == [0.5, 0.5, 1.5]
    assert (rated.missing, rated.last_score) == (1, 1.5)

    class Fixed(HiddenCases):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def forward(self, action, observation):
            return self.value

    combined = CombinedRubric(Fixed(0.5), Fixed(0.8), Fixed(0.6))
    assert combined(None, None) == pytest.approx(0.8)  # 0.5 + 0.3 * 0.8 + 0.1 * 0.6
    assert [name for name, _ in combined.named_rubrics()] == ["perf", "parallel", "finish"]
    assert math.isnan(CombinedRubric(Fixed(math.nan), Fixed(1), Fixed(1))(None, None))

    values = iter([2.0, 4.0, 9.0])
    scaled = NormalizedRubric(Fixed(0), RunningNormalizer(warm_up=2))
    scaled.inner.forward = lambda action, observation: next(values)
    assert [round(scaled(None, None), 3) for _ in range(3)][-1] == 1.109  # 4 / sqrt(13)


def test_a_rubric_decides_the_reward_of_a_step(tasks):
    class Twice(HiddenCases):
        def forward(self, action, observation):
            return 2 * super().forward(action, observation)

    environment = CodeTaskEnvironment(tasks, rubric=Twice())
    environment.reset()
    assert environment.step(CodeAction(answer=SOLUTION)).reward == 2.0


@pytest.fixture(scope="module")
def server(tmp_path_factory, sandbox):
    path = tmp_path_factory.mktemp("served") / "tasks.jsonl"
    write_tasks(TASKS, path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = (
        "import sys, uvicorn\nfrom pathlib import Path\n"
        "from aegir_rl.plugins.code_tasks import CodeTasks\n"
        "from aegir_rl.plugins.openenv import make_app\n"
        "from aegir_rl.simulator import read_tasks\n"
        "tasks = CodeTasks(read_tasks(Path(sys.argv[1])), workers=2)\n"
        "uvicorn.run(make_app(tasks, attempts=2), port=int(sys.argv[2]), log_level='warning')\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, path, str(port)], env=os.environ)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(3000):  # importing the package takes minutes on a busy machine
            try:
                urllib.request.urlopen(f"{url}/health", timeout=5).read()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def test_the_client_of_the_package_plays_episodes_over_a_websocket(server):
    async def play():
        async with (
            GenericEnvClient(base_url=server) as one,
            GenericEnvClient(base_url=server) as two,
        ):
            first = await one.reset(task="add-4")
            other = await two.reset(task="add-5")
            wrong = await two.step({"answer": TASKS[4].starter})
            right = await one.step({"answer": SOLUTION})
            return first, other, wrong, right, await one.state()

    first, other, wrong, right, state = asyncio.run(play())
    assert "Add 4." in first.observation["prompt"]
    assert "Add 5." in other.observation["prompt"]
    assert (wrong.reward, wrong.done) == (0.0, False)
    assert (right.reward, right.done) == (1.0, True)
    assert state["task"] == "add-4"


def test_the_client_of_the_example_is_told_what_failed_and_rewarded(server, capsys):
    answers = (TASKS[0].starter, SOLUTION)
    assert asyncio.run(openenv_client.play(server, answers)) == 1.0
    assert "returned 1, expected 2" in capsys.readouterr().out


def test_the_server_describes_itself_and_its_tasks(server):
    schema = json.loads(urllib.request.urlopen(f"{server}/schema").read())
    assert "answer" in schema["action"]["properties"]
    assert {"prompt", "feedback", "solved"} <= set(schema["observation"]["properties"])
