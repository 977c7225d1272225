"""docs/model.md: its code runs, its numbers are those of the code."""

import math
import re
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, expected_shapes, save_checkpoint
from aegir.readers.bytes.hierarchy import ReaderState
from byte_models import LAYOUTS, random_checkpoint

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
CONFIG = tomllib.loads((ROOT / "configs" / "bytes.toml").read_text(encoding="utf-8"))
SHIPPED = Architecture.from_dict(CONFIG["architecture"])
PARTS = {
    "n-gram rows": "reader.embedding.grams",
    "stage over chunks": "reader.stage.inner",
    "stage over bytes": "reader.stage",
    "symbols and pooling": "reader",
    "table mixer": "mixer",
    "beginning with the first layer": "first",
    "heads, subject, next symbol": "",
}


def test_the_code_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path / "bytes.safetensors", random_checkpoint(LAYOUTS["one level"]))
    shutil.copy(ROOT / "examples" / "books.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    page: dict[str, object] = {}
    exec("\n".join(blocks), page)
    assert len(page["types"]) == len(page["columns"]) > 3


def test_parameters_are_counted_right() -> None:
    counts = dict.fromkeys(PARTS, 0)
    for name, shape in expected_shapes(SHIPPED).items():
        part = next(part for part, prefix in PARTS.items() if name.startswith(prefix))
        counts[part] += math.prod(shape)
    counts["all"] = sum(counts.values())
    rows = re.findall(r"^\| ([a-z][^|]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
    assert {part: int(count.replace(",", "")) for part, count in rows} == counts


def test_the_sizes_of_the_file_and_of_the_state_are_right(tmp_path: Path) -> None:
    shapes = expected_shapes(SHIPPED)
    tensors = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    hashes = np.arange(SHIPPED.gram_rows, dtype=np.int32)
    save_checkpoint(tmp_path / "m", Checkpoint(SHIPPED, tensors | {GRAM_HASHES: hashes}, {}))
    assert f"it takes {(tmp_path / 'm').stat().st_size / 1e6:.1f} MB" in PAGE
    blocks = ReaderState.start(SHIPPED, 1).stage.blocks()
    size = sum(
        getattr(one, name).nbytes
        for one in blocks
        for name in ("time_shift", "matrix", "channel_shift")
    )
    assert f"{size:,} bytes of block" in PAGE.replace("\n", " ")


def test_every_file_of_the_package_is_on_the_page() -> None:
    files = {path.name for path in (ROOT / "src" / "aegir" / "readers" / "bytes").glob("[a-z]*.py")}
    assert all(f"`{name}`" in PAGE for name in files)


def test_every_name_on_the_page_is_one_of_the_code() -> None:
    table = PAGE.split("## Equations and names")[1].split("## Layouts")[0]
    sources = [
        path.read_text() for path in (ROOT / "src" / "aegir" / "readers" / "bytes").glob("*.py")
    ]
    tensors = [*expected_shapes(LAYOUTS["no chunking"]), *expected_shapes(SHIPPED), GRAM_HASHES]
    for name in re.findall(r"`([^`]+)`", table):
        last = name.split(".")[-1].rstrip("*").rstrip("_")
        code = any(re.search(rf"\b{re.escape(last or name.split('.')[-2])}\b", s) for s in sources)
        known = any(name.rstrip("*.").strip("_.") in tensor for tensor in tensors)
        assert code or known, name
