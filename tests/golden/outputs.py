"""Golden outputs: what `aegir` answers for fixed inputs, as one SHA-256 per output in outputs.json.

    command line or HTTP request --> output --normalise--> text --SHA-256--> outputs.json

    python tests/golden/outputs.py record  [--only PREFIX ...] [--keep DIR] [--jobs N]
    python tests/golden/outputs.py compare [--only PREFIX ...] [--keep DIR] [--jobs N]
    python tests/golden/outputs.py --list

`record` replaces the entries of the chosen cases, and with --keep writes every normalised output to DIR. `compare` lists
outputs that differ, are missing or are new, leaves with 3 if there are any, and with --keep writes those to DIR, so that they
can be compared with the outputs of another version:

    PYTHONPATH=OLD/src python tests/golden/outputs.py record --keep /tmp/old-outputs
    python tests/golden/outputs.py compare --keep /tmp/new-outputs
    diff -r /tmp/old-outputs /tmp/new-outputs | grep -v '^Only in /tmp/old'

Promises
  - it uses the command line and HTTP only, so the same script runs against any version that PYTHONPATH names;
  - every case runs in a fresh folder that also holds all state of the user (AEGIR_HOME, HOME, TMPDIR);
  - tables, gold labels and settings are written by the case, or are the named files of examples/ (case `inputs` holds their
    hashes: if it differs, other differences may follow from that).

What is normalised: folders of the case and the package, version and name of the distribution, ids and times of runs, measured
seconds and what is computed from them, ports, hashes of source code.
Weights are compared as names, shapes and SHA-256 of their tensors, with their metadata.

Limits: hashes depend on the last bits of floating-point arithmetic, so record and compare on the same machine with the same
packages. Cases that begin with `portable/` mask all numbers, and hold on any machine; test_outputs.py checks those.
"""

# ruff: noqa: T201 (a program that prints its report)

import argparse
import contextlib
import datetime
import functools
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
GOLDEN = HERE / "outputs.json"
EXAMPLES = HERE.parents[1] / "examples"
TABLES = (
    *("access_log.csv", "bestellungen.csv", "books.csv", "broken.csv", "customers.csv"),
    *("events.json", "films.csv", "headerless.csv", "hotels.csv", "jobs.jsonl", "payments.csv"),
    *("products.tsv", "recipes.csv", "sensors.parquet", "shop.xlsx", "wide.csv"),
)
"""The files of examples/ that are annotated; a new file there changes nothing here."""
FORMATS = (
    *("text", "html", "json", "jsonl", "csv", "frictionless", "csvw", "dbt", "openmetadata"),
    *("datahub", "sql", "great_expectations"),
)
EFFORTS = ("low", "normal", "high")
TIMEOUT = 300.0
FAILED, VERDICT_IS_NO = "failed", 3


# Normalising


@dataclass(frozen=True, slots=True)
class Normaliser:
    """Replaces what differs between two runs of the same code: folders, versions, ids, times."""

    folder: Path
    version: str
    package: Path
    """Where the code is; files that ship with it are named without their folders, which may change."""

    def __call__(self, text: str, *, seconds: bool = True) -> str:
        """Return the text with variable parts replaced; `seconds=False` leaves numbers alone."""
        text = text.replace(str(self.folder), "<folder>").replace("aegir-tables", "aegir")
        text = re.sub(rf"{re.escape(str(self.package))}/(?:[\w.-]+/)*", "<package>/", text)
        text = re.sub(rf"(?<![\d.]){re.escape(self.version)}(?![\d.])", "<version>", text)
        text = re.sub(RUN_ID, "<run>", text)
        text = re.sub(r"(127\.0\.0\.1|localhost):\d{4,5}\b", r"\1:<port>", text)
        text = _replace_dates(text)
        return _replace_seconds(text) if seconds else text


RUN_ID = r"\b\d{8}T\d{12}-[0-9a-f]{16}\b"
MEASURED_KEYS = (
    r"(?:[^\"]*[/_.])?(?:seconds|milliseconds|time|columns_per_cpu_second)"
    r"|cost_per_byte|cost_ratio|path_ratio|cost_share|p50|p95|p99"
    r"|(?:[^\"]*/)?time/[^\"]*"
)
SECONDS = (
    (rf'("(?:{MEASURED_KEYS})": ?)-?\d[\d.eE+-]*', r"\1<seconds>"),
    (r'("name": ?"[^"]*", ?"duration": ?)-?\d[\d.eE+-]*', r"\1<seconds>"),
    (
        rf'("column": "(?:{MEASURED_KEYS})", "verdict": "[^"]*", "sentence": )"[^"]*", "value": [^,]*',
        r'\1"<seconds>", "value": "<seconds>"',
    ),
    (r'("times": \[)[^\]"]*\]', r"\1<seconds>]"),
    (r"\b[\d.]+ (columns per CPU second|tasks/s)", r"<speed> \1"),
    (r"\b\d[\d.]*(?:e-\d+)? ?(?:ms|s|seconds|kB/s)(?![\w/])", "<seconds>"),
    (r"(?m)^(?:step|iteration|attempts) \d+/\d+.*\n", ""),  # how many are printed depends on time
)


def _replace_seconds(text: str) -> str:
    for pattern, replacement in SECONDS:
        text = re.sub(pattern, replacement, text)
    return text


def _replace_dates(text: str) -> str:
    """Replace times of today and yesterday; tables hold other dates."""
    now = datetime.datetime.now(datetime.UTC).date()
    for day in (now, now - datetime.timedelta(days=1)):
        text = re.sub(rf"{day}(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?)?", "<now>", text)
    return text


def mask_numbers(text: str) -> str:
    """Replace every number that stands alone, so that last bits and confidences do not matter."""
    return re.sub(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w)", "#", text)


def drop_comments(page: str) -> str:
    """Return a page without comments in markup, styles and scripts, which may name source files."""
    return re.sub(r"<!--.*?-->|/\*.*?\*/", "", page, flags=re.DOTALL)


