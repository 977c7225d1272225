"""A reward function for a `verifiers` rubric that compares the rollouts of one prompt with each other.

    python examples/plugins/verifiers_rubric.py

With verifiers (0.1) installed the function is scored by `vf.Rubric(funcs=[brevity], weights=[0.5])`; without it, it is
called in the documented form, so that this runs anywhere.
"""
# ruff: noqa: T201

import asyncio
import importlib.util

from aegir_rl.plugins.batch_reward import completion_text
from aegir_rl.plugins.verifiers import as_group_reward


def score(completions, answers):
    """Right answers share the reward by brevity: the shortest right one gets 1, wrong ones 0."""
    texts = [completion_text(one) for one in completions]
    right = [answer in text for text, answer in zip(texts, answers, strict=True)]
    shortest = min((len(text) for text, good in zip(texts, right, strict=True) if good), default=0)
    return [shortest / len(text) if good else 0.0 for text, good in zip(texts, right, strict=True)]


def rubric_of(function):
    """A rubric of the installed verifiers, or None without verifiers or rubrics (version 0.4 has none)."""
    if importlib.util.find_spec("verifiers") is None:
        return None
    import verifiers

    return (
        verifiers.Rubric(funcs=[function], weights=[0.5]) if hasattr(verifiers, "Rubric") else None
    )


def main():
    brevity = as_group_reward(score, name="brevity")
    messages = [[{"role": "assistant", "content": text}] for text in ("it is 4", "4", "five")]
    rubric = rubric_of(brevity)
    if rubric is None:
        rewards = [
            0.5 * r for r in brevity(completions=messages, answers=["4"] * 3, states=[{}] * 3)
        ]
        print("called as a rubric would:", rewards)
    else:
        states = [
            {
                "prompt": "2 + 2?",
                "completion": message,
                "answer": "4",
                "timing": {},
                "trajectory": [],
            }
            for message in messages
        ]
        asyncio.run(rubric.score_group(states))
        rewards = [state["reward"] for state in states]
        print("scored by verifiers:", rewards)
    print("counted:", brevity.metrics())
    assert rewards == [0.5 / 7, 0.5, 0.0]


if __name__ == "__main__":
    main()
