"""The adapter for verl: found by the function that verl's trainer finds reward managers with, and run on its batches."""

import asyncio
import math
from pathlib import Path

import pytest
from installed import require_packages

require_packages("verl")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.trainer.ppo.reward import load_reward_manager  # noqa: E402

from aegir_rl.health import HealthMonitor  # noqa: E402
from aegir_rl.plugins.verl import make_reward_manager  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "verl_rewards.py"


class Letters:
    """A tokenizer of letters: 1 is a, 2 is b, 0 is padding."""

    def decode(self, tokens, skip_special_tokens):
        return "".join(chr(96 + int(each)) for each in tokens)


def batch(text, truth, padded=4):
    """One row, as verl's rollout makes it: prompt, response padded on the right, mask over both."""
    response = [ord(each) - 96 for each in text]
    padding = [0] * (padded - len(text))
    mask = [1, 1, *([1] * len(text)), *padding]
    tensors = {
        "prompts": torch.tensor([[1, 2]]),
        "responses": torch.tensor([response + padding]),
        "attention_mask": torch.tensor([mask]),
    }
    others = {
        "data_source": np.array(["letters"], object),
        "reward_model": np.array([{"ground_truth": truth}], object),
    }
    return DataProto.from_dict(tensors=tensors, non_tensors=others)


def run(manager, *rows):
    async def score():
        return [await manager.run_single(row) for row in rows]

    return manager.loop.run_until_complete(score())


@pytest.fixture
def loop():
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield made
    made.close()


def test_verl_loads_the_manager_of_the_example_and_scores_a_batch(loop):
    manager = {"source": "importlib", "name": "Rewards", "module": {"path": str(EXAMPLE)}}
    config = OmegaConf.create({"reward": {"reward_manager": manager}})
    loaded = load_reward_manager(config, Letters())
    rows = [batch("ab", "ab"), batch("abc", "ba")]
    scored = run(loaded, *rows)
    assert [each["reward_score"] for each in scored] == [1.0, 0.0]
    together = DataProto.concat(rows)
    placed = type(loaded).assemble_rm_scores(together, [each["reward_score"] for each in scored])
    assert placed.tolist() == [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]


def test_a_missing_reward_is_the_mean_so_far_and_says_so(loop):
    answers = iter([[1.0], [0.0], [None]])
    made = make_reward_manager(lambda completions: next(answers), name="judge")
    scored = run(made(OmegaConf.create({}), Letters()), *[batch("a", "a")] * 3)
    assert [each["reward_score"] for each in scored] == [1.0, 0.0, 0.5]
    assert [each["reward_extra_info"]["reward_missing"] for each in scored] == [0, 0, 1]
    assert made.inner.metrics()["reward/judge/missing"] == 1


def test_an_async_score_is_awaited_and_the_monitor_asked(loop):
    async def judge(completions):
        return [math.nan]

    monitor = HealthMonitor()
    made = make_reward_manager(judge, name="judge", monitor=monitor, window=8)
    scored = run(made(OmegaConf.create({}), Letters()), *[batch("a", "a")] * 9)
    assert [each["reward_score"] for each in scored] == [0.0] * 9
    assert monitor.metrics()["health/checks"] == 1
    assert monitor.metrics()["health/warnings"] == 1  # all of them missing