def describe_weights(content: bytes) -> str:
    """Return metadata, names, types, shapes and hashes of the tensors of a safetensors file."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    metadata = {key: _parse(value) for key, value in header.pop("__metadata__", {}).items()}
    lines = [json.dumps(metadata, indent=1, sort_keys=True, ensure_ascii=False)]
    for name, about in sorted(header.items()):
        start, end = about["data_offsets"]
        digest = hashlib.sha256(content[8 + length + start : 8 + length + end]).hexdigest()
        lines.append(f"{name} {about['dtype']} {about['shape']} {digest}")
    return "\n".join(lines) + "\n"


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


# Running


@dataclass(slots=True)
class Workspace:
    """The fresh folder of a case, the commands run in it, and the outputs collected from them."""

    folder: Path
    normalise: Normaliser
    mask: bool = False
    outputs: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the environment of commands: nothing of the user's but PATH and PYTHONPATH."""
        inherited = {
            name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ
        }
        own = {
            "AEGIR_HOME": str(self.folder / "home"),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
        }
        fixed = {
            "COLUMNS": "100",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHONIOENCODING": "utf-8",
            "TZ": "UTC",
        }
        return inherited | own | fixed

    def write(self, name: str, text: str) -> None:
        """Write an input file."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def copy_examples(self, *names: str) -> None:
        """Copy tables of examples/ to tables/, all without names."""
        (self.folder / "tables").mkdir(exist_ok=True)
        for name in names or TABLES:
            shutil.copy(EXAMPLES / name, self.folder / "tables" / name)

    def figures(self, step: str, *arguments: object, exact: bool = False) -> str:
        """Run `python -m aegir.lab.figures arguments...`, as `aegir` does."""
        return self.aegir(step, *arguments, exact=exact, module="aegir.lab.figures")

    def aegir(
        self,
        step: str,
        *arguments: object,
        stdin: str = "",
        exact: bool = False,
        module: str = "aegir",
        **more: str,
    ) -> str:
        """Run `aegir arguments...`; keep stdout, exit code and stderr under the step's name.

        `exact`: stdout holds no measured seconds, so that its numbers are compared as they are.
        """
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            input=stdin.encode(),
            capture_output=True,
            cwd=self.folder,
            env=self.environment() | more,
            timeout=TIMEOUT,
            check=False,
        )
        out = done.stdout.decode()
        if out:
            self.keep(f"{step}.out", out, exact=exact)
        self.keep(f"{step}.err", done.stderr.decode())
        self.outputs[f"{step}.err"] = f"exit {done.returncode}\n" + self.outputs[f"{step}.err"]
        return out

    def keep(self, name: str, text: str, *, exact: bool = False) -> None:
        """Keep a text as an output of the case."""
        text = self.normalise(text, seconds=not exact)
        self.outputs[name] = mask_numbers(text) if self.mask else text

    def keep_file(self, path: str, *, exact: bool = False) -> None:
        """Keep a file: weights as a description, an environment as its keys, others as text."""
        file = self.folder / path
        if not file.is_file():
            self.outputs[path] = "missing\n"
        elif file.suffix == ".safetensors":
            self.keep(path, describe_weights(file.read_bytes()))
        elif file.name == "environment.json":
            self.keep(path, "\n".join(sorted(json.loads(file.read_text()))) + "\n")
        elif file.suffix == ".html":
            self.keep(path, drop_comments(file.read_bytes().decode()), exact=exact)
        else:
            self.keep(path, file.read_bytes().decode(), exact=exact)

    def keep_folder(self, path: str) -> None:
        """Keep all files of a folder but hidden ones."""
        files = sorted((self.folder / path).rglob("*"))
        for file in files:
            if file.is_file() and not file.name.startswith("."):
                self.keep_file(str(file.relative_to(self.folder)))
        if not files:
            self.outputs[path] = "missing\n"


@dataclass(frozen=True, slots=True)
class Case:
    """A named series of commands."""

    name: str
    run: Callable[[Workspace], None]
    needs: tuple[str, ...] = ()
    """Programs without which the case is skipped."""
    mask: bool = False
    """Whether numbers are masked, because they depend on the machine."""

    def missing_programs(self) -> list[str]:
        return [program for program in self.needs if shutil.which(program) is None]


def run_case(case: Case) -> dict[str, str]:
    """Return the normalised outputs of a case by name, `CASE/OUTPUT`."""
    with tempfile.TemporaryDirectory(prefix="aegir-golden-") as name:
        folder = Path(name).resolve()
        (folder / "tmp").mkdir()
        normaliser = Normaliser(folder, _version(), _package())
        workspace = Workspace(folder, normaliser, case.mask)
        case.run(workspace)
        return {f"{case.name}/{output}": text for output, text in workspace.outputs.items()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_golden() -> dict[str, str]:
    """Return the recorded hashes by `CASE/OUTPUT`."""
    return json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}


def belongs_to(entry: str, case: Case) -> bool:
    return entry.startswith(f"{case.name}/")


@functools.cache
def _version() -> str:
    """Return the version that `aegir --version` prints."""
    return _python("-m", "aegir", "--version").split()[-1]


@functools.cache
def _package() -> Path:
    """Return the folder of the package that commands run."""
    code = "import importlib.util as u; print(u.find_spec('aegir').origin)"
    return Path(_python("-c", code).strip()).parent


def _python(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=tempfile.gettempdir(),
    )
    return done.stdout


# Inputs


def made_up_table(rows: int, seed: int) -> str:
    """A CSV file of keys, names, addresses, amounts, dates and states, longer than what is sampled."""
    random = Random(seed)
    lines = ["order_id,customer,email,amount,ordered,state"]
    for number in range(rows):
        name = "".join(random.choices(SYLLABLES, k=3)).capitalize()
        amount, day = random.randint(100, 99999) / 100, random.randint(1, 28)
        state = random.choice(["open", "paid", "sent"])
        lines.append(
            f"ORD-{1000 + number},{name},{name.lower()}@example.org,{amount:.2f},2019-03-{day:02},{state}"
        )
    return "\n".join(lines) + "\n"


SYLLABLES = ("ka", "lo", "mi", "ren", "tu", "shi", "bar", "den", "vo", "nel", "sa", "qui")
GOLD_TYPES: Mapping[str, tuple[str, Callable[[Random], str]]] = {
    "Person/name": ("author", lambda r: f"{_word(r)} {_word(r)}"),
    "email": ("email", lambda r: f"{_word(r).lower()}@{_word(r).lower()}.example"),
    "Date": (
        "datePublished",
        lambda r: f"{r.randint(1950, 2020)}-{r.randint(10, 12)}-{r.randint(10, 28)}",
    ),
    "telephone": ("telephone", lambda r: f"+{r.randint(10, 99)} 555 {r.randint(1000, 9999)}"),
    "price": ("price", lambda r: f"{r.randint(1, 300)}.{r.randint(10, 99)} EUR"),
    "URL": ("url", lambda r: f"https://{_word(r).lower()}.example/{r.randint(1, 999)}"),
}


def _word(random: Random) -> str:
    return "".join(random.choices(SYLLABLES, k=2)).capitalize()


def web_tables(count: int, seed: int) -> str:
    """Labelled tables with one label per column (docs/labelled-tables.md)."""
    lines = []
    for number in range(count):
        random, names = Random(f"{seed}/{number}"), list(GOLD_TYPES)
        chosen = [names[0], names[1 + number % 5], names[1 + (number // 5 + number + 1) % 5]]
        columns = []
        for index, name in enumerate(chosen):
            relation, make = GOLD_TYPES[name]
            values = [make(random) for _ in range(6)]
            column = {"name": f"{relation} {index}", "values": values, "cta": name}
            columns.append(column | ({"cpa": relation} if index else {}))
        lines.append(json.dumps({"id": f"synthetic {seed}/{number}", "columns": columns}))
    return "\n".join(lines) + "\n"


def open_tables(count: int) -> str:
    """Labelled tables in the open form: a key, a state, a price and a column without labels."""
    lines = []
    for number in range(count):
        random = Random(number)
        keys = [f"K{random.randrange(10**6):06d}" for _ in range(12)]
        states = [random.choice(["open", "closed", "waiting", "lost"]) for _ in keys]
        prices = [f"{random.randrange(100, 99999) / 100}" for _ in keys]
        columns: list[dict[str, object]] = [
            {"name": "id", "values": keys, "types": ["IdentifierAT"], "fine": ["primary_key"]},
            {"name": "state", "values": states, "types": [], "fine": ["status"], "relation": []},
            {"name": "cost", "values": prices, "types": ["price", "Number"], "personal": False},
            {"name": "note", "values": ["x"] * len(keys)},
        ]
        table = {"id": f"table {number}", "group": f"owner/{number // 2}", "domain": "shop"}
        lines.append(json.dumps(table | {"columns": columns}))
    return "\n".join(lines) + "\n"


def write_hospital(work: Workspace) -> None:
    """Tables with columns of patient numbers, for a type that is taught."""
    random = Random(3)

    def patient() -> str:
        return f"PT{random.randint(10, 99)}-{random.randint(1000, 9999)}{random.choice('KLMX')}"

    def table(name: str, header: str, *cells: Callable[[], object]) -> None:
        lines = [",".join(str(cell()) for cell in cells) for _ in range(120)]
        work.write(name, "\n".join([header, *lines]) + "\n")

    def ward() -> str:
        return random.choice(["A1", "B2"])

    def number() -> int:
        return random.randint(10_000, 99_999)

    def doctor() -> str:
        return random.choice(["Ann Roe", "Bo Lim", "Cy Ng"])

    table("wards.csv", "patient,ward,bed", patient, ward, lambda: random.randint(1, 40))
    table("visits.csv", "visit,patient_no,doctor", number, patient, doctor)
    table("bills.csv", "invoice_no,paid", lambda: f"INV-{number()}", ward)
    table("lab.csv", "pat,result,unit", patient, lambda: random.randint(1, 9), lambda: "mg/l")


NETWORK = """
seed = 0
threads = 1

