"""Episodes lose nothing as JSON lines or as arrays, whatever they hold."""

from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.episode import LABEL, Decision, Episode, EpisodeBatch, TimedStep

FINITE = st.floats(allow_nan=False, allow_infinity=False)
POSITIVE = st.floats(0, 1e300)
NAMES = st.sampled_from(["dates", "places", "é\u2028\n", ""])
LABELS = st.one_of(st.none(), st.text(max_size=3))


@st.composite
def decisions(draw: st.DrawFn) -> Decision:
    action: dict = draw(st.dictionaries(NAMES, st.integers(0, 2**40)))
    if draw(st.booleans()):
        action[LABEL] = draw(LABELS)
    some = st.sets(st.sampled_from(sorted(action))) if action else st.just(set())
    return Decision(
        action=action,
        log_probabilities={name: -draw(POSITIVE) for name in draw(some)},
        propensity=draw(st.none() | st.floats(0, 1, exclude_min=True)),
        features=draw(st.dictionaries(NAMES, FINITE)),
        policy=draw(st.text(max_size=3)),
        policy_version=draw(st.text(max_size=3)),
        decided_by=draw(st.text(max_size=3)),
        reason=draw(st.text(max_size=3)),
        baseline={
            name: draw(LABELS if name == LABEL else st.integers(0, 9)) for name in draw(some)
        },
        cost=draw(POSITIVE),
        seconds=draw(POSITIVE),
        gold=tuple(draw(st.lists(st.text(max_size=3), max_size=3))),
        score_gain={name: draw(FINITE) for name in draw(some)},
        path_gain={name: draw(FINITE) for name in draw(some)},
    )


EPISODES = st.lists(
    st.builds(
        Episode,
        id=st.text(max_size=3),
        decisions=st.lists(decisions(), max_size=3).map(tuple),
        source=st.sampled_from(["real", "synthetic", "proxy"]),
        group=st.text(max_size=3),
        task=st.text(max_size=3),
        rewards=st.dictionaries(NAMES, FINITE),
        terminated=st.booleans(),
        steps=st.lists(
            st.builds(
                TimedStep,
                st.text(max_size=3),
                POSITIVE,
                st.lists(st.text(max_size=3), max_size=2).map(tuple),
            ),
            max_size=2,
        ).map(tuple),
    ),
    max_size=4,
).map(tuple)


@given(EPISODES)
def test_episodes_to_arrays_and_back_lose_nothing(episodes):
    assert tuple(EpisodeBatch.from_episodes(episodes).episodes()) == episodes


@given(EPISODES)
def test_episodes_to_json_and_back_lose_nothing(episodes):
    assert tuple(Episode.from_json(episode.to_json()) for episode in episodes) == episodes
