"""A run pack: everything that is needed to repeat a comparison of policies, and to see that nothing was changed.

    PACK/bench.json            the metrics
    PACK/decisions.jsonl       who answered every column, in each way, and why
    PACK/policy.safetensors    the policy
    PACK/routing.yaml          the static table
    PACK/manifest.json         hashes of these files, of the tables and of the models; settings, seeds, command, versions

    write_pack(folder, bench)                 a folder that is new or empty
    verify_pack(folder)                       compares the tables again; `differences` is empty if all is the same

Times are in the pack but take no part in the verdict. Other versions or models are told as notes: they explain a
difference, and are none.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from aegir.evaluation.bench_tables import BenchTables, hash_file, read_bench_tables
from aegir.evaluation.comparing import WAYS, RoutingComparison, Track, compare_policy
from aegir.pipeline.pipeline import load_pipeline
from aegir.pipeline.settings import AnnotationSettings
from aegir.routing.decisions import SHIPPED
from aegir.routing.learnt_policy import LearntPolicy
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.run_folder import describe_environment
from aegir_rl.base.text import parse_json

FORMAT = 1
FILES = ("bench.json", "decisions.jsonl", "policy.safetensors", "routing.yaml")
BENCH, DECISIONS, POLICY, ROUTING = FILES
MANIFEST = "manifest.json"
SHOWN = 3
"""Differences of one kind that are shown."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One comparison, with what it was made from."""

    tables: BenchTables
    policy: Path
    routing: Path | None
    compared: RoutingComparison
    version: str
    """Of the policy."""
    floor: float

    @property
    def labelled(self) -> int:
        return self.compared.metrics("off").labelled

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: what was compared, metrics, and times."""
        return {
            "bench": "compare-policy",
            "format": FORMAT,
            "suite": {
                "tables": len(self.tables.tables),
                "columns": self.tables.columns,
                "labelled_columns": self.labelled,
                "left_out": list(self.tables.left_out),
            },
            "compared_by": self.compared_by,
            "policy": {"version": self.version, "floor": self.floor},
            "results": self.compared.results(),
            "measured": self.compared.measured(),
        }

    @property
    def compared_by(self) -> str:
        """What stands for being right, in one sentence."""
        columns = self.tables.columns
        if not self.labelled:
            return (
                "no column is labelled, so accuracy is not known; agreement with the full answer is a proxy, "
                "because that may be wrong itself"
            )
        if self.labelled < columns:
            return (
                f"accuracy is that of the {self.labelled:,} labelled columns; agreement with the full answer, a proxy, "
                f"is that of all {columns:,}"
            )
        return "accuracy is that of all columns; agreement with the full answer is a proxy"


def run_bench(
    policy: Path,
    suite: BenchTables,
    routing: Path | None = None,
    track: Track = lambda items, _: items,
) -> Bench:
    """Compare the policy in a file with the static table, on these tables; raise if it cannot be used."""
    learnt = LearntPolicy.load(policy)
    pipeline = load_pipeline(AnnotationSettings(routing=routing))
    problem = learnt.problem or learnt.unknown_worker(pipeline.plan.workers)
    if problem:
        raise UsageError(f"{policy} cannot be compared: {problem}")
    compared = compare_policy(pipeline, learnt, suite.tables, track)
    return Bench(suite, policy, routing, compared, learnt.version, learnt.floor)


def write_pack(folder: Path, bench: Bench) -> None:
    """Write a run pack; raise if the folder holds something already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(f"{folder} is not empty; choose a new folder for the run pack")
        contents = {
            BENCH: _json(bench.as_dict()),
            DECISIONS: _decisions(bench.compared),
            POLICY: bench.policy.read_bytes(),
            ROUTING: (bench.routing or files("aegir.routing") / SHIPPED).read_bytes(),
        }
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror or error}") from None
    manifest = {
        "format": FORMAT,
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()},
        "tables": {
            "folder": None if bench.tables.shipped else str(bench.tables.folder),
            "files": dict(bench.tables.hashes),
        },
        "models": model_hashes(),
        "settings": {"rows": bench.tables.rows},
        "seeds": {"rows": bench.tables.seed},
        "verify": ["aegir", "bench", "--verify", str(folder)],
        "environment": describe_environment(),
    }
    for name, content in (*contents.items(), (MANIFEST, _json(manifest))):
        replace_file(folder / name, content)


@dataclass(frozen=True, slots=True)
class Verified:
    """Whether a run pack reproduces."""

    differences: tuple[str, ...]
    """What is not the same, a sentence each; empty if the pack reproduces."""
    notes: tuple[str, ...]
    """What is different here and explains differences: versions, models."""
    columns: int


