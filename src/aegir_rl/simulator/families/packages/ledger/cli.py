"""`ledger FILE [FIRST [LAST]]`: print the totals of a file, one category a line; settings.json says how it is written."""

import json
from pathlib import Path

from aegir_rl.simulator.families.packages.ledger.cleaner import clean_row
from aegir_rl.simulator.families.packages.ledger.reader import read_rows
from aegir_rl.simulator.families.packages.ledger.report import add_up, is_complete


def main(arguments: list[str]) -> int:
    """0 if every row was complete, 1 if some were left out, 2 without a file."""
    if not arguments or not Path(arguments[0]).is_file():
        print("usage: ledger FILE [FIRST [LAST]]")
        return 2
    settings = json.loads(Path("settings.json").read_text(encoding="utf-8"))
    text = Path(arguments[0]).read_text(encoding="utf-8")
    rows = [clean_row(row, settings) for row in read_rows(text, settings)]
    for name, total in add_up(rows, *arguments[1:3]).items():
        print(f"{name}: {total:.2f}")
    left_out = sum(not is_complete(row) for row in rows)
    if left_out:
        print(f"left out: {left_out}")
    return 1 if left_out else 0
