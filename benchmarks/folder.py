"""How many columns of a folder of CSV files does `aegir annotate` answer per CPU second, end to end?

Starting Python, loading weights, reading files and writing answers all count, for us and for the
references. frictionless infers storage types only; csv-detective looks for semantic ones, as we do. It is
slow, so it reads a part of the files: what its start costs is measured apart and counted once, and the rest
is scaled up to all files.
"""

import random
import tempfile
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from benchmarks.commands import (
    CSV_DETECTIVE_EXPLORES,
    FRICTIONLESS_DESCRIBES,
    aegir,
    is_installed,
    python,
)
from benchmarks.measuring import Runs, time_command
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least
from benchmarks.synthetic_tables import csv_text

QUESTION = "columns of a folder of CSV files annotated per CPU second, end to end"
UNIT = "columns per CPU second"
COLUMNS, ROWS = 10, 100
FILES_FOR_SLOW_REFERENCE = 20
TARGET = 227
FRICTIONLESS = "frictionless describe"
TIMES = 1.3
"""How many times as fast as frictionless."""


def run(options: Options) -> Result:
    """Annotate the folder as a user would; references describe the same files."""
    count, repeats = (5, 1) if options.quick else (200, min(options.repeats, 3))
    with tempfile.TemporaryDirectory() as folder:
        files = write_folder(Path(folder), count, options.seed)
        command = aegir("annotate", folder, "--format", "jsonl")
        ours = _speed("aegir annotate", command, count, repeats)
        references, left_out = _references(files, repeats, options)
    ratios = tuple(Ratio(ours, reference) for reference in references)
    of_types = [ratio for ratio in ratios if ratio.to.name == FRICTIONLESS]
    return Result(
        benchmark="folder",
        question=QUESTION,
        data=f"{count} synthetic CSV files of {COLUMNS} columns and {ROWS} rows",
        measurements=(ours, *references),
        ratios=ratios,
        targets=(at_least(ours, TARGET), *(at_least(_times(ratio), TIMES) for ratio in of_types)),
        settings={"files": count, "columns": COLUMNS, "rows": ROWS, "repeats": repeats},
        left_out=tuple(left_out),
    )


def write_folder(folder: Path, count: int, seed: int) -> list[Path]:
    """Write the CSV files; each depends on the seed and its number only."""
    files = [folder / f"table{number:03}.csv" for number in range(count)]
    for number, file in enumerate(files):
        draw = random.Random(Seeds(seed).derive("folder", number))
        file.write_text(csv_text(COLUMNS, ROWS, draw), encoding="utf-8")
    return files


def _references(
    files: list[Path], repeats: int, options: Options
) -> tuple[list[Measurement], list[str]]:
    found, left_out = [], []
    if is_installed("frictionless"):
        command = python(FRICTIONLESS_DESCRIBES, *files)
        found.append(_speed(FRICTIONLESS, command, len(files), repeats))
    else:
        left_out.append("frictionless is not installed; pip install 'aegir-tables[bench]'")
    if options.csv_detective:
        found.append(_csv_detective_speed(files, options.csv_detective))
    else:
        left_out.append("csv-detective needs an environment of its own; see --csv-detective PYTHON")
    return found, left_out


def _csv_detective_speed(files: list[Path], interpreter: Path) -> Measurement:
    part = files[:FILES_FOR_SLOW_REFERENCE]
    start, some = (
        time_command(python(CSV_DETECTIVE_EXPLORES, *given, interpreter=interpreter), 1).median
        for given in ([], part)
    )
    seconds = start + (some - start) * len(files) / len(part)
    return Measurement(
        f"csv-detective routine, from {len(part)} files",
        UNIT,
        Runs((len(files) * COLUMNS / seconds,)),
    )


def _times(ratio: Ratio) -> Measurement:
    return Measurement(f"aegir against {ratio.to.name}", "times", Runs((ratio.value,)))


def _speed(name: str, command: list[str], files: int, repeats: int) -> Measurement:
    return Measurement(name, UNIT, time_command(command, repeats).per(files * COLUMNS))
