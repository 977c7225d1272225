"""Merge contacts of one person."""

from typing import Any


def merge(contacts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Contacts with the same mail address become one, where the first stood: its None replaced by the first value of the others."""
    merged: list[dict[str, Any]] = []
    places: dict[str, int] = {}
    for contact in contacts:
        mail = contact["mail"]
        if mail is None or mail not in places:
            if mail is not None:
                places[mail] = len(merged)
            merged.append(dict(contact))
            continue
        known = merged[places[mail]]
        for key, value in contact.items():
            if known[key] is None:
                known[key] = value
    return merged


def count_hosts(contacts: list[dict[str, Any]]) -> list[list[Any]]:
    """Hosts of the mail addresses with their counts, most frequent first, then by name."""
    counts: dict[str, int] = {}
    for contact in contacts:
        if contact["mail"] is not None:
            host = contact["mail"].rpartition("@")[2]
            counts[host] = counts.get(host, 0) + 1
    return [list(pair) for pair in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))]
