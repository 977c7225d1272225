"""`aegir train`: learn from labelled tables."""

from pathlib import Path

import click


@click.group("train")
def train() -> None:
    """Train a model from labelled tables."""


@train.command("ngrams", epilog="Example: aegir train ngrams --data data/ --out ngrams.safetensors")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="A folder of known files, or labelled .jsonl files; may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("runs/ngrams.safetensors"),
    show_default=True,
    help="Where the weights go.",
)
@click.option(
    "--raw",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Unlabelled tables to learn header names from [default: raw/ below --data].",
)
@click.option(
    "--folds",
    default=5,
    type=click.IntRange(2),
    show_default=True,
    help="Folds over the *_val tables.",
)
@click.option(
    "--features", default=32768, type=click.IntRange(64), show_default=True, help="n-grams kept."
)
@click.option("--seed", default=0, show_default=True, help="Which tables go into which fold.")
@click.option(
    "--jobs", default=2, type=click.IntRange(1), show_default=True, help="Folds trained at once."
)
@click.option("--json", "as_json", is_flag=True, help="The held-out figures as one JSON object.")
def train_ngrams(
    data: tuple[Path, ...],
    out: Path,
    raw: tuple[Path, ...],
    folds: int,
    features: int,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Cross-validate, calibrate and train the n-gram model."""
    from aegir.errors import AegirError
    from aegir.training.sources import raw_files, read_training_tables

    try:
        import joblib  # noqa: F401 (the recipe imports these late, after minutes of work)
        import sklearn  # noqa: F401

        from aegir.training.ngrams import NgramTraining
        from aegir.training.ngrams import train_ngrams as run
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"training needs {missing.name}; install it with: pip install 'aegir[train]'"
        ) from None

    tables = read_training_tables(data)
    config = NgramTraining(seed=seed, folds=folds, features=features, jobs=jobs)
    model = run(tables, raw_files(raw or data), config, lambda line: click.echo(line, err=True))
    out.parent.mkdir(parents=True, exist_ok=True)
    model.save(out)
    size = out.stat().st_size / 1e6
    click.echo(f"saved {out} ({size:.1f} MB)", err=True)
    if as_json:
        import json

        click.echo(json.dumps(model.facts["held_out"]))
