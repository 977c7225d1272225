"""The swarm of a finished run as a folder that stands without the run.

    export_swarm(Path("runs/parl-0"), Path("swarm"))

A run's own folder has the n-gram networks of its fold. What they say is an answer, which means the same whoever gives it, so
the networks that ship with Aegir, fitted on all tables, take their place: 12 MB less, and nothing is stored twice. Primary,
router, fusion and other specialists are those of the run, which has not seen its held-out fold.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from aegir.lab.parl.report import SWARM
from aegir.readers.ngrams.specialist import NGRAMS, NgramSpecialist
from aegir.readers.swarm.network import ENDING, PRIMARY_NAME, SWARM_NAME
from aegir.readers.swarm.weights_file import load_swarm, save_swarm
from aegir_rl.base.errors import UsageError


def export_swarm(run: Path, out: Path) -> list[Path]:
    """Write the swarm of a run to a new folder and return its files."""
    folder = run / SWARM
    if not (folder / SWARM_NAME).is_file():
        raise UsageError(
            f"{run} has no {SWARM}/, which a finished run of `aegir train parl` leaves; "
            "give such a run, or finish it with --resume"
        )
    weights = load_swarm(folder / SWARM_NAME)
    settings = weights.settings
    shipped = NgramSpecialist.load().fingerprint()
    specialists = {
        name: shipped if settings.families.get(name) == NGRAMS else sha256
        for name, sha256 in settings.specialists.items()
    }
    out.mkdir(parents=True, exist_ok=True)
    copied = [PRIMARY_NAME]
    copied += [f"{name}{ENDING}" for name in specialists if settings.families.get(name) != NGRAMS]
    for name in copied:
        shutil.copyfile(folder / name, out / name)
    save_swarm(
        out / SWARM_NAME, replace(weights, settings=replace(settings, specialists=specialists))
    )
    return [out / name for name in (*copied, SWARM_NAME)]
