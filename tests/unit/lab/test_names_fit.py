"""Names alone are read with weights fitted on tables whose values were removed."""

import json
from pathlib import Path

from aegir.lab.names_fit import _accepted, fit_names
from aegir.readers.calibration import NAMES
from aegir.readers.ngrams.annotator import NgramNetworks
from aegir.tables.labelled import read_labelled_tables
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
    found = _accepted([("b", None), ("a", "b"), (), None], ("a", "b"))
    assert found.astype(int).tolist() == [[0, 1, 1], [1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_weights_for_names_are_fitted_on_the_held_out_tables_of_every_fold(tmp_path: Path):
    model = random_model(0)
    networks = NgramNetworks(model.networks)
    tables = list(read_labelled_tables(labelled_file(tmp_path / "tables.jsonl", 10)))
    folds = [(networks, tables[:6]), (networks, tables[6:])]
    weights, figures = fit_names(folds, model.types_of_fine)
    assert weights != NAMES
    assert figures["types/columns"] == 20
    assert 0 <= figures["types/ece"] <= 1
    assert 0 <= figures["fine/right"] <= 1
