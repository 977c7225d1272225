"""The adapter for TRL, in a GRPO trainer of the installed package: a model of a few thousand parameters, on the CPU."""

import asyncio
import inspect
import math
from pathlib import Path

import pytest
from installed import require_packages

from small_tasks import SOLUTION, adding_task

require_packages("trl")

import numpy as np  # noqa: E402
import torch  # noqa: E402
import trl  # noqa: E402
from benchmarks.policy_loss import Case, _draw, _inputs, _stand_in  # noqa: E402
from datasets import Dataset  # noqa: E402
from examples.plugins import trl_grpo  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

from aegir_rl.health import RULES, HealthMonitor, HealthRule  # noqa: E402
from aegir_rl.plugins.code_tasks import CodeTasks  # noqa: E402
from aegir_rl.plugins.torch_objectives import policy_loss  # noqa: E402
from aegir_rl.plugins.trl import (  # noqa: E402
    as_reward,
    code_environments,
    code_rows,
    health_callback,
    read_logs,
)
from aegir_rl.rl import (  # noqa: E402
    CispoForm,
    PpoForm,
    compute_policy_loss,
    truncate_importance,
)
from aegir_rl.simulator import write_tasks  # noqa: E402


@pytest.fixture(scope="module")
def tokenizer():
    """Bytes as tokens, with the chat template of Qwen3."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    vocabulary = {each: number for number, each in enumerate([*special, *letters])}
    bytes_only = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    made.add_special_tokens({"additional_special_tokens": special[1:2]})
    templates = Path(trl.__file__).parent / "chat_templates"
    made.chat_template = (templates / "qwen3.jinja").read_text(encoding="utf-8")
    return made


def tiny_model(tokenizer):
    torch.manual_seed(0)
    return Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            max_position_embeddings=4096,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def train(tokenizer, tmp_path, rows, *, steps=2, **kwargs):
    settings = GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=8,
        max_steps=steps,
        logging_steps=1,
        learning_rate=1e-3,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
    )
    trainer = GRPOTrainer(
        model=tiny_model(tokenizer),
        args=settings,
        train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer,
        **kwargs,
    )
    trainer.train()
    return trainer


PROMPTS = [{"prompt": [{"role": "user", "content": word}]} for word in ("one", "two")]


def test_a_trainer_learns_from_a_plain_and_an_async_reward(tokenizer, tmp_path):
    seen = []

    def length(completions):
        seen.append(len(completions))
        return [float(len(one[0]["content"])) for one in completions]

    async def judge(completions):
        await asyncio.sleep(0)
        return [None, *(0.5 for _ in completions[1:])]

    plain, waited = as_reward(length), as_reward(judge)
    watch = health_callback(stop=False)
    trainer = train(tokenizer, tmp_path, PROMPTS, reward_funcs=[plain, waited], callbacks=[watch])
    assert inspect.iscoroutinefunction(waited)
    assert not inspect.iscoroutinefunction(plain)
    assert seen == [4, 4]
    logged = [line for line in trainer.state.log_history if "reward" in line]
    assert [line["rewards/judge/mean"] for line in logged] == [0.5, 0.5]  # None is not 0
    assert plain.inner.metrics()["reward/length/scored"] == 8
    assert waited.inner.metrics()["reward/judge/missing"] == 2
    assert watch.monitor.metrics()["health/checks"] == 2
    checked = {each.rule for each in watch.report.findings if each.verdict != "unchecked"}
    assert {"reward/mean", "reward/std", "dead_groups", "gradient_norm", "length/mean"} <= checked


def test_an_unwell_run_is_stopped_with_its_reasons(tokenizer, tmp_path):
    rules = {**RULES, "length/mean": HealthRule("length", high=1.0, stops_at_once=True)}
    watch = health_callback(HealthMonitor(rules=rules))
    rewards = as_reward(lambda completions: [0.0, 1.0, 0.0, 1.0], name="fixed")
    trainer = train(
        tokenizer, tmp_path, PROMPTS, steps=5, reward_funcs=[rewards], callbacks=[watch]
    )
    assert trainer.state.global_step == 1
    assert watch.reasons == (
        "completions/mean_length (length/mean) was 8 at step 1; expected at most 1",
    )


def test_a_missing_reward_is_the_mean_of_its_own_group():
    reward = as_reward(lambda completions: [1.0, None, 5.0, 7.0, None], name="judge")
    prompts = [[{"role": "user", "content": each}] for each in "aabbb"]
    assert reward(prompts, ["?"] * 5) == [1.0, 1.0, 5.0, 7.0, 6.0]


def test_a_trainer_rolls_out_environments_over_the_simulator(tokenizer, tmp_path, sandbox):
    with CodeTasks([adding_task(1), adding_task(2)], open_one=lambda: sandbox) as tasks:
        trainer = train(
            tokenizer,
            tmp_path,
            code_rows(tasks),
            steps=1,
            environment_factory=code_environments(tasks),
        )
        line = next(line for line in trainer.state.log_history if "reward" in line)
        assert line["rewards/CodeEnvironment/mean"] == 0.0  # noise is no module
        assert [tool.__name__ for tool in trainer.tools] == ["run_tests", "submit"]


def test_the_example_trains(tokenizer, tmp_path, sandbox, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_tasks([adding_task(1), adding_task(2)], tmp_path / "tasks.jsonl")
    tiny_model(tokenizer).save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    small = {
        "per_device_train_batch_size": 2,
        "num_generations": 2,
        "max_completion_length": 4,
        "max_steps": 1,
        "use_cpu": True,
        "report_to": [],
        "save_strategy": "no",
    }
    trainer = trl_grpo.main(str(tmp_path / "model"), tmp_path / "tasks.jsonl", **small)
    assert trainer.state.global_step == 1


def test_an_environment_rewards_known_solutions_and_not_starters(sandbox):
    with CodeTasks([adding_task(n) for n in range(1, 6)], open_one=lambda: sandbox) as tasks:
        environment = code_environments(tasks)()
        for task in tasks.tasks:
            assert task.statement in environment.reset(task=task.id, prompt="not used")
            assert environment.get_reward() == 0.0
            assert "0 of 1 public cases pass" in environment.run_tests(task.starter)
            assert environment.get_reward() == 0.0
            assert environment.submit(SOLUTION) == "Submitted."
            assert environment.submit(task.starter) == "A module was submitted already."
            assert environment.get_reward() == 1.0


def test_evaluations_and_the_summary_are_not_judged():
    assert read_logs({"eval_loss": 1.0}) == {}
    assert read_logs({"train_runtime": 1.0, "train_loss": math.inf}) == {}
    assert read_logs({"kl": 3.0, "loss": 1, "note": "x"}) == {"reference_kl": 3.0, "loss": 1.0}


LOSSES = {
    "clip-higher": ("bnpo", "token", PpoForm(0.2, 0.28)),
    "dual clip": ("bnpo", "token", PpoForm(0.2, 0.2, dual=1.5)),
    "GSPO": ("grpo", "sequence", PpoForm(0.02, 0.03)),
    "CISPO": ("bnpo", "token", CispoForm(1.2)),
}


@pytest.mark.parametrize("corrected", [False, True], ids=["on policy", "truncated weights"])
@pytest.mark.parametrize(("loss_type", "level", "form"), LOSSES.values(), ids=LOSSES)
def test_objectives_are_those_of_trl(loss_type, level, form, corrected):
    batch = _draw(np.random.default_rng(0), 16, 20)
    high = form.high if isinstance(form, CispoForm) else form.bounds[1] - 1
    case = Case(loss_type, level, getattr(form, "clip", 0.2), high, 0.0)
    by = "token" if level == "token" else "row"
    weights = truncate_importance(batch.old, batch.reference, 2.0, by=by, mask=batch.mask)
    theirs_new = torch.tensor(batch.new, requires_grad=True)
    stand_in, inputs = _stand_in(theirs_new, case), _inputs(batch)
    stand_in.loss_type = "cispo" if isinstance(form, CispoForm) else loss_type
    stand_in.args.delta = getattr(form, "dual", None)
    if corrected:
        stand_in.use_vllm = stand_in.vllm_importance_sampling_correction = True
        spread = weights if level == "token" else weights[:, None]
        inputs["importance_sampling_ratio"] = torch.tensor(spread)
        inputs["sampling_per_token_logps"] = torch.tensor(batch.reference)
    if isinstance(form, CispoForm):
        inputs["num_items_in_batch"] = torch.tensor(batch.mask.sum())
        stand_in.accelerator.num_processes = stand_in.args.steps_per_generation = 1
    theirs = GRPOTrainer._compute_loss(stand_in, None, inputs)
    theirs.backward()
    settings = {"level": level, "mask": batch.mask}
    if corrected:
        settings["correction"] = weights
    ours = compute_policy_loss(batch.new, batch.old, batch.advantages, form, **settings)
    new = torch.tensor(batch.new, requires_grad=True)
    tensors = {name: torch.tensor(x) for name, x in settings.items() if name != "level"}
    loss = policy_loss(
        new,
        torch.tensor(batch.old),
        torch.tensor(batch.advantages),
        form,
        level=level,
        **tensors,
    )
    loss.backward()
    expected = theirs_new.grad.numpy()
    np.testing.assert_allclose(ours.gradient, expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(new.grad.numpy(), expected, rtol=1e-9, atol=1e-15)
    assert loss.item() == pytest.approx(ours.value, rel=1e-12)
    if not isinstance(
        form, CispoForm
    ):  # there the values differ by a constant: log π_new instead of log ρ
        assert ours.value == pytest.approx(theirs.item(), rel=1e-9)