[architecture]
layout = ["w1", ["w1"], "w0"]
widths = [32, 32]
head_size = 32
hidden_ratio = 1
rank = 4
gram_rows = 256
column_width = 32
{architecture}
[data]
folders = ["made_up_train.jsonl", "made_up_val.jsonl"]
sources = {{ gold = true }}

[held_out]
validation = false
"""
BYTES = """
[pretrain]
steps = 2
tables_per_step = { made_up_train = 8 }
check_every = 2
loss = { next_symbol = 1.0, dropout = 0.0 }

[supervised]
steps = 6
tables_per_step = { made_up_train = 8 }
learning_rate = 4e-3
check_every = 2
"""
SPECIALIST = """
[specialist]
name = "{name}"
domain = "{kind} of made-up tables"
kinds = ["{kind}"]
outside = 0.3

[supervised]
steps = 4
tables_per_step = {{ made_up_train = 8 }}
learning_rate = 6e-3
check_every = 2
"""
PARL = """
[learning]
check_every = 2

[warm_start]
steps = 2
tables_per_step = { made_up_train = 4 }

[rl]
steps = 4
tables_per_step = { made_up_train = 4 }
rollouts = 2
kept_episodes = 3

[budget]
stretch = 1
"""
PPO = """
name = "ppo"
iterations = 4
episodes = 64
check_every = 2

[tasks]
training = "training.jsonl"
test = "test.jsonl"
outcomes = "outcomes.db"
static_table = "solvers.yaml"
held_out_families = ["names"]

[ppo]
hidden = [8]
epochs = 2
"""
SOLVER_TABLE = """
rules:
  - otherwise -> usual
roles:
  usual:
    primary: regex@1
    fallback: composition@2
"""
ROUTING_TABLE = """
rules:
  - columns >= 12 and confidence < 0.9 -> thorough
  - confidence >= 0.8 -> ngrams
  - otherwise -> unsure
roles:
  unsure:
    primary: byte_model
    fallback: [combined, ngrams]
    confidence: 0.5
  thorough:
    primary: combined
