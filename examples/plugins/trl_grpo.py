"""GRPO of TRL on tasks of the simulator: the model tries modules with tools, hidden cases reward what it hands in.

aegir sim generate --count 100 --out tasks.jsonl
python examples/plugins/trl_grpo.py MODEL tasks.jsonl         # pip install trl; MODEL knows tool calls, such as Qwen3
"""
# ruff: noqa: T201

import sys
from pathlib import Path

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from aegir_rl.plugins.code_tasks import CodeTasks
from aegir_rl.plugins.trl import code_environments, code_rows, health_callback
from aegir_rl.simulator import read_tasks


def main(model, path, **settings):
    watch = health_callback()
    with CodeTasks(read_tasks(Path(path)), workers=2) as tasks:
        trainer = GRPOTrainer(
            model=model,
            args=GRPOConfig(output_dir="runs/trl", logging_steps=1, **settings),
            train_dataset=Dataset.from_list(code_rows(tasks)),
            environment_factory=code_environments(tasks),
            callbacks=[watch],
        )
        trainer.train()
    print("stopped:", watch.reasons or "no")
    return trainer


if __name__ == "__main__":
    main(*sys.argv[1:])
