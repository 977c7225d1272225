"""Tables with columns nobody ships a type for, and made-up readings of columns to learn from without weights."""

from pathlib import Path
from random import Random

import numpy as np

from aegir.pipeline.custom_types.evidence import Evidence, HeaderSpelling, Line, NameRatios
from aegir.readers.ngrams.network import ColumnReadings
from aegir.vocabulary.terms import FINE_NAMES

EXAMPLES = ("wards.csv:patient", "visits.csv:patient_no")
NOT = ("bills.csv:invoice_no",)


NAMES, WIDTH = len(FINE_NAMES) + 1, 12


def cloud(count: int, at: float, seed: int, header: str = "") -> ColumnReadings:
    """Columns under one header that differ from others in the first number of vectors and values, and in one name."""
    random = np.random.default_rng(seed)
    vectors, values = random.standard_normal((2, count, WIDTH)).astype(np.float32)
    vectors[:, 0] += at
    values[:, 0] += at
    names = np.exp(random.standard_normal((count, NAMES)))
    names[:, 0] *= np.exp(at)
    shares = names / names.sum(axis=1, keepdims=True)
    return ColumnReadings(shares.astype(np.float32), vectors, values, (header,) * count)


def random_evidence(seed: int) -> Evidence:
    """What might have been fitted."""
    random = np.random.default_rng(seed)

    def line() -> Line:
        return Line(
            random.normal(size=WIDTH), random.random(WIDTH) + 0.1, random.normal(size=WIDTH)
        )

    return Evidence(
        NameRatios(random.random(NAMES) * 3),
        HeaderSpelling({"^be": 0.25, "bed": 1 / 3}, {"^be": 2.5, "bed": 0.7}),
        line(),
        line(),
    )


def write_hospital(folder: Path, rows: int = 120) -> Path:
    """wards, visits and lab each have a column of patient numbers; bills have none."""
    random = Random(3)

    def patient() -> str:
        return f"PT{random.randint(10, 99)}-{random.randint(1000, 9999)}{random.choice('KLMX')}"

    def write(name: str, header: str, *cells) -> None:
        lines = [",".join(str(cell()) for cell in cells) for _ in range(rows)]
        (folder / name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")

    def number(low: int, high: int):
        return lambda: random.randint(low, high)

    def one_of(*words: str):
        return lambda: random.choice(words)

    def day() -> str:
        return f"2031-{random.randint(1, 12):02}-{random.randint(1, 28):02}"

    write("wards.csv", "patient,ward,bed,admitted", patient, one_of("A1", "B2"), number(1, 40), day)
    write(
        "visits.csv",
        "visit,patient_no,doctor,minutes",
        number(10_000, 99_999),
        patient,
        one_of("Ann Roe", "Bo Lim", "Cy Ng"),
        number(5, 60),
    )
    write(
        "bills.csv",
        "invoice_no,paid",
        lambda: f"INV-{random.randint(10_000, 99_999)}",
        one_of("yes", "no"),
    )
    write("lab.csv", "pat,result,unit", patient, number(1, 9), one_of("mg/l"))
    return folder
