"""The tags of an organisation for personal columns, from a small TOML file: `aegir annotate --tags FILE`.

[levels]                         how near to a person a column is; `any` for every personal column
direct = "PII.High"
indirect = ["PII.Medium", "Review"]

[special]                        special categories (GDPR, articles 9 and 10); `any` for each of them
any = "GDPR.Art9"
health = "PHI"

load_tags(path).apply(annotation)       the answer with the tags of each column; none of a column that is not personal
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.vocabulary.terms import PERSONAL_LEVELS, SPECIAL_CATEGORIES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import read_toml

ANY = "any"
SECTIONS = {"levels": (ANY, *PERSONAL_LEVELS), "special": (ANY, *SPECIAL_CATEGORIES)}
"""The names that each section may have."""


@dataclass(frozen=True, slots=True)
class TagPolicy:
    """Tags by personal level and by special category."""

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    special: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def tags_of(self, column: ColumnAnnotation) -> tuple[str, ...]:
        """Return the tags of a column, each once, in the order of the sections."""
        if not column.personal:
            return ()
        names = [self.levels.get(name or "", ()) for name in (ANY, column.personal_level)]
        if column.special:
            names += [self.special.get(name or "", ()) for name in (ANY, column.special_category)]
        return tuple(dict.fromkeys(tag for tags in names for tag in tags))

    def apply(self, annotation: TableAnnotation) -> TableAnnotation:
        """Return the answer with these tags and no others."""
        tags = [self.tags_of(column) for column in annotation.columns]
        if tags == [column.tags for column in annotation.columns]:
            return annotation
        columns = map(lambda column, tags: replace(column, tags=tags), annotation.columns, tags)
        return replace(annotation, columns=tuple(columns))


def load_tags(path: Path | None) -> TagPolicy:
    """Read a file of tags, without one a policy without tags; raise `UsageError` with all unknown names."""
    if path is None:
        return TagPolicy()
    given = read_toml(path)
    _check_names(given, path)
    return TagPolicy(
        **{
            section: {
                name: _tags(value, f"{name!r} in [{section}] of {path}")
                for name, value in given.get(section, {}).items()
            }
            for section in SECTIONS
        }
    )


def _check_names(given: Mapping[str, Any], path: Path) -> None:
    unknown = []
    for section, entries in given.items():
        if section not in SECTIONS:
            is_section = isinstance(entries, dict)
            unknown.append(f"[{section}]" if is_section else f"{section!r} outside of a section")
        elif not isinstance(entries, dict):
            raise UsageError(f"{section!r} in {path} is {entries!r}; expected [{section}]")
        else:
            known = SECTIONS[section]
            unknown += [f"{name!r} in [{section}]" for name in entries if name not in known]
    if unknown:
        there_are = " and ".join(
            f"{', '.join(names)} in [{section}]" for section, names in SECTIONS.items()
        )
        raise UsageError(f"{path} has unknown names: {', '.join(unknown)}; there are {there_are}")


def _tags(value: object, where: str) -> tuple[str, ...]:
    tags: list[Any] = value if isinstance(value, list) else [value]
    if not all(isinstance(tag, str) and tag.strip() and tag.isprintable() for tag in tags):
        raise UsageError(
            f"{where} is {value!r}; expected a tag or a list of tags, each a text on one line"
        )
    return tuple(tag.strip() for tag in tags)
