"""The swarm in torch, for training: a primary, frozen specialists, a router and state fusion. In numpy: `aegir.readers.swarm`.

orchestrator    routing, specialists, fusion and primary in one call
router          which specialists read which column
fusion          states of several agents become one
alignment       states and vectors of other shapes
specialist      frozen models, run in parallel on their rows
saving          a trained swarm as a folder that numpy can run
column_model    the interface of a model, and the byte network behind it
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
