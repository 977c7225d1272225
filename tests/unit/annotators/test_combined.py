"""How rules and model are told apart in what the default annotator says."""

from aegir.annotators.combined import _explain
from aegir.annotators.rules.judge import Verdict
from aegir.annotators.scores import Explanation

LEARNT = Explanation(None, ("header points to price",))


def test_a_guess_that_the_rules_ruled_out_is_told() -> None:
    verdict = Verdict(vetoes=frozenset({"telephone"}), evidence=("4 of 4 values are numbers",))
    told = _explain(verdict, LEARNT, "telephone").evidence
    assert told == (
        "4 of 4 values are numbers",
        "the model's first guess, telephone, was ruled out",
    )


def test_a_guess_that_was_outweighed_is_told_apart() -> None:
    assert _explain(Verdict(), LEARNT, "Number").evidence == ("the model's first guess was Number",)


def test_where_both_agree_each_gives_its_reason() -> None:
    assert _explain(Verdict(evidence=("why",)), LEARNT, None).evidence == (
        "why",
        "header points to price",
    )
