"""Tables that a new type must be told apart from: what `aegir types learn` measures its mistakes on.

    python -m aegir.data.background_tables > src/aegir/annotators/custom_types/background.jsonl.gz

Two kinds, all made up. *Pages* come from the generators of training tables: 61 of the 82 types, labelled. *Records*
are what databases are full of and no type speaks for: keys, codes, counts, flags, hashes, remarks. Three tables in
four have headers, written as people write them. The columns of every third table stand alone, each a table by itself:
an example may come alone, too, and being alone must not be what a head goes by.

The file ships with Aegir and holds tables, not embeddings, so it serves any weights. It need not be made again: with
other versions of the word lists behind the pages, these come out different.
Limit: made-up columns are tidier than real ones. A share of false alarms measured here is a floor; `--validate`
measures on tables of the user's own.
"""

import gzip
import json
import string
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random

from aegir.data.generators.tables import synthetic_tables
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Column, Table

SEED = 0
PAGES, RECORDS = 170, 90
HEADLESS = 0.25
RECORD_COLUMNS, RECORD_ROWS = (4, 9), (6, 12)
CONSTANT, GAPS = 0.08, 0.2
ALONE = 3

# 9 a digit, A and a a letter, h a hex digit, everything else itself; between | are alternatives.
CODES: Mapping[str, str] = {
    "id|key|row id|no": "99999|9999999|999|9999999999",
    "ref|reference|record": "A9999|AA-99999|A-99999|99/99999|2099-99999|AAA999999",
    "order number|order no|order ref": "ORD-99999|9999-9999999-9999999|O9999999|2099-99999|99999999",
    "code|number|nr": "AA9999|999-99-9999|9999A|aaa9999|hhhhhhhhhhhhhhhhhhhhhhhh",
    "uuid|guid|session": "hhhhhhhh-hhhh-4hhh-ahhh-hhhhhhhhhhhh",
    "hash|checksum|etag|commit": "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh|hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh|hhhhhhh",
    "token|api key|secret": "aAa9aAAa9aA9aaAA9aAa|sk_aaaa99aaAA9aA9aaAA99",
    "serial number|serial|sn": "AA9A99999999|SN-9999-AAAA|9999A9999",
    "batch|lot|lot no": "L99999|99A99|2099/99/9|LOT-999A",
    "cost centre|cost center|gl account|konto": "9999|999999|9999-99|CC9999",
    "department code|unit|division": "AA9|AAA|9A|AAAA-9",
    "product code|item code|article": "AAA-9999|99999-AA|AA.999.99|9999999A",
    "bin|shelf|location code|storage": "A9-99-9|99-A-99|R99S99",
    "ticket|issue|ticket key": "AAA-999|AAAA-9999|#99999",
    "version|release|build": "9.9.9|v9.99|9.9.9-rc9|20990999.9",
    "ip|ip address|host": "19.99.99.9|10.9.99.99|srv-aaa-99.aaaaa.net",
    "mac address|device": "hh:hh:hh:hh:hh:hh|hhhhhhhhhhhh",
    "flight|train|line": "AA999|AAA 99|S9|AA 9999",
    "licence plate|plate|vehicle": "AA99 AAA|A-AA 999|999-AAA",
    "quantity|count|units|stock": "9|99|999|9 999",
    "amount|total|net|balance": "99.99|9,999.99|-99.99|9999.9|999,99",
    "rate|share|percent|margin": "9.9%|0.99|99 %|0.9999",
    "reading|value|measurement|x|y": "99.999|-9.9999|9.99e-9|0.99999|9999.9",
    "year|model year|fiscal year": "2019|2099|1999|FY99",
    "period|month|quarter|week": "2099-09|Q1 2099|2099-W39|09/2099",
    "created at|updated at|ts": "2023-09-19T19:39:09Z|2021-09-19 19:09:59|1699999999|1699999999999",
    "duration ms|latency|elapsed": "999|99.9 ms|0.999 s|99999",
    "port|size|bytes|length": "9999|99999999|99 kB|9.9 MB",
    "path|file|filename": "/aaa/aaaaa/aaaa_99.aaa|aaaa-9999.pdf|C:\\aaaa\\aaa99.txt",
    "mask|dose|ratio": "9:99|9/9|99 mg|9x9",
}
WORDS: Mapping[str, str] = {
    "status|state|stage": "open|closed|pending|in progress|cancelled|done|on hold|new|archived",
    "priority|severity|level": "low|medium|high|critical|P1|P2|P3|info|warning|error",
    "active|is active|deleted|flag": "true|false|Y|N|0|1|yes|no",
    "department|team|owner group": "Finance|Sales|Legal|IT|Operations|Marketing|Human Resources|R&D",
    "segment|tier|class|grade": "A|B|C|gold|silver|bronze|standard|premium",
    "colour|color|shade": "red|navy|olive|beige|charcoal|teal|off-white|#3a7f2c|#ffcc00",
    "size": "S|M|L|XL|XXL|36|38|40|42|one size",
    "material|fabric|finish": "steel|oak|cotton|polyester|brushed aluminium|glass|leather",
    "species|taxon|breed": "Quercus robur|Parus major|Canis lupus|Bos taurus|Salmo trutta|Apis mellifera",
    "diagnosis|finding|symptom": "fracture|hypertension|asthma|migraine|J45.9|I10|S52.5|none noted",
    "channel|source|medium": "web|store|phone|partner|organic|cpc|referral|newsletter",
    "method|action|event": "GET|POST|login|logout|click|purchase|view|INSERT|DELETE",
    "role|position|rank": "admin|editor|viewer|lead|junior|captain|keeper|clerk",
    "category|group|topic": "tools|garden|toys|stationery|lighting|seafood|spare parts|services",
    "result|outcome|grade given": "pass|fail|negative|positive|1st|DNF|void|A+|B-",
}
REMARKS = [
    "call",
    "back",
    "after",
    "noon",
    "left",
    "with",
    "neighbour",
    "customer",
    "asked",
    "for",
    "refund",
    "part",
    "replaced",
    "under",
    "warranty",
    "see",
    "attached",
    "report",
    "no",
    "further",
    "action",
    "awaiting",
    "approval",
    "door",
    "code",
    "changed",
    "sample",
    "was",
    "too",
    "small",
    "repeat",
    "the",
    "test",
    "second",
    "visit",
    "planned",
    "keys",
    "at",
    "reception",
    "paid",
    "in",
    "full",
    "partly",
    "delivered",
    "check",
    "address",
    "again",
]
NOTES = "note|remarks|comment|description|reason"


