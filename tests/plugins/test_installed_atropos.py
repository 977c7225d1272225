"""The adapters for Atropos: rewards in its registry, and its environment against a model that is a web server here."""

import asyncio
import json
import math
import runpy
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from installed import require_packages

from small_tasks import SOLUTION, adding_task

require_packages("atropos")

from atroposlib.envs import reward_fns as functions  # noqa: E402
from atroposlib.envs.base import APIServerConfig  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402

from aegir_rl.base.errors import UsageError  # noqa: E402
from aegir_rl.plugins import atropos_env  # noqa: E402
from aegir_rl.plugins.atropos import make_atropos_class  # noqa: E402
from aegir_rl.plugins.code_tasks import CodeTasks  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


class Model(BaseHTTPRequestHandler):
    """Answers with the known solution and with a wrong one, in turn."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [SOLUTION, "def solve(number):\n    return 0\n"]
        choices = [
            {
                "index": index,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": texts[index % 2]},
            }
            for index in range(asked.get("n") or 1)
        ]
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        sent = json.dumps({**body, "choices": choices}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    plain = Tokenizer(models.BPE(vocab={each: n for n, each in enumerate(letters)}, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="!", pad_token="!")
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)
    return folder


def test_the_environment_makes_scored_groups_and_its_curriculum_learns(
    endpoint, tokenizer_folder, sandbox, monkeypatch
):
    tasks = CodeTasks([adding_task(n) for n in range(1, 4)], open_one=lambda: sandbox)
    monkeypatch.setattr(atropos_env, "shared_tasks", lambda *_, **__: tasks)
    config = atropos_env.CodeEnvConfig(
        tokenizer_name=str(tokenizer_folder), group_size=4, use_wandb=False, evaluated=2
    )
    server = APIServerConfig(
        base_url=endpoint,
        api_key="x",
        model_name="m",
        server_type="openai",
        num_requests_for_eval=4,
        health_check=False,
    )

    async def run():
        environment = atropos_env.CodeEnv(config, [server])
        await environment.setup()
        item = await environment.get_next_item()
        group, backlog = await environment.collect_trajectories(item)
        return environment, group, backlog, await environment.evaluate()

    environment, group, backlog, evaluated = asyncio.run(run())
    assert group["scores"] == [1.0, 0.0, 1.0, 0.0]
    assert backlog == []
    assert all(
        len(tokens) == len(masks)
        for tokens, masks in zip(group["tokens"], group["masks"], strict=True)
    )
    trained = [each for each in group["masks"][0] if each != -100]
    assert environment.tokenizer.decode(trained).strip() == SOLUTION.strip()
    assert environment.curriculum.metrics()["curriculum/mean_success"] == 0.5
    assert evaluated == {"eval/solved": 1.0}


def test_the_example_is_a_command_line_of_the_package():
    run = runpy.run_module("examples.plugins.atropos_code_env")
    assert run["CodeEnv"] is atropos_env.CodeEnv


def lengths(completions):
    return [float(len(one)) for one in completions]


def broken(completions):
    raise RuntimeError("the judge is away")


def test_the_registry_takes_our_rewards():
    functions.registry.register(make_atropos_class(lengths, name="aegir_size"))
    functions.registry.register(make_atropos_class(broken, name="aegir_gone"))
    made = functions.registry.create("aegir_size", weight=2.0)
    assert isinstance(made, functions.RewardFunction)
    assert made(["ab"]) == [4.0]
    assert all(math.isnan(one) for one in functions.registry.create("aegir_gone")(["ab"]))
    combined = functions.CombinedReward(["aegir_size", "aegir_size"])
    assert combined.compute(["ab"]) == [4.0]
    with pytest.raises(UsageError, match="has a reward 'aegir_size' already"):
        make_atropos_class(lengths, name="aegir_size")
