"""The switchboard: every source can be switched, drawn from, counted, and repeated."""

import gzip
import json
from pathlib import Path

import pytest

from aegir.lab.data.engine import build_tables
from aegir.lab.data.report import EngineReport
from aegir_rl.base.errors import UsageError


def write_lines(path: Path, lines: list[dict[str, object]]) -> None:
    path.parent.mkdir(exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def column(label: str | None, *values: str, **more: object) -> dict[str, object]:
    return {"values": list(values), "cta": label} | more


@pytest.fixture
def data(tmp_path: Path) -> Path:
    mail = [column("email", f"a{i}@b.example", f"c{i}@d.example") for i in range(12)]
    write_lines(
        tmp_path / "sotab_cta_train.jsonl",
        [{"id": f"Event_s{i}.example.org_0", "columns": [mail[i]]} for i in range(12)],
    )
    write_lines(
        tmp_path / "labelled/sotabv2_cpa_as_cta.jsonl.gz",
        [{"id": "d", "columns": [column("Time", "10:00", cpa="opens")]}],
    )
    write_lines(
        tmp_path / "labelled/sherlock.jsonl.gz",
        [{"id": f"s{i}", "columns": [column("jockey", f"J. Doe {i}")]} for i in range(12)],
    )
    everyday = [
        {"values": ["1"], "types": ["IdentifierAT"], "fine": ["primary_key"], "personal": False},
        {"values": ["open"], "types": [], "fine": [], "relation": []},
    ]
    write_lines(
        tmp_path / "open/tables.jsonl.gz",
        [{"id": "o.csv", "group": f"example/{i}", "columns": everyday} for i in range(4)],
    )
    (tmp_path / "label_map.tsv").write_text("sherlock\tjockey\tPerson/name\t12\n")
    write_lines(
        tmp_path / "labelled/schemaorg_entities.jsonl.gz",
        [
            {"type": "Book", "site": "books.example", "props": {"name": f"B{i}", "isbn": f"{i}"}}
            for i in range(5)
        ],
    )
    for file in range(3):
        write_lines(
            tmp_path / f"raw/{file}.jsonl.gz",
            [
                {"id": f"r{file}-{i}", "columns": [{"name": "Venue", "values": [f"Hall {i}"]}]}
                for i in range(10)
            ],
        )
    return tmp_path


def test_only_the_sources_switched_on_are_built(data: Path):
    assert build_tables([data], {}, seed=0) == []
    assert build_tables([data], {"gold": False}, seed=0) == []
    (table,) = build_tables([data], {"entities": True}, seed=0)
    assert table.labelled.types == ("Book/name", "IdentifierAT")


def test_a_number_draws_that_many_tables_the_same_ones_each_time(data: Path):
    drawn = build_tables([data], {"gold": 5}, seed=0)
    assert len(drawn) == 5
    assert drawn == build_tables([data], {"gold": 5, "entities": True}, seed=0)[:5]
    assert drawn != build_tables([data], {"gold": 5}, seed=1)
    assert len(build_tables([data], {"gold": 50}, seed=0)) == 12


def test_the_report_tells_gold_weak_and_auxiliary_apart(data: Path):
    wanted = dict.fromkeys(["gold", "derived", "mapped", "headers", "sherlock"], True)
    report = EngineReport.of(build_tables([data], wanted, seed=0))
    counts = {(one.name.split("/")[-1].split(".")[0], one.kind): one for one in report.sources}
    assert counts["sotab_cta_train", "gold"].cta == 12
    assert counts["sotabv2_cpa_as_cta", "weak"].cta == 1
    assert counts["sherlock", "weak"].cta == 12
    assert counts["sherlock", "auxiliary"].auxiliary == 12
    assert counts["headers", "auxiliary"].auxiliary == 30
    assert report.types["Person/name"] == (12, 0)
    assert "email" in report.scarce_types()
    assert "email" not in report.scarce_types(fewest=12)
    assert "0 of 82 types have 500 columns or more" in str(report)


def test_everyday_tables_are_a_source_of_their_own(data: Path):
    assert len(build_tables([data], {"gold": True}, seed=0)) == 12
    tables = build_tables([data], {"open": True}, seed=0)
    assert len(tables) == 4
    assert all(table.source.everyday for table in tables)
    (counts,) = EngineReport.of(tables).sources
    assert (counts.kind, counts.cta, counts.none, counts.fine) == ("gold", 4, 4, 4)


def test_everyday_tables_are_not_also_read_as_raw_ones(data: Path):
    venues = [{"name": "Venue", "values": [f"Hall {i}"]} for i in range(30)]
    write_lines(
        data / "open/tables.jsonl.gz",
        [
            {"id": "r0-1", "source": "ann/halls", "columns": [venues[0] | {"types": []}]},
            {"id": "r0-2", "source": "ben/halls", "columns": [venues[1] | {"types": []}]},
        ],
    )
    write_lines(
        data / "raw/0.jsonl.gz",
        [{"id": f"r0-{i}", "source": "ann/halls", "columns": [venues[i]]} for i in range(10)],
    )
    names = {one.labelled.table.name for one in build_tables([data], {"headers": True}, seed=0)}
    assert "r0-1" not in names
    assert "r0-2" in names  # of the same name, in another repository
    assert len(names) == 29


def test_an_unknown_source_is_refused_with_the_nearest_name(data: Path):
    with pytest.raises(UsageError, match=r"'entitys'; did you mean 'entities'\?"):
        build_tables([data], {"entitys": True}, seed=0)


def test_a_source_whose_file_is_missing_says_which_file(data: Path):
    with pytest.raises(UsageError, match=r"no labelled/dbpedia.jsonl.gz in"):
        build_tables([data], {"dbpedia": True}, seed=0)
