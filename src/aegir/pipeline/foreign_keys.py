"""Foreign keys between the tables of a run: which columns hold keys of another table of the same folder or database.

    link_tables(answers)        the answers with `foreign_keys`, in their order

Tables of one file (a database, a workbook) are linked with each other, tables that have a file for themselves with those of the same folder.
A column is compared with the few keys that its header points to, never with all columns, so the work grows with the
number of columns. What a header can point to:

    AlbumId        a key of the same name                              country    the key of `countries`, if the values agree
    album_id       the key `id` of a table `albums`                    ship_to_customer_id    with a role in front
    airport_ref    the key of `airports`, by another word for key      addr_id    with its words cut short
    reports_to     the key of its own table, by a word for above or before

Then the values decide: both whole numbers or both texts; where all rows of the other table were seen, nearly all values must be
among its keys; where only some were seen, so many of them as the share of the sample lets expect, and whole numbers within the range
of its keys. The confidence is that of the name times that of the values; docs/answers.md has the measurement.

Promises
  - what the source declares is answered as declared, and nothing else for that column;
  - a key is never found twice for a column, and none where two tables fit equally well;
  - what is found depends on the answers that are given together, not on their order.

Limits: keys of two columns are not looked for on the other side; headers that say nothing about the other table (`ship_via`) are not found.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.keys import ForeignKey, KeySketch
from aegir.pipeline.header_words import header_words, split_key_word, table_words
from aegir.pipeline.keys import LEAST_KEY, MOST_HASHES, PARENTS, PEOPLE, SUPERIORS
from aegir.tables.datatype import ColumnProfile

LEAST_CONFIDENCE = 0.5
SURE_VALUES = 0.95
"""What the values must leave of a name to show that a column holds the keys of another table."""
_WITH = " (with "
"""What stands between the column a part of a key refers to and the other parts (`tables.declared.declared_references`)."""
OWN_KEY = 0.7
"""From this chance to be the key of its own table on, a column refers only to a table that its header names."""
DESCRIBED = frozenset(("place", "time"))
"""Kinds of columns that are shared by tables without being keys: postal codes, years."""
AMBIGUOUS = 0.02
"""Difference of the fit of two keys below which neither is answered."""
MOST_TARGETS = 3
"""Columns of a table that others may refer to: the likeliest keys."""
OF_TABLE, SAME_NAME, OTHER_WORD, BARE, OWN = 0.97, 0.92, 0.8, 0.75, 0.85
"""Confidence by what a header points to: the table and its key, a key of that name, the table with another word for key, the table alone, its own table."""
ROLE, SHORTENED = 0.95, 0.75
"""What a role in front, and shortened words, leave of it."""
GENERAL = frozenset(
    ("primary_key", "foreign_key", "row_number", "sequence_number", "category_code")
)
"""Identifiers that do not say what they identify."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A column that others may refer to."""

    table: int
    sketch: KeySketch
    of_table: bool
    """Whether its header names its own table, or is a bare word for key."""


@dataclass(frozen=True, slots=True)
class _Match:
    target: _Target
    confidence: float
    values: str
    """What the values say, in words."""
    holds: bool


def link_tables(answers: Sequence[TableAnnotation]) -> list[TableAnnotation]:
    """Return the answers with the foreign keys between them; those of a folder or database are looked at together."""
    sizes = Counter(each.source for each in answers)
    scopes: defaultdict[object, list[int]] = defaultdict(list)
    for index, each in enumerate(answers):
        alone = each.source is not None and sizes[each.source] == 1
        scopes[PurePath(each.source or "").parent if alone else (each.source,)].append(index)
    linked = list(answers)
    for indices in scopes.values():
        for index, answer in zip(
            indices, _Scope([answers[i] for i in indices]).link(), strict=True
        ):
            linked[index] = answer
    return linked


