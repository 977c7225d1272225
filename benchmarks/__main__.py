"""`python -m benchmarks` runs every benchmark; `python -m benchmarks columns` runs one."""

import os
import sys

# As the command line does: read when numpy is loaded, by the imports below.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from aegir_rl.processes.allocator import keep_freed_memory
from benchmarks.runner import main

keep_freed_memory()
sys.exit(main(sys.argv[1:]))
