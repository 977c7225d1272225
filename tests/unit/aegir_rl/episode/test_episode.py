"""Decisions and episodes: what they refuse, and the arrays they become."""

import math

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import ABSENT, LABEL, NO_CHOICE, Decision, Episode, EpisodeBatch, TimedStep

ROUTED = Decision(
    action={"dates": 1, "places": 0, LABEL: "Date"},
    log_probabilities={"dates": -0.1, "places": -0.7, LABEL: -0.2},
    propensity=0.25,
    features={"distinct": 0.9},
    policy="router",
    policy_version="3",
    decided_by="cap",
    reason="one activation per table",
    cost=2.0,
    seconds=0.5,
    gold=("Date", "DateTime"),
    score_gain={"dates": 0.4},
    path_gain={"dates": -0.1},
)
SILENT = Decision(action={LABEL: None}, gold=("City",))
EPISODES = (
    Episode(
        id="a",
        decisions=(ROUTED, SILENT),
        source="real",
        group="site 1",
        task="table 7",
        rewards={"perf": 0.5},
        steps=(TimedStep("read", 1.0), TimedStep("dates", 2.0, ("read",))),
    ),
    Episode(id="b", decisions=(SILENT,), source="proxy", terminated=False),
    Episode(id="c", decisions=(), source="synthetic", rewards={"finish": 1.0}),
)


def test_episodes_survive_json_lines():
    lines = [episode.to_json() for episode in EPISODES]
    assert tuple(map(Episode.from_json, lines)) == EPISODES
    assert not any("\n" in line for line in lines)


def test_fields_that_hold_their_default_are_left_out_of_the_json():
    assert Episode(id="x", decisions=(SILENT,), source="real").to_json() == (
        '{"format":1,"id":"x","decisions":[{"action":{"label":null},"gold":["City"]}],"source":"real"}'
    )


def test_a_batch_pads_with_missing_values_not_with_zeros():
    batch = EpisodeBatch.from_episodes(EPISODES)
    assert batch.decided.tolist() == [[True, True], [True, False], [False, False]]
    assert batch.factors == ("dates", "places", LABEL)
    assert batch.choices == {LABEL: ("City", "Date", "DateTime")}
    assert batch.actions[0].tolist() == [[1, 0, 1], [ABSENT, ABSENT, NO_CHOICE]]
    assert batch.predicted.tolist() == [[1, NO_CHOICE], [NO_CHOICE] * 2, [NO_CHOICE] * 2]
    assert batch.gold[0].tolist() == [[1, 2], [0, NO_CHOICE]]
    assert batch.propensity[0, 0] == 0.25
    assert np.isnan(batch.propensity).sum() == 5
    assert batch.rewards["perf"][0] == 0.5
    assert np.isnan(batch.rewards["perf"][1:]).all()
    assert batch.terminated.tolist() == [True, False, True]


def test_activations_leave_the_label_out_and_are_nan_where_absent():
    batch = EpisodeBatch.from_episodes(EPISODES)
    assert batch.activations()[0, 0].tolist() == [1.0, 0.0]
    assert np.isnan(batch.activations()[0, 1]).all()
    assert batch.activations(["places"]).shape == (3, 2, 1)
    assert batch.gain("score_gain", ["dates"])[0, 0].tolist() == [0.4]


