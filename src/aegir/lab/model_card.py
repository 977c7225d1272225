"""Writes the model card of the weights that ship, from the facts in their files and the text in model_card.md.

python -m aegir.lab.model_card > docs/model-card.md
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from aegir.lab.score_tables import (
    SCARCE,
    level_table,
    overall_table,
    row_class_table,
    special_table,
)
from aegir.readers.bytes import annotator as byte_model
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, load_checkpoint
from aegir.readers.ngrams import annotator as ngrams
from aegir.readers.ngrams.model import NgramModel
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.text import read_tsv

HERE = Path(__file__).parent
LEAST_COLUMNS = 30
"""Columns that a domain needs to be listed."""
WORST = 25


def card(model: NgramModel, checkpoint: Checkpoint, sizes: Sequence[int]) -> str:
    """Return the page as Markdown; `sizes` are those of the two files in bytes."""
    facts, network, architecture = checkpoint.facts, model.networks[0], checkpoint.architecture
    weights = [tensor for name, tensor in checkpoint.tensors.items() if name != GRAM_HASHES]
    training = facts["training"]
    everyday = "\n".join(_everyday_scores(facts["everyday"])) if facts.get("everyday") else ""
    measured = (each.get("everyday") or {} for each in (facts, model.facts))
    failures = "\n".join(_failures(next((each for each in measured if "by_group" in each), None)))
    return (
        (HERE / "model_card.md")
        .read_text(encoding="utf-8")
        .format(
            types=len(TYPE_NAMES),
            relations=len(RELATION_NAMES),
            fine=len(FINE_NAMES),
            sizes=[size / 1e6 for size in sizes],
            linear=len(model.values.buckets),
            networks=len(model.networks),
            headers=len(network.headers.buckets),
            values=len(network.values.buckets),
            embedding=len(network.headers.bias),
            weights=sum(tensor.size for tensor in weights) / 1e6,
            architecture=architecture,
            widths=list(architecture.widths),
            ngram_tables=model.facts["training"].get("tables", 0),
            training=training,
            sources=", ".join(f"`{name}`" for name, on in training["sources"].items() if on),
            web=_web_scores({**model.facts.get("held_out", {}), **facts.get("held_out", {})}),
            everyday=everyday and f"\n\n{everyday}",
            liveness=", ".join(
                f"{name} {value:.3f}" for name, value in facts.get("liveness", {}).items()
            ),
            failures=failures and f"{failures}\n\n",
            worst="\n\n".join("\n".join(_worst_classes(facts, task)) for task in ("cta", "cpa")),
        )
    )


def _web_scores(held_out: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        f"| {name} | {row['columns']} | {row['micro_f1']:.3f} | {row['macro_f1']:.3f} | {row['ece']:.3f} |"
        for name, row in sorted(held_out.items())
        if not name.endswith("@open")
    ]
    heading = ["| annotator/task | columns | micro F1 | macro F1 | ECE |", "|---|---|---|---|---|"]
    return "\n".join([*heading, *rows])


def _everyday_scores(metrics: Mapping[str, Any]) -> Iterator[str]:
    yield "## Scores on held-out everyday tables\n"
    yield f"{metrics['columns']:,} columns of {metrics['tables']:,} tables, five folds by repository.\n"
    yield "| what | |"
    yield "|---|---|"
    for _, (metric, what) in read_tsv(HERE / "model_card_scores.tsv", "metric what"):
        value = reduce(lambda part, key: part[key], metric.split("."), metrics)
        yield f"| {what} | {value:.3f} |"
    for title, parts in (("kind", metrics["kinds"]), ("domain", metrics["domains"])):
        yield f"\n| {title} | columns | type right | label right |"
        yield "|---|---|---|---|"
        for part in parts:
            if part["name"] and part["columns"] >= LEAST_COLUMNS:
                yield (
                    f"| {part['name']} | {part['columns']} | {part['type_right']:.2f} "
                    f"| {part['label_right']:.2f} |"
                )


def _failures(metrics: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what is got wrong of rows, levels and special data; nothing where these were not labelled."""
    if metrics is None:
        return
    record = metrics["by_group"]
    yield "## Where it fails on everyday tables\n"
    yield f"Cross-validated, `{metrics['annotator']}`, with 95 % intervals over groups of tables.\n"
    yield from (*overall_table(record), "")
    if record["row_classes"]:
        yield "What a row is, the classes that are found least often first:\n"
        yield from (*row_class_table(record, WORST), "")
    if record["levels"]:
        yield "Levels of personal data, as shares of the columns labelled so; none is not personal:\n"
        yield from (*level_table(record), "")
    if record["special_categories"]:
        yield "Special categories that were answered, and how many of these columns are special data at all:\n"
        yield from (*special_table(record), "")


def _worst_classes(facts: Mapping[str, Any], task: str) -> Iterator[str]:
    classes = facts.get("held_out", {}).get(f"combined/{task}", {}).get("classes", {})
    title = {"cta": "types", "cpa": "relations"}[task]
    yield f"## Where it fails on the web: {title}\n"
    yield f"Cross-validated, `combined`, the {WORST} worst of {len(classes)}.\n"
    yield "| label | columns | precision | recall | F1 |"
    yield "|---|---|---|---|---|"
    for name, row in sorted(classes.items(), key=lambda item: (item[1][3], item[0]))[:WORST]:
        columns, precision, recall, f1 = row
        mark = " (few)" if columns < SCARCE else ""
        yield f"| {name}{mark} | {columns:.0f} | {precision:.2f} | {recall:.2f} | {f1:.2f} |"


def shipped_card() -> str:
    """Return the card of the files that ship."""
    folder = files("aegir.readers") / "weights"
    with (
        as_file(folder / ngrams.MODEL_FILE) as first,
        as_file(folder / byte_model.MODEL_FILE) as second,
    ):
        sizes = [Path(path).stat().st_size for path in (first, second)]
        return card(NgramModel.load(first), load_checkpoint(second), sizes)


if __name__ == "__main__":
    sys.stdout.write(shipped_card())
