"""Write the manifests of the specialists that ship: sizes, hashes, cost per byte, scores per kind.

    python -m benchmarks.build_pool_manifests DATA

Run it after the weights in src/aegir/readers/weights/swarm have changed. Scores are on tables that the specialists were not
trained on, because their configurations keep validation tables out: all of sotab_cta_val.jsonl, and every fourth
table of open/tables.jsonl.gz, below DATA. Costs are CPU times of the machine it runs on.
"""

import datetime
import sys
from pathlib import Path

from aegir.readers.swarm.annotator import SHIPPED
from aegir.readers.swarm.network import ENDING, PRIMARY_NAME, SWARM_NAME
from aegir.readers.swarm.pool.entry import PoolEntry, save_entry
from aegir.readers.swarm.pool.loading import load_weights
from aegir.readers.swarm.pool.measuring import measure_cost, measure_kinds
from aegir.tables.labelled import read_labelled_tables

EVERYDAY_STEP = 4


def main(data: Path) -> None:
    """Write one manifest per specialist, and print what was measured."""
    tables = [
        *read_labelled_tables(data / "sotab_cta_val.jsonl"),
        *list(read_labelled_tables(data / "open" / "tables.jsonl.gz"))[::EVERYDAY_STEP],
    ]
    for file in sorted(SHIPPED.glob(f"*{ENDING}")):
        if file.name in (PRIMARY_NAME, SWARM_NAME):
            continue
        loaded = load_weights(file)
        entry = PoolEntry(
            name=loaded.name,
            domain=loaded.domain,
            family=loaded.family,
            file=file,
            weights_sha256=loaded.weights_sha256,
            file_sha256=loaded.file_sha256,
            size=loaded.size,
            memory=loaded.memory,
            cost_per_byte=round(measure_cost(loaded.model)),
            scores=measure_kinds(loaded.model, tables),
            origin="shipped",
            added=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        print(save_entry(entry), f"{entry.cost_per_byte:,.0f} ns per byte")
        for kind, score in entry.scores.items():
            right = "-" if score.type_right is None else f"{score.type_right:.3f}"
            print(
                f"  {kind:<14}{score.columns:>6} columns  type right {right}  none {score.none_share:.3f}"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
