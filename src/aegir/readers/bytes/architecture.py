"""The architecture as data: how stages nest, their widths, how much of a table is read.

    layout = ["w1", ["w3"], "w1"]    one RWKV-7 block over bytes, three over chunks, one over bytes again
    layout = ["w1", ["w1", ["w2"], "w0"], "w1"]    two levels of chunking

A stage is either `["wN"]`, the innermost, or `["wN", stage, "wM"]`: N blocks, a stage over the chunks of their
output, M blocks. `widths` gives one width per level, outermost first. An `Architecture` is all that is needed to
rebuild a network from its weights; numpy and torch use the same object.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from aegir_rl.base.errors import UsageError

StateShape = tuple[int, int, int]
"""Heads, keys per head, values per head: the shape (H, K, V) of a block's matrix state."""
_BLOCKS = re.compile(r"w(\d{1,2})")
_EXAMPLE = '["w1", ["w3"], "w1"]'
MOST_LEVELS = 8
LIMITS = {
    "head_size": (1, 1024),
    "hidden_ratio": (1, 64),
    "rank": (1, 1024),
    "gram_rows": (0, 1 << 24),
    "first": (0, 1024),
    "table_blocks": (0, 99),
    "width": (1, 1 << 14),
    "cells": (1, 1 << 12),
    "cell_bytes": (1, 1 << 16),
    "header_bytes": (1, 1 << 16),
    "context_bytes": (1, 1 << 24),
}
"""The least and the most of every size. A file of weights may state any: these are checked before anything is made of them."""


@dataclass(frozen=True, slots=True)
class StageLayout:
    """The blocks of one level, and the stage between them that runs over chunks."""

    width: int
    encoder: int
    """Blocks before chunking; all of them in the innermost stage."""
    inner: "StageLayout | None" = None
    decoder: int = 0
    """Blocks after the chunks have been spread back."""

    def levels(self) -> "Iterator[StageLayout]":
        """Yield this stage, then the stages inside it."""
        yield self
        if self.inner is not None:
            yield from self.inner.levels()

    def block_widths(self) -> list[int]:
        """Return the width of every block: encoder, inner stage, decoder."""
        inside = self.inner.block_widths() if self.inner else []
        return [*[self.width] * self.encoder, *inside, *[self.width] * self.decoder]


@dataclass(frozen=True, slots=True)
class Reading:
    """How much of a column and of a table is read."""

    cells: int = 8
    cell_bytes: int = 72
    header_bytes: int = 32
    context_bytes: int = 6144
    """Bytes of a table that are read together; wider tables are read in parts chosen by relevance."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """Everything that fixes the shapes of the weights."""

    layout: Any = field(default_factory=lambda: ["w1", ["w2"], "w0"])
    widths: tuple[int, ...] = (64, 160)
    head_size: int = 32
    """Width of a head's keys and values; every width is a multiple of it."""
    hidden_ratio: int = 3
    """Width of channel mixing's hidden layer, as a multiple of the stage's width."""
    rank: int = 16
    """Rank of the low-rank maps to decay, learning rate, value mix and gate."""
    gram_rows: int = 0
    """Stored rows of the hashed n-gram embedding; 0 leaves it out."""
    first: int = 0
    """Width of the hidden layer that reads what the first layer says; 0 reads without it."""
    column_width: int = 192
    table_blocks: int = 1
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        _ = self.stage  # raises for a layout that cannot be built
        own = ("head_size", "hidden_ratio", "rank", "gram_rows", "first", "table_blocks")
        for name, size in (
            *((each, getattr(self, each)) for each in own),
            *asdict(self.reading).items(),
        ):
            _check_size(name, size, name)
        for width in (*self.widths, self.column_width):
            _check_size("a width", width, "width")
            if width % self.head_size:
                raise UsageError(
                    f"width {width} is not a multiple of head_size {self.head_size}; "
                    f"try {-(-width // self.head_size) * self.head_size}"
                )

    @property
    def stage(self) -> StageLayout:
        """The outermost stage."""
        levels = _depth(self.layout)
        if len(self.widths) != levels:
            raise UsageError(
                f"layout {self.layout} has {levels} levels but there are {len(self.widths)} widths; "
                "give one width per level, outermost first"
            )
        return _parse(self.layout, self.widths)

    @property
    def pooled_width(self) -> int:
        """The width of a column's pooled vector: mean and maximum at every level."""
        return 2 * sum(self.widths)

    @property
    def state_shapes(self) -> tuple[StateShape, ...]:
        """The shape of every block's matrix state: outermost encoder first, outermost decoder last."""
        return tuple(
            (width // self.head_size, self.head_size, self.head_size)
            for width in self.stage.block_widths()
        )

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object that `from_dict` reads."""
        return asdict(self) | {"widths": list(self.widths)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Architecture":
        """Read what `as_dict` wrote; settings that are absent keep their defaults."""
        _check_keys(data, cls, "architecture")
        settings = dict(data)
        if "widths" in settings:
            if not isinstance(settings["widths"], list | tuple):
                raise UsageError(f"widths are {settings['widths']!r}; expected a list of numbers")
            settings["widths"] = tuple(settings["widths"])
        if "reading" in settings:
            _check_keys(settings["reading"], Reading, "architecture.reading")
            settings["reading"] = Reading(**settings["reading"])
        return cls(**settings)


def _check_keys(data: Any, kind: type, where: str) -> None:
    names = [field.name for field in fields(kind)]
    if not isinstance(data, Mapping):
        raise UsageError(f"{where} is {data!r}; expected settings among {', '.join(names)}")
    for key in data:
        if key not in names:
            raise UsageError(f"{where} has no setting {key!r}; expected {', '.join(names)}")


def _check_size(name: str, value: Any, limits: str) -> None:
    low, high = LIMITS[limits]
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UsageError(f"{name} is {value!r}; expected a whole number from {low} to {high}")


def _depth(layout: Any) -> int:
    levels = 1
    while isinstance(layout, list | tuple) and len(layout) == 3:
        layout, levels = layout[1], levels + 1
        if levels > MOST_LEVELS:
            raise UsageError(f"the layout has more than {MOST_LEVELS} levels")
    return levels


def _parse(layout: Any, widths: tuple[int, ...]) -> StageLayout:
    if isinstance(layout, list | tuple) and len(layout) == 1:
        return StageLayout(widths[0], _blocks(layout[0]))
    if isinstance(layout, list | tuple) and len(layout) == 3:
        inner = _parse(layout[1], widths[1:])
        return StageLayout(widths[0], _blocks(layout[0]), inner, _blocks(layout[2]))
    raise UsageError(f"layout {layout!r} is not valid; expected stages such as {_EXAMPLE}")


def _blocks(word: Any) -> int:
    match = _BLOCKS.fullmatch(word) if isinstance(word, str) else None
    if not match:
        raise UsageError(f"{word!r} is no number of blocks; expected w0 to w99, as in {_EXAMPLE}")
    return int(match[1])
