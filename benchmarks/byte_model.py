"""How many five-value columns does the byte network read per CPU second, and is its cost linear in bytes?

The whole way from cells to logits of types and relations, 64 columns at a time: in numpy, as shipped, and in torch, as
trained, on one thread, with the same weights in the same run. Then the cost of a byte in columns of 256 and of 4,096
bytes. Where no weights have been shipped yet, random ones of the same shape are measured, and the data line says so.
"""

import random
import tomllib
from collections.abc import Callable, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import Symbols, encode_column, gram_hashes, pad
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, expected_shapes, load_checkpoint
from aegir.readers.bytes.network import ByteModel, ColumnReading
from aegir.readers.bytes.table_mixer import UNKNOWN
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.seeding import Seeds
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.recording import ROOT
from benchmarks.result import Measurement, Ratio, Result, at_least, at_most
from benchmarks.synthetic_tables import labelled_tables

QUESTION = "five-value columns typed and related per CPU second by the byte network, 64 at a time"
SPEED, COST, FACTOR = "columns per CPU second", "CPU ns per byte", "times"
BATCH = 64
SHORT, LONG, READ = 256, 4096, 16_384
"""Bytes of short and long columns, and how many are read of each."""
CONFIG = ROOT / "configs" / "bytes.toml"
"""What the weights that ship are trained with."""

Work = Callable[[Sequence[LabelledTable]], object]


def run(options: Options) -> Result:
    """Every repeat reads tables of its own."""
    tables, repeats = (20, 1) if options.quick else (120, options.repeats)
    seeds = Seeds(options.seed)
    checkpoint, weights = _weights(seeds.generator("weights"))
    model = ByteModel(checkpoint)
    warm_up, *measured = (
        labelled_tables(tables, random.Random(seeds.derive("byte_model", number)))
        for number in range(repeats + 1)
    )
    ours = _speed("numpy", lambda some: _answers(model, some), warm_up, measured)
    twin = [_speed("torch", _torch_answers(checkpoint), warm_up, measured)] if _has_torch() else []
    short, long = (_cost(model, length, seeds, repeats) for length in (SHORT, LONG))
    growth = Measurement(f"{LONG} bytes over {SHORT}", FACTOR, Runs((long.value / short.value,)))
    chunks = _chunk_share(model.read(_batches(model, warm_up)[0]))
    return Result(
        benchmark="byte_model",
        question=QUESTION,
        data=f"synthetic five-value columns without headers; {weights}",
        measurements=(ours, *twin, short, long, growth),
        ratios=tuple(Ratio(ours, one) for one in twin),
        targets=(at_least(ours, 300), at_most(growth, 1.3)),
        settings={"tables": tables, "batch": BATCH, "repeats": repeats, "chunks_per_byte": chunks},
        left_out=() if twin else ("the torch network: pip install 'aegir-tables[train]'",),
    )


def _weights(random: np.random.Generator) -> tuple[Checkpoint, str]:
    """The checkpoint that ships, or a random one of its shape, and which of the two it is."""
    shipped = Path(str(files("aegir.readers"))) / "weights" / "bytes.safetensors"
    if shipped.is_file():
        return load_checkpoint(shipped), "the weights that ship"
    settings = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    architecture = Architecture.from_dict(settings["architecture"])
    tensors: dict[str, Any] = {
        name: random.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(shape[0]))
        for name, shape in expected_shapes(architecture).items()
    }
    hashes = random.choice(1 << 20, architecture.gram_rows, replace=False).astype(np.int32)
    made = Checkpoint(architecture, tensors | {GRAM_HASHES: np.sort(hashes)}, {})
    return made, "random weights in the shape of configs/bytes.toml"


def _has_torch() -> bool:
    return all(find_spec(name) is not None for name in ("torch", "numba"))


def _speed(
    name: str, work: Work, warm_up: Sequence[LabelledTable], measured: Sequence[list[LabelledTable]]
) -> Measurement:
    work(warm_up)
    speeds = (
        sum(len(one.table.columns) for one in tables)
        / cpu_seconds(lambda tables=tables: work(tables))
        for tables in measured
    )
    return Measurement(name, SPEED, Runs(tuple(speeds)))


def _columns(model: ByteModel, tables: Sequence[LabelledTable]) -> list[Symbols]:
    reading = model.architecture.reading
    return [encode_column(column, reading) for one in tables for column in one.table.columns]


def _batches(model: ByteModel, tables: Sequence[LabelledTable]) -> list[Symbols]:
    columns = _columns(model, tables)
    return [pad(columns[at : at + BATCH])[0] for at in range(0, len(columns), BATCH)]


def _answers(model: ByteModel, tables: Sequence[LabelledTable]) -> object:
    read = [model.vectors(model.read(batch)) for batch in _batches(model, tables)]
    vectors = np.concatenate(read)
    counts = np.array([len(one.table.columns) for one in tables])
    embeddings = model.mix(vectors, np.full(len(vectors), UNKNOWN), counts)
    return model.types(embeddings), model.relations(embeddings)


def _torch_answers(checkpoint: Checkpoint) -> Work:
    """The same by the network that is trained, on one thread."""
    import torch

    from aegir.lab.nets.annotator import ByteNetwork, TableBatch

    torch.set_num_threads(1)
    model = ByteModel(checkpoint)  # for its way of encoding
    weights = {name: torch.tensor(one) for name, one in checkpoint.tensors.items()}
    hashes = weights.pop(GRAM_HASHES).numpy()
    classes = {name: len(weights[f"heads.{name}.weight"]) for name in checkpoint.heads}
    net = ByteNetwork(checkpoint.architecture, classes).eval()
    net.load_state_dict(weights)
    row_of_hash = np.full((1 << 20) + 1, len(hashes))
    row_of_hash[hashes] = np.arange(len(hashes))

    def read(symbols: Symbols) -> Any:
        rows = torch.from_numpy(row_of_hash[gram_hashes(symbols)])
        return net.reader.vectors(net.reader(torch.from_numpy(symbols).long(), rows))

    @torch.no_grad()
    def answers(tables: Sequence[LabelledTable]) -> object:
        vectors = torch.cat([read(batch) for batch in _batches(model, tables)])
        counts = torch.tensor([len(one.table.columns) for one in tables])
        mask = torch.arange(int(counts.max())) < counts[:, None]
        columns = torch.zeros(mask.shape, dtype=torch.long)
        columns[mask] = torch.arange(len(vectors))
        roles = torch.full(mask.shape, UNKNOWN)
        embeddings = net.mixer(vectors, TableBatch(columns, mask, roles))
        return net.heads["cta"](embeddings), net.heads["cpa"](embeddings)

    return answers


def _cost(model: ByteModel, length: int, seeds: Seeds, repeats: int) -> Measurement:
    """Reading so many bytes in columns of this length."""
    drawn = seeds.generator("bytes").integers(32, 127, (READ // length, length))
    symbols = drawn.astype(np.int16)
    model.read(symbols)
    runs = Runs(tuple(cpu_seconds(lambda: model.read(symbols)) for _ in range(repeats)))
    return Measurement(
        f"columns of {length} bytes", COST, Runs(tuple(1e9 * one / READ for one in runs.values))
    )


def _chunk_share(reading: ColumnReading) -> float:
    """Chunks per byte at the first level: the more there are, the more the inner stage has to do."""
    return round(float(reading.output.boundaries[0].is_boundary.mean()), 3)