context: 1
"""


def write_training_data(work: Workspace) -> None:
    """Labelled tables and the settings of byte networks, specialists and PARL."""
    work.write("made_up_train.jsonl", web_tables(30, seed=1))
    work.write("made_up_val.jsonl", web_tables(8, seed=2))
    network = NETWORK.format(architecture="")
    column_alone = NETWORK.format(architecture="table_blocks = 0\n")
    work.write("bytes.toml", network + BYTES)
    work.write("parl.toml", network + PARL)
    for name, kind in (("times", "time"), ("codes", "identifier"), ("prices", "money")):
        work.write(f"{name}.toml", column_alone + SPECIALIST.format(name=name, kind=kind))


# Cases: annotate


def check_inputs(work: Workspace) -> None:
    """Files of examples/: if they change, so do the answers."""
    for name in TABLES:
        work.outputs[name] = hashlib.sha256((EXAMPLES / name).read_bytes()).hexdigest() + "\n"


def annotate_in(format_name: str) -> Callable[[Workspace], None]:
    def run(work: Workspace) -> None:
        work.copy_examples()
        work.aegir("answer", "annotate", "tables", "--format", format_name, exact=True)

    return run


def annotate_with(annotator: str, *options: object) -> Callable[[Workspace], None]:
    def run(work: Workspace) -> None:
        work.copy_examples()
        work.aegir(
            "answer", "annotate", "tables", "--annotator", annotator, *options, "--json", exact=True
        )

    return run


def annotate_refused(annotator: str) -> Callable[[Workspace], None]:
    def run(work: Workspace) -> None:
        work.copy_examples("books.csv")
        work.aegir(
            *("refused", "annotate", "tables", "--annotator", annotator),
            *("--effort", "high", "--json"),
        )

    return run


def annotate_options(work: Workspace) -> None:
    """Options of the default annotator that choose rows, thresholds and presentation."""
    work.copy_examples()
    work.write("long.csv", made_up_table(600, seed=1))
    for step, *options in (
        ("precision-95", "tables", "--precision", 0.95),
        ("precision-60", "tables", "--precision", 0.6),
        ("min-confidence", "tables", "--min-confidence", 0.9),
        ("rows", "long.csv", "tables/wide.csv", "--rows", 5),
        ("seed", "long.csv", "tables/wide.csv", "--rows", 20, "--seed", 3),
        ("pattern", "tables/*s.csv"),
        ("no-memory", "long.csv", "--no-memory", "--no-custom"),
        ("missing", "long.csv", "none.csv", "tables/none*.csv"),
    ):
        work.aegir(step, "annotate", *options, "--json", exact=True)
    text = (work.folder / "long.csv").read_text(encoding="utf-8")
    work.aegir("stdin", "annotate", "-", "--json", stdin=text, exact=True)
    work.aegir("why", "annotate", "tables", "--why", exact=True)
    work.aegir("out", "annotate", "tables", "--format", "csv", "--out", "answers.csv")
    work.keep_file("answers.csv", exact=True)


def annotate_workers(work: Workspace) -> None:
    """Two processes answer as one does."""
    work.copy_examples()
    answers = [
        work.aegir(f"workers-{count}", "annotate", "tables", "--workers", count, "--json")
        for count in (1, 2)
    ]
    work.keep("equal", f"{answers[0] == answers[1]}\n")


def annotate_database(work: Workspace) -> None:
    """Tables of a SQLite database by address, all and chosen ones."""
    rows = [line.split(",") for line in made_up_table(300, seed=2).splitlines()]
    with contextlib.closing(sqlite3.connect(work.folder / "shop.db")) as database:
        for table in ("orders", "old_orders", "returns"):
            database.execute(f"CREATE TABLE {table} ({', '.join(rows[0])})")
            database.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", rows[1:])
        database.commit()
    address = "sqlite:///shop.db"
    work.aegir("all", "annotate", address, "--json", exact=True)
    work.aegir("one", "annotate", address, "--tables", "orders", "--json", exact=True)
    work.aegir("sql", "annotate", address, "--tables", "*orders", "-f", "sql", exact=True)
    work.aegir("none", "annotate", address, "--tables", "none", "--json", exact=True)


def annotate_routing(work: Workspace) -> None:
    """Explanations of routing, another routing table, and one that cannot be read."""
    work.copy_examples()
    work.write("routing.yaml", ROUTING_TABLE)
    work.write("wrong.yaml", "rules:\n  - columns >> 3 -> ngrams\n")
    explain = ("--explain-routing", "--json")
    work.aegir("default", "annotate", "tables", *explain, exact=True)
    work.aegir("table", "annotate", "tables", "--routing", "routing.yaml", *explain, exact=True)
    work.aegir("wrong", "annotate", "tables", "--routing", "wrong.yaml", "--json", exact=True)


def annotate_logged(work: Workspace) -> None:
    """Decisions that are logged, corrected and exported."""
    work.copy_examples("books.csv", "customers.csv", "films.csv")
    work.write("said.csv", "table,column,label\nbooks.csv,title,title\nbooks.csv,author,email\n")
    work.write("wrong.csv", "table,column,label\nbooks.csv,none,title\n")
    work.aegir("annotate", "annotate", "tables", "--log-decisions", "log.db", "--json", exact=True)
    work.aegir("before", "rl", "export", "--store", "log.db", "--output", "before.jsonl")
    work.keep_file("before.jsonl")
    work.aegir("feedback", "feedback", "said.csv", "--store", "log.db", "--json")
    work.aegir("wrong", "feedback", "wrong.csv", "--store", "log.db", "--json")
    work.aegir("after", "rl", "export", "--store", "log.db", "--output", "after.jsonl")
    work.keep_file("after.jsonl")


def annotate_asking_a_language_model(work: Workspace) -> None:
    """What is sent to an endpoint, which calls every column an e-mail address."""
    work.copy_examples("bestellungen.csv", "headerless.csv", "films.csv")
    with _endpoint() as (url, requests):
        model = ("--llm-endpoint", url, "--llm-model", "none", "--llm-price", 1, 2)
        work.aegir("answer", "annotate", "tables", *model, "--workers", 1, "--json", exact=True)
    work.keep("requests", json.dumps(requests, indent=1, ensure_ascii=False) + "\n", exact=True)


@contextlib.contextmanager
def _endpoint() -> Iterator[tuple[str, list[object]]]:
    """A stand-in for a language model on loopback, and the requests that it got."""
    requests: list[object] = []
    usage = {"prompt_tokens": 100, "completion_tokens": 10}

    def answer(body: dict[str, list[dict[str, str]]]) -> bytes:
        asked = json.loads(body["messages"][-1]["content"])["columns"]
        said = {"type": "email", "relation": None, "confidence": 0.9}
        text = json.dumps({"columns": [{"column": each["column"], **said} for each in asked]})
        return json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, "body": body})
            self.send_response(200)
            content = answer(body)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()


def annotate_embedding(work: Workspace) -> None:
    """Answers in the metadata of a Parquet file, which is compared byte by byte."""
    work.copy_examples("sensors.parquet")
    work.aegir("answer", "annotate", "tables", "--embed", "--json", exact=True)
    content = (work.folder / "tables" / "sensors.parquet").read_bytes()
    work.keep("sensors.parquet", hashlib.sha256(content).hexdigest() + "\n", exact=True)


def compare_versions(work: Workspace) -> None:
    """`aegir diff` of two versions of tables, of answers, in every format."""
    lines = made_up_table(60, seed=4).splitlines()
    old = [line.split(",") for line in lines]
    new = [[*row[:2], *row[3:], row[2].split("@")[0]] for row in old]
    new[0] = ["order_id", "client", "amount", "ordered", "state", "login"]
    for number, row in enumerate(new[1:]):
        row[4] = ("DE", "FR", "NO")[number % 3]
        row.append(f"+47 22 85 {50 + number % 50} {10 + number % 90}")
    new[0].append("phone")
    for folder, rows in (("old", old), ("new", new)):
        work.write(f"{folder}/orders.csv", "\n".join(map(",".join, rows)) + "\n")
    work.write("new/extra.csv", made_up_table(20, seed=5))
    for format_name in ("text", "markdown", "json", "jsonl"):
        work.aegir(format_name, "diff", "old", "new", "--format", format_name, exact=True)
    work.aegir("gate", "diff", "old", "new", "--fail-on", "personal,type", exact=True)
    work.aegir("answer", "annotate", "old", "--json", "--out", "old.jsonl")
    work.aegir("from-answer", "diff", "old.jsonl", "new", "--json", exact=True)
    work.aegir("same", "diff", "old", "old", "--fail-on", "any", exact=True)


# Cases: types, evaluation, review, pool of specialists


def list_types(work: Workspace) -> None:
    work.aegir("list", "types", "list", exact=True)
    work.aegir("json", "types", "list", "--json", exact=True)
    for option in ("--kinds", "--types", "--fine", "--relations", "--personal"):
        work.aegir(option.strip("-"), "types", "list", option, exact=True)
    work.aegir("under", "types", "list", "--under", "money", exact=True)
    work.aegir("unknown-kind", "types", "list", "--under", "monney")


def show_types(work: Workspace) -> None:
    for name in ("openingHours", "email", "IdentifierAT", "iso_date", "person", "Book/name"):
        work.aegir(name.replace("/", "-"), "types", "show", name, exact=True)
    work.aegir("json", "types", "show", "openingHours", "--json", exact=True)
    work.aegir("unknown", "types", "show", "openningHours")


def learn_type(work: Workspace) -> None:
    """A type that is taught, used, shown and forgotten."""
    write_hospital(work)
    shown = ("--examples", "wards.csv:patient", "visits.csv:patient_no")
    learn = ("types", "learn", "Patient/id", *shown, "--not", "bills.csv:invoice_no")
    work.aegir("learn", *learn, "--personal", "--kind", "identifier", "--json")
    work.aegir("annotate", "annotate", "lab.csv", "wards.csv", "--json", exact=True)
    work.aegir("no-custom", "annotate", "lab.csv", "--no-custom", "--json", exact=True)
    work.aegir("list", "types", "list", "--custom", "--json", exact=True)
    work.aegir("show", "types", "show", "Patient/id", exact=True)
    work.keep_folder("home/types")
    work.aegir("forget", "types", "forget", "Patient/id")
    work.aegir("again", "types", "forget", "Patient/id")


def evaluate(work: Workspace) -> None:
    """Scores on labelled tables of both forms."""
    work.write("web.jsonl", web_tables(12, seed=3))
    (work.folder / "open.jsonl.gz").write_bytes(gzip.compress(open_tables(8).encode()))
    for annotator in ("dispatch", "combined", "ngrams", "byte_model", "rules"):
        choice = ("--annotator", annotator, "--json")
        work.aegir(f"cta-{annotator}", "eval", "web.jsonl", "--task", "cta", *choice)
        work.aegir(f"open-{annotator}", "eval", "open.jsonl.gz", *choice)
    work.aegir("cpa", "eval", "web.jsonl", "--task", "cpa", "--json")
    work.aegir("cta-text", "eval", "web.jsonl", "--task", "cta", "--min-confidence", 0.8)
    work.aegir("open-text", "eval", "open.jsonl.gz", "--at-least", 0.99)
    work.aegir("precision", "eval", "web.jsonl", "--task", "cta", "--precision", 0.95, "--json")
    work.aegir("search", "eval", "open.jsonl.gz", "--annotator", "search", "--json")
    work.aegir("no-task", "eval", "web.jsonl")


def review_columns(work: Workspace) -> None:
    """Reviews that are kept, used, exported and imported elsewhere."""
    work.copy_examples("customers.csv", "payments.csv")
    table = "tables/customers.csv"
    by = ("--by", "ada", "--json")
    replies = "a\nn\n+Shade/name\np\nnonsense\ncategory\n1\ns\nq\n"
    work.aegir("review", "review", table, "--all", *by, stdin=replies, exact=True)
    work.aegir("annotate", "annotate", "tables", "--json", exact=True)
    work.aegir("why", "annotate", table, "--why", exact=True)
    work.aegir("csv", "annotate", table, "--format", "csv", exact=True)
    work.aegir("no-memory", "annotate", table, "--no-memory", "--json", exact=True)
    work.aegir("history", "review", "history", "customers.csv", exact=True)
    work.aegir("export", "review", "export", "--out", "reviews.jsonl")
    work.keep_file("reviews.jsonl", exact=True)
    other = ("--memory", "other.db")
    work.aegir("import", "review", "import", "reviews.jsonl", *other)
    work.aegir("import-again", "review", "import", "reviews.jsonl", *other)
    exported = work.aegir("export-other", "review", "export", *other, exact=True)
    same = exported == (work.folder / "reviews.jsonl").read_text(encoding="utf-8")
    work.keep("equal", f"{same}\n")
    work.aegir("decisions", "rl", "export", "--store", "home/memory.db", "--output", "log.jsonl")
    work.keep_file("log.jsonl")


# Cases: service


def serve(*options: str) -> Callable[[Workspace], None]:
    """Answers of a running service; every response is kept with its status and content type."""

    def run(work: Workspace) -> None:
        work.copy_examples("books.csv", "broken.csv", "films.csv", "shop.xlsx")
        with _service(work, *options) as ask:
            _ask_everything(work, ask)

    return run


Ask = Callable[..., None]


def _ask_everything(work: Workspace, ask: Ask) -> None:
    def files(*names: str) -> list[tuple[str, tuple[str, bytes]]]:
        return [("file", (name, (work.folder / "tables" / name).read_bytes())) for name in names]

    columns = {"columns": {"city": ["Oslo", "Rome"], "price": ["3.50 EUR", "4.00 EUR"]}}
    rows = {"rows": [{"mail": "a@example.org", "n": 1}, {"mail": "b@example.org", "n": 2}]}
    ask("columns", "POST", "/annotate", json=columns)
    ask("rows", "POST", "/annotate", json=rows, params={"format": "csv"})
    ask("files", "POST", "/annotate", files=files("books.csv", "broken.csv", "shop.xlsx"))
    for format_name in ("jsonl", "csv", "html", "dbt", "report", "text", "none"):
        ask(
            format_name,
            "POST",
            "/annotate",
            files=files("films.csv"),
            params={"format": format_name},
        )
    for name, value in (("rows", 3), ("min_confidence", 0.9), ("precision", 0.95), ("row", 3)):
        ask(f"option-{name}", "POST", "/annotate", files=files("books.csv"), params={name: value})
    ask("seed", "POST", "/annotate", files=files("books.csv"), params={"rows": 4, "seed": 2})
    ask("empty", "POST", "/annotate", files=[("file", ("empty.csv", b""))])
    ask("some-fail", "POST", "/annotate", files=[*files("films.csv"), ("file", ("e.csv", b""))])
    ask("no-columns", "POST", "/annotate", json={"columns": {}})
    said = [{"table": "films.csv", "column": 0, "label": "city"}]
    form = {"corrections": json.dumps(said), "by": "ada"}
    ask("feedback", "POST", "/feedback", files=files("films.csv"), data=form)
    ask("reviewed", "POST", "/annotate", files=files("films.csv"))
    ask("not-reviewed", "POST", "/annotate", files=files("films.csv"), params={"memory": "false"})
    wrong = {"corrections": json.dumps([{**said[0], "label": "citty"}])}
    ask("feedback-wrong", "POST", "/feedback", files=files("films.csv"), data=wrong)
    for step, path in (
        ("health", "/health"),
        ("types", "/types"),
        ("type", "/types/Book/name"),
        ("unknown-type", "/types/none"),
        ("runs", "/runs"),
        ("openapi", "/openapi.json"),
        ("unknown-path", "/none"),
        ("wrong-method", "/annotate"),
    ):
        ask(step, "GET", path)
    ask("forget", "DELETE", "/types/none")


@contextlib.contextmanager
def _service(work: Workspace, *options: str) -> Iterator[Ask]:
    """Start `aegir serve` with a worker; yield what sends a request and keeps its response."""
    import httpx

    process = subprocess.Popen(
        [sys.executable, "-m", "aegir", "serve", "--port", "0", "--workers", "1", *options],
        stderr=subprocess.PIPE,
        text=True,
        cwd=work.folder,
        env=work.environment(),
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        address = re.search(r"http://[\d.:]+", line)
        if address is None:
            work.keep("start", line)
            return
        with httpx.Client(base_url=address[0], timeout=60.0) as client:

            def ask(step: str, method: str, path: str, **options: object) -> None:
                answer = client.request(method, path, **options)
                about = [f"status {answer.status_code}", answer.headers.get("content-type", "")]
                about += [answer.headers.get("aegir-failures", "")]
                work.keep(
                    step,
                    "\n".join([*about, answer.text]) + "\n",
                    exact=step not in ("report", "runs"),
                )

            yield ask
        process.send_signal(signal.SIGTERM)
        work.keep("stop", f"exit {process.wait(60)}\n")
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


# Cases: routing policies, rewards, simulator


def learn_offline(work: Workspace) -> None:
    """From made-up decisions to policies, their evaluation and pages."""
    log = ("--data", "log.jsonl")
    work.aegir("collect", "rl", "collect-synth", "--rows", 650, "--store", "decisions.db")
    work.aegir("collect-again", "rl", "collect-synth", "--rows", 650, "--store", "decisions.db")
    work.aegir("export", "rl", "export", "--store", "decisions.db", "--output", "log.jsonl")
    work.keep_file("log.jsonl", exact=True)
    work.aegir("bc", "rl", "train-bc", *log, "--out", "bc.safetensors", "--steps", 60, "--json")
    work.keep_file("bc.safetensors")
    cql = ("rl", "choose", *log, "--out", "cql.safetensors", "--steps", 100)
    work.aegir("cql", *cql, "--alpha", 0.5, "--alpha", 0.1, "--json", exact=True)
    work.keep_file("cql.safetensors")
    alone = ("rl", "train-cql", *log, "--out", "cql-alone.safetensors", "--steps", 100)
    work.aegir("cql-alone", *alone, "--alpha", 2, exact=True)
    work.keep_file("cql-alone.safetensors")
    for policy in ("bc", "cql"):
        evaluate = ("rl", "eval-offline", *log, "--checkpoint", f"{policy}.safetensors")
        written = ("--out", f"{policy}.json", "--plot", f"{policy}.html")
        work.aegir(f"evaluate-{policy}", *evaluate, *written, exact=True)
        work.keep_file(f"{policy}.json", exact=True)
        work.keep_file(f"{policy}.html", exact=True)
    work.aegir("all-groups", *evaluate, "--groups", "all", "--baseline", "ngrams", "--json")
    written = ("--out", "rewards.json", "--plot", "rewards.html")
    work.aegir("rewards", "rl", "analyze-rewards", *log, *written, exact=True)
    work.keep_file("rewards.json", exact=True)
    work.keep_file("rewards.html", exact=True)


def learn_from_tables(work: Workspace) -> None:
    """From labelled tables to a policy that routes real columns, and its comparison."""
    work.copy_examples()
    work.write("labelled.jsonl", web_tables(20, seed=6) + open_tables(10))
    collect = ("rl", "collect", "--tables", "labelled.jsonl", "--store", "decisions.db")
    work.aegir("collect", *collect, "--exploration", "epsilon", "--json")
    work.aegir("softmax", *collect, "--exploration", "softmax", "--most", 5, "--json")
    work.aegir("export", "rl", "export", "--store", "decisions.db", "--output", "log.jsonl")
    work.keep_file("log.jsonl")
    _fix_log_seconds(work.folder / "log.jsonl")
    learn = ("rl", "choose", "--data", "log.jsonl", "--out", "policy.safetensors")
    work.aegir("learn", *learn, "--steps", 60, "--alpha", 0.5, "--all-outcomes", "--json")
    work.keep_file("policy.safetensors")
    policy = ("--policy", "policy.safetensors")
    work.aegir("annotate", "annotate", "tables", *policy, "--explain-routing", "--json", exact=True)
    compare = ("bench", "--compare-policy", "--tables", "tables", *policy)
    work.aegir("bench", *compare, "--json")
    work.aegir(
        "no-policy", "annotate", "tables/books.csv", "--policy", "none", "--json", exact=True
    )


def _fix_log_seconds(path: Path) -> None:
    """Replace measured seconds and ids of runs in a log, because policies depend on them."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r'("seconds": ?)-?\d[\d.eE+-]*', r"\g<1>0.01", text)
    for number, run in enumerate(dict.fromkeys(re.findall(RUN_ID, text))):
        text = text.replace(run, f"run-{number}")
    path.write_text(text, encoding="utf-8")


