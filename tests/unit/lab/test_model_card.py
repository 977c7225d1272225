"""The model card says what the shipped weights know of themselves."""

import json
from dataclasses import replace
from pathlib import Path

from aegir.lab.calibrate import calibrate_folds
from aegir.lab.data.sources import read_training_tables
from aegir.lab.model_card import card, shipped_card
from aegir.readers.bytes.annotator import load_byte_model
from byte_models import annotating_checkpoint
from held_out_answers import write_answers
from ngram_models import random_model
from synthetic_labels import write_everyday_tables, write_synthetic_tables

PAGE = Path(__file__).parents[3] / "docs" / "model-card.md"


def test_the_page_is_that_of_the_weights_that_ship():
    advice = "write it again: python -m aegir.lab.model_card > docs/model-card.md"
    assert PAGE.read_text(encoding="utf-8") == shipped_card(), advice


def test_a_card_is_written_from_what_training_and_calibration_know(tmp_path: Path):
    data = [
        write_synthetic_tables(tmp_path / "made_up_val.jsonl", 12, seed=1),
        write_everyday_tables(tmp_path, 8),
    ]
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    calibrate_folds(runs, data, ngrams, tmp_path / "calibration.json")
    training = {"steps": 7, "tables": 1234, "seed": 0, "sources": {"gold": True, "pseudo": False}}
    facts = json.loads((tmp_path / "calibration.json").read_text())
    facts |= {"training": training, "liveness": {"boundaries/0": 0.25}}
    model = replace(random_model(), facts={"training": {"tables": 5678}})
    page = card(model, annotating_checkpoint(facts), [1_500_000, 2_500_000])
    for part in (
        "`ngrams.safetensors`, 1.5 MB",
        "`bytes.safetensors`, 2.5 MB",
        "5,678 labelled tables",
        "7 steps over 1,234 tables with seed 0; its sources: `gold`",
        "| combined/cta | 36 | ",
        "| byte_model/cpa | 24 | ",
        "48 columns of 16 tables",
        "| leading type right, none included | ",
        "boundaries/0 0.250",
        "the 25 worst of 6",
        "| email | ",
    ):
        assert part in page, part
    assert "@open" not in page


def test_the_shipped_network_is_alive():
    facts = load_byte_model().model.facts
    assert facts["liveness"]["representation/effective_rank"] >= 20
    assert (
        facts["liveness"]["prediction/overrated"] <= 2
    )  # most columns of many tables have no type
    assert 0.1 <= facts["liveness"]["boundaries/0"] <= 0.6


def test_the_card_says_where_it_fails():
    page = shipped_card()
    for part in ("82 column types", "everyday tables", "personal data: recall", "| category |"):
        assert part in page
