from aegir.readers.swarm.pool.entry import KindScore as KindScore
from aegir.readers.swarm.pool.entry import PoolEntry as PoolEntry
from aegir.readers.swarm.pool.entry import SpecialistValidation as SpecialistValidation
from aegir.readers.swarm.pool.specialist_pool import SpawnBudget as SpawnBudget
from aegir.readers.swarm.pool.specialist_pool import Spawning as Spawning
from aegir.readers.swarm.pool.specialist_pool import SpecialistPool as SpecialistPool
