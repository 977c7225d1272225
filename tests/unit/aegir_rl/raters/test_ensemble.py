"""The ensemble: worked numbers, missing and failing raters, the veto, and one rater who lies."""

import asyncio
import json
import pickle
import threading
import time

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.health.report import check
from aegir_rl.raters.aggregation import aggregate, item_spread
from aegir_rl.raters.agreement import krippendorff_alpha
from aegir_rl.raters.calls import RaterPool
from aegir_rl.raters.ensemble import AgreementUnchecked, RewardEnsemble
from aegir_rl.raters.settings import EnsembleSettings
from aegir_rl.rewards.running_normalizer import RunningNormalizer

NAN = np.nan
ABC = ["a", "b", "c"]


def noisy_ratings(seed=0, raters=5, units=60, noise=0.3):
    random = np.random.default_rng(seed)
    return random.standard_normal(units) + noise * random.standard_normal((raters, units))


@pytest.mark.parametrize(
    ("method", "score"),
    [
        ("mean", 4),
        ("median", 2),
        ("trimmed", 2),
        ("majority", NAN),
        ("weighted", 5.25),
        ("reliability", 2),
    ],
)
def test_the_worked_numbers_of_the_docstring(method, score):
    weights = [1, 1, 2] if method in ("weighted", "reliability") else None
    found = aggregate([[1], [2], [9]], method, weights=weights)
    assert found == pytest.approx([score], nan_ok=True)


@pytest.mark.parametrize("method", ["mean", "median", "trimmed", "majority", "reliability"])
def test_a_missing_rating_is_left_out_and_never_0(method):
    ratings = [[5, 5, NAN], [5, NAN, NAN], [5, 5, NAN]]
    assert aggregate(ratings, method) == pytest.approx([5, 5, NAN], nan_ok=True)


def test_a_trimmed_mean_drops_its_share_at_both_ends():
    # 20 % of 10 ratings is 2 at each end: the mean of 2 to 7 is 4.5.
    assert aggregate(np.arange(10.0)[:, None], "trimmed", trim=0.2) == [4.5]
    assert aggregate([[1.0], [3.0]], "trimmed") == [2.0]


def test_the_majority_wins_and_a_tie_is_missing():
    ratings = [[1, 1, 1], [2, 1, 2], [2, 3, NAN], [3, 3, NAN]]
    assert aggregate(ratings, "majority") == pytest.approx([2, NAN, NAN], nan_ok=True)


def test_an_item_of_raters_that_weigh_nothing_is_missing():
    ratings = [[1, 1], [3, NAN]]
    assert aggregate(ratings, "weighted", weights=[0, 2]) == pytest.approx([3, NAN], nan_ok=True)


def test_too_few_ratings_are_no_score():
    ratings = [[1, 1], [3, NAN], [5, NAN]]
    assert aggregate(ratings, "mean", min_raters=2) == pytest.approx([3, NAN], nan_ok=True)


@pytest.mark.parametrize("lie", [1e9, -1e9, 1e308])
@pytest.mark.parametrize("method", ["median", "trimmed", "reliability"])
@pytest.mark.parametrize("liar", [0, 2, 4])
def test_one_rater_reporting_a_billion_stays_within_the_range_of_the_others(method, lie, liar):
    ratings = noisy_ratings()
    others = np.delete(ratings, liar, axis=0)
    ratings[liar] = lie
    scores = aggregate(ratings, method)
    assert (scores >= others.min(axis=0) - 1e-12).all()
    assert (scores <= others.max(axis=0) + 1e-12).all()


def test_a_liar_on_a_single_item_stays_within_the_range_of_the_others_too():
    ratings = noisy_ratings()
    ratings[1, 7] = 1e9
    others = np.delete(ratings[:, 7], 1)
    for method in ("median", "trimmed", "reliability"):
        assert others.min() <= aggregate(ratings, method)[7] <= others.max()


