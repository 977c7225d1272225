"""Summarising a column once: cleaning, counting, and the signature that gates the rules."""

from aegir.readers.rules.column_summary import (
    AT,
    DIGIT,
    LETTER,
    LONGEST_CELL,
    MAX_DISTINCT,
    NUMERIC,
    summarise_column,
)
from aegir.readers.rules.judge import rules_for
from aegir.readers.rules.rule import apply_rule
from aegir.tables.table import Column


def test_entities_are_decoded_and_spaces_trimmed() -> None:
    summary = summarise_column(Column(None, ("  ann&#64;example.org\u00a0",)))
    assert summary.values == ("ann@example.org",)


def test_a_huge_cell_is_cut() -> None:
    assert summarise_column(Column(None, ("x" * 100_000,))).longest == LONGEST_CELL


def test_values_are_counted_sorted_and_free_of_placeholders() -> None:
    summary = summarise_column(Column("n", ("b", "a", "b", "", "N/A", "nan")))
    assert (summary.values, summary.counts, summary.total) == (("a", "b"), (1, 2), 3)
    assert summary.repeats


def test_traits_say_which_characters_occur() -> None:
    assert (
        summarise_column(Column(None, ("12", "3.5"))).traits & (DIGIT | NUMERIC) == DIGIT | NUMERIC
    )
    assert not summarise_column(Column(None, ("12", "x"))).traits & NUMERIC
    assert summarise_column(Column(None, ("a@b",))).traits & (AT | LETTER) == AT | LETTER
    assert summarise_column(Column(None, ("٣",))).traits & DIGIT  # Arabic-Indic three


def test_many_distinct_values_are_thinned_evenly() -> None:
    summary = summarise_column(Column(None, tuple(f"{n:04d}" for n in range(1000))))
    assert len(summary.values) == MAX_DISTINCT
    assert summary.values[0] == "0000"
    assert summary.values[-1] == "0990"


def test_numbers_leave_out_what_is_not_plain() -> None:
    assert summarise_column(Column(None, ("1_000", "12", "-3.5", "1e3", "²", "inf"))).numbers == (
        -3.5,
        12,
        1000,
    )


def test_probes_are_spread_over_cells_not_over_distinct_values() -> None:
    frequent = summarise_column(Column(None, ("z", *(["a"] * 99))))
    assert frequent.probes == ("a",)
    every = summarise_column(Column(None, tuple(f"{number:03}" for number in range(100))))
    assert every.probes == tuple(f"{number:03}" for number in range(5, 100, 10))


def test_a_rule_that_fits_half_of_the_cells_is_not_given_up_early() -> None:
    mails = tuple(f"user{number}@example.org" for number in range(50))
    words = tuple(f"aa{number}" for number in range(50))  # sorted, they all come before the mails
    rule = next(
        rule
        for rule in rules_for(summarise_column(Column(None, mails)).traits)
        if rule.name == "email_address"
    )
    found = apply_rule(rule, summarise_column(Column(None, words + mails)))
    assert found is not None
    assert found.share == 0.5
    assert (
        apply_rule(
            rule, summarise_column(Column(None, tuple(f"aa{number}" for number in range(100))))
        )
        is None
    )
