"""Does any of thousands of damaged files end, stall or exhaust a process that annotates tables?

    python -m benchmarks mutated_files --files 5000 --seed 0

Every file is a small table in one of the formats that Aegir reads, damaged by mutations.py, and is annotated
as `aegir annotate` does it. It must give an answer or one sentence. Two worker processes take the files in
turn; CPU time and memory, those of their reader processes included, are looked at 50 times a second. A file
may take 10 CPU seconds and one more for each 250 columns in it (a cell repeated often enough makes thousands).

Files that fail are kept in `mutated-files-failed/` under the temporary folder, with the number and the seed
in their names.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from selectors import EVENT_READ, DefaultSelector

from benchmarks.measuring import Runs
from benchmarks.mutations import mutated_file, sample_files
from benchmarks.options import Options
from benchmarks.result import Measurement, Result, at_most

QUESTION = "how many damaged files end, stall or exhaust the process that annotates them"
ROOT = Path(__file__).parent.parent
SECONDS, MEGABYTES = 10, 1_000
"""What one file may take."""
COLUMNS_PER_SECOND = 250
GIVE_UP = 300
"""Seconds on the clock after which a worker that hangs is killed; the widest table takes 20 CPU seconds."""
ADDRESS_SPACE = 6 << 30
WORKERS = 2
FAILURES = (
    "process death",
    "traceback",
    f"hang over {SECONDS} CPU seconds",
    f"more than {MEGABYTES:,} MB",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    number: int
    suffix: str
    outcome: str
    """read, refused, or one of `FAILURES`."""
    detail: str
    seconds: float
    megabytes: float


def run(options: Options) -> Result:
    """Annotate mutated files and count what went wrong, by kind and by format."""
    count = 60 if options.quick else options.files
    outcomes = check_files(count, options.seed, 1 if options.quick else WORKERS)
    kinds = Counter(outcome.outcome for outcome in outcomes)
    for outcome in outcomes:
        if outcome.outcome in FAILURES:
            print(f"{outcome}", file=sys.stderr)
    failures = [_count(kind, kinds[kind]) for kind in FAILURES]
    slowest = max(outcome.seconds for outcome in outcomes)
    largest = max(outcome.megabytes for outcome in outcomes)
    return Result(
        benchmark="mutated_files",
        question=QUESTION,
        data=f"{count:,} mutated files of {len(Counter(o.suffix for o in outcomes))} formats",
        measurements=(
            *failures,
            _count("answered", kinds["read"]),
            _count("refused with a sentence", kinds["refused"]),
            Measurement("slowest file", "CPU seconds", Runs((slowest,))),
            Measurement("largest memory", "MB", Runs((largest,))),
        ),
        ratios=(),
        targets=tuple(at_most(failure, 0) for failure in failures),
        settings={"files": count, "by_format": _by_format(outcomes)},
    )


def check_files(count: int, seed: int, workers: int = WORKERS) -> list[Outcome]:
    """The outcomes of `count` mutated files; the same seed gives the same files."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        shares = [range(share, count, workers) for share in range(workers)]
        parts = pool.map(lambda share: list(_check_share(share, seed, Path(folder))), shares)
        return sorted((one for part in parts for one in part), key=lambda one: one.number)


def _check_share(numbers: Sequence[int], seed: int, folder: Path) -> Iterator[Outcome]:
    samples = sample_files()
    worker = _Worker()
    try:
        for number in numbers:
            suffix, content = mutated_file(samples, Random(f"{seed}/{number}"))
            path = folder / f"{seed}-{number}.{suffix}"
            path.write_bytes(content)
            outcome = worker.annotate(path, number, suffix)
            if outcome.outcome in FAILURES:
                kept = Path(tempfile.gettempdir()) / "mutated-files-failed"
                kept.mkdir(exist_ok=True)
                (kept / path.name).write_bytes(content)
            if not worker.is_alive:
                worker.close()
                worker = _Worker()
            path.unlink()
            yield outcome
    finally:
        worker.close()


