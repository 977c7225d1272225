"""What an answer says about reviews: that a person decided about the column, and what persons said about similar ones.

Both are optional: only columns that were found in a review memory have them. docs/review.md explains every field.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["accepted", "corrected", "none"]
VERDICTS: tuple[Verdict, ...] = ("accepted", "corrected", "none")
DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A person's decision about this column, from which its answer follows."""

    verdict: Verdict
    """`accepted`: the answer was right; `corrected`: it was another; `none`: no name fits."""
    by: str
    at: str
    """When, in UTC, as ISO 8601 writes it."""
    said: str | None
    """The label that would have been answered without the review."""
    said_confidence: float


@dataclass(frozen=True, slots=True)
class Offer:
    """What a person said about a similar column; it has changed nothing."""

    label: str | None
    """None: no name fits."""
    similarity: float
    """From 0 to 1."""
    reason: str
    by: str
    at: str


def reviewing_as_dict(reviewed: Reviewed | None, offers: tuple[Offer, ...]) -> dict[str, object]:
    """The keys of reviews; none if there are no reviews."""
    keys: dict[str, object] = {}
    if reviewed is not None:
        confidence = round(reviewed.said_confidence, DECIMALS)
        keys["reviewed"] = {**asdict(reviewed), "said_confidence": confidence}
    if offers:
        keys["offers"] = [
            {**asdict(offer), "similarity": round(offer.similarity, DECIMALS)} for offer in offers
        ]
    return keys


def reviewed_from_dict(data: Mapping[str, Any]) -> Reviewed | None:
    """The review that `reviewing_as_dict` wrote, up to rounding."""
    if "reviewed" not in data:
        return None
    entry = data["reviewed"]
    if entry["verdict"] not in VERDICTS:
        raise ValueError(f"the verdict {entry['verdict']!r}")
    return Reviewed(**{**entry, "said_confidence": float(entry["said_confidence"])})


def offers_from_dict(data: Mapping[str, Any]) -> tuple[Offer, ...]:
    """The offers that `reviewing_as_dict` wrote, up to rounding."""
    return tuple(
        Offer(**{**entry, "similarity": float(entry["similarity"])})
        for entry in data.get("offers", ())
    )
