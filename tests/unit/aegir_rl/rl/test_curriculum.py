"""A curriculum follows what was measured: two agents of different skill get different tasks."""

import copy
import json
import multiprocessing
import pickle

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rl.curriculum import Curriculum
from aegir_rl.rl.curriculum_strategies import (
    STRATEGIES,
    Strategy,
    SuccessEstimates,
    register_strategy,
)

NAMES = ["uniform", "easy-first", "competence", "learning-progress"]
DIFFICULTY = np.linspace(-3, 3, 200)


def practise(skill: float, strategy: str, seed: int = 0, steps: int = 100) -> Curriculum:
    """An agent that solves an item with chance sigmoid(skill - difficulty)."""
    curriculum = Curriculum(200, strategy, difficulty=DIFFICULTY, seed=seed)
    random = np.random.default_rng(seed)
    for _ in range(steps):
        items = curriculum.draw(50)
        chance = 1 / (1 + np.exp(4 * (DIFFICULTY[items] - skill)))
        curriculum.update(items, (random.random(50) < chance).astype(float))
    return curriculum


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("strategy", ["easy-first", "competence"])
def test_two_agents_of_different_skill_get_different_tasks(strategy, seed):
    weak, strong = (practise(skill, strategy, seed) for skill in (-1.5, 1.5))
    weak_level, strong_level = (c.probabilities() @ DIFFICULTY for c in (weak, strong))
    # Uniform practice gives 0; measured over seeds: 1.5 for both.
    assert strong_level - weak_level > 0.8


def test_the_baseline_gives_both_the_same():
    weak, strong = (practise(skill, "uniform") for skill in (-1.5, 1.5))
    assert (weak.probabilities() == strong.probabilities()).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_learning_progress_prefers_items_whose_success_changes(seed):
    curriculum = Curriculum(3, "learning-progress", exploration=0)
    random = np.random.default_rng(seed)
    for step in range(200):
        # mastered, hopeless, and one that is being learnt since step 190
        curriculum.update([0, 1, 2], [1.0, 0.0, float(random.random() < (step > 190))])
    chances = curriculum.probabilities()
    assert chances[2] > 4 * max(chances[0], chances[1])


def test_two_successes_make_the_posterior_of_the_docstring():
    curriculum = Curriculum(2)
    curriculum.update([1, 1], [1.0, 1.0])
    known = curriculum.measured([1])
    assert (known.won[0], known.lost[0]) == (2.95, 1.0)
    assert known.success[0] == pytest.approx(0.747, abs=5e-4)


def test_weights_are_the_worked_numbers():
    one = np.array([1.0])
    assert SuccessEstimates(np.array([0]), 3 * one, one, one, one).learnability[0] == 3 / 20
    assert SuccessEstimates(np.array([0]), one, one, one, one).learnability[0] == pytest.approx(
        1 / 6
    )
    competence = STRATEGIES["competence"]().weigh(
        SuccessEstimates(np.array([0]), 3 * one, one, one, one)
    )
    assert competence[0] == pytest.approx(0.0225)
    progress = STRATEGIES["learning-progress"]().weigh(
        SuccessEstimates(np.array([0]), one, one, 0.8 * one, 0.5 * one)
    )
    assert progress[0] == pytest.approx(0.3 + 0.5 * (1 / 12) ** 0.5)  # 0.444


def test_easy_first_opens_after_eight_successes_and_not_by_time():
    curriculum = Curriculum(100, "easy-first", difficulty=range(100))
    for _ in range(7):
        curriculum.update_one(curriculum.draw_one(), 1.0)
    assert curriculum.metrics()["curriculum/open_share"] == 0.1
    assert curriculum.draw(1000).max() == 9
    curriculum.update_one(curriculum.draw_one(), 1.0)
    assert curriculum.metrics()["curriculum/open_share"] == 0.2
    assert curriculum.draw(1000).max() > 9
    for _ in range(500):
        curriculum.update(curriculum.draw(8), np.zeros(8))
    assert curriculum.metrics()["curriculum/open_share"] == 0.2


@pytest.mark.parametrize("strategy", NAMES)
def test_one_item_at_a_time_learns_what_a_batch_learns(strategy):
    single, batched = (Curriculum(50, strategy, difficulty=range(50), seed=3) for _ in range(2))
    random = np.random.default_rng(4)
    for _ in range(40):
        items, went = random.integers(0, 50, 1), random.random(1)
        single.update_one(int(items[0]), float(went[0]))
        batched.update(items, went)
    assert single.probabilities() == pytest.approx(batched.probabilities(), rel=1e-12)


