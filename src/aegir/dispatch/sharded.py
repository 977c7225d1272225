"""The dispatcher as a job of an engine; all but its loading is that of other annotators (annotators/sharded.py)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegir.annotators.sharded import ignore, open_workers
from aegir.dispatch.dispatcher import load_dispatcher
from aegir.dispatch.learnt_policy import LearntPolicy
from aegir.engines.job import RunShard

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
