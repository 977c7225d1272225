"""Read blocks of `key: value` lines, with blank lines between them."""

from typing import Any


def read_block(lines: list[str]) -> dict[str, str]:
    """Keys in small letters; a line that begins with a blank goes on with the value before it; the first of equal keys counts."""
    block: dict[str, str] = {}
    last = ""
    for line in lines:
        if line[0] in " \t":
            if last:
                block[last] = f"{block[last]} {line.strip()}".strip()
            continue
        key, sign, value = line.partition(":")
        last = key.strip().lower() if sign else ""
        if last and last not in block:
            block[last] = value.strip()
        else:
            last = ""
    return block


def read_blocks(text: str) -> list[dict[str, Any]]:
    """All blocks that have a key."""
    blocks, lines = [], list[str]()
    for line in [*text.split("\n"), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            blocks.append(read_block(lines))
            lines = []
    return [block for block in blocks if block]
