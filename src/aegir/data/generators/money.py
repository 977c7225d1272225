"""Currencies, prices, price ranges and pay.

Names of currencies come from CLDR (babel); everything else is notation: which sign, which comma, per hour or year.
"""

from functools import lru_cache
from random import Random

from aegir.data.generators.cells import (
    Cell,
    choose,
    mixture,
    one_of,
    options,
    templates,
)

_COMMON = {
    "USD": 8,
    "EUR": 8,
    "GBP": 4,
    "CAD": 2,
    "AUD": 2,
    "CHF": 1,
    "SEK": 1,
    "NOK": 1,
    "DKK": 1,
    "PLN": 1.5,
    "CZK": 1,
    "HUF": 1,
    "RON": 1,
    "BGN": 0.7,
    "UAH": 1,
    "RUB": 1,
    "TRY": 1,
    "INR": 1.5,
    "JPY": 1,
    "CNY": 1,
    "BRL": 1,
    "MXN": 1,
    "ZAR": 1,
    "NZD": 1,
    "SGD": 0.7,
    "HKD": 0.5,
    "KRW": 0.5,
    "IDR": 0.5,
    "THB": 0.5,
    "ILS": 0.5,
    "AED": 0.4,
    "SAR": 0.3,
    "ARS": 0.4,
    "CLP": 0.4,
    "COP": 0.4,
    "PHP": 0.4,
    "MYR": 0.4,
    "VND": 0.3,
    "PKR": 0.3,
}
_SIGNS = ("$", "$", "$", "€", "£", "₹", "¥", "kr", "zł", "CHF ", "R$", "A$")


def _currency_codes(random: Random) -> Cell:
    main = choose(random, _COMMON)
    others = [main] * random.choice([1, 4, 9]) + [choose(random, _COMMON)]
    several = random.random() < 0.15
    return lambda: " ".join([random.choice(others)] * (random.randint(1, 4) if several else 1))


@lru_cache(maxsize=8)
def _currency_names(locale: str) -> tuple[str, ...]:
    from babel.numbers import get_currency_name

    return tuple(str(get_currency_name(code, locale=locale)) for code in _COMMON)


def _currencies_in_words(random: Random) -> Cell:
    names = _currency_names(random.choice(["en", "de", "fr", "es"]))
    used = random.sample(names, random.randint(1, 3))
    return lambda: random.choice(used)


currency = mixture(
    {
        _currency_codes: 0.9,
        one_of(["$", "€", "£", "USD", "EUR", "US$", "руб."], 1, 2): 0.06,
        _currencies_in_words: 0.04,
    }
)


def price(random: Random) -> Cell:
    """Bare amounts with one way of writing the fraction; sometimes with a sign or several per cell."""
    scale = random.choice([5, 20, 80, 300, 2000, 30000])
    ending = random.choice([None, None, ".99", ".95", ".00", ".50"])
    comma, sign = random.random() < 0.15, random.choice(_SIGNS) if random.random() < 0.18 else ""
    whole, several = random.random() < 0.3, random.random() < 0.06

    def one() -> str:
        amount = random.lognormvariate(0, 0.7) * scale
        text = f"{amount:.0f}" if whole else f"{int(amount)}{ending}" if ending else f"{amount:.2f}"
        return sign + (text.replace(".", ",") if comma else text)

    return lambda: " ".join(one() for _ in range(random.randint(1, 4) if several else 1))


def _price_bounds(random: Random) -> Cell:
    sign, dash = random.choice(_SIGNS), random.choice(["-", " - ", " – ", " to "])
    after, cents = random.random() < 0.2, random.random() < 0.2
    scale = random.choice([10, 50, 100, 1000])

    def cell() -> str:
        low = random.randint(1, 9) * scale // random.choice([1, 2, 10])
        pair = [low, low + random.randint(1, 9) * scale]
        texts = [f"{number:,.2f}" if cents else f"{number:,}" for number in pair]
        return dash.join(f"{text}{sign.strip()}" if after else f"{sign}{text}" for text in texts)

    return cell


price_range = mixture(
    {
        one_of(["$", "$$", "$$$", "$$$$"], 1, 3): 0.5,
        one_of(["€", "€€", "€€€"], 1, 3): 0.08,
        one_of(["££", "£££", "£"], 1, 2): 0.04,
        _price_bounds: 0.33,
        one_of(
            options("Moderate|Cheap|Expensive|Inexpensive|Negotiable|Affordable|Free|0"),
            1,
            2,
        ): 0.05,
    }
)


def _fill_pay(random: Random, template: str) -> str:
    low = random.randint(16, 90)
    rate = random.choice([8.72, 9.5, 10.0, 12.5, 13.0, 15.0, 16.35, 18.0, 21.25, 30.0])
    return template.format(
        k=low, K=low + random.randint(2, 20), a=low * 1000, b=(low + random.randint(2, 30)) * 1000, r=rate,
        R=rate + random.randint(1, 9), s=random.choice("$£€"),
    )  # fmt: skip


pay = mixture(
    {
        templates(
            {
                "{a}": 2, "{a} {b} YEAR": 1.5, "{r:.2f} HOUR": 2, "{r:.2f} {R:.2f} HOUR": 2, "{a} YEAR": 1,
                "{s}{k}k - {K}k per year": 1, "{s}{a:,} - {s}{b:,}": 1.5, "{s}{r:.2f} per hour": 1.5, "{s}{k}k": 0.5,
                "{s}{r:.2f} - {s}{R:.2f} per hour": 1, "{s}{a:,} per annum": 1, "{s}{a:,} - {s}{b:,} a year": 1,
                "{a}-{b}": 0.7, "{s}{a:,}/year": 0.6, "{s}{r:.2f}/hr": 0.6, "Up to {s}{a:,}": 0.7, "{a} MONTH": 0.4,
                "{a:,} - {b:,} EUR": 0.5, "{r:.0f} {R:.0f} HOUR": 0.7, "{s}{a:,} + bonus": 0.5, "USD {a}": 0.3,
            },
            _fill_pay,
        ): 0.85,
        one_of(
            ["Competitive", "Competitive Salary", "DOE", "Negotiable", "Depends on experience", "Not disclosed", "Attractive", "nach Vereinbarung", "Market rate", "Competitive + benefits", "unavailable"], 1, 3,
        ): 0.15,
    }
)  # fmt: skip
