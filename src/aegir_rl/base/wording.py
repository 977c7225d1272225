"""Amounts as people write them: 1 line, 2 lines, 1,000 lines."""


def amount(count: int, noun: str) -> str:
    """The number and its noun, in the plural unless there is exactly one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
