"""Out-of-fold specialists: in training, a table is read by the one that has not learnt from it."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aegir.lab.ngrams import networks_file
from aegir.lab.parl.build import load_out_of_fold
from aegir.lab.parl.reading import column_folds, run_activated
from aegir.readers.bytes.byte_encoding import PAD
from aegir.swarm.column_model import ByteColumnModel
from aegir.swarm.specialist import FrozenSpecialist
from byte_models import random_checkpoint
from ngram_models import write_networks
from parl_runs import OTHER, policy_and_tables


def test_the_specialist_out_of_a_table_s_fold_reads_its_columns(tmp_path: Path):
    policy, batch, tables = policy_and_tables(tmp_path)
    examples = [replace(one, fold=number % 3) for number, one in enumerate(tables.examples)]
    folds = column_folds(batch, examples)
    active = torch.ones(len(folds), 2, dtype=torch.bool)
    active[1, 1] = False
    other = FrozenSpecialist("places-fold1", ByteColumnModel.of(random_checkpoint(OTHER, 9)))
    own = run_activated(policy, batch, active)
    cached = run_activated(policy, batch, active, {"places": {1: other}}, folds)
    at = 0
    for (ids, _), before, now in zip(batch.parts, own.parts, cached.parts, strict=True):
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
            theirs = other(ids, ids != PAD)
        out_of_fold = folds[at + places.rows] == 1
        assert out_of_fold.any()
        assert not out_of_fold.all()
        assert torch.allclose(
            places.vectors[out_of_fold], theirs.vectors[places.rows[out_of_fold]], atol=1e-5
        )
        assert torch.allclose(
            places.vectors[~out_of_fold], before[1].vectors[~out_of_fold], atol=1e-5
        )
        for state, alone in zip(places.states, before[1].states, strict=True):
            assert torch.allclose(state[~out_of_fold], alone[~out_of_fold], atol=1e-5)
            assert not torch.allclose(state[out_of_fold], alone[out_of_fold], atol=1e-5)
        at += len(ids)


def test_networks_of_the_other_folds_are_loaded_by_their_fold(tmp_path: Path):
    for fold in range(3):
        write_networks(tmp_path / networks_file(fold), seed=fold)
    others = load_out_of_fold(["somewhere", f"ngrams={tmp_path}"], folds=3, fold=1)
    assert {name: [*by_fold] for name, by_fold in others.items()} == {"ngrams": [0, 2]}
    assert others["ngrams"][0].sha256 != others["ngrams"][2].sha256
    assert load_out_of_fold(["ngrams", "somewhere"], folds=3, fold=1) == {}


def test_out_of_fold_specialists_need_the_folds_of_the_columns(tmp_path: Path):
    policy, batch, _ = policy_and_tables(tmp_path)
    active = torch.ones(len(batch.order), 2, dtype=torch.bool)
    with pytest.raises(AssertionError, match="folds of the columns"):
        run_activated(policy, batch, active, {"codes": {0: policy.swarm.specialists[0]}})
