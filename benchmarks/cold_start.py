"""What does starting Aegir cost, for `--help` and for one small file?

Every run is a new process. Byte code and files are warm: the first run after an installation writes byte
code and is slower.
"""

import random
import tempfile
from pathlib import Path

from aegir_rl.base.seeding import Seeds
from benchmarks.commands import FRICTIONLESS_DESCRIBES, aegir, is_installed, python
from benchmarks.measuring import time_command
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most
from benchmarks.synthetic_tables import csv_text

QUESTION = "CPU seconds to start Aegir, for help and for one CSV file of ten columns"
UNIT = "CPU seconds"
HELP_TARGET, ANNOTATE_TARGET = 0.06, 0.35


def run(options: Options) -> Result:
    """Time our two commands, bare Python, Python with numpy, and frictionless on the same file."""
    repeats = 1 if options.quick else max(options.repeats, 5)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one.csv"
        draw = random.Random(Seeds(options.seed).derive("cold_start"))
        file.write_text(csv_text(10, 100, draw), encoding="utf-8")

        def measure(name: str, command: list[str]) -> Measurement:
            return Measurement(name, UNIT, time_command(command, repeats))

        help_ = measure("aegir --help", aegir("--help"))
        annotate = measure("aegir annotate one.csv", aegir("annotate", file))
        bare = measure("python -c pass", python("pass"))
        numpy = measure("python -c 'import numpy'", python("import numpy"))
        references, left_out = [], []
        if is_installed("frictionless"):
            references.append(
                measure("frictionless describe one.csv", python(FRICTIONLESS_DESCRIBES, file))
            )
        else:
            left_out.append("frictionless is not installed; pip install 'aegir-tables[bench]'")
    return Result(
        benchmark="cold_start",
        question=QUESTION,
        data="one synthetic CSV file of 10 columns and 100 rows",
        measurements=(help_, annotate, bare, numpy, *references),
        ratios=(
            Ratio(help_, bare),
            Ratio(annotate, numpy),
            *(Ratio(annotate, reference) for reference in references),
        ),
        targets=(at_most(help_, HELP_TARGET), at_most(annotate, ANNOTATE_TARGET)),
        settings={"repeats": repeats},
        left_out=tuple(left_out),
    )