class _Scope:
    """Tables that may refer to each other."""

    def __init__(self, answers: Sequence[TableAnnotation]) -> None:
        self.answers = list(answers)
        places = [catalogue_table(each) for each in answers]
        self.tables = {place.table.lower(): index for index, place in enumerate(places)}
        self.named = [table_words(place.table) for place in places]
        self.words = [header_words([c.name for c in each.columns]) for each in answers]
        self.targets: defaultdict[str, list[tuple[_Target, float]]] = defaultdict(list)
        self.shortened: defaultdict[str, list[tuple[_Target, float]]] = defaultdict(list)
        self._disown_keys()
        for table in range(len(answers)):
            self._add_targets(table)

    def link(self) -> Iterator[TableAnnotation]:
        """Yield the answers with their foreign keys."""
        for table, answer in enumerate(self.answers):
            found = list(self._declared(answer)) or list(self._to_parent(answer))
            known = {column for key in found for column in key.columns}
            for sketch in answer.sketches:
                if sketch.column in known:
                    continue
                match = self._best(table, sketch)
                if match is not None:
                    found.append(self._foreign_key(sketch.column, match))
            found.sort(key=lambda key: key.columns)
            yield replace(answer, foreign_keys=tuple(found)) if found else answer

    def _declared(self, answer: TableAnnotation) -> Iterator[ForeignKey]:
        """Yield the foreign keys that the source declares, as far as the other table is here."""
        indices = {(column.name or "").lower(): column.index for column in answer.columns}
        for column in answer.columns:
            if not (column.declared and column.declared.references):
                continue
            _, _, with_others = column.declared.references.partition(_WITH)
            names = with_others.removesuffix(")").lower().split(", ") if with_others else []
            others = [indices.get(name) for name in names]
            columns = sorted((column.index, *(each for each in others if each is not None)))
            if None in others or column.index != columns[0]:
                continue  # a key of several columns is given once, by its first
            targets = [self._declared_target(answer.columns[each]) for each in columns]
            tables = {target[0] for target in targets if target}
            if None in targets or len(tables) != 1:
                continue
            other = self.answers[tables.pop()]
            places = tuple(target[1] for target in targets if target)
            yield ForeignKey(
                columns=tuple(columns),
                table=other.table,
                references=places,
                names=tuple(other.columns[place].name for place in places),
                confidence=1.0,
                reason=f"declared to reference {column.declared.references}",
                declared=True,
            )

    def _to_parent(self, answer: TableAnnotation) -> Iterator[ForeignKey]:
        """Yield the key that the reader gave the rows of a nested list: `parent.id` of `t.json#items` is `id` of `t.json`."""
        file, mark, path = answer.table.partition("#")
        header = (answer.columns[0].name or "") if mark and answer.columns else ""
        steps = path.split(".")
        above = {
            f"{file}#{'.'.join(steps[:end])}": f"{steps[end - 1]}." for end in range(1, len(steps))
        }
        above[file] = "parent."
        for other in self.answers:
            start = above.get(other.table)
            if start is None or other.source != answer.source or not header.startswith(start):
                continue
            names = [column.name for column in other.columns]
            name = header.removeprefix(start)
            if name in names:
                place = names.index(name)
                seen = answer.profiles[:1] + other.profiles[place : place + 1]
                yield ForeignKey(
                    columns=(0,),
                    table=other.table,
                    references=(place,),
                    names=(name,),
                    confidence=1.0,
                    holds=bool(seen) and all(each.complete for each in seen),
                    reason=f"the list is in a row of {other.table}, which has this {name}",
                )
                return

    def _declared_target(self, column: ColumnAnnotation) -> tuple[int, int] | None:
        """Return the table and the column that a column is declared to refer to; None if they are not here."""
        declared = column.declared.references if column.declared else None
        table, _, name = (declared or "").partition(_WITH)[0].rpartition(".")
        place = self.tables.get(table.lower(), self.tables.get(table.rpartition(".")[2].lower()))
        if place is None:
            return None
        names = [(each.name or "").lower() for each in self.answers[place].columns]
        return (place, names.index(name.lower())) if name.lower() in names else None

    def _disown_keys(self) -> None:
        """Call no key what only a sample shows to be one, if its values are the keys, of that name, of a table of fewer rows."""
        named: defaultdict[str, list[tuple[int, KeySketch]]] = defaultdict(list)
        for table, answer in enumerate(self.answers):
            for sketch in answer.sketches:
                words = self.words[table][sketch.column]
                if sketch.unique >= LEAST_KEY and split_key_word(words)[0]:
                    named["".join(words)].append((table, sketch))
        for places in named.values():
            rows = [self._rows(*each) for each in places]
            least = min(rows, key=lambda each: each or 0)
            if least is None or rows.count(least) != 1:
                continue
            parent, key = places[rows.index(least)]
            target = _Target(parent, key, of_table=True)
            for (table, sketch), count in zip(places, rows, strict=True):
                sampled = not self.answers[table].profiles[sketch.column].complete
                if sampled and (count or 0) > least and not self._is_own(table, sketch):
                    weight, _, _ = self._values(table, sketch, target, OTHER_WORD)
                    if weight >= SURE_VALUES:
                        self._disown(table, sketch)

    def _rows(self, table: int, sketch: KeySketch) -> int | None:
        return self.answers[table].profiles[sketch.column].total_rows

    def _disown(self, table: int, sketch: KeySketch) -> None:
        """Note that a column repeats, though the sample does not show it."""
        answer = self.answers[table]
        key = answer.primary_key
        is_key = key is not None and key.columns == (sketch.column,) and not key.declared
        self.answers[table] = replace(
            answer,
            primary_key=None if is_key else key,
            sketches=tuple(
                each._replace(unique=0.0) if each == sketch else each for each in answer.sketches
            ),
        )

    def _add_targets(self, table: int) -> None:
        """Note the likeliest keys of a table under the names by which others may call them."""
        likely = sorted(self.answers[table].sketches, key=lambda each: (-each.unique, each.column))
        named = "".join(self.named[table])
        for place, sketch in enumerate(likely[:MOST_TARGETS]):
            if sketch.unique < LEAST_KEY:
                break
            words = self.words[table][sketch.column]
            stem, key_word = split_key_word(words)
            joined = "".join(stem)
            of_table = not joined or joined == named
            target = _Target(table, sketch, of_table)
            answer = self.answers[table].columns[sketch.column]
            if answer.kind in DESCRIBED and not of_table and key_word in (None, "code", "number"):
                continue
            is_text_or_key = not sketch.whole or answer.kind == "identifier"
            if stem and (key_word or (place == 0 and is_text_or_key)):
                named_so = OF_TABLE if of_table else SAME_NAME if key_word else BARE
                self.targets["".join(words)].append((target, named_so))
                self.shortened[_shortened(words)].append((target, min(named_so, SAME_NAME)))
            if key_word and not stem:
                self.targets[f"{named}{key_word}"].append((target, OF_TABLE))
                self.shortened[_shortened((*self.named[table], key_word))].append(
                    (target, SAME_NAME)
                )
            if place == 0 or (key_word and not stem):
                self.targets[f"{named}="].append((target, OTHER_WORD))
            if answer.kind == "identifier" and answer.fine_type not in (None, *GENERAL):
                self.targets[f"={answer.fine_type}"].append((target, BARE))

    def _best(self, table: int, sketch: KeySketch) -> _Match | None:
        """Return the key that a column refers to; None if there is none, or two fit equally well."""
        matches: dict[tuple[int, int], _Match] = {}
        for target, confidence in self._pointed_to(table, sketch):
            if self._excluded(table, sketch, target):
                continue
            weight, said, holds = self._values(table, sketch, target, confidence)
            match = _Match(target, confidence * weight, said, holds)
            place = (target.table, target.sketch.column)
            if place not in matches or matches[place].confidence < match.confidence:
                matches[place] = match
        ranked = sorted(matches.values(), key=_rank, reverse=True)
        if not ranked or ranked[0].confidence < LEAST_CONFIDENCE:
            return None
        if len(ranked) > 1 and _rank(ranked[1]) > _rank(ranked[0]) - AMBIGUOUS:
            return None
        return ranked[0]

    def _pointed_to(self, table: int, sketch: KeySketch) -> Iterator[tuple[_Target, float]]:
        """Yield the keys that the header of a column may mean, with the confidence of that name."""
        words = self.words[table][sketch.column]
        stem, key_word = split_key_word(words)
        if self._is_of_own_table(table, {"".join(stem), "".join(words)}):
            own = max(self.answers[table].sketches, key=lambda each: each.unique)
            if own.unique >= LEAST_KEY:
                yield _Target(table, own, True), OWN
        label = self.answers[table].columns[sketch.column].label
        yield from self.targets[f"={label}"]
        for start in range(len(words)):
            role = ROLE if start else 1.0
            rest = words[start:]
            if len(rest) == 1 and rest[0] == key_word:
                break
            yield from ((each, role * value) for each, value in self.targets["".join(rest)])
            rest_stem, rest_word = split_key_word(rest)
            level = OTHER_WORD if rest_word else BARE
            yield from (
                (each, role * min(value, level))
                for each, value in self.targets["".join(rest_stem) + "="]
            )
            if key_word:
                yield from (
                    (each, role * value * SHORTENED)
                    for each, value in self.shortened[_shortened(rest)]
                )

    def _is_of_own_table(self, table: int, names: set[str]) -> bool:
        """Return whether a header of these names refers to another row of its table."""
        about_people = not PEOPLE.isdisjoint(self.named[table])
        return not PARENTS.isdisjoint(names) or (about_people and not SUPERIORS.isdisjoint(names))

    def _excluded(self, table: int, sketch: KeySketch, target: _Target) -> bool:
        """Return whether a column cannot refer to a key: its own, or one that is as much its own table's."""
        if target.table == table:
            words = self.words[table][sketch.column]
            names = {"".join(words), "".join(split_key_word(words)[0])}
            own = "".join(self.words[table][target.sketch.column])
            with_role = "".join(words).endswith(own) and len(own) < len("".join(words))
            is_same = target.sketch.column == sketch.column
            return is_same or not (with_role or self._is_of_own_table(table, names))
        if sketch.unique < OWN_KEY and sketch.unique < target.sketch.unique:
            return False
        return sketch.unique >= LEAST_KEY and not (
            target.of_table and not self._is_own(table, sketch)
        )

    def _is_own(self, table: int, sketch: KeySketch) -> bool:
        """Return whether a column is called like the key of its own table."""
        stem = split_key_word(self.words[table][sketch.column])[0]
        return not stem or "".join(stem) == "".join(self.named[table])

    def _values(
        self, table: int, sketch: KeySketch, target: _Target, named: float
    ) -> tuple[float, str, bool]:
        """Return what the values leave of the confidence of a name, what they say, and whether all of them agree."""
        own, other = sketch, target.sketch
        if own.whole != other.whole or not own.hashes:
            return 0.0, "", False
        child = self.answers[table].profiles[own.column]
        parent = self.answers[target.table].profiles[other.column]
        keys = other.unpacked()
        hits, seen = _contained(own.unpacked(), keys)
        is_weak = named <= OTHER_WORD
        if parent.complete and len(keys) < MOST_HASHES:
            holds = child.complete and hits == seen == child.distinct
            return *_of_all_keys(hits, seen, is_weak), holds
        some = _of_some_keys(own, other, child, parent, (hits, seen, len(keys)), is_weak)
        return *some, False

    def _foreign_key(self, column: int, match: _Match) -> ForeignKey:
        target = self.answers[match.target.table]
        place = match.target.sketch.column
        name = target.columns[place].name
        return ForeignKey(
            columns=(column,),
            table=target.table,
            references=(place,),
            names=(name,),
            confidence=match.confidence,
            holds=match.holds,
            reason=f"the header points to {name or 'the key'} of {target.table}; {match.values}",
        )


