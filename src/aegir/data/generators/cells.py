"""How a made-up column comes about: a style is picked once per column, then cells are drawn in that style.

    generator = one_of(["a", "b", "c"])
    cell = generator(random)      # this column's style: which members it uses, how it writes them
    [cell() for _ in range(5)]    # its cells

Real columns are consistent (one site, one template) while columns differ wildly from each other; drawing a style
first imitates that. All chance comes from the `random` handed in.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

Cell = Callable[[], str]
"""Makes the next cell of one column."""
Generator = Callable[[Random], Cell]
"""Picks a style and gives the column's cell maker."""


CASINGS: tuple[Callable[[str], str], ...] = (str, str, str, str.upper)
"""Most columns keep the usual letters; some shout."""


def options(text: str) -> tuple[str, ...]:
    """The options of a long list, written `one|two|three` to be read at a glance."""
    return tuple(text.split("|"))


def choose(random: Random, weighted: Mapping[str, float]) -> str:
    """One of the keys, by weight."""
    return random.choices(list(weighted), list(weighted.values()))[0]


def one_of(values: Sequence[str], fewest: int = 1, most: int = 6) -> Generator:
    """Columns that use a few of the values, each as it stands."""

    def generator(random: Random) -> Cell:
        used = random.sample(values, min(len(values), random.randint(fewest, most)))
        return lambda: random.choice(used)

    return generator


def lists_of(values: Sequence[str], fewest: int, most: int) -> Generator:
    """Columns whose cells list several of the values, joined the same way throughout."""

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


def templates(parts: Mapping[str, float], fill: Callable[[Random, str], str]) -> Generator:
    """Each column keeps one template and fills it anew for every cell."""

    def generator(random: Random) -> Cell:
        template = choose(random, parts)
        return lambda: fill(random, template)

    return generator


def repeated(generator: Generator, share: float = 0.12) -> Generator:
    """Some columns say a value two or three times per cell, as flattened markup does."""

    def doubling(random: Random) -> Cell:
        cell = generator(random)
        if random.random() >= share:
            return cell
        return lambda: " ".join([cell()] * random.randint(1, 3))

    return doubling


_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def spaced(member: str) -> str:
    """`InStock` as people write it: `In Stock`."""
    return _INNER_CAPITAL.sub(" ", member)
