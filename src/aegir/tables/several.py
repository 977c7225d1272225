"""Several tables in one source: what can be read is read, and what cannot is not hidden."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from aegir.errors import UnreadableTable
from aegir.tables.table import Table


def read_each(
    parts: Sequence[str],
    read: Callable[[str], Iterable[Table]],
    errors: tuple[type[Exception], ...],
    label: str,
) -> Iterator[Table]:
    """The tables of every part; the last one carries a warning for each part that failed.

    When no part can be read, one sentence says why the first could not.
    """
    held: Table | None = None
    failures: list[str] = []
    for part in parts:
        try:
            for table in read(part):
                if held is not None:
                    yield held
                held = table
        except errors as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            failures.append(reason if isinstance(error, UnreadableTable) else f"{part}: {reason}")
    if held is None:
        assert failures, "there is at least one part"
        raise UnreadableTable(f"nothing in {label} can be read ({failures[0]})")
    notes = (f"another table of this source could not be read: {failure}" for failure in failures)
    yield replace(held, warnings=(*held.warnings, *notes))
