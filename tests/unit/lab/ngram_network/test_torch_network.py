"""The torch network and what it is exported to: the same answers, up to rounding of the weights."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch

from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.ngram_network.batches import HeaderNames
from aegir.lab.ngram_network.columns import Columns
from aegir.lab.ngram_network.fit import Fit, NetworkTraining
from aegir.lab.ngram_network.torch_network import Sizes
from aegir.lab.ngrams import _by_column
from aegir.readers.ngrams.column_inputs import read_columns
from aegir.readers.ngrams.network import HEADS, LAYER_OUTPUTS, TABLE_HEADS
from aegir.readers.rules.judge import judge_columns
from aegir.tables.labelled import UNLABELLED, LabelledTable
from aegir.tables.table import Table
from ngram_models import TABLES

SETTINGS = NetworkTraining(
    header_rows=300, value_rows=900, dropout=0.3, sizes=Sizes(embedding=8, facts=16, width=24)
)
SOME = [table for table in TABLES if table.columns]


def untrained(tables: Sequence[Table], seed: int) -> Fit:
    """A network with random weights that has embeddings for n-grams of these tables."""
    labelled = [LabelledTable(table, (UNLABELLED,) * len(table.columns), {}) for table in tables]
    source = Source("raw", web=False, raw=True)
    columns = Columns.of([TrainingTable(each, source) for each in labelled])
    names = HeaderNames.of({"status": ("state",), "email_address": ("E-Mail", "mail")})
    return Fit(columns, np.ones(len(tables), bool), names, SETTINGS, seed)


@pytest.mark.parametrize("seed", range(3))
def test_the_exported_network_answers_what_the_torch_network_answers(seed: int):
    fit = untrained(SOME, seed)
    with torch.no_grad():
        for parameter in fit.network.parameters():
            parameter += 0.1 * torch.randn(parameter.shape)
    sizes = np.array([len(table.columns) for table in SOME])
    outputs = fit.predict(np.arange(len(SOME)))
    expected = {**outputs, "levels": _by_column(outputs, sizes)["levels"]}
    network = fit.export()
    verdicts = judge_columns([column for table in SOME for column in table.columns])
    inputs = read_columns(SOME, verdicts, network.values.index, network.headers.index)
    assert len(inputs.headers.features) > 20
    assert len(inputs.values.features) > 100
    outputs = network.outputs(inputs)
    assert outputs.keys() == {*HEADS, *TABLE_HEADS}
    for head in outputs:
        assert outputs[head].std() > 0.1
        np.testing.assert_allclose(outputs[head], expected[head], atol=2e-2)


def test_a_table_is_answered_the_same_among_others_up_to_rounding():
    fit = untrained(SOME, 0)
    together = fit.predict(np.arange(len(SOME)))
    for number in range(len(SOME)):
        where = fit.columns.of_tables(np.array([number]))
        alone = fit.predict(np.array([number]))
        for head in LAYER_OUTPUTS:
            rows = [number] if head in TABLE_HEADS else where
            np.testing.assert_allclose(alone[head], together[head][rows], atol=1e-5)


def test_what_is_hidden_does_not_reach_the_outputs():
    """Header, other headers, name and values by themselves, then all of them."""
    fit = untrained(SOME, 0)
    fit.network.eval()
    batch = fit.batches.plain(np.arange(len(SOME)))
    with torch.no_grad():
        seen = fit.network(batch)["types"]
        for part in range(4):
            shown = batch.shown.clone()
            shown[:, part] = 0
            changed = fit.network(replace(batch, shown=shown))["types"]
            assert (changed - seen).abs().max() > 1e-4
        hidden = replace(batch, shown=torch.zeros_like(batch.shown))
        nothing = fit.network(hidden)["types"]
        bare = fit.network(replace(hidden, facts=torch.zeros_like(batch.facts)))["types"]
    assert (nothing - bare).abs().max() > 1e-4  # figures are never hidden
    people = bare[: len(SOME[0].columns)]
    assert people.std(dim=0).max() < 1e-5  # without any input the columns of a table are alike
