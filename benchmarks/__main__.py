"""`python -m benchmarks` runs every benchmark; `python -m benchmarks columns` runs one."""

import os
import sys

# As the command line does: read when numpy is loaded, by the imports below.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from benchmarks.runner import main

sys.exit(main(sys.argv[1:]))