def test_the_mean_has_no_such_bound():
    ratings = noisy_ratings()
    ratings[0] = 1e9
    assert (aggregate(ratings, "mean") > 1e8).all()


def test_reliability_beats_the_mean_when_a_rater_is_noise():
    random = np.random.default_rng(3)
    truth = random.standard_normal(400)
    ratings = truth + 0.3 * random.standard_normal((4, 400))
    ratings[3] = 3 * random.standard_normal(400)
    errors = {m: np.abs(aggregate(ratings, m) - truth).mean() for m in ("mean", "reliability")}
    assert errors["reliability"] < 0.3 < 0.5 < errors["mean"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"method": "best"}, "method is 'best'"),
        ({"method": "weighted"}, "needs weights"),
        ({"method": "weighted", "weights": [1, -1, 1]}, "expected finite numbers from 0 up"),
        ({"method": "weighted", "weights": [1, NAN, 1]}, "expected finite numbers from 0 up"),
        ({"method": "weighted", "weights": [0, 0, 0]}, "at least one above 0"),
        ({"method": "weighted", "weights": [1, 1]}, "3 raters came with weights of shape"),
        ({"method": "trimmed", "trim": 0.5}, "trim is 0.5"),
        ({"min_raters": 0}, "min_raters is 0"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments, said):
    with pytest.raises(UsageError, match=said):
        aggregate([[1], [2], [3]], **arguments)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_to_combine_gives_no_scores(shape):
    for method in ("mean", "median", "trimmed", "majority", "reliability"):
        scores = aggregate(np.zeros(shape), method)
        assert scores.shape == (shape[1],)
        assert np.isnan(scores).all()


def test_the_worked_number_of_the_ensemble():
    ensemble = RewardEnsemble(ABC)
    result = ensemble.combine([[1, 2, 3], [1, 2, 3], [1e9, 1e9, 1e9]])
    assert result.scores.tolist() == [1, 2, 3]
    assert result.agreement.alpha == pytest.approx(-1 / 3)
    assert result.spread.tolist() == [0, 0, 0]


def test_one_rater_left_alone_decides_nothing_unless_it_is_the_only_one():
    assert np.isnan(RewardEnsemble(ABC).combine([[1], [NAN], [NAN]]).scores).all()
    assert RewardEnsemble(["a"]).combine([[1]]).scores.tolist() == [1]


def test_low_agreement_of_a_batch_vetoes_it_and_high_agreement_does_not():
    ensemble = RewardEnsemble(ABC, min_alpha=0.5)
    fine = ensemble.combine(noisy_ratings(raters=3))
    assert fine.agreement.alpha > 0.8
    assert not fine.vetoed.any()
    random = np.random.default_rng(0).standard_normal((3, 60))
    vetoed = ensemble.combine(random)
    assert abs(vetoed.agreement.alpha) < 0.2
    assert vetoed.vetoed.all()
    assert vetoed.missing.all()


def test_a_veto_can_give_a_number_or_only_a_flag():
    random = np.random.default_rng(0).standard_normal((3, 60))
    assert (RewardEnsemble(ABC, min_alpha=0.5, veto_score=-1.0).combine(random).scores == -1).all()
    flagged = RewardEnsemble(ABC, min_alpha=0.5, low_agreement="flag").combine(random)
    assert flagged.vetoed.all()
    assert not flagged.missing.any()


def test_an_item_whose_ratings_lie_far_apart_is_vetoed_alone():
    ratings = [[0.0, 0.0], [0.1, 0.5], [0.0, 1.0], [0.1, 0.9]]
    result = RewardEnsemble(["a", "b", "c", "d"], max_spread=0.2).combine(ratings)
    # medians 0.05 and 0.7; distances .05 .05 .05 .05 and .7 .2 .3 .2: spreads 0.05 and 0.25.
    assert result.spread == pytest.approx([0.05, 0.25])
    assert result.vetoed.tolist() == [False, True]
    assert result.scores == pytest.approx([0.05, NAN], nan_ok=True)


