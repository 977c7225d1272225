"""Growing a swarm in two made-up worlds: one where a specialist can tell two types apart, one where nobody can."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from aegir.evaluation import validating
from aegir.lab.specialists.config import SpecialistTraining, read_specialist_training
from aegir.lab.specialists.growing import Growth
from aegir.lab.specialists.growth_tables import read_growth_tables
from aegir.pipeline.added_specialists import AddedSpecialists
from aegir.pipeline.pipeline import Pipeline
from aegir.readers.scores import Explanation, TableScores
from aegir.readers.swarm.confusions import TYPES
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
from aegir.tables.table import Table
from aegir.vocabulary.hierarchy import kind_of
from aegir_rl.base.errors import UsageError
from made_up_search import search_with

PHONE, FAX = TYPES.index("telephone"), TYPES.index("faxNumber")
SETTINGS = """
threads = 1

[specialist]
name = "template"
domain = "replaced by what is confused"
kinds = ["time"]

[architecture]
layout = ["w1"]
widths = [32]
head_size = 16
hidden_ratio = 1
rank = 4
gram_rows = 256
column_width = 32
table_blocks = 0

[supervised]
steps = 24
tables_per_step = { another = 24 }
learning_rate = 2e-2
check_every = 12
"""


class Undecided:
    """A swarm that takes every number for a telephone's, and is unsure."""

    name = "undecided"

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        return [self._score(len(table.columns)) for table in tables]

    def _score(self, columns: int) -> TableScores:
        types = np.full((columns, len(TYPES) - 1), 0.001, np.float32)
        types[:, PHONE], types[:, FAX] = 0.45, 0.4
        nothing = np.zeros((columns, 108), np.float32)
        return TableScores(types, nothing, None, (Explanation(),) * columns)


class Quiet:
    """Watches a training; may interrupt it."""

    def __init__(self, stop_at: int = -1) -> None:
        self.stop_at, self.first = stop_at, -1

    def say(self, line: str) -> None:
        pass

    def step(self, step, figures) -> None:
        self.first = step if self.first < 0 else self.first
        if step == self.stop_at:
            raise KeyboardInterrupt


def write_world(path: Path, *, learnable: bool) -> Path:
    """150 tables of one column: fax numbers begin with 9, or with anything."""
    lines = []
    for number in range(150):
        random = Random(f"{learnable}/{number}")
        is_fax = random.random() < 0.5
        first = "9" if is_fax else "2"
        if not learnable:
            first = random.choice("92")
        values = [f"{first}{random.randrange(10**6):06}" for _ in range(4)]
        column = {"name": None, "values": values, "cta": "faxNumber" if is_fax else "telephone"}
        lines.append(json.dumps({"id": f"made up {number}", "columns": [column]}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def growth(folder: Path, *, learnable: bool, seed: int = 0) -> Growth:
    tables = read_growth_tables([write_world(folder / "numbers.jsonl", learnable=learnable)], seed)
    return Growth(settings(folder), tables, Undecided(), folder / "grown", folder / "swarm", seed)


def settings(folder: Path) -> SpecialistTraining:
    path = folder / "template.toml"
    path.write_text(SETTINGS, encoding="utf-8")
    return read_specialist_training(path)


def test_no_group_is_on_two_sides_of_the_split(tmp_path):
    tables = growth(tmp_path, learnable=True).tables
    parts = [tables.learning, tables.proposal, tables.judging]
    assert sorted(n for part in parts for n in part) == list(range(150))
    groups = [{tables.groups[number] for number in part} for part in parts]
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert [len(part) for part in parts] == [90, 30, 30]


def test_a_specialist_that_helps_is_kept_and_known_to_later_rounds_and_runs(tmp_path, monkeypatch):
    def load_made_up(settings: object, pool: Path, say: object) -> Pipeline:
        return search_with(AddedSpecialists.open(pool))

    monkeypatch.setattr(validating, "load_pipeline", load_made_up)
    grown = growth(tmp_path, learnable=True)
    assert [set(each.types) for each in grown.proposals()] == [{"telephone", "faxNumber"}]
    done = grown.run_round(Quiet())
    assert done is not None
    assert done.kept
    assert done.gain is not None
    assert done.gain.low > 0.2
    assert done.gain.worse == 0
    assert done.validation is not None
    assert done.validation.asked, "a search is in the same doubt"
    assert set(done.validation.types) == {"telephone", "faxNumber"}
    pool = SpecialistPool.open(tmp_path / "swarm")
    assert pool.get(done.name) is not None
    assert pool.entry(done.name).validation == done.validation
    assert pool.entry(done.name).domain == "telling apart faxNumber, telephone"
    assert pool.entry(done.name).scores[kind_of("telephone")].columns == 30
    assert grown.run_round(Quiet()) is None, "nothing is confused any more"
    again = growth(tmp_path, learnable=True)
    assert again.rounds == grown.rounds
    assert again.proposals() == []
    assert again.judging.right.all()
    with pytest.raises(UsageError, match="begun with other tables, settings, swarm or seed"):
        growth(tmp_path, learnable=True, seed=1)


def test_a_specialist_that_cannot_help_is_not_kept_also_when_its_training_was_interrupted(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        growth(tmp_path, learnable=False).run_round(Quiet(stop_at=20))
    grown, watch = growth(tmp_path, learnable=False), Quiet()
    assert grown.rounds == ()
    done = grown.run_round(watch)
    assert watch.first == 13, "it goes on behind its checkpoint"
    assert done is not None
    assert not done.kept
    assert not (tmp_path / "swarm").exists()
    assert grown.run_round(Quiet()) is None, "the same types are not tried twice"
    assert growth(tmp_path, learnable=False).rounds == (done,)


def test_too_few_groups_are_refused(tmp_path):
    lines = write_world(tmp_path / "few.jsonl", learnable=True).read_text().splitlines()[:4]
    (tmp_path / "few.jsonl").write_text("\n".join(lines))
    with pytest.raises(UsageError, match=r"make up 4 groups .* at least 5 are needed"):
        read_growth_tables([tmp_path / "few.jsonl"], 0)
