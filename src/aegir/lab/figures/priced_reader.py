"""`python -m aegir.lab.figures priced-reader`: whom to ask about a column when a strong reader is paid by the token."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from aegir.cli.options import verb_options
from aegir.cli.terminal import say, tell
from aegir.lab.cli.train import training_packages
from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.priced_metrics import Measured, Verdict, describe, measure
from aegir.lab.figures.text_table import text_table
from aegir_rl.base.errors import CheckFailed
from aegir_rl.observe.plots import line_plot, write_svgs
from aegir_rl.offline.log_files import write_log


@click.command(
    "priced-reader",
    epilog="Example: python -m aegir.lab.figures priced-reader --answers answers.jsonl --ngrams runs/ngrams-parts --data DATA",
)
@verb_options("figure-priced-reader")
def priced_reader(
    answers: Path,
    ngrams: Path,
    data: tuple[Path, ...],
    tables_per_call: int,
    worth: float,
    out: Path | None,
    log: Path | None,
    plots: Path | None,
    as_json: bool,
) -> None:
    """Join recorded answers of a priced reader with ours to held-out tables, and learn whom to ask; leaves with 3 if --out gets a policy that the gate refuses."""
    with training_packages():
        from aegir.lab.priced_reader import episodes, join, learn_to_ask

    joined = join(answers, ngrams, read_training_tables(data))
    measured = measure(joined, tables_per_call, worth)
    policy = learn_to_ask(joined, worth, tables_per_call)
    learnt, verdict = (
        describe(policy, joined),
        next(each for each in measured.verdicts if each.worth == worth),
    )
    if as_json:
        click.echo(json.dumps({**measured.as_dict(), "worth": worth, "learnt": learnt}))
    else:
        say(*_lines(measured), "", f"What a policy learns at a worth of {worth:g} tokens:", *learnt)
    if log is not None:
        write_log(episodes(joined, tables_per_call, worth), log)
        tell(f"wrote a log of {len(joined)} decisions to {log}")
    if plots is not None:
        write_svgs(plots, {f"tokens-{tables_per_call}": _plot(measured)})
    if out is not None:
        facts = {
            "worth": worth,
            "tables_per_call": tables_per_call,
            "gate": {**verdict.gain.as_dict(), "positive": verdict.positive},
        }
        replace(policy, training={**policy.training, **facts}).save(out)
        if not verdict.positive:
            raise CheckFailed(f"wrote {out}, but {_sentence(verdict)}")
        tell(f"wrote {out}; {_sentence(verdict)}")


def _sentence(verdict: Verdict) -> str:
    bound = f"{verdict.gain.value:+.4f} ({verdict.gain.show_interval('+.4f')})"
    if verdict.positive:
        return f"the gate takes the learnt policy at a worth of {verdict.worth:g}: it earns {bound} more than the best threshold"
    return f"the gate keeps the threshold at a worth of {verdict.worth:g}: the learnt policy earns {bound} more, whose lower end is not above 0"


def _lines(measured: Measured) -> Iterator[str]:
    yield (
        f"{measured.columns} columns of {measured.tables} tables from {measured.groups} groups; instructions are shared by "
        f"{measured.tables_per_call} tables; asking about every column takes {measured.all_tokens:,.0f} tokens; right: ours "
        f"{measured.ours:.4f}, the reader's {measured.always:.4f}"
    )
    yield ""
    rows: list[tuple[str, ...]] = [("way", "setting", "tokens", "columns", "right")]
    for name, points in measured.curves.items():
        rows += [
            (name, f"{p.setting:g}", f"{p.tokens:.1%}", f"{p.columns:.1%}", f"{p.right:.4f}")
            for p in points
        ]
    yield from (*text_table(rows), "")
    for each in measured.as_right:
        margin = f"at most {each.margin:g} less right than" if each.margin else "as right as"
        yield (
            f"{margin} always, chosen on other groups, {each.way}: {each.tokens:.1%} of the tokens, {each.right:.4f} right, "
            f"{each.difference.value:+.4f} ({each.difference.show_interval('+.4f')})"
        )
    yield ""
    yield from map(_sentence, measured.verdicts)


def _plot(measured: Measured) -> str:
    series = {}
    for name, points in measured.curves.items():
        ordered = sorted(points, key=lambda p: p.tokens)
        series[name] = ([p.tokens for p in ordered], [p.right for p in ordered])
    title = f"right columns against tokens, {measured.tables_per_call} tables per call"
    return line_plot(title, series, x_label="share of the tokens of asking always", y_label="right")
