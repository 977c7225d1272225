"""Numbers that registries assign: to securities, and by states to people, taxpayers and companies.

All but tickers and register entries have check digits or a published format. The formats of states are listed in
gazetteers/national_ids.tsv. A *strong* one has letters or separators, or a date and check digits, that chance does
not imitate; several distinct valid values name the fine type. A weak one (nine or eleven bare digits with one check
digit) needs a header that suggests identity, tax or social security. Short security codes match by chance as well
and need several values.
"""

import re

from aegir.readers.rules.gazetteers import read_table
from aegir.readers.rules.matching import Pattern, matched_and_checked
from aegir.readers.rules.reading import DIGIT, SPACE, UPPER
from aegir.readers.rules.rule import Rule

_A = re.ASCII
_LEI = Pattern(r"[A-Z0-9]{18}\d{2}")
_ISIN = Pattern(r"[A-Z]{2}[A-Z0-9]{9}\d")
_CUSIP = Pattern(r"(?=.*\d)[0-9]{3}[A-Z0-9]{5}\d")
_SEDOL = Pattern(r"[B-DF-HJ-NP-TV-Z0-9]{6}\d")
_FIGI = Pattern(r"BBG[B-DF-HJ-NP-TV-Z0-9]{8}\d")
_TICKER = Pattern(r"\$?[A-Z]{1,5}(?:[.:-][A-Z]{1,4})?")
_SSN = r"(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}"
_NINO = r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"
_NOUNS = {
    "national_id": "identity numbers",
    "tax_number": "tax numbers",
    "company_number": "company register numbers",
}


def _national_rule(fine_type: str, country: str, module: str, pattern: str, strong: str) -> Rule:
    """Return the rule for a line of national_ids.tsv; a format without a module has no check digits."""
    matches = Pattern(pattern, _A)
    return Rule(
        fine_type,
        f"{country} {_NOUNS[fine_type]}",
        matched_and_checked(matches, module) if module else matches.fullmatch,
        confidence=0.93 if strong == "yes" else 0.0,
        confidence_with_header=0.96,
        min_distinct=3,
        needs=DIGIT,
        length=(5, 24),
        max_values=20,
    )


RULES = (
    Rule(
        "lei",
        "legal entity identifiers",
        matched_and_checked(_LEI, "lei"),
        confidence=0.97,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(20, 20),
    ),
    Rule(
        "isin",
        "securities codes (ISIN)",
        matched_and_checked(_ISIN, "isin"),
        confidence=0.95,
        min_distinct=2,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(12, 12),
    ),
    Rule(
        "figi",
        "instrument codes (FIGI)",
        matched_and_checked(_FIGI, "figi"),
        confidence=0.95,
        needs=UPPER | DIGIT,
        excludes=SPACE,
        length=(12, 12),
    ),
    Rule(
        "cusip",
        "securities codes (CUSIP)",
        matched_and_checked(_CUSIP, "cusip"),
        confidence=0.85,
        min_distinct=5,
        weak=True,
        needs=DIGIT,
        excludes=SPACE,
        length=(9, 9),
    ),
    Rule(
        "sedol",
        "securities codes (SEDOL)",
        matched_and_checked(_SEDOL, "gb.sedol"),
        confidence=0.85,
        min_distinct=5,
        weak=True,
        needs=DIGIT | UPPER,
        excludes=SPACE,
        length=(7, 7),
    ),
    Rule("ticker", "stock tickers", _TICKER.fullmatch, needs=UPPER, length=(1, 10), excludes=SPACE),
    Rule(
        "us_ssn",
        "US social security numbers",
        Pattern(_SSN, _A).fullmatch,
        confidence=0.9,
        min_distinct=3,
        needs=DIGIT,
        length=(11, 11),
    ),
    Rule(
        "uk_nino",
        "UK national insurance numbers",
        Pattern(_NINO, _A).fullmatch,
        confidence=0.95,
        min_distinct=2,
        needs=DIGIT,
        length=(9, 13),
    ),
    *(
        _national_rule(*fields)
        for fields in read_table(
            "national_ids.tsv", "fine_type country stdnum_module pattern strong"
        )
    ),
)
