"""One seed in, named seeds out: every random choice has a name and can be repeated.

    seeds = Seeds(7)
    seeds.generator("rows")     # the same stream wherever and whenever it is asked for

A named stream depends on the seed and its names only, never on what was drawn before it, so a folder
annotated in two runs gives what one run gives.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Seeds:
    """A root seed from which independent, named generators are derived."""

    seed: int = 0

    def derive(self, *names: str | int) -> int:
        """A 64-bit seed for these names."""
        import hashlib  # a small file is read whole, without a seed

        text = "\x1f".join([str(self.seed), *map(str, names)])
        # A file name that is not UTF-8 reaches Python with surrogates in it.
        raw = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")

    def generator(self, *names: str | int) -> "np.random.Generator":
        """An independent random generator for these names."""
        return np.random.Generator(np.random.PCG64(self.derive(*names)))
