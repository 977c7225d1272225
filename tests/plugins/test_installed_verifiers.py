"""The adapter for verifiers: its taskset in an environment of the package, against a model that is a web server here."""

import asyncio
import importlib
import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest
from installed import require_packages

from small_tasks import SOLUTION, adding_task

require_packages("verifiers")

import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.envs.best_of_n.env import BestOfNEnvConfig  # noqa: E402

from aegir_rl.health import HealthMonitor, Unwell  # noqa: E402
from aegir_rl.plugins import code_tasks  # noqa: E402
from aegir_rl.plugins.verifiers import CodeTask, CodeTaskset, GroupReward  # noqa: E402
from aegir_rl.simulator import write_tasks  # noqa: E402
from aegir_rl.simulator.task import read_tasks  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples" / "plugins"


class AskOnce(vf.Harness[vf.HarnessConfig]):
    """Sends the prompt once and keeps the answer."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, **_):
        system, prompt = self.resolve_text_prompt(data)
        body = {
            "model": ctx.model,
            "messages": [
                {"role": "system", "content": system or ""},
                {"role": "user", "content": prompt},
            ],
        }
        request = urllib.request.Request(
            f"{endpoint}/chat/completions",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"},
        )
        await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=30).read())
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


class Model(BaseHTTPRequestHandler):
    """Answers in turn with each of `answers`."""

    answers: list[str]

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.answers.pop(0)
        self.answers.append(answer)
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": answer},
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        sent = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def taskset_file(tmp_path_factory, sandbox):
    path = tmp_path_factory.mktemp("tasks") / "tasks.jsonl"
    write_tasks([adding_task(number) for number in range(1, 6)], path)
    tasks = code_tasks.CodeTasks(read_tasks(path), open_one=lambda: sandbox)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code_tasks, "_opened", lambda *_: tasks)
        yield path


@pytest.fixture
def modules(monkeypatch):
    """The taskset of the example, and a harness in a module of its own, as users have them."""
    monkeypatch.syspath_prepend(EXAMPLES)
    module = ModuleType("ask_once")
    module.__dict__.update({"__all__": ["AskOnce"], "AskOnce": AskOnce})
    module.__spec__ = ModuleSpec("ask_once", None)
    monkeypatch.setitem(sys.modules, "ask_once", module)


@pytest.fixture
def endpoint():
    fence = f"First idea:\n\n```python\n{SOLUTION}```"
    handler = type("Answers", (Model,), {"answers": [fence, "def solve(number):\n    return 0\n"]})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


def load(path):
    return CodeTaskset(CodeTaskset_config(path))


def CodeTaskset_config(path):  # noqa: N802
    return vf.taskset_config_type("verifiers_tasks")(id="verifiers_tasks", task={"tasks": path})


def test_a_taskset_has_a_task_per_line_and_no_hidden_case(taskset_file, modules):
    tasks = list(load(taskset_file))
    assert [task.key for task in tasks] == [f"add-{number}" for number in range(1, 6)]
    assert "Add 1." in tasks[0].data.prompt
    shown = json.dumps([task.data.model_dump(mode="json") for task in tasks])
    assert SOLUTION.strip() not in shown
    assert "hidden" not in shown


def test_known_solutions_are_valid_and_starters_are_not(taskset_file, modules):
    tasks = list(load(taskset_file))
    assert [asyncio.run(task.validate(None)) for task in tasks] == [True] * 5


def test_an_environment_scores_the_replies_of_a_model_and_compares_them(
    taskset_file, modules, endpoint
):
    example = importlib.import_module("verifiers_tasks")
    group = example.STYLE
    agent = vf.AgentConfig(harness={"id": "ask_once"}, runtime=vf.SubprocessConfig())
    config = BestOfNEnvConfig(
        taskset=CodeTaskset_config(taskset_file), agent=agent, n=2, max_concurrent_agents=1
    )
    assert vf.environment_class("verifiers_tasks") is example.ComparedAttempts
    environment = example.ComparedAttempts(config)
    context = vf.ModelContext(
        model="m", client=vf.EvalClientConfig(base_url=endpoint), sampling=vf.SamplingConfig()
    )

    async def run():
        async with environment.serving():
            task = next(iter(environment.taskset))
            return await environment.run_episode(task, context)

    episode = asyncio.run(run())
    assert episode.ok, episode.errors or [trace.errors for trace in episode.traces]
    assert [trace.rewards["hidden_cases"].score for trace in episode.traces] == [1.0, 0.0]
    assert all(trace.rewards["style"].weight == 0.1 for trace in episode.traces)
    assert all("style_agreement" in trace.metrics for trace in episode.traces)
    assert group.metrics()["reward/style/scored"] == 2


class Recorded:
    """A trace that remembers its reward."""

    def __init__(self):
        self.reward = None

    def record_reward(self, name, value, weight):
        self.reward = value


class Group:
    def __init__(self, size):
        self.traces = [Recorded() for _ in range(size)]


def test_a_missing_reward_of_a_group_is_the_mean_of_the_others():
    group, episode = GroupReward(lambda traces: [1.0, None, 3.0], name="judge"), Group(3)
    asyncio.run(group.score(episode))
    assert [trace.reward for trace in episode.traces] == [1.0, 2.0, 3.0]


def test_rewards_that_are_not_numbers_end_the_episode_with_the_reason():
    group = GroupReward(lambda traces: 1 / 0, name="judge", monitor=HealthMonitor())
    with pytest.raises(Unwell, match="reward/nonfinite was 1"):
        asyncio.run(group.score(Group(2)))
    assert group.metrics()["reward/judge/failures"] == 1


def test_a_task_is_of_the_taskset_it_says():
    assert CodeTaskset.task_type() is CodeTask