def verify_pack(
    folder: Path, tables: Path | None = None, track: Track = lambda items, _: items
) -> Verified:
    """Check the pack's files, then compare the same tables again; `tables` says where they are now."""
    manifest = _read_manifest(folder)
    for name, digest in manifest["files"].items():
        if not (folder / name).is_file():
            raise UsageError(f"{folder} has no {name}, which its manifest lists; it is incomplete")
        if hash_file(folder / name) != digest:
            return Verified((f"{name} is not what the manifest says: it was changed",), (), 0)
    recorded = _read_json(folder / BENCH)
    home = manifest["tables"]["folder"]
    place = tables or (None if home is None else Path(home))
    if place is not None and not place.exists():
        raise UsageError(f"there is no {place}, where the tables were; say where with --tables")
    rows, seed = int(manifest["settings"]["rows"]), int(manifest["seeds"]["rows"])
    suite = read_bench_tables(place, rows=rows, seed=seed)
    if changed := _changed_tables(manifest["tables"]["files"], suite.hashes):
        return Verified(changed, (), 0)
    bench = run_bench(folder / POLICY, suite, folder / ROUTING, track)
    differences = [
        *_changed_results(recorded.get("results", {}), json.loads(_json(bench.compared.results()))),
        *_changed_lines((folder / DECISIONS).read_bytes(), _decisions(bench.compared)),
    ]
    return Verified(tuple(differences), _notes(manifest), bench.tables.columns)


def model_hashes() -> dict[str, str]:
    """The SHA-256 of every file of weights that ships."""
    weights = Path(str(files("aegir.readers") / "weights"))
    return {path.name: hash_file(path) for path in sorted(weights.glob("*.safetensors"))}


def _decisions(compared: RoutingComparison) -> bytes:
    lines = (
        json.dumps({"way": way, **row.as_dict()}) for way in WAYS for row in compared.rows[way]
    )
    return "".join(f"{line}\n" for line in lines).encode()


def _json(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()


def _read_json(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read ({reason})") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} holds no JSON object")
    return found


def _read_manifest(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            f"{folder} is no run pack: it has no {MANIFEST}; make one with: "
            "aegir bench --compare-policy --run-pack-dir DIR"
        )
    manifest = _read_json(folder / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise UsageError(
            f"{folder / MANIFEST} has the format {manifest.get('format')!r}; this version of Aegir reads {FORMAT}"
        )
    try:
        listed, found = manifest["files"], manifest["tables"]
        whole = set(FILES) == set(listed) and isinstance(found["files"], dict)
        int(manifest["settings"]["rows"]), int(manifest["seeds"]["rows"])
        whole = whole and isinstance(found["folder"], str | None)
        manifest["models"].items(), manifest["environment"]["versions"].items()
    except (KeyError, TypeError, ValueError, AttributeError):
        whole = False
    if not whole:
        raise UsageError(f"{folder / MANIFEST} is incomplete; make the run pack again")
    return manifest


def _changed_tables(recorded: Mapping[str, str], hashes: Mapping[str, str]) -> tuple[str, ...]:
    both = [name for name in hashes if name in recorded]
    changes = {
        "is not there any more": [name for name in recorded if name not in hashes],
        "is not the file it was": [name for name in both if hashes[name] != recorded[name]],
        "was not there": [name for name in hashes if name not in recorded],
    }
    return tuple(
        each
        for what, names in changes.items()
        for each in _few([f"{name} {what}" for name in names])
    )


def _changed_results(before: Any, now: Any, path: str = "") -> list[str]:
    """What differs between two JSON values, by the path to it."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return [] if before == now else [f"{path} was {before} and is {now}"]
    changes = (
        _changed_results(before.get(key), now.get(key), f"{path}.{key}" if path else str(key))
        for key in dict.fromkeys((*before, *now))
    )
    return _few([sentence for sentences in changes for sentence in sentences])


def _changed_lines(before: bytes, now: bytes) -> list[str]:
    pairs = zip(before.splitlines(), now.splitlines(), strict=False)
    other = [number for number, (old, new) in enumerate(pairs, 1) if old != new]
    if other:
        return [f"{DECISIONS}: {len(other)} decisions differ, the first in line {other[0]}"]
    return [] if before == now else [f"{DECISIONS} has another number of lines"]


def _notes(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    here = {"models": model_hashes(), **describe_environment()}
    notes = [
        f"the weights {name} are others than those of the pack"
        for name, digest in manifest["models"].items()
        if here["models"].get(name) != digest
    ]
    then = manifest["environment"]
    facts = [(name, old, here["versions"].get(name)) for name, old in then["versions"].items()]
    facts += [(name, then.get(name), here[name]) for name in ("python", "system")]
    notes += [f"{name} was {old} and is {new}" for name, old, new in facts if old != new]
    return tuple(notes)


def _few(sentences: Sequence[str]) -> list[str]:
    if len(sentences) <= SHOWN + 1:
        return list(sentences)
    return [*sentences[:SHOWN], f"and {len(sentences) - SHOWN} more"]
