"""Logs as flat arrays and as files: what is kept, what is left out, what is refused."""

from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.offline.log_files import read_episodes, read_log, write_log
from aegir_rl.offline.logged_decisions import (
    UNKNOWN,
    LoggedDecisions,
    require_baseline,
    with_constant_baseline,
)


def a_decision(worker: str = "rules", **fields: object) -> Decision:
    given = {"propensity": 0.5, "features": {"digits": 1.0}, "baseline": {"worker": "rules"}}
    return Decision(**{"action": {"worker": worker}, **given, **fields})


def an_episode(name: str, *decisions: Decision, **fields: object) -> Episode:
    given = {"source": "real", "rewards": {"accuracy": 1.0}}
    return Episode(**{"id": name, "decisions": decisions or (a_decision(),), **given, **fields})


CHAIN = an_episode("chain", a_decision("rules", cost=1.0), a_decision("llm"), group="t1")
SINGLE = an_episode("single", a_decision("ngrams", baseline={}), group="t2")


def log_of(*episodes: Episode, **options: object) -> LoggedDecisions:
    return LoggedDecisions.from_batch(EpisodeBatch.from_episodes(episodes), **options)


def test_decisions_are_flat_and_in_order():
    log = log_of(CHAIN, SINGLE)
    assert log.actions == ("llm", "ngrams", "rules")
    assert log.action.tolist() == [2, 0, 1]
    assert log.baseline.tolist() == [2, 2, UNKNOWN]
    assert log.episode.tolist() == [0, 0, 1]
    assert log.following.tolist() == [1, UNKNOWN, UNKNOWN]
    assert log.padded.tolist() == [[0, 1], [2, UNKNOWN]]
    assert log.reward == pytest.approx([-0.1, 1.0, 1.0])
    assert log.returns == pytest.approx([0.9, 1.0])
    assert log.groups == ("t1", "t2")


def test_selecting_episodes_keeps_their_decisions_together():
    log = log_of(SINGLE, CHAIN, an_episode("other")).select(np.array([False, True, True]))
    assert log.ids == ("chain", "other")
    assert log.episode.tolist() == [0, 0, 1]
    assert log.following.tolist() == [1, UNKNOWN, UNKNOWN]


def test_episodes_that_teach_nothing_are_left_out_and_counted():
    log = log_of(
        CHAIN,
        an_episode("no outcome", rewards={}),
        an_episode("cut off", terminated=False),
        an_episode("empty", decisions=()),
        an_episode("abstained", a_decision(None)),
    )
    assert log.ids == ("chain",)
    assert log.notes == (
        "1 episode without a decision left out",
        "1 episode with a decision that names no worker left out",
        "1 episode cut off before their end left out",
        "1 episode without a known outcome left out",
    )


def test_sources_are_never_mixed_silently():
    both = [CHAIN, an_episode("made up", source="synthetic")]
    with pytest.raises(UsageError, match="the log mixes 1 real and 1 synthetic episodes; choose"):
        log_of(*both)
    assert log_of(*both, source="synthetic").ids == ("made up",)
    assert log_of(*both, source="all").episodes == 2
    with pytest.raises(UsageError, match="the log has no proxy episodes; it has real, synthetic"):
        log_of(*both, source="proxy")


def test_logs_that_cannot_be_used_are_one_sentence():
    with pytest.raises(UsageError, match=r"^the log is empty; log decisions first"):
        log_of()
    with pytest.raises(UsageError, match="no episode to learn from: 1 episode without a known"):
        log_of(an_episode("a", rewards={}))
    with pytest.raises(UsageError, match="no decision of the log names a 'worker'"):
        log_of(an_episode("a", Decision(action={"dates": 1})))
    with pytest.raises(UsageError, match="1 of 3 decisions of the log do not say what the static"):
        require_baseline(log_of(CHAIN, SINGLE))


def test_any_worker_can_be_the_baseline():
    log = with_constant_baseline(log_of(CHAIN, SINGLE), "ngrams")
    assert log.baseline.tolist() == [1, 1, 1]
    with pytest.raises(UsageError, match="the log has no worker 'owl'; it has llm, ngrams, rules"):
        with_constant_baseline(log, "owl")


def test_groups_are_never_split_and_stay_held_out_when_the_log_grows():
    episodes = [an_episode(str(number), group=f"t{number % 40}") for number in range(200)]
    log, grown = log_of(*episodes[:100]), log_of(*episodes)
    assert log.held_out(0.3).tolist() == grown.held_out(0.3).tolist()[:100]
    assert 0.1 < grown.held_out(0.3).mean() < 0.5
    for split in (grown.held_out(0.3), grown.fold(5)):
        by_group = {group: set(split[np.array(grown.groups) == group]) for group in grown.groups}
        assert all(len(parts) == 1 for parts in by_group.values())
    assert set(grown.fold(5)) == set(range(5))


@pytest.mark.parametrize("name", ["log.jsonl", "log.parquet"])
def test_files_lose_nothing(name: str, tmp_path: Path):
    counts = write_log([CHAIN, SINGLE], tmp_path / name)
    assert counts == {"real": 2}
    assert read_episodes(tmp_path / name) == [CHAIN, SINGLE]
    assert read_log(tmp_path / name).digest == log_of(CHAIN, SINGLE).digest


def test_a_parquet_file_has_columns_for_people(tmp_path: Path):
    import pyarrow.parquet

    write_log([CHAIN], tmp_path / "log.parquet")
    row = pyarrow.parquet.read_table(tmp_path / "log.parquet").to_pylist()[0]
    assert (row["id"], row["data_source"], row["workers"]) == ("chain", "real", ["rules", "llm"])


def test_files_that_are_no_log_are_one_sentence(tmp_path: Path):
    line, other = CHAIN.to_json(), CHAIN.to_json().replace('"format":1', '"format":2')
    for name, text, sentence in [
        (
            "mixed.jsonl",
            f"{line}\n{other}\n",
            r"mixed\.jsonl, line 2 is no episode: its format is 2",
        ),
        (
            "zero.jsonl",
            line.replace("0.5", "0"),
            r"line 1 is no episode: propensity is 0; expected",
        ),
        ("twice.jsonl", f"{line}\n{line}\n", "has 1 id more than once, such as 'chain'"),
        ("text.parquet", "text", r"text\.parquet cannot be read as a log"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match=sentence):
            read_episodes(tmp_path / name)
    for name in ("none.jsonl", "none.parquet"):
        with pytest.raises(UsageError, match=rf"{name} cannot be read as a log"):
            read_episodes(tmp_path / name)