def background_tables(seed: int = SEED) -> list[LabelledTable]:
    """Pages and records; the label of a column is its type among the 82, where it has one."""
    pages = [one.labelled for one in synthetic_tables(PAGES, seed)]
    whole = [_with_headers(page, _stream(seed, "page", i)) for i, page in enumerate(pages)]
    whole += [_record(i, _stream(seed, "record", i)) for i in range(RECORDS)]
    return [
        part
        for i, one in enumerate(whole)
        for part in (_columns_of(one) if i % ALONE == 0 else [one])
    ]


def write_background(tables: list[LabelledTable]) -> bytes:
    """The tables as gzipped JSON lines."""
    lines = "".join(json.dumps(_as_line(one), ensure_ascii=False) + "\n" for one in tables)
    return gzip.compress(lines.encode(), 9, mtime=0)


def _stream(seed: int, *names: str | int) -> Random:
    return Random(Seeds(seed).derive("background", *names))  # noqa: S311 (no secret)


def _columns_of(one: LabelledTable) -> list[LabelledTable]:
    """Every column as a table by itself."""
    return [
        LabelledTable(Table(f"{one.table.name}/{i}", (column,)), (one.cta[i],), (one.cpa[i],), {})
        for i, column in enumerate(one.table.columns)
    ]


def _with_headers(page: LabelledTable, random: Random) -> LabelledTable:
    """The page with the name of its property over most columns."""
    write = _hand(random)
    names = [
        (cpa or cta or ("title",))[0].rpartition("/")[2]
        for cta, cpa in zip(page.cta, page.cpa, strict=True)
    ]
    columns = tuple(
        replace(column, name=write(_spaced(name)))
        for column, name in zip(page.table.columns, names, strict=True)
    )
    return replace(page, table=replace(page.table, columns=columns, subject=None))


def _record(number: int, random: Random) -> LabelledTable:
    write, rows = _hand(random), random.randint(*RECORD_ROWS)
    kinds = random.sample([*CODES, *WORDS, NOTES], random.randint(*RECORD_COLUMNS))
    columns = tuple(
        Column(write(random.choice(kind.split("|"))), tuple(_cells(kind, rows, random)))
        for kind in kinds
    )
    unlabelled = ((),) * len(columns)
    return LabelledTable(Table(f"record/{number}", columns), unlabelled, unlabelled, {})


def _cells(kind: str, rows: int, random: Random) -> Iterator[str]:
    pattern = random.choice(CODES[kind].split("|")) if kind in CODES else ""
    first = _cell(kind, pattern, random)
    constant, gaps = random.random() < CONSTANT, random.random() < GAPS
    for row in range(rows):
        if gaps and row and random.random() < GAPS:
            yield ""
        else:
            yield first if constant or not row else _cell(kind, pattern, random)


def _cell(kind: str, pattern: str, random: Random) -> str:
    if pattern:
        return "".join(_drawn(mark, random) for mark in pattern)
    if kind in WORDS:
        return random.choice(WORDS[kind].split("|"))
    return " ".join(random.choices(REMARKS, k=random.randint(2, 9)))


_MARKS = {
    "9": string.digits,
    "A": string.ascii_uppercase,
    "a": string.ascii_lowercase,
    "h": "0123456789abcdef",
}


def _drawn(mark: str, random: Random) -> str:
    return random.choice(_MARKS[mark]) if mark in _MARKS else mark


class _hand:  # noqa: N801 (reads as a verb where it is used)
    """How one table's headers are written: none at all, or words joined in one of four ways."""

    def __init__(self, random: Random) -> None:
        self.style = random.randrange(4) if random.random() >= HEADLESS else None

    def __call__(self, words: str) -> str | None:
        styles = (
            words.replace(" ", "_"),
            words.title(),
            words.upper().replace(" ", "_"),
            words.title().replace(" ", "")[:1].lower() + words.title().replace(" ", "")[1:],
        )
        return None if self.style is None else styles[self.style]


def _spaced(name: str) -> str:
    """postalCode -> postal code"""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()


def _as_line(one: LabelledTable) -> dict[str, object]:
    return {
        "id": one.table.name,
        "columns": [
            {"name": column.name, "values": column.values, "cta": labels[0] if labels else None}
            for column, labels in zip(one.table.columns, one.cta, strict=True)
        ],
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(write_background(background_tables()))
