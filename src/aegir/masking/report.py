"""What masking did to every column, as text for people and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from aegir.masking.checking import CHANCE_LENGTH, Check
from aegir.masking.plan import LISTED, ColumnPlan
from aegir.masking.rows import RowMasker
from aegir_rl.base.text import amount

HEADINGS = ("column", "level", "kind", "action", "changed", "redacted", "missing", "left", "why")


@dataclass(frozen=True, slots=True)
class MaskedColumn:
    """What was done with one column."""

    column: str | None
    index: int
    level: str | None
    kind: str | None
    label: str | None
    action: str
    state: str
    """masked, kept, or listed: left as it is although it may be personal."""
    why: str
    changed: int
    """Values that were changed."""
    redacted: int
    """Among them those that did not fit their column, or gave away another one."""
    missing: int
    left: int
    """Values that are as they were."""


@dataclass(frozen=True, slots=True)
class MaskReport:
    """What was done with a table; `print` shows it as text."""

    source: str
    out: str
    format: str
    rows: int
    key: str
    """given or random."""
    shifted_by: str | None
    """The column whose value decides how far the dates of a row move, or table; None if none were shifted."""
    columns: tuple[MaskedColumn, ...]
    checked: int
    """Distinct original values that were looked for in the result."""
    checked_share: float
    """Their share of all that are long enough."""
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        return render_report(self)


def build_report(
    source: Path,
    out: Path,
    format_name: str,
    masker: RowMasker,
    check: Check,
    notes: Sequence[str],
    *,
    random_key: bool,
) -> MaskReport:
    """The report of a finished run."""
    plans = masker.plan.columns
    subject = masker.plan.shift_subject
    shifted = None
    if any(plan.action == "shift" for plan in plans):
        shifted = "table" if subject is None else _name(plans[subject])
    originals = masker.originals.values()
    return MaskReport(
        str(source),
        str(out),
        format_name,
        masker.rows,
        "random" if random_key else "given",
        shifted,
        tuple(_column(plan, masker) for plan in plans),
        sum(map(len, originals)),
        min((each.share for each in originals), default=1.0),
        tuple(dict.fromkeys([*notes, *_notes(masker, check)])),
    )


def _column(plan: ColumnPlan, masker: RowMasker) -> MaskedColumn:
    counts = masker.counts_of(plan.index)
    return MaskedColumn(
        plan.name,
        plan.index,
        plan.level,
        plan.kind,
        plan.label,
        plan.action,
        plan.state,
        plan.why,
        counts.changed,
        counts.redacted,
        counts.missing,
        counts.left,
    )


def _notes(masker: RowMasker, check: Check) -> list[str]:
    plans, redacts = masker.plan.columns, masker.policy.masks_unsure
    notes = []
    if masker.odd_rows:
        what = "redacted" if redacts else "masked by position"
        notes.append(f"{amount(masker.odd_rows, 'row')} of another width: {what}")
    if masker.outside:
        what = "redacted" if redacts else "left as they are"
        notes.append(f"{amount(masker.outside, 'value')} outside of the known columns: {what}")
    listed = [_name(plan) for plan in plans if plan.state == LISTED]
    if listed:
        notes.append(f"left as they are although they may be personal: {', '.join(listed)}")
    for (masked, kept), count in sorted(check.elsewhere.items()):
        where = _name(plans[kept]) if kept < len(plans) else "values outside of the known columns"
        notes.append(
            f"{amount(count, 'cell')} of {where}, which is kept, hold a value of {_name(plans[masked])}, which is masked; name it in [columns] of a policy to mask it"
        )
    return notes


def _name(plan: ColumnPlan) -> str:
    return plan.name or f"#{plan.index + 1}"


def render_report(report: MaskReport) -> str:
    """The report as lines for people."""
    rows = [
        (
            each.column or f"#{each.index + 1}",
            each.level or "",
            each.kind or "",
            each.action if each.state != LISTED else f"{each.action} (unsure)",
            *(f"{count:,}" for count in (each.changed, each.redacted, each.missing, each.left)),
            each.why,
        )
        for each in report.columns
    ]
    widths = [max(map(len, cells)) for cells in zip(HEADINGS, *rows, strict=True)]
    lines = [
        f"{report.source} -> {report.out}   {report.format}, {amount(report.rows, 'row')}",
        "",
        *("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (HEADINGS, *rows)),
        "",
    ]  # fmt: skip
    if report.shifted_by is not None:
        by = "one shift for the whole table" if report.shifted_by == "table" else f"one shift per value of {report.shifted_by}"  # fmt: skip
        lines.append(f"  dates: {by}")
    lines += [f"  note: {note}" for note in report.notes]
    share = "" if report.checked_share == 1 else f", {report.checked_share:.2%} of all"
    lines.append(
        f"  checked: {amount(report.checked, 'original value')} of {CHANCE_LENGTH} characters or more looked for{share}; none is left in its column"
    )
    return "\n".join(lines)
