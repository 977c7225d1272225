"""Rewards in the form of Atropos, against a stand-in for its registry; tests/plugins/test_installed_atropos.py has the package."""

import math
import sys
from types import ModuleType

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.plugins.atropos import AtroposReward, make_atropos_class


def lengths(completions):
    return [float(len(one)) for one in completions]


def broken(completions):
    raise RuntimeError("the judge is away")


class StandInFunction:
    """What a subclass needs of atroposlib's RewardFunction."""

    def __init__(self, weight=1.0, name=None, **settings):
        self.weight, self.name = weight, name

    def compute(self, completions, **kwargs):
        raise NotImplementedError

    def __call__(self, completions, **kwargs):
        return [self.weight * reward for reward in self.compute(completions, **kwargs)]


class StandInRegistry:
    """Registers a class under its lower-case name without a final "reward", as atroposlib does."""

    def __init__(self):
        self.classes = {}

    def register(self, cls):
        self.classes[cls.__name__.lower().removesuffix("reward")] = cls

    def list_registered(self):
        return list(self.classes)


@pytest.fixture
def functions(monkeypatch):
    module = ModuleType("atroposlib.envs.reward_fns")
    vars(module).update(RewardFunction=StandInFunction, registry=StandInRegistry())
    for name in ("atroposlib", "atroposlib.envs"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "atroposlib.envs.reward_fns", module)
    return module


def test_calling_gives_weighted_rewards():
    reward = AtroposReward(lengths, weight=0.5)
    assert reward.compute(["a", "bcd"]) == [1.0, 3.0]
    assert reward(["a", "bcd"]) == [0.5, 1.5]
    with pytest.raises(UsageError, match="weight is nan"):
        AtroposReward(lengths, weight=math.nan)


def test_a_class_is_registered_under_the_name_it_was_given(functions):
    functions.registry.register(make_atropos_class(lengths, name="careful"))
    functions.registry.register(make_atropos_class(broken, name="gone"))
    assert functions.registry.list_registered() == ["careful", "gone"]
    careful, gone = (functions.registry.classes[name](weight=2.0) for name in ("careful", "gone"))
    assert careful(["ab"]) == [4.0]
    assert math.isnan(gone(["ab"])[0])
    assert careful.metrics()["reward/careful/scored"] == 1
    assert gone.metrics()["reward/gone/failures"] == 1


def test_a_name_that_is_taken_is_refused_unless_it_shall_be_replaced(functions):
    functions.registry.register(make_atropos_class(lengths, name="careful"))
    with pytest.raises(UsageError, match="has a reward 'careful' already; choose another"):
        make_atropos_class(broken, name="careful")
    second = make_atropos_class(broken, name="careful", replace=True)
    functions.registry.register(second)
    assert functions.registry.classes == {"careful": second}


@pytest.mark.parametrize("name", ["Careful", "careful_reward"])
def test_a_name_that_atropos_would_change_is_refused(functions, name):
    with pytest.raises(UsageError, match=r"Atropos would register .* lower-case name"):
        make_atropos_class(lengths, name=name)


def test_without_atropos_its_class_cannot_be_made(monkeypatch):
    monkeypatch.setitem(sys.modules, "atroposlib", None)
    with pytest.raises(UsageError, match="atroposlib is not installed"):
        make_atropos_class(lengths, name="size")
