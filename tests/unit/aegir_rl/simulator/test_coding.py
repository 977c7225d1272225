"""Writing code over several turns: what actions do, what they cost, what is earned, and what is seen."""

import json
from dataclasses import replace

import pytest
from gymnasium.utils.env_checker import check_env

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator import CodingBudget, CodingEnv, CodingEpisode
from aegir_rl.simulator.coding import LONGEST
from aegir_rl.simulator.patches import make_patch
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import REPOSITORY, Case, Task
from small_tasks import SOLUTION, adding_task

TASK = adding_task(5)
PARTLY = "def solve(number):\n    return number + 5 if number < 3 else 0\n"


def small_repository() -> Task:
    """A package of one module with a bug, and one test."""
    files = {
        "led/__init__.py": "",
        "led/sums.py": "def add(one, other):\n    return one - other\n",
        "tests/__init__.py": "",
        "tests/test_sums.py": (
            "import unittest\n\nfrom led.sums import add\n\n\nclass Sums(unittest.TestCase):\n"
            "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n"
        ),
    }
    right = {**files, "led/sums.py": files["led/sums.py"].replace("-", "+")}
    return replace(
        TASK,
        files=files,
        starter="",
        solution=make_patch(files, right),
        public=(Case(("test", "tests.test_sums.Sums.test_add"), "passed"),),
        hidden=(Case(("call", "led.sums:add", 4, 5), 9),),
        kind=REPOSITORY,
    )


def test_edit_run_submit_solves_a_task(sandbox: Sandbox):
    episode = CodingEpisode(TASK, sandbox)
    assert "Add 5." in episode.observation
    failed = episode.run()
    assert "0 of 1 tests passed." in failed.observation
    assert "returned 1, expected 6" in failed.observation
    edited = episode.edit("solution.py", old="return number", new="return number + 5")
    assert (edited.reward, edited.done) == (0.0, False)
    assert "1 of 1 tests passed." in episode.run().observation
    done = episode.submit()
    assert (done.reward, done.done) == (1.0, True)
    assert (done.info["ended"], done.info["passed"], done.info["total"]) == ("submitted", 3, 3)
    with pytest.raises(UsageError, match="the episode of task 'add-5' has ended"):
        episode.run()


def test_hidden_cases_decide_whole_or_by_their_share(sandbox: Sandbox):
    for partial, reward in ((False, 0.0), (True, 1 / 3)):
        episode = CodingEpisode(TASK, sandbox, partial=partial)
        episode.edit("solution.py", PARTLY)
        assert "1 of 1 tests passed." in episode.run().observation
        assert episode.submit().reward == reward


def test_shaping_changes_when_rewards_come_but_not_their_sum(sandbox: Sandbox):
    episode = CodingEpisode(TASK, sandbox, shaping=0.5)
    rewards = [
        episode.run().reward,
        episode.edit("solution.py", SOLUTION).reward,
        episode.run().reward,
        episode.run().reward,
        episode.submit().reward,
    ]
    assert rewards == [0.0, 0.0, 0.5, 0.0, 0.5]  # the share rose from 0 to 1; at the end it is 0
    assert sum(rewards) == 1.0


@pytest.mark.parametrize(
    ("budget", "ended"),
    [
        (CodingBudget(turns=2), "turns"),
        (CodingBudget(tokens=30), "tokens"),
        (CodingBudget(seconds=1e-6), "seconds"),
    ],
)
def test_what_stands_is_handed_in_when_a_budget_is_used_up(budget, ended, sandbox: Sandbox):
    right = replace(TASK, starter=SOLUTION)
    episode = CodingEpisode(right, sandbox, budget)
    turn = episode.run()
    while not turn.done:
        turn = episode.edit("solution.py", SOLUTION)
    assert (turn.info["ended"], turn.reward) == (ended, 1.0)


