"""Evidence on who reads a column: every plan is compared with the threshold, and routers are learnt outside their fold."""

from dataclasses import replace
from pathlib import Path

import pytest

from aegir.lab.byte_network.config import DataSettings, HeldOutSettings
from aegir.lab.data.sources import read_training_tables
from aegir.lab.engine.evidence import PlanRow, compare_plans
from aegir.lab.engine.plans import MEASURES, HeldOutEngine
from aegir.lab.engine.router import RouterTraining
from aegir_rl.base.errors import UsageError
from held_out_answers import write_answers
from small_runs import settings_in, train_small
from synthetic_labels import write_everyday_tables

FAST = RouterTraining(warm_steps=4, rl_steps=4, tables=8, rollouts=2, updates=2, stretch=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[HeldOutEngine, list[Path], list[Path]]:
    """Two fold runs that begin with the first layer, on made-up tables; and runs without a network."""
    folder = tmp_path_factory.mktemp("evidence")
    plain = settings_in(folder)
    data = [Path(each) for each in plain.data.folders]
    data = [*data, write_everyday_tables(folder, 8)]
    tables = [t for t in read_training_tables(data) if t.source.is_validation]
    parts, bare = write_answers(folder, tables)
    config = replace(
        plain,
        architecture=replace(plain.architecture, first=16),
        data=DataSettings(tuple(map(str, data)), {"gold": True, "open": True}, str(parts)),
        supervised=replace(plain.supervised, tables_per_step={"made_up_val": 6, "open": 4}),
    )
    runs = []
    for fold in range(2):
        runs.append(folder / f"run{fold}")
        train_small(replace(config, held_out=HeldOutSettings(folds=2, fold=fold)), runs[-1])
    return HeldOutEngine.load(runs, data, parts), runs, bare


def test_every_plan_is_compared_with_the_threshold(made):
    engine, runs, _ = made
    rows = {row.name: row for row in compare_plans(engine, runs, FAST, 1, lambda _: None)}
    assert list(rows)[:2] == ["threshold", "first layer alone"]
    assert {"deep layers always", "without reranking", "random, seed 0", "PARL, seed 0"} <= set(
        rows
    )
    threshold: PlanRow = rows["threshold"]
    measured = [name for name in MEASURES if name not in ("50 types", "names")]
    assert list(threshold.right) == measured  # nothing is said of what no table has
    assert all(threshold.gains[name].value == 0 for name in measured)
    for row in rows.values():
        for name in measured:
            difference = row.right[name] - threshold.right[name]
            assert row.gains[name].value == pytest.approx(difference)
    assert rows["first layer alone"].activated == 0
    assert rows["deep layers always"].activated == 1
    assert rows["PARL, seed 0"].note.startswith("clip fraction 0.000")


def test_runs_that_do_not_begin_with_the_first_layer_are_refused(made, tmp_path):
    engine, _, _ = made
    plain = settings_in(tmp_path)
    train_small(plain, tmp_path / "plain")
    with pytest.raises(UsageError, match="does not begin with what the first layer says"):
        compare_plans(engine, [tmp_path / "plain"], FAST, 1, lambda _: None)
