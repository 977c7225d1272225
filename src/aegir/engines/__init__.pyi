from aegir.engines.engine import Engine as Engine
from aegir.engines.job import Job as Job
from aegir.engines.local import LocalEngine as LocalEngine
from aegir.engines.ray_cluster import RayEngine as RayEngine
