"""The model card says what the shipped weights know of themselves."""

from dataclasses import replace
from pathlib import Path

from aegir.annotators.byte_model import load_byte_model
from aegir.annotators.byte_model_card import card, shipped_card
from byte_models import LAYOUTS, random_checkpoint

PAGE = Path(__file__).parents[3] / "docs" / "model-card.md"


def test_the_page_is_that_of_the_weights_that_ship():
    advice = "write it again: python -m aegir.annotators.byte_model_card > docs/model-card.md"
    assert PAGE.read_text(encoding="utf-8") == shipped_card(), advice


def test_the_card_lists_the_heads_of_the_file_and_what_they_can_say():
    training = {"steps": 1, "tables": 2, "seed": 0, "sources": {"open": True}}
    every = replace(random_checkpoint(LAYOUTS["bare"]), facts={"training": training})
    page = card(every, 1000)
    assert "- 82 column types (CTA)" in page
    assert "spells them, or none of them" in page
    assert "- 331 fine types, for tables of any sort, or none of them" in page
    assert "- whether the column is personal data\n" in page
    assert "It knows 521 names" in page  # 82 + 108 + 331
    assert "Everyday tables" in page


def test_the_shipped_network_is_alive_and_reaches_what_was_asked():
    facts = load_byte_model().model.facts
    assert facts["liveness"]["representation/effective_rank"] >= 20
    assert facts["liveness"]["prediction/most_common_share"] <= 0.1
    assert 0.1 <= facts["liveness"]["boundaries/0"] <= 0.6
    assert facts["held_out"]["byte_model/cta"]["micro_f1"] >= 0.78
    assert facts["held_out"]["byte_model/cpa"]["micro_f1"] >= 0.78
    assert facts["held_out"]["combined/cta"]["micro_f1"] >= 0.83
    assert facts["held_out"]["combined/cpa"]["micro_f1"] >= 0.83
