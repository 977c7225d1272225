"""How the tables of a decision store came to be, by migrations.toml: one entry per schema version.

    aegir_schema    version                                          one row per migration
    episodes        sequence, id, data_source, recorded_at, body     body: the episode as JSON (aegir_rl.episode)
    outcomes        sequence, episode_id, kind, data_source, recorded_at, body
    reviews         sequence, id, recorded_at, body                  body: a review as JSON (aegir.memory)

A store of version n gets the migrations n + 1, n + 2, … when it is opened. From version 2 on the tables refuse to
change or remove a row: they are append-only for every program, not only for this one.
"""

import tomllib
from pathlib import Path

NUMBER = {
    "sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT",
    "postgres": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}
SOURCES = "('real', 'synthetic', 'proxy')"
APPEND_ONLY = {
    "sqlite": [
        f"""CREATE TRIGGER {{table}}_no_{change} BEFORE {change} ON {{table}}
            BEGIN SELECT RAISE(ABORT, '{{table}} is append-only'); END"""
        for change in ("UPDATE", "DELETE")
    ],
    "postgres": [
        """CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            EXECUTE FUNCTION aegir_append_only()"""
    ],
}


def _statements(version: dict[str, list[str]], database: str) -> list[str]:
    return [
        *(each.format(number=NUMBER[database], sources=SOURCES) for each in version["create"]),
        *(version.get(database, ())),
        *(
            statement.format(table=table)
            for table in version.get("append_only", ())
            for statement in APPEND_ONLY[database]
        ),
    ]


def _read_migrations() -> list[dict[str, list[str]]]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    versions = tomllib.loads(text)["version"]
    return [{database: _statements(each, database) for database in NUMBER} for each in versions]


MIGRATIONS = _read_migrations()
"""Of each version the statements by database: `sqlite`, `postgres`."""
