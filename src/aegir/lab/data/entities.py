"""Tables rebuilt from publishers' Schema.org entities, as SOTAB was built from the same kind of markup.

    {"type": "Recipe", "site": "…", "props": {"name": …, "prepTime": …}}   x 47,000
        -- one site, one kind, about five entities --> a table without headers, subject first

What a property says about its column (`labels_of`), where that is near-certain:

    offers.price          -> relation price,     type price
    author.name           -> relation author,    type Person/name
    nutrition.fatContent  -> relation nutrition, type Mass
    name of a Recipe      -> no relation (it is the subject), type Recipe/name

A nested property counts as its last part, because SOTAB flattened markup the same way: containers such as
`address` and `offers` are dropped, and the `name` of an author or brand is the author or brand itself.
A type is given (schema_org.tsv) where at least nine in ten SOTAB columns of the relation have it, and where the
columns of these publishers looked like that type to a reader (docs/data-engine.md has the figures).

Promises
  - a table holds entities of one kind and, where a site has three or more of them, of one site; the site is part of
    the table's name, so `leakage.group_tables` keeps it with other tables of that site;
  - sites with one or two entities of a main kind are pooled, but never a site that gold tables come from;
  - cells are cut to twenty words and missing cells stay empty, as in SOTAB;
  - the same seed gives the same tables.

Limits: markup contains errors, and half of these publishers are cooking sites.
"""

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.lab.data.sources import Source, TrainingTable
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import parse_json, read_tsv

ENTITIES = Source("labelled/schemaorg_entities.jsonl.gz", cta_weight=0.5, cpa_weight=0.5, weak=True)
TABLES_PER_SITE = 6
"""Per site and kind, so that a few large shops do not decide what a product looks like."""
ENTITIES_PER_TABLE = (3, 4, 5, 5, 5, 5, 5, 6, 7, 8)
ENTITIES_PER_DRAW = 4
"""A site with 12 entities gives three tables: drawn anew each time, they share some rows."""
FEWEST_ENTITIES = 3
MOST_COLUMNS, MOST_UNLABELLED = 16, 3
WORDS_PER_CELL = 20
POOLED_KINDS = frozenset(["Recipe", "Product", "LocalBusiness", "Event", "Person", "Place"])
TABLES_PER_POOL = 200
_NOT_IN_A_SITE = re.compile(r"[^a-z0-9.-]+")

_HERE = Path(__file__).parent


def _schema_org(role: str) -> dict[str, str | None]:
    rows = [fields for _, fields in read_tsv(_HERE / "schema_org.tsv", "role type names")]
    return {name: kind or None for of, kind, names in rows if of == role for name in names.split()}


