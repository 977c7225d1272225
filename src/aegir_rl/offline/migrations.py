"""How the tables of a decision store came to be: one entry per schema version, never changed once released.

    aegir_schema    version                                          one row per migration
    episodes        sequence, id, data_source, recorded_at, body     body: the episode as JSON (aegir_rl.episode)
    outcomes        sequence, episode_id, kind, data_source, recorded_at, body
    reviews         sequence, id, recorded_at, body                  body: a review as JSON (aegir.memory)

A store of version n gets the migrations n + 1, n + 2, … when it is opened. From version 2 on the tables refuse to
change or remove a row: they are append-only for every program, not only for this one.
"""

SOURCES = "('real', 'synthetic', 'proxy')"
Statements = dict[str, tuple[str, ...]]
"""By database: `sqlite`, `postgres`."""


def _tables(number: str) -> tuple[str, ...]:
    return (
        "CREATE TABLE aegir_schema (version INTEGER PRIMARY KEY)",
        f"""CREATE TABLE episodes (
            sequence {number},
            id TEXT NOT NULL UNIQUE,
            data_source TEXT NOT NULL CHECK (data_source IN {SOURCES}),
            recorded_at TEXT NOT NULL,
            body TEXT NOT NULL)""",
    )


def _outcomes(number: str) -> tuple[str, ...]:
    return (
        f"""CREATE TABLE outcomes (
            sequence {number},
            episode_id TEXT NOT NULL REFERENCES episodes (id),
            kind TEXT NOT NULL CHECK (kind IN ('ground_truth', 'correction', 'agreement')),
            data_source TEXT NOT NULL CHECK (data_source IN {SOURCES}),
            recorded_at TEXT NOT NULL,
            body TEXT NOT NULL)""",
        "CREATE INDEX outcomes_of_episode ON outcomes (episode_id)",
    )


def _reviews(number: str) -> tuple[str, ...]:
    return (
        f"""CREATE TABLE reviews (
            sequence {number},
            id TEXT NOT NULL UNIQUE,
            recorded_at TEXT NOT NULL,
            body TEXT NOT NULL)""",
    )


def _sqlite_append_only(table: str) -> tuple[str, ...]:
    return tuple(
        f"""CREATE TRIGGER {table}_no_{change} BEFORE {change} ON {table}
            BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"""
        for change in ("UPDATE", "DELETE")
    )


_POSTGRES_REFUSE = """CREATE FUNCTION aegir_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"""


def _postgres_append_only(table: str) -> tuple[str, ...]:
    return (
        f"""CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            EXECUTE FUNCTION aegir_append_only()""",
    )


_SQLITE_NUMBER = "INTEGER PRIMARY KEY AUTOINCREMENT"
_POSTGRES_NUMBER = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
MIGRATIONS: tuple[Statements, ...] = (
    {"sqlite": _tables(_SQLITE_NUMBER), "postgres": _tables(_POSTGRES_NUMBER)},
    {
        "sqlite": (
            *_outcomes(_SQLITE_NUMBER),
            *_sqlite_append_only("episodes"),
            *_sqlite_append_only("outcomes"),
        ),
        "postgres": (
            *_outcomes(_POSTGRES_NUMBER),
            _POSTGRES_REFUSE,
            *_postgres_append_only("episodes"),
            *_postgres_append_only("outcomes"),
        ),
    },
    {
        "sqlite": (*_reviews(_SQLITE_NUMBER), *_sqlite_append_only("reviews")),
        "postgres": (*_reviews(_POSTGRES_NUMBER), *_postgres_append_only("reviews")),
    },
)
