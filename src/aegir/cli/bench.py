"""`aegir bench`: tables routed with the policy off and on, a pack of all that was used, and a repetition of it."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from aegir.cli.options import POLICY_FILE, verb_options
from aegir.cli.rl_data import write_text
from aegir.cli.terminal import say, tell, track
from aegir.evaluation.bench_tables import read_bench_tables
from aegir.evaluation.comparing import WAYS
from aegir.evaluation.run_pack import Bench, run_bench, verify_pack, write_pack
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.text import amount

HEADINGS = {"off": "policy off", "on": "policy on", "full": "read in full"}


@click.command(
    epilog="Example: aegir bench --compare-policy --policy cql.safetensors --run-pack-dir packs/first"
)
@verb_options("bench", "routing")
def bench(
    compare_policy: bool,
    verify: Path | None,
    tables: Path | None,
    routing: Path | None,
    policy: Path | None,
    out: Path | None,
    run_pack_dir: Path | None,
    rows: int,
    seed: int,
    as_json: bool,
) -> None:
    """Compare a routing policy with the static table on tables, and repeat such a comparison.

    The policy is named by --policy, or by AEGIR_RL_CHECKPOINT.
    """
    if compare_policy == (verify is not None):
        raise UsageError("say what to do: either --compare-policy or --verify PACK")
    if verify is not None:
        unused = {"policy": policy, "routing": routing, "out": out, "run-pack-dir": run_pack_dir}
        for name, value in unused.items():
            if value is not None:
                raise UsageError(
                    f"--{name} does not go with --verify: the pack holds what was used"
                )
        _verify(verify, tables, as_json)
        return
    suite = read_bench_tables(tables, rows=rows, seed=seed)
    for sentence in suite.left_out:
        tell(sentence)
    found = run_bench(_policy_file(policy), suite, routing, track)
    record = found.as_dict()
    if out is not None:
        write_text(out, json.dumps(record, indent=1, allow_nan=False) + "\n")
    if run_pack_dir is not None:
        write_pack(run_pack_dir, found)
        tell(
            f"wrote the run pack {run_pack_dir}; repeat it with: aegir bench --verify {run_pack_dir}"
        )
    if as_json:
        click.echo(json.dumps(record, allow_nan=False))
    else:
        _show(found)


def _policy_file(option: Path | None) -> Path:
    named = os.environ.get(POLICY_FILE)
    if option is None and not named:
        raise UsageError(
            f"there is no policy to switch on; name one with --policy FILE or {POLICY_FILE}, or make one with: aegir rl train-cql"
        )
    return option or Path(str(named))


def _verify(pack: Path, tables: Path | None, as_json: bool) -> None:
    verified = verify_pack(pack, tables, track)
    if as_json:
        record = {"reproduces": not verified.differences, "columns": verified.columns}
        facts = {"differences": verified.differences, "notes": verified.notes}
        click.echo(json.dumps({**record, **facts}))
    for note in verified.notes:
        tell(note)
    if verified.differences:
        raise CheckFailed(f"{pack} does not reproduce: {'; '.join(verified.differences)}")
    if not as_json:
        say(
            f"{pack} reproduces: {amount(verified.columns, 'column')} routed again, every metric and decision is the same"
        )


LINES = {
    "accuracy": "{metrics.accuracy:.4f}",
    "agreement (proxy)": "{metrics.agreement:.4f}",
    "cost per column": "{metrics.cost:.4f}",
    "columns read further": "{metrics.woken:.1%}",
    "decided by the policy": "{metrics.by_policy:.1%}",
    "escalations": "{metrics.escalations:,}",
    "failures": "{metrics.failures:,}",
    "ms per table, p50": "{times[table_ms][p50]:.1f}",
    "ms per table, p95": "{times[table_ms][p95]:.1f}",
    "CPU seconds": "{times[cpu_seconds]:.2f}",
}


def _show(found: Bench) -> None:
    compared, times = found.compared, found.compared.measured()
    say(
        f"{amount(len(found.tables.tables), 'table')}, {amount(found.tables.columns, 'column')}; {found.compared_by}",
        f"{'':<24}" + "".join(f"{HEADINGS[way]:>14}" for way in WAYS),
    )
    metrics = {way: compared.metrics(way) for way in WAYS}
    for name, form in LINES.items():
        if name != "accuracy" or found.labelled:
            cells = (form.format(metrics=metrics[way], times=times[way]) for way in WAYS)
            say(f"{name:<24}" + "".join(f"{cell:>14}" for cell in cells))
    _show_kinds(found, times["column_ms_by_kind"])
    for name, each in compared.difference().items():
        say(f"on - off, {name:<11} {each.value:+.4f} (95 % interval {each.show_interval('+.4f')})")


def _show_kinds(found: Bench, times: Mapping[str, Any]) -> None:
    """A line per kind of column: off, then on."""
    what = "accuracy" if found.labelled else "agreement"
    say(
        f"{'by kind, off / on':<18}{'columns':>8}{what:>16}{'cost':>16}{'escalations':>13}{'ms p50':>14}{'ms p95':>16}"
    )
    for kind in found.compared.kinds():
        off, on = ways = [found.compared.metrics(way, kind) for way in ("off", "on")]
        right = [getattr(each, what) for each in ways]
        shown = " / ".join("–" if value is None else f"{value:.3f}" for value in right)
        p50, p95 = (
            " / ".join(f"{times[kind][way][name]:.1f}" for way in ("off", "on"))
            for name in ("p50", "p95")
        )
        say(
            f"{kind:<18}{off.columns:>8}{shown:>16}{f'{off.cost:.3f} / {on.cost:.3f}':>16}"
            f"{f'{off.escalations} / {on.escalations}':>13}{p50:>14}{p95:>16}"
        )