def test_the_spread_of_labels_is_the_share_outside_the_majority():
    assert item_spread(
        np.array([[1.0, 1], [1, 2], [2, NAN], [1, NAN]]), "nominal"
    ) == pytest.approx([0.25, 0.5])


def test_agreement_is_tracked_over_time_and_vetoes_small_batches():
    ensemble = RewardEnsemble(ABC, min_running_alpha=0.5, window=40)
    random = np.random.default_rng(0)
    vetoes = []
    for step in range(40):
        noise = 0.2 if step < 20 else 3.0
        ratings = random.standard_normal(5) + noise * random.standard_normal((3, 5))
        vetoes.append(bool(ensemble.combine(ratings).vetoed.any()))
    assert not any(vetoes[:20])
    assert all(vetoes[30:])
    items, _, running = ensemble.alpha_history[-1]
    assert items == 200
    assert running < 0.3
    assert ensemble.metrics()["ensemble/vetoed_share"] == sum(vetoes) / 40


def test_an_undefined_alpha_vetoes_nothing_and_says_why():
    result = RewardEnsemble(ABC, min_alpha=0.9).combine(np.ones((3, 20)))
    assert result.scores.tolist() == [1.0] * 20
    assert "all ratings are equal" in result.agreement.reason


def test_ratings_below_0_are_missing_on_a_ratio_scale():
    result = RewardEnsemble(ABC, metric="ratio").combine([[1, -5], [1, 2], [3, 2]])
    assert np.isnan(result.ratings[0, 1])
    assert result.scores.tolist() == [1, 2]


def test_raters_that_raise_or_answer_nonsense_are_missing_and_the_run_goes_on():
    raters = {
        "good": lambda items: [1.0] * len(items),
        "also good": lambda items: [2.0, None, 2.0],
        "raises": lambda items: 1 / 0,
        "leaves": lambda items: exit(3),
        "short": lambda items: [1.0],
        "words": lambda items: "yes",
        "infinite": lambda items: [float("inf")] * len(items),
    }
    ensemble = RewardEnsemble(raters, method="mean", min_raters=1)
    result = ensemble.score(["x", "y", "z"])
    assert result.scores.tolist() == [1.5, 1.0, 1.5]
    reasons = {failure.rater: failure.reason for failure in result.failures}
    assert list(reasons) == ["raises", "leaves", "short", "words"]
    assert "ZeroDivisionError: division by zero" in reasons["raises"]
    assert "shape (1,) for 3 items" in reasons["short"]
    assert ensemble.metrics()["ensemble/failed_calls"] == 4
    assert any("raises failed in 1 calls" in line for line in ensemble.report().sentences)


async def rate_slowly(items):
    await asyncio.sleep(0.01)
    return [float(len(item)) for item in items]


async def hang(items):
    await asyncio.sleep(60)


def test_async_raters_are_awaited_beside_plain_ones():
    raters = {
        "async": rate_slowly,
        "plain": lambda items: [1.0, 4.0],
        "partial": lambda items: rate_slowly(items),
    }
    result = RewardEnsemble(raters).score(["a", "bbb"])
    assert result.ratings.tolist() == [[1, 3], [1, 4], [1, 3]]
    assert result.failures == ()


def test_async_raters_work_inside_a_running_event_loop():
    ensemble = RewardEnsemble({"async": rate_slowly})

    async def train():
        ticks = []

        async def tick():
            while True:
                ticks.append(ensemble)
                await asyncio.sleep(0.001)

        ticking = asyncio.create_task(tick())
        blocking = ensemble.score(["a"])
        before = len(ticks)
        waiting = await ensemble.score_async(["bb"])
        ticking.cancel()
        return blocking.scores[0], waiting.scores[0], len(ticks) > before

    assert asyncio.run(train()) == (1.0, 2.0, True)


