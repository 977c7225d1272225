"""Writes the model card of the weights that ship, from the facts in their files.

python -m aegir.lab.model_card > docs/model-card.md
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from aegir.readers.bytes import annotator as byte_model
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, load_checkpoint
from aegir.readers.ngrams import annotator as ngrams
from aegir.readers.ngrams.model import NgramModel
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_NAMES

SCARCE = 5
"""Classes with fewer held-out columns are marked."""
LEAST_COLUMNS = 30
"""Columns that a domain needs to be listed."""
WORST = 25
INTRODUCTION = f"""\
# Model card

The weights that ship: `ngrams.safetensors` and `bytes.safetensors`, read by the default annotator: n-grams read every
column, the byte network those of which they are not sure. Written by `python -m aegir.lab.model_card` from the facts in the files
themselves. These are scores of `combined`, which calls the byte network for whole tables; those of the default: [results.md](results.md).

## What they are for

Saying what the columns of any table are, on a plain CPU: {len(TYPE_NAMES)} column types and {len(RELATION_NAMES)} relations of Schema.org,
as the SOTAB v2 benchmark spells them, or none of them; {len(FINE_NAMES)} fine types, or none of them; and whether a column is
personal data. Confidence is calibrated on held-out tables of the web and on everyday ones. How it works:
[architecture.md](architecture.md); the byte network's equations: [model.md](model.md)."""
LIMITS = """\
## Limits

- Everyday tables were labelled by reading them, once each; readers of the same column agree on 92 to 98 % of its types. What is a
  `category`, a `CategoryCode` or neither is where they differ, and where most errors are.
- Personal data are found by what a column is and whose row it stands in. Whether rows of anonymous data are persons often stands
  nowhere in the table: four in ten personal columns are missed. The mark is a hint, not a clearance.
- Most training tables have English headers. Headers in 27 other languages are known from a list; values in other scripts are read
  worse than these scores say.
- Fax and telephone numbers look alike; so do the names of books, films and albums without their siblings.
- Web scores are for five-row tables without headers, cells cut to 20 words, as SOTAB has them.
- Some training labels were guessed from headers, publishers' markup or by an earlier network, some cells were made up;
  [data-engine.md](data-engine.md) says which. Publishers' tables contain public business phone numbers and names; the
  files hold weights and hashed n-grams, no cells.

## Licence

Apache-2.0, as the rest of Aegir. The training tables belong to their publishers and are not included."""


def card(model: NgramModel, checkpoint: Checkpoint, sizes: Sequence[int]) -> str:
    """Return the page as Markdown; `sizes` are those of the two files in bytes."""
    facts = checkpoint.facts
    parts = [
        INTRODUCTION,
        _sizes(model, checkpoint, sizes),
        _training(model.facts, facts),
        _web_scores({**model.facts.get("held_out", {}), **facts.get("held_out", {})}),
        *(["\n".join(_everyday_scores(facts["everyday"]))] if facts.get("everyday") else []),
        _collapse_checks(facts),
        LIMITS,
        *("\n".join(_worst_classes(facts, task)) for task in ("cta", "cpa")),
    ]
    return "\n\n".join(parts) + "\n"


def _sizes(model: NgramModel, checkpoint: Checkpoint, sizes: Sequence[int]) -> str:
    weights = [tensor for name, tensor in checkpoint.tensors.items() if name != GRAM_HASHES]
    network = model.networks[0]
    architecture = checkpoint.architecture
    return f"""\
## Size

- `ngrams.safetensors`, {sizes[0] / 1e6:.1f} MB: linear stages over {len(model.values.buckets):,} n-grams, and {len(model.networks)} networks with
  {len(network.headers.buckets):,} n-grams of headers and {len(network.values.buckets):,} of values, {len(network.headers.bias)} numbers each (int8).
- `bytes.safetensors`, {sizes[1] / 1e6:.1f} MB: {sum(tensor.size for tensor in weights) / 1e6:.2f} million weights, most of them n-gram embeddings (int8). Layout
  `{architecture.layout}`, widths {list(architecture.widths)}, column vectors of {architecture.column_width}, {architecture.table_blocks} RWKV-7 block over the columns of a table."""


def _training(ngrams: Mapping[str, Any], bytes_: Mapping[str, Any]) -> str:
    training = bytes_["training"]
    sources = ", ".join(f"`{name}`" for name, on in training["sources"].items() if on)
    return f"""\
## Training

    aegir train ngrams --data DATA
    aegir train supervised configs/bytes.toml --data DATA
    aegir train supervised configs/bytes-finetune.toml --data DATA --from runs/bytes-supervised --fold -1
    aegir train calibrate … and aegir train export …

N-grams: {ngrams["training"].get("tables", 0):,} labelled tables, and unlabelled ones for self-training. Byte network: the last phase took
{training["steps"]} steps over {training["tables"]:,} tables with seed {training["seed"]}; its sources: {sources}
([data-engine.md](data-engine.md)). Cross-validation repeats both per fold; the byte network's first phase sees no validation
table, no everyday table, and none that shares a site, a group or a column with one."""


def _web_scores(held_out: Mapping[str, Mapping[str, Any]]) -> str:
    rows = [
        f"| {name} | {row['columns']} | {row['micro_f1']:.3f} | {row['macro_f1']:.3f} | {row['ece']:.3f} |"
        for name, row in sorted(held_out.items())
        if not name.endswith("@open")
    ]
    heading = ["| annotator/task | columns | micro F1 | macro F1 | ECE |", "|---|---|---|---|---|"]
    title = (
        "## Scores on held-out web tables\n\nFive folds over SOTAB v2 validation tables, by site and shared columns; "
        "weights of the mixture from the other half."
    )
    return "\n".join([title, "", *heading, *rows])


def _everyday_scores(metrics: Mapping[str, Any]) -> Iterator[str]:
    yield "## Scores on held-out everyday tables\n"
    yield f"{metrics['columns']:,} columns of {metrics['tables']:,} tables, five folds by repository.\n"
    yield "| what | |"
    yield "|---|---|"
    relation, personal = metrics["relation"], metrics["personal"]
    for what, value in (
        ("leading type right, none included", metrics["type"]["right"]),
        ("label right", metrics["label"]["right"]),
        ("fine type given", metrics["fine"]["given"]),
        ("fine type right where given", metrics["fine"]["precision"]),
        ("type wrong at confidence 0.5 or more", metrics["misleading"]["type"]),
        ("label wrong at confidence 0.5 or more", metrics["misleading"]["label"]),
        ("calibration error of the type", metrics["type"]["confidence"]["ece"]),
        ("calibration error of the label", metrics["label"]["confidence"]["ece"]),
        ("relation right where given at 0.5 or more", relation["precision"]),
        ("relation given at 0.5 or more to columns without one", relation["false_given"]),
        ("personal data: precision", personal["precision"]),
        ("personal data: recall", personal["recall"]),
        ("subject column plausible", metrics["subject"]["plausible"]),
    ):
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


def _collapse_checks(facts: Mapping[str, Any]) -> str:
    metrics = ", ".join(f"{name} {value:.3f}" for name, value in facts.get("liveness", {}).items())
    return (
        "## Collapse checks\n\nOf the byte network, measured at export, which refuses a collapsed one: "
        f"{metrics}."
    )


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
