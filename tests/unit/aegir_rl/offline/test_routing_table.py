"""Routing tables in YAML: what they choose, and the sentence for what cannot be read."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from aegir.pipeline.plan import READERS
from aegir.routing.decisions import load_routing
from aegir.routing.features import FEATURES
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.routing_table import Role, RoutingTable, load_table, parse_table

TABLE = """\
# a comment
rules:
  - complexity > 0.8 and columns >= 20 -> thorough   # why
  - "confidence < 0.7 -> unsure"
  - otherwise -> ngrams
roles:
  unsure:
    primary: combined
    fallback: [byte_model, 'ngrams']
    confidence: 0.5
  thorough:
    primary: byte_model
    fallback: ngrams
context: 3
costs:
  combined: 0.5
budget:
  cost: 10
"""


def parse(text: str) -> RoutingTable:
    return parse_table(text, "routing.yaml", FEATURES, READERS)


def rows(**columns: list[float]) -> np.ndarray:
    """(B, FEATURES) with these, 0 elsewhere."""
    count = len(next(iter(columns.values())))
    found = np.zeros((count, len(FEATURES)))
    for name, values in columns.items():
        found[:, FEATURES.index(name)] = values
    return found


def test_the_first_rule_that_holds_is_chosen():
    table = parse(TABLE)
    features = rows(
        complexity=[0.9, 0.9, 0.8, 0.1], columns=[20, 19, 30, 5], confidence=[0.1, 0.1, 0.9, 0.69]
    )
    assert table.choose(features).tolist() == [0, 1, 2, 1]
    assert [str(rule) for rule in table.rules] == [
        "complexity > 0.8 and columns >= 20 -> thorough",
        "confidence < 0.7 -> unsure",
        "otherwise -> ngrams",
    ]


def test_a_missing_feature_makes_no_comparison_true():
    assert parse(TABLE).choose(rows(confidence=[math.nan])).tolist() == [2]


def test_roles_costs_and_budget_are_read():
    table = parse(TABLE)
    assert table.role(1) == Role("combined", ("byte_model", "ngrams"), 0.5)
    assert table.role(0) == Role("byte_model", ("ngrams",))
    assert table.role(2) == Role("ngrams")  # a worker is a role of its own
    assert table.role_of("byte_model") == Role("byte_model")
    assert (table.context, table.most_cost, table.most_seconds) == (3, 10, math.inf)
    assert (table.cost("combined"), table.cost("ngrams")) == (0.5, 0)


def test_the_table_that_ships_can_be_used():
    table = load_routing(None, READERS)
    assert table.role(len(table.rules) - 1).primary in READERS


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1, column 1: nothing is written here"),
        ("rules:\n\t- a", "line 2, column 1: found character '\\t' that cannot start any token"),
        ("rules:\n  - confidence > 0.7", "line 2, column 5: 'confidence > 0.7' has no arrow"),
        (
            "rules:\n  - confidense > 0.7 -> ngrams",
            "column 5: unknown feature 'confidense'; did you",
        ),
        ("rules:\n  - confidence >> 7 -> ngrams", "line 2, column 5: 'confidence >> 7' is no cond"),
        ("rules:\n  - confidence > x -> ngrams", "line 2, column 18: 'x' is no number"),
        ("rules:\n  - columns > 2 and web -> ngrams", "line 2, column 21: 'web' is no condition"),
        ("rules:\n  - otherwise -> ngrms", "line 2, column 18: unknown role 'ngrms'; did you mean"),
        ("rules:\n  - web > 0 -> ngrams", "line 2, column 5: the last rule is `web > 0 -> ngrams`"),
        (
            "rules:\n  - otherwise -> ngrams\n  - web > 0 -> ngrams",
            "line 3, column 5: this rule can never hold",
        ),
        ("rules:\n  -otherwise", "line 2, column 3: '-otherwise' is no item"),
        ("rules: []", "there are no rules"),
        ("context: 3", "there are no rules"),
        ("rules:\n  - otherwise -> ngrams\nbudget: 3", "'budget' holds no entries"),
        ("rules:\n  - otherwise -> ngrams\ncontext: few", "line 3, column 10: 'context' is no num"),
        (
            "rules:\n  - otherwise -> ngrams\ncontxt: 3",
            "unknown key 'contxt'; did you mean 'context'",
        ),
        (
            "rules:\n  - otherwise -> ngrams\nrules:\n  - a",
            "line 3, column 1: 'rules' is given twice",
        ),
        ("rules:\n  - otherwise -> ngrams\nversion: 7", "the version of this table is not 1"),
        (
            "rules:\n  - &a otherwise -> ngrams",
            "line 2, column 5: '&a otherwise -> ngrams' is YAML",
        ),
        ("roles:\n  a:\n    primary: gpt", "line 3, column 14: unknown worker 'gpt'"),
        ("roles:\n  a:\n    fallback: ngrams", "the role 'a' has no `primary: WORKER`"),
        ("roles:\n  a:\n    primary: ngrams\n    fallback: ngrams", "'ngrams' is asked twice"),
        ("roles:\n  a: ngrams", "line 2, column 6: the role 'a' has no `primary:` below it"),
        ("roles:\n  a:\n     b: 1\n   c: 2", "line 4, column 4: expected <block end>"),
        ("roles:\n  a: [x\n", "line 3, column 1: expected ',' or ']'"),
        ("rules", "line 1, column 1: 'rules' is no entry"),
        ("rules:", "line 1, column 1: 'rules:' has no value"),
        ("- rules", "line 1, column 1: a list is no entry"),
        ("rules:\n  - *a", "line 2, column 5: '*a' is YAML that routing tables do not use"),
        (
            "rules: !!python/name:os.system x",
            "line 1, column 8: '!!python/name:os.system x' is YAML",
        ),
        ("rules: |\n  otherwise -> ngrams", "line 1, column 8: '|' is YAML"),
        ("rules:\n  - a: b", "line 2, column 5: expected a plain text"),
        ("rules: x\n---\nroles: y", "line 2, column 1: but found another document"),
        ("rules:\n  - a\x01", "line 2, column 6: the character '\\x01' is not allowed"),
        ("a: " + "[" * 5000, "line 1, column 1: the text is nested too deep"),
        ("#" * 70_000, "line 1, column 1: the text is longer than 65,536 characters"),
    ],
)
def test_what_cannot_be_read_is_named_with_line_and_column(text: str, sentence: str):
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith("routing.yaml, line ")


def test_texts_are_not_converted():
    """YAML 1.1 would read the name of the role as false."""
    table = parse("rules:\n  - otherwise -> no\nroles:\n  no:\n    primary: ngrams")
    assert table.role(0) == Role("ngrams")


def test_without_pyyaml_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"pip install 'aegir-rl\[yaml\]'"):
        parse(TABLE)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_table(tmp_path / "none.yaml", FEATURES, READERS)
    (tmp_path / "bad.yaml").write_bytes(b"rules: \xff")
    with pytest.raises(UsageError, match="no UTF-8"):
        load_table(tmp_path / "bad.yaml", FEATURES, READERS)
