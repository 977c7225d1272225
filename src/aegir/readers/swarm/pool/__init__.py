"""Specialists on demand: warm ones in memory, cold ones on disk, within a budget. Needs numpy alone.

specialist_pool    who is warm, who is dropped
spawning           budgets, and what one table has woken
location           where they are kept; importing it loads nothing else
entry              what is known about a specialist without loading it: manifests
loading            weights, memory-mapped and checked against their manifests
changes            adding, removing, switching off; settings: what is switched off
measuring          what a specialist costs, and how well it answers columns of each kind
usage              statistics, added up over processes
survey             the map of the swarm; map_page: as a page
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.readers.swarm.pool.entry import KindScore, PoolEntry, Validation
    from aegir.readers.swarm.pool.spawning import SpawnBudget, Spawning, Woken
    from aegir.readers.swarm.pool.specialist_pool import SpecialistPool
    from aegir.readers.swarm.pool.usage import Usage

__all__ = [
    "KindScore",
    "PoolEntry",
    "SpawnBudget",
    "Spawning",
    "SpecialistPool",
    "Usage",
    "Validation",
    "Woken",
]
__getattr__ = lazy_names(
    __name__,
    {
        "KindScore": "entry",
        "PoolEntry": "entry",
        "SpawnBudget": "spawning",
        "Spawning": "spawning",
        "SpecialistPool": "specialist_pool",
        "Usage": "usage",
        "Validation": "entry",
        "Woken": "spawning",
    },
)
