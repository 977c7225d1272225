"""The name and shape of every weight that an architecture has: what a checkpoint must hold."""

from collections.abc import Iterable, Iterator

from aegir.model.architecture import Architecture, Stage
from aegir.model.byte_encoding import SYMBOLS
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

Shapes = dict[str, tuple[int, ...]]
CLASSES = {"cta": len(TYPE_NAMES), "cpa": len(RELATION_NAMES)}
"""Answers of the two heads that every model has."""


def expected_shapes(architecture: Architecture, classes: dict[str, int] | None = None) -> Shapes:
    """All names and shapes; `classes` gives the heads there are besides types and relations."""
    width, column = architecture.widths[0], architecture.column_width
    shapes = {
        "reader.embedding.symbols": (SYMBOLS, width),
        "reader.embedding.grams": (architecture.gram_rows + 1, width),
        "mixer.roles": (3, column),
        "next_symbol": (SYMBOLS,),
    }
    shapes |= _norm("reader.embedding.norm", width)
    shapes |= dict(_stage("reader.stage", architecture.stage, architecture))
    shapes |= _norm("reader.norm", architecture.pooled_width)
    shapes |= _linear("reader.column", architecture.pooled_width, column)
    for i in range(architecture.table_blocks):
        shapes |= dict(_block(f"mixer.blocks.{i}", column, i == 0, architecture))
    shapes |= _linear("mixer.hidden", 4 * column, 2 * column)
    shapes |= _linear("mixer.out", 2 * column, column)
    shapes |= _norm("mixer.norm", column)
    for name, count in {**(classes or {}), **CLASSES}.items():
        shapes |= _linear(f"heads.{name}", column, count)
    return shapes | _linear("subject", column, 1)


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


Named = Iterator[tuple[str, tuple[int, ...]]]


def _stage(name: str, stage: Stage, architecture: Architecture) -> Named:
    width = stage.width
    for part, count in (("encoder", stage.encoder), ("decoder", stage.decoder)):
        for i in range(count):
            yield from _block(f"{name}.{part}.{i}", width, i == 0, architecture)
    yield from _norm(f"{name}.norm", width).items()
    if stage.inner:
        yield from _each(f"{name}.router", ("query", "key"), (width, width))
        yield f"{name}.up", (width, stage.inner.width)
        yield f"{name}.down", (stage.inner.width, width)
        yield f"{name}.residual", (width, width)
        yield from _stage(f"{name}.inner", stage.inner, architecture)


def _block(name: str, width: int, first: bool, architecture: Architecture) -> Named:
    rank, hidden = architecture.rank, width * architecture.hidden_ratio
    low = ("decay", "rate") if first else ("decay", "rate", "value_mix")
    mix = f"{name}.time_mix"
    yield from _norm(f"{name}.norm1", width).items()
    yield from _norm(f"{name}.norm2", width).items()
    yield f"{mix}.mix", (4 + len(low), width)
    yield from _each(mix, ("receptance", "key", "value", "output"), (width, width))
    yield from _each(mix, [f"{one}_down" for one in (*low, "gate")], (width, rank))
    yield from _each(mix, [f"{one}_up" for one in (*low, "gate")], (rank, width))
    yield from _each(mix, [f"{one}_base" for one in low], (width,))
    heads = (width // architecture.head_size, architecture.head_size)
    per_head = ("key_scale", "key_rate", "bonus", "norm_weight", "norm_bias")
    yield from _each(mix, per_head, heads)
    yield f"{name}.channel_mix.mix", (width,)
    yield f"{name}.channel_mix.key", (width, hidden)
    yield f"{name}.channel_mix.value", (hidden, width)


def _each(prefix: str, names: Iterable[str], shape: tuple[int, ...]) -> Named:
    return ((f"{prefix}.{name}", shape) for name in names)
