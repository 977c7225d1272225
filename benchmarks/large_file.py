"""How much memory and CPU does one very large CSV file take?

The file is one seeded block of rows, repeated to the wanted size and deleted afterwards. The reference is
DuckDB drawing as many rows from the same file, in a process of its own with its default settings; it reads
every byte, we read parts spread over the file.
"""

import random
import shutil
import tempfile
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from benchmarks.commands import aegir, python
from benchmarks.measuring import Runs, Usage, run_command
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most
from benchmarks.synthetic_tables import KINDS, csv_rows

QUESTION = "peak memory and CPU seconds for one large CSV file"
BLOCK_ROWS = 20_000
TARGET_MB = 300
ROOM_TO_SPARE = 2_000_000_000
"""Bytes of disk we leave free."""
DUCKDB_SAMPLES = (
    "import sys, duckdb\n"
    'duckdb.sql("SELECT * FROM read_csv(\'" + sys.argv[1].replace("\'", "\'\'") + "\', '
    'all_varchar=true) USING SAMPLE reservoir(200 ROWS)").fetchall()'
)


def run(options: Options) -> Result:
    """Peak memory is the largest of the runs' peaks; runs are few, because the reference is slow."""
    size = 20_000_000 if options.quick else options.size
    repeats = 1 if options.quick else min(options.repeats, 3)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.csv"
        free = shutil.disk_usage(folder).free
        if free < size + ROOM_TO_SPARE:
            raise OSError(
                f"{folder} has {free / 1e9:.1f} GB free, too little for a file of "
                f"{size / 1e9:.1f} GB; try --size 500MB"
            )
        write_large_file(file, size, options.seed)
        ours = [run_command(aegir("annotate", file)) for _ in range(repeats)]
        theirs = [run_command(python(DUCKDB_SAMPLES, file)) for _ in range(repeats)]
    our_memory, our_cpu = _measurements("aegir annotate", ours)
    their_memory, their_cpu = _measurements("DuckDB sample of 200 rows", theirs)
    return Result(
        benchmark="large_file",
        question=QUESTION,
        data=f"one synthetic CSV file of {size / 1e9:g} GB, 12 columns",
        measurements=(our_memory, our_cpu, their_memory, their_cpu),
        ratios=(Ratio(our_memory, their_memory), Ratio(our_cpu, their_cpu)),
        targets=(at_most(our_memory, TARGET_MB),),
        settings={"size": size, "repeats": repeats},
    )


def write_large_file(file: Path, size: int, seed: int) -> None:
    """Write at least `size` bytes: a header, then the same block of rows again and again."""
    fields = KINDS[4]
    block = csv_rows(fields, BLOCK_ROWS, random.Random(Seeds(seed).derive("large_file"))).encode()
    with file.open("wb") as out:
        out.write((",".join(name for name, _ in fields) + "\n").encode())
        while out.tell() < size:
            out.write(block)


def _measurements(name: str, usages: list[Usage]) -> tuple[Measurement, Measurement]:
    peaks = Runs((max(usage.peak_bytes for usage in usages) / 1e6,))
    seconds = Runs(tuple(usage.cpu_seconds for usage in usages))
    return (
        Measurement(f"{name}, peak memory", "MB", peaks),
        Measurement(f"{name}, CPU", "CPU seconds", seconds),
    )