def test_an_action_over_the_tokens_is_not_carried_out(sandbox: Sandbox):
    episode = CodingEpisode(
        TASK, sandbox, CodingBudget(tokens=5), count_tokens=lambda text: len(text.split())
    )
    turn = episode.edit("solution.py", SOLUTION)
    assert (turn.info["tokens"] > 5, turn.reward, turn.info["ended"]) == (True, 0.0, "tokens")
    assert episode.files["solution.py"] == TASK.starter


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("let me think", "it is no JSON object; Answer with one JSON object:"),
        ("[" * 100_000, "it is no JSON object"),
        ("[]", "it has no 'action' that is edit, run or submit"),
        ('{"action": "delete"}', "it has no 'action' that is edit, run or submit"),
        ('{"action": "edit"}', "an edit needs 'file' as a text"),
        ('{"action": "edit", "file": 3, "text": ""}', "an edit needs 'file' as a text"),
        (
            '{"action": "edit", "file": "amount.txt", "text": "9"}',
            "cannot be changed; the solution",
        ),
        ('{"action": "edit", "file": "../x", "text": "9"}', "cannot be changed; the solution is"),
        (
            '{"action": "edit", "file": "solution.py", "old": "e", "new": ""}',
            "'old' stands in 5 places of solution.py",
        ),
        ('{"action": "edit", "file": "solution.py", "old": "", "new": ""}', "'old' stands in any"),
        (
            json.dumps({"action": "run", "more": "x" * 300_000}),
            "it has more than 262,144 characters",
        ),
    ],
)
def test_an_action_that_cannot_be_carried_out_costs_a_turn_and_says_why(
    action, said, sandbox: Sandbox
):
    episode = CodingEpisode(TASK, sandbox, CodingBudget(tokens=1_000_000))
    turn = episode.step(action)
    assert said in turn.observation
    assert (turn.reward, turn.done, turn.info["turns"]) == (0.0, False, 1)
    assert turn.info["tokens"] > 0
    assert episode.files["solution.py"] == TASK.starter


def test_the_last_block_of_a_longer_answer_is_the_action(sandbox: Sandbox):
    episode = CodingEpisode(TASK, sandbox)
    turn = episode.step(
        'I will run it.\n```json\n{"action": "submit"}\n```\nNo:\n```json\n{"action": "run"}\n```'
    )
    assert "0 of 1 tests passed." in turn.observation


def test_observations_are_bounded_and_show_nothing_hidden(sandbox: Sandbox):
    secret = replace(TASK, hidden=(Case((77_123,), 77_128),), files={"amount.txt": "5" * 50_000})
    episode = CodingEpisode(secret, sandbox, CodingBudget(tokens=1_000_000))
    episode.edit(
        "solution.py",
        "def solve(number):\n    print('x' * 10**4)\n    raise ValueError('y' * 10**5)\n",
    )
    seen = [episode.run().observation, episode.edit("solution.py", "#" * 200_000).observation]
    seen.append(episode.submit().observation)
    assert max(map(len, seen)) <= LONGEST
    assert not any("7712" in text for text in seen)
    assert all("# Actions" in text for text in seen)


def test_files_of_a_repository_are_edited_and_its_tests_are_not(sandbox: Sandbox):
    task = small_repository()
    episode = CodingEpisode(task, sandbox)
    assert "AssertionError: -1 != 3" in episode.run().observation
    for name in ("tests/test_sums.py", "led/../tests/test_sums.py", "/etc/passwd", ".git/config"):
        assert (
            "cannot be changed; expected a file of the package"
            in episode.edit(name, "").observation
        )
    episode.edit("led/sums.py", old="one - other", new="one + other")
    assert episode.solution == task.solution
    assert "1 of 1 tests passed." in episode.run().observation
    assert episode.submit().reward == 1.0


def test_budgets_are_positive():
    with pytest.raises(UsageError, match="turns of the budget is 0; expected a number above 0"):
        CodingBudget(turns=0)


def test_the_environment_is_one_of_gymnasium(sandbox: Sandbox):
    tasks = [adding_task(number) for number in (1, 2, 3)]
    env = CodingEnv(tasks, sandbox, CodingBudget(turns=3))
    check_env(env, skip_render_check=True)
    assert env.reset(options={"task": 2})[1]["task"] == "add-3"
    drawn = [env.reset(seed=seed)[1]["task"] for seed in (1, 1, 2, 3, 4, 5)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    env.reset(options={"task": 0})
    env.step(json.dumps({"action": "edit", "file": "solution.py", "text": SOLUTION}))
    observation, reward, terminated, truncated, info = env.step('{"action": "submit"}')
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert env.observation_space.contains(observation)
    with pytest.raises(UsageError, match="task 3 is not one of 0 to 2"):
        env.reset(options={"task": 3})
    with pytest.raises(UsageError, match="was not reset"):
        CodingEnv(tasks, sandbox).step("")
    with pytest.raises(UsageError, match="there are no tasks"):
        CodingEnv([], sandbox)
