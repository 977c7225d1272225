"""Tasks as a language model meets them: prompts, answers that hold no code, judgements from a sandbox."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.plugins import code_tasks
from aegir_rl.plugins.code_tasks import CodeTasks, shared_tasks
from aegir_rl.simulator import write_tasks
from sandboxes import open_or_skip
from small_tasks import SOLUTION, adding_task

HALF = "def solve(number):\n    return number + 1 if number < 4 else 0\n"


@pytest.fixture(scope="module")
def tasks(sandbox):
    with CodeTasks([adding_task(1), adding_task(2)], open_one=lambda: sandbox) as opened:
        yield opened


def test_a_prompt_shows_statement_starter_and_examples_only(tasks):
    prompt = tasks.prompt("add-2")
    assert "Add 2." in prompt
    assert "solve(1) returns 3" in prompt
    assert "solve(2)" not in prompt
    assert [each["role"] for each in tasks.messages(1)] == ["system", "user"]


def test_known_solutions_are_rewarded_and_starters_are_not(tasks):
    right, wrong = tasks.judge(0, SOLUTION), tasks.judge(0, tasks.tasks[0].starter)
    assert (right.reward, right.solved, right.feedback) == (1.0, True, "3 of 3 hidden cases pass")
    assert (wrong.reward, wrong.passed, wrong.feedback) == (0.0, 0, "0 of 3 hidden cases pass")


def test_a_share_of_the_cases_is_a_share_of_the_reward_if_asked(sandbox):
    shares = CodeTasks([adding_task(1)], grade="share", open_one=lambda: sandbox)
    assert shares.judge(0, HALF).reward == 2 / 3
    whole = CodeTasks([adding_task(1)], open_one=lambda: sandbox)
    assert whole.judge(0, HALF).reward == 0.0


def test_an_answer_without_a_module_gets_nothing_and_is_told_why(tasks):
    judged = tasks.judge(0, "I do not know:")
    assert judged.reward == 0.0
    assert judged.feedback.startswith("the answer is no Python module: ")
    long = tasks.try_public(0, "#" * (code_tasks.LONGEST_ANSWER + 1))
    assert "longer than 200,000 characters" in long.feedback


def test_public_cases_say_what_failed(tasks):
    told = tasks.try_public(0, "def solve(number):\n    return 7\n").feedback
    assert "returned 7, expected 2" in told


def test_a_sandbox_that_breaks_raises_and_is_no_wrong_answer():
    class Broken:
        def run(self, program, limits=None):
            raise OSError("the sandbox is gone")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    with (
        CodeTasks([adding_task(1)], open_one=Broken) as tasks,
        pytest.raises(OSError, match="gone"),
    ):
        tasks.judge(0, SOLUTION)


def test_threads_share_sandboxes():
    with (
        CodeTasks([adding_task(1)], workers=2, open_one=open_or_skip) as tasks,
        ThreadPoolExecutor(4) as pool,
    ):
        judged = list(pool.map(lambda answer: tasks.judge(0, answer), [SOLUTION, HALF] * 4))
    assert [each.reward for each in judged] == [1.0, 0.0] * 4


def test_a_copy_shares_the_sandboxes(tasks):
    assert copy.deepcopy({"tasks": tasks})["tasks"] is tasks


def test_a_file_is_opened_once_per_process(tmp_path, sandbox):
    path = tmp_path / "tasks.jsonl"
    write_tasks([adding_task(3)], path)
    first = shared_tasks(path)
    assert shared_tasks(str(path)) is first
    first.close()


@pytest.mark.parametrize(
    ("task", "sentence"),
    [(2, "there is no task 2; expected 0 to 1"), ("x", "there is no task 'x'")],
)
def test_a_task_that_is_not_there_is_named(tasks, task, sentence):
    with pytest.raises(UsageError, match=sentence):
        tasks.judge(task, SOLUTION)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"tasks": []}, "there are no tasks; make some with"),
        ({"grade": "some"}, "grade is 'some'; expected 'all' or 'share'"),
        ({"workers": 0}, "workers is 0; expected 1 to 256"),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        CodeTasks(**{"tasks": [adding_task(1)], **settings})
