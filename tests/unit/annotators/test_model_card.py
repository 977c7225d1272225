"""The model card says what the shipped weights know of themselves."""

from pathlib import Path

from aegir.annotators.byte_model import load_byte_model
from aegir.annotators.model_card import shipped_card

PAGE = Path(__file__).parents[3] / "docs" / "model-card.md"


def test_the_page_is_that_of_the_weights_that_ship():
    advice = "write it again: python -m aegir.annotators.model_card > docs/model-card.md"
    assert PAGE.read_text(encoding="utf-8") == shipped_card(), advice


def test_the_shipped_network_is_alive():
    facts = load_byte_model().model.facts
    assert facts["liveness"]["representation/effective_rank"] >= 20
    assert facts["liveness"]["prediction/most_common_share"] <= 0.3
    assert 0.1 <= facts["liveness"]["boundaries/0"] <= 0.6


def test_the_card_says_where_it_fails():
    page = shipped_card()
    for part in ("82 column types", "everyday tables", "personal data: recall", "| category |"):
        assert part in page