def validate_rewards(work: Workspace) -> None:
    work.aegir("json", "rewards", "validate", "--json", exact=True)


def simulate(work: Workspace) -> None:
    """Tasks that are made, verified and solved."""
    generate = ("sim", "generate", "--count", 30, "--seed", 7, "--out", "tasks.jsonl")
    work.aegir("generate", *generate, "--json")
    work.keep_file("tasks.jsonl", exact=True)
    run = ("sim", "run", "--tasks", "tasks.jsonl", "--workers", 1)
    work.aegir("known", *run, "--solver", "known", "--json")
    work.aegir("solve", *run, "--solver", "composition", "--effort", 2, "--out", "results.jsonl")
    work.keep_file("results.jsonl")
    work.aegir("resume", *run, "--solver", "composition", "--effort", 2, "--out", "results.jsonl")
    work.figures("verify", "sim-verify", "--tasks", "tasks.jsonl")
    table = ("sim-table", "--tasks", "tasks.jsonl", "--limit", 15, "--effort", 1)
    work.figures("table", *table, "--solvers", "regex,templates,composition", "--json")
    work.figures("solvers", "sim-solvers", "--json", exact=True)
    work.aegir("unknown", "sim", "generate", "--families", "nonsense", "--out", "no.jsonl")


def train_ppo(work: Workspace) -> None:
    """PPO in a small simulator whose outcomes cost made-up seconds, because rewards depend on them."""
    work.write("ppo.toml", PPO)
    work.write("solvers.yaml", SOLVER_TABLE)
    families = ("--families", "addresses,dates,names,numbers,validation")
    make = ("sim", "generate", *families, "--count")
    work.aegir("training", *make, 5, "--seed", 1, "--out", "training.jsonl")
    work.aegir("test", *make, 10, "--seed", 2, "--out", "test.jsonl")
    tasks = ("--tasks", "training.jsonl", "--tasks", "test.jsonl")
    work.aegir("collect", "sim", "collect", *tasks, "--out", "outcomes.db", "--json")
    _fix_outcome_seconds(work.folder / "outcomes.db")
    work.aegir("log", "sim", "log", "ppo.toml", "--out", "log.jsonl", "--episodes", 100)
    work.keep_file("log.jsonl", exact=True)
    clone = ("rl", "train-bc", "--data", "log.jsonl", "--out", "bc.safetensors", "--steps", 20)
    work.aegir("clone", *clone, "--held-out", 0, "--json")
    work.aegir("train", "sim", "train-ppo", "ppo.toml", "--out", "run", "--json", exact=True)
    work.keep_folder("run")
    begin = ("--from", "bc.safetensors", "--seed", 1)
    work.aegir("warm", "sim", "train-ppo", "ppo.toml", *begin, "--out", "warm", "--json")
    work.keep_file("warm/policy.safetensors")
    compare = ("sim-eval", "ppo.toml", "run", "warm", "--from", "bc.safetensors")
    work.figures("eval", *compare, "--out", "eval.json", "--plot", "eval.html", exact=True)
    work.keep_file("eval.json", exact=True)
    work.keep_file("eval.html", exact=True)
    work.aegir("health", "runs", "health", "run", "--json")
    _drop_code_hash(work)


