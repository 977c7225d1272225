"""`aegir train`: learn from labelled tables."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Train a model from labelled tables.", no_args_is_help=True)


@app.callback()
def options() -> None:
    """Train a model from labelled tables."""


@app.command("ngrams", epilog="Example: aegir train ngrams --data data/ --out ngrams.safetensors")
def train_ngrams(
    data: Annotated[
        list[Path],
        typer.Option(metavar="PATH", help="A folder of known files, or labelled .jsonl files."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the weights go.")] = Path(
        "runs/ngrams.safetensors"
    ),
    raw: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Unlabelled tables to learn header names from."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds over the *_val tables.")] = 5,
    features: Annotated[int, typer.Option(min=64, help="n-grams kept.")] = 32768,
    seed: Annotated[int, typer.Option(help="Which tables go into which fold.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Folds trained at once.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as one object.")] = False,
) -> None:
    """Cross-validate, calibrate and train the n-gram model."""
    from aegir.errors import AegirError
    from aegir.training.sources import raw_files, read_training_tables

    try:
        from aegir.training.ngrams import NgramTraining
        from aegir.training.ngrams import train_ngrams as train
    except ModuleNotFoundError as missing:
        raise AegirError(
            f"training needs {missing.name}; install it with: pip install 'aegir[train]'"
        ) from None

    tables = read_training_tables(data)
    config = NgramTraining(seed=seed, folds=folds, features=features, jobs=jobs)
    model = train(tables, raw_files(raw or data), config, lambda line: typer.echo(line, err=True))
    out.parent.mkdir(parents=True, exist_ok=True)
    model.save(out)
    size = out.stat().st_size / 1e6
    typer.echo(f"saved {out} ({size:.1f} MB)", err=True)
    if as_json:
        import json

        typer.echo(json.dumps(model.facts["held_out"]))
