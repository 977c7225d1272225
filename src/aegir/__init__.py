"""Aegir: what every column of a table is, and how columns relate.

    import aegir
    print(aegir.annotate("customers.csv"))

Names are loaded on first use, so that `import aegir` is instant.
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