def _drop_code_hash(work: Workspace) -> None:
    """Replace the fingerprint of the simulator's world, which covers the source code of the solvers."""
    weights = work.outputs["run/policy.safetensors"]
    if found := re.search(r'"data_sha256": "([0-9a-f]{64})"', weights):
        for name, text in work.outputs.items():
            work.outputs[name] = text.replace(found[1], "<code>")


def _fix_outcome_seconds(path: Path) -> None:
    if not path.exists():
        return
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute(
            "UPDATE outcomes SET record = json_set(record, '$.cpu_seconds', 0.01 * effort,"
            " '$.wall_seconds', 0.02 * effort)"
        )
        database.commit()


# Cases: training


def train_bytes(work: Workspace) -> None:
    """A byte network: pretrained, trained, exported, and used."""
    write_training_data(work)
    work.copy_examples("books.csv", "films.csv")
    work.figures("data", "data", "bytes.toml", "--json")
    work.aegir("pretrain", "train", "pretrain", "bytes.toml", "--out", "pretrained", "--json")
    work.keep_folder("pretrained")
    trained = ("train", "supervised", "bytes.toml", "--from", "pretrained", "--out", "trained")
    work.aegir("supervised", *trained, "--json")
    work.keep_folder("trained")
    export = ("train", "export", "trained", "bytes.toml", "--out", "exported.safetensors")
    work.aegir("export", *export)
    work.keep_file("exported.safetensors")
    model = ("--annotator", "byte_model", "--model", "exported.safetensors")
    work.aegir("annotate", "annotate", "tables", *model, "--json", exact=True)
    work.aegir("health", "runs", "health", "trained", "--json")
    work.figures("show", "run", "trained", "--json")