def _rank(match: _Match) -> float:
    """Return how well a key fits, among others that a column may refer to."""
    return match.confidence * match.target.sketch.unique


def _of_all_keys(hits: int, seen: int, is_weak: bool) -> tuple[float, str]:
    """Judge the values of a column against all keys of the other table."""
    share = hits / seen
    said = f"{hits} of {seen} distinct values are among its keys"
    if is_weak and (share < 0.98 or seen < 3):
        return 0.0, said
    return (1.0 if share >= 0.98 else 0.85 if share >= 0.9 else 0.3 * share), said


def _of_some_keys(
    own: KeySketch,
    other: KeySketch,
    child: ColumnProfile,
    parent: ColumnProfile,
    counted: tuple[int, int, int],
    is_weak: bool,
) -> tuple[float, str]:
    """Judge the values of a column against a sample of the keys of the other table."""
    hits, seen, keys = counted
    share = parent.rows / parent.total_rows if parent.total_rows else 0.0
    expected = seen * share
    said = f"{hits} of {seen} distinct values are among {keys} sampled keys"
    if expected >= 6 and hits < expected / 5:
        return 0.3, said
    if own.whole:
        slack = 4 * (other.greatest - other.least) // max(keys, 1) + 1
        within = other.least - slack <= own.least and own.greatest <= other.greatest + slack
        return (0.95 if within else 0.5), f"{said}, all within their range" if within else said
    if hits >= (3 if is_weak else 1):
        return 0.95, said
    alike = abs(child.mean_length - parent.mean_length) <= 0.3 * parent.mean_length
    return (0.8 if alike and not is_weak else 0.3), said


def _contained(own: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, int]:
    """Return how many of the hashes of a column are among those of another, of how many that could be.

    Where the other column has more values than hashes are kept, only hashes up to its last kept one can be among them.
    """
    last = other[-1] if len(other) >= MOST_HASHES else None
    compared = own if last is None else own[: max(bisect_right(own, last), 1)]
    return len(set(compared) & set(other)), len(compared)


def _shortened(words: Sequence[str]) -> str:
    return " ".join(word[:4] for word in words)
