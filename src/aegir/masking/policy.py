"""Mask policies: what happens to a column of which level and kind, in a small TOML file.

    load_policy(None)                     the policy that ships (default_policy.toml)
    load_policy(Path("ours.toml"))        what the file says, on top of the one that ships
    policy.action_for(column)             keep, redact, tokenise, shift or generalise; None: not personal

A level that a policy has no section for is redacted. Names of the vocabulary are checked when a policy is read: all
unknown ones are listed in one sentence.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from aegir.answers.annotation import ColumnAnnotation
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.settings import check_numbers, read_settings

ACTIONS = ("keep", "redact", "tokenise", "shift", "generalise")
LEVELS = ("direct", "indirect", "about", "special")
LIST = "list"
DEFAULT_FILE = Path(__file__).with_name("default_policy.toml")


@dataclass(frozen=True, slots=True)
class Generalising:
    """How much of a value a generalised one keeps."""

    ages: int = 10
    numbers: int = 1
    dates: str = "year"
    postcodes: int = 3
    coordinates: int = 1

    def __post_init__(self) -> None:
        check_numbers(self, "ages", at_least=2, at_most=100)
        check_numbers(self, "numbers", at_least=1, at_most=6)
        check_numbers(self, "postcodes", at_least=1, at_most=9)
        check_numbers(self, "coordinates", at_least=0, at_most=5)
        require(self.dates in ("year", "month"), "dates", self.dates, "year or month")


@dataclass(frozen=True, slots=True)
class Shifting:
    """How far dates move, and what moves together."""

    days: int = 365
    by: str = "subject"
    subject: str = ""

    def __post_init__(self) -> None:
        check_numbers(self, "days", at_least=1, at_most=36_500)
        require(self.by in ("subject", "table"), "by", self.by, "subject or table")


@dataclass(frozen=True, slots=True)
class MaskPolicy:
    """What is done with the columns of a table."""

    redacted: str = "[redacted]"
    unsure: str = "redact"
    """What becomes of columns that may be personal: redact, tokenise, or list."""
    unsure_from: float = 0.25
    free_text: str = "redact"
    """What becomes of prose in a table with direct columns: redact or list."""
    direct: Mapping[str, str] = field(default_factory=dict)
    indirect: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)
    special: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    generalise: Generalising = field(default_factory=Generalising)
    shift: Shifting = field(default_factory=Shifting)

    def __post_init__(self) -> None:
        choices = ("redact", "tokenise", LIST)
        require(self.unsure in choices, "unsure", self.unsure, "redact, tokenise or list")
        require(self.free_text in ("redact", LIST), "free_text", self.free_text, "redact or list")
        check_numbers(self, "unsure_from", at_least=0, at_most=1)
        plain = self.redacted.isprintable() and self.redacted.strip() != ""
        require(plain, "redacted", self.redacted, "some text on one line")

    @property
    def masks_unsure(self) -> bool:
        """Whether what is not known to be harmless is masked rather than listed."""
        return self.unsure != LIST

    def named(self, index: int, name: str | None) -> str | None:
        """The action for a column that the policy names by header or number; None if it does not."""
        actions = (
            action for pattern, action in self.columns.items() if is_named(pattern, index, name)
        )
        return next(actions, None)

    def action_for(self, column: ColumnAnnotation) -> str | None:
        """The action for a personal column by its level and what it is; None for one that is not personal.

        A column of a special category that does not point to a person by itself goes by `special`.
        """
        if not column.personal:
            return None
        level = column.personal_level if column.personal_level in LEVELS else None
        level = "special" if column.special and level != "direct" else level
        section: Mapping[str, str] = getattr(self, level) if level else {}
        names = (column.fine_type, column.type, column.label, column.kind, "default")
        found = (section[name] for name in names if name is not None and name in section)
        return next(found, "redact")


def is_named(pattern: str, index: int, name: str | None) -> bool:
    """Whether a name of [columns] is this column: its number, its header, or a pattern that fits the header."""
    if pattern == f"#{index + 1}":
        return True
    return name is not None and (pattern == name or fnmatchcase(name, pattern))


def load_policy(path: Path | None, taught: Collection[str] = ()) -> MaskPolicy:
    """Read a policy on top of the one that ships; `taught` are names of the user's own types."""
    shipped = read_settings(DEFAULT_FILE, MaskPolicy())
    if path is None:
        return shipped
    given = read_settings(path, shipped)
    sections: dict[str, Any] = {
        name: {**getattr(shipped, name), **getattr(given, name)} for name in LEVELS
    }
    policy = replace(given, **sections)
    _check_names(policy, path, {*KINDS, *COLUMN_TYPES, *FINE_TYPES, *taught, "default"})
    return policy


def _check_names(policy: MaskPolicy, path: Path, known: Collection[str]) -> None:
    """Raise `UsageError` with every unknown name and every unknown action of a policy."""
    sections = {
        each.name: getattr(policy, each.name)
        for each in fields(policy)
        if each.name in (*LEVELS, "columns")
    }
    names = [
        f"{name!r} in [{section}]{_near(name, known)}"
        for section, entries in sections.items()
        if section != "columns"
        for name in entries
        if name not in known
    ]
    if names:
        raise UsageError(
            f"{path} names what is no kind, type or fine type: {', '.join(names)}; see `aegir types list`"
        )
    actions = [
        f"{name} = {action!r} in [{section}]"
        for section, entries in sections.items()
        for name, action in entries.items()
        if action not in ACTIONS
    ]
    if actions:
        raise UsageError(
            f"{path} has unknown actions: {', '.join(actions)}; there are {', '.join(ACTIONS)}"
        )


def _near(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