def train_swarm(work: Workspace) -> None:
    """Two specialists and a swarm by PARL, which is used, compared, and taken apart."""
    write_training_data(work)
    work.copy_examples("books.csv", "films.csv")
    for name in ("times", "prices"):
        train = ("train", "specialist", f"{name}.toml", "--out", f"specialists/{name}.safetensors")
        work.aegir(name, *train, "--json")
        work.keep_file(f"specialists/{name}.safetensors")
    work.aegir("supervised", "train", "supervised", "bytes.toml", "--steps", 1, "--out", "bytes")
    work.aegir("export", "train", "export", "bytes", "bytes.toml", "--out", "primary.safetensors")
    parl = ("train", "parl", "parl.toml", "--specialists", "specialists", "--out", "run", "--json")
    work.aegir("parl", *parl, "--from", "primary.safetensors")
    work.keep_folder("run")
    model = ("--annotator", "swarm", "--model", "run/swarm")
    work.aegir("annotate", "annotate", "tables", *model, "--json", exact=True)
    work.figures("compare", "parl-compare", "run", "--json")
    work.aegir("health", "runs", "health", "run", "--json")
    data = ("--data", "made_up_train.jsonl", "--data", "made_up_val.jsonl", "--json")
    work.figures("figures", "swarm", "run", *data)
    work.aegir("add", "swarm", "add", "specialists/times.safetensors", "--json")
    work.aegir("list", "swarm", "list", "--json")
    work.aegir("remove", "swarm", "remove", "times", "--json")
    work.aegir("remove-unknown", "swarm", "remove", "nobody", "--json")


# Cases: portable


