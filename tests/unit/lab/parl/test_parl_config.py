"""Settings of `aegir train parl`: the budget, the variants, what is refused."""

from pathlib import Path

import pytest

from aegir.lab.parl.config import (
    VARIANTS,
    BudgetSettings,
    ParlTraining,
    read_parl_training,
)
from aegir_rl.base.errors import UsageError

ROOT = Path(__file__).parents[4]


def test_limited_and_standard_stretches_alternate_and_the_cap_rises_from_1():
    budget = BudgetSettings(stretch=2)
    assert [budget.cap(step) for step in range(10)] == [1, 1, None, None, 2, 2, None, None, 3, 3]


@pytest.mark.parametrize(
    ("name", "kind", "steps"),
    [
        ("phase1", "off", (0, 0)),
        ("longer", "off", (100, 200)),
        ("always", "always", (100, 200)),
        ("random", "random", (100, 200)),
        ("average", "average", (100, 200)),
        ("warm-start", "learnt", (100, 0)),
        ("warm-start-longer", "learnt", (300, 0)),
        ("parl", "learnt", (100, 200)),
    ],
)
def test_variants_differ_in_routing_and_share_the_number_of_steps(
    name: str, kind: str, steps: tuple[int, int]
):
    changed = ParlTraining().variant(name)
    assert changed.name == name
    assert changed.routing.kind == kind
    assert (changed.warm_start.steps, changed.rl.steps) == steps


def test_the_verb_offers_every_variant():
    from aegir.lab.cli.train_parl import parl

    (offered,) = (
        vars(option.type)["choices"] for option in parl.params if option.name == "variant"
    )
    assert sorted(offered) == sorted(VARIANTS)


def test_the_rate_of_random_routing_can_be_given():
    assert ParlTraining().variant("random", 0.2).routing.rate == 0.2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[budget]\nfirst_cap = 0", r"first_cap is 0; expected a number at least 1 \(\[budget\]"),
        ('[routing]\nkind = "sometimes"', "kind is 'sometimes'; expected one of learnt, always"),
        ('[swarm]\nmode = "sum"', "mode is 'sum'; expected weighted_sum, gated"),
        ("[rl]\nrollouts = 1", "rollouts is 1; expected a number at least 2"),
        ("[rl]\nupdates = 0", "updates is 0; expected a number at least 1"),
        ("[rl]\nlambda_finish = -1", "lambda_finish is -1.0; expected a number at least 0"),
        ('[rl]\ncredit = "row"', "credit is 'row'; expected column or table"),
        ("[rl]\nclip_start = 0", "clip_start is 0"),
        ("[rl]\nstep = 3", "unknown key 'step' in .*did you mean 'steps'"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_one_sentence(
    tmp_path: Path, text: str, sentence: str
):
    path = tmp_path / "run.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=sentence):
        read_parl_training(path)


@pytest.mark.parametrize("name", ["parl.toml", "parl-tiny.toml"])
def test_the_named_configurations_can_be_read(name: str):
    assert read_parl_training(ROOT / "configs" / name).rl.steps > 0


@pytest.mark.parametrize("name", ["parl.toml", "parl-tiny.toml"])
def test_the_named_configurations_use_rollouts_again_and_caps_rise_from_1_in_small_steps(name: str):
    config = read_parl_training(ROOT / "configs" / name)
    assert config.rl.updates >= 2 * config.rl.rollouts
    caps = [cap for step in range(config.rl.steps) if (cap := config.budget.cap(step))]
    assert caps[0] == 1
    # 29 activations per table are drawn without a cap: 5,541 columns of 607 tables, 3.2 each (docs/swarm.md)
    assert caps[-1] < 29
    assert caps == sorted(caps)


def test_an_unknown_variant_is_refused():
    with pytest.raises(UsageError, match="there is no variant 'none'; there are phase1"):
        ParlTraining().variant("none")
