"""Logs in the formats of TensorBoard and W&B, read back by the packages themselves."""

import math
import struct

from installed import require_packages

require_packages("training_logs")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402
from wandb.proto.wandb_internal_pb2 import Record  # noqa: E402

from aegir_rl.health import HealthMonitor, measure_rewards  # noqa: E402
from aegir_rl.plugins.training_logs import TensorBoardLog, WandbLog  # noqa: E402


def test_tensorboard_reads_what_was_recorded(tmp_path):
    monitor = HealthMonitor()
    with TensorBoardLog(tmp_path) as log:
        for step in range(3):
            metrics = measure_rewards([0.0, 1.0, step])
            monitor.observe(step, metrics)
            log.record(step, {**metrics, **monitor.metrics(), "note": "no number", "bad": math.nan})
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(each.step, round(each.value, 4)) for each in read.Scalars("reward/mean")] == [
        (0, 0.3333),
        (1, 0.6667),
        (2, 1.0),
    ]
    assert [each.value for each in read.Scalars("health/checks")] == [1, 2, 3]
    assert math.isnan(read.Scalars("bad")[0].value)
    assert "note" not in read.Tags()["scalars"]


def records_of(file):
    """The records of a W&B file that fits into one block: a header, then checksum, length, kind and data of each."""
    content, at = file.read_bytes(), 7
    while at + 7 <= len(content):
        _, length, kind = struct.unpack("<IHB", content[at : at + 7])
        assert kind == 1  # whole, in one piece
        yield Record.FromString(content[at + 7 : at + 7 + length])
        at += 7 + length


def test_wandb_reads_what_was_recorded_offline(tmp_path):
    with WandbLog(tmp_path, project="aegir") as log:
        log.record(0, {"reward/mean": 0.25, "note": "no number"})
        log.record(1, {"reward/mean": 0.5})
    (file,) = tmp_path.rglob("*.wandb")
    seen = [
        (item.key or item.nested_key[0], float(item.value_json))
        for record in records_of(file)
        for item in record.history.item
    ]
    assert [value for name, value in seen if name == "reward/mean"] == [0.25, 0.5]
    assert "note" not in dict(seen)
