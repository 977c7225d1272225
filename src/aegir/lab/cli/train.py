"""`aegir train ngrams`; train_bytes.py has the verbs of the byte network.

What only training needs (torch, scikit-learn, …) is imported inside the verbs, so that their help can be read
without it.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from aegir.cli.options import PathName
from aegir.cli.terminal import say
from aegir.lab.data.sources import raw_files, read_training_tables
from aegir_rl.base.errors import AegirError
from aegir_rl.base.run_folder import hold_lock

data_option = click.option(
    "--data",
    type=PathName(),
    multiple=True,
    help="Folders of tables, instead of the file's; may be repeated.",
)
"""Where a training configuration finds its tables."""
run_data_option = click.option(
    "--data",
    type=PathName(),
    multiple=True,
    required=True,
    help="The folders of tables that the run had; may be repeated.",
)
"""Where a verb about a finished run finds the tables that it kept out."""


@contextmanager
def training_packages() -> Iterator[None]:
    """Turn the import error of a package that only training needs into a sentence on how to get it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"training needs {missing.name}; install it with: pip install 'aegir-tables[train]'"
        ) from None


@click.command("ngrams", epilog="Example: aegir train ngrams --data data/ --out ngrams.safetensors")
@click.option(
    "--data",
    type=PathName(),
    multiple=True,
    required=True,
    help="A folder of known files, or labelled .jsonl files; may be repeated.",
)
@click.option(
    "--out",
    type=PathName(dir_okay=False),
    default=Path("runs/ngrams.safetensors"),
    show_default=True,
    help="Where the weights go.",
)
@click.option(
    "--raw",
    type=PathName(),
    multiple=True,
    help="Unlabelled tables for self-training [default: raw/ below --data].",
)
@click.option(
    "--folds",
    default=5,
    type=click.IntRange(2),
    show_default=True,
    help="Folds over the *_val tables and the everyday ones.",
)
@click.option("--seed", default=0, show_default=True, help="Which tables go into which fold.")
@click.option(
    "--jobs", default=2, type=click.IntRange(1), show_default=True, help="Folds trained at once."
)
@click.option(
    "--work",
    type=PathName(file_okay=False),
    help="Folder of intermediate results, for `aegir train calibrate` and to go on [default: beside --out].",
)
@click.option(
    "--encoder/--no-encoder",
    default=True,
    show_default=True,
    help="Initialise word embeddings from a sentence encoder (needs the extra `distil`).",
)
@click.option("--json", "as_json", is_flag=True, help="The held-out figures as one JSON object.")
def ngrams(
    data: tuple[Path, ...],
    out: Path,
    raw: tuple[Path, ...],
    folds: int,
    seed: int,
    jobs: int,
    work: Path | None,
    encoder: bool,
    as_json: bool,
) -> None:
    """Cross-validate, calibrate and train the n-gram model."""
    with training_packages():
        import joblib  # noqa: F401 (the recipe imports these late, after minutes of work)
        import sklearn  # noqa: F401
        import torch  # noqa: F401

        from aegir.lab.ngrams import NgramTraining, train_ngrams

    tables = read_training_tables(data)
    config = NgramTraining(seed=seed, folds=folds, jobs=jobs, encoder=encoder)
    out.parent.mkdir(parents=True, exist_ok=True)
    parts = work or out.with_name(f"{out.stem}-parts")
    raw_tables = raw_files(raw or data)
    with hold_lock(out):
        model = train_ngrams(tables, raw_tables, config, lambda line: say(line, err=True), parts)
        model.save(out)
    size = out.stat().st_size / 1e6
    say(f"saved {out} ({size:.1f} MB)", err=True)
    if as_json:
        click.echo(json.dumps(model.facts["held_out"]))