def test_an_async_rater_that_hangs_is_late_and_cancelled():
    pool = RaterPool({"slow": hang}, timeout=0.05)
    assert [failure.kind for failure in pool.rate(["x"])[1]] == ["late"]
    deadline = time.monotonic() + 5
    while any(thread.name == "rater slow" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert pool.rate(["x"])[1][0].kind == "late"  # called again, not "busy"


def test_an_async_rater_that_raises_is_missing():
    async def broken(items):
        raise ValueError("no judge")

    ratings, failures = RaterPool({"broken": broken}).rate(["x"])
    assert np.isnan(ratings).all()
    assert failures[0].reason == "rater 'broken' failed with ValueError: no judge"


def length_of(items):
    return [float(len(item)) for item in items]


def test_an_ensemble_pickles_even_while_a_rater_hangs():
    release = threading.Event()
    ensemble = RewardEnsemble({"length": length_of, "again": length_of}, min_raters=1, timeout=0.05)
    ensemble.score(["a", "bb"])
    vars(ensemble._pool)["_hanging"]["length"] = release  # cannot be pickled
    again = pickle.loads(pickle.dumps(ensemble))
    assert again.score(["ccc"]).scores.tolist() == [3.0]
    assert again.metrics()["ensemble/items"] == 3


def test_settings_are_one_frozen_object_and_keywords_replace_fields():
    settings = EnsembleSettings(method="weighted", weights=[1, 3], min_raters=1)
    assert RewardEnsemble(["a", "b"], settings).combine([[0], [4]]).scores.tolist() == [3.0]
    mean = RewardEnsemble(["a", "b"], settings, method="mean")
    assert mean.combine([[0], [4]]).scores.tolist() == [2.0]
    assert mean.settings == EnsembleSettings(method="mean", weights=(1.0, 3.0), min_raters=1)
    with pytest.raises(AttributeError):
        settings.trim = 0.1  # type: ignore[misc]
    with pytest.raises(TypeError, match="min_alhpa"):
        RewardEnsemble(["a"], min_alhpa=0.1)


def test_min_alpha_says_once_that_a_small_batch_was_not_checked():
    random = np.random.default_rng(0)
    ensemble = RewardEnsemble(ABC, min_alpha=0.9)
    with pytest.warns(
        AgreementUnchecked, match="9 units have two ratings and 10 are needed"
    ) as caught:
        results = [ensemble.combine(random.standard_normal((3, 9))) for _ in range(3)]
    assert len(caught) == 1
    assert [result.unchecked for result in results] == [("min_alpha",)] * 3
    assert not results[0].vetoed.any()
    assert ensemble.metrics()["ensemble/unchecked_batches"] == 3
    checked = ensemble.combine(random.standard_normal((3, 10)))
    assert checked.unchecked == ()
    assert checked.vetoed.all()


def test_a_rater_that_hangs_is_given_up_and_asked_again_once_it_is_back():
    release = threading.Event()
    raters = {"quick": lambda items: [1.0], "slow": lambda items: [2.0] if release.wait(20) else []}
    pool = RaterPool(raters, timeout=0.1)
    started = time.monotonic()
    ratings, failures = pool.rate(["x"])
    assert time.monotonic() - started < 5
    assert ratings[0] == 1.0
    assert np.isnan(ratings[1])
    assert failures[0].reason == "rater 'slow' gave no answer within 0.1 s"
    before = threading.active_count()
    assert pool.rate(["x"])[1][0].kind == "busy"
    assert threading.active_count() <= before  # no second thread for a rater that hangs
    release.set()
    deadline = time.monotonic() + 5
    while pool.rate(["x"])[1] and time.monotonic() < deadline:
        time.sleep(0.01)
    assert pool.rate(["x"])[0].tolist() == [[1.0], [2.0]]


def test_an_ensemble_saved_and_restored_goes_on_exactly():
    one, other = (RewardEnsemble(ABC, method="reliability", window=50) for _ in range(2))
    one.combine(noisy_ratings(1, raters=3))
    state = one.state_dict()
    state["window"] = state["window"].tolist()
    other.load_state_dict(json.loads(json.dumps(state)))
    more = noisy_ratings(2, raters=3)
    first, second = one.combine(more), other.combine(more)
    assert first.scores.tolist() == second.scores.tolist()
    assert first.weights.tolist() == second.weights.tolist()
    assert str(one.metrics()) == str(other.metrics())
    assert str(one.state_dict()) == str(other.state_dict())


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: RewardEnsemble([]), "no raters"),
        (lambda: RewardEnsemble(["a", "a"]), "share a name"),
        (lambda: RewardEnsemble({"a": 3}), "expected a callable"),
        (lambda: RewardEnsemble(ABC, window=3), "window is 3"),
        (lambda: RewardEnsemble(ABC, low_agreement="stop"), "low_agreement is 'stop'"),
        (lambda: RewardEnsemble(ABC, method="weighted"), "needs weights"),
        (lambda: RewardEnsemble({"a": len}, timeout=0), "timeout is 0"),
        (lambda: RewardEnsemble({"a": len}, timeout=float("inf")), "timeout is inf"),
        (lambda: RewardEnsemble(ABC, min_raters=4), "min_raters is 4 among 3 raters"),
        (lambda: RewardEnsemble(ABC, min_raters=0), "min_raters is 0"),
        (lambda: RewardEnsemble(ABC, min_alpha=NAN), "min_alpha is nan"),
        (lambda: RewardEnsemble(ABC, min_running_alpha=2), "min_running_alpha is 2"),
        (lambda: RewardEnsemble(ABC, max_spread=-1), "max_spread is -1"),
        (lambda: RewardEnsemble(ABC).score(["x"]), r"use combine\(ratings\)"),
        (lambda: RewardEnsemble(ABC).combine([[1], [2]]), "2 rows of ratings came for 3 raters"),
        (
            lambda: RewardEnsemble(ABC).load_state_dict(RewardEnsemble(["x", "y"]).state_dict()),
            "saved ensemble has raters x, y",
        ),
    ],
)
def test_an_ensemble_that_cannot_work_is_refused_in_a_sentence(build, said):
    with pytest.raises(UsageError, match=said):
        build()


