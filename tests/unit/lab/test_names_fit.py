"""Names alone are read with weights fitted on tables whose values were removed."""

import json
from pathlib import Path

import pytest

from aegir.lab import names_fit
from aegir.readers.ngrams.model import NgramModel
from ngram_models import random_model


def labelled_file(path: Path, groups: int) -> Path:
    """Tables of two columns, each in a group of its own."""
    lines = []
    for number in range(groups):
        named = [("price", "price", "item_price", False), ("email", "email", "email_address", True)]
        columns = [
            {
                "name": header,
                "values": [f"{number}{header}{row}" for row in range(5)],
                "types": [type_name],
                "fine": [fine],
                "relation": [],
                "personal": personal,
            }
            for header, type_name, fine, personal in named
        ]
        lines.append(json.dumps({"id": f"t{number}", "group": f"g{number}", "columns": columns}))
    path.write_text("\n".join(lines))
    return path


def test_none_is_right_where_it_is_acceptable_beside_names():
    found = names_fit._accepted([("b", None), ("a", "b"), (), None], ("a", "b"))
    assert found.astype(int).tolist() == [[0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_the_weights_file_gets_weights_for_names_and_cross_fitted_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    random_model(0).save(tmp_path / "old.safetensors")
    tables = labelled_file(tmp_path / "tables.jsonl", 12)
    known = labelled_file(tmp_path / "known.jsonl", 2)
    out = tmp_path / "new.safetensors"
    monkeypatch.setattr(
        "sys.argv",
        [
            "names_fit",
            str(tmp_path / "old.safetensors"),
            str(tables),
            "--known",
            str(known),
            "--out",
            str(out),
        ],
    )
    names_fit.main()
    old, new = NgramModel.load(tmp_path / "old.safetensors"), NgramModel.load(out)
    assert new.calibration.mixing == old.calibration.mixing
    assert new.calibration.names != old.calibration.names
    figures = new.facts["names"]
    assert (
        figures["types/columns"] == 20
    )  # two columns of the ten tables that share no group with the known ones
    assert 0 <= figures["types/ece"] <= 1
    assert "fine/right" in capsys.readouterr().out
