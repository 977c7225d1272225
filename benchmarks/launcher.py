"""Run one command and write what it used as JSON: a process this small keeps the figures clean.

    python launcher.py REPORT COMMAND ARGUMENT…

Linux counts the memory of whoever starts a program into that program's peak, so a benchmark that has
scikit-learn loaded cannot measure a small command itself. It starts this file, and this file starts the
command. `wait4` reports the command together with every child it waited for.
"""

import json
import os
import sys


def main(report: str, command: list[str]) -> int:
    """Run the command to its end; the exit code is the command's."""
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    with open(report, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib would add to what we measure with
        json.dump({"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": peak}, file)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
