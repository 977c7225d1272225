"""`aegir rl`, data: make up decisions, export a log, analyse its rewards."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import amount, escape_surrogates
from aegir_rl.episode import Episode, EpisodeBatch
from aegir_rl.offline.log_files import read_episodes, write_log
from aegir_rl.offline.logged_decisions import LogSource
from aegir_rl.offline.pages import Plots, reward_page, reward_plots
from aegir_rl.offline.reward_report import analyze_rewards
from aegir_rl.offline.store import DecisionStore
from aegir_rl.offline.synthetic import explore, simulate


@click.command("collect-synth", epilog="Example: aegir rl collect-synth --rows 650")
@verb_options("rl collect-synth", "store")
def collect_synth(rows: int, seed: int, epsilon: float, store: str, output: Path | None) -> None:
    """Make up logged decisions in a synthetic world of columns and workers.

    Every episode is marked `synthetic` and has exact propensities. The same command adds nothing twice.
    """
    name = f"synthetic-{rows}-{epsilon:g}-{seed}"
    episodes = list(simulate(explore(epsilon), rows, seed, name).episodes())
    if output is not None:
        save_log(episodes, output)
        return
    with DecisionStore.open(store) as opened:
        before = len(opened)
        opened.append(episodes)
        added = len(opened) - before
    tell(f"added {amount(added, 'synthetic episode')} to {store}")


@click.command("export", epilog="Example: aegir rl export --output routing.jsonl")
@verb_options("store", "rl export", "data source")
def export(store: str, output: Path, data_source: LogSource | None) -> None:
    """Write the logged decisions of a store, with the outcomes known by now, to a file."""
    if "://" not in store and not Path(store).exists():
        raise UsageError(f"there is no store {store}; make one with: aegir rl collect-synth")
    with DecisionStore.open(store) as opened:
        episodes = list(opened.read(None if data_source == "all" else data_source))
    if not episodes:
        kind = f"{data_source} " if data_source not in (None, "all") else ""
        raise UsageError(f"{store} has no {kind}episodes to export")
    save_log(episodes, output)


@click.command(
    "analyze-rewards",
    epilog="Example: aegir rl analyze-rewards --data routing.jsonl --out reward_report.json",
)
@verb_options("rl analyze-rewards", "plots", "data source")
def analyze(
    data: Path,
    out: Path | None,
    plot: Path | None,
    plots: Path | None,
    data_source: LogSource | None,
    as_json: bool,
) -> None:
    """Show distribution and sensitivity of reward_v1, and warn where it cannot teach anything."""
    batch = EpisodeBatch.from_episodes(read_episodes(data))
    report = analyze_rewards(batch, str(data), source=data_source)
    record = report.as_dict()
    if out is not None:
        write_text(out, json.dumps(record, indent=2, allow_nan=False) + "\n")
    if plot is not None:
        write_text(plot, reward_page(report))
    write_plots(plots, reward_plots(report))
    if as_json:
        click.echo(json.dumps(record, allow_nan=False))
    else:
        mean = f"{report.logged.value:.4f} ({report.logged.show_interval()})"
        say(f"{amount(len(report.totals), 'episode')}, mean reward {mean}")
        for part, values in report.parts.items():
            weighed = report.weights.signed(part) * values.mean()
            say(f"  {part:<9} mean {values.mean():8.4f}   adds {weighed:+.4f}")
        for name, found in report.constant.items():
            say(f"  always {name:<12} {found.value:.4f} ({found.show_interval()})")
        if report.by_features is not None:
            found = report.by_features
            say(f"  by features         {found.value:.4f} ({found.show_interval()})")
    for warning in report.warnings:
        tell(warning)


def save_log(episodes: Sequence[Episode], path: Path) -> None:
    """Write a log, and its folder if there is none; say what it holds."""
    counts = write_log(episodes, path)
    parts = ", ".join(f"{count:,} {source}" for source, count in sorted(counts.items()))
    tell(f"wrote {amount(sum(counts.values()), 'episode')} ({parts}) to {path}")


def write_text(path: Path, text: str) -> None:
    """Write a file, and its folder if there is none."""
    replace_file(path, escape_surrogates(text).encode())
    tell(f"wrote {path}")


def write_plots(folder: Path | None, plots: Plots) -> None:
    """Write every plot as a file of its own, if a folder is named."""
    if folder is not None:
        for name, plot in plots.items():
            write_text(folder / f"{name}.svg", plot)
