"""Plans over held-out tables: the deep layers are called where a plan says, and outcomes are those of labelled columns."""

import numpy as np
import pytest

from aegir.lab.data.sources import read_training_tables
from aegir.lab.engine.plans import EVERYDAY, MEASURES, WEB, HeldOutEngine
from held_out_answers import write_answers
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> HeldOutEngine:
    folder = tmp_path_factory.mktemp("engine")
    data = [
        write_synthetic_tables(folder / "made_up_val.jsonl", 24, seed=1),
        write_everyday_tables(folder, 8),
    ]
    ngrams, runs = write_answers(folder, read_training_tables(data))
    return HeldOutEngine.load(runs, data, ngrams)


def test_a_threshold_calls_the_deep_layers_for_more_columns_the_higher_it_is(engine: HeldOutEngine):
    counts = [
        sum(int(flags.sum()) for flags in engine.by_threshold(threshold).values())
        for threshold in (0.0, 0.5, 0.9, 1.1)
    ]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert counts[-1] == sum(int(flags.sum()) for flags in engine.everywhere.values())


def test_a_plan_changes_only_the_columns_that_it_calls_the_deep_layers_for(engine: HeldOutEngine):
    called = engine.by_threshold(0.9)
    planned = engine.combined.calling(called).mixed(WEB, engine.fitted[True])
    first = engine.combined.calling(engine.nowhere).mixed(WEB, engine.fitted[True])
    deep = engine.combined.mixed(WEB, engine.fitted[True])
    rows = called[WEB]
    np.testing.assert_array_equal(planned["types"][~rows], first["types"][~rows])
    np.testing.assert_array_equal(planned["types"][rows], deep["types"][rows])


def test_gains_are_right_answers_with_the_deep_layers_less_those_without(engine: HeldOutEngine):
    gains = engine.gains(EVERYDAY)
    labelled = engine.combined.held[EVERYDAY].known["types"]
    assert np.isfinite(gains[labelled]).all()
    assert np.abs(gains[labelled]).max() <= 1


def test_outcomes_are_those_of_labelled_columns_in_groups(engine: HeldOutEngine):
    outcomes = engine.outcomes(engine.everywhere)
    assert set(outcomes) == set(MEASURES)
    assert len(outcomes["web types"].right) == 72  # three columns of 24 tables have a type
    assert len(outcomes["relations"].right) == 48
    assert outcomes["web types"].right.mean() > 0.9  # the made-up answers are nearly always right
    assert len(np.unique(outcomes["everyday types"].group)) == 8
