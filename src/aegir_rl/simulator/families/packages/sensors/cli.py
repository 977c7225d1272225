"""`sensors FILE [SENSOR]`: print a line per sensor and hour, or the longest gap of one sensor; settings.json has unit and range."""

import json
from pathlib import Path

from aegir_rl.simulator.families.packages.sensors.cleaner import clean
from aegir_rl.simulator.families.packages.sensors.reader import read_log
from aegir_rl.simulator.families.packages.sensors.summary import by_hour, longest_gap


def main(arguments: list[str]) -> int:
    """0 if there was something to print, 1 if not, 2 without a file."""
    if not arguments or not Path(arguments[0]).is_file():
        print("usage: sensors FILE [SENSOR]")
        return 2
    settings = json.loads(Path("settings.json").read_text(encoding="utf-8"))
    log = read_log(Path(arguments[0]).read_text(encoding="utf-8"), settings)
    readings = clean(log, settings)
    if len(arguments) > 1:
        gap = longest_gap(readings, arguments[1].lower())
        print("no gap" if gap is None else f"{gap} minutes")
        return 1 if gap is None else 0
    for row in by_hour(readings):
        print(f"{row['sensor']} {row['hour']:02} {row['mean']:.2f} {row['count']}")
    return 0 if readings else 1
