"""Where does the CPU time of `aegir annotate` go, stage by stage?

The files of `folder`, and with `--data FOLDER` yours, are annotated in this process while a timer of CPU time interrupts it every few
milliseconds: the innermost file of Aegir on the stack says which stage is at work. That costs next to nothing, where a profiler that counts
calls makes small functions look several times as expensive as they are. Imports and loading of weights are left out: `cold_start` has them.
"""

import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import aegir
from aegir.answers.writers import FORMATS
from aegir.pipeline.run import annotate_linked, find_places, prepare
from aegir.pipeline.settings import AnnotationSettings
from aegir_rl.base.seeding import Seeds
from benchmarks.folder import COLUMNS, ROWS
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Result
from benchmarks.synthetic_tables import csv_text

QUESTION = "microseconds of CPU time per column, by stage of aegir annotate"
UNIT = "CPU µs per column"
INTERVAL = 0.002
"""CPU seconds between two looks at the stack; the kernel may round it up."""
STAGES = (
    ("tables/contents.py", "what a column holds"),
    ("tables/datatype.py", "what a column holds"),
    ("tables/fingerprint.py", "fingerprints"),
    ("tables/notation.py", "notations"),
    ("tables/", "reading files"),
    ("readers/rules/", "rules"),
    ("readers/ngrams/column_inputs.py", "measurements of columns"),
    ("readers/ngrams/", "n-grams"),
    ("readers/bytes/", "byte network"),
    ("readers/", "mixing"),
    ("routing/", "routing"),
    ("pipeline/batch.py", "routing"),
    ("pipeline/plan.py", "routing"),
    ("pipeline/correct.py", "correcting"),
    ("pipeline/", "deciding"),
    ("answers/", "writing"),
    ("", "the rest"),
)
"""Beginnings of the names of files, below `aegir/`, and the stages they belong to; the first that fits counts."""
_HERE = str(Path(aegir.__file__).parent) + "/"


def run(options: Options) -> Result:
    """Annotate a folder, and print the answers as JSON lines."""
    count = 10 if options.quick else 120
    prepared = prepare(AnnotationSettings())
    with tempfile.TemporaryDirectory() as folder:
        files = options.data or _write_files(Path(folder), count, options.seed)
        places = find_places(files)
        for place in places[:2]:  # patterns are compiled and word lists read on first use
            list(annotate_linked([place], prepared))
        started = time.process_time()
        columns = 0
        with sampled_stages() as seen:
            answers = [each.answer for each in annotate_linked(places, prepared)]
            tables = [answer for answer in answers if isinstance(answer, aegir.TableAnnotation)]
            FORMATS["jsonl"](tables)
            columns = sum(len(table.columns) for table in tables)
        seconds = time.process_time() - started
    measured = [("all stages", 1.0), *_shares(seen)]
    scale = 1e6 * seconds / max(columns, 1)
    data = f"{count} synthetic CSV files of {COLUMNS} columns and {ROWS} rows"
    return Result(
        benchmark="profile",
        question=QUESTION,
        data=f"{len(places)} files of a folder" if options.data else data,
        measurements=tuple(
            Measurement(stage, UNIT, Runs((share * scale,))) for stage, share in measured
        ),
        ratios=(),
        settings={"files": len(places), "columns": columns, "looks": seen.total()},
    )


@contextmanager
def sampled_stages() -> Iterator[Counter[str]]:
    """Count at which stage the process is found while the block runs."""
    seen: Counter[str] = Counter()

    def look(_signal: int, frame: FrameType | None) -> None:
        seen[stage_of(frame)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def stage_of(frame: FrameType | None) -> str:
    """Return the stage of the innermost frame that is in a file of Aegir."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_HERE):
            below = file[len(_HERE) :]
            return next(stage for beginning, stage in STAGES if below.startswith(beginning))
        frame = frame.f_back
    return "the rest"


def _shares(seen: Counter[str]) -> Sequence[tuple[str, float]]:
    return [(stage, count / seen.total()) for stage, count in seen.most_common()]


def _write_files(folder: Path, count: int, seed: int) -> Path:
    for number in range(count):
        draw = random.Random(Seeds(seed).derive("profile", number))
        file = folder / f"table{number:03}.csv"
        file.write_text(csv_text(COLUMNS, ROWS, draw), encoding="utf-8")
    return folder
