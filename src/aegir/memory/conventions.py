"""Conventions: what an organisation's corrections have in common, for columns that nobody reviewed.

    said        header      datatype   label           reviews  agree
    Number      rank                   IdentifierAT    14       13       answered Number under this header, it is called IdentifierAT
    Number                             keep            96       81       anywhere else the answer stands

    learn(reviews)                the rules that the reviews support
    update(reviews)               the rules, and how much they gain on tables that they were not learnt from
    Conventions.apply(column, fingerprint)

A rule looks at the answered label and at header and datatype, header alone, datatype alone, or nothing more; the most specific rule that was learnt decides.
A rule renames if more reviews agree with the new name than with the answer, by more than `STANDARD_ERRORS` of that
difference, in at least `LEAST_TABLES` tables. Its confidence is (agreeing + 1) / (reviews + 2).

The gate: reviews are dealt to folds by folder, since tables of one folder often share their habits, or by table where there are fewer than `FOLDS`
folders, so that no table judges what was learnt from it. Rules learnt from the other folds rename what
was answered; right after minus right before is paired per column, and its 95 % interval counts columns of one folder, or table, as dependent.

Reviews count with the label that was answered without any convention, so rules never learn from themselves; `aegir review` asks about
these answers. Whether a column is personal is never changed.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from aegir.answers.annotation import ColumnAnnotation
from aegir.memory.applying import apply_convention
from aegir.memory.review import Review
from aegir.tables.fingerprint import Fingerprint
from aegir.vocabulary.hierarchy import is_right
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import amount
from aegir_rl.offline.intervals import Estimate, estimate_gain

LEAST_TABLES = 3
"""Tables that must agree on a rule: one table is one person's afternoon."""
STANDARD_ERRORS = 1.5
FOLDS = 5
FORM = 1
_Key = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Convention:
    """What columns that are answered with `said` are called here."""

    said: str | None
    header: str | None
    """The spelling of the header; None for any."""
    datatype: str | None
    """None for any."""
    label: str | None
    """None: no name fits; the same as `said` where the answer stands although a wider rule renames."""
    kind: str | None
    reviews: int
    agree: int
    tables: int

    @property
    def confidence(self) -> float:
        """How likely the name is right for the next such column."""
        return (self.agree + 1) / (self.reviews + 2)

    @property
    def key(self) -> _Key:
        return self.said, self.header, self.datatype

    def __str__(self) -> str:
        where = f" under the header {self.header!r}" if self.header is not None else ""
        where += f" with values of {self.datatype!r}" if self.datatype is not None else ""
        named = "stays" if self.label == self.said else f"is called {self.label or 'nothing'}"
        counted = (
            f"{self.agree} of {amount(self.reviews, 'review')}, {amount(self.tables, 'table')}"
        )
        return f"{self.said or 'no name'}{where} {named} ({counted})"


