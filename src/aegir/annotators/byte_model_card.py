"""Writes the model card of the byte network that ships, from the facts in its file.

python -m aegir.annotators.byte_model_card > docs/model-card.md
"""

import sys
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from typing import Any

from aegir.annotators.byte_model import MODEL_FILE
from aegir.model.checkpoint import GRAM_HASHES, Checkpoint, load_checkpoint
from aegir.model.heads import (
    FINE_HEAD,
    NONE,
    OUTPUTS,
    PERSONAL_HEAD,
    RELATIONS_HEAD,
    TYPES_HEAD,
)

SCARCE = 5
"""Classes with fewer held-out columns are marked."""
_INTRODUCTION = """\
# Model card: the byte network

`bytes.safetensors`, read by `--annotator byte_model` and by the default annotator beside n-grams and rules.
Written by `python -m aegir.annotators.byte_model_card` from the facts in the file itself."""
_USE = """\
## What it is for

Saying what the columns of tables are, on a plain CPU:

{heads}

It reads up to six cells of a column as raw bytes, the header if there is one, and every column in the context of its
table. Confidence is calibrated on held-out tables; below a threshold of your choice it abstains. What the equations are:
[model.md](model.md)."""
_HEADS = {
    TYPES_HEAD: "column types (CTA) of Schema.org, as the SOTAB v2 benchmark spells them",
    RELATIONS_HEAD: "relations to the subject column (CPA), likewise",
    FINE_HEAD: "fine types, for tables of any sort",
    PERSONAL_HEAD: "whether the column is personal data",
}
_LIMITS = """\
## Limits

- {knows}
- Learnt mostly from English and European web pages: product, event, hotel, recipe, job and business listings.{everyday}
  Other scripts, scientific and financial tables are read worse than these figures say.
- Fax and telephone numbers look alike; so do the names of books, films and albums without their siblings.
- Scores are for five-row tables without headers, cells cut to 20 words, as SOTAB has them.
- Some training labels were guessed from headers and publishers' markup, some cells were made up; docs/data-engine.md
  says which and how they were checked. Publishers' tables contain public business phone numbers and names; the file
  holds weights and hashed n-grams, no cells.

## Licence

Apache-2.0, as the rest of Aegir. The training tables belong to their publishers and are not included."""


def card(checkpoint: Checkpoint, size: int) -> str:
    """Return the page as Markdown."""
    use = _USE.format(heads="\n".join(_heads(checkpoint)))
    parts = [_INTRODUCTION, use, _shape(checkpoint, size), _training(checkpoint.facts)]
    parts += [_scores(checkpoint.facts), _collapse_checks(checkpoint.facts), _limits(checkpoint)]
    for task, title in (("cta", "types"), ("cpa", "relations")):
        parts.append(
            "\n".join(_classes(checkpoint.facts.get("per_class", {}).get(task, {}), title))
        )
    return "\n\n".join(parts) + "\n"


def _heads(checkpoint: Checkpoint) -> Iterator[str]:
    """Yield a line for each head of the file that is ours."""
    for head, what in _HEADS.items():
        if head in checkpoint.heads:
            names, none = _names(checkpoint, head)
            count = f"{names} " if names > 1 else ""
            yield f"- {count}{what}{', or none of them' if none else ''}"


def _names(checkpoint: Checkpoint, head: str) -> tuple[int, bool]:
    """Return how many names a head knows, and whether its last output is none of them."""
    outputs = len(checkpoint.tensors[f"heads.{head}.weight"])
    none = OUTPUTS[head][-1] == NONE and outputs == len(OUTPUTS[head])
    return outputs - none, none


def _limits(checkpoint: Checkpoint) -> str:
    named = [_names(checkpoint, head) for head in _HEADS if head in checkpoint.heads]
    names = sum(count for count, _ in named if count > 1)
    knows = f"It knows {names} names. A column of anything else gets "
    if any(none for _, none in named):
        knows += "none of them, or a near one with low confidence."
    else:
        knows += "the nearest of them with low confidence, or an abstention."
    open_too = checkpoint.facts["training"]["sources"].get("open")
    everyday = (
        "\n  Everyday tables (exports, records, logs, open data) are the smaller part."
        if open_too
        else ""
    )
    return _LIMITS.format(knows=knows, everyday=everyday)


def _shape(checkpoint: Checkpoint, size: int) -> str:
    weights = [tensor for name, tensor in checkpoint.tensors.items() if name != GRAM_HASHES]
    numbers = sum(tensor.size for tensor in weights)
    grams = checkpoint.tensors["reader.embedding.grams"].size
    architecture = checkpoint.architecture
    return f"""\
## Size

{numbers / 1e6:.2f} million weights, {grams / 1e6:.2f} million of them embeddings of hashed n-grams; {size / 1e6:.1f} MB on disk
(large matrices int8, small ones float16). Layout `{architecture.layout}`, widths {list(architecture.widths)}, column
vectors of {architecture.column_width}, {architecture.table_blocks} RWKV-7 block over the columns of a table."""


def _training(facts: Mapping[str, Any]) -> str:
    training = facts["training"]
    sources = ", ".join(f"`{name}`" for name, on in training["sources"].items() if on)
    return f"""\
## Training

    aegir train supervised configs/bytes.toml --data DATA
    aegir train supervised configs/bytes-finetune.toml --data DATA --from runs/bytes-supervised --fold -1
    aegir train export …

The last phase took {training["steps"]} steps over {training["tables"]:,} tables with seed {training["seed"]}; its sources:
{sources} ([data-engine.md](data-engine.md)). Cross-validation repeats the last phase once per fold; the phase before it
sees no validation table and none that shares a site or a column with one."""


def _scores(facts: Mapping[str, Any]) -> str:
    rows = [
        f"| {name} | {row['columns']} | {row['micro_f1']:.3f} | {row['macro_f1']:.3f} | {row['ece']:.3f} |"
        for name, row in sorted(facts.get("held_out", {}).items())
    ]
    heading = ["| annotator/task | columns | micro F1 | macro F1 | ECE |", "|---|---|---|---|---|"]
    title = "## Scores on held-out tables\n\nFive folds over SOTAB v2 validation tables, by site and shared columns."
    return "\n".join([title, "", *heading, *rows])


def _collapse_checks(facts: Mapping[str, Any]) -> str:
    figures = ", ".join(f"{name} {value:.3f}" for name, value in facts.get("liveness", {}).items())
    return (
        f"## Collapse checks\n\nMeasured at export, which refuses a collapsed network: {figures}."
    )


def _classes(scores: Mapping[str, list[float]], title: str) -> Iterator[str]:
    yield f"## Scores per class: {title}\n"
    yield "Cross-validated, the byte network alone, best first.\n"
    yield "| label | columns | precision | recall | F1 |"
    yield "|---|---|---|---|---|"
    for name, row in sorted(scores.items(), key=lambda item: (-item[1][3], item[0])):
        columns, precision, recall, f1 = row
        mark = " (few)" if columns < SCARCE else ""
        yield f"| {name}{mark} | {columns:.0f} | {precision:.2f} | {recall:.2f} | {f1:.2f} |"


def shipped_card() -> str:
    """Return the card of the file that ships."""
    with as_file(files("aegir.annotators") / "weights" / MODEL_FILE) as path:
        return card(load_checkpoint(path), path.stat().st_size)


if __name__ == "__main__":
    sys.stdout.write(shipped_card())
