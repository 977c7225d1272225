"""Made-up everyday tables: patterns, shares, labels and headers."""

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from aegir.lab.data.everyday_tables import (
    UNLISTED,
    EverydayColumns,
    everyday_tables,
    fill,
    read_everyday_columns,
)
from aegir.lab.data.known_names import HEADER_NAMES, TYPICAL_VALUES, all_headers, read_names
from aegir_rl.base.errors import AegirError

VALUES = read_names(TYPICAL_VALUES)
HEADING = "name\tcolumns\tcells\n"


@pytest.mark.parametrize(
    ("pattern", "cells"),
    [
        ("{5..7}", r"[5-7]"),
        ("{-3..3:2}", r"-?[0-3]\.\d\d"),
        ("{01..12}", r"0[1-9]|1[0-2]"),
        ("-{1..9:1} %", r"-\d\.\d %"),
        ("{AA-999}/{aah}", r"[A-Z]{2}-\d{3}/[a-z]{2}[0-9a-f]"),
        ("20{10..24}-{01..12}", r"20(1\d|2[0-4])-(0[1-9]|1[0-2])"),
        ("{0..0.2:4}", r"0\.[01]\d{3}|0\.2000"),
        ("plain", "plain"),
    ],
)
def test_cells_follow_their_pattern(pattern: str, cells: str):
    for seed in range(50):
        assert re.fullmatch(cells, fill(pattern, Random(seed)))


def test_fine_types_that_are_not_listed_take_typical_values(tmp_path: Path):
    path = tmp_path / "columns.tsv"
    path.write_text(f"{HEADING}status\t14\t-\nyear\t2\t{{1950..2024}}|{{1990..1999}}\n")
    values = {"status": {"en": ("open",)}, "gene": {"-": ("TP53",)}}
    assert read_everyday_columns(values, path) == [
        EverydayColumns("gene", UNLISTED, ()),
        EverydayColumns("status", 14, ()),
        EverydayColumns("year", 2, ("{1950..2024}", "{1990..1999}")),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("wage\t2\t{1..9}", "line 2: 'wage' is not a fine type"),
        ("year\t2\t-", "line 2: year has no typical values; expected patterns"),
    ],
)
def test_a_line_that_cannot_be_followed_is_refused(tmp_path: Path, line: str, said: str):
    path = tmp_path / "columns.tsv"
    path.write_text(f"{HEADING}{line}\n")
    with pytest.raises(AegirError, match=said):
        read_everyday_columns({}, path)


def test_there_are_as_many_columns_of_each_fine_type_as_listed():
    tables = everyday_tables(Random(0))
    made = Counter(labels.fine for labelled in tables for labels in labelled.labels)
    wanted = {(kind.name,): kind.columns for kind in read_everyday_columns(VALUES)}
    assert made == wanted
    assert len(made) > 250


def test_columns_of_a_table_have_its_rows_and_all_headers_or_none():
    known = all_headers(read_names(HEADER_NAMES))
    tables = everyday_tables(Random(1))
    for labelled in tables:
        columns = labelled.table.columns
        assert len({len(column.values) for column in columns}) == 1
        assert len({column.name is None for column in columns}) == 1
        for column, labels in zip(columns, labelled.labels, strict=True):
            assert column.present
            assert column.name is None or column.name in known[(labels.fine or ("",))[0]]
    headless = [labelled.table.columns[0].name is None for labelled in tables]
    assert 0.1 < sum(headless) / len(headless) < 0.2


def test_the_same_seed_gives_the_same_tables():
    first, again, other = (
        [labelled.table for labelled in everyday_tables(Random(seed))] for seed in (4, 4, 5)
    )
    assert first == again != other