@pytest.mark.parametrize("strategy", NAMES)
def test_saved_and_restored_it_draws_the_same(strategy):
    first = practise(0.0, strategy, steps=20)
    second = Curriculum(200, strategy, difficulty=DIFFICULTY, seed=99)
    second.load_state_dict(first.state_dict())
    for _ in range(5):
        items = first.draw(20)
        assert items.tolist() == second.draw(20).tolist()
        for curriculum in (first, second):
            curriculum.update(items, np.full(20, 0.7))
    assert first.metrics() == second.metrics()
    json.dumps({k: v for k, v in first.state_dict().items() if not isinstance(v, np.ndarray)})


@pytest.mark.parametrize("strategy", NAMES)
@pytest.mark.parametrize("copied", ["pickle", "cloudpickle", "copy"])
def test_a_pickled_curriculum_is_an_exact_and_independent_copy(strategy, copied):
    first = practise(0.0, strategy, steps=5)
    if copied == "copy":
        second = copy.deepcopy(first)
    else:
        dumps = pytest.importorskip(copied, reason=f"{copied} is not installed").dumps
        second = pickle.loads(dumps(first))
    before = first.probabilities()
    second.update_one(3, 1.0)
    second.update([4, 4], [1.0, 0.0])
    assert (first.probabilities() == before).all()
    first.update_one(3, 1.0)
    first.update([4, 4], [1.0, 0.0])
    assert first.draw(30).tolist() == second.draw(30).tolist()
    assert [first.draw_one(), first.draw_one()] == [second.draw_one(), second.draw_one()]
    assert (first.probabilities() == second.probabilities()).all()
    assert first.metrics() == second.metrics()


def test_a_registered_strategy_is_pickled_by_its_name(monkeypatch):
    known = dict(STRATEGIES)
    monkeypatch.setattr("aegir_rl.rl.curriculum_strategies.STRATEGIES", known)
    register_strategy("hardest", lambda measured: 1 - measured.success)
    saved = pickle.dumps(Curriculum(2, "hardest"))
    assert pickle.loads(saved).strategy_name == "hardest"
    del known["hardest"]
    with pytest.raises(UsageError, match="register your own in every process"):
        pickle.loads(saved)


def test_forks_draw_differently_and_the_same_every_time():
    def draws():
        curriculum = Curriculum(1000, seed=5)
        forks = [curriculum.fork(worker) for worker in (0, 1, 0)]
        return [one.draw(8).tolist() for one in (*forks, curriculum, forks[0].fork(0))]

    once = draws()
    assert once == draws()
    assert len({tuple(row) for row in once}) == 5


def test_the_parent_learns_what_its_forks_tried():
    curriculum, told = Curriculum(4), Curriculum(4)
    first, second = curriculum.fork(0), curriculum.fork(1)
    first.draw(3)
    first.update([0, 1], [1.0, np.nan])
    second.draw_one()
    second.update_one(0, 0.0)
    curriculum.absorb(first, second)
    told.update([0], [1.0])
    told.update([0], [0.0])
    assert (curriculum.probabilities() == told.probabilities()).all()
    assert curriculum.metrics()["curriculum/drawn"] == 4
    assert curriculum.metrics()["curriculum/missing"] == 1


def test_absorbing_a_fork_again_counts_nothing_twice():
    curriculum = Curriculum(4)
    fork = curriculum.fork(0)
    fork.update_one(2, 1.0)
    curriculum.absorb(fork, fork)
    curriculum.absorb(fork)
    assert curriculum.measured([2]).won[0] == 2.0


def learn_in_another_process(fork):
    fork.update(fork.draw(20), np.ones(20))
    return fork


def test_a_fork_goes_to_a_spawned_process_and_back():
    curriculum = Curriculum(10, seed=3)
    forks = [curriculum.fork(worker) for worker in range(2)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        curriculum.absorb(*pool.map(learn_in_another_process, forks))
    metrics = curriculum.metrics()
    assert metrics["curriculum/drawn"] == 40
    assert metrics["curriculum/mean_success"] > 0.5


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        (lambda one: one, "only curricula made by fork"),
        (lambda one: Curriculum(4), "only curricula made by fork"),
        (lambda one: Curriculum(5).fork(0), "the fork has 5 items and strategy 'competence'"),
    ],
)
def test_only_its_own_kind_of_fork_is_absorbed(other, sentence):
    curriculum = Curriculum(4)
    with pytest.raises(UsageError, match=sentence):
        curriculum.absorb(other(curriculum))


def test_the_seed_decides_the_draws():
    draws = [Curriculum(1000, seed=seed).draw(20).tolist() for seed in (5, 5, 6)]
    assert draws[0] == draws[1] != draws[2]


def test_distinct_draws_are_distinct_and_leave_the_weights_alone():
    curriculum = practise(0.0, "competence")
    before = curriculum.probabilities()
    assert len(set(curriculum.draw(150, distinct=True).tolist())) == 150
    assert (curriculum.probabilities() == before).all()
    assert sorted(curriculum.draw(200, distinct=True)) == list(range(200))