def test_a_batch_of_arrays_fills_in_what_is_not_known():
    batch = EpisodeBatch.of(
        np.ones((1, 2), bool), ("dates",), np.array([[[1], [0]]]), source="synthetic"
    )
    (episode,) = batch.episodes()
    assert episode.decisions == (Decision(action={"dates": 1}), Decision(action={"dates": 0}))
    assert (episode.id, episode.source, episode.rewards) == ("0", "synthetic", {})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"propensity": 0.0}, "propensity is 0.0; expected above 0, at most 1"),
        ({"propensity": math.nan}, "propensity is nan"),
        ({"log_probabilities": {"dates": 0.1}}, "log probability of 'dates' is 0.1; expected 0 or"),
        ({"log_probabilities": {"other": -1.0}}, "names 'other', which is no factor"),
        ({"features": {"distinct": math.inf}}, "features of 'distinct' is inf"),
        ({"features": {"distinct": "many"}}, "features of 'distinct' is 'many'"),
        ({"action": {"dates": -1}}, "action 'dates' is -1; expected 0 or more, or None"),
        ({"action": {"dates": 0.5}}, "action 'dates' is 0.5; expected a number, name or None"),
        ({"action": {"dates": True}}, "action 'dates' is True"),
        ({"cost": -1.0}, "cost is -1.0"),
        ({"gold": ("a", 1.5)}, "gold holds 1.5"),
    ],
)
def test_a_decision_that_cannot_be_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(UsageError, match=sentence):
        Decision(**{"action": {"dates": 1}, **change})


def test_an_episode_says_where_its_outcome_comes_from():
    with pytest.raises(UsageError, match="is 'made up'; expected real, synthetic, proxy"):
        Episode(id="x", decisions=(), source="made up")
    with pytest.raises(UsageError, match="reward 'perf' is nan; expected finite, or left out"):
        Episode(id="x", decisions=(), source="real", rewards={"perf": math.nan})


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "7",
        '{"format":2,"id":"x","decisions":[],"source":"real"}',
        '{"id":"x","decisions":[],"source":"real"}',
        '{"format":1,"id":"x","decisions":[{"actoin":{}}],"source":"real"}',
        '{"format":1,"id":"x","decisions":[{"action":[]}],"source":"real"}',
        '{"format":1,"id":"x","decisions":[{"action":{},"propensity":"high"}],"source":"real"}',
        '{"format":1,"id":"x","decisions":[],"source":["real"]}',
        '{"format":1,"id":"x","decisions":[],"source":"real","steps":[{"name":"a"}]}',
        "[" * 100_000,
    ],
)
def test_a_line_that_is_no_episode_is_named_by_its_number(line):
    with pytest.raises(UsageError, match=r"^routing\.jsonl, line 3 is no episode"):
        Episode.from_json(line, "routing.jsonl, line 3")


def test_a_factor_chooses_among_numbers_or_among_names():
    mixed = (Decision(action={"worker": 1}), Decision(action={"worker": "rules"}))
    with pytest.raises(UsageError, match="'worker' chooses among both numbers and names"):
        EpisodeBatch.from_episodes([Episode(id="x", decisions=mixed, source="real")])


def test_arrays_of_another_shape_and_unknown_names_are_refused():
    decided, actions = np.ones((2, 3), bool), np.zeros((2, 3, 1), np.int64)
    with pytest.raises(UsageError, match=r"cost has shape \(2,\); expected \(2, 3\)"):
        EpisodeBatch.of(decided, ["a"], actions, source="real", cost=np.zeros(2))
    with pytest.raises(UsageError, match="has no 'costs'"):
        EpisodeBatch.of(decided, ["a"], actions, source="real", costs=np.zeros(2))
    with pytest.raises(UsageError, match="ids has 1 entries; expected 2"):
        EpisodeBatch.of(decided, ["a"], actions, source="real", ids=("x",))
    with pytest.raises(UsageError, match="no factor 'b' in the batch; it has a"):
        EpisodeBatch.of(decided, ["a"], actions, source="real").activations(["b"])


def test_a_baseline_names_factors_of_the_action_only():
    Decision(action={"worker": "swarm"}, baseline={"worker": "rules"})
    with pytest.raises(
        UsageError, match=r"^baseline names 'who', which is no factor of the action"
    ):
        Decision(action={"worker": "swarm"}, baseline={"who": "rules"})
    with pytest.raises(UsageError, match=r"^baseline 'worker' is -1; expected 0 or more, or None"):
        Decision(action={"worker": 1}, baseline={"worker": -1})
