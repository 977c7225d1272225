"""How well does the named reference tell real columns apart? Only with `--data FOLDER`.

FOLDER holds labelled tables (docs/labelled-tables.md) as pairs NAME_train.jsonl and NAME_val.jsonl; none
come with Aegir. The reference is fitted on the first and scored on the second, with majority class beside
it. Our own figure on tables not learnt from is what `aegir train ngrams` prints: five folds over the
training tables. The weights that ship may have seen FOLDER's tables, so they are not scored here.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from aegir.tables.labelled import LabelledTable, Task, read_labelled_tables
from aegir_rl.base.errors import UsageError
from aegir_rl.base.metrics import F1Report, compute_f1
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.reference_model import NAME, column_text, fit_reference
from benchmarks.result import Measurement, Ratio, Result

QUESTION = "F1 of the reference classifier on labelled tables it was not fitted on"
TASKS: tuple[Task, ...] = ("cta", "cpa")
Labelled = tuple[list[str], list[tuple[str, ...]]]
"""Column texts and their accepted labels."""


def run(options: Options) -> Result:
    """Fit and score on every pair of files and every task that both have labels for."""
    assert options.data is not None, "the runner skips this benchmark without data"
    measurements, ratios = [], []
    for train, val in find_pairs(options.data):
        tables = list(read_labelled_tables(train)), list(read_labelled_tables(val))
        for task in TASKS:
            fit_on, score_on = (labelled_columns(part, task) for part in tables)
            if len({labels[0] for labels in fit_on[1]}) > 1 and score_on[1]:
                name = f"{val.stem.removesuffix('_val')} {task}"
                found = _scores(name, fit_on, score_on)
                measurements += found
                ratios.append(Ratio(found[0], found[2]))
    return Result(
        benchmark="accuracy",
        question=QUESTION,
        data="labelled tables given by the user; fitted on *_train.jsonl, scored on *_val.jsonl",
        measurements=tuple(measurements),
        ratios=tuple(ratios),
        settings={"repeats": 1},
    )


def find_pairs(folder: Path) -> list[tuple[Path, Path]]:
    """Training and validation files that belong together; UsageError when there are none."""
    pairs = [
        (train, val)
        for train in sorted(folder.glob("*_train.jsonl"))
        if (val := train.with_name(train.name.replace("_train.jsonl", "_val.jsonl"))).is_file()
    ]
    if not pairs:
        raise UsageError(
            f"{folder} has no pair NAME_train.jsonl and NAME_val.jsonl of labelled tables"
        )
    return pairs


def labelled_columns(tables: Sequence[LabelledTable], task: Task) -> Labelled:
    """The columns that have a label for the task."""
    texts, labels = [], []
    for one in tables:
        for column, given in zip(one.table.columns, one.labels, strict=True):
            if accepted := given.accepted(task):
                texts.append(column_text(column))
                labels.append(accepted)
    return texts, labels


def _scores(name: str, fit_on: Labelled, score_on: Labelled) -> list[Measurement]:
    """Micro and macro F1 of the reference, then of majority class."""
    firsts = [labels[0] for labels in fit_on[1]]
    answers = list(map(str, fit_reference(fit_on[0], firsts).predict(score_on[0])))
    majority = [Counter(firsts).most_common(1)[0][0]] * len(answers)
    return [
        *_measurements(f"{name}, {NAME}", compute_f1(score_on[1], answers)),
        *_measurements(f"{name}, majority class", compute_f1(score_on[1], majority)),
    ]


def _measurements(name: str, report: F1Report) -> list[Measurement]:
    return [
        Measurement(name, "micro F1", Runs((report.micro_f1,))),
        Measurement(name, "macro F1", Runs((report.macro_f1,))),
    ]
