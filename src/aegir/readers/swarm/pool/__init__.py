"""Specialists on demand: warm ones in memory, cold ones on disk, within a budget. Needs numpy alone.

specialist_pool    who is warm, who is dropped; budgets, and what one table has activated
location           where they are kept; importing it loads nothing else
entry              what is known about a specialist without loading it: manifests
loading            weights, memory-mapped and checked against their manifests
changes            adding and removing
measuring          what a specialist costs, and how well it answers columns of each kind
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
