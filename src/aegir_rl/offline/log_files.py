"""Files of logged decisions: JSON lines, or Parquet if the name ends so.

    log = read_log(Path("routing.jsonl"))                    # LoggedDecisions, rewarded by reward_v1
    write_log(store.read(), Path("routing.parquet"))         # whole, or not at all

Promises: both forms hold the same episodes without loss; a line that is no episode is named by its number.

Limits: a Parquet file is read and written by DuckDB; its column `episode` is the JSON line, the others are for people.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.temporary import private_folder
from aegir_rl.base.text import amount
from aegir_rl.episode import Episode, EpisodeBatch
from aegir_rl.offline.logged_decisions import WORKER, LoggedDecisions, LogSource
from aegir_rl.offline.reward_v1 import RewardWeights


def read_log(
    path: Path, *, weights: RewardWeights | None = None, source: LogSource | None = None
) -> LoggedDecisions:
    """Read a log of episodes as flat arrays, with `reward_v1` as their reward."""
    batch = EpisodeBatch.from_episodes(read_episodes(path))
    return LoggedDecisions.from_batch(batch, name=str(path), weights=weights, source=source)


def read_episodes(path: Path) -> list[Episode]:
    """The episodes of a file of JSON lines or of a Parquet file, by its suffix."""
    if path.suffix.lower() == ".parquet":
        lines = _read_parquet(path)
    else:
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
            raise UsageError(f"{path} cannot be read as a log ({reason})") from None
    episodes = [
        Episode.from_json(line, f"{path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    counts = Counter(each.id for each in episodes)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise UsageError(
            f"{path} has {amount(len(twice), 'id')} more than once, such as {twice[0]!r}; expected each episode once"
        )
    return episodes


def write_log(episodes: Iterable[Episode], path: Path) -> Counter[str]:
    """Write episodes as JSON lines, or as Parquet if the name ends so; return how many came from each source."""
    given = list(episodes)
    lines = [each.to_json() for each in given]
    if path.suffix.lower() == ".parquet":
        replace_file(path, _parquet_bytes(given, lines))
    else:
        replace_file(path, "".join(f"{line}\n" for line in lines).encode())
    return Counter(each.source for each in given)


def _parquet_bytes(episodes: Sequence[Episode], lines: Sequence[str]) -> bytes:
    from aegir_rl.base.duckdb_engine import open_connection  # loads DuckDB

    rows = [
        (
            each.id,
            each.source,
            each.group,
            each.task,
            len(each.decisions),
            [str(decision.action.get(WORKER)) for decision in each.decisions],
            sum(decision.cost for decision in each.decisions),
            sum(decision.seconds for decision in each.decisions),
            each.rewards.get("accuracy"),
            line,
        )
        for each, line in zip(episodes, lines, strict=True)
    ]
    with closing(open_connection(":memory:")) as connection:
        connection.execute(
            "CREATE TABLE log (id VARCHAR, data_source VARCHAR, group_name VARCHAR, task VARCHAR, decisions INTEGER, "
            "workers VARCHAR[], cost DOUBLE, seconds DOUBLE, accuracy DOUBLE, episode VARCHAR)"
        )
        if rows:
            connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        with private_folder() as folder:
            whole = folder / "log.parquet"
            connection.execute(f"COPY log TO '{whole}' (FORMAT parquet, COMPRESSION zstd)")
            return whole.read_bytes()


def _read_parquet(path: Path) -> list[str]:
    import duckdb

    from aegir_rl.base.duckdb_engine import open_connection

    if not path.is_file():
        raise UsageError(f"{path} cannot be read as a log (no such file)")
    try:
        with closing(open_connection(":memory:")) as connection:
            rows = connection.execute("SELECT episode FROM read_parquet(?)", [str(path)]).fetchall()
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError(f"{path} cannot be read as a log ({reason})") from None
    return [str(line) for (line,) in rows]
