"""Stand-ins: a table is read in training by the twin that has not learnt from it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aegir.lab.ngrams import networks_file
from aegir.lab.parl.build import load_stand_ins
from aegir.lab.parl.reading import column_folds, run_activated
from aegir.readers.bytes.byte_encoding import PAD
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.specialist import FrozenSpecialist
from byte_models import random_checkpoint
from ngram_models import write_networks
from parl_runs import OTHER, policy_and_tables


def test_the_twin_of_a_table_s_fold_reads_its_columns(tmp_path: Path):
    policy, batch, tables = policy_and_tables(tmp_path)
    examples = [replace(one, fold=number % 3) for number, one in enumerate(tables.examples)]
    folds = column_folds(batch, examples)
    active = torch.ones(len(folds), 2, dtype=torch.bool)
    active[1, 1] = False
    twin = FrozenSpecialist("places-fold1", ByteColumnModel.of(random_checkpoint(OTHER, 9)))
    own = run_activated(policy, batch, active)
    known = run_activated(policy, batch, active, {"places": {1: twin}}, folds)
    at = 0
    for (ids, _), before, now in zip(batch.parts, own.parts, known.parts, strict=True):
        codes, places = now
        assert codes is not None
        assert places is not None
        assert before[0] is not None
        assert before[1] is not None
        assert places.vectors is not None
        assert before[1].vectors is not None
        assert torch.equal(codes.vectors, before[0].vectors)
        assert torch.equal(places.rows, before[1].rows)
        with torch.no_grad():
            theirs = twin(ids, ids != PAD)
        read_by_twin = folds[at + places.rows] == 1
        assert read_by_twin.any()
        assert not read_by_twin.all()
        assert torch.allclose(
            places.vectors[read_by_twin], theirs.vectors[places.rows[read_by_twin]], atol=1e-5
        )
        assert torch.allclose(
            places.vectors[~read_by_twin], before[1].vectors[~read_by_twin], atol=1e-5
        )
        for state, alone in zip(places.states, before[1].states, strict=True):
            assert torch.allclose(state[~read_by_twin], alone[~read_by_twin], atol=1e-5)
            assert not torch.allclose(state[read_by_twin], alone[read_by_twin], atol=1e-5)
        at += len(ids)


def test_networks_of_the_other_folds_stand_in_for_those_of_the_run(tmp_path: Path):
    for fold in range(3):
        write_networks(tmp_path / networks_file(fold), seed=fold)
    twins = load_stand_ins(["somewhere", f"ngrams={tmp_path}"], folds=3, fold=1)
    assert {name: [*by_fold] for name, by_fold in twins.items()} == {"ngrams": [0, 2]}
    assert twins["ngrams"][0].sha256 != twins["ngrams"][2].sha256
    assert load_stand_ins(["ngrams", "somewhere"], folds=3, fold=1) == {}


def test_stand_ins_need_the_folds_of_the_columns(tmp_path: Path):
    policy, batch, _ = policy_and_tables(tmp_path)
    active = torch.ones(len(batch.order), 2, dtype=torch.bool)
    with pytest.raises(AssertionError, match="folds of the columns"):
        run_activated(policy, batch, active, {"codes": {0: policy.swarm.specialists[0]}})
