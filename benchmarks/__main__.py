"""`python -m benchmarks` runs every benchmark; `python -m benchmarks columns` runs one."""

import sys

from benchmarks.runner import main

sys.exit(main(sys.argv[1:]))
