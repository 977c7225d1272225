"""Types by header: clear names only, never against the rules, and measured."""

from collections.abc import Sequence

import numpy as np

from aegir.annotators.scores import Explanation, TableScores
from aegir.data.header_types import MEANINGS, check_headers, typed_by_header
from aegir.data.raw_tables import plain_header
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

MAIL = ("ann@example.org", "bob@example.com", "eve@example.net")
NUMBERS = ("17", "23", "42")
WORDS = ("far north", "south", "near the river")


class AlwaysEmail:
    name = "always e-mail"

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        assert all(column.name is None for table in tables for column in table.columns)
        found = []
        for table in tables:
            types = np.zeros((len(table.columns), len(TYPE_NAMES)), np.float32)
            types[:, TYPE_INDEX["email"]] = 1
            relations = np.zeros((len(table.columns), len(RELATION_NAMES)), np.float32)
            found.append(TableScores(types, relations, None, (Explanation(),) * len(table.columns)))
        return found


def test_a_clear_header_gives_type_and_relation_and_is_hidden():
    table = Table("t", (Column("E-Mail", MAIL), Column("Remarks", NUMBERS)), source="f")
    (typed,) = typed_by_header([table], seed=0)
    assert typed.labelled.cta == (("email",), ())
    assert typed.labelled.cpa == (("email",), ())
    assert typed.labelled.table.columns[0] == Column(None, MAIL)
    assert typed.source.weak
    assert not typed.source.synthetic


def test_cells_that_cannot_be_the_type_overrule_the_header():
    assert typed_by_header([Table("t", (Column("latitude", WORDS),))], seed=0) == []


def test_the_check_counts_vetoes_and_agreement():
    tables = [
        Table("a", (Column("email", MAIL), Column("latitude", ("51.5072", "48.8566", "52.5200")))),
        Table("b", (Column("Latitude", WORDS),)),
    ]
    checks = {check.header: check for check in check_headers(tables, AlwaysEmail())}
    email, latitude = checks["email"], checks["latitude"]
    assert (email.columns, email.vetoed, email.agreed, email.agreement) == (1, 0, 1, 1.0)
    assert (latitude.columns, latitude.vetoed, latitude.agreement) == (2, 1, 0.0)


def test_the_map_is_spelt_in_our_vocabulary():
    for header, (type_name, relation) in MEANINGS.items():
        assert header == plain_header(header)
        assert type_name in TYPE_NAMES
        assert relation is None or relation in RELATION_NAMES
