"""Atropos: the simulator's tasks as an environment that sends scored groups to its trainer.

    python my_env.py serve --env.tasks datasets/sim_tasks.jsonl --env.group_size 8      # my_env.py: CodeEnv.cli()

A group is `group_size` answers to one task, scored by the hidden cases. Tasks come from a curriculum ("competence" unless another
strategy is named), which learns from the scores. A group whose scores are all equal is dropped by Atropos itself. If the
sandbox breaks, the group is not sent: a fault of the machine is never a score of 0.
"""

import asyncio
from typing import Any

from aegir_rl.plugins.code_tasks import shared_tasks
from aegir_rl.plugins.packages import open_package
from aegir_rl.rl.curriculum import Curriculum

_BASE = open_package("atroposlib", "atroposlib.envs.base", "BaseEnv BaseEnvConfig ScoredDataGroup")
UNTRAINED = -100
"""In masks: a token of the prompt."""


class CodeEnvConfig(_BASE.BaseEnvConfig):  # type: ignore[misc, name-defined]
    """`--env.*`."""

    tasks: str = "tasks.jsonl"
    """Tasks made by `aegir sim generate`."""
    grade: str = "all"
    """Score 1 if all hidden cases pass ("all"), or the share that does ("share")."""
    workers: int = 2
    """Sandboxes."""
    strategy: str = "competence"
    """Of the curriculum."""
    evaluated: int = 32
    """Tasks of an evaluation: the first ones of the file."""


class CodeEnv(_BASE.BaseEnv):  # type: ignore[misc, name-defined]
    """Answers to tasks, in scored groups."""

    name = "aegir_code"
    env_config_cls = CodeEnvConfig

    async def setup(self) -> None:
        """Open the tasks and their sandboxes."""
        config = self.config
        self.tasks = shared_tasks(config.tasks, workers=config.workers, grade=config.grade)
        self.curriculum = Curriculum(len(self.tasks), config.strategy)

    async def get_next_item(self) -> int:
        """The number of the next task."""
        return self.curriculum.draw_one()

    async def collect_trajectories(self, item: int) -> tuple[Any, list[Any]]:
        """One group of answers, with scores."""
        chat, answers = await self._ask(item, self.config.group_size)
        group = _BASE.ScoredDataGroup(tokens=[], masks=[], scores=[], messages=[])
        for text in answers:
            judged = await asyncio.to_thread(self.tasks.judge, item, text)
            messages = [*chat, {"role": "assistant", "content": text}]
            tokens, masks = self._tokenise(messages)
            group["tokens"].append(tokens)
            group["masks"].append(masks)
            group["scores"].append(judged.reward)
            group["messages"].append(messages)
        self.curriculum.update_one(item, sum(group["scores"]) / len(group["scores"]))
        return group, []

    async def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Log and return the share of the first tasks that one answer each solves."""
        solved = []
        for number in range(min(self.config.evaluated, len(self.tasks))):
            answers = (await self._ask(number, 1))[1]
            judged = await asyncio.to_thread(self.tasks.judge, number, answers[0])
            solved.append(judged.solved)
        metrics = {"eval/solved": sum(solved) / len(solved)}
        await self.wandb_log(dict(metrics))
        return metrics

    async def wandb_log(self, wandb_metrics: dict[str, float] | None = None) -> None:
        """Add what the curriculum knows to a line of the log."""
        await super().wandb_log({**(wandb_metrics or {}), **self.curriculum.metrics()})

    def _tokenise(self, messages: list[Any]) -> tuple[list[int], list[int]]:
        """Tokens of a conversation, and the same with its prompt masked.

        With transformers 5 the package's own function returns dictionaries of tokens.
        """
        apply = self.tokenizer.apply_chat_template
        tokens = list(apply(messages, tokenize=True, return_dict=False))
        prompt = apply(messages[:-1], tokenize=True, return_dict=False, add_generation_prompt=True)
        return tokens, [UNTRAINED] * len(prompt) + tokens[len(prompt) :]

    async def _ask(self, item: int, count: int) -> tuple[list[Any], list[str]]:
        """The conversation, and answers to it."""
        chat = self.tasks.messages(item)
        completion = await self.server.chat_completion(
            messages=chat, n=count, max_tokens=self.config.max_token_length
        )
        return chat, [each.message.content or "" for each in completion.choices]