def test_undefined_figures_are_absent_from_the_log_and_names_do_not_collide():
    """All ratings equal: alpha is undefined, and a nan in a log would read as sickness."""
    ensemble, normalizer = RewardEnsemble(ABC), RunningNormalizer()
    assert "ensemble/alpha" not in ensemble.metrics()
    ensemble.combine(np.ones((3, 12)))
    normalizer.update([1.0, 2.0], keys="a task")
    assert "ensemble/alpha" not in ensemble.metrics()
    assert "normalizer/mean" not in normalizer.metrics()
    assert not set(ensemble.metrics()) & set(normalizer.metrics())
    assert check({**ensemble.metrics(), **normalizer.metrics()}).well


def test_a_rater_that_copies_the_others_pulls_alpha_up():
    """Why raters must be independent: alpha of two strangers is 0, with their average about 0.4."""
    one, other = np.random.default_rng(0).standard_normal((2, 2000))
    assert abs(krippendorff_alpha([one, other]).alpha) < 0.1
    assert 0.3 < krippendorff_alpha([one, other, (one + other) / 2]).alpha < 0.5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["mean", "median", "trimmed", "majority", "reliability"])
def test_ratings_near_the_largest_float_give_scores_or_nan_without_a_warning(method):
    ensemble = RewardEnsemble(ABC, method=method)
    result = ensemble.combine([[1e308, 1e308], [1e308, 1e308], [-1e308, -1e308]])
    assert not np.isinf(result.scores).any()
    assert ensemble.report().sentences


def test_a_window_that_is_no_number_is_refused():
    with pytest.raises(UsageError, match="window is nan"):
        RewardEnsemble(ABC, window=NAN)
