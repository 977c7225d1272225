"""A reward of three raters in Atropos' form, `compute(completions, **kwargs) -> list[float]`.

    python examples/plugins/atropos_reward.py

In an Atropos environment, register it (`registry.register(make_atropos_class(score, name="careful"))`, then
`registry.create("careful")`) or call it where the environment scores its rollouts. The last completion is empty, so its
reward is missing: not 0, but the mean of the others, which leaves their advantages as they are.
"""
# ruff: noqa: T201

from aegir_rl.plugins.atropos import AtroposReward
from aegir_rl.plugins.batch_reward import completion_text


def score(completions, solution):
    """The median of three raters, one number per completion."""
    texts = [completion_text(one) for one in completions]
    rewards = []
    for text, wanted in zip(texts, solution, strict=True):
        said = text.split()[-1] if text.split() else None
        if said is None:
            rewards.append(None)  # an empty answer: no reward can be computed
            continue
        exact = float(said == wanted)
        close = max(0.0, 1 - abs(float(said) - float(wanted)) / 10) if said.isdigit() else 0.0
        short = 1.0 if len(text) < 40 else 0.0
        rewards.append(sorted((exact, close, short))[1])
    return rewards


def main():
    reward = AtroposReward(score, name="careful", weight=2.0)
    completions = [
        "the answer is 42",
        [{"role": "user", "content": "6 * 7?"}, {"role": "assistant", "content": "41"}],
        {"role": "assistant", "content": ""},
    ]
    rewards = reward.compute(completions, solution=["42", "42", "42"], unused="is not passed on")
    weighted = reward(completions, solution=["42", "42", "42"])
    print("rewards ", rewards)
    print("weighted", weighted)
    print("counted ", reward.metrics())
    assert rewards == [1.0, 0.9, 0.95]


if __name__ == "__main__":
    main()
