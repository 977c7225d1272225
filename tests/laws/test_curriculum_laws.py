"""What holds for every curriculum and every tree of sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.rl.curriculum import Curriculum
from aegir_rl.rl.sum_tree import SumTree

WEIGHTS = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)
NAMES = st.sampled_from(["uniform", "easy-first", "competence", "learning-progress"])
OUTCOMES = st.lists(
    st.tuples(st.integers(0, 6), st.one_of(st.floats(0, 1), st.just(float("nan")))), max_size=40
)


@given(WEIGHTS, st.lists(st.tuples(st.integers(0, 39), st.floats(0, 1e6)), max_size=20))
def test_a_tree_after_any_changes_is_the_tree_of_the_final_weights(weights, changes):
    final = np.array(weights)
    single, batched = SumTree(final), SumTree(final)
    kept = [(item % len(weights), weight) for item, weight in changes]
    for item, weight in kept:
        single.set_one(item, weight)
        final[item] = weight
    if kept:
        items, new = zip(*kept, strict=True)
        batched.set_many(np.array(items), np.array(new))
    fresh = SumTree(final)
    for tree in (single, batched):
        assert (tree._view == fresh._view).all()


@given(WEIGHTS.filter(any), st.lists(st.floats(0, 1, exclude_max=True), min_size=1))
def test_a_draw_has_weight_and_is_the_same_alone_and_in_a_batch(weights, shares):
    tree = SumTree(np.array(weights))
    found = tree.find_many(np.array(shares))
    assert found.tolist() == [tree.find(share) for share in shares]
    if tree.total > 0:
        assert all(weights[item] > 0 for item in found)


@given(NAMES, OUTCOMES)
def test_chances_are_chances_whatever_happened(name, outcomes):
    curriculum = Curriculum(7, name, difficulty=range(7))
    for item, success in outcomes:
        curriculum.update_one(item, success)
    chances = curriculum.probabilities()
    assert (chances >= 0).all()
    assert chances.sum() == pytest.approx(1)
    known = curriculum.measured(range(7))
    assert ((known.success > 0) & (known.success < 1)).all()


@given(NAMES, OUTCOMES)
def test_a_batch_teaches_what_its_tries_teach_one_by_one(name, outcomes):
    single, batched = (Curriculum(7, name, difficulty=range(7)) for _ in range(2))
    for item, success in outcomes:
        single.update_one(item, success)
    items, successes = zip(*outcomes, strict=True) if outcomes else ((), ())
    batched.update(items, successes)
    assert single.measured(range(7)).success == pytest.approx(batched.measured(range(7)).success)
    if name != "easy-first":  # which opens at most one band per update
        assert single.probabilities() == pytest.approx(batched.probabilities())


@given(OUTCOMES, st.integers(0, 2**32))
def test_a_better_record_never_looks_less_able(outcomes, seed):
    worse, better = Curriculum(7, seed=seed), Curriculum(7, seed=seed)
    for item, success in outcomes:
        worse.update_one(item, success / 2)
        better.update_one(item, success)
    known = [one.measured(range(7)).success for one in (worse, better)]
    assert (known[0] <= known[1] + 1e-12).all()


@given(NAMES, st.lists(st.lists(OUTCOMES, max_size=3), max_size=3))
def test_absorbing_forks_equals_one_curriculum_told_the_same_tries(name, rounds):
    """In each round every worker has a fork; absorbed in order, they are one stream of tries."""
    central, told = (Curriculum(7, name, difficulty=range(7)) for _ in range(2))
    for workers in rounds:
        forks = []
        for number, outcomes in enumerate(workers):
            forks.append(central.fork(number))
            for item, success in outcomes:
                forks[-1].update_one(item, success)
            if outcomes:
                told.update(*zip(*outcomes, strict=True))
        central.absorb(*forks)
    assert (central.probabilities() == told.probabilities()).all()
    assert (central.state_dict()["known"] == told.state_dict()["known"]).all()
    assert central.metrics() == told.metrics()