def portable_annotate(format_name: str) -> Callable[[Workspace], None]:
    """Answers of tables whose labels no rounding changes."""

    def run(work: Workspace) -> None:
        work.copy_examples("access_log.csv", "books.csv", "hotels.csv", "products.tsv")
        work.aegir("answer", "annotate", "tables", "--format", format_name, exact=True)

    return run


def portable_types(work: Workspace) -> None:
    work.aegir("list", "types", "list", "--json", exact=True)
    work.aegir("show", "types", "show", "openingHours", exact=True)


def portable_decisions(work: Workspace) -> None:
    work.aegir("collect", "rl", "collect-synth", "--rows", 60, "--store", "decisions.db")
    work.aegir("export", "rl", "export", "--store", "decisions.db", "--output", "log.jsonl")
    work.keep_file("log.jsonl", exact=True)


def portable_tasks(work: Workspace) -> None:
    generate = ("sim", "generate", "--count", 15, "--seed", 7, "--out", "tasks.jsonl")
    work.aegir("generate", *generate, "--json")
    work.keep_file("tasks.jsonl", exact=True)


SEARCHING, PLAIN = ("dispatch", "search"), ("combined", "byte_model", "ngrams", "rules")
CASES = (
    Case("inputs", check_inputs),
    *(Case(f"annotate/format-{name}", annotate_in(name)) for name in FORMATS),
    *(Case(f"annotate/{name}", annotate_with(name)) for name in (*SEARCHING, *PLAIN)),
    *(
        Case(f"annotate/{name}-{effort}", annotate_with(name, "--effort", effort))
        for name in SEARCHING
        for effort in EFFORTS
    ),
    Case("annotate/search-number", annotate_with("search@0.75")),
    *(Case(f"annotate/{name}-refused", annotate_refused(name)) for name in PLAIN),
    Case("annotate/options", annotate_options),
    Case("annotate/workers", annotate_workers),
    Case("annotate/database", annotate_database),
    Case("annotate/routing", annotate_routing),
    Case("annotate/logged", annotate_logged),
    Case("annotate/language-model", annotate_asking_a_language_model),
    Case("annotate/embed", annotate_embedding),
    Case("diff", compare_versions),
    Case("types/list", list_types),
    Case("types/show", show_types),
    Case("types/learn", learn_type),
    Case("eval", evaluate),
    Case("review", review_columns),
    Case("serve/default", serve()),
    Case("serve/high", serve("--effort", "high")),
    Case("rl/synthetic", learn_offline),
    Case("rl/tables", learn_from_tables),
    Case("rewards", validate_rewards),
    Case("sim/tasks", simulate, needs=("bwrap",)),
    Case("sim/ppo", train_ppo, needs=("bwrap",)),
    Case("train/bytes", train_bytes),
    Case("train/swarm", train_swarm),
    *(
        Case(f"portable/{name}", portable_annotate(name), mask=True)
        for name in ("text", "csvw", "dbt")
    ),
    Case("portable/types", portable_types),
    Case("portable/decisions", portable_decisions, mask=True),
    Case("portable/tasks", portable_tasks, needs=("bwrap",)),
)
"""No name is the beginning of another with a slash after it, because entries are named CASE/OUTPUT."""


# The program


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("action", choices=("record", "compare"), nargs="?")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="cases that begin with one of these"
    )
    parser.add_argument("--keep", type=Path, help="folder for normalised outputs")
    parser.add_argument("--jobs", type=int, default=1, help="cases side by side")
    parser.add_argument("--list", action="store_true", help="print the names of cases")
    given = parser.parse_args()
    cases = [case for case in CASES if case.name.startswith(tuple(given.only))]
    if given.list:
        print("\n".join(case.name for case in cases))
        return 0
    if given.action is None or not cases:
        parser.error("say record or compare" if cases else f"no case begins with {given.only}")
    print(f"aegir {_version()} of {_package()}", file=sys.stderr)
    outputs, done = _run_all(cases, given.jobs)
    if given.action == "record":
        return _record(outputs, done, given.keep)
    return _compare(outputs, done, given.keep)


def _run_all(cases: list[Case], jobs: int) -> tuple[dict[str, str], list[Case]]:
    """Return the outputs of the cases that can run here, and those cases."""
    able = [case for case in cases if not case.missing_programs()]
    for case in cases:
        if missing := case.missing_programs():
            print(f"{case.name}: skipped, there is no {' '.join(missing)}", file=sys.stderr)

    def timed(case: Case) -> dict[str, str]:
        start = time.monotonic()
        try:
            outputs = run_case(case)
        except Exception:
            outputs = {f"{case.name}/{FAILED}": traceback.format_exc()}
        print(f"{case.name}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)
        return outputs

    outputs: dict[str, str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for each in pool.map(timed, able):
            outputs |= each
    return outputs, able


def _record(outputs: Mapping[str, str], cases: list[Case], keep: Path | None) -> int:
    if failures := [text for entry, text in outputs.items() if entry.endswith(f"/{FAILED}")]:
        print("\n".join(failures), "nothing is recorded, because cases failed", sep="\n")
        return 1
    golden = {
        entry: value
        for entry, value in read_golden().items()
        if not any(belongs_to(entry, case) for case in cases)
    }
    golden |= {entry: digest(text) for entry, text in outputs.items()}
    GOLDEN.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    _keep(outputs, keep)
    print(f"recorded {len(outputs)} outputs of {len(cases)} cases")
    return 0


def _compare(outputs: Mapping[str, str], cases: list[Case], keep: Path | None) -> int:
    golden = {
        entry: value
        for entry, value in read_golden().items()
        if any(belongs_to(entry, case) for case in cases)
    }
    found = {entry: digest(text) for entry, text in outputs.items()}
    changes = {
        "missing": sorted(golden.keys() - found.keys()),
        "new": sorted(found.keys() - golden.keys()),
        "differs": sorted(
            each for each in golden.keys() & found.keys() if golden[each] != found[each]
        ),
    }
    for change, entries in changes.items():
        for entry in entries:
            print(f"{change:8} {entry}")
    _keep({each: outputs[each] for each in (*changes["new"], *changes["differs"])}, keep)
    count = sum(map(len, changes.values()))
    print(f"{len(golden)} outputs of {len(cases)} cases: {count} not as recorded")
    return VERDICT_IS_NO if count else 0


def _keep(outputs: Mapping[str, str], folder: Path | None) -> None:
    if folder is None:
        return
    for entry, text in outputs.items():
        path = folder / entry
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


if __name__ == "__main__":
    sys.exit(main())
