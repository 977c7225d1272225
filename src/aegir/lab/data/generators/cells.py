"""How columns are made up: a style is chosen once per column, then cells are drawn in that style.

    generator = one_of(["a", "b", "c"])
    cell = generator(random)      # this column's style: which members it uses, how it writes them
    [cell() for _ in range(5)]    # its cells

Real columns are consistent (one site, one template) while columns differ wildly from each other; drawing a style
first imitates that. All randomness comes from the `random` passed in. Lists of texts are in choices.tsv, and kinds of columns
that are made of such lists in mixtures.tsv, which `listed_mixture` reads: a line per form, with its weight and options.

Members of Schema.org's and GoodRelations' closed lists are written as publishers write them, as URLs, bare or in words; the
shares imitate what web tables show (nearly every event is scheduled, most goods are new and in stock).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

Cell = Callable[[], str]
"""Makes the next cell of one column."""
Generator = Callable[[Random], Cell]
"""Chooses a column's style and returns its cell maker."""


CASINGS: tuple[Callable[[str], str], ...] = (str, str, str, str.upper)
"""Most columns keep the usual case; some are in capitals."""
WORD_CASINGS: tuple[Callable[[str], str], ...] = (str, str, str.lower, str.capitalize)


@cache
def _choices() -> dict[str, list[tuple[str, float]]]:
    lists: dict[str, list[tuple[str, float]]] = {}
    for _, (name, weight, texts) in read_tsv(
        Path(__file__).parent / "choices.tsv", "list weight texts"
    ):
        lists.setdefault(name, []).extend((text, float(weight)) for text in texts.split("|"))
    return lists


def listed(name: str) -> tuple[str, ...]:
    """Return the texts of a list in choices.tsv; some occur several times."""
    return tuple(text for text, _ in _choices()[name])


def weighted(name: str) -> dict[str, float]:
    """Return the texts of a list in choices.tsv, each with its weight."""
    return dict(_choices()[name])


def choose(random: Random, texts: str | Mapping[str, float]) -> str:
    """Return one of the texts (or of the list of that name), by weight."""
    weights = weighted(texts) if isinstance(texts, str) else texts
    return random.choices(list(weights), list(weights.values()))[0]


def one_of(texts: str | Sequence[str], fewest: int = 1, most: int = 6) -> Generator:
    """Columns that use a few of the texts (or of the list of that name), each as it is."""
    values = listed(texts) if isinstance(texts, str) else texts

    def generator(random: Random) -> Cell:
        used = random.sample(values, min(len(values), random.randint(fewest, most)))
        return lambda: random.choice(used)

    return generator


def lists_of(texts: str | Sequence[str], fewest: int, most: int) -> Generator:
    """Columns whose cells list several of the texts (or of the list of that name), joined the same way."""
    values = listed(texts) if isinstance(texts, str) else texts

    def generator(random: Random) -> Cell:
        joint = random.choice([" ", " ", ", ", ",", "; "])
        pool = random.sample(values, min(len(values), most + random.randint(2, 8)))
        low = random.randint(fewest, most)

        def cell() -> str:
            count = min(len(pool), random.randint(low, most))
            return joint.join(random.sample(pool, count))

        return cell

    return generator


def mixture(parts: Mapping[Generator, float]) -> Generator:
    """Each column is one of several kinds, by weight."""
    kinds, weights = list(parts), list(parts.values())
    return lambda random: random.choices(kinds, weights)[0](random)


def templates(texts: str | Mapping[str, float], fill: Callable[[Random, str], str]) -> Generator:
    """Each column keeps one of the templates (or of the list of that name) and fills it anew for every cell."""
    parts = weighted(texts) if isinstance(texts, str) else texts

    def generator(random: Random) -> Cell:
        template = choose(random, parts)
        return lambda: fill(random, template)

    return generator


def repeated(generator: Generator, share: float = 0.12) -> Generator:
    """Some columns repeat a value two or three times per cell, as flattened markup does."""

    def doubling(random: Random) -> Cell:
        cell = generator(random)
        if random.random() >= share:
            return cell
        return lambda: " ".join([cell()] * random.randint(1, 3))

    return doubling


def members(
    names: str,
    prefixes: str = "schema.org",
    several: float = 0.0,
    words: float = 0.1,
) -> Generator:
    """Columns of the members of a closed list, with one of some prefixes; `several` and `words` are shares of columns."""
    weights, of_prefix = weighted(names), weighted(f"{prefixes} prefixes")

    def generator(random: Random) -> Cell:
        in_words = random.random() < words
        prefix = "" if in_words else choose(random, of_prefix)
        listing = random.random() < several
        casing = random.choice(WORD_CASINGS) if in_words else str
        used = dict(random.sample(list(weights.items()), random.randint(1, len(weights))))
        used[max(weights, key=lambda name: weights[name])] = max(weights.values())

        def written(member: str) -> str:
            return prefix + (casing(spaced(member)) if in_words else member)

        def cell() -> str:
            count = random.randint(1, min(4, len(used))) if listing else 1
            drawn = dict.fromkeys(choose(random, used) for _ in range(count))  # in the order drawn
            return " ".join(map(written, sorted(drawn, key=lambda _: random.random())))

        return cell

    return generator


_FORMS: dict[str, Callable[..., Generator]] = {
    "one_of": one_of,
    "lists_of": lists_of,
    "members": members,
}


def _options(text: str) -> dict[str, Any]:
    """Return the options `fewest=1 words=0.1 prefixes=NAME` of a line."""
    pairs = (option.split("=") for option in text.split())
    return {
        key: value if key == "prefixes" else float(value) if "." in value else int(value)
        for key, value in pairs
    }


def listed_mixture(name: str, fill: Callable[[Random, str], str] | None = None) -> Generator:
    """Return the kind of column of this name in mixtures.tsv; `fill` fills in its templates."""
    parts: dict[Generator, float] = {}
    share = 0.0
    for where, (column, weight, form, texts, options) in read_tsv(
        Path(__file__).parent / "mixtures.tsv", "column weight form list options"
    ):
        if column != name:
            continue
        if form == "repeated":
            share = float(weight)
        elif form == "templates":
            assert fill is not None, f"{where}: templates need a function that fills them in"
            parts[templates(texts, fill)] = float(weight)
        else:
            parts[_FORMS[form](texts, **_options(options))] = float(weight)
    if not parts:
        raise AegirError(f"mixtures.tsv has no column {name!r}")
    made = mixture(parts) if len(parts) > 1 else next(iter(parts))
    return repeated(made, share) if share else made


_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def spaced(member: str) -> str:
    """Return `InStock` as `In Stock`."""
    return _INNER_CAPITAL.sub(" ", member)