class _Worker:
    """A process that annotates one file after the other, and the measure of its memory."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "benchmarks.mutated_files"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin
        assert self._process.stdout
        self._orders, self._answers = self._process.stdin, self._process.stdout
        self._answers.readline()  # it has loaded its models
        self._selector = DefaultSelector()
        self._selector.register(self._answers, EVENT_READ)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def annotate(self, path: Path, number: int, suffix: str) -> Outcome:
        """Send one file and watch the worker until it answers, ends or hangs."""
        started, before = time.monotonic(), _usage(self._process.pid)
        peak = latest = before
        self._orders.write(str(path).encode() + b"\n")
        self._orders.flush()
        while not self._selector.select(0.02):
            latest = _usage(self._process.pid)
            peak = max(peak, latest, key=lambda usage: usage.megabytes)
            if time.monotonic() - started > GIVE_UP:
                self._process.kill()
        latest = _usage(self._process.pid) if self.is_alive else latest
        seconds = latest.seconds - before.seconds
        line = self._answers.readline()
        answer = json.loads(line) if line else {"outcome": FAILURES[0], "columns": 0}
        allowed = SECONDS + answer.pop("columns") / COLUMNS_PER_SECOND
        if not line:
            answer["detail"] = f"exit code {self._process.wait()}"
        if seconds > allowed or time.monotonic() - started > GIVE_UP:
            answer["outcome"] = FAILURES[2]
        elif peak.megabytes > MEGABYTES:
            answer["outcome"] = FAILURES[3]
        return Outcome(number, suffix, seconds=seconds, megabytes=peak.megabytes, **answer)

    def close(self) -> None:
        self._selector.close()
        self._process.kill()
        self._process.communicate()


@dataclass(frozen=True, slots=True)
class _Usage:
    """CPU time of a process, of all it has started and waited for, and memory of those that run."""

    seconds: float = 0.0
    megabytes: float = 0.0


def _usage(process: int) -> _Usage:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has just ended
        return _Usage()
    below = [_usage(int(child)) for child in children]
    ticks = sum(map(int, fields[11:15]))  # user, system, and both of children that were waited for
    return _Usage(
        ticks / os.sysconf("SC_CLK_TCK") + sum(usage.seconds for usage in below),
        int(fields[21]) * resource.getpagesize() / 1e6 + sum(usage.megabytes for usage in below),
    )


def _count(name: str, count: int) -> Measurement:
    return Measurement(name, "files", Runs((float(count),)))


def _by_format(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """For each format, how many files had each outcome."""
    counted: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counted.setdefault(outcome.suffix, Counter())[outcome.outcome] += 1
    return {suffix: dict(sorted(counts.items())) for suffix, counts in sorted(counted.items())}


def serve() -> None:
    """Annotate the files named on standard input; one JSON object per file on standard output."""
    from aegir.answers.writers import FORMATS
    from aegir.pipeline.run import Failure, annotate_sources, prepare
    from aegir.pipeline.settings import AnnotationSettings

    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    prepared = prepare(AnnotationSettings(custom_types=False, memory=False))
    print("ready", flush=True)
    for line in sys.stdin:
        path = Path(line.rstrip("\n"))
        try:
            outcomes = [each.answer for each in annotate_sources([path], prepared)]
            tables = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
            reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Failure)]
            FORMATS["json"](tables)
            assert all(path.name in reason and "\n" not in reason for reason in reasons), reasons
            answer = {"outcome": "read" if tables else "refused", "detail": "; ".join(reasons)}
            columns = sum(len(table.columns) for table in tables)
        except Exception:
            answer = {"outcome": FAILURES[1], "detail": traceback.format_exc()[-2000:]}
            columns = 0
        print(json.dumps({**answer, "columns": columns}), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    serve()
