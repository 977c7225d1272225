"""A reward manager for verl, which loads this file.

    python -m verl.trainer.main_ppo … reward.reward_manager.source=importlib reward.reward_manager.name=Rewards \\
        reward.reward_manager.module.path=examples/plugins/verl_rewards.py                # pip install verl
"""

from aegir_rl.health import HealthMonitor
from aegir_rl.plugins.verl import make_reward_manager


def score(completions, ground_truths):
    """1 for the right answer; an empty one has no reward, which is not 0."""
    return [
        float(truth in text) if text.strip() else None
        for text, truth in zip(completions, ground_truths, strict=True)
    ]


Rewards = make_reward_manager(score, name="exact", monitor=HealthMonitor())
