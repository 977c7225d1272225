"""The swarm in torch, for training: a primary, frozen specialists, a router and state fusion. In numpy: `aegir.readers.swarm`.

orchestrator    routing, specialists, fusion and primary in one call
router          which specialists read which column
fusion          states of several agents become one
alignment       states and vectors of other shapes
specialist      frozen models, run in parallel on their rows
saving          a trained swarm as a folder that numpy can run
column_model    the interface of a model, and the byte network behind it
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.swarm.alignment import AlignmentProjection
    from aegir.swarm.column_model import ByteColumnModel, ColumnModel, ModelOutput
    from aegir.swarm.fusion import RWKVStateFusion, build_fusions
    from aegir.swarm.orchestrator import SwarmOrchestrator, SwarmOutput
    from aegir.swarm.router import SpecialistRouter, limit_activations
    from aegir.swarm.saving import save_swarm_folder
    from aegir.swarm.specialist import FrozenSpecialist, SpecialistOutput, run_specialists

__all__ = [
    "AlignmentProjection",
    "ByteColumnModel",
    "ColumnModel",
    "FrozenSpecialist",
    "ModelOutput",
    "RWKVStateFusion",
    "SpecialistOutput",
    "SpecialistRouter",
    "SwarmOrchestrator",
    "SwarmOutput",
    "build_fusions",
    "limit_activations",
    "run_specialists",
    "save_swarm_folder",
]
__getattr__ = lazy_names(
    __name__,
    {
        "AlignmentProjection": "alignment",
        "ByteColumnModel": "column_model",
        "ColumnModel": "column_model",
        "FrozenSpecialist": "specialist",
        "ModelOutput": "column_model",
        "RWKVStateFusion": "fusion",
        "SpecialistOutput": "specialist",
        "SpecialistRouter": "router",
        "SwarmOrchestrator": "orchestrator",
        "SwarmOutput": "orchestrator",
        "build_fusions": "fusion",
        "limit_activations": "router",
        "run_specialists": "specialist",
        "save_swarm_folder": "saving",
    },
)
