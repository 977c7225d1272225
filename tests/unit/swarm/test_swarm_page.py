"""docs/swarm.md and docs/parl.md: their code runs, their names are those of the code."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from aegir.readers.bytes.checkpoint import save_checkpoint
from byte_models import random_checkpoint
from swarm_folders import LAYOUT, OTHER_LAYOUT

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "swarm.md").read_text(encoding="utf-8")


def test_the_code_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_checkpoint(tmp_path / "bytes.safetensors", random_checkpoint(LAYOUT))
    save_checkpoint(tmp_path / "trained-on-places.safetensors", random_checkpoint(OTHER_LAYOUT, 1))
    shutil.copy(ROOT / "examples" / "books.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    training = (ROOT / "docs" / "parl.md").read_text(encoding="utf-8")
    section = training.split("## By hand, in torch")[1].split("\n## ")[0]
    blocks = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    torch.manual_seed(0)
    page: dict[str, Any] = {}
    exec("\n".join(blocks), page)
    assert 0 < int(page["result"]["activation_mask"].sum()) <= 4
    assert np.isfinite(page["vectors"]).all()
    assert page["vectors"].shape == tuple(page["alone"].shape)
    assert page["names"] == ["specialist-1", "specialist-2", "geo"]


def test_every_file_of_the_package_is_on_its_page() -> None:
    files = {path.name for path in (ROOT / "src" / "aegir" / "swarm").rglob("[a-z]*.py")}
    assert [name for name in sorted(files) if f"`{name}`" not in PAGE] == []


def test_every_name_in_the_table_of_equations_is_one_of_the_code() -> None:
    table = PAGE.split("## Equations")[1].split("**Three channels.**")[0]
    folders = [
        ROOT / "src" / "aegir" / name for name in ("swarm", "readers/swarm", "readers/bytes")
    ]
    code = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    for name in re.findall(r"`([^`]+)`", table):
        assert re.search(rf"\b{re.escape(name.split('.')[-1])}\b", code), name
