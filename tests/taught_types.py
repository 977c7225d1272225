"""Tables with columns nobody ships a type for, and what teaching from them needs. No byte weights are used."""

from functools import cache
from pathlib import Path
from random import Random

from aegir.annotators.custom_types.embedder import Embedder
from aegir.annotators.ngrams.annotator import load_ngrams

EXAMPLES = ("wards.csv:patient", "visits.csv:patient_no")
NOT = ("bills.csv:invoice_no",)


@cache
def ngrams_only() -> Embedder:
    """An embedder that is there whether or not byte weights ship."""
    return Embedder((load_ngrams(),), "n-grams only")


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
