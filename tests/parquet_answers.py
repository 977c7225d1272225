"""Read the answer that `aegir annotate --embed` left in a Parquet file, by PyArrow."""

import json
from pathlib import Path

import pyarrow.parquet

from aegir.answers.annotation import TableAnnotation, annotation_from_dict
from aegir.answers.parquet_metadata import ANNOTATION_KEY


def metadata_of(path: Path) -> dict[str, str]:
    """The key-value metadata of a file."""
    with path.open("rb") as file:
        pairs = pyarrow.parquet.read_metadata(file).metadata or {}
    return {key.decode(): value.decode() for key, value in pairs.items()}


def embedded_annotation(path: Path) -> TableAnnotation | None:
    """The answer in a file; None if there is none."""
    text = metadata_of(path).get(ANNOTATION_KEY)
    return (
        None
        if text is None
        else annotation_from_dict(json.loads(text), f"the annotation in {path}")
    )
