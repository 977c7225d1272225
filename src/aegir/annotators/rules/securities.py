"""Securities and who issues them: ISIN, CUSIP, SEDOL, FIGI, LEI and tickers.

All but the ticker carry a check digit; the short ones pass by chance and ask for several values.
"""

from aegir.annotators.rules.checksums import shaped_and_checked
from aegir.annotators.rules.reading import DIGIT, SPACE, UPPER
from aegir.annotators.rules.rule import Rule
from aegir.annotators.rules.shapes import Shape

_LEI = Shape(r"[A-Z0-9]{18}\d{2}")
_ISIN = Shape(r"[A-Z]{2}[A-Z0-9]{9}\d")
_CUSIP = Shape(r"(?=.*\d)[0-9]{3}[A-Z0-9]{5}\d")
_SEDOL = Shape(r"[B-DF-HJ-NP-TV-Z0-9]{6}\d")
_FIGI = Shape(r"BBG[B-DF-HJ-NP-TV-Z0-9]{8}\d")
_TICKER = Shape(r"\$?[A-Z]{1,5}(?:[.:-][A-Z]{1,4})?")

RULES = (
    Rule(
        "lei",
        "legal entity identifiers",
        shaped_and_checked(_LEI.fullmatch, "lei"),
        sure=0.97,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=20,
        longest=20,
    ),
    Rule(
        "isin",
        "securities codes (ISIN)",
        shaped_and_checked(_ISIN.fullmatch, "isin"),
        sure=0.95,
        distinct=2,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=12,
        longest=12,
    ),
    Rule(
        "figi",
        "instrument codes (FIGI)",
        shaped_and_checked(_FIGI.fullmatch, "figi"),
        sure=0.95,
        needs=UPPER | DIGIT,
        bars=SPACE,
        shortest=12,
        longest=12,
    ),
    Rule(
        "cusip",
        "securities codes (CUSIP)",
        shaped_and_checked(_CUSIP.fullmatch, "cusip"),
        sure=0.85,
        distinct=5,
        shy=True,
        needs=DIGIT,
        bars=SPACE,
        shortest=9,
        longest=9,
    ),
    Rule(
        "sedol",
        "securities codes (SEDOL)",
        shaped_and_checked(_SEDOL.fullmatch, "gb.sedol"),
        sure=0.85,
        distinct=5,
        shy=True,
        needs=DIGIT | UPPER,
        bars=SPACE,
        shortest=7,
        longest=7,
    ),
    Rule(
        "ticker",
        "stock tickers",
        _TICKER.fullmatch,
        needs=UPPER,
        shortest=1,
        longest=10,
        bars=SPACE,
    ),
)
