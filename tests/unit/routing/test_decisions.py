"""The routing table that ships, with and without a language model."""

from aegir.pipeline.plan import READERS
from aegir.routing.decisions import load_routing


def test_a_language_model_follows_the_reader_of_unsure_columns_in_the_table_that_ships():
    plain, with_llm = load_routing(None, READERS), load_routing(None, (*READERS, "llm"))
    assert with_llm.rules == plain.rules
    sure, unsure = (with_llm.role(rule) for rule in range(2))
    assert sure == plain.role(0)
    assert (unsure.chain, unsure.confidence) == (("combined", "llm"), 0.5)
    assert (with_llm.cost("llm"), plain.cost("llm")) == (5.0, 0.0)
    assert with_llm.cost("combined") == plain.cost("combined") == 0.25
