"""The dispatcher as a job of an engine; all but its loading is that of other annotators (engines/annotating.py)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegir.engines.annotating import ignore, open_workers
from aegir.engines.job import RunShard
from aegir.pipeline.dispatcher import load_dispatcher
from aegir.routing.learnt_policy import LearntPolicy

OPEN = f"{__name__}:open_dispatching"


def dispatching_settings(
    settings: Mapping[str, Any], routing: Path | None, policy: Path | None
) -> dict[str, Any]:
    """The settings of annotating, with those of routing."""
    paths = {"routing": routing, "policy": policy}
    return dict(settings) | {name: path and str(path) for name, path in paths.items()}


@contextmanager
def open_dispatching(settings: Mapping[str, Any], workers: int) -> Iterator[RunShard]:
    """Load the dispatcher and start workers that share it."""
    model, routing, policy = (
        Path(settings[name]) if settings[name] else None for name in ("model", "routing", "policy")
    )
    learnt = LearntPolicy.load(policy) if policy else None
    dispatcher = load_dispatcher(model, routing, learnt, say=ignore)
    with open_workers(dispatcher, settings, workers) as run:
        yield run
