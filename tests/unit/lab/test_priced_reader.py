"""Recorded answers of a reader that is paid by the token: reading them, their price, and what is learnt. All of it is made up."""

import json
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.priced_reader import PricedLog, asks, learn_to_ask, read_recorded
from aegir.routing.features import CONFIDENCE, FEATURES
from aegir_rl.base.errors import UsageError

LINE = {
    "id": "t1",
    "columns": [{"index": 0, "type": "telephone"}, {"index": 1, "type": "email"}],
    "tokens_instructions": 100,
    "tokens_table": 40,
    "tokens_answer": 20,
}


def recorded(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def test_an_answer_has_types_by_column_and_its_tokens(tmp_path: Path) -> None:
    found = read_recorded(recorded(tmp_path, LINE), {"t1": 2})
    assert found["t1"].types == {0: "telephone", 1: "email"}
    assert (found["t1"].instructions, found["t1"].table, found["t1"].answer) == (100, 40, 20)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([{**LINE, "id": "t2"}], "'t2', which is not among the labelled tables"),
        ([{**LINE, "columns": [{"index": 2, "type": "email"}]}], "which does not exist"),
        ([{**LINE, "columns": [{"index": 0, "type": "phone"}]}], "which is no type"),
        ([LINE, LINE], "was answered before"),
        ([{**LINE, "tokens_table": -1}], "expected whole numbers"),
        ([{"id": "t1"}], "is no recorded answer"),
        ([], "has no recorded answers"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    tmp_path: Path, lines: list[object], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        read_recorded(recorded(tmp_path, *lines), {"t1": 2})


def made_up_log(tables: int = 200) -> PricedLog:
    """Two columns a table; the reader is always right, we are right where the confidence is above one half."""
    random = np.random.default_rng(0)
    features = np.zeros((2 * tables, len(FEATURES)))
    features[:, CONFIDENCE] = random.random(2 * tables)
    return PricedLog(
        tuple(f"made/t{row // 2}#{row % 2}" for row in range(2 * tables)),
        features,
        features[:, CONFIDENCE] > 0.5,
        np.ones(2 * tables, bool),
        np.repeat(np.arange(tables), 2),
        np.repeat(np.arange(tables), 2),
        np.full(tables, 100.0),
        np.full(tables, 40.0),
        np.full(2 * tables, 10.0),
    )


def test_a_table_is_paid_once_and_instructions_are_shared_by_the_tables_of_a_call() -> None:
    log = made_up_log(2)
    asked = np.array([True, True, False, False])
    assert log.tokens(asked, 1).tolist() == [160, 0]  # 100 + 40 + 2 * 10
    assert log.tokens(asked, 20).tolist() == [65, 0]  # 100 / 20 + 40 + 2 * 10


def test_the_policy_asks_where_we_are_wrong_if_that_is_worth_the_tokens_and_else_not() -> None:
    log = made_up_log()
    asked = asks(learn_to_ask(log, worth=1_000, tables_per_call=1), log)
    assert np.mean(asked == ~log.ours) > 0.75  # 0.5 by chance
    assert asks(learn_to_ask(log, worth=50, tables_per_call=1), log).mean() < 0.1