_PROPERTIES = _schema_org("property")
"""Property to the type of its column."""
KINDS = _schema_org("kind")
"""The kinds of entity worth a table, and the type of their names, if it is one of ours."""
_CONTAINERS = _schema_org("container").keys()
"""Properties whose parts count as parts of the entity itself."""
_THINGS = _schema_org("thing").keys()
"""Properties whose value is a thing; SOTAB shows the thing's name."""
_DATES = _schema_org("date").keys()
"""A Date or a DateTime, as the cells say."""
_DESCRIBED = _schema_org("described kind").keys()
_HAS_TIME = re.compile(r"\d[T ]\d{1,2}:\d\d")
_SAME_KIND = {"product": "Product", "MusicEvent": "Event"}


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing as a site described it: flat properties, nested ones with dots."""

    kind: str
    site: str
    properties: tuple[tuple[str, str], ...]


def read_entities(path: Path) -> list[Entity]:
    """Return the distinct entities of a file that are of the kinds in KINDS."""
    entities: dict[Entity, None] = {}
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = parse_json(line)
                if record["type"] in KINDS:
                    cells = ((name, _cut(str(text))) for name, text in record["props"].items())
                    filled = tuple((name, text) for name, text in cells if text)
                    entities[Entity(record["type"], _as_site(record["site"]), filled)] = None
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"cannot read entities from {path} ({error!r}); expected gzipped lines of "
            '{"type", "site", "props"}'
        ) from None
    return list(entities)


def rebuild_tables(
    entities: Sequence[Entity], seed: int, gold_sites: Iterable[str] = ()
) -> list[TrainingTable]:
    """Return tables of one site and kind each, then tables pooled from sites too small for one."""
    groups: dict[tuple[str, str], list[Entity]] = defaultdict(list)
    for entity in entities:
        groups[entity.kind, entity.site].append(entity)
    kept_apart = frozenset(gold_sites)
    pools: dict[str, list[Entity]] = defaultdict(list)
    tables: list[LabelledTable | None] = []
    for (kind, site), members in sorted(groups.items()):
        if len(members) >= FEWEST_ENTITIES:
            tables += _draw_tables(kind, site, members, Seeds(seed))
        elif kind in POOLED_KINDS and site not in kept_apart:
            pools[kind] += members
    for kind, members in sorted(pools.items()):
        order = Seeds(seed).generator("pool", kind).permutation(len(members))
        chunks = np.array_split(order, max(1, len(members) // 5))
        tables += [
            _table(f"{kind}_pool-{number}.example_0", kind, [members[i] for i in chunk])
            for number, chunk in enumerate(chunks[:TABLES_PER_POOL])
        ]
    return [TrainingTable(table, ENTITIES) for table in tables if table is not None]


def site_of(name: str) -> str | None:
    """Return the site in a table name such as `Book_books.example.com_3`, if any."""
    parts = name.split("_")
    return parts[1] if len(parts) > 2 and "." in parts[1] else None


def _draw_tables(
    kind: str, site: str, members: Sequence[Entity], seeds: Seeds
) -> list[LabelledTable | None]:
    random = seeds.generator("entities", kind, site)
    wanted = min(TABLES_PER_SITE, max(1, len(members) // ENTITIES_PER_DRAW))
    tables = []
    for number in range(wanted):
        size = min(int(random.choice(ENTITIES_PER_TABLE)), len(members))
        rows = sorted(random.choice(len(members), size, replace=False).tolist())
        tables.append(_table(f"{kind}_{site}_{number}", kind, [members[i] for i in rows]))
    return tables


def _table(name: str, kind: str, rows: Sequence[Entity]) -> LabelledTable | None:
    """Return the rows as a labelled table, or None when no column has a type."""
    records = [dict(entity.properties) for entity in rows]
    columns = [
        (path, tuple(record.get(path, "") for record in records))
        for path in _columns_kept(kind, records)
    ]
    labels = [labels_of(kind, path, cells) for path, cells in columns]
    if not any(label.type for label in labels):
        return None
    subject = 0 if columns[0][0] == "name" else None
    return LabelledTable(
        Table(name, tuple(Column(None, cells) for _, cells in columns), subject=subject),
        # A relation needs the subject beside it.
        tuple(labels if subject == 0 else [replace(label, relations=None) for label in labels]),
        {"source": "schema.org markup", "sites": sorted({entity.site for entity in rows})},
    )


def _columns_kept(kind: str, records: Sequence[dict[str, str]]) -> list[str]:
    """Return the name, then properties that at least two rows have, one column per flattened name."""
    filled = Counter(path for record in records for path in record)
    seen: set[str] = set()
    paths, unlabelled = [], 0
    for path in sorted(filled, key=lambda path: (path != "name", -filled[path], path)):
        flat = flat_name(path)
        if filled[path] < 2 or flat in seen:
            continue
        if labels_of(kind, path, ()).type is None:
            unlabelled += 1
            if unlabelled > MOST_UNLABELLED:
                continue
        if flat is not None:
            seen.add(flat)
        paths.append(path)
    return paths[:MOST_COLUMNS]


def _cut(text: str) -> str:
    return " ".join(text.split()[:WORDS_PER_CELL])


def _as_site(site: str) -> str:
    """Return a site, or the file a page was kept in, as table names spell it."""
    return _NOT_IN_A_SITE.sub("-", site.lower().removeprefix("www."))


def labels_of(kind: str, path: str, cells: Sequence[str]) -> ColumnLabels:
    """Return what the property `path` (dotted) settles about its column in a table of `kind`."""
    name = flat_name(path)
    if name is None:
        return UNLABELLED
    relation = "nutrition" if _PROPERTIES.get(name) == "Mass" else name
    return ColumnLabels.of(
        _type_of(kind, name, cells), relation if relation in RELATION_NAMES else None
    )


def flat_name(path: str) -> str | None:
    """Return the property a dotted path becomes when flattened; None if it belongs to another thing."""
    *outer, last = path.split(".")
    if (last == "name" and outer and outer[-1] in _THINGS) or (
        last in ("url", "contentUrl") and outer and outer[-1] in ("image", "logo")
    ):
        last = outer.pop()
    if not outer:
        return last
    return last if last != "name" and set(outer) <= _CONTAINERS else None


def _type_of(kind: str, name: str, cells: Sequence[str]) -> str | None:
    kind = _SAME_KIND.get(kind, kind)
    of_name = KINDS.get(kind)
    if name == "name" or (name == "headline" and of_name == "CreativeWork/name"):
        return of_name
    if name == "description":
        return f"{kind}/description" if kind in _DESCRIBED else None
    if name in _DATES:
        return "DateTime" if any(_HAS_TIME.search(cell) for cell in cells) else "Date"
    return _PROPERTIES.get(name)