@dataclass(frozen=True, slots=True)
class Conventions:
    """The rules of one organisation, the most specific one deciding."""

    rules: tuple[Convention, ...]

    def find(self, said: str | None, column: Fingerprint) -> Convention | None:
        """Return the rule that decides about a column that was answered so; None if there is none."""
        by_key = {rule.key: rule for rule in self.rules}
        for key in reversed(list(_keys(said, column))):
            if key in by_key:
                return by_key[key]
        return None

    def name(self, said: str | None, column: Fingerprint) -> str | None:
        """Return what a column that was answered so is called."""
        rule = self.find(said, column)
        return said if rule is None else rule.label

    def apply(self, column: ColumnAnnotation, fingerprint: Fingerprint) -> ColumnAnnotation:
        """Return the answer under the name that is used here."""
        rule = self.find(column.label, fingerprint)
        if rule is None or rule.label == column.label:
            return column
        reason = f"a convention of your reviews: {rule}"
        return apply_convention(column, rule.label, rule.kind, rule.confidence, reason)

    def save(self, path: Path, gain: Estimate) -> Path | None:
        """Write the rules; return where those that were there before are kept, None if there were none."""
        kept = None
        if path.exists():
            names = (path.with_name(f"{path.name}.{number}") for number in count(1))
            kept = next(name for name in names if not name.exists())
            replace_file(kept, path.read_bytes())
        record = {
            "form": FORM,
            "gain": gain.as_dict(),
            "conventions": [asdict(rule) for rule in self.rules],
        }
        replace_file(path, (json.dumps(record, indent=1, ensure_ascii=False) + "\n").encode())
        return kept

    @classmethod
    def load(cls, path: Path) -> "Conventions":
        """Read what `save` wrote; refuse anything else with one sentence."""
        try:
            record = json.loads(path.read_text("utf-8"))
            if record["form"] != FORM:
                raise ValueError(f"its form is {record['form']!r}, and {FORM} is expected")
            return cls(tuple(_read(each) for each in record["conventions"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise UsageError(
                f"{path} holds no conventions ({reason_of(error)}); make them again with `aegir rl update`, or remove it"
            ) from None

    @classmethod
    def beside(cls, memory: str) -> "Conventions | None":
        """Return the conventions of a review memory, None if it has none."""
        path = conventions_file(memory)
        return cls.load(path) if path.is_file() else None


@dataclass(frozen=True, slots=True)
class ConventionUpdate:
    """Rules learnt from all reviews, and what such rules gain on tables that they were not learnt from."""

    conventions: Conventions
    gain: Estimate
    before: float
    """Share of the reviewed columns whose answer was right."""
    after: float
    changed: int
    """Reviewed columns that rules of other tables rename."""
    reviews: int
    tables: int

    @property
    def is_better(self) -> bool:
        """Whether the gain is shown: its lower bound is above 0."""
        return self.gain.low > 0

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        found = f"{self.gain.value:+.4f} (95 % interval {self.gain.show_interval('+.4f')})"
        counted = f"{amount(self.reviews, 'review')} of {amount(self.tables, 'table')}"
        if not self.is_better:
            return (
                f"conventions are not shown to help: on {counted} they change what is right by {found}, and the lower bound is not above 0; "
                "nothing was written, review more tables"
            )
        return f"right {self.before:.4f} -> {self.after:.4f}, {found}, judged across tables on {counted}"


def conventions_file(memory: str) -> Path:
    """Return where the conventions of a review memory are kept, which may not exist; raise for nothing."""
    return Path(f"{memory}.conventions.json")


def learn(reviews: Sequence[Review]) -> Conventions:
    """Return the rules that these reviews support."""
    by_key: dict[_Key, list[Review]] = defaultdict(list)
    for review in reviews:
        for key in _keys(review.said, review.column):
            by_key[key].append(review)
    decided: dict[_Key, Convention] = {}
    # Wider rules first: one that says what the wider one says adds nothing.
    for key in sorted(by_key, key=lambda key: (_width(key), repr(key))):
        rule = _decide(key, by_key[key])
        if rule is None:
            continue
        wider = [decided[each] for each in _wider(key) if each in decided]
        standing = wider[-1].label if wider else key[0]
        if rule.label != standing:
            decided[key] = rule
    return Conventions(tuple(decided.values()))


def update(reviews: Sequence[Review], seed: int = 0) -> ConventionUpdate:
    """Learn rules from all reviews, and judge such rules on tables that they were not learnt from."""
    places = [(review.source or "", review.table) for review in reviews]
    tables = len(set(places))
    if tables < 2:
        raise UsageError(
            f"the reviews are about {amount(tables, 'table')}; at least 2 are needed to judge what was learnt from the others"
        )
    folders = [str(Path(source).parent) for source, _ in places]
    by_folder = len(set(folders)) >= FOLDS
    kept_together = folders if by_folder else [repr(place) for place in places]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(kept_together))}
    table = np.array([numbers[name] for name in kept_together], np.int64)
    order = Seeds(seed).generator("conventions").permutation(len(numbers))
    fold = (order % min(FOLDS, len(numbers)))[table]
    before, after, changed = np.zeros(len(reviews)), np.zeros(len(reviews)), 0
    for number in range(int(fold.max()) + 1):
        learnt = learn([review for review, own in zip(reviews, fold, strict=True) if own != number])
        for row in np.flatnonzero(fold == number).tolist():
            review = reviews[row]
            named = learnt.name(review.said, review.column)
            before[row], after[row] = _right(review.said, review), _right(named, review)
            changed += named != review.said
    return ConventionUpdate(
        conventions=learn(reviews),
        gain=estimate_gain(after - before, table),
        before=float(before.mean()),
        after=float(after.mean()),
        changed=changed,
        reviews=len(reviews),
        tables=tables,
    )


def _keys(said: str | None, column: Fingerprint) -> Iterator[_Key]:
    """The widest first: the answer alone, with the datatype, with the header, with both."""
    yield said, None, None
    yield said, None, column.datatype
    if column.spelling is not None:
        yield said, column.spelling, None
        yield said, column.spelling, column.datatype


def _width(key: _Key) -> int:
    return (key[1] is not None) * 2 + (key[2] is not None)


def _wider(key: _Key) -> list[_Key]:
    said, header, datatype = key
    every = [(said, None, None), (said, None, datatype), (said, header, None)]
    return [each for each in dict.fromkeys(every) if _width(each) < _width(key)]


def _decide(key: _Key, reviews: Sequence[Review]) -> Convention | None:
    """Return what these reviews say together; None if they say too little."""
    if len({(review.source, review.table) for review in reviews}) < LEAST_TABLES:
        return None
    kept = sum(_right(key[0], review) for review in reviews)
    labels = Counter((each.label, each.kind) for each in reviews if not _right(key[0], each))
    (label, kind), agree = min(
        labels.items(), key=lambda item: (-item[1], str(item[0])), default=((key[0], None), 0)
    )
    agreeing = {(each.source, each.table) for each in reviews if each.label == label}
    renames = agree - kept > STANDARD_ERRORS * math.sqrt(agree + kept)
    if renames and len(agreeing) >= LEAST_TABLES:
        return Convention(*key, label, kind, len(reviews), agree, len(agreeing))
    if kept - agree > 0:
        tables = {(each.source, each.table) for each in reviews if _right(key[0], each)}
        return Convention(*key, key[0], None, len(reviews), kept, len(tables))
    return None


def _right(answered: str | None, review: Review) -> bool:
    return answered is None if review.label is None else is_right(answered, review.label)


def _read(record: dict[str, Any]) -> Convention:
    if unknown := set(record) - {each.name for each in fields(Convention)}:
        raise ValueError(f"unknown key {min(unknown)!r}")
    rule = Convention(**record)
    texts = (rule.said, rule.header, rule.datatype, rule.label)
    counts = (rule.reviews, rule.agree, rule.tables)
    if not all(text is None or isinstance(text, str) for text in texts):
        raise ValueError("a name that is no text")
    if not all(type(each) is int and 0 <= each <= rule.reviews for each in counts):
        raise ValueError("a count that is none")
    if rule.kind not in {None, *KINDS}:
        raise ValueError(f"the kind {rule.kind!r}")
    return rule
