"""`aegir doctor`: what is installed, what is missing, and how to get it."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from aegir.pipeline import installation
from aegir.pipeline.installation import WEIGHTS, inspect_installation
from command_line import run


def by_part() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for each in inspect_installation():
        found.setdefault(each.part, {})[each.name] = each
    return found


def test_every_weights_file_is_shown_with_its_hash():
    shown = by_part()["weights"]
    content = (WEIGHTS / "ngrams.safetensors").read_bytes()
    assert hashlib.sha256(content).hexdigest() in shown["ngrams.safetensors"].sentence
    assert len(shown) == 1 + len(list(WEIGHTS.rglob("*.safetensors")))
    assert shown["dispatch"].works


def test_what_is_missing_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    assert by_part()["extra"]["avro"].sentence == "installed"
    monkeypatch.setattr(installation, "_is_installed", lambda name: name != "fastavro")
    found = by_part()
    assert found["extra"]["avro"].sentence == ("needs fastavro: pip install 'aegir-tables[avro]'")
    assert (found["format"]["Avro"].works, found["format"]["ORC"].works) == (False, True)
    assert found["format"]["Avro"].sentence == "needs the extra avro"
    assert not {"dev", "bench", "distil"} & set(found["extra"])


def test_places_are_shown_without_a_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("AEGIR_HOME", str(tmp_path))
    monkeypatch.delenv("AEGIR_MEMORY", raising=False)
    places = by_part()["place"]
    assert places["memory"].sentence == f"{tmp_path}/memory.db (nothing is remembered yet)"
    assert places["types"].sentence == f"{tmp_path}/types (0 taught types)"
    monkeypatch.setenv("AEGIR_MEMORY", "postgresql://user:secret@host/db")
    assert by_part()["place"]["memory"].sentence == "postgresql://… (there)"


def test_the_report_has_a_line_for_each_part_as_text_and_as_json():
    lines = [json.loads(line) for line in run("doctor", "--json").out.splitlines()]
    parts = list(dict.fromkeys(line["part"] for line in lines))
    assert parts == ["version", "weights", "extra", "format", "place", "engine", "sandbox"]
    assert len(run("doctor").out.splitlines()) == len(lines)
