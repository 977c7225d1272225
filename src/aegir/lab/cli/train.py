"""`aegir train ngrams`; train_bytes.py has the verbs of the byte network.

What only training needs (torch, scikit-learn, …) is imported inside the verbs, so that their help can be read
without it.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import verb_options
from aegir.cli.terminal import say
from aegir.lab.data.sources import raw_files, read_training_tables
from aegir_rl.base.errors import AegirError
from aegir_rl.base.run_folder import hold_lock

data_option, run_data_option = verb_options("training data"), verb_options("run data")
"""Where a training configuration, and a verb about a finished run, find their tables."""


@contextmanager
def training_packages() -> Iterator[None]:
    """Turn the import error of a package that only training needs into a sentence on how to get it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"training needs {missing.name}; install it with: pip install 'aegir-tables[train]'"
        ) from None


def adjusted(settings: Any, data: Sequence[Path], fold: int | None = None, **changes: Any) -> Any:
    """Settings of a training with these folders, held-out fold and other fields, where they are given."""
    changes = {name: value for name, value in changes.items() if value is not None}
    if data:
        changes["data"] = replace(settings.data, folders=tuple(map(str, data)))
    if fold is not None:
        changes["held_out"] = replace(settings.held_out, fold=fold)
    return replace(settings, **changes)


@click.command("ngrams", epilog="Example: aegir train ngrams --data data/ --out ngrams.safetensors")
@verb_options("train ngrams")
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