def test_distinct_draws_have_the_chances_of_drawing_without_replacement():
    curriculum = Curriculum(3, Fixed([4.0, 2.0, 1.0]), exploration=0)
    pairs = np.array([curriculum.draw(2, distinct=True) for _ in range(20_000)])
    first_two = np.mean((pairs[:, 0] == 0) & (pairs[:, 1] == 1))
    assert first_two == pytest.approx(4 / 7 * 2 / 3, abs=0.012)


class Fixed(Strategy):
    """Weights that were given."""

    def __init__(self, weights):
        self.weights = np.array(weights)

    def weigh(self, measured):
        return self.weights[measured.items]


def test_when_nothing_has_weight_draws_are_uniform_and_counted():
    curriculum = Curriculum(4, Fixed([0.0] * 4), exploration=0)
    assert set(curriculum.draw(200).tolist()) == {0, 1, 2, 3}
    assert curriculum.draw_one() in range(4)
    assert sorted(curriculum.draw(4, distinct=True)) == [0, 1, 2, 3]
    assert curriculum.metrics()["curriculum/uniform_draws"] == 201


def test_a_strategy_of_your_own_is_a_function_with_a_name(monkeypatch):
    monkeypatch.setattr("aegir_rl.rl.curriculum_strategies.STRATEGIES", dict(STRATEGIES))
    register_strategy("hardest", lambda measured: 1 - measured.success)
    curriculum = Curriculum(2, "hardest", exploration=0)
    curriculum.update([0, 1], [1.0, 0.0])
    assert curriculum.probabilities() == pytest.approx([1 / 3, 2 / 3])
    curriculum.update_one(0, 1.0)  # (2.95, 1): 0.253 left
    assert curriculum.probabilities()[0] == pytest.approx((1 / 3.95) / (1 / 3.95 + 2 / 3))
    with pytest.raises(UsageError, match="there is a curriculum strategy 'hardest' already"):
        register_strategy("hardest", lambda measured: measured.won)


def test_a_missing_outcome_teaches_nothing_and_is_counted():
    curriculum = Curriculum(3)
    before = curriculum.probabilities()
    curriculum.update([0, 1], [float("nan"), float("nan")])
    curriculum.update_one(2, float("nan"))
    assert (curriculum.probabilities() == before).all()
    assert curriculum.metrics()["curriculum/missing"] == 3
    assert "curriculum/mean_success" not in curriculum.metrics()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Curriculum(0), "a curriculum of 0 items; expected at least 1"),
        (lambda: Curriculum(3, "clever"), "unknown curriculum strategy 'clever'; known are compet"),
        (lambda: Curriculum(3, "easy-first"), "easy-first needs difficulty="),
        (lambda: Curriculum(3, difficulty=[1, 2]), "difficulty has 2 numbers for 3 items"),
        (lambda: Curriculum(3, exploration=-0.1), "exploration is -0.1; expected 0 to 1"),
        (lambda: Curriculum(3, forgetting=float("nan")), "forgetting is nan; expected 0 to 1"),
        (lambda: Curriculum(2, Fixed([1.0, np.nan])), "gave an item the weight nan"),
        (lambda: Curriculum(2, Fixed([1.0, -2.0])), "gave an item the weight -2.0"),
        (lambda: Curriculum(3).update([0, 1], [1.0]), "2 items but 1 successes"),
        (lambda: Curriculum(3).update([1.5], [1.0]), "items are float64; expected whole numbers"),
        (lambda: Curriculum(3).update([3], [1.0]), "item 3 is not one of 0 to 2"),
        (lambda: Curriculum(3).update_one(-1, 1.0), "item -1 is not one of 0 to 2"),
        (lambda: Curriculum(3).update([0], [1.5]), "a success of 1.5; expected 0 to 1"),
        (lambda: Curriculum(3).update_one(0, float("inf")), "a success of inf"),
        (lambda: Curriculum(3).draw(4, distinct=True), "cannot draw 4 of 3 items"),
        (
            lambda: Curriculum(3).load_state_dict(Curriculum(4).state_dict()),
            "the saved curriculum has 4 items",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()


def test_empty_batches_change_nothing():
    curriculum = Curriculum(3)
    assert curriculum.draw(0).tolist() == []
    curriculum.update([], [])
    assert curriculum.probabilities() == pytest.approx([1 / 3] * 3)


def test_tries_that_are_no_numbers_are_refused_in_a_sentence():
    curriculum = Curriculum(3)
    with pytest.raises(UsageError, match="successes cannot be read"):
        curriculum.update([0], ["won"])
    with pytest.raises(UsageError, match="items are float64; expected whole numbers"):
        curriculum.update_one(1.0, 1.0)
    curriculum.update_one(np.int64(1), 1.0)
    assert curriculum.metrics()["curriculum/tried_share"] == 1 / 3
