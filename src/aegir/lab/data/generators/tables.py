"""Made-up tables: for each kind of page, a subject and some of the columns such pages have.

    LocalBusiness --> [name, telephone, streetAddress, postalCode, openingHours] x 5 rows, some cells missing

properties.tsv says how the columns of each property are made, pages.tsv which of them a kind of page has.
Every table has the origin `"source": "synthetic"` and a Source with `synthetic=True`. Columns of scarce types are
drawn more often, so that a few thousand tables hold every type here at least five hundred times.

Limits: made-up columns teach form, not world knowledge; long texts and famous titles are left to real tables.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random

from aegir.lab.data.generators.cells import Generator, listed_mixture
from aegir.lab.data.sources import Source, TrainingTable
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import read_tsv

SYNTHETIC = Source("synthetic", cta_weight=0.3, cpa_weight=0.3, synthetic=True)
TABLES = 10_000
"""With these, every type here has about five hundred made-up columns or more."""
ROWS = (3, 4, 5, 5, 5, 5, 5, 6, 8)
MISSING_COLUMNS, MISSING_CELLS = 0.25, 0.25
"""A quarter of the columns have gaps; in those, a quarter of the cells are missing."""
_RELATIONS = frozenset(RELATION_NAMES)
_NOTHING = ("", "", "", "N/A", "-", "NA")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How columns of one property are made, and what they are called."""

    type: str | None
    make: Generator
    constant: float = 0.15
    """Share of columns that repeat one value in every row."""
    weight: float = 1.0
    """How readily a table takes such a column: higher for what real tables have too few of."""


@dataclass(frozen=True, slots=True)
class Page:
    """A kind of page: what it names and what stands beside the name."""

    subject: Recipe
    properties: tuple[str, ...]
    weight: float


def _generator(name: str) -> Generator:
    """Return the generator that a file names: MODULE.FUNCTION, or a column of mixtures.tsv."""
    module, dot, function = name.partition(".")
    if not dot:
        return listed_mixture(name)
    generator: Generator = getattr(import_module(f"{__package__}.{module}"), function)
    return generator


_HERE = Path(__file__).parent
PROPERTIES: Mapping[str, Recipe] = {
    name: Recipe(kind, _generator(generator), float(constant), float(weight))
    for _, (name, kind, generator, constant, weight) in read_tsv(
        _HERE / "properties.tsv", "property type generator constant weight"
    )
}
"""Property names are our relations where we have them; others (baseSalary, video) only carry a type."""
PAGES: Mapping[str, Page] = {
    name: Page(
        Recipe(kind or None, _generator(generator), float(constant)),
        tuple(properties.split()),
        float(weight),
    )
    for _, (name, weight, kind, generator, constant, properties) in read_tsv(
        _HERE / "pages.tsv", "page weight type generator constant properties"
    )
}
"""A subject without a type is one that cannot be taught with made-up words."""


def synthetic_tables(count: int, seed: int) -> list[TrainingTable]:
    """Return `count` made-up tables; the first ones do not depend on the count."""
    kinds = list(PAGES)
    weights = [PAGES[kind].weight for kind in kinds]
    tables = []
    for number in range(count):
        random = Random(Seeds(seed).derive("synthetic", number))  # noqa: S311 (no secret)
        kind = random.choices(kinds, weights)[0]
        tables.append(TrainingTable(_table(kind, number, random), SYNTHETIC))
    return tables


def _table(kind: str, number: int, random: Random) -> LabelledTable:
    page = PAGES[kind]
    names = _properties(page, random)
    rows = random.choice(ROWS)
    recipes = [page.subject, *(PROPERTIES[name] for name in names)]
    columns = tuple(Column(None, _cells(recipe, rows, random)) for recipe in recipes)
    # Table names contain no site, so that no group of real tables takes them in.
    return LabelledTable(
        Table(f"synthetic/{kind}/{number}", columns, subject=0),
        (
            ColumnLabels.of(page.subject.type),
            *(
                ColumnLabels.of(PROPERTIES[name].type, name if name in _RELATIONS else None)
                for name in names
            ),
        ),
        {"source": "synthetic"},
    )


def _properties(page: Page, random: Random) -> list[str]:
    """Return some of the page's properties in random order, preferring those of scarce types."""
    count = min(len(page.properties), random.randint(3, 8))
    ranked = sorted(
        page.properties,
        key=lambda name: random.random() ** (1 / PROPERTIES[name].weight),
        reverse=True,
    )
    chosen = ranked[:count]
    random.shuffle(chosen)
    return chosen


def _cells(recipe: Recipe, rows: int, random: Random) -> tuple[str, ...]:
    cell = recipe.make(random)
    constant = random.random() < recipe.constant
    cells = [cell()] * rows if constant else [cell() for _ in range(rows)]
    if random.random() < MISSING_COLUMNS:
        nothing = random.choice(_NOTHING)
        cells = [nothing if random.random() < MISSING_CELLS else text for text in cells]
    return tuple(cells) if any(text.strip() for text in cells) else (cell(),) * rows
